"""Every example in the docs runs."""

import ast
import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

import bamsoo

ROOT = Path(__file__).parent.parent
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md")),
]
TUTORIALS = sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs" / "tutorials").glob("*.md"))
WITHOUT_EXAMPLES = {"index", "reading-the-report"}


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


def test_the_readmes_example_runs(capsys):
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    exec(block, {"__name__": "readme"})
    printed = capsys.readouterr().out
    assert re.search(r"'rate': 0\.00(2999|3000)", printed)
    assert "the budget of 40 evaluations is spent" in printed


def test_the_readmes_comparison_is_that_of_the_benchmarks():
    """The strongest rival of each dimension, with the figures that docs/benchmarks.md has."""
    benchmarks = (ROOT / "docs" / "benchmarks.md").read_text()
    heading = r"\*\*BBOB, D = (\d+), (\d+) evaluations: area under the curve\*\*\n\n(.*?)\n\n"
    expected = []
    for dimension, evaluations, text in re.findall(heading, benchmarks, re.S):
        _, _, own, *peers = [re.split(r" *\| *", line.strip("| ")) for line in text.splitlines()]
        *peers, _, reference = peers  # the best peer per function, and the best that COCO knows
        best = min(peers, key=lambda row: (float(row[4]), -float(row[2])))
        assert best[1] == own[1], "the strongest rival has not run everything"
        expected.append(
            [dimension, evaluations, own[1], own[2], best[0], best[2], *best[4:], reference[2]]
        )
    readme = (ROOT / "README.md").read_text()
    printed = re.findall(r"^\| (\d+ \| .*?) \|$", readme, re.M)
    assert [row.split(" | ") for row in printed] == expected


def test_the_readmes_scores_are_those_of_the_benchmarks():
    summary = (ROOT / "docs" / "benchmarks.md").read_text().partition("bench:summary -->")[2]
    table = (ROOT / "README.md").read_text().partition("| tasks | evaluations |")[2]
    rows = re.findall(r"^\| (.*?) \|$", table.partition("\n\n")[0], re.M)
    rows = [row.split(" | ") for row in rows if "---" not in row]
    assert len(rows) == 6
    for _, evaluations, score, rival, its_score, duel in rows:
        assert re.search(
            rf"after {evaluations} evaluations.*\| {score} \| {rival}: {its_score} \| {duel} runs",
            summary,
        )


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


@pytest.mark.parametrize("page", PAGES)
def test_every_link_has_a_target(page):
    path = ROOT / page
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
        made_by_the_build = target.startswith(("api/", "examples/"))
        assert "://" in target or made_by_the_build or (path.parent / target).exists(), target


def test_every_page_is_in_the_contents():
    """Otherwise `make docs` would warn about it."""
    contents = re.findall(r"```{toctree}.*?```", (ROOT / "docs/index.md").read_text(), re.S)
    listed = set(re.findall(r"^(?:.*<)?([\w/-]+)>?$", "\n".join(contents), re.M))
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"index"}
    assert pages <= listed
