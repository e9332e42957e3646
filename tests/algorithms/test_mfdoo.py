"""MFDOO: worked by hand, and what is evaluated at the top in the end."""

import numpy as np
import pytest

import bamsoo
from bamsoo import Choice, Fidelity
from bamsoo.algorithms import MFDOO


def test_mfdoo_visits_the_points_worked_out_by_hand():
    # f_z(x) = x, maximised, k = 2, nu = 1, rho = 1/2; zeta = .7, .35 and 0 at z = 1, 4 and 16,
    # which cost 1/16, 1/4 and 1. z_0 = 1 since .7 <= 1, z_1 = 4 since .35 <= .5 < .7, z_2 = 16.
    # After 9/16 the leaf at .75 has b = .75 + .5 + .35; its children are at the top.
    space = {"x": (0.0, 1.0), "z": Fidelity(1, 16, log=True)}
    opt = bamsoo.Optimizer(space, "maximize", MFDOO(rho=0.5, bias=0.7, budget=10))
    visited = []
    for _ in range(7):
        trial = opt.ask()
        visited.append((trial.params["x"], trial.params["z"]))
        opt.tell(trial, trial.params["x"])
    # then b = .875 + .25 is the largest, before that of .25, which is .25 + .5 + .35
    assert visited == [
        *((0.5, 1), (0.25, 4), (0.75, 4), (0.625, 16), (0.875, 16), (0.8125, 16), (0.9375, 16))
    ]


def test_the_last_evaluation_of_a_plan_is_the_best_lower_bound_at_the_top():
    space = {"x": (0.0, 1.0), "z": Fidelity(1, 100, log=True)}
    r = bamsoo.minimize(lambda x, z: (x - 0.3) ** 2 + 0.1 / z, space, 3, algorithm="mfdoo")
    *below, last = r.X
    assert last["z"] == 100 and all(p["z"] < 100 for p in below) and r.cost <= 3
    assert r.params == last and last["x"] in [p["x"] for p in below] and abs(last["x"] - 0.3) < 0.02


@pytest.mark.parametrize("workers", [None, 3])
@pytest.mark.parametrize("budget", [1, 2, 4])
def test_there_is_a_result_at_the_top_however_small_the_budget(budget, workers):
    space = {"x": (0.0, 1.0), "z": Fidelity(1, 16)}
    opt = bamsoo.Optimizer(space, algorithm=MFDOO(budget=budget))
    spent = 0.0
    while budget - spent >= 1.0:
        trials = opt.ask(min(workers or 1, int(budget - spent)))
        for trial in trials:
            spent += trial.params["z"] / 16
            opt.tell(trial, trial.params["x"] ** 2)
    assert opt.result.success and opt.result.params["z"] == 16


def test_what_first_points_cost_is_part_of_the_plan():
    space = {"x": (0.0, 1.0), "z": Fidelity(10, 1000, log=True)}
    first = [{"x": 0.1, "z": 10}, {"x": 0.9, "z": 215}]
    run = {"algorithm": "mfdoo", "x0": first}
    r = bamsoo.minimize(lambda x, z: (x - 0.3) ** 2 + 0.1 / z, space, 4, **run)
    assert r.X[:2] == first and r.cost <= 4
    assert r.success and r.params["z"] == 1000 and abs(r.params["x"] - 0.3) < 0.02


def test_points_of_a_finite_space_are_all_evaluated_at_the_top_in_the_end():
    space = {"c": Choice(list("abcd")), "z": Fidelity(1, 16)}
    r = bamsoo.minimize(lambda c, z: "dbca".index(c) + 1 / z, space, 40, algorithm="mfdoo")
    assert sorted(p["c"] for p in r.X if p["z"] == 16) == list("abcd")
    assert r.params["c"] == "d" and "every point" in r.message


def test_without_a_fidelity_every_evaluation_is_at_the_top():
    r = bamsoo.minimize(
        lambda x: float(((x - 0.4) ** 2).sum()), [(0, 1)] * 2, 40, algorithm="mfdoo"
    )
    assert r.nfev == 40 and r.fun < 0.01


def test_a_study_asks_for_the_same_points_and_levels(tmp_path):
    space = {"x": (0.0, 1.0), "z": Fidelity(1, 100, log=True)}

    def f(x, z):
        return (x - 0.3) ** 2 + 0.1 / z

    whole = bamsoo.minimize(f, space, 4, algorithm=MFDOO(budget=4))
    path = tmp_path / "run.db"
    bamsoo.minimize(f, space, 2, algorithm=MFDOO(budget=4), study=path)
    r = bamsoo.minimize(f, space, 4, algorithm=MFDOO(budget=4), study=path)
    assert r.X == whole.X and np.array_equal(r.F, whole.F)


def test_constraints_are_measured_at_every_level():
    space = {"x": (0.0, 1.0), "y": (0.0, 1.0), "z": Fidelity(1, 16)}

    def f(x, y, z):
        return (x - 0.6) ** 2 + (y - 0.6) ** 2 + 0.1 / z, {"limit": x - 0.3}

    r = bamsoo.minimize(f, space, 20, algorithm=MFDOO(rho=0.7), constraints=["limit"])
    assert r.success and 0.1 < r.params["x"] <= 0.3 and abs(r.params["y"] - 0.6) < 0.2


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"nu": 0.0}, "nu must be positive"),
        ({"rho": 1.0}, "rho must be strictly between 0 and 1"),
        ({"bias": -1.0}, "bias must be positive"),
        ({"k": 1}, "k must be a whole number >= 2"),
        ({"budget": 0}, "budget must be a whole number >= 1"),
    ],
)
def test_settings_are_checked_when_they_are_made(given, words):
    with pytest.raises(bamsoo.errors.SettingsError, match=words):
        MFDOO(**given)


def test_a_search_without_a_budget_says_how_to_set_it():
    with pytest.raises(bamsoo.errors.SettingsError, match=r"MFDOO\(budget=200\)"):
        bamsoo.Optimizer([(0, 1)], algorithm="mfdoo")


@pytest.mark.parametrize("settings", [{}, {"k": 3}, {"nu": 0.2, "rho": 0.5}])
def test_levels_at_which_everything_fails_are_left_out(settings):
    def fun(x, rows):
        return None if rows < 200 else (x - 0.3) ** 2

    space = {"x": (0, 1), "rows": Fidelity(10, 1000, log=True)}
    r = bamsoo.minimize(fun, space, 6, algorithm=MFDOO(**settings), on_error="fail")
    assert r.nfailed <= 4  # two points at each of the two lowest levels
    assert sum(p["rows"] >= 200 for p in r.X) == len(r.X) - r.nfailed
    assert r.fun < 0.01


def test_points_that_fail_at_every_level_are_tried_there_once():
    def fun(x, rows):
        return None if x > 0.4 else (x - 0.3) ** 2

    space = {"x": (0, 1), "rows": Fidelity(10, 1000, log=True)}
    r = bamsoo.minimize(fun, space, 8, algorithm="mfdoo", on_error="fail")
    dear = [p["x"] for p, v in zip(r.X, r.F, strict=True) if np.isnan(v) and p["rows"] == 1000]
    assert len(dear) == 1
    assert r.fun < 0.01
