"""The test functions are data; one shared test checks them all."""

import numpy as np
import pytest
from scipy.optimize import minimize

import bamsoo
from bamsoo import problems

EPS = np.finfo(float).eps


def each(name="problem"):
    return pytest.mark.parametrize(name, problems.ALL.values(), ids=problems.ALL.keys())


def to_minimise(problem):
    sign = -1.0 if problem.direction == "maximize" else 1.0
    return (lambda x: sign * problem(x)), sign * problem.optimum


def polished(problem, starts, seed):
    """Values and points of local minima found from random starts."""
    f, _ = to_minimise(problem)
    low, high = np.array(problem.bounds).T
    rng = np.random.default_rng(seed)
    for start in rng.uniform(low, high, (starts, problem.dim)):
        rough = minimize(f, start, method="L-BFGS-B", bounds=problem.bounds)
        yield minimize(f, rough.x, method="L-BFGS-B", bounds=problem.bounds, tol=1e-14)


def test_the_six_problems_of_the_contract_are_there():
    assert set(problems.ALL) == {
        "branin",
        "rosenbrock",
        "hartmann3",
        "hartmann6",
        "shekel",
        "sines",
    }
    for name, problem in problems.ALL.items():
        assert getattr(problems, name) is problem
        assert problem.name == name


@each()
def test_bounds_dimension_and_optimizers_agree(problem):
    assert len(problem.bounds) == problem.dim
    assert all(low < high for low, high in problem.bounds)
    assert problem.optimizers.ndim == 2 and problem.optimizers.shape[1] == problem.dim
    low, high = np.array(problem.bounds).T
    assert np.all((low <= problem.optimizers) & (problem.optimizers <= high))


@each()
def test_only_sines_is_to_be_maximised(problem):
    assert problem.direction == ("maximize" if problem.name == "sines" else "minimize")


@each()
def test_optimum_is_attained_at_every_optimizer_to_machine_precision(problem):
    for x in problem.optimizers:
        # a rounded x moves f by about f'' eps^2, rounding inside f by a few ulps of its terms
        assert problem(x) == pytest.approx(problem.optimum, rel=8 * EPS, abs=8 * EPS)


@each()
def test_gradient_vanishes_at_every_optimizer(problem):
    f, _ = to_minimise(problem)
    for x in problem.optimizers:
        for axis in np.eye(problem.dim):
            # the curvature's share of the differences is the step times f''; a wrong x shows
            h = 1e-6
            ahead, behind, here = f(x + h * axis), f(x - h * axis), f(x)
            curvature = (ahead - 2 * here + behind) / h**2
            assert curvature > 0
            assert abs(ahead - behind) / (2 * h) < 1e-6 * max(curvature, 1.0)


@pytest.mark.slow
@each()
def test_nothing_better_is_found_from_random_starts(problem):
    _, optimum = to_minimise(problem)
    found = list(polished(problem, 25, seed=1))
    assert min(r.fun for r in found) >= optimum - 8 * EPS * max(1.0, abs(optimum))


@pytest.mark.slow
@each()
def test_every_optimizer_is_listed_and_every_listed_one_is_found(problem):
    _, optimum = to_minimise(problem)
    width = np.ptp(np.array(problem.bounds), axis=1)
    best = [r.x for r in polished(problem, 60, seed=2) if r.fun < optimum + 1e-7]
    apart = np.array([[np.abs((x - y) / width).max() for y in problem.optimizers] for x in best])
    assert apart.min(axis=1).max() < 1e-4  # every optimizer found is listed
    assert apart.min(axis=0).max() < 1e-4  # every listed optimizer was found


# Surjanovic and Bingham, Virtual Library of Simulation Experiments; Dixon and Szego (1978).
LITERATURE = {
    "branin": (0.397887, 1e-6, [(-3.14159, 12.275), (3.14159, 2.275), (9.42478, 2.475)], 1e-5),
    "rosenbrock": (0.0, 0.0, [(1.0, 1.0)], 0.0),
    "hartmann3": (-3.86278, 1e-5, [(0.114614, 0.555649, 0.852547)], 5e-5),
    "hartmann6": (
        -3.32237,
        1e-5,
        [(0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573)],
        1e-5,
    ),
    "shekel": (-10.5364, 1e-4, [(4.0, 4.0, 4.0, 4.0)], 1e-3),
    "sines": (0.5, 0.0, [(np.pi / 6,)], 0.0),
}


@each()
def test_optimum_and_optimizers_are_those_of_the_literature(problem):
    value, close, points, near = LITERATURE[problem.name]
    assert problem.optimum == pytest.approx(value, abs=close)
    np.testing.assert_allclose(problem.optimizers, points, rtol=0, atol=near)


# Worked out by hand from the formulas.
BY_HAND = [
    ("branin", (0.0, 0.0), 36.0 + 10.0 * (1.0 - 1.0 / (8.0 * np.pi)) + 10.0),
    ("rosenbrock", (-1.2, 1.0), 24.2),
    ("rosenbrock", (0.0, 0.0), 1.0),
    ("sines", (0.0,), 0.0),
    ("sines", (np.pi / 30,), 0.5 * np.sin(0.9 * np.pi)),
]


@pytest.mark.parametrize(("name", "x", "value"), BY_HAND)
def test_value_worked_out_by_hand(name, x, value):
    assert problems.ALL[name](x) == pytest.approx(value, rel=1e-13, abs=1e-15)


@each()
def test_value_is_a_plain_float_for_lists_tuples_and_arrays(problem):
    middle = [(low + high) / 2 for low, high in problem.bounds]
    values = [problem(middle), problem(tuple(middle)), problem(np.array(middle))]
    assert [type(v) for v in values] == [float] * 3
    assert len(set(values)) == 1


@each()
@pytest.mark.parametrize("extra", [-1, 1])
def test_a_point_of_the_wrong_length_is_refused(problem, extra):
    with pytest.raises(bamsoo.errors.SpaceError, match=problem.name):
        problem(np.zeros(problem.dim + extra))
