"""Learning a prior: its leave-one-out errors, and outliers."""

from dataclasses import replace

import numpy as np
import pytest

import bamsoo
from bamsoo.algorithms.auto.loop import CONSTANTS
from bamsoo.model.learning import Fit, fit
from bamsoo.model.prior import Noise, heavy_tails, learn_prior, leave_one_out_ratio
from bamsoo.space.axes import cube


def test_leave_one_out_errors_equal_those_of_leaving_each_point_out():
    rng = np.random.default_rng(0)
    X = rng.random((20, 2))
    y = np.sin(6 * X).sum(1) + 3 * rng.normal(size=20)
    y = (y - y.mean()) / y.std()
    fitted = fit(bamsoo.kernels.SquaredExponential, X, y, [np.full(2, 0.5)])
    ratios = []
    for i in range(20):
        rest = [j for j in range(20) if j != i]
        K = fitted.kernel(X[rest], X[rest]) + 1e-8 * fitted.kernel.variance * np.eye(19)
        k = fitted.kernel(X[rest], X[i])[:, 0]
        mu = fitted.mean + k @ np.linalg.solve(K, y[rest] - fitted.mean)
        variance = fitted.kernel.variance * (1 + 1e-8) - k @ np.linalg.solve(K, k)
        ratios.append((y[i] - mu) ** 2 / variance)
    expected = np.sqrt(np.clip(np.mean(ratios), 1, 16))
    assert leave_one_out_ratio(fitted, X, y, [], 4.0) == pytest.approx(expected, rel=1e-6)


def test_an_outlier_counts_less():
    rng = np.random.default_rng(0)
    X = rng.random((60, 1))
    values = np.sin(6 * X[:, 0]) + 0.05 * rng.standard_normal(60)
    values[7] += 40.0
    start = [(np.array([0.5]), None)]
    learned = learn_prior(cube(1), X, values, start, warp=False, noise="learn")
    assert learned.factors.argmax() == 7
    assert learned.factors[7] > 30 * np.median(learned.factors)
    normal = replace(CONSTANTS.prior, tails=None)
    assert learn_prior(cube(1), X, values, start, noise="learn", constants=normal).factors is None


@pytest.mark.parametrize("noise", [0.04, 0.0, "learn"])
def test_the_given_noise_is_that_of_the_values_without_a_variance_of_their_own(noise):
    rng = np.random.default_rng(0)
    X = rng.random((12, 1))
    values = np.sin(6 * X[:, 0]) + 0.2 * rng.standard_normal(12)
    variances = np.where(np.arange(12) % 2, 0.01, 0.04)
    start = [(np.array([0.5]), None)]

    def learned(variances, noise):
        return learn_prior(cube(1), X, values, start, warp=False, noise=noise, variances=variances)

    all_known = learned(variances, noise)
    if noise == 0.04:
        other = learned(np.where(variances == noise, np.nan, variances), noise)
    else:  # if all variances are known, no other noise matters
        other = learned(variances, 0.04)
    assert other.fit.log_posterior == pytest.approx(all_known.fit.log_posterior, rel=1e-12)
    assert other.fit.kernel.lengths(1) == pytest.approx(all_known.fit.kernel.lengths(1))


def test_a_covariance_that_cannot_be_factored_says_nothing_about_errors_and_outliers():
    X, y = np.full((3, 1), 0.5), np.array([1.0, -2.0, 5.0])
    singular = Fit(bamsoo.kernels.Matern52(0.5), 0.0, 0.0, 0.0)
    assert leave_one_out_ratio(singular, X, y, [], 4.0) == 1.0
    of_noise = Noise("learn"), CONSTANTS.prior, CONSTANTS.learning
    assert heavy_tails(singular, cube(1), X, y, *of_noise).tolist() == [1.0, 1.0, 1.0]


def test_a_variance_of_its_own_is_added_to_what_is_learned():
    fitted = Fit(bamsoo.kernels.Matern52(0.5, 4.0), 0.0, 0.0, CONSTANTS.learning.nugget + 0.5)
    noise = Noise("learn", np.array([1.0, 2.0, 0.0]), np.array([0.0, 0.0, 8.0]))
    found = noise.nuggets(fitted, CONSTANTS.learning) - CONSTANTS.learning.nugget
    assert found == pytest.approx([0.5, 1.0, 2.0])
