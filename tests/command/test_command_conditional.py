"""The command with conditional spaces: TOML files, tables, command words, studies."""

import csv
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from bamsoo import Choice, Int, Real, Study
from bamsoo.command.main import main

from command_line import bamsoo_, trials

PAGE = (Path(__file__).parents[2] / "docs" / "study.md").read_text()
PARAMS = """
[params]
rate = {low = 1e-4, high = 1, log = true}

[params.model.choices.svm]
C = {low = 1e-3, high = 1e3, log = true}
kernel = {choices = {rbf = {gamma = {low = 0, high = 1}}, linear = {}}}

[params.model.choices.forest]
depth = {low = 1, high = 20, int = true}

[params.model.choices.none]
"""
SPACE = {
    "rate": Real(1e-4, 1, log=True),
    "model": Choice(
        {
            "svm": {
                "C": Real(1e-3, 1e3, log=True),
                "kernel": Choice({"rbf": {"gamma": Real(0, 1)}, "linear": {}}),
            },
            "forest": {"depth": Int(1, 20)},
            "none": {},
        }
    ),
}
WORDS = '"{model}", "--rate={rate}", "--C", "{C}", "-k", "{kernel}", "--gamma={gamma}", "{depth}"'


@pytest.fixture
def run(here):
    """A study of a program that notes the words it is called with."""
    (here / "note").write_text('#!/bin/sh\necho "$@" >> words\necho "$#"\n')
    (here / "note").chmod(0o755)
    (here / "run.toml").write_text(
        f'command = ["./note", {WORDS}]\nbudget = 30\nstudy = "run.db"\nalgorithm = "soo"\n{PARAMS}'
    )
    bamsoo_("minimize", "run.toml")
    return here


def test_a_toml_file_says_which_option_brings_what(run):
    with Study.open("run.db", readonly=True) as study:
        assert study.space.given == SPACE
    seen = {tuple(t.params) for t in trials()}
    assert seen == {
        ("rate", "model", "C", "kernel", "gamma"),
        ("rate", "model", "C", "kernel"),
        ("rate", "model", "depth"),
        ("rate", "model"),
    }


def test_words_of_parameters_that_do_not_exist_are_left_out(run):
    for words, t in zip((run / "words").read_text().splitlines(), trials(), strict=True):
        p = t.params
        expected = [p["model"], f"--rate={p['rate']}"]
        if p["model"] == "svm":
            expected += ["--C", str(p["C"]), "-k", p["kernel"]]
            expected += [f"--gamma={p['gamma']}"] if p["kernel"] == "rbf" else []
        if p["model"] == "forest":
            expected.append(str(p["depth"]))
        assert words.split() == expected


def test_a_table_has_empty_cells_and_comes_back(run):
    bamsoo_("export", "run.db", "-o", "old.csv")
    with Path("old.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row, t in zip(rows, trials(), strict=True):
        assert {name for name in ("C", "kernel", "gamma", "depth") if row[name]} == (
            t.params.keys() - {"rate", "model"}
        )
    text = (run / "run.toml").read_text().replace("run.db", "new.db").replace("= 30", "= 5")
    (run / "new.toml").write_text(text)
    bamsoo_("minimize", "new.toml", "--import", "old.csv")
    given = [t for t in trials("new.db") if t.state == "given"]
    assert [(t.params, t.value) for t in given] == [(t.params, t.value) for t in trials()]


def test_json_has_only_what_exists(run):
    found = json.loads(bamsoo_("export", "run.db", "--format", "json"))
    assert [each["params"] for each in found] == [t.params for t in trials()]


def test_parquet_has_nulls(run):
    parquet = pytest.importorskip("pyarrow.parquet")
    bamsoo_("export", "run.db", "--format", "parquet", "-o", "run.parquet")
    table = parquet.read_table("run.parquet")
    for name in ("C", "kernel", "depth"):
        assert table[name].to_pylist() == [t.params.get(name) for t in trials()]


def test_show_leaves_cells_empty(run):
    shown = bamsoo_("show", "run.db", "--json")
    assert json.loads(shown)["params"].keys() <= {"rate", "model", "C", "kernel", "gamma", "depth"}
    assert "forest" in bamsoo_("show", "run.db", "--rows", 30)


def test_a_first_point_has_the_parameters_that_exist(run):
    again = ("minimize", "run.toml", "--study", "x.db", "--budget", 2)
    bamsoo_(*again, "--x0", "rate=0.1,model=forest,depth=3")
    assert trials("x.db")[0].params == {"rate": 0.1, "model": "forest", "depth": 3}
    said = bamsoo_(*again, "--x0", "rate=0.1,model=forest,C=3", code=2)
    assert "'depth', which exists with model='forest', has none" in said
    said = bamsoo_(*again, "--x0", "rate=0.1,model=forest,depth=2,C=3", code=2)
    assert "'C' exists only with model='svm', but the point has model='forest'" in said
    said = bamsoo_(*again, "--x0", "rate=0.1,model=none,size=3", code=2)
    assert "unknown parameter 'size'; expected some of rate, model, C, kernel, gamma, depth" in said


def test_a_row_with_a_cell_too_many_is_left_out(run):
    (run / "bad.csv").write_text(
        "rate,model,C,kernel,gamma,depth,value\n0.1,forest,,,,3,1\n0.1,forest,2,,,3,1\n"
    )
    line = ["minimize", "run.toml", "--study", "y.db", "--import", "bad.csv"]
    said = CliRunner().invoke(main, line).stderr
    assert "1 of 2 known evaluations do not fit" in said
    assert "bad.csv, line 3: 'C' exists only with model='svm'" in said


def test_one_column_serves_parameters_of_the_same_name(here):
    (here / "run.toml").write_text(
        'target = "mine_c:loss"\nbudget = 3\nstudy = "run.db"\n[params.kind.choices]\n'
        "a = {n = {low = 0, high = 1}}\nb = {n = {low = 1, high = 9, int = true}}\n"
    )
    (here / "mine_c.py").write_text("def loss(kind, n):\n    return n\n")
    (here / "old.csv").write_text("kind,n,value\na,0.5,3\nb,4,2\n")
    bamsoo_("minimize", "run.toml", "--import", "old.csv")
    given = [t.params for t in trials() if t.state == "given"]
    assert given == [{"kind": "a", "n": 0.5}, {"kind": "b", "n": 4}]
    bamsoo_("export", "run.db", "-o", "all.csv")
    header = (here / "all.csv").read_text().splitlines()[0]
    assert "n (kind='a'),n (kind='b')" in header
    bamsoo_("minimize", "run.toml", "--study", "other.db", "--import", "all.csv")
    told = [(t.params, t.value) for t in trials("other.db") if t.state == "given"]
    assert told == [(t.params, t.value) for t in trials()]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = {choices = {x = 3}}", "params.a.choices.x: expected one table per parameter, got 3"),
        ("a = {choices = {x = {n = {low = 3}}}}", "params.a.choices.x.n: expected {low"),
        ("a = {choices = {}}", "at least one option"),
        ("a = {choices = {x = {a = {low = 0, high = 1}}}}", "'a' is the name of two parameters"),
    ],
)
def test_a_toml_file_that_is_wrong_is_refused(text, said, here):
    (here / "run.toml").write_text(f"target = 'branin'\nbudget = 3\n[params]\n{text}")
    assert said in bamsoo_("minimize", "run.toml", code=2)


def test_resume_goes_on(run):
    bamsoo_("resume", "run.db", "--budget", 40, "--yes")
    assert len({str(t.params) for t in trials()}) == 40


@pytest.mark.slow
def test_the_pages_file_runs(here):
    _, block = re.findall(r"```toml\n(.*?)```", PAGE, re.S)
    (here / "training.py").write_text("def error(model, **rest):\n    return len(rest)\n")
    (here / "sim.toml").write_text(block)
    out = json.loads(bamsoo_("minimize", "sim.toml", "--json"))
    assert out["evaluations"] == 50
    assert out["params"].keys() == {"model", "depth"}
