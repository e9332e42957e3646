"""The GP, grown by one row at a time, compared with the formulas of Sec. 2 and a dense inverse."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from scipy.special import gamma, kv

from bamsoo.errors import SettingsError
from bamsoo.kernels import Matern32, Matern52, Matern72, SquaredExponential
from bamsoo.model.gp import GP
from bamsoo.model.learning import Evidence, fit

KERNELS = [SquaredExponential, Matern32, Matern52, Matern72]
by_kernel = pytest.mark.parametrize("family", KERNELS, ids=lambda k: k.__name__)


def dense(kernel, mean, X, y, at):
    K, k = kernel(X, X), kernel(X, at)
    inverse = np.linalg.inv(K)
    variance = kernel.variance - np.einsum("ij,ij->j", k, inverse @ k)
    return mean + k.T @ inverse @ (y - mean), np.sqrt(np.maximum(variance, 0.0))


def grown(kernel, mean, X, y):
    gp = GP(kernel, X.shape[1], mean)
    for i, (x, value) in enumerate(zip(X, y, strict=True)):
        gp.expect(i, x)
        gp.observe(i, value)
    return gp


@by_kernel
def test_a_kernel_equals_its_formula(family):
    nu = {Matern32: 1.5, Matern52: 2.5, Matern72: 3.5}.get(family)
    kernel = family([0.2, 0.7], variance=2.0)
    X, Y = np.random.default_rng(0).random((2, 6, 2))
    r = np.sqrt((((X[:, None] - Y[None]) / [0.2, 0.7]) ** 2).sum(-1))
    if nu is None:
        expected = 2.0 * np.exp(-(r**2) / 2)
    else:
        a = np.sqrt(2 * nu) * r
        expected = 2.0 * 2 ** (1 - nu) / gamma(nu) * a**nu * kv(nu, a)
    assert_allclose(kernel(X, Y), expected, rtol=1e-12)
    assert_allclose(kernel(X, X).diagonal(), 2.0)


@by_kernel
def test_the_slope_of_a_kernel_is_its_derivative(family):
    kernel, r2 = family(1.0, variance=3.0), np.linspace(0.05, 9, 50)
    numeric = (kernel.of(r2 + 1e-6) - kernel.of(r2 - 1e-6)) / 2e-6
    assert_allclose(kernel.slope(r2), numeric, rtol=1e-6, atol=1e-9)
    of, slope = kernel.of_and_slope(r2)
    assert (of == kernel.of(r2)).all()
    assert (slope == kernel.slope(r2)).all()


@by_kernel
@given(seed=st.integers(0, 10**6), t=st.integers(1, 12), scale=st.floats(1e-3, 1.0))
@settings(max_examples=30, deadline=None)
def test_sigma_is_at_most_L_times_the_distance(family, seed, t, scale):  # Lemma 3
    rng = np.random.default_rng(seed)
    kernel = family(rng.uniform(0.05, 1.0, 3), variance=rng.uniform(0.1, 10))
    X = rng.random((t, 3))
    gp = grown(kernel, 0.0, X, rng.normal(size=t))
    y = X[0] + scale * rng.normal(size=(20, 3))
    distance = np.linalg.norm(y[:, None] - X[None], axis=2).min(1)
    assert np.all(gp.posterior(y)[1] <= kernel.lipschitz(3) * distance + 1e-6)


@by_kernel
@pytest.mark.parametrize("mean", [0.0, -3.5])
def test_the_posterior_equals_the_dense_formula(family, mean):
    rng = np.random.default_rng(1)
    X, y, at = rng.random((60, 3)), rng.normal(size=60), rng.random((40, 3))
    kernel = family([0.2, 0.3, 0.15], variance=1.7)
    gp = grown(kernel, mean, X, y)
    mu, sigma = gp.posterior(at)
    expected_mu, expected_sigma = dense(kernel, mean, X, y, at)
    assert_allclose(mu, expected_mu, atol=1e-7)
    assert_allclose(sigma, expected_sigma, atol=1e-7)
    for i in range(3):
        assert_allclose(gp.posterior_at(at[i]), (mu[i], sigma[i]), atol=1e-12)
    assert_allclose(gp.at(at[:3]).bounds(2, 2.0), (mu[2] - 2 * sigma[2], mu[2] + 2 * sigma[2]))


@by_kernel
def test_gradients_are_the_derivatives_of_mean_and_deviation(family):
    rng = np.random.default_rng(2)
    gp = grown(family([0.3, 0.5]), 0.4, rng.random((8, 2)), rng.normal(size=8))
    x = np.array([0.31, 0.62])
    mu, sigma, d_mu, d_sigma = gp.gradient(x)
    assert_allclose((mu, sigma), gp.posterior_at(x))
    assert_allclose(d_mu, approx_fprime(x, lambda x: gp.posterior_at(x)[0]), atol=1e-5)
    assert_allclose(d_sigma, approx_fprime(x, lambda x: gp.posterior_at(x)[1]), atol=1e-5)


def test_a_posterior_stays_current_while_rows_are_added():
    rng = np.random.default_rng(3)
    kernel, X, y = Matern52(0.3), rng.random((90, 2)), rng.normal(size=90)
    gp, at = GP(kernel, 2), rng.random((3, 2))
    posterior = gp.at(at)
    for i in range(90):
        gp.expect(i, X[i])
        gp.observe(i, y[i])
        if i % 7 == 0:
            fresh = gp.posterior(at)
            for j in range(3):
                assert_allclose(posterior.mean_std(j), (fresh[0][j], fresh[1][j]), atol=1e-9)


def test_a_row_taken_from_a_posterior_equals_a_row_computed_by_the_gp():
    rng = np.random.default_rng(4)
    X, y, at = rng.random((10, 2)), rng.normal(size=10), rng.random((3, 2))
    one, other = grown(Matern52(0.3), 0.0, X, y), grown(Matern52(0.3), 0.0, X, y)
    posterior = one.at(at)
    for i in range(3):
        posterior.expect("new", i)
        one.observe("new", float(i))
        other.expect("new", at[i])
        other.observe("new", float(i))
    assert_allclose(one.posterior(X + 0.1), other.posterior(X + 0.1), atol=1e-9)


@pytest.mark.slow
@given(order=st.permutations(range(6)), failing=st.sets(st.integers(0, 5), max_size=3))
@settings(deadline=None)
def test_values_may_arrive_in_any_order_or_not_at_all(order, failing):
    rng = np.random.default_rng(5)
    X, y, at = rng.random((10, 2)), rng.normal(size=10), rng.random((5, 2))
    gp = grown(Matern52(0.3), 0.2, X[:4], y[:4])
    for i in range(6):
        gp.expect(("pending", i), X[4 + i])
    for step, i in enumerate(order):
        if i in failing:
            gp.forget(("pending", i))
        else:
            gp.observe(("pending", i), y[4 + i])
        told = [j for j in order[: step + 1] if j not in failing]
        out = list(order[step + 1 :])
        known = [0, 1, 2, 3, *(4 + j for j in told)]
        mu, _ = dense(gp.kernel, 0.2, X[known], y[known], at)
        everything = [*known, *(4 + j for j in out)]
        _, sigma = dense(gp.kernel, 0.2, X[everything], y[everything], at)
        actual = gp.posterior(at)  # pending points reduce sigma and do not change mu
        assert_allclose(actual[0], mu, atol=1e-8)
        assert_allclose(actual[1], sigma, atol=1e-8)


@by_kernel
def test_the_factorisation_never_fails_when_points_nearly_coincide(family):
    rng = np.random.default_rng(6)
    gp = GP(family(0.5), 2)
    for i in range(200):
        x = np.array([0.5, 0.5]) + rng.choice([0.0, 1e-16, 1e-12, 1e-8, 1e-4]) * rng.normal(size=2)
        gp.expect(i, x)
        gp.observe(i, float(np.sin(x.sum())))
    mu, sigma = gp.posterior(rng.random((50, 2)))
    assert np.isfinite(mu).all()
    assert np.isfinite(sigma).all()
    assert np.all(sigma <= 1.0)


def test_without_noise_the_posterior_mean_interpolates_the_values():
    rng = np.random.default_rng(7)
    X, y = rng.random((30, 3)), rng.normal(size=30)
    mu, sigma = grown(Matern52(0.3), 0.0, X, y).posterior(X)
    assert_allclose(mu, y, atol=1e-8)
    assert_allclose(sigma, 0.0, atol=2e-6)


def test_with_noise_the_posterior_mean_smooths_the_values():
    rng = np.random.default_rng(8)
    X, y = rng.random((20, 1)), rng.normal(size=20)
    gp = GP(Matern52(0.3), 1, noise=0.5)
    for i in range(20):
        gp.expect(i, X[i])
        gp.observe(i, y[i])
    K = gp.kernel(X, X)
    assert_allclose(gp.posterior(X)[0], K @ np.linalg.solve(K + 0.5 * np.eye(20), y), atol=1e-9)


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


def test_a_wrong_number_of_length_scales_is_refused():
    with pytest.raises(SettingsError, match="got 2 length-scales for a space of 3 dimensions"):
        GP(Matern52([0.1, 0.2]), 3)
