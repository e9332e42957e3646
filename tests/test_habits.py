"""Small things that newcomers stumble over."""

import json
import logging
from typing import get_args

import numpy as np
import pytest
from click.testing import CliRunner

import bamsoo
from bamsoo import Choice, Int, Optimizer, Real
from bamsoo.algorithms import BY_NAME, Name
from bamsoo.command.main import main

branin = bamsoo.problems.branin


def run(*args):
    done = CliRunner().invoke(main, [str(arg) for arg in args])
    return done.exit_code, done.output


# --- spaces


def test_an_option_needs_a_name():
    with pytest.raises(bamsoo.errors.SpaceError, match=r"x1: a Choice needs a name.* as a dict"):
        bamsoo.minimize(lambda x: 0.0, [(0, 1), Choice(["a", "b"])], 5)


@pytest.mark.parametrize("text", ["x=0:10", "x=1e-3:1:log", "x=-2:7:int", "x=.5:2."])
def test_a_range_written_as_options_is_refused_with_a_hint(text):
    code, output = run("minimize", "math:sin", "--param", text, "--budget", 3)
    assert code == 2
    assert f"this looks like a range; write x:{text[2:]}" in output


def test_options_that_are_not_a_range_stay_options():
    from bamsoo.command.parameters import parse_one

    assert parse_one("x=a:b,c")[1].options == ("a:b", "c")
    assert parse_one("x=1:2,3")[1].options == ("1:2", 3)


def test_a_misspelt_placeholder_is_named():
    code, output = run(
        "minimize", "--param", "rate:0:1", "--budget", 2, "--", "echo", "{rat}", "{rat}"
    )
    assert code == 2
    assert "the command does not use the parameter rate" in " ".join(output.split())
    assert "{rat} is not a parameter" in " ".join(output.split())


# --- seeds, names, words


def test_without_a_seed_one_is_drawn():
    first, second = (Optimizer([(0, 1)], algorithm="random", seed=None) for _ in range(2))
    assert first.seed != second.seed
    assert first.ask().x != second.ask().x
    again = Optimizer([(0, 1)], algorithm="random", seed=second.seed)
    assert again.ask().x == second.ledger.trials[0].x


def test_a_study_keeps_the_seed_that_was_drawn(tmp_path):
    given = {"algorithm": "random", "seed": None, "study": tmp_path / "run.db"}
    bamsoo.minimize(branin, branin.bounds, 3, **given)
    r = bamsoo.minimize(branin, branin.bounds, 6, **given)
    with bamsoo.Study.open(tmp_path / "run.db", readonly=True) as study:
        seed = study.settings["seed"]
    alone = bamsoo.minimize(branin, branin.bounds, 6, algorithm="random", seed=seed)
    assert r.X.tolist() == alone.X.tolist()


def test_a_type_checker_knows_the_algorithms():
    assert get_args(Name) == tuple(BY_NAME)


def test_both_spellings_of_the_integrations_work():
    from bamsoo.integrations import optuna, sklearn

    assert optuna.BamsooSampler is optuna.BaMSOOSampler
    assert sklearn.BaMSOOSearchCV is sklearn.BamsooSearchCV


def test_what_a_callback_returns_is_ignored():
    assert bamsoo.minimize(branin, branin.bounds, 5, callback=lambda r: True).nfev == 5


def test_the_command_says_one_evaluation():
    output = run("minimize", "branin", "--budget", 1)[1]
    assert "1 evaluation: the budget of 1 evaluation is spent" in output


# --- logging


def test_a_run_is_logged_and_silent_by_default(caplog, capfd):
    def fragile(x):
        if x[0] > 0.6:
            raise RuntimeError("diverged")
        return x[0]

    bamsoo.minimize(fragile, [(0, 1)], 5, on_error="fail")
    assert capfd.readouterr() == ("", "")
    with caplog.at_level(logging.DEBUG, logger="bamsoo"):
        r = bamsoo.minimize(fragile, [(0, 1)], 5, on_error="fail")
    levels = [record.levelname for record in caplog.records if record.name == "bamsoo"][-6:]
    assert levels.count("WARNING") == r.nfailed > 0
    assert levels.count("DEBUG") == 5 - r.nfailed
    assert caplog.records[-1].getMessage().startswith("5 evaluations: the budget of 5 evaluations")
    assert "RuntimeError: diverged" in caplog.text


# --- the command ends as Python does


def test_the_command_stops_at_a_target():
    code, output = run("minimize", "branin", "--budget", 100, "--target", "0.5", "--json")
    found = json.loads(output)
    assert (code, found["status"]) == (0, 1)
    assert found["value"] <= 0.5
    assert found["evaluations"] < 100


def test_the_command_has_a_time_limit_for_the_whole_run():
    code, output = run(
        "minimize", "--param", "x:0:1", "--budget", 1000, "--timeout", 1, "--json",
        "--", "sh", "-c", "sleep 0.2; echo {x}",
    )  # fmt: skip
    found = json.loads(output)
    assert (code, found["status"]) == (0, 2)
    assert 1 <= found["evaluations"] <= 6


def test_the_command_stops_when_nothing_improves_or_is_left(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = json.loads(
        run("minimize", "branin", "--budget", 300, "--stalled", 5, "--study", "a.db", "--json")[1]
    )
    assert found["status"] == 6
    assert json.loads(run("resume", "a.db", "--json")[1])["evaluations"] == found["evaluations"]
    found = json.loads(run("minimize", "hartmann3", "--budget", 200, "--gap", "0.01", "--json")[1])
    assert (found["status"], found["evaluations"] < 200) == (6, True)


# --- scikit-learn's habits


def test_lists_and_distributions_mean_what_they_mean_to_scikit_learn():
    from scipy import stats

    from bamsoo.integrations.sklearn import _parameter

    assert _parameter("C", [0.1, 10]).options == (0.1, 10)
    assert _parameter("C", np.array([1, 2])).options == (1, 2)
    assert _parameter("C", (0.1, 10)) == (0.1, 10)
    assert _parameter("C", stats.uniform(1, 4)) == Real(1, 5)
    assert _parameter("C", stats.loguniform(1e-3, 1e2)) == Real(1e-3, 1e2, log=True)
    assert _parameter("n", stats.randint(1, 9)) == Int(1, 8)
    with pytest.raises(bamsoo.errors.SpaceError, match=r"C: expected one of .*got norm"):
        _parameter("C", stats.norm())


def test_a_list_of_two_numbers_is_two_values_in_a_search():
    from sklearn.datasets import load_iris
    from sklearn.neighbors import KNeighborsClassifier

    from bamsoo.integrations.sklearn import BamsooSearchCV

    X, y = load_iris(return_X_y=True)
    search = BamsooSearchCV(KNeighborsClassifier(), {"n_neighbors": [3, 30]}, n_iter=5).fit(X, y)
    assert {c["n_neighbors"] for c in search.cv_results_["params"]} == {3, 30}
