"""Fitting hyper-parameters: the evidence, its gradient, and which points a fit uses."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime

import bamsoo
from bamsoo.base.blas import one_thread
from bamsoo.kernels import Matern32, Matern52, Matern72, SquaredExponential
from bamsoo.model.gp import GP
from bamsoo.model.learning import (
    LEARNING,
    Evidence,
    Track,
    fit,
    representative,
)
from bamsoo.space.axes import (
    Continuous,
    Domain,
    Options,
)


def test_a_fit_uses_all_of_a_few_points_and_of_many_the_best_and_a_spread():
    line = np.linspace(0, 30, 1000)[:, None]
    assert representative(line[:50], np.arange(50.0)) == list(range(50))
    chosen = representative(line, np.arange(1000.0))
    assert len(chosen) == 200
    assert set(range(900, 1000)) <= set(chosen)
    assert min(chosen) == 0


def test_a_fit_uses_only_the_best_of_points_close_together():
    X = np.array([[0.5, 0.5], [0.51, 0.5], [0.5, 0.519], [0.5, 0.9], [0.1, 0.1]])
    assert representative(X, np.array([1.0, 3.0, 2.0, 0.0, -1.0])) == [1, 3, 4]


def test_a_track_reaches_the_result_of_a_fit():
    rng = np.random.default_rng(0)
    X = rng.random((30, 2))
    y = np.sin(5 * X[:, 0]) + 0.3 * X[:, 1]
    y = (y - y.mean()) / y.std()
    track = Track(2, 0.5)
    evidence = Evidence(bamsoo.kernels.SquaredExponential(1.0), X, y)
    for _ in range(20):
        value, lengths, _, _ = track.follow(evidence, 4)
    best = fit(bamsoo.kernels.SquaredExponential, X, y, [np.full(2, 0.5)])
    assert value == pytest.approx(best.log_posterior, abs=1e-2)
    assert_allclose(lengths, best.kernel.lengths(2), rtol=0.05)


def test_the_slopes_of_the_evidence_are_right_where_an_axis_has_options():
    domain = Domain((Options(3), Continuous()))
    rng = np.random.default_rng(1)
    X = np.array([domain.snap(u) for u in rng.random((20, 2))])
    y, theta = rng.normal(size=20), np.log([0.7, 0.3])

    value = Evidence(bamsoo.kernels.Matern52(1.0), domain.features(X), y, domain.unordered)
    assert_allclose(value(theta)[1], approx_fprime(theta, lambda t: value(t)[0], 1e-6), rtol=1e-3)


@pytest.mark.parametrize("noise", ["learn", 0.05])
def test_the_gradient_by_the_nugget_counts_the_weights(noise):
    rng = np.random.default_rng(1)
    X, weights, extra = rng.random((25, 2)), rng.random(25), 0.1 * rng.random(25)
    y = np.sin(5 * X[:, 0]) + X[:, 1] + 0.2 * rng.standard_normal(25)
    evidence = Evidence(Matern52(1.0), X, y, noise=noise, weights=weights, extra=extra)
    theta = np.log([0.4, 0.7, 0.03])
    _, gradient, _, _ = evidence(theta)
    for d, h in enumerate(1e-6 * np.eye(3)):
        by_difference = (evidence(theta + h)[0] - evidence(theta - h)[0]) / 2e-6
        assert gradient[d] == pytest.approx(by_difference, rel=1e-5, abs=1e-6)


def test_a_fit_that_knows_the_variances_is_not_misled_by_the_worst_rows():
    rng = np.random.default_rng(4)
    X = rng.random((80, 1))
    noises = np.where(rng.random(80) < 0.5, 4.0, 1e-4)
    y = np.sin(6 * X[:, 0]) + np.sqrt(noises) * rng.standard_normal(80)
    known = fit(Matern52, X, y, [np.array([0.5, 0.5])], noise=2.0, weights=noises / 2.0)
    even = fit(Matern52, X, y, [np.array([0.5, 0.5])], noise=2.0)
    at = np.linspace(0, 1, 50)[:, None]
    errors = []
    for learned, rows in ((known, noises), (even, np.full(80, 2.0))):
        gp = GP(learned.kernel, 1, learned.mean)
        for i, x in enumerate(X):
            gp.expect(i, x)
            gp.observe(i, float(y[i]), float(rows[i]))
        errors.append(np.sqrt(np.mean((gp.posterior(at)[0] - np.sin(6 * at[:, 0])) ** 2)))
    assert errors[0] < 0.1 < errors[1]


@pytest.mark.parametrize("noise", ["learn", 0.05])
def test_the_gradient_equals_finite_differences_with_a_nugget_too(noise):
    rng = np.random.default_rng(1)
    X = rng.random((25, 2))
    y = np.sin(5 * X[:, 0]) + X[:, 1] + 0.2 * rng.standard_normal(25)
    evidence = Evidence(Matern52(1.0), X, y, noise=noise)
    theta = np.log([0.4, 0.7, 0.03])
    _, gradient, _, _ = evidence(theta)
    for d, h in enumerate(1e-6 * np.eye(3)):
        by_difference = (evidence(theta + h)[0] - evidence(theta - h)[0]) / 2e-6
        assert gradient[d] == pytest.approx(by_difference, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_the_nugget_is_learned(seed):
    rng = np.random.default_rng(seed)
    X, true = rng.random((100, 2)), 0.02
    K = Matern52(0.4)(X, X) + true * np.eye(100)
    y = np.linalg.cholesky(K) @ rng.standard_normal(100)
    start = np.array([0.5, 0.5, 0.1])
    with one_thread():
        learned = fit(Matern52, X, y, [start], noise="learn")
        given = fit(Matern52, X, y, [start], noise=true)
        none = fit(Matern52, X, y, [start[:2]])
    assert true / 4 < learned.nugget * learned.kernel.variance < true * 4
    assert given.nugget * given.kernel.variance == pytest.approx(true, rel=1e-4)
    assert 0.2 < given.kernel.variance < 5.0
    assert none.nugget == LEARNING.nugget


KERNELS = [SquaredExponential, Matern32, Matern52, Matern72]
by_kernel = pytest.mark.parametrize("family", KERNELS, ids=lambda k: k.__name__)


@by_kernel
def test_the_gradient_of_the_log_posterior_is_its_derivative(family):
    rng = np.random.default_rng(9)
    X, y = rng.random((25, 3)), rng.normal(size=25)
    theta = np.log([0.3, 0.6, 0.2])
    for trend in (None, X @ X.T):
        evidence = Evidence(family(1.0), X, y, typical=2.0, trend=trend)
        numeric = approx_fprime(theta, lambda theta, e=evidence: e(theta)[0], 1e-6)
        assert_allclose(evidence(theta)[1], numeric, rtol=1e-3)


@by_kernel
def test_the_log_posterior_of_hyper_parameters_equals_its_formula(family):
    rng = np.random.default_rng(12)
    X, y, theta = rng.random((12, 2)), rng.normal(size=12), np.log([0.4, 0.9])
    trend = X @ X.T
    value, _, mean, s2 = Evidence(family(1.0), X, y, typical=2.0, trend=trend)(theta)
    R = family(np.exp(theta))(X, X) + trend + 1e-8 * np.eye(12)
    one, inverse = np.ones(12), np.linalg.inv(R)
    m = one @ inverse @ y / (one @ inverse @ one)
    variance = (y - m) @ inverse @ (y - m) / 12
    away = theta - np.log(2.0)
    assert_allclose([mean, s2], [m, variance], rtol=1e-6)
    literal = -6 * np.log(variance) - 0.5 * np.linalg.slogdet(R)[1] - 0.5 * away @ away
    assert value == pytest.approx(literal, rel=1e-6)


@by_kernel
def test_an_evidence_with_other_values_and_another_trend_is_that_of_a_new_one(family):
    rng = np.random.default_rng(13)
    X, y, other = rng.random((12, 2)), rng.normal(size=12), rng.normal(size=12)
    theta, trend = np.log([0.4, 0.9]), X @ X.T
    first = Evidence(family(1.0), X, y)
    varied, new = first.with_others(other, trend), Evidence(family(1.0), X, other, trend=trend)
    assert varied(theta)[0] == new(theta)[0]
    assert first(theta)[0] == Evidence(family(1.0), X, y)(theta)[0]
    assert_allclose(varied.covariance(np.exp(theta)), family(np.exp(theta))(X, X) + trend)


def test_the_profiled_mean_and_variance_maximise_the_likelihood():
    rng = np.random.default_rng(10)
    X, y = rng.random((25, 2)), rng.normal(size=25)
    _, _, mean, s2 = Evidence(Matern52(1.0), X, y)(np.log([0.3, 0.6]))
    R = Matern52([0.3, 0.6])(X, X) + 1e-8 * np.eye(25)

    def log_likelihood(mean, s2):
        r = y - mean
        return -0.5 * (25 * np.log(s2) + r @ np.linalg.solve(R, r) / s2)

    best = log_likelihood(mean, s2)
    for dm, factor in ((0.01, 1), (-0.01, 1), (0, 1.02), (0, 0.98)):
        assert log_likelihood(mean + dm, s2 * factor) < best


def test_a_fit_recovers_the_length_scales_of_a_random_function():
    rng = np.random.default_rng(11)
    X, true = rng.random((150, 2)), Matern52([0.15, 0.9])
    y = np.linalg.cholesky(true(X, X) + 1e-10 * np.eye(150)) @ rng.normal(size=150)
    fitted = fit(Matern52, X, (y - y.mean()) / y.std(), [np.full(2, 0.5)])
    assert_allclose(np.log(fitted.kernel.lengths(2)), np.log([0.15, 0.9]), atol=0.5)
