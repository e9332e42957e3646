"""Residuals, and the sum of squares that they become."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import least_squares

from bamsoo.errors import SettingsError, ValueTypeError
from bamsoo.record.residuals import LOSSES, SumOfSquares, as_vector


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8),
    st.sampled_from(sorted(LOSSES)),
    st.floats(1e-3, 1e3),
)
def test_the_value_is_twice_the_cost_of_scipy(residuals, loss, scale):
    r = np.array(residuals)
    cost = least_squares(lambda x: r, [0.0], loss=loss, f_scale=scale, max_nfev=1).cost
    # scipy's soft_l1 is 2 (sqrt(1 + z) - 1), which loses the digits of a small z.
    lost = 4.0 * np.finfo(float).eps * scale**2 * len(r) if loss == "soft_l1" else 1e-300
    assert_allclose(SumOfSquares(loss, scale).value(as_vector(r)), 2.0 * cost, rtol=1e-9, atol=lost)


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_residuals_far_below_the_scale_count_with_all_their_digits(loss):
    assert SumOfSquares(loss, 10.0).value(as_vector([1e-7, -3e-7])) == pytest.approx(
        1e-13, rel=1e-13, abs=0.0
    )


def test_weights_multiply_squares_and_missing_data_does_not_count():
    squares = SumOfSquares(weights=(1.0, 4.0, 2.0))
    assert squares.value(as_vector([1.0, -3.0, np.nan])) == 37.0
    assert squares.value(as_vector([np.nan] * 3)) == np.inf


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"loss": "square"}, "loss must be one of linear"),
        ({"f_scale": 0.0}, "f_scale must be a finite number > 0"),
        ({"weights": [1.0, -1.0]}, "one of them is -1.0"),
        ({"weights": 3.0}, "one for each residual"),
        ({"weights": [0.0, 0.0]}, "at least one of them > 0"),
    ],
)
def test_invalid_settings(settings, said):
    with pytest.raises(SettingsError, match=said):
        SumOfSquares(**settings)


@pytest.mark.parametrize("given", ["abc", [[1.0, 2.0]], [1j], [None, "x"]])
def test_residuals_are_a_vector_of_numbers(given):
    with pytest.raises(ValueTypeError, match="residuals must be a vector"):
        as_vector(given)


def test_as_many_weights_as_residuals():
    with pytest.raises(ValueTypeError, match="2 residuals, but there are 1 weights"):
        SumOfSquares(weights=(1.0,)).seen([1.0, 2.0])


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_the_pull_is_half_the_slope_of_the_value(loss):
    squares = SumOfSquares(loss, 0.7, weights=(1.0, 2.0, 0.5))
    r, h = np.array([0.3, -1.2, 4.0]), 1e-6
    pulls, slopes = squares.pull(r)
    values = [[squares.value(as_vector(r + s * e)) for s in (h, -h)] for e in np.eye(3)]
    numeric = (np.diff(values) / -4.0 / h).ravel()
    assert_allclose(pulls * np.sqrt(squares.weights), numeric, rtol=1e-6)
    ahead = squares.pull(r + h / np.sqrt(squares.weights))[0]
    assert_allclose(slopes, (ahead - pulls) / h, rtol=1e-4, atol=1e-5)
    assert SumOfSquares(loss).value(as_vector([1e200])) < np.inf or loss == "linear"


def test_noise_in_residuals_is_noise_in_their_sum():
    squares, rng = SumOfSquares(weights=(1.0, 3.0, 2.0)), np.random.default_rng(0)
    r = np.array([0.5, -1.0, np.nan])
    sums = [squares.value(as_vector(r + 0.3 * rng.standard_normal(3))) for _ in range(4000)]
    assert squares.variance(r, 0.09) == pytest.approx(np.var(sums), rel=0.08)
