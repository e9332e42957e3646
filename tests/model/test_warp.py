"""Transforms of values: their order, slopes, inverses and variances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bamsoo.model.prior import PriorConstants
from bamsoo.model.warp import Bent, Centred, Linear, alternatives, deviation


@given(
    values=st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=30, unique=True),
    extra=st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=5, unique=True),
)
def test_transforms_never_change_the_order_of_values(values, extra):
    for transform, log_slope in alternatives(np.array(values), PriorConstants().bends):
        assert np.isfinite(log_slope)
        everything = np.sort([*values, *extra])
        moved = np.array([transform(v) for v in everything.tolist()])
        assert np.all(np.diff(moved) >= 0)  # strictly increasing, except for rounding
        of_values = np.array([transform(v) for v in values])
        assert_allclose(of_values.mean(), 0, atol=1e-6)
        assert_allclose(of_values.std(), 1, rtol=1e-6)


def test_the_slopes_of_transforms_are_their_derivatives():
    values = np.array([-3.0, -1.0, 0.5, 2.0, 7.0])
    found = list(alternatives(values, PriorConstants().bends))
    assert len(found) == 4
    for transform, log_slope in found:
        step = 1e-6
        slopes = [(transform(v + step) - transform(v - step)) / (2 * step) for v in values]
        # up to a factor that all slopes have in common, the largest value
        assert log_slope - 5 * np.log(7.0) == pytest.approx(np.log(slopes).sum(), abs=1e-5)


def test_constant_values_are_not_warped():
    assert len(list(alternatives(np.full(6, 3.0), PriorConstants().bends))) == 1


def test_transforms_scale_a_variance_by_the_square_of_their_slope():
    linear = Linear(100.0, 0.25, 0.5)
    for transform in (linear, Bent(linear, 1.2, 0.1, 0.3, 2.0)):
        for value in (-80.0, 0.0, 60.0):
            slope = (transform(value + 1e-4) - transform(value - 1e-4)) / 2e-4
            assert transform.variance(9.0, value) == pytest.approx(9.0 * slope**2, rel=1e-5)


def test_a_linear_transform_has_an_inverse_and_scales_variances():
    transform = Linear(100.0, 0.25, 0.5)
    values = np.array([-30.0, 0.0, 90.0])
    there = np.array([transform(value) for value in values])
    assert_allclose(transform.inverse(there), values, atol=1e-12)
    assert transform.variance(49.0) == pytest.approx(49.0 * (there[2] - there[1]) ** 2 / 90**2)


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1.0, 1e300, 1e308, 0.0])
def test_the_deviation_of_values_whose_squares_are_beyond_floats(scale):
    values = np.array([1.0, -1.0, 1.0, -1.0])
    assert deviation(scale * values) == scale
    assert deviation(np.empty(0)) == 0.0


@pytest.mark.parametrize("scale", [2.0, np.inf])
@pytest.mark.parametrize("value", [-6.0, 0.0, 0.5])
def test_a_centred_transform_keeps_signs_and_scales_a_variance_by_the_square_of_its_slope(
    value, scale
):
    transform = Centred(3.0, scale)
    assert np.sign(transform(value)) == np.sign(value)
    slope = (transform(value + 1e-5) - transform(value - 1e-5)) / 2e-5
    assert transform.variance(9.0, value) == pytest.approx(9.0 * slope**2, rel=1e-5)
    assert_allclose(transform.inverse(np.array([transform(value)])), value, atol=1e-12)
