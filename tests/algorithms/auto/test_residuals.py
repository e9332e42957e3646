"""The model of each residual around a point."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bamsoo.algorithms.auto.residuals import ResidualModel
from bamsoo.record.residuals import LOSSES, SumOfSquares


def quadratic(rng, dim, columns):
    J, H = rng.standard_normal((columns, dim)), 0.3 * rng.standard_normal((columns, dim, dim))
    r = rng.standard_normal(columns)
    return r, J, lambda z: r + J @ z + np.einsum("jkl,k,l->j", H, z, z)


def test_residuals_at_its_points_are_exact():
    rng = np.random.default_rng(1)
    r, _, fun = quadratic(rng, 3, 5)
    Z = 0.3 * rng.standard_normal((6, 3))
    model = ResidualModel(Z, np.array([fun(z) for z in Z]), r)
    for z in Z:
        assert_allclose(model.residuals(z), fun(z), atol=1e-6)
    assert_allclose(model.residuals(np.zeros(3)), r)


def test_a_few_points_give_the_slope_of_straight_residuals():
    rng = np.random.default_rng(2)
    J, r = rng.standard_normal((7, 4)), rng.standard_normal(7)
    Z = 0.2 * rng.standard_normal((8, 4))
    for count, error in ((4, 0.2), (8, 1e-3)):
        model = ResidualModel(Z[:count], r + Z[:count] @ J.T, r)
        assert_allclose(model.slopes, J.T, atol=error)


def test_near_points_count_more_than_far_ones():
    J = np.array([[1.0, -2.0]])
    near, far = 1e-3 * np.eye(2), np.array([[0.4, 0.3], [-0.5, 0.2]])
    Z = np.vstack([near, far])
    model = ResidualModel(Z, Z @ J.T + 3.0 * (Z**2).sum(1)[:, None], np.zeros(1))
    assert_allclose(model.slopes.T, J, atol=0.01)


@given(st.integers(0, 1000), st.sampled_from([3, 80]), st.booleans(), st.sampled_from([*LOSSES]))
def test_derivatives_are_those_of_the_height(seed, columns, noisy, loss):
    rng, squares = np.random.default_rng(seed), SumOfSquares(loss, 0.5)
    r, _, fun = quadratic(rng, 3, columns)
    Z = 0.3 * rng.standard_normal((12, 3))
    model = ResidualModel(Z, np.array([fun(z) for z in Z]), r, noisy, squares=squares)
    z, h = 0.1 * rng.standard_normal(3), 1e-5
    if loss == "huber" and not (np.abs(np.abs(model.residuals(z)) - 0.5) > 0.01).all():
        return  # its second derivative jumps there
    height, gradient, hessian = model.derivatives(z)
    assert_allclose(height, model.height(z))
    steps = h * np.eye(3)
    slopes = [(model.height(z + s) - model.height(z - s)) / (2.0 * h) for s in steps]
    assert_allclose(gradient, slopes, rtol=1e-5, atol=1e-6)
    bends = [(model.derivatives(z + s)[1] - model.derivatives(z - s)[1]) / (2 * h) for s in steps]
    assert_allclose(hessian, bends, rtol=1e-5, atol=1e-6)


def test_many_residuals_are_rotated_without_changing_their_sum_of_squares():
    rng = np.random.default_rng(3)
    r, _, fun = quadratic(rng, 2, 400)
    Z = 0.3 * rng.standard_normal((10, 2))
    R = np.array([fun(z) for z in Z])
    model = ResidualModel(Z, R, r)
    assert len(model.residuals(Z[0])) <= 50
    for z, row in zip(Z, R, strict=True):
        assert model.value(z) == pytest.approx(float(row @ row), rel=1e-6)


def test_a_loss_is_that_of_each_residual_however_many_there_are():
    rng, squares = np.random.default_rng(3), SumOfSquares("cauchy", 0.1)
    r, _, fun = quadratic(rng, 2, 400)
    Z = 0.3 * rng.standard_normal((10, 2))
    R = np.array([fun(z) for z in Z])
    model = ResidualModel(Z, R, r, squares=squares)
    for z, row in zip(Z, R, strict=True):
        assert model.value(z) == pytest.approx(float(squares.seen(row) @ squares.seen(row)))


def test_the_slope_is_unknown_in_directions_without_points():
    model = ResidualModel(np.array([[0.1, 0.0]]), np.ones((1, 2)), np.zeros(2))
    assert_allclose(model.unknown(np.empty((0, 2))).diagonal(), [0.0, 1.0], atol=0.01)
    assert model.unknown(np.array([[0.0, 0.1]])).diagonal().max() < 0.01
    empty = ResidualModel(np.empty((0, 2)), np.empty((0, 2)), np.zeros(2))
    assert_allclose(empty.unknown(np.empty((0, 2))), np.eye(2))


def test_the_origin_says_nothing_about_the_slope():
    model = ResidualModel(np.array([[0.1, 0.0]]), np.ones((1, 3)), np.zeros(3))
    assert_allclose(model.unknown(np.zeros((2, 2))), model.unknown(np.empty((0, 2))))
    alone = ResidualModel(np.empty((0, 2)), np.empty((0, 3)), np.zeros(3))
    assert_allclose(alone.unknown(np.zeros((1, 2))), np.eye(2))


def test_missing_data_is_left_out():
    R = np.array([[1.0, np.nan, 0.5], [2.0, np.nan, np.nan]])
    model = ResidualModel(0.1 * np.eye(2), R, np.array([0.0, np.nan, 1.0]))
    assert model.value(np.zeros(2)) == 1.0
    assert np.isfinite(model.derivatives(np.ones(2))[2]).all()


def test_axes_have_scales_of_their_own():
    Z = np.random.default_rng(2).uniform(-0.3, 0.3, (9, 2))

    def residuals(Z):
        return np.exp(np.multiply.outer(Z[:, 0], [4.0, 2.0])) + np.outer(Z[:, 1], [1.0, -0.5])

    plain = ResidualModel(Z, residuals(Z), np.ones(2))
    scaled = ResidualModel(Z, residuals(Z), np.ones(2), scales=np.ones(2))
    again = ResidualModel(Z, residuals(Z), np.ones(2), scales=scaled.scales)
    assert again.scales[0] > 2.0 * again.scales[1]
    truth = residuals(np.array([[0.2, 0.25]]))[0]
    errors = [np.abs(m.residuals(np.array([0.2, 0.25])) - truth).max() for m in (plain, again)]
    assert errors[1] < 0.5 * errors[0]
    few = ResidualModel(Z[:3], residuals(Z[:3]), np.ones(2), scales=np.ones(2))
    assert_allclose(few.scales, 1.0)  # these cannot tell a bent axis from one that matters


def test_derivatives_of_a_scaled_model_are_exact():
    rng = np.random.default_rng(4)
    Z, R = rng.uniform(-0.3, 0.3, (8, 3)), rng.standard_normal((8, 4))
    model = ResidualModel(Z, R, np.ones(4), scales=np.array([2.0, 0.5, 1.0]))
    z, h = np.array([0.1, -0.05, 0.07]), 1e-5
    _, gradient, hessian = model.derivatives(z)
    sides = [[model.derivatives(z + s * e) for s in (h, -h)] for e in np.eye(3)]
    assert_allclose(gradient, [(up[0] - down[0]) / (2 * h) for up, down in sides], rtol=1e-5)
    curved = [(up[1] - down[1]) / (2 * h) for up, down in sides]
    assert_allclose(hessian, curved, rtol=1e-4, atol=1e-6)
    nothing = np.zeros(4)
    flat = ResidualModel(Z, R, nothing, scales=model.scales)
    assert_allclose(flat.residuals(np.zeros(3)), nothing, atol=1e-9)
