"""The GP, grown by one row at a time, compared with the formulas of Sec. 2 and a dense inverse."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime

import bamsoo
from bamsoo.kernels import Matern32, Matern52, Matern72, SquaredExponential
from bamsoo.model.gp import GP
from bamsoo.model.repeats import Repeats
from bamsoo.space.axes import (
    Continuous,
    Discrete,
    Domain,
    Options,
)

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


def test_different_options_are_equally_far_apart_to_the_gp():
    domain = Domain((Options(3), Continuous()))
    kernel = bamsoo.kernels.Matern52([0.5, 0.2], variance=2.0)
    gp = GP(kernel, 2, domain=domain)
    options = np.array([[(i + 0.5) / 3, 0.4] for i in range(3)])
    gp.expect(0, options[0])
    expected = np.array([1.0, *[float(kernel.of(np.array([4.0]))[0] / 2)] * 2])
    assert_allclose(gp.correlations(options)[:, 0], expected)


def test_gradients_follow_the_ordered_axes_alone():
    domain = Domain((Options(3), Continuous(), Discrete(50)))
    gp = GP(bamsoo.kernels.Matern52([0.9, 0.4, 0.6]), 3, domain=domain)
    rng = np.random.default_rng(0)
    for i in range(7):
        gp.expect(i, domain.snap(rng.random(3)))
        gp.observe(i, float(rng.normal()))
    x = np.array([0.5, 0.33, 0.71])
    _, _, d_mu, d_sigma = gp.gradient(x)
    assert_allclose(d_mu, approx_fprime(x, lambda x: gp.posterior_at(x)[0]), atol=1e-5)
    assert_allclose(d_sigma, approx_fprime(x, lambda x: gp.posterior_at(x)[1]), atol=1e-5)


def noisy_dense(gp, X, y, noises, at):
    """The posterior by the textbook."""
    K = gp.kernel(X, X) + np.diag(noises)
    k = gp.kernel(at, X)
    mu = gp.mean.value + k @ np.linalg.solve(K, y - gp.mean.value)
    return mu, np.sqrt(gp.kernel.variance - np.einsum("ij,ji->i", k, np.linalg.solve(K, k.T)))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), late=st.integers(0, 5))
def test_rows_of_a_gp_have_noise_of_their_own(seed, late):
    rng = np.random.default_rng(seed)
    X, y, at = rng.random((9, 2)), rng.standard_normal(9), rng.random((4, 2))
    own = [None if rng.random() < 0.3 else float(rng.random()) for _ in range(9)]
    gp = GP(Matern52(0.4, 1.7), 2, mean=0.3, noise=0.2)
    for i, x in enumerate(X):
        gp.expect(i, x)
    watched = gp.at(at)
    order = [late, *(i for i in range(9) if i != late)]
    for i in order[:7]:
        gp.observe(i, float(y[i]), own[i])
    for i in order[7:]:
        gp.forget(i)
    some = order[:7]
    noises = np.array([0.2 if own[i] is None else own[i] for i in some])
    mu, sigma = noisy_dense(gp, X[some], y[some], noises, at)
    assert_allclose(gp.noises, noises)
    for found in (gp.posterior(at), np.transpose([watched.mean_std(i) for i in range(4)])):
        assert_allclose(found[0], mu, atol=1e-8)
        assert_allclose(found[1], sigma, atol=1e-6)
    assert_allclose(gp.smoothed(), noisy_dense(gp, X[some], y[some], noises, X[some])[0], atol=1e-8)


def test_smoothed_values_are_posterior_means():
    rng = np.random.default_rng(0)
    X, y = rng.random((20, 2)), rng.standard_normal(20)
    gp = GP(Matern52(0.3, 2.5), 2, mean=0.7, noise=0.4)
    for i, x in enumerate(X):
        gp.expect(i, x)
    for i in (3, 0, *range(4, 18)):
        gp.observe(i, y[i])
    assert_allclose(gp.smoothed(), gp.posterior(gp.X[: gp.known])[0], atol=1e-12)


def test_the_posterior_of_the_first_values_is_that_before_the_others_came():
    rng = np.random.default_rng(0)
    gp, at = GP(Matern52(0.4, 4.0), 2, 1.5), rng.random((3, 2))
    seen = [gp.posterior(at)]
    for i in range(4):
        gp.expect(i, rng.random(2))
        gp.observe(i, float(i))
        seen.append(gp.posterior(at))
    assert_allclose(seen[0], [[1.5] * 3, [2.0] * 3])
    for known, before in enumerate(seen):
        assert_allclose(gp.posterior_of_known(at, known), before)


def test_values_with_equal_noise_of_their_own_are_those_of_a_gp_with_this_noise():
    rng = np.random.default_rng(0)
    points, at = rng.random((4, 2)), rng.random((3, 2))
    own = GP(Matern52(0.4, 4.0), 2, noise=0.5, jitter=0.01)
    shared = GP(Matern52(0.4, 4.0), 2, noise=0.2, jitter=0.01)
    for i, x in enumerate(points):
        own.expect(i, x)
        own.observe(i, float(i), 0.2)
        shared.expect(i, x)
        shared.observe(i, float(i))
    assert_allclose(own.posterior(at), shared.posterior(at))


class Slope:
    """A mean function: three times the first coordinate, minus one."""

    def at(self, X):
        return 3.0 * np.atleast_2d(X)[:, 0] - 1.0

    def slope(self, x):
        return np.array([3.0, 0.0])


def test_a_mean_function_is_added_to_the_posterior_of_what_it_leaves():
    rng = np.random.default_rng(2)
    X, at = rng.random((9, 2)), rng.random((4, 2))
    y = Slope().at(X) + rng.normal(size=9)
    kernel = Matern52(0.3)
    gp, rest = grown(kernel, Slope(), X, y), grown(kernel, 0.0, X, y - Slope().at(X))
    assert gp.residuals == pytest.approx(rest.residuals)
    (mu, sigma), (plain, same) = gp.posterior(at), rest.posterior(at)
    assert mu == pytest.approx(plain + Slope().at(at)) and sigma == pytest.approx(same)
    for each in (gp.posterior_of_known(at, 9), gp.joint_of_known(at, 9)):
        assert each[0] == pytest.approx(mu)
    squares = gp.squares(at, range(2), 9)
    assert gp.mean_at(at, squares) == pytest.approx(mu)
    ours, theirs = gp.gradient(at[0]), rest.gradient(at[0])
    assert ours[2] == pytest.approx(theirs[2] + Slope().slope(at[0]))
    assert gp.posterior_at(at[0])[0] == pytest.approx(mu[0])
    assert gp.at(at).mean_std(1)[0] == pytest.approx(mu[1])
    assert gp.posterior_of_known(at, 0)[0] == pytest.approx(Slope().at(at))
    noisy = Repeats(grown(kernel, Slope(), X, y), 9, False)
    assert noisy.posterior(at)[0] == pytest.approx(mu, abs=1e-4)
