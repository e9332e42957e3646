"""The models of an objective and its constraints near the best point."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime

import bamsoo
from bamsoo.algorithms.auto.climb import Climb, Shared
from bamsoo.algorithms.auto.cubic import Cubic, ValueScale, fitted
from bamsoo.algorithms.auto.failures import Failures
from bamsoo.algorithms.auto.loop import CONSTANTS
from bamsoo.algorithms.auto.schedule import Focus
from bamsoo.algorithms.book import Book
from bamsoo.algorithms.known import Known
from bamsoo.algorithms.limits import Limits
from bamsoo.algorithms.search import Outcome
from bamsoo.space.axes import cube

CENTRE, SCALES = np.full(2, 0.5), np.ones(2)


def points(count=12, seed=0):
    return np.random.default_rng(seed).random((count, 2))


def test_a_cubic_model_passes_through_its_points_and_knows_a_plane():
    Z = points()
    Y = np.column_stack([3.0 * Z[:, 0] - Z[:, 1] + 2.0, np.sin(5.0 * Z[:, 0])])
    model = Cubic(Z, Y, CENTRE, SCALES)
    assert_allclose([model.values(z) for z in Z], Y, atol=1e-9)
    assert_allclose(model.values(np.array([0.2, 0.9]))[0], 3.0 * 0.2 - 0.9 + 2.0)


def test_the_derivatives_of_cubic_models_equal_finite_differences():
    Z, z, weights = points(), np.array([0.2, 0.9]), np.array([0.3, -2.0])
    Y = np.column_stack([np.exp(Z[:, 0]), np.sin(5.0 * Z[:, 0] * Z[:, 1])])
    model = Cubic(Z, Y, CENTRE, np.array([1.0, 0.3]))
    values, slopes, hessian = model.derivatives(z, weights)
    assert_allclose(values, model.values(z))
    assert_allclose(slopes, approx_fprime(z, model.values, 1e-7), atol=1e-5)
    weighted = lambda z: weights @ model.derivatives(z, weights)[1]
    assert_allclose(hessian, approx_fprime(z, weighted, 1e-7), atol=1e-4)
    assert np.isfinite(model.derivatives(Z[0], weights)[2]).all()  # r is 0 there


def test_predictions_at_points_left_out_are_those_of_models_without_them():
    Z = points()
    Y = np.column_stack([np.sin(5.0 * Z[:, 0]), Z[:, 0] * Z[:, 1]])
    found = Cubic(Z, Y, CENTRE, SCALES).left_out()
    for i in range(len(Z)):
        others = np.arange(len(Z)) != i
        # the same units as with all points, or the cubic terms would differ
        without = Cubic(np.vstack([Z[others], Z[i]])[:-1], Y[others], CENTRE, SCALES)
        assert_allclose(without.values(Z[i]), found[i], atol=1e-6)


def test_a_linear_function_is_modelled_as_it_is_and_a_steep_one_by_its_logarithm():
    Z = points(20)
    linear = 1e4 * (Z[:, 0] - 0.5) + 3e3 * Z[:, 1]
    steep = np.exp(14.0 * Z[:, 0]) - 50.0
    models, scales = fitted(Z, [linear, steep], CENTRE, SCALES)
    assert [scale.bent for scale in scales] == [False, True]
    z = np.array([0.3, 0.7])
    assert models.values(z)[0] == pytest.approx(scales[0](1e4 * -0.2 + 3e3 * 0.7))


def test_a_scale_is_linear_near_zero_either_way():
    for bent in (False, True):
        assert ValueScale(100.0, bent)(0.1) == pytest.approx(1e-3, rel=1e-5)


def test_values_that_are_not_finite_are_modelled_as_the_largest():
    Z = points()
    values = Z[:, 0].copy()
    values[:3] = np.inf, np.nan, 1e300
    models, _ = fitted(Z, [values], CENTRE, SCALES)
    assert np.isfinite(models.values(np.array([0.4, 0.4]))).all()


def test_an_optimum_on_a_linear_constraint_is_found_to_many_digits():
    def f(x):
        return float(((x - 2.0) ** 2).sum()), {"edge": 1e4 * float(x[0] + 2.0 * x[1] - 1.3)}

    r = bamsoo.minimize(f, [(-5, 5)] * 2, 40, constraints=["edge"])
    optimum = (2.0 + 4.0 - 1.3) ** 2 / 5.0
    assert 0.0 <= r.fun - optimum < 1e-4  # 1e-3 if a linear constraint is bent


def test_a_step_keeps_a_margin_as_large_as_the_last_error():
    X = np.vstack([points(), [0.51, 0.52]])  # the last one is nearly on the boundary
    book = Book(limits=Limits(cube(2), Known(1)))
    book.begin()
    book.receive([Outcome(None, x, (-x.sum(),), (1.0 - x.sum(),)) for x in X])
    failures = Failures(cube(2), book, CONSTANTS.failures, CONSTANTS.learning)
    parts = CONSTANTS.climb, CONSTANTS.local, CONSTANTS.learning
    shared = Shared(book, CONSTANTS.climb)
    climb = Climb(cube(2), book, failures, np.random.default_rng(0), shared, False, *parts)
    focus = Focus((), np.arange(len(X)), len(X) - 1)

    first = climb.propose(focus)
    assert first.note.constraints == pytest.approx(0.0, abs=1e-6)
    book.receive([Outcome(None, first.x, (-first.x.sum(),), (0.05,))])
    climb.judge(first, False, len(X))
    second = climb.propose(focus)
    assert second.note.constraints == pytest.approx(-first.note.scales[0](0.05), rel=1e-3)


@pytest.mark.parametrize(("dim", "after"), [(4, 0.8), (5, 0.4 / 0.7)])
def test_with_constraints_and_many_axes_a_success_makes_up_for_one_failure(dim, after):
    X = np.random.default_rng(0).random((3 * dim, dim))
    book = Book(limits=Limits(cube(dim), Known(1)))
    book.begin()
    book.receive([Outcome(None, x, (-x.sum(),), (1.0 - x.sum(),)) for x in X])
    failures = Failures(cube(dim), book, CONSTANTS.failures, CONSTANTS.learning)
    parts = CONSTANTS.climb, CONSTANTS.local, CONSTANTS.learning
    shared = Shared(book, CONSTANTS.climb)
    climb = Climb(cube(dim), book, failures, np.random.default_rng(0), shared, False, *parts)
    step = climb.propose(Focus((), np.arange(len(X)), 0))
    step.note.region.radius = 0.4
    climb.judge(step._replace(note=step.note._replace(radius=0.4)), True, 0)
    assert step.note.region.radius == pytest.approx(after)


@pytest.mark.slow
def test_steps_keep_a_margin_from_a_constraint_that_is_hard_to_predict():
    def f(x):
        ripples = 0.1 * np.sin(15.0 * x[0]) * np.cos(15.0 * x[1])
        return float(x.sum()), {"edge": float(2.0 - x.sum() + ripples)}

    runs = [bamsoo.minimize(f, [(0, 1)] * 4, 50, seed=s, constraints=["edge"]) for s in range(2)]
    assert sum(r.feasible.sum() for r in runs) >= 34  # of 100; 29 without margins


def test_a_constraint_that_is_always_zero_is_predicted_to_be_zero():
    Z, z = points(), np.array([0.2, 0.9])
    model, scales = fitted(Z, [Z[:, 0], np.zeros(len(Z))], CENTRE, SCALES)
    assert_allclose(model.values(z)[1], 0.0, atol=1e-12)
    assert scales[1].size == 1.0
