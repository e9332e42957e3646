"""The solver of the small problems of climbs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from bamsoo.algorithms.auto.small import Derivatives, shortest, solved


def bowl(at, room, rows, curved=0.0):
    """The squared distance from a point, subject to constraints with a curvature."""

    def problem(z, multipliers):
        curvature = 2.0 * np.eye(len(z)) - multipliers.sum() * curved * np.eye(len(z))
        d = z - at
        return Derivatives(float(d @ d), 2.0 * d, curvature, room(z), rows(z))

    return problem


def ripples(seed, dim, count):
    """A wavy cost with curved constraints, of which some are active at its best points."""
    rng = np.random.default_rng(seed)
    at, A, B = rng.random(dim), rng.normal(size=(count, dim)), rng.normal(size=(count, dim))

    def problem(z, multipliers):
        d = z - at
        cost = float(d @ d) + 0.1 * float(np.sin(6.0 * z).sum())
        room = A @ d + 0.3 * np.sin(B * z).sum(1) - 0.2
        rows = A + 0.3 * B * np.cos(B * z)
        bends = -0.3 * multipliers @ (B**2 * np.sin(B * z))
        curvature = np.diag(2.0 - 3.6 * np.sin(6.0 * z) - bends)
        return Derivatives(cost, 2.0 * d + 0.6 * np.cos(6.0 * z), curvature, room, rows)

    return problem


def slsqp(problem, start, count):
    dim, at = len(start), lambda z: problem(z, np.zeros(count))
    return minimize(
        lambda z: at(z).cost, start, jac=lambda z: at(z).gradient, method="SLSQP",
        bounds=[(0.0, 1.0)] * dim, options={"ftol": 1e-12, "maxiter": 200},
        constraints={"type": "ineq", "fun": lambda z: at(z).room, "jac": lambda z: at(z).rows},
    )  # fmt: skip


@pytest.mark.parametrize("dim, count", [(2, 0), (3, 1), (6, 3), (15, 5)])
def test_solutions_are_as_good_as_those_of_slsqp_and_cost_far_less(dim, count):
    asked, theirs, lost = 0, 0, 0
    for seed in range(20):
        problem, start = ripples(seed, dim, count), np.random.default_rng(seed + 100).random(dim)

        def counted(z, multipliers, problem=problem):
            nonlocal asked
            asked += 1
            return problem(z, multipliers)

        z = solved(counted, start, np.zeros(dim), np.ones(dim), count, 30.0)
        other = slsqp(problem, start, count)
        theirs += other.nfev
        assert ((z >= 0.0) & (z <= 1.0)).all()
        ours, best = (problem(x, np.zeros(count)) for x in (z, np.clip(other.x, 0.0, 1.0)))
        # there may be several local solutions, even of being feasible
        lost += ours.merit(30.0) > best.merit(30.0) + 1e-6
    assert lost <= 4
    assert asked < 0.7 * theirs


def test_the_solver_stops_when_rounding_errors_are_all_that_is_left():
    def asked(rough):
        count = 0
        room, rows = lambda z: np.array([z.sum() - 1.2]), lambda z: np.ones((1, 3))
        smooth = bowl(np.full(3, 0.3), room, rows)

        def problem(z, multipliers):
            nonlocal count
            count += 1
            found = smooth(z, multipliers)
            return found._replace(cost=found.cost + rough * float(np.sin(1e9 * z).sum()))

        found = solved(problem, np.full(3, 0.9), np.zeros(3), np.ones(3), 1, 30.0)
        assert_allclose(found, 0.4, atol=1e-3)
        return count

    assert asked(0.0) < 5
    assert asked(1e-7) < 100


@pytest.mark.parametrize("size", [1.0, 1e-4, 1e-8])
def test_the_solver_meets_the_constraints_in_a_box_of_any_size(size):
    def problem(z, multipliers):
        d = (z - 0.4) / size
        off, disc = d - [0.9, 0.1], np.array([0.5 - d @ d])
        curvature = 2.0 * (1.0 + multipliers[0]) * np.eye(2) / size**2
        return Derivatives(
            float(off @ off), 2.0 * off / size, curvature, disc, -2.0 * d[None] / size
        )

    low, high = np.full(2, 0.4 - size), np.full(2, 0.4 + size)
    z = solved(problem, np.full(2, 0.4), low, high, 1, 30.0)
    expected = np.sqrt(0.5 / 0.82) * np.array([0.9, 0.1])  # the nearest point of the disc
    assert_allclose((z - 0.4) / size, expected, atol=1e-7)


@pytest.mark.parametrize("penalty", [0.1, 0.3, 30.0])
def test_constraints_that_contradict_each_other_end_in_a_compromise(penalty):
    room = lambda z: np.array([z[1] - 0.75, 0.25 - z[1]])
    rows = lambda z: np.array([[0.0, 1.0], [0.0, -1.0]])
    z = solved(bowl(np.zeros(2), room, rows), np.full(2, 0.9), np.zeros(2), np.ones(2), 2, penalty)
    # z^2 + penalty v + v^2 / 2 is smallest, with v = 0.75 - z up to z = 0.5, where v is smallest
    assert_allclose(z, [0.0, min((penalty + 0.75) / 3.0, 0.5)], atol=1e-6)


def test_an_axis_without_width_stays_where_it_is():
    room, rows = lambda z: np.array([z.sum() - 1.0]), lambda z: np.ones((1, 2))
    low, high = np.array([0.4, 0.0]), np.array([0.4, 1.0])
    found = solved(bowl(np.zeros(2), room, rows), np.array([0.9, 0.1]), low, high, 1, 30.0)
    assert_allclose(found, [0.4, 0.6], atol=1e-9)
    point = np.full(2, 0.3)
    assert_allclose(solved(bowl(np.zeros(2), room, rows), point, point, point, 1, 30.0), point)


def test_a_small_penalty_is_raised_where_the_constraints_can_be_met():
    room, rows = lambda z: 1e-4 * np.array([z.sum() - 1.0]), lambda z: np.full((1, 2), 1e-4)
    found = solved(bowl(np.zeros(2), room, rows), np.zeros(2), np.zeros(2), np.ones(2), 1, 1.0)
    assert_allclose(found, 0.5, atol=1e-6)


def test_the_shortest_vector_is_found_with_its_multipliers():
    P = np.array([[2.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    y, multipliers = shortest(P, np.array([6.0, 1.0, -10.0]))
    assert_allclose(y, [3.0, 1.0])
    assert_allclose(multipliers, [1.5, 1.0, 0.0], atol=1e-12)  # y = P' multipliers
    assert shortest(P, np.array([6.0, 1.0, -3.0]))[0] is None
