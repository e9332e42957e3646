"""The suite of surrogates: the space that a configuration describes, and the split into parts."""

import json

import pytest

from bamsoo.space import Choice, Int, Real
from bamsoo_lab.bench import yahpo
from bamsoo_lab.bench.errors import BenchError
from bamsoo_lab.bench.suites import Selection
from bamsoo_lab.bench.suites.yahpo import cases


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the description of one scenario; the model itself is missing."""

    def number(name, low, high, log=False, kind="uniform_float"):
        return {"name": name, "type": kind, "lower": low, "upper": high, "log": log}

    trees = ["max_depth", "eta", "gamma", "min_child_weight", "colsample_bytree"]
    trees += ["colsample_bylevel"]
    darts = ["rate_drop", "skip_drop"]
    config = {
        "hyperparameters": [
            {"name": "booster", "type": "categorical", "choices": ["gblinear", "gbtree", "dart"]},
            {"name": "num.impute.selected.cpo", "type": "categorical", "choices": ["mean", "hist"]},
            number("nrounds", 7, 2981, True, "uniform_int"),
            *(number(name, 1e-3, 1.0, True) for name in trees[1:]),
            number("max_depth", 1, 15, kind="uniform_int"),
            *(number(name, 0.0, 1.0) for name in ("lambda", "alpha", "subsample")),
            *(number(name, 0.0, 1.0) for name in ("rate_drop", "skip_drop", "trainsize", "repl")),
        ],
        "conditions": [
            *({"child": c, "parent": "booster", "values": ["gbtree", "dart"]} for c in trees),
            *({"child": c, "parent": "booster", "value": "dart"} for c in darts),
        ],
    }  # fmt: skip
    (tmp_path / "rbv2_xgboost").mkdir()
    (tmp_path / "rbv2_xgboost" / "config_space.json").write_text(json.dumps(config))
    tasks = {"rbv2_xgboost": {"develop": ["3"], "report": ["7", "8"]}}
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    monkeypatch.setenv(yahpo.FOLDER, str(tmp_path))
    yahpo.space.cache_clear()
    yield tmp_path
    yahpo.space.cache_clear()


def test_conditions_become_parameters_of_options(folder):
    space = yahpo.space("rbv2_xgboost")
    booster = space["booster"]
    assert isinstance(booster, Choice)
    opened = dict(zip(booster.options, booster.opens, strict=True))
    assert not opened["gblinear"]
    assert opened["gbtree"]["max_depth"] == Int(1, 15)
    assert {*opened["dart"]} - {*opened["gbtree"]} == {"rate_drop", "skip_drop"}
    assert space["nrounds"] == Int(7, 2981, log=True)
    assert space["subsample"] == Real(0.0, 1.0)
    assert not {"trainsize", "repl", "task_id"} & {*space}  # these are fixed


def test_a_part_has_its_own_tasks_on_its_seeds(folder):
    report = cases(Selection())
    assert {case.problem for case in report} == {"rbv2_xgboost-7", "rbv2_xgboost-8"}
    assert {case.instance for case in report} == {10, 11}
    (first, _) = cases(Selection(part="develop"))
    assert (first.problem, first.dim, first.budget) == ("rbv2_xgboost-3", 14, 100)


def test_missing_data_are_errors_of_one_sentence(folder, monkeypatch):
    with pytest.raises(BenchError, match=r"there is no file .*encoding\.json"):
        yahpo.TaskSurrogate("rbv2_xgboost-3")
    monkeypatch.delenv(yahpo.FOLDER)
    with pytest.raises(BenchError, match=r"name it with --data"):
        cases(Selection())
