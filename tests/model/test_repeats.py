"""Estimates without noise from repeated values: against dense formulas, and without bias."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from bamsoo.kernels import Matern52
from bamsoo.model.gp import GP
from bamsoo.model.repeats import Repeats

KERNEL = Matern52(0.3, 2.0)


def conditioned(X, y, noise, noises=None):
    gp = GP(KERNEL, X.shape[1], 0.5, noise)
    for key, (x, value) in enumerate(zip(X, y, strict=True)):
        gp.expect(key, x)
        gp.observe(key, value, None if noises is None else noises[key])
    return gp


def covariance(A, B):
    return KERNEL.of((((A[:, None] - B) / 0.3) ** 2).sum(-1))


def twice(count, seed=0):
    """Points in the square, of which the first half is measured twice."""
    rng = np.random.default_rng(seed)
    X = rng.random((count, 2))
    return np.vstack([X, X[: count // 2]]), rng


@pytest.mark.parametrize("learned", [True, False])
def test_the_posterior_is_that_of_a_dense_gp_in_which_a_point_has_a_part_of_its_own(learned):
    X, rng = twice(12)
    noises = np.where(rng.random(18) < 0.5, 1.0, 3.0)
    y = np.sin(5.0 * X[:, 0]) + 2.0 * np.sin(40.0 * X[:, 1]) + 0.1 * rng.standard_normal(18)
    found = Repeats(conditioned(X, y, 1.0, noises), 18, learned)
    rough = 1.0 - found.noise
    assert (found.noise < 0.1) == learned
    assert rough == 0.0 or learned
    at = np.vstack([X[:3], rng.random((3, 2))])

    def prior(A, B):
        return covariance(A, B) + rough * (A[:, None] == B).all(-1)

    inverse = np.linalg.inv(prior(X, X) + np.diag(noises - rough))
    mean, deviation = found.posterior(at)
    assert_allclose(mean, 0.5 + prior(at, X) @ inverse @ (y - 0.5), atol=1e-6)
    variances = np.diag(prior(at, at) - prior(at, X) @ inverse @ prior(X, at))
    assert_allclose(deviation**2, variances, atol=1e-6)


def test_values_that_differ_as_much_as_the_noise_are_noise_and_without_repeats_all_is():
    X, rng = twice(60)
    y = np.sin(5.0 * X[:, 0]) + rng.standard_normal(90)
    gp = conditioned(X, y, 1.0)
    assert Repeats(gp, 60, True).noise == 1.0
    assert 0.8 < Repeats(gp, 90, True).noise < 1.0
    assert Repeats(gp, 90, False).noise == 1.0


def test_a_value_may_be_more_exact_than_the_noise_of_the_others():
    X, y = np.array([[0.2, 0.2], [0.8, 0.8]]), np.array([3.0, 5.0])
    mean, deviation = Repeats(conditioned(X, y, 1.0, [0.0, 1.0]), 2, False).posterior(X)
    assert mean[0] == pytest.approx(3.0, abs=1e-6)
    assert deviation[0] < 1e-3 < 0.5 < deviation[1]


def test_the_best_point_has_the_best_lower_bound_and_its_value_is_corrected_for_luck():
    rng = np.random.default_rng(1)
    X = rng.random((10, 2))
    y = -((X - 0.5) ** 2).sum(axis=1) + 0.3 * rng.standard_normal(10)
    found = Repeats(conditioned(X, y, 0.09), 10, False)
    assert {tuple(x) for x in found.X} == {tuple(x) for x in X}
    mean, deviation = found.posterior(found.X)
    low = mean - deviation
    K = covariance(found.X, found.X)
    W = K @ np.linalg.inv(K + 0.09 * np.eye(10))
    best = int(low.argmax())
    index, value = found.best(np.arange(10))
    assert index == best
    ahead = [
        norm.cdf((low[j] - low[best]) / (0.3 * np.sqrt(((W[j] - W[best]) ** 2).sum())))
        if j != best
        else 0.5
        for j in range(10)
    ]
    assert value == pytest.approx(mean[best] - np.average(low[best] - low, weights=ahead), abs=1e-6)
    others = np.delete(np.arange(10), best)
    assert found.best(others)[0] == others[low[others].argmax()]
    assert found.best(others[:1]) == (others[0], pytest.approx(mean[others[0]]))


def test_values_of_any_size():
    X, _ = twice(6)
    y = np.array([1.7e308, -1.7e308, 1.0, 0.0, 5.0, 1e300, 1.7e308, -1.7e308, 1.0])
    found = Repeats(conditioned(X, y, 1.0), 9, True)
    index, value = found.best(np.arange(6))
    assert (found.X[index] == X[0]).all()
    assert np.isfinite(value)
    assert np.isfinite(found.posterior(X)).all()
    flat = Repeats(conditioned(X, np.zeros(9), 1e-300), 9, True)
    assert np.isfinite(flat.best(np.arange(6))[1])


def test_the_best_of_many_points_is_flattered_much_less():
    # the prior expects more than there is to find, so that luck decides which point is best
    errors, naive = [], []
    for seed in range(40):
        X, rng = twice(40, seed)
        truth = -0.5 * ((X - 0.5) ** 2).sum(axis=1)
        found = Repeats(conditioned(X, truth + 0.3 * rng.standard_normal(60), 0.09), 60, True)
        mean, _ = found.posterior(found.X)
        index, value = found.best(np.arange(40))
        true = -0.5 * ((found.X - 0.5) ** 2).sum(axis=1)
        errors.append(value - true[index])
        naive.append(mean.max() - true[mean.argmax()])
    assert 0.0 < np.mean(errors) < 0.6 * np.mean(naive)
