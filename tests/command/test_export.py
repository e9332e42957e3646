"""The command export, and what import makes of its files."""

import csv
import io
import json
import sys
from pathlib import Path

import pytest

import bamsoo
from bamsoo import Study
from bamsoo.run.known import read_csv

from command_line import bamsoo_, refused, shell, trials


def test_an_export_is_in_the_format_that_its_name_says():
    bamsoo_("minimize", "branin", "--budget", 3, "--study", "run.db")
    bamsoo_("export", "run.db", "-o", "out.JSON")
    assert len(json.loads(Path("out.JSON").read_text())) == 3
    bamsoo_("export", "run.db", "-o", "out.txt")
    assert Path("out.txt").read_text() == bamsoo_("export", "run.db")
    message = refused("export", "run.db", "--format", "csv", "-o", "out.parquet")
    assert "the name says parquet, but --format says csv" in message
    assert not Path("out.parquet").exists()


def test_an_export_replaces_a_file_at_once_or_not_at_all(monkeypatch):
    bamsoo_("minimize", "branin", "--budget", 3, "--study", "run.db")
    Path("out.csv").write_text("before")
    with monkeypatch.context() as failing:
        failing.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
        assert "cannot be written: full" in refused("export", "run.db", "-o", "out.csv")
    assert Path("out.csv").read_text() == "before"
    bamsoo_("export", "run.db", "-o", "out.csv")
    assert Path("out.csv").read_text() == bamsoo_("export", "run.db")
    assert {each.name for each in Path().iterdir()} >= {"run.db", "out.csv"}
    assert not list(Path().glob(".out*"))
    assert "is the study itself" in refused("export", "run.db", "-o", "./run.db")
    bamsoo_("show", "run.db")


def test_export_and_import_carry_every_evaluation():
    space = {"value": (0.0, 1.0), "n": bamsoo.Int(1, 9), "mode": bamsoo.Choice(["a", 3, None])}

    def fun(value, n, mode):
        return value / 3 + n if n < 8 else None

    r = bamsoo.minimize(fun, space, 15, study="old.db", algorithm="soo")
    text = bamsoo_("export", "old.db")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [float(row["param:value"]) for row in rows] == [x["value"] for x in r.X]
    as_json = json.loads(bamsoo_("export", "old.db", "--format", "json"))
    assert [t["params"] for t in as_json] == r.X
    bamsoo_("export", "old.db", "-o", "old.csv")
    assert Path("old.csv").read_text() == text
    with Study.open("old.db") as study:
        again = read_csv(Path("old.csv"), study.constraints).known
    assert [each.point for each in again] == r.X
    assert [each.value for each in again] == [t.value for t in trials("old.db")]


def test_parquet_needs_pyarrow_and_a_file(here, monkeypatch):
    bamsoo_("minimize", "branin", "--budget", 3, "--study", "run.db")
    assert "give a file with -o" in refused("export", "run.db", "--format", "parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    message = refused("export", "run.db", "--format", "parquet", "-o", "out.parquet")
    assert "parquet needs pyarrow" in message


def test_parquet_is_read_back():
    parquet = pytest.importorskip("pyarrow.parquet")
    bamsoo_("minimize", "branin", "--budget", 3, "--study", "run.db")
    bamsoo_("export", "run.db", "--format", "parquet", "-o", "out.parquet")
    assert parquet.read_table("out.parquet")["value"].to_pylist() == [t.value for t in trials()]


@pytest.fixture
def study(here):
    with Study.open("run.db", space=[(0, 1)], algorithm="soo") as made:
        made.tell(made.ask(), 1.0)
        made.ask()
    return here / "run.db"


def test_a_backup_is_a_study_and_says_what_is_in_it(study):
    assert bamsoo_("backup", "run.db", "copy.db") == "copy.db: 1 of 2 trials told\n"
    with Study.open("copy.db", readonly=True) as copy:
        assert copy.told == 1
    assert "exists already" in bamsoo_("backup", "run.db", "copy.db", code=2)


def test_a_repair_is_named_after_its_study_unless_a_name_is_given(study):
    assert bamsoo_("repair", "run.db").startswith("run-repaired.db: ")
    assert bamsoo_("repair", "run.db", "-o", "other.db").startswith("other.db: ")
    assert bamsoo_("repair", "nothing.db", code=2).startswith("bamsoo: ")


def test_an_export_names_the_directories_that_are_kept():
    shell("echo cost: $0", "--workdir", "work", "--objective", "cost", "--keep", "best")
    rows = list(csv.DictReader(bamsoo_("export", "run.db").splitlines()))
    named = [row["extra:workdir"] for row in rows if row["extra:workdir"]]
    assert [Path(name).name for name in named] == [place.name for place in Path("work").iterdir()]
