"""Constraints in the command: formulas, measured numbers that a program prints, TOML, exports."""

import csv
import json
import sys
from pathlib import Path

import pytest

from bamsoo.report.model import describe

from command_line import bamsoo_

PROGRAM = """
import sys
x, y = map(float, sys.argv[1:])
print("stress:", 0.4 - x)
print(f"STRESS_OLD = 99, slack={y - 2}")
print("value", x + y)
print("done; stress: ", 0.4 - x)
"""


@pytest.fixture
def here(here):
    (here / "run.py").write_text(PROGRAM)
    return here


SPACE = ("--param", "x:0:1", "--param", "y:0:3")
COMMAND = ("--", sys.executable, "run.py", "{x}", "{y}")


@pytest.mark.slow
def test_a_program_prints_its_constraints_and_a_run_resumes(here):
    told = ("--constraint", "x + y >= 0.5", "--measured", "stress", "--measured", "slack")
    first = bamsoo_("minimize", *SPACE, "--budget", 8, "--study", "run.db", *told, *COMMAND)
    assert "infeasible" in first
    out = json.loads(bamsoo_("resume", "run.db", "--budget", 16, "--json"))
    assert out["evaluations"] == 16
    assert out["failed"] == 0
    assert out["infeasible"] > 0
    assert out["params"]["x"] >= 0.4
    assert out["value"] == pytest.approx(0.5, abs=0.1)
    rows = list(csv.DictReader(bamsoo_("export", "run.db").splitlines()))
    assert len(rows) == 16
    for row in rows:
        x, y = float(row["x"]), float(row["y"])
        assert x + y >= 0.5
        assert float(row["constraint:stress"]) == 0.4 - x
        assert row["feasible"] == str(0.4 - x <= 0 and y - 2 <= 0)
    as_json = json.loads(bamsoo_("export", "run.db", "--format", "json"))
    assert set(as_json[0]["constraints"]) == {"stress", "slack"}
    shown = bamsoo_("show", "run.db")
    assert f"{out['infeasible']} infeasible" in shown
    page = describe("run.db")
    assert page["trials"]["state"].count("i") == out["infeasible"]
    assert [limit["name"] for limit in page["limits"]] == ["stress", "slack"]
    bamsoo_("report", "run.db", "-o", "report.html")


def test_an_export_is_imported_with_its_constraints(here):
    told = ("--measured", "stress")
    bamsoo_("minimize", *SPACE, "--budget", 5, "--study", "a.db", *told, *COMMAND)
    bamsoo_("export", "a.db", "-o", "a.csv")
    words = ("minimize", *SPACE, "--budget", 2, "--study", "b.db", "--import", "a.csv", *told)
    bamsoo_(*words, *COMMAND)
    rows = list(csv.DictReader(bamsoo_("export", "b.db").splitlines()))
    assert len(rows) == 7
    assert all(float(row["constraint:stress"]) == 0.4 - float(row["x"]) for row in rows)


def test_constraints_in_a_toml_file(here):
    command = json.dumps([sys.executable, "run.py", "{x}", "{y}"])
    Path("run.toml").write_text(
        f'command = {command}\nbudget = 5\nconstraints = ["x + y >= 2"]\nmeasured = "slack"\n'
        "[params]\nx = {low = 0.0, high = 1.0}\ny = {low = 0.0, high = 3.0}\n"
    )
    out = json.loads(bamsoo_("minimize", "run.toml", "--json"))
    assert out["params"]["x"] + out["params"]["y"] >= 2


def test_constraints_as_fields_of_json(here):
    Path("run.py").write_text(
        "import json, sys\nx, y = map(float, sys.argv[1:])\n"
        'print(json.dumps({"cost": x + y, "stress": 0.4 - x}))\n'
    )
    told = ("--value", "cost", "--measured", "stress")
    out = json.loads(bamsoo_("minimize", *SPACE, "--budget", 6, "--json", *told, *COMMAND))
    assert out["failed"] == 0


def test_an_invalid_formula_is_refused_before_a_study_file_is_created(here):
    for formula, message in (
        ("x + z <= 3", "'z', which is not a parameter"),
        ("x", "a comparison"),
    ):
        told = ("--constraint", formula, "--study", "run.db")
        said = bamsoo_("minimize", *SPACE, "--budget", 3, *told, *COMMAND, code=2)
        assert message in said
    assert not Path("run.db").exists()


def test_the_output_says_if_no_point_is_feasible(here):
    Path("run.py").write_text("import sys\nprint('stress: 1')\nprint(sys.argv[1])\n")
    told = ("--measured", "stress")
    said = bamsoo_("minimize", *SPACE, "--budget", 3, *told, *COMMAND, code=1)
    assert "no feasible point was found" in said


def test_progress_tells_no_feasible_value_from_no_value(here):
    Path("never.py").write_text('print("value 1")\nprint("stress: 2")\n')
    words = ("minimize", *SPACE, "--budget", 3, "--measured", "stress", "--")
    said = bamsoo_(*words, sys.executable, "never.py", "{x}", "{y}", code=1)
    assert "3/3 evaluations, no feasible value yet" in said
