"""Every example in the docs runs."""

import ast
import doctest
import json
import os
import re
import subprocess
import sys
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import bamsoo

ROOT = Path(__file__).parent.parent
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    "AGENTS.md",
    "llms.txt",
    *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md")),
]
TUTORIALS = sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs" / "tutorials").glob("*.md"))
WITHOUT_EXAMPLES = {"index", "reading-the-report", "simulation"}


@pytest.mark.parametrize(
    "module",
    [
        "bamsoo",
        "bamsoo.run.command",
        "bamsoo.run.optimize",
        "bamsoo.search.optimizer",
        "bamsoo.study.study",
    ],
)
def test_examples_in_docstrings_run(module):
    results = doctest.testmod(import_module(module))
    assert results.attempted > 0
    assert results.failed == 0


README = (ROOT / "README.md").read_text()


@pytest.mark.slow
def test_the_readmes_example_of_tuning_runs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)  # it writes a study
    (block,) = blocks("README.md")
    assert "budget=20, steps=20" in block
    quick = block.replace("budget=20", "budget=2").replace("workers=2, ", "")
    exec(quick, {"__name__": "readme"})
    assert "{'model': " in capsys.readouterr().out
    with bamsoo.Study.open("digits.db", readonly=True) as study:
        assert study.result.nfev >= 2


REACTOR = """#!/bin/sh
test "$1" = --inlet && test "$3" = --diameter && echo "cost = $2"
"""


@pytest.mark.skipif(os.name != "posix", reason="the program of the example is a shell script")
def test_the_readmes_example_of_a_program_runs(tmp_path):
    found = re.findall(r"```sh\n(bamsoo minimize.*?)```", README, re.S)
    lines = "".join(found).strip().splitlines()
    assert len(lines) == 5
    program = tmp_path / "reactor"
    program.write_text(REACTOR)
    program.chmod(0o755)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shorter = "\n".join(lines).replace("budget 40", "budget 4").replace("budget 50", "budget 5")
    script = "set -e\n" + shorter
    ran = subprocess.run(
        ["sh", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (tmp_path / "reactor.html").exists()
    with bamsoo.Study.open(tmp_path / "reactor.db", readonly=True) as study:
        assert study.result.nfev == 5, ran.stderr


def test_the_readme_is_one_screen_of_reading():
    """Longer, or with more figures, and people stop reading."""
    assert len(README.splitlines()) <= 130
    prose = re.sub(r"^```.*?^```|<!--.*?-->|\]\(.*?\)", "", README, flags=re.S | re.M)
    assert len(re.findall(r"\d[\d,.]*", prose)) <= 40


def test_the_page_about_everything_lists_every_argument():
    listed = (ROOT / "docs" / "usage.md").read_text().split("The result is a")[0]
    rows = {
        name for row in re.findall(r"^\| (`[^|]*) \|", listed, re.M) for name in row.split(", ")
    }
    takes = set(signature(bamsoo.minimize).parameters) - {"fun", "space", "budget"}
    assert {row.strip("`") for row in rows} == takes


LONG = {
    "docs/constraints.md": 0,
    "docs/spaces.md": 1,
    "docs/usage.md": 4,
    "docs/tutorials/failures.md": 2,
    "docs/tutorials/real-spaces.md": 1,
    "docs/tutorials/stopping.md": 0,
    "docs/tutorials/two-objectives.md": 0,
}
"""Pages with an example that takes more than about four seconds, and which of its examples it is.
The tests that are marked `long` run it as it is; otherwise its runs are short, and what it asserts
about them is left out."""

BRIEF = 5
"""Evaluations of a short run."""


def blocks(page):
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.S)


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        "docs/index.md",
        "docs/answers.md",
        "docs/changing.md",
        "docs/constraints.md",
        "docs/family.md",
        "docs/habits.md",
        "docs/parallel.md",
        "docs/programs.md",
        "docs/spaces.md",
        "docs/study.md",
        "docs/objectives.md",
        "docs/usage.md",
        *(page for page in TUTORIALS if Path(page).stem not in WITHOUT_EXAMPLES),
    ],
)
def test_the_examples_on_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write a study file
    assert blocks(page)
    names = {"__name__": "example"}  # an example may go on where the one before it ended
    for i, block in enumerate(blocks(page)):
        if i == LONG.get(page):
            with monkeypatch.context() as patched:
                run_briefly(block, patched)
        else:
            exec(block, names)


def run_briefly(block, monkeypatch):
    """Run an example with few evaluations, and without what it asserts."""

    def brief(run):
        return lambda fun, space, budget, **options: run(fun, space, min(budget, BRIEF), **options)

    for name in ("minimize", "maximize"):
        monkeypatch.setattr(bamsoo, name, brief(getattr(bamsoo, name)))
    tree = ast.parse(block)
    assert any(isinstance(line, ast.Assert) for line in tree.body)
    tree.body = [line for line in tree.body if not isinstance(line, ast.Assert)]
    exec(compile(tree, "example", "exec"), {"__name__": "example"})


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("page", LONG)
def test_an_example_that_takes_long_does_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(blocks(page)[LONG[page]], {"__name__": "example"})


SCRIPTS = {path.stem: path for path in sorted((ROOT / "docs" / "gallery").glob("*.py"))}
TAKES_LONG = "plot_6_stopping"  # and its page of the tutorial is run above


@pytest.mark.slow
@pytest.mark.parametrize(
    "script",
    [
        pytest.param(path, id=name, marks=[pytest.mark.long] * (name == TAKES_LONG))
        for name, path in SCRIPTS.items()
    ],
)
def test_an_example_of_the_gallery_runs(script):
    plt = pytest.importorskip("matplotlib.pyplot")
    try:
        exec(compile(script.read_text(), str(script), "exec"), {"__name__": "example"})
        assert plt.get_fignums()
    finally:
        plt.close("all")


@pytest.mark.slow
def test_the_notebook_runs(monkeypatch):
    """Without Jupyter; `make docs` executes it in a kernel, and shows what it shows."""
    for name in ("sklearn", "pandas", "matplotlib"):
        pytest.importorskip(name)
    monkeypatch.setattr("sklearn.model_selection.cross_val_score", lambda *_, **__: np.array([0.9]))
    shell = SimpleNamespace(get_ipython=lambda: None, version_info=(9, 0))  # as matplotlib asks
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(HTML=str))
    notebook = json.loads((ROOT / "examples/first_look.ipynb").read_text("utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] for cell in cells)  # they would be out of date
    script = "\n".join("".join(cell["source"]) for cell in cells)
    assert "budget=30" in script and "budget=36" in script
    names = {"__name__": "example"}
    try:
        exec(script.replace("budget=30", "budget=6").replace("budget=36", "budget=8"), names)
    finally:
        import_module("matplotlib.pyplot").close("all")
    assert names["r"].nfev == 8
    assert "<!doctype html>" in names["page"]


FOR = re.compile(r"^(?:This|These) (?:page|tutorial)s? (?:is|are) for |^For ")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_says_in_its_first_sentence_for_whom_it_is(page):
    text = (ROOT / page).read_text()
    if not page.startswith("docs/") or "```{include}" in text:
        pytest.skip("no page of the docs")
    prose = re.sub(r"^```{index}.*?^```|^#.*?$|^\(.*?\)=$", "", text, flags=re.S | re.M)
    assert FOR.match(prose.strip())


@pytest.mark.parametrize("page", PAGES)
def test_every_link_has_a_target(page):
    path = ROOT / page
    prose = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.S | re.M)
    for target in re.findall(r"\]\(([^)#]+)", prose):
        made_by_the_build = target.startswith(("api/", "examples/"))
        assert "://" in target or made_by_the_build or (path.parent / target).exists(), target


def test_every_page_is_in_the_contents():
    """Otherwise `make docs` would warn about it."""
    contents = re.findall(r"```{toctree}.*?```", (ROOT / "docs/index.md").read_text(), re.S)
    listed = set(re.findall(r"^(?:.*<)?([\w/-]+)>?$", "\n".join(contents), re.M))
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"index"}
    assert pages <= listed
    folder = ROOT / "docs" / "benchmarks"
    (contents,) = re.findall(r"```{toctree}.*?```", (folder / "index.md").read_text(), re.S)
    listed = set(re.findall(r"^.*<(.*)>$", contents, re.M))
    assert {page.stem for page in folder.glob("*.md")} == listed | {"index"}
