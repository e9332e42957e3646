"""Extras of an evaluation: what a function returns besides its value, from `fun` to the tables."""

import io
import json
import pickle

import numpy as np
import pytest

import bamsoo
from bamsoo.base.checks import LONGEST, LONGEST_NAME, MOST_EXTRAS
from bamsoo.command.table import write_csv, write_json, write_parquet
from bamsoo.errors import ValueTypeError
from bamsoo.report.model import describe
from bamsoo.run.evaluation import as_reply
from bamsoo.run.program import Program, recorded, value_of
from bamsoo.study import Study

SPACE = {"x": (0.0, 1.0)}
GIVEN = {"seconds": 3.25, "model": "a.pt", "ok": True, "epochs": 7, "note": None}


def measure(x):
    return x, {**GIVEN, "limit": x - 0.75}


def test_names_that_are_not_constraints_are_kept_with_the_trial(tmp_path):
    file = tmp_path / "run.db"
    bamsoo.minimize(measure, SPACE, 4, algorithm="soo", study=file, constraints=["limit"])
    with Study.open(file) as study:
        (*_, last), evaluation = study.trials, study.evaluations[-1]
        assert last.extras == evaluation.extras == GIVEN
        assert set(last.measured) == {"limit"}
        assert [type(each) for each in last.extras.values()] == list(map(type, GIVEN.values()))
        copy = pickle.loads(pickle.dumps(study.result))
        assert copy.evaluations[-1].extras == GIVEN


def test_a_missing_constraint_is_still_an_error():
    with pytest.raises(ValueTypeError, match="'limit' was not measured"):
        bamsoo.minimize(lambda x: (x, {"limits": 1.0}), SPACE, 3, constraints=["limit"])


def test_a_failed_evaluation_keeps_its_extras():
    r = bamsoo.minimize(lambda x: (None, {"log": "oom.txt"}), SPACE, 2, algorithm="soo")
    assert [e.extras for e in r.evaluations] == [{"log": "oom.txt"}] * 2


def test_extras_are_told_and_known():
    opt = bamsoo.Optimizer(SPACE, constraints=["limit"])
    opt.tell({"x": 0.1}, 1.0, constraints={"limit": 0}, extras={"n": np.int64(3)})
    assert opt.evaluations[0].extras == {"n": 3}
    with pytest.raises(ValueTypeError, match="is a measured constraint, and not an extra"):
        opt.tell({"x": 0.2}, 1.0, constraints={"limit": 0}, extras={"limit": 3})
    r = bamsoo.minimize(lambda x: x, SPACE, 1, known=[({"x": 0.5}, (2.0, {"by": "hand"}))])
    assert r.evaluations[0].extras == {"by": "hand"}


@pytest.mark.parametrize(
    ("extras", "message"),
    [
        (3, "must be a dict"),
        ({1: 2}, "the name of an extra must be a string"),
        ({"": 2}, "the name of an extra must be a string"),
        ({"n" * (LONGEST_NAME + 1): 2}, "the name of an extra must be a string"),
        (
            {"curve": [1, 2]},
            "'curve' must be a number, a string, a boolean or None, got",
        ),
        ({"z": 1j}, "'z' must be a number"),
        ({str(i): i for i in range(MOST_EXTRAS + 1)}, "at most 100 extras, got 101"),
    ],
)
def test_other_values_are_refused_and_nothing_is_told(extras, message):
    opt = bamsoo.Optimizer(SPACE)
    trial = opt.ask()
    with pytest.raises(ValueTypeError, match=message):
        opt.tell(trial, 1.0, extras=extras)
    opt.tell(trial, 1.0)
    assert opt.evaluations[0].extras == {}


def test_numbers_of_numpy_and_long_texts_are_converted():
    given = {"a": np.float32(0.5), "b": np.bool_(True), "c": 2**70, "d": "y" * 99_999}
    reply = as_reply((1.0, given))
    assert reply.beside is not None
    a, b, c, d = reply.beside.values()
    assert (a, b, c) == (0.5, True, float(2**70))
    assert type(b) is bool
    assert isinstance(d, str)
    assert len(d) <= LONGEST


def test_nan_and_all_kinds_survive_the_file(tmp_path):
    file = tmp_path / "run.db"
    given = {"nan": float("nan"), "inf": float("inf"), "big": 2**62, "text": "ä\n;=1"}
    with Study.open(file, space=SPACE) as study:
        study.tell({"x": 0.5}, 1.0, extras=given)
    with Study.open(file) as study:
        assert repr(study.trials[0].extras) == repr(given)


def test_tables_have_a_column_for_each_extra(tmp_path):
    file = tmp_path / "run.db"
    with Study.open(file, space={"extra:n": (0.0, 1.0)}) as study:
        study.tell({"extra:n": 0.5}, 1.0, extras={"n": 1, "file": "=1+1"})
        study.tell({"extra:n": 0.25}, 2.0, extras={"n": "two"})
        trials, space, result = study.trials, study.space, study.result
    text = io.StringIO()
    write_csv(trials, space, text)
    head, first, second = text.getvalue().splitlines()
    assert head.startswith("trial,state,param:extra:n,value,extra:n,extra:file,")
    assert first.startswith(',given,0.5,1.0,1,"""=1+1""",given,')
    assert second.startswith(",given,0.25,2.0,two,,given,")
    text = io.StringIO()
    write_json(trials, text)
    assert [each["extras"] for each in json.loads(text.getvalue())] == [
        {"n": 1, "file": "=1+1"},
        {"n": "two"},
    ]
    frame = pytest.importorskip("pandas") and result.to_dataframe()
    assert frame["extra:n"].tolist() == [1, "two"]
    pytest.importorskip("pyarrow")
    write_parquet(trials, space, io.BytesIO())
    page = describe(file)
    assert page["extras"] == ["n", "file"]
    assert page["trials"]["extras"] == [[1, "two"], ["=1+1", None]]


def test_labels_of_a_program_are_recorded():
    text = "size: 3, model: a b.pt\nacc = 0.5; size: 4 MB\nvalue 7\nmax size: 9"
    rest, found = recorded(text, ["model", "size", "acc", "none"])
    assert found == {"size": 4.0, "model": "a b.pt", "acc": 0.5}
    assert "b.pt" not in rest
    assert rest.endswith("value 7\nmax size: 9")
    argv = ["sh", "-c", "echo 'time: 3 s'; echo 2.5; echo 'model: b2.pt'"]
    assert value_of(argv, Program(record=["time", "model"])) == (
        2.5,
        {"time": 3.0, "model": "b2.pt"},
    )
    argv = ["sh", "-c", 'echo \'{"loss": 1, "ok": true, "at": [1]}\'']
    assert value_of(argv, Program(key="loss", record=["ok", "at", "none"])) == (
        1.0,
        {"ok": True, "at": "[1.0]"},
    )


def test_the_command_records_labels(tmp_path, monkeypatch, capsys):
    from bamsoo.command.main import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    words = ["minimize", "--param", "x:0:1", "--budget", "2", "--study", "run.db", "--algorithm"]
    words += ["soo", "--record", "file", "--", "sh", "-c", "echo {x}; echo file: a{x}.txt"]
    for argv in (words, ["resume", "run.db", "--budget", "3"], ["show", "run.db"]):
        with pytest.raises(SystemExit) as ended:
            main(argv)
        assert ended.value.code == 0
    assert "file" in capsys.readouterr().out
    with Study.open(tmp_path / "run.db", readonly=True) as study:
        assert [t.extras["file"] for t in study.trials] == [
            f"a{t.params['x']}.txt" for t in study.trials
        ]
