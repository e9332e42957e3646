"""Where parameters may lie: known functions, constraints, and what a model cannot know."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from known_functions import knowing
from scipy.optimize import LinearConstraint

import bamsoo
from bamsoo import Choice, Int
from bamsoo.result.predictor import Requirement
from bamsoo.result.ranges import SURE, Requirements, range_of


def ranges(known, best, value, within):
    """The ranges around a point in which a known function is close to a value."""
    demands = [Requirement(known, value - within, 1.0)]
    standing = Requirements(demands, lambda points: np.ones(len(points), bool), True)
    return [range_of(known.space, standing, best, i) for i in range(known.space.dim)]


def test_ranges_are_those_of_a_function_that_is_known():
    space = {
        "x": (0.0, 1.0),
        "rate": bamsoo.Real(1e-3, 1.0, log=True),
        "n": bamsoo.Int(1, 20),
        "m": bamsoo.Choice(["a", "b", "c"]),
    }

    def fun(x, rate, n, m):
        return (
            (x - 0.3) ** 2
            + 0.1 * np.log10(rate / 0.05) ** 2
            + 0.002 * (n - 8) ** 2
            + {"a": 0.0, "b": 0.005, "c": 0.3}[m]
        )

    r = bamsoo.minimize(fun, space, 120)
    found = r.ranges(0.01)
    assert found["x"].low == pytest.approx(0.2, abs=0.03)
    assert found["x"].high == pytest.approx(0.4, abs=0.03)
    width = 10**0.316  # 0.1 * log10(w) ** 2 = 0.01
    assert found["rate"].low == pytest.approx(0.05 / width, rel=0.2)
    assert found["rate"].high == pytest.approx(0.05 * width, rel=0.2)
    assert found["n"][:2] in {(6, 10), (7, 9), (6, 9), (7, 10)}
    assert type(found["n"].low) is int
    assert set(found["m"].options) == {"a", "b"}
    assert all(SURE <= each.sure <= 1.0 for each in found.values())
    wide = r.ranges(1e6)
    assert (wide["x"].low, wide["x"].high, wide["m"].options) == (0.0, 1.0, ("a", "b", "c"))
    assert wide["x"].sure == pytest.approx(1.0)


@pytest.mark.parametrize("within", [0, -1, float("nan"), "a", None])
def test_ranges_need_a_distance(within):
    r = bamsoo.minimize(lambda x: x[0], [(0, 1)], 10)
    with pytest.raises(bamsoo.errors.SettingsError, match="within must be a number above 0"):
        r.ranges(within)


def test_ranges_end_where_the_mean_is_worse_by_just_the_distance():
    space = {"x": (0.0, 1.0), "n": Int(1, 20), "m": Choice(["a", "b", "c"])}
    offsets = {"a": 0.0, "b": -0.5, "c": -3.0}

    def fun(p):
        return offsets[p["m"]] - 100.0 * (p["x"] - 0.3) ** 2 - 0.1 * (p["n"] - 8) ** 2

    known = knowing(space, fun, 256, [1.0, 1.0, 1.0])
    width = np.sqrt(1.05 / 100.0)  # between two points of the grid
    best = known.space.point({"x": 0.3, "n": 8, "m": "a"})
    x, n, m = ranges(known, best, 0.0, 1.05)
    assert 0.3 - width <= x.low < x.high <= 0.3 + width  # a little inside, where it is sure
    assert x[:2] == pytest.approx((0.3 - width, 0.3 + width), abs=3e-3)
    assert n[:2] == (5, 11)
    assert m.options == ("a", "b")


def test_a_range_contains_the_best_point_even_if_the_mean_is_worse_there():
    space = {"x": (0.0, 1.0), "n": Int(1, 20), "m": Choice(["a", "b"])}
    known = knowing(space, lambda p: p["x"] + p["n"], 64, [1.0, 1.0, 1.0])
    best = known.space.point({"x": 0.3, "n": 8, "m": "b"})
    x, n, m = ranges(known, best, 1e3, 0.1)
    assert (x[:2], n[:2], m.options) == ((0.3, 0.3), (8, 8), ("b",))


# --- with constraints


def measured(x, y):
    return x + y, {"c": 0.5 - x}


FORMS = {
    "measured": (measured, ["c"]),
    "formula": (lambda x, y: x + y, [bamsoo.Formula("x >= 0.5")]),
    "function": (lambda x, y: x + y, [lambda x, y: 0.5 - x]),
    "linear": (lambda x, y: x + y, [LinearConstraint([[1, 0]], lb=0.5)]),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_range_ends_at_a_constraint(form):
    fun, constraints = FORMS[form]
    r = bamsoo.minimize(fun, {"x": (0, 1), "y": (0, 1)}, 25, constraints=constraints)
    found = r.ranges(0.1)
    assert 0.5 - 1e-9 <= found["x"].low <= r.params["x"] < 0.51
    assert found["x"].high == pytest.approx(0.6, abs=0.01)
    assert found["y"][:2] == pytest.approx((0.0, 0.1), abs=0.01)  # c does not depend on y
    assert all(each.sure >= SURE for each in found.values())


def test_a_range_of_options_and_whole_numbers_meets_the_constraints():
    def fun(n, kind):
        return float(n), {
            "load": 7.5 - n + 2 * (kind == "weak"),
            "site": float(kind == "none") - 0.5,
        }

    space = {"n": Int(1, 20), "kind": Choice(["good", "weak", "none", "fine"])}
    r = bamsoo.minimize(fun, space, 50, constraints=["load", "site"])
    assert r.params["n"] == 8
    found = r.ranges(4.5)
    assert found["n"][:2] == (8, 12)
    assert set(found["kind"].options) <= {"good", "fine"}


@settings(max_examples=6, deadline=None)
@given(
    at=st.floats(0.2, 0.8),
    slope=st.sampled_from([-3.0, -0.7, 0.0, 0.4, 2.0]),
    seed=st.integers(0, 3),
)
def test_the_ends_of_ranges_hold_when_they_are_evaluated(at, slope, seed):
    def fun(x, y):
        return (x - 0.1) ** 2 + (y - 0.6) ** 2, {"c": at - x + slope * (y - 0.5) ** 2}

    r = bamsoo.minimize(fun, {"x": (0, 1), "y": (0, 1)}, 25, constraints=["c"], seed=seed)
    for name, found in r.ranges(0.05).items():
        for end in (found.low, found.high):
            value, c = fun(**{**r.params, name: end})
            assert value <= r.fun + 0.05 + 1e-6
            assert c["c"] <= 1e-6


def test_ranges_of_a_pickle_know_all_constraints_or_say_which_one_they_lack():
    space, budget = {"x": (0, 1), "y": (0, 1)}, 25
    one = bamsoo.minimize(measured, space, budget, constraints=["c", bamsoo.Formula("y >= 0.2")])
    again = pickle.loads(pickle.dumps(one))
    for name, found in one.ranges(0.1).items():
        assert again.ranges(0.1)[name][:2] == pytest.approx(found[:2], abs=1e-3)
    other = bamsoo.minimize(lambda x, y: x + y, space, budget, constraints=[lambda x, y: 0.5 - x])
    with pytest.raises(bamsoo.errors.ModelError, match="constraint <lambda> is a Python function"):
        pickle.loads(pickle.dumps(other)).ranges(0.1)


def test_too_few_measurements_for_a_model_of_a_constraint():
    r = bamsoo.minimize(
        lambda x: (x[0], {"c": -1.0 if x[0] < 0.9 else None}), [(0, 1)], 3, constraints=["c"]
    )
    with pytest.raises(bamsoo.errors.ModelError):
        r.ranges(0.1)


def test_a_range_ends_where_evaluations_fail():
    r = bamsoo.minimize(lambda x, y: x + y if x > 0.5 else None, {"x": (0, 1), "y": (0, 1)}, 40)
    found = r.ranges(0.1)["x"]
    assert 0.499 < found.low < found.high < 0.61
    assert found.high > 0.55


def test_an_option_is_left_out_if_the_evaluation_that_is_nearest_failed():
    opt = bamsoo.Optimizer({"x": (0, 1), "kind": Choice(["a", "b", "c"])}, algorithm="bamsoo")
    for i in range(30):
        kind = "abc"[i % 3]
        value = None if kind == "b" else (i / 30 - 0.4) ** 2
        opt.tell({"x": i / 30, "kind": kind}, value)
    opt.ask()
    assert "b" not in opt.result.ranges(0.5)["kind"].options
