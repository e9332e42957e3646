"""What a stored run depends on: the source that Python executes, of the parts that decide it."""

import ast
import re
import shutil

import pytest

from bamsoo_lab.jobs import source
from bamsoo_lab.jobs.source import LABORATORY, PACKAGE, Source, digest, searches


def commented(text):
    return "# a comment\n\n" + text.replace("\n\n\n", "\n\n\n\n# another\n")


def documented(text):
    """Every docstring, and every remark below a constant, gets another word."""
    return re.sub(r'^( *r?""")(?=\w)', r"\1Reworded: ", text, flags=re.M)


def extended(text):
    return text + "\nNUMBER = 3\n"


def renumbered(text):
    """The first number in the code is another one."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            lines = text.splitlines(keepends=True)
            line = lines[node.lineno - 1].encode()
            before, after = line[: node.col_offset], line[node.end_col_offset :]
            lines[node.lineno - 1] = (before + b"12345" + after).decode()
            return "".join(lines)
    raise AssertionError("the file has no number")


@pytest.fixture
def edited(tmp_path):
    """Copies of both packages in which one file is edited; `lab/` stands for the laboratory."""

    def copy(file=None, edit=None):
        folders = tmp_path / "z", tmp_path / "lab"
        for original, folder in zip((PACKAGE, LABORATORY), folders, strict=True):
            shutil.copytree(original, folder, ignore=shutil.ignore_patterns("__pycache__", "data"))
        if file is not None:
            place = (tmp_path if file.startswith("lab/") else folders[0]) / file
            text = place.read_text()
            place.write_text(edit(text))
            assert place.read_text() != text
        return folders

    return copy


def test_a_copy_of_the_source_has_the_same_state(edited):
    copy = edited()
    assert searches(copy[0]) == searches()
    assert source._module("paper.lemma", *copy) == digest(Source.MODULE, "paper.lemma")


@pytest.mark.parametrize("file", ["algorithms/soo.py", "model/gp.py", "search/optimizer.py"])
@pytest.mark.parametrize("edit", [commented, documented])
def test_comments_docstrings_and_layout_change_nothing(edited, file, edit):
    assert searches(edited(file, edit)[0]) == searches()


@pytest.mark.parametrize(
    "file",
    ["base/checks.py", "errors.py", "command/show.py", "run/optimize.py", "lab/bench/tables.py"],
)
def test_what_decides_no_point_changes_nothing(edited, file):
    assert searches(edited(file, extended)[0]) == searches()


@pytest.mark.parametrize(
    "file",
    [
        "algorithms/soo.py",
        "algorithms/auto/loop.py",
        "model/gp.py",
        "space/axes.py",
        "record/ledger.py",
        "search/optimizer.py",
    ],
)
def test_a_number_in_a_search_changes_the_state_of_every_run_of_ours(edited, file):
    copy = edited(file, renumbered)
    assert searches(copy[0]) != searches()
    assert source._module("paper.lemma", *copy) != digest(Source.MODULE, "paper.lemma")


def test_a_new_module_of_a_search_changes_the_state(edited):
    copy = edited()
    (copy[0] / "algorithms" / "new.py").write_text("NUMBER = 3\n")
    assert searches(copy[0]) != searches()


@pytest.mark.parametrize(
    ("module", "file"),
    [
        ("paper.lemma", "lab/paper/lemma.py"),
        ("paper.coverage", "lab/paper/draws.py"),
        ("paper.benchmarks", "problems.py"),
        ("paper.extraction", "lab/terms/extract.py"),
    ],
)
def test_an_experiment_also_depends_on_its_own_module_and_what_that_imports(edited, module, file):
    copy = edited(file, extended)
    assert source._module(module, *copy) != digest(Source.MODULE, module)
    assert searches(copy[0]) == searches()


@pytest.mark.parametrize("file", ["lab/paper/output.py", "lab/jobs/pool.py", "lab/paper/trees.py"])
def test_an_experiment_does_not_depend_on_how_it_is_shown_or_on_others(edited, file):
    copy = edited(file, extended)
    assert source._module("paper.lemma", *copy) == digest(Source.MODULE, "paper.lemma")


def test_a_peers_run_depends_on_nothing_here():
    assert digest(Source.NONE, "bench.runs") is None
