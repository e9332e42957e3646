"""The steps of a fit."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import LinearConstraint, least_squares

import bamsoo
from bamsoo import Choice, Int
from bamsoo.algorithms.auto import newton


def fit(fun, space, budget, **more):
    return bamsoo.least_squares(fun, space, budget, **more)


def test_a_linear_fit_needs_one_step_after_one_along_each_axis():
    rng = np.random.default_rng(0)
    A, best = rng.standard_normal((20, 5)), np.array([0.3, 0.6, 0.45, 0.55, 0.7])
    r = fit(lambda x: A @ (x - best), [(0.0, 1.0)] * 5, 9)
    assert r.to_dataframe()["origin"].tolist()[1:6] == ["local"] * 5
    assert_allclose(r.x, best, atol=1e-4)


def test_rosenbrock_takes_a_third_of_the_evaluations_of_its_sum():
    def fun(x):
        return np.array([10.0 * (x[1] - x[0] ** 2), 1.0 - x[0]])

    r = fit(fun, [(-3.0, 2.0), (-1.0, 3.0)], 25)
    assert r.fun < 1e-10


@pytest.mark.parametrize("loss", ["soft_l1", "huber", "cauchy", "arctan"])
def test_outliers_do_not_make_a_fit_longer(loss):
    # the residuals are modelled before the loss is applied, so that they are as smooth as without
    t = np.linspace(0.0, 4.0, 20)
    data = 2.5 * np.exp(-1.3 * t) + 0.02 * np.sin(37.0 * t)
    data[[3, 9, 15]] += [1.0, -2.0, 1.5]

    def fun(x):
        return x[0] * np.exp(-x[1] * t) - data

    more = {"loss": loss, "f_scale": 0.03}
    near = least_squares(fun, [2.5, 1.3], xtol=1e-12, ftol=1e-12, gtol=1e-12, **more)
    r = fit(fun, [(0.0, 10.0), (0.0, 5.0)], 11, **more)
    assert r.fun - 2.0 * near.cost < 1e-6 * r.F[0]


def test_the_optimum_may_be_at_the_end_of_the_box():
    r = fit(lambda x: np.array([x[0] - 2.0, x[1] - 0.4]), [(0.0, 1.0)] * 2, 10)
    assert_allclose(r.x, [1.0, 0.4], atol=1e-5)


def test_known_constraints_bound_the_steps():
    allowed = lambda x: x[0] + x[1] - 1.0
    r = fit(lambda x: x - 0.8, [(0.0, 1.0)] * 2, 10, constraints=[allowed])
    assert_allclose(r.x, [0.5, 0.5], atol=1e-3)


def test_scouts_find_their_way_where_few_points_are_allowed():
    strip = LinearConstraint([[1.0, 1.0]], 0.3, 0.301)
    r = fit(lambda x: x - [0.2, 0.7], [(0.0, 1.0)] * 2, 30, constraints=[strip])
    assert r.nfev == 30
    assert_allclose(r.x.sum(), 0.3005, atol=1e-3)


def test_whole_numbers_and_options():
    def fun(kind, n, x):
        shift = {"a": 3.0, "b": 0.0, "c": 1.0}[kind]
        return np.array([n - 4.2, x - 0.3 * n / 4.0, shift])

    space = {"kind": Choice(["a", "b", "c"]), "n": Int(0, 9), "x": (0.0, 1.0)}
    r = fit(fun, space, 40)
    assert r.params["kind"] == "b"
    assert r.params["n"] == 4
    assert r.params["x"] == pytest.approx(0.3, abs=1e-3)
    # the best for n = 4.2 would be 0.315
    assert r.F[:15].min() == pytest.approx(0.04, abs=1e-6)


def test_failures_are_avoided():
    def fun(x):
        return None if x[0] > 0.7 else np.array([x[0] - 0.6, x[1] - 0.9, x[0] * x[1] - 0.5])

    r = fit(fun, [(0.0, 1.0)] * 2, 30)
    known = r.F[np.isfinite(r.F)]
    assert known.min() < 1e-2
    assert r.nfailed < 10


def test_noise_does_not_stop_a_fit():
    rng = np.random.default_rng(4)
    t = np.linspace(0.0, 1.0, 30)

    def fun(x):
        return x[0] * t + x[1] - 0.7 * t - 0.2 + 0.05 * rng.standard_normal(30)

    r = fit(fun, [(-2.0, 2.0)] * 2, 40, noise="learn")
    assert_allclose(r.x, [0.7, 0.2], atol=0.2)


@pytest.mark.parametrize("out", [1, 4, 9])
def test_several_pending_trials(out):
    rng = np.random.default_rng(1)
    A, best = rng.standard_normal((20, 4)), np.array([0.3, 0.6, 0.45, 0.55])
    opt = bamsoo.Optimizer([(0.0, 1.0)] * 4)
    pending = []
    for _ in range(40):
        pending.append(opt.ask())
        if len(pending) == out:
            trial = pending.pop(0)
            opt.tell(trial, residuals=A @ (trial.x - best) + 0.1 * (trial.x - best)[0] ** 2)
    assert opt.result.fun < 1e-6


@pytest.mark.parametrize("size", [1e150, 1e154])
@pytest.mark.parametrize("loss", ["linear", "cauchy"])
def test_the_squares_of_residuals_may_be_as_large_as_numbers_can_be(size, loss):
    def fun(x):
        return size * np.array([x[0] - 0.3, x[1] - 0.4, x[0] + x[1] - 0.7])

    r = fit(fun, [(0.0, 1.0)] * 2, 20, loss=loss, f_scale=size)
    assert_allclose(r.x, [0.3, 0.4], atol=1e-3)
    assert (r.deviations < 0.01).all()


def test_huge_residuals_do_no_harm():
    def fun(x):
        return np.array([1e140 ** (x[0] - 0.2) - 1.0, x[1] - 0.4, 1e-3 * x[0]])

    r = fit(fun, [(0.0, 1.0)] * 2, 60)
    assert r.nfev == 60
    assert r.fun < 2.0


def test_under_constraints_a_fit_reaches_the_last_digits():
    t = np.linspace(0.0, 10.0, 40)
    allowed = lambda x: x[0] + x[1] - 6.0
    r = fit(
        lambda x: np.sin(x[0] * t + x[1]) - np.sin(5.3 * t + 0.4),
        *([(1.0, 8.0), (-1.5, 1.5)], 50),
        constraints=[allowed],
    )
    assert r.fun < 1e-9


def test_a_model_has_as_many_points_as_a_quadratic_has_coefficients(monkeypatch):
    counts, Model = [], newton.ResidualModel

    def counted(offsets, *given, **more):
        counts.append(len(offsets))
        return Model(offsets, *given, **more)

    monkeypatch.setattr(newton, "ResidualModel", counted)
    fit(lambda x: np.array([10.0 * (x[1] - x[0] ** 2), 1.0 - x[0]]), [(-3, 2), (-1, 3)], 12)
    assert max(counts) == 6


def test_a_second_worker_tries_a_step_half_as_long():
    opt = bamsoo.Optimizer([(0.0, 1.0)] * 2)
    for x in np.array([[0.5, 0.5], [0.4, 0.5], [0.5, 0.4]]):
        opt.tell(x, residuals=np.array([x[0] - 1.0, x[1] - 1.0, 0.3]))
    first, second = (opt.ask().x - 0.5 for _ in range(2))
    assert_allclose(first, 0.25, atol=1e-3)  # the end of the trust region
    assert_allclose(second, 0.125, atol=1e-3)


def test_a_late_step_is_judged_by_the_point_it_began_at():
    opt = bamsoo.Optimizer([(0.0, 1.0)] * 2)

    def residuals(x):
        return np.array([x[0] - 1.0, x[1] - 1.0, 0.3])

    for x in np.array([[0.5, 0.5], [0.4, 0.5], [0.5, 0.4]]):
        opt.tell(x, residuals=residuals(x))
    long, short = opt.ask(), opt.ask()
    opt.tell(long, residuals=residuals(long.x))
    opt.tell(short, residuals=residuals(short.x))  # as good as expected, but not the best any more
    assert_allclose(opt.ask().x, 1.0, atol=1e-3)  # the region has become larger, not smaller
