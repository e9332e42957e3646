"""The local model: its derivatives and its frame."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime

from bamsoo.algorithms.auto.local import (
    Local,
    LocalConstants,
    LocalModel,
    Trend,
    curvature_frame,
    quadratic,
)
from bamsoo.kernels import SquaredExponential


def test_the_local_model_takes_logarithms_of_peaks_on_a_plain_but_not_of_bowls():
    X = np.random.default_rng(3).uniform(-1, 1, size=(25, 2))
    squares = (X**2).sum(1)
    local = Local(2, LocalConstants())
    view, points = 8, local._framed(np.eye(2), X, None)
    peak, bowl = 1.0 / (squares + 0.02), -squares
    standard = lambda v: (v - v.mean()) / v.std()
    assert_allclose(local._unbent(view, points, standard(bowl))[0], standard(bowl))
    unbent, _ = local._unbent(view, points, standard(peak))
    assert np.all(np.argsort(unbent) == np.argsort(peak))
    assert unbent.max() < standard(peak).max()
    assert not np.allclose(unbent, standard(peak))


NO_TREND = Trend(0.0)


def a_model(dim=3, trend=NO_TREND):
    rng = np.random.default_rng(1)
    return LocalModel(0.0, np.eye(dim), rng.normal(size=(8, dim)), rng.uniform(0.5, 2, dim),
                 trend, rng.normal(size=8))  # fmt: skip


def check_derivatives(model, z):
    value, gradient, hessian = model.derivatives(z)
    assert value == pytest.approx(model.height(z))
    assert_allclose(gradient, approx_fprime(z, model.height, 1e-7), atol=1e-5)
    numeric = approx_fprime(z, lambda z: model.derivatives(z)[1], 1e-7)
    assert_allclose(hessian, numeric, atol=2e-5)


@pytest.mark.parametrize("trend", [Trend(0.0), Trend(1.0), Trend(3.0, 0.0, 0.5)])
def test_the_derivatives_of_a_local_model_equal_finite_differences(trend):
    model, z = a_model(trend=trend), np.array([0.1, -0.2, 0.3])
    check_derivatives(model, z)
    K = SquaredExponential(model.lengths)(z[None], model.Z)[0]
    both = np.vstack([z, model.Z])
    K += quadratic(both, trend)[0, 1:]
    assert model.height(z) == pytest.approx(model.alpha @ K)


def test_a_flat_model_does_not_turn_the_frame():
    model = a_model()._replace(alpha=np.zeros(8))
    assert_allclose(
        np.abs(curvature_frame(model, np.zeros(3), LocalConstants())), np.eye(3), atol=1e-12
    )


@pytest.mark.parametrize(("thin", "dropped"), [(1e-12, False), (1e-20, True), (np.nan, True)])
def test_a_frame_that_is_singular_is_dropped(thin, dropped):
    model = a_model()._replace(S=np.diag([1.0, thin, 1.0]))
    assert (curvature_frame(model, np.zeros(3), LocalConstants()) is None) == dropped


@pytest.mark.parametrize("curved", [1.0, 0.0])
def test_planes_and_round_bowls_are_known_from_a_few_points_more_than_axes(curved):
    dim, rng = 6, np.random.default_rng(2)
    X, top, slope = rng.random((dim + 3, dim)), rng.random(dim), rng.normal(size=dim)
    f = lambda X: X @ slope - curved * ((X - top) ** 2).sum(-1)
    centre = X[np.argmax(f(X))]
    model = Local(dim, LocalConstants()).fit(24, X - centre, f(X), None)
    assert model.everywhere
    far = rng.random((5, dim))
    predicted = [model.height((x - centre) / model.S[0, 0]) for x in far]
    scale = f(X).std()
    assert_allclose(np.diff(predicted), np.diff(f(far)) / scale, atol=1e-3)


def test_a_bowl_that_is_not_round_is_not_taken_for_a_round_one():
    dim, rng = 6, np.random.default_rng(2)
    X, weights = rng.random((2 * dim, dim)), np.linspace(1.0, 2.0, dim)
    f = -(weights * (X - 0.4) ** 2).sum(1)
    model = Local(dim, LocalConstants()).fit(24, X - X[np.argmax(f)], f, None)
    assert not model.everywhere


def test_a_slanted_valley_is_climbed_with_fewer_points_than_a_full_quadratic_has_terms():
    dim, rng = 6, np.random.default_rng(5)
    turned = np.linalg.qr(rng.normal(size=(dim, dim)))[0]
    weights = np.geomspace(1.0, 30.0, dim)
    f = lambda X: -(weights * ((X - 0.4) @ turned) ** 2).sum(-1)
    X = rng.random((24, dim))  # a full quadratic has 28 terms
    centre = X[np.argmax(f(X))]
    errors = []
    far = centre + 0.1 * rng.normal(size=(50, dim))
    for products in (True, False):
        model = Local(dim, LocalConstants(products=products)).fit(24, X - centre, f(X), None)
        assert (model.trend.chi > 0.0) == products
        predicted = np.array([model.height(np.linalg.solve(model.S, x - centre)) for x in far])
        errors.append(1.0 - np.corrcoef(predicted, f(far))[0, 1])
    assert errors[0] < errors[1]
