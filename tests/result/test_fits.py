"""What a fit says about its parameters."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import least_squares

import bamsoo
from bamsoo import Choice, Real
from bamsoo.errors import ModelError

RNG = np.random.default_rng(0)
A = RNG.standard_normal((30, 3))
BEST = np.array([0.3, 2.0, -1.0])
DATA = A @ BEST + 0.1 * RNG.standard_normal(30)
BOX = [(-1.0, 1.0), (0.0, 5.0), (-3.0, 3.0)]


def test_the_covariance_of_a_linear_fit_is_exact():
    r = bamsoo.least_squares(lambda x: A @ x - DATA, BOX, 20)
    found, left, *_ = np.linalg.lstsq(A, DATA, rcond=None)
    assert_allclose(r.x, found, atol=1e-5)
    exact = left[0] / (30 - 3) * np.linalg.inv(A.T @ A)
    assert_allclose(r.covariance, exact, rtol=1e-4)
    assert_allclose(r.deviations, np.sqrt(exact.diagonal()), rtol=1e-4)
    assert_allclose(r.fitted.band, np.sqrt(np.einsum("ij,jk,ik->i", A, exact, A)), rtol=1e-4)
    assert r.fitted.remarks == []
    costs = r.residuals[r.fitted.largest] ** 2
    assert (np.diff(costs) <= 0.0).all()


def test_more_residuals_than_a_climb_models():
    wide = np.random.default_rng(1).standard_normal((200, 2))
    data = wide @ [0.2, 0.7] + 0.1 * np.random.default_rng(2).standard_normal(200)
    r = bamsoo.least_squares(lambda x: wide @ x - data, [(0.0, 1.0)] * 2, 12)
    exact = r.fun / 198 * np.linalg.inv(wide.T @ wide)
    assert_allclose(r.covariance, exact, rtol=1e-3)


def test_deviations_cover_the_truth_as_often_as_they_should():
    rng, t, off = np.random.default_rng(3), np.linspace(0.1, 4.0, 25), []
    space = {"a": (0.0, 5.0), "k": Real(0.1, 10.0, log=True), "c": (-1.0, 1.0)}
    for _ in range(30):
        data = 2.0 * np.exp(-1.1 * t) + 0.3 + 0.03 * rng.standard_normal(25)
        r = bamsoo.least_squares(
            lambda a, k, c, data=data: a * np.exp(-k * t) + c - data, space, 20
        )
        off.append(abs(r.x - [2.0, 1.1, 0.3]) / r.deviations)
    assert 0.55 < np.mean(np.array(off) < 1.0) < 0.8
    assert 0.88 < np.mean(np.array(off) < 2.0) < 0.99


def test_weights_and_missing_data_count():
    weights = np.arange(1.0, 31.0)
    data = DATA.copy()
    data[[2, 7]] = np.nan
    r = bamsoo.least_squares(lambda x: A @ x - data, BOX, 20, weights=weights)
    kept = ~np.isnan(data)
    W = weights[kept, None] * A[kept]
    exact = r.fun / (28 - 3) * np.linalg.inv(A[kept].T @ W)
    assert_allclose(r.covariance, exact, rtol=1e-4)


def test_parameters_that_cannot_be_told_apart_are_named():
    t = np.linspace(0.0, 1.0, 20)
    data = 0.7 + 0.01 * np.random.default_rng(5).standard_normal(20)
    r = bamsoo.least_squares(
        lambda a, b: (a + b) + 0.02 * t * (a - b) - data, {"a": (0.0, 1.0), "b": (0.0, 1.0)}, 15
    )
    assert any("a and b can hardly be told apart" in remark for remark in r.fitted.remarks)


def test_combinations_of_three_parameters_are_named():
    names, rng = "abc", np.random.default_rng(6)
    B = A.copy()
    B[:, 2] = B[:, 0] - B[:, 1] + 0.01 * rng.standard_normal(30)
    data = B @ [0.3, 0.5, 0.4] + 0.01 * rng.standard_normal(30)
    r = bamsoo.least_squares(
        lambda **p: B @ list(p.values()) - data, dict.fromkeys(names, (0.0, 1.0)), 15
    )
    assert r.fitted.remarks[-1].startswith("a, b and c can hardly be told apart")


def test_nothing_is_known_about_errors_without_more_residuals_than_parameters():
    r = bamsoo.least_squares(lambda x: x - 0.3, [(0.0, 1.0)] * 2, 8)
    assert np.isnan(r.covariance).all()
    assert "no more residuals than parameters" in r.fitted.remarks[0]


def test_an_outlier_hardly_widens_the_deviations_of_a_robust_fit():
    def deviations(data, **more):
        return bamsoo.least_squares(lambda x: A @ x - data, BOX, 25, **more).deviations

    spoilt = DATA.copy()
    spoilt[4] += 5.0
    usual, robust = deviations(DATA), deviations(spoilt, loss="soft_l1", f_scale=0.1)
    assert (robust < 1.6 * usual).all()
    assert (deviations(spoilt) > 5.0 * usual).all()


def test_slopes_and_the_band_are_those_of_the_residuals_as_returned():
    more = {"weights": np.linspace(0.0, 4.0, 30), "loss": "huber", "f_scale": 0.05}
    fitted = bamsoo.least_squares(lambda x: A @ x - DATA, BOX, 25, **more).fitted
    assert_allclose(fitted.slopes, A, atol=1e-3)
    assert_allclose(fitted.band**2, np.einsum("ij,jk,ik->i", A, fitted.covariance, A), rtol=0.01)
    assert fitted.costs[0] == 0.0


def test_parameters_that_do_not_matter_are_named():
    r = bamsoo.least_squares(lambda x: [x[0] - 0.2, x[0] - 0.3, 0.1], [(0.0, 1.0)] * 2, 15)
    assert r.fitted.remarks[0].startswith("These data hardly determine x1")
    assert not r.deviations[1] < 1.0


@pytest.mark.parametrize("found", [0.0, 1.0])
def test_nothing_is_known_about_parameters_without_effect(found):
    r = bamsoo.least_squares(lambda x: np.full(4, found), [(0.0, 1.0)] * 2, 8)
    assert np.isinf(r.deviations).all()
    assert [remark[:29] for remark in r.fitted.remarks] == ["These data hardly determine x"] * 2


def test_options_have_no_deviation():
    space = {"kind": Choice(["a", "b"]), "x": (0.0, 1.0)}
    r = bamsoo.least_squares(lambda kind, x: [x - 0.2, x - 0.4, float(kind == "a")], space, 15)
    assert np.isnan(r.deviations[0])
    assert r.deviations[1] > 0.0


def test_a_result_without_residuals_has_no_covariance():
    r = bamsoo.minimize(lambda x: float(x @ x), [(-1.0, 1.0)], 5)
    with pytest.raises(ModelError, match="least_squares"):
        _ = r.covariance


def test_far_points_do_not_change_the_slopes():
    t = np.linspace(0.0, 10.0, 30)

    def fun(x):
        return (
            np.exp(-0.2 * t) * np.cos(x[0] * t + x[1])
            - np.exp(-0.2 * t) * np.cos(3.0 * t)
            + 0.1 * np.sin(7.0 * t)
        )

    rng, opt = np.random.default_rng(1), bamsoo.Optimizer([(1.0, 8.0), (-3.0, 3.0)])
    best = least_squares(fun, [3.0, 0.0], xtol=1e-14, ftol=1e-14).x
    near = best + 1e-3 * rng.standard_normal((5, 2))
    far = np.column_stack([rng.uniform(1.0, 8.0, 60), rng.uniform(-3.0, 3.0, 60)])
    for x in (best, *near, *far):
        opt.tell(x, residuals=fun(x))
    steps = 1e-6 * np.eye(2)
    exact = [(fun(best + step) - fun(best - step)) / 2e-6 for step in steps]
    assert (opt.result.x == best).all()
    assert_allclose(opt.result.fitted.slopes.T, exact, atol=0.02)
