"""Models of measured numbers, compared with the functions that were measured."""

import pickle

import numpy as np
import pytest

import bamsoo
from bamsoo.result.measured import Numbers, learned
from bamsoo.space import Constraints, Space


def numbers_of(fun, space, budget=40, **settings):
    """What a run measured."""
    return bamsoo.minimize(fun, space, budget, **settings)._details.numbers


def both(x, y):
    measured = {"c": 1e4 * (0.3 - x * y), "flow": 250.0 + 20.0 * x - y, "site": "here", "ok": x > 2}
    return (x - 0.6) ** 2 + (y - 0.4) ** 2, measured


SPACE = {"x": (0, 1), "y": (0, 1)}


def test_numbers_are_the_measured_constraints_and_the_extras_that_are_numbers():
    numbers = numbers_of(both, SPACE, constraints=["c"])
    assert numbers.names == ["c", "flow", "ok"]
    at = [{"x": 0.5, "y": 0.7}, {"x": 0.9, "y": 0.1}]
    mean, deviation = numbers.predictor("c").predict(at)
    assert mean == pytest.approx([1e4 * (0.3 - 0.35), 1e4 * (0.3 - 0.09)], abs=3e2)
    assert (deviation < 3e2).all()
    assert numbers.predictor("flow").predict(at)[0] == pytest.approx([259.3, 267.9], abs=0.5)
    assert numbers.predictor("ok").predict(at)[0] == pytest.approx([0.0, 0.0])


def test_a_pickle_learns_its_models_again():
    numbers = numbers_of(both, SPACE, constraints=["c"])
    again = pickle.loads(pickle.dumps(numbers))
    at = [{"x": 0.5, "y": 0.7}]
    expected = np.array(numbers.predictor("c").predict(at))
    assert np.array(again.predictor("c").predict(at)) == pytest.approx(expected)


def test_a_number_that_nobody_measured():
    numbers = numbers_of(both, SPACE, 10, constraints=["c"])
    with pytest.raises(
        bamsoo.errors.SettingsError, match=r"no measured number called 'd'.*'c', 'f"
    ):
        numbers.predictor("d")
    few = numbers_of(both, SPACE, 3, constraints=["c"])
    with pytest.raises(bamsoo.errors.ModelError, match=r"at least 4 measurements.*are 3"):
        few.predictor("c")


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_demand_is_met_with_the_probability_that_the_model_gives(sign):
    space = Space([(0, 1)])
    X = np.linspace(0, 1, 9)[:, None]
    model = learned(space, X, 500.0 + 40.0 * X[:, 0], 520.0, False)
    chance = model.chance([[0.4], [0.5], [0.6]], 520.0, sign)
    assert chance[1] == pytest.approx(0.5, abs=0.3)
    assert (chance[[0, 2]] > 0.99).tolist() == ([True, False] if sign < 0 else [False, True])


def test_many_points_at_a_limit_do_not_make_a_model_of_a_jump():
    def stress(X):  # 17 to 0 in the first half of x
        return 1 / (0.05 + X[:, 0]) + X[:, 1] - 2.5

    rng = np.random.default_rng(0)
    spread, beyond = rng.random((25, 2)), 1e-7 * rng.standard_normal(40)
    y = rng.normal(0.6, 1e-5, 40)
    at_the_limit = np.column_stack([1 / (2.5 - y + beyond) - 0.05, y])
    X = np.vstack([spread, at_the_limit])
    model = learned(Space([(0, 1)] * 2), X, stress(X), 0.0, False)
    other = rng.random((20, 2)) * [0.5, 1.0] + [0.3, 0.0]
    assert model.predict(other)[0] == pytest.approx(stress(other), abs=0.3)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [0.0, 5e-324, 1e-300, 3.0, 1e300])
def test_constant_numbers_are_expected_to_stay_as_they_are(size):
    space = Space([(0, 1)])
    X = np.linspace(0, 1, 9)[:, None]
    for bound in (None, 0.0):
        model = learned(space, X, np.full(9, size), bound, False)
        assert model.predict([[0.3]])[0] == pytest.approx([size])


def test_a_number_does_not_depend_on_a_parameter_that_changes_nothing():
    space, rng = Space([(0, 1)] * 2), np.random.default_rng(0)
    X = rng.random((30, 2))
    model = learned(space, X, np.sin(5 * X[:, 0]), 0.0, False)
    points = [np.array([0.5, y]) for y in np.linspace(0, 1, 11)]
    assert model.ignores(1, np.array([0.5, 0.5]), points)
    assert not model.ignores(0, np.array([0.5, 0.5]), [p[::-1] for p in points])
    slight = learned(space, X, np.sin(5 * X[:, 0]) + 0.05 * X[:, 1], 0.0, False)
    assert not slight.ignores(1, np.array([0.5, 0.5]), points)


def test_numbers_of_rows_that_another_program_recorded():
    space = Space(SPACE)
    with_records = Numbers(space, Constraints(space, ["c"]), [], False)
    assert with_records.names == ["c"]
    assert with_records.column("c").shape == (0,)
