"""The model of all residuals over the whole space."""

import numpy as np
from numpy.testing import assert_allclose

from bamsoo.algorithms.auto.survey import Survey


def residuals(x):
    t = np.linspace(0.0, 1.0, 80)
    return np.sin(6.0 * x[0] * t + x[1]) - np.sin(4.0 * t + 0.3)


def test_sums_of_squares_are_exact_at_points_and_near_elsewhere():
    rng = np.random.default_rng(0)
    X, others = rng.random((40, 2)), rng.random((50, 2))
    survey = Survey(X, np.array([residuals(x) for x in X]))
    mean, deviation = survey.sums(X)
    assert_allclose(mean, [(residuals(x) ** 2).sum() for x in X], atol=0.1)
    mean, deviation = survey.sums(others)
    exact = np.array([(residuals(x) ** 2).sum() for x in others])
    assert np.median(abs(mean - exact)) < 0.02 * exact.std()
    assert (deviation > 0.0).all()


def test_the_mean_and_the_deviation_are_those_of_draws():
    X = np.array([[0.2, 0.2], [0.8, 0.3], [0.4, 0.9]])
    survey = Survey(X, np.array([[1.0, 2.0], [0.5, -1.0], [-1.0, 0.3]]))
    x = np.array([[0.5, 0.5]])
    k = survey._correlations(x, survey.lengths)
    K = survey._covariance(survey.lengths)
    mu = (survey._origin + k @ survey._A)[0]
    sigma2 = float(1.0 - (k @ np.linalg.solve(K, k.T))[0, 0]) * survey._variances
    draws = mu + np.sqrt(sigma2) * np.random.default_rng(1).standard_normal((200_000, len(mu)))
    sums = ((draws**2).sum(1) + survey._rest) * survey._unit**2
    mean, deviation = survey.sums(x)
    assert_allclose([mean[0], deviation[0]], [sums.mean(), sums.std()], rtol=0.02)


def test_constant_and_missing_residuals():
    X = np.random.default_rng(2).random((4, 2))
    mean, _ = Survey(X, np.full((4, 3), [2.0, np.nan, 1.0])).sums(X)
    assert_allclose(mean, 5.0, rtol=1e-6)


def test_lengths_about_which_the_values_say_nothing_go_to_usual_ones():
    X, R = np.array([[0.3, 0.6]]), np.array([[1.0, 2.0]])
    usual = Survey(X, R).lengths
    assert_allclose(Survey(X, R, 4.0 * usual).lengths, usual, rtol=0.6)
    assert_allclose(Survey(X, R, usual / 4.0).lengths, usual, rtol=0.6)
