"""Objectives and their values: what is accepted, and each error in a sentence."""

import numpy as np
import pytest

import bamsoo
from bamsoo.errors import SettingsError, ValueTypeError
from bamsoo.record.objectives import ORDINARY, Objectives

TWO = Objectives.of(["loss", "latency"], "minimize")


@pytest.mark.parametrize(
    "given",
    [(1, 2), [1.0, 2.0], np.array([1, 2]), {"latency": 2, "loss": 1}, (np.float32(1), "x" and 2)],
)
def test_values_come_in_order_or_by_name(given):
    assert TWO.values(given) == (1.0, 2.0)


@pytest.mark.parametrize(
    "given",
    [
        *(None, float("nan"), np.float32("inf"), np.array(-np.inf)),
        *((1, None), (float("nan"), 2), (1, float("inf")), {"loss": None, "latency": 1}),
    ],
)
def test_an_evaluation_without_one_of_its_values_failed(given):
    assert TWO.values(given) == ()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (3.0, "one number for each of the objectives loss, latency"),
        ((1, 2, 3), r"as a dict, got \(1, 2, 3\)"),
        ("ab", "in this order or as a dict, got 'ab'"),
        ({"loss": 1}, "the objective 'latency' is missing"),
        ({"loss": 1, "latency": 2, "time": 3}, "'time' is not an objective; expected loss, lat"),
        ((1, "x"), "must be one real number, got 'x'"),
    ],
)
def test_other_values_are_refused(given, said):
    with pytest.raises(ValueTypeError, match=said):
        TWO.values(given)


def test_one_objective_is_an_ordinary_value():
    one = Objectives.of({"acc": "max"}, "minimize")
    assert one.values({"acc": 2}) == one.values(2.0) == one.values([2]) == (2.0,)
    assert (one.direction, one.several) == ("maximize", False)
    assert ORDINARY.values(3) == (3.0,)
    assert (ORDINARY.direction, ORDINARY.several) == ("minimize", False)
    with pytest.raises(ValueTypeError, match="must be one real number"):
        ORDINARY.values({"value": 3})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("loss", r"a list of names, or a dict of names and directions, got 'loss'"),
        ({"loss"}, r"a list of names, or a dict of names and directions, got {'loss'}"),  # no order
        (3, "a list of names"),
        ([], "got none; leave out objectives="),
        (["a", 3], "one of the names is 3"),
        (["a", "a"], "'a' is named twice"),
        (list("abcde"), "there are 5 objectives, but at most 4 are possible"),
        ({"a": "min", "b": "up"}, "of the objective 'b' must be 'min' or 'max', got 'up'"),
    ],
)
def test_bad_objectives_are_refused(given, said):
    with pytest.raises(SettingsError, match=said):
        bamsoo.minimize(lambda x: x, [(0, 1)], 3, objectives=given)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"algorithm": "bamsoo"}, "with several objectives, use auto, random, mosoo or sobol"),
        ({"noise": 0.1}, "noise must be 'learn' or left out"),
        ({"target": 3.0}, "target must be a dict of the values to reach by name, got 3.0"),
        ({"target": {"c": 3.0}}, "'c' is not an objective; expected a, b"),
        ({"constraints": ["a"]}, "'a' is both an objective and a measured constraint"),
    ],
)
def test_settings_that_do_not_fit_several_objectives_are_refused(settings, said):
    with pytest.raises(SettingsError, match=said):
        bamsoo.minimize(lambda x: (1, 2), [(0, 1)], 3, objectives=["a", "b"], **settings)


def test_the_direction_is_that_of_the_call_unless_a_dict_says_otherwise():
    r = bamsoo.maximize(lambda x: (x[0], 1 - x[0]), [(0, 1)], 5, objectives=["a", "b"])
    assert r.direction == "maximize" and r.objectives.ways == {"a": "max", "b": "max"}
    assert Objectives.of({"a": "min", "b": "max"}, "maximize").direction == "mixed"


def test_a_variance_needs_a_single_objective():
    opt = bamsoo.Optimizer([(0, 1)], objectives=["a", "b"])
    with pytest.raises(ValueTypeError, match="variance is for a single objective"):
        opt.tell(opt.ask(), (1, 2), variance=0.1)
    run = {"space": [(0, 1)], "budget": 2, "objectives": ["a", "b"]}
    r = bamsoo.minimize(lambda x: ((1, 2), {"variance": 0.1}), on_error="fail", **run)
    assert r.nfailed == 2 and "variance is for a single objective" in r.failures[0][1]


def test_the_names_are_plain_strings():
    assert {type(name) for name in Objectives.of(np.array(["a", "b"]), "minimize").names} == {str}
