"""`--residuals` and `--data`: the fit of a model that a program computes."""

import json
import math

import numpy as np
import pytest

import bamsoo
from bamsoo.errors import EvaluationError, SettingsError
from bamsoo.run.program import Program, reading
from bamsoo.run.residuals import column_of, read_data

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


def read(text, name="y", **more):
    return reading(text, Program(residuals=name, **more)).value


def test_what_a_command_prints():
    assert read("x: 9\ny: 1, -2.5e3 nan\nend")[:2] == (1.0, -2500.0)
    assert read("y = [1.5 2]") == (1.5, 2.0)
    assert read('{"y": [1, null]}')[0] == 1.0
    assert read("y: 1 2 3", data=[0.5, None, 1.0])[::2] == (0.5, 2.0)
    with pytest.raises(EvaluationError, match="the residuals y were not printed"):
        read("value 3")
    with pytest.raises(EvaluationError, match="is not a number"):
        read("y: 1 two")
    with pytest.raises(EvaluationError, match="there are 2 numbers, but 1 measurements"):
        read("y: 1 2", data=[1.0])


def test_other_numbers_are_read_next_to_residuals():
    both = {"measured": ["stress"], "record": ["note"]}
    for text in (
        "stress: 2\nnote: fine\ny: 1 2",
        '{"y": [1, 2], "stress": 2, "note": "fine"}',
    ):
        found = reading(text, Program(residuals="y", **both))
        assert (found.value, found.beside) == ((1.0, 2.0), {"stress": 2.0, "note": "fine"})
        assert found.said == "2 residuals read as y; stress 2"


def test_a_line_may_have_many_residuals(tmp_path):
    program = "python3", "-c", "print('y:', *range(50_000)); print('x' * 1000)"
    fun = bamsoo.Command(program, residuals="y", directory=tmp_path)
    assert len(fun()) == 50_000


TABLE = """
import sys
x = float(sys.argv[1])
if x < 0.9:
    open("out.csv", "w").write(f"y,z\\n{x},1\\n{2 * x},2\\n")
"""


def test_a_program_is_a_function_for_least_squares(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.py").write_text(TABLE)
    fun = bamsoo.Command(
        ["python3", "table.py", "{x}"], residuals="out.csv:y", data=[0.3, 0.6], workdir="runs",
        files=["table.py"],
    )  # fmt: skip
    r = bamsoo.least_squares(fun, {"x": (0.0, 1.0)}, 6, workers=2, on_error="fail")
    assert r.params["x"] == pytest.approx(0.3, abs=0.05)  # the order of two workers may vary
    kept = {place.name for place in tmp_path.glob("runs/*")}
    assert str(r.evaluations[int(np.argmin(r.F))].number) in kept
    assert len(kept) == 1 + r.nfailed
    with pytest.raises(SettingsError, match=r"for bamsoo\.least_squares"):
        bamsoo.minimize(fun, {"x": (0.0, 1.0)}, 3)
    with pytest.raises(SettingsError, match="give residuals=NAME"):
        bamsoo.least_squares(bamsoo.Command(["echo", "{x}"]), {"x": (0.0, 1.0)}, 3)
    with pytest.raises(SettingsError, match="name them with residuals="):
        bamsoo.Command(["echo"], data=[1.0])
    with pytest.raises(SettingsError, match="a vector of measurements"):
        bamsoo.Command(["echo"], residuals="y", data=[math.nan])


def test_a_table_that_was_there_before_is_not_read_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.py").write_text(TABLE)
    fun = bamsoo.Command(["python3", "table.py", "{x}"], residuals="out.csv:y")
    assert fun(x=0.5) == (0.5, 1.0)
    with pytest.raises(EvaluationError, match=r"did not write out\.csv, which was there"):
        fun(x=1.0)
    (tmp_path / "out.csv").unlink()
    with pytest.raises(EvaluationError, match=r"did not write out\.csv: No such file"):
        fun(x=1.0)
    wrong = bamsoo.Command(["python3", "table.py", "{x}"], residuals="out.csv:t")
    with pytest.raises(SettingsError, match=r"has no column 't', only \['y', 'z'\]$"):
        wrong(x=0.5)  # a setting is wrong: no need to try other points


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
    said = refused(*given[:-1], "--residuals", "y", "--f-scale", "2")
    assert "--f-scale has no effect on plain squares; give a loss, too, such as --loss" in said


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


def test_a_label_that_is_not_there_ends_the_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = refused(
        *("minimize", "--param", "x:0:1", "--budget", "3", "--study", "run.db"),
        *("--residuals", "z", "--", "echo", "x: 9 y: {x}"),
    )
    assert "the residuals z were not printed" in said
    assert "the labels that were printed are x, y" in said
    assert not (tmp_path / "run.db").exists()
