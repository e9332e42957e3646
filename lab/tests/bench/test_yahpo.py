"""The suite of surrogates: the space that a configuration describes, and the split into parts."""

import json
from dataclasses import asdict

import pytest
from click.testing import CliRunner

from bamsoo.command.main import main
from bamsoo.space import Choice, Int, Real, Space
from bamsoo_lab.bench import goals, yahpo
from bamsoo_lab.bench.errors import BenchError
from bamsoo_lab.bench.suites import Selection
from bamsoo_lab.bench.suites.yahpo import FAMILIES, cases, slow_cases, takes


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
    assert Space(space).dim == yahpo.SCENARIOS["rbv2_xgboost"].dim == 14


def test_a_part_has_its_own_tasks_on_its_seeds_without_the_data(monkeypatch):
    monkeypatch.delenv(yahpo.FOLDER, raising=False)
    report, develop = cases(Selection()), cases(Selection(part="develop"))
    assert (len(report), len(develop)) == (49, 98)
    assert {case.instance for case in report} == {10}
    assert not {case.problem for case in report} & {case.problem for case in develop}
    first = next(case for case in report if case.problem == "rbv2_xgboost-1068")
    assert (first.dim, first.budget) == (14, 100)
    kinds = [[name for name, belongs in FAMILIES.items() if belongs(case)] for case in report]
    assert all(len(found) == 1 for found in kinds)


def test_slow_peers_run_tasks_of_all_scenarios_drawn_by_a_fixed_rule():
    slow = [case.problem for case in slow_cases()]
    assert slow == [case.problem for case in slow_cases()]
    assert len(set(slow)) == 20 and set(slow) <= {case.problem for case in cases(Selection())}
    assert {yahpo.scenario_of(name) for name in slow[:4]} == {*yahpo.SCENARIOS}


def test_peers_that_know_no_conditions_leave_out_the_tasks_that_have_them():
    margin, grouped = (
        [case.problem for case in cases(Selection()) if takes(method, case)]
        for method in ("cma-margin", "optuna-tpe-group")
    )
    assert len(margin) == 29 and not any(name.startswith("rbv2_xgboost") for name in margin)
    assert len(grouped) == 20 and not {*grouped} & {*margin}


def test_goals_worked_out_by_hand():
    # random points have the median 4, and the best value of all is 0
    names = ("lcbench-189354", "rbv2_rpart-42")
    values = {"random": [4.0] * 100, "optuna-gp": [1.0] * 100, "bamsoo": [0.0] * 100}
    found = {
        method: {
            case: {**asdict(case), "method": method, "values": some, "cpu": 1.0}
            for case in cases(Selection(tasks=names))
        }
        for method, some in values.items()
    }
    rows = {goal: (measured, met) for goal, measured, met in goals.yahpo(found)}
    assert len(rows) == 3 + 2 + 3
    above = "mean score at least 0.03 above that of Optuna GP on the same runs after"
    assert rows[f"{above} 20 evaluations"] == ("+0.250 (2 runs)", True)
    assert rows[f"on lcbench, {above} 40 evaluations"] == ("+0.250 (1 runs)", True)
    wins = "at least 3 wins per loss against Optuna GP after 100 evaluations"
    assert rows[wins] == ("2 won, 0 lost", True)


def test_missing_data_are_errors_of_one_sentence(folder, monkeypatch):
    with pytest.raises(BenchError, match=r"there is no file .*encoding\.json"):
        yahpo.TaskSurrogate("rbv2_xgboost-3")
    monkeypatch.delenv(yahpo.FOLDER)
    with pytest.raises(BenchError, match=r"name it with --data"):
        yahpo.TaskSurrogate("rbv2_xgboost-3")
    page = CliRunner().invoke(main, ["bench", "--suite", "yahpo"])
    assert page.exit_code == 2 and "name its folder with --data" in page.output
