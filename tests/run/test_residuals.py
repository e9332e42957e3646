"""`--residuals` and `--data`: the fit of a model that a program computes."""

import json
import math

import pytest

from bamsoo.errors import EvaluationError, SettingsError
from bamsoo.run.residuals import column_of, read_data, residuals_of

from command_line import bamsoo_, refused

SIMULATE = """
import csv, json, math, sys
a, k, how = float(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
y = [a * math.exp(-k * t / 4) for t in range(12)]
print("step 1 of 2")
if how == "line":
    print("y:", *y)
elif how == "json":
    print(json.dumps({"y": y, "time": 3}))
else:
    with open("out.csv", "w") as file:
        file.write("t,y\\n" + "".join(f"{i},{v}\\n" for i, v in enumerate(y)))
"""


@pytest.mark.parametrize(("how", "name"), [("line", "y"), ("json", "y"), ("file", "out.csv:y")])
def test_a_program_is_fitted_to_a_file(tmp_path, monkeypatch, how, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "simulate.py").write_text(SIMULATE)
    rows = [f"{i},{'' if i == 3 else 2.5 * math.exp(-1.3 * i / 4)}" for i in range(12)]
    (tmp_path / "data.csv").write_text("\n".join(["t,y", *rows]))
    out = bamsoo_(
        *("minimize", "--param", "a:0:10", "--param", "k:0:5", "--budget", "12", "--json"),
        *("--residuals", name, "--data", "data.csv:y", "--study", "run.db"),
        *("--", "python3", "simulate.py", "{a}", "{k}", how),
    )
    found = json.loads(out)
    assert found["value"] < 1e-6
    assert found["params"]["k"] == pytest.approx(1.3, abs=1e-3)


def test_what_a_command_prints():
    assert residuals_of("x: 9\ny: 1, -2.5e3 nan\nend", "y", None)[:2] == (1.0, -2500.0)
    assert residuals_of('{"y": [1, null]}', "y", None)[0] == 1.0
    with pytest.raises(EvaluationError, match="the residuals y were not printed"):
        residuals_of("value 3", "y", None)
    with pytest.raises(EvaluationError, match="is not a number"):
        residuals_of("y: 1 two", "y", None)


def test_columns_of_files(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("y\n1\n\n2.5\nNA\n")
    assert column_of(path)[:2] == [1.0, 2.5]
    assert read_data(str(path)) == [1.0, 2.5, None]
    path.write_text("a,b\n1,2\n")
    assert read_data(f"{path}:b") == [2.0]
    with pytest.raises(SettingsError, match="has several columns"):
        read_data(str(path))
    with pytest.raises(SettingsError, match="has no column 'c'"):
        read_data(f"{path}:c")
    with pytest.raises(SettingsError, match="cannot be read"):
        read_data(str(tmp_path / "none.csv"))


def test_data_without_residuals(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text("1\n2\n")
    given = "minimize", "branin", "--budget", "3", "--data"
    assert "--data needs --residuals" in refused(*given, "data.csv")
    assert "none.csv: cannot be read" in refused(*given, "none.csv", "--residuals", "y")
    assert "--loss needs --residuals" in refused(*given[:-1], "--loss", "huber")


def test_loss_and_weights_of_a_study_are_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text("def line(a): return [a - 0.3, a - 0.4, a + 5]")
    (tmp_path / "weights.csv").write_text("4\n1\n1\n")
    said = bamsoo_(
        *("minimize", "model:line", "--param", "a:0:1", "--budget", "4", "--study", "run.db"),
        *("--residuals", "r", "--loss", "soft_l1", "--f-scale", "0.1", "--weights", "weights.csv"),
    )
    assert " ± " in said
    found = json.loads(bamsoo_("resume", "run.db", "--budget", "5", "--json"))
    assert found["evaluations"] == 5
    assert 0.0 < found["deviations"]["a"] < 1.0


def test_the_labels_that_were_printed_are_named():
    with pytest.raises(EvaluationError, match="the lines are labelled x, y"):
        residuals_of("x: 9\ny: 1", "z", None)
