"""The layers are respected, their contracts notice violations, and the page is up to date."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "bamsoo"
LABORATORY = ROOT / "lab" / "src" / "bamsoo_lab"
LINT = "from importlinter.cli import lint_imports_command; lint_imports_command()"
DRAW = "tools/draw_architecture.py"

# a file, a line added to it, and the contract that this breaks
VIOLATIONS = {
    "a layer uses one below it": (
        "model/gp.py",
        "from ..optimizer import Optimizer",
        "from those it builds on",
    ),
    "also inside a function": (
        "study/study.py",
        "def f():\n    from ..run import pool",
        "from those it builds on",
    ),
    "also by way of the package's root": (
        "space/axes.py",
        "from .. import minimize",
        "from those it builds on",
    ),
    "a search reads files": ("algorithms/soo.py", "import pathlib", "A search only computes"),
    "a search keeps a study": ("search/optimizer.py", "import sqlite3", "A search only computes"),
    "a search looks at the clock": (
        "algorithms/auto/loop.py",
        "import time",
        "A search only computes",
    ),
    "a model needs a package": ("model/gp.py", "import pandas", "A search only computes"),
    "the command imports the laboratory": (
        "command/main.py",
        "from bamsoo_lab.bench import cli",
        "Nothing in bamsoo imports the laboratory",
    ),
    "modules import each other": (
        "algorithms/search.py",
        "from .book import Book",
        "No cycles between modules",
    ),
    "a module has no layer": ("novelty.py", "", "from those it builds on"),
}


@pytest.fixture
def copy(tmp_path):
    """A copy of the package and of the files that describe it, to be changed."""
    for folder in ("src", "lab/src", "tools"):
        left_out = shutil.ignore_patterns("__pycache__", "data")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=left_out)
    (tmp_path / "docs").mkdir()
    for name in ("pyproject.toml", "docs/architecture.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def python(folder, *arguments):
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(folder / "src"), str(folder / "lab" / "src")]),
            "COLUMNS": "200",
        },
        capture_output=True,
        text=True,
        timeout=120,
    )


def add(folder, module, line):
    with (folder / "src" / "bamsoo" / module).open("a") as file:
        file.write(f"\n{line}\n")


def test_the_contracts_are_kept():
    ran = python(ROOT, "-c", LINT, "--no-cache")
    assert ran.returncode == 0, ran.stdout


@pytest.mark.slow
@pytest.mark.parametrize("case", VIOLATIONS)
def test_a_contract_notices_when(case, copy):
    module, line, contract = VIOLATIONS[case]
    add(copy, module, line)
    ran = python(copy, "-c", LINT, "--no-cache")
    assert ran.returncode == 1
    assert re.search(f"{contract}.*BROKEN", ran.stdout)


def test_what_only_computes_is_the_layers_from_the_optimiser_down():
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    contracts = {contract["id"]: contract for contract in config["contracts"]}
    layers = contracts["layers"]["layers"]
    below = " ".join(layers[layers.index("search") :])
    pure = {f"bamsoo.{name}" for name in re.findall(r"\w+", below)}
    assert set(contracts["pure"]["source_modules"]) == pure


def test_no_module_imports_itself_in_a_circle():
    # import-linter compares the modules of one folder; this includes the folders' __init__.py
    graph = grimp.build_graph("bamsoo", "bamsoo_lab", cache_dir=None)
    imports = {m: graph.find_modules_directly_imported_by(m) for m in graph.modules}
    TopologicalSorter(imports).prepare()  # raises CycleError


def test_no_module_names_the_package_of_the_laboratory():
    """Not even as a string: its commands are found by their entry points."""
    assert [p for p in PACKAGE.rglob("*.py") if "bamsoo_lab" in p.read_text()] == []


def test_the_page_shows_the_layers_as_they_are():
    ran = python(ROOT, DRAW, "--check")
    assert ran.returncode == 0, ran.stdout


@pytest.mark.parametrize(
    ("module", "lines"),
    [
        ("plotting.py", "from .model import gp"),
        ("algorithms/new.py", '"""A new module."""'),
        ("stop.py", "# a comment\n" * 20),
    ],
    ids=["an import", "a module", "lines"],
)
def test_the_page_is_out_of_date_after_a_change_of(module, lines, copy):
    add(copy, module, lines)
    stale = python(copy, DRAW, "--check")
    assert stale.returncode == 1
    assert "make architecture" in stale.stdout


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_the_files_that_a_page_names_exist(page):
    named = set(re.findall(r"`([\w./-]+(?:\.\w+|/))`", (ROOT / page).read_text()))
    named = {name for name in named if "NAME" not in name}
    paths = {name for name in named if re.search(r"(/|\.py|\.md|\.toml)$", name)}
    assert len(paths) > 10
    places = (ROOT, PACKAGE, LABORATORY)
    missing = {path for path in paths if not any((place / path).exists() for place in places)}
    assert missing == set()


WITHOUT = {
    "_version": "one number, which tests/test_package.py checks",
    "base/defaults": "three constants",
    "base/typing": "types only",
    "integrations/mlflow": "tested in tests/integrations/test_tracking.py",
    "integrations/sklearn_resources": "tested in tests/integrations/test_sklearn.py",
    "integrations/wandb": "tested in tests/integrations/test_tracking.py",
}
"""Modules without a test file of their own, each with the reason."""


def test_every_module_has_the_test_file_of_its_name():
    modules = {path.relative_to(PACKAGE).with_suffix("") for path in PACKAGE.rglob("*.py")}
    named = {path for path in modules if not path.name.startswith("__")}
    files = {path: ROOT / "tests" / path.with_name(f"test_{path.name}.py") for path in named}
    missing = {str(path) for path, file in files.items() if not file.exists()}
    assert missing == WITHOUT.keys()
