"""The models of measured constraints: when they are fitted, and what their bounds say."""

from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bamsoo.algorithms.known import Known
from bamsoo.algorithms.limits import CONSTANTS, Limits, centred
from bamsoo.algorithms.search import Outcome
from bamsoo.space import Space

DOMAIN = Space([(0, 1)]).domain
GRID = np.linspace(0.0, 1.0, 21)[:, None]


def limits_of(measure, points):
    known = Known(1)
    limits = Limits(DOMAIN, known)
    for key, x in enumerate(points):
        row = known.add(key, (0.0,), None, Outcome(key, np.array([x]), (0.0,), (measure(x),)))
        limits.observe(key, row)
    return limits


def test_the_models_are_fitted_again_when_the_measurements_have_grown_by_a_quarter():
    known, fitted = Known(1), []
    limits = Limits(DOMAIN, known)
    for t in range(1, 21):
        x = (t * 0.618) % 1.0
        outcome = Outcome(t, np.array([x]), (0.0,), (x - 0.5,))
        limits.observe(t, known.add(t, (0.0,), None, outcome))
        if limits.update():
            fitted.append(t)
    assert fitted == [4, 6, 8, 10, 12, 15, 18]


def test_before_the_first_fit_everything_is_possible():
    limits = limits_of(lambda x: x - 0.5, [0.1, 0.9])
    assert not limits.update() and not limits.ready
    assert limits.probability(GRID).tolist() == [1.0] * len(GRID)


def test_bounds_hold_the_measured_function_and_tell_the_sides_apart():
    limits = limits_of(lambda x: x - 0.5, np.linspace(0.05, 0.95, 8))
    assert limits.update() and limits.ready
    low, high = limits.bounds(GRID, 3.0)
    truth = GRID[:, 0] - 0.5
    assert (low[:, 0] <= truth + 1e-6).all() and (truth <= high[:, 0] + 1e-6).all()
    p = limits.probability(GRID)
    assert p[2] > 0.99 and p[-3] < 0.01


@pytest.mark.parametrize("measure", [lambda x: nan, lambda x: inf])
def test_measurements_that_are_not_finite_leave_the_constraint_open(measure):
    limits = limits_of(measure, np.linspace(0.05, 0.95, 6))
    assert limits.update()
    assert limits.probability(GRID).tolist() == [0.5] * len(GRID)


@given(st.lists(st.floats(-1e6, 1e6).filter(lambda c: abs(c) > 1e-6), min_size=2, max_size=9))
def test_every_transform_keeps_the_sign_and_can_be_undone(numbers):
    values = np.array(numbers)
    scale = float(np.median(np.abs(values)))
    tried = list(centred(values, scale, CONSTANTS.bends))
    assert len(tried) == 1 + len(CONSTANTS.bends)
    for transform, _ in tried:
        seen = np.array([transform(value) for value in numbers])
        assert (np.sign(seen) == np.sign(values)).all()
        assert float(np.sqrt(np.mean(seen**2))) == pytest.approx(1.0)
        np.testing.assert_allclose(transform.inverse(seen), values, rtol=1e-9)


def test_the_slopes_of_a_transform_are_its_derivatives():
    values, h = np.array([-3.0, -0.2, 0.05, 1.0, 20.0]), 1e-6
    for transform, log_slopes in centred(values, 1.0, CONSTANTS.bends):
        slopes = [(transform(c + h) - transform(c - h)) / (2 * h) for c in values.tolist()]
        assert log_slopes == pytest.approx(float(np.log(slopes).sum()), abs=1e-5)
