"""No algorithm asks for a point that violates a constraint known in advance."""

from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint
from searches import MAIN, QUICK, REPEATING

import bamsoo
from bamsoo.algorithms import BY_NAME, tree
from bamsoo.algorithms.book import NONE_ALLOWED
from bamsoo.algorithms.tree import Status
from bamsoo.run.loop import Ending
from bamsoo.space import region

ALL = [pytest.param(QUICK.get(name, name), id=name) for name in sorted(BY_NAME)]
ONCE = [each for each in ALL if each.id not in REPEATING]


def slow_but_for(*quick, among=ALL):
    """These algorithms; a test with any but the quick ones is slow."""
    slow = {each.id: () if each.id in quick else pytest.mark.slow for each in among}
    return [pytest.param(*each.values, id=each.id, marks=slow[each.id]) for each in among]


BOX = [(0, 1), (0, 1)]
FEW = settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def bowl(x):
    return float(((np.asarray(x) - 0.6) ** 2).sum())


def mixed_bowl(x, n, kind):
    return (x - 0.3) ** 2 + (n - 4) ** 2 + (kind == "b")


@st.composite
def half_spaces(draw):
    """A few half-spaces that have a point in common, so that at least something is allowed."""
    dim = draw(st.integers(1, 3))
    number = st.floats(-1.0, 1.0, allow_nan=False)
    inside = np.array(draw(st.lists(st.floats(0.05, 0.95), min_size=dim, max_size=dim)))
    rows = draw(st.lists(st.lists(number, min_size=dim, max_size=dim), min_size=1, max_size=3))
    slack = draw(st.sampled_from([1e-3, 0.1, 0.5]))
    return dim, np.array(rows), np.array(rows) @ inside + slack


@pytest.mark.parametrize(
    "algorithm",
    slow_but_for("auto", "soo", among=[each for each in ONCE if each.id != "shrinking"]),
)
@FEW
@given(half_spaces())
def test_no_point_violates_a_constraint_and_none_is_asked_for_twice(algorithm, given):
    dim, A, b = given
    r = bamsoo.minimize(
        bowl,
        [(0, 1)] * dim,
        12,
        algorithm=algorithm,
        constraints=[lambda x: float((A @ x - b).max())],
    )
    assert all((b >= A @ x).all() for x in r.X)  # rounded as in the constraint
    assert r.nfev == 12
    assert len({x.tobytes() for x in r.X}) == len(r.X)
    assert r.feasible.all()


def test_shrinking_stays_inside_a_half_space():
    # not part of the test above: too few points of its lattices lie in a small set to draw one
    r = bamsoo.minimize(bowl, BOX, 20, algorithm="shrinking", constraints=[lambda x: x.sum() - 0.8])
    assert (r.X.sum(axis=1) <= 0.8).all()
    assert r.nfev == 20


@pytest.mark.parametrize("algorithm", ALL)
def test_no_point_of_a_mixed_space_violates_a_constraint(algorithm):
    space = {"x": (0.0, 1.0), "n": bamsoo.Int(0, 9), "kind": bamsoo.Choice(["a", "b"])}

    def allowed(x, n, kind):
        return n + 3 * x <= 3 if kind == "a" else n == 5 and x > 0.9

    r = bamsoo.minimize(mixed_bowl, space, 15, algorithm=algorithm, constraints=[allowed])
    assert all(allowed(**point) for point in r.X)
    if algorithm == "shrinking":  # few points of its lattice are allowed
        assert r.status == Ending.EXHAUSTED
        assert 5 <= r.nfev < 15
    else:
        assert r.nfev == 15


THIN = {
    "band": (2, lambda x: abs(x[0] - x[1]) - 1e-3),
    "circle": (2, lambda x: abs(x @ x - 0.5) - 1e-6),
    "plane": (3, LinearConstraint(np.ones((1, 3)), 1, 1)),
    "simplex in 8-D": (8, lambda x: bool(x.sum() <= 1)),
}
DIFFERENT = ("auto", "soo", "gp-ucb")
"""Searches that look for allowed points in different ways. The other trees do it as SOO does, so
each of them is tried on one of the sets."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "name"),
    [
        pytest.param(*each.values, name, id=f"{name}-{each.id}")
        for i, each in enumerate(ALL)
        for j, name in enumerate(THIN)
        if each.id in DIFFERENT or i % len(THIN) == j
    ],
)
def test_points_are_found_in_thin_sets(algorithm, name):
    dim, constraint = THIN[name]
    if algorithm == "shrinking" and dim > 7:
        pytest.skip("its lattice does not fit")
    r = bamsoo.minimize(bowl, [(0, 1)] * dim, 8, algorithm=algorithm, constraints=[constraint])
    assert r.nfev == 8
    if callable(constraint):
        assert all(constraint(x) is True or constraint(x) <= 0 for x in r.X)
    else:
        assert np.abs(r.X.sum(axis=1) - 1.0).max() <= 1e-8 + 1e-15  # the sum is rounded


@pytest.mark.parametrize("algorithm", [each for each in ALL if each.id in MAIN])
def test_the_same_seed_gives_the_same_points(algorithm):
    run = partial(bamsoo.minimize, bowl, [(0, 1)] * 2, 8, algorithm=algorithm, seed=3)
    first = run(constraints=[lambda x: x.sum() - 0.8])
    assert np.array_equal(first.X, run(constraints=[lambda x: x.sum() - 0.8]).X)


@pytest.mark.parametrize("algorithm", [each for each in ALL if each.id in MAIN])
def test_the_message_says_that_no_point_is_allowed(algorithm, monkeypatch):
    monkeypatch.setattr(tree, "TRIES", 4)  # fewer than by default, to save time
    monkeypatch.setattr(tree, "_IN_VAIN", 100)
    for module in (region, tree):
        monkeypatch.setattr(module, "TRIES_AT_FIRST", 20)
    r = bamsoo.minimize(bowl, BOX, 5, algorithm=algorithm, constraints=[lambda x: 1.0])
    assert not r.success
    assert r.nfev == 0
    assert NONE_ALLOWED in r.message


@pytest.mark.parametrize("algorithm", ONCE)
def test_every_allowed_point_of_a_finite_space_is_found(algorithm):
    space = {"a": bamsoo.Int(0, 5), "b": bamsoo.Int(0, 5)}
    r = bamsoo.minimize(
        lambda a, b: a - b, space, 100, algorithm=algorithm, constraints=[lambda a, b: a * b == 6]
    )
    assert sorted((p["a"], p["b"]) for p in r.X) == [(2, 3), (3, 2)]


def test_a_cell_without_an_allowed_point_is_split_when_nothing_else_is_left():
    # Allowed are a large part of the left half, and a corner that is so small that the first search
    # of the quarter around it does not find it.
    corner = np.array([0.999, 0.999])

    def allowed(x):
        return bool(x[0] <= 0.4 or np.abs(x - corner).max() < 5e-4)

    opt = bamsoo.Optimizer([(0, 1)] * 2, algorithm="soo", constraints=[allowed])
    for _ in range(60):
        trial = opt.ask()
        opt.tell(trial, bowl(trial.x))
    tree = opt.result.tree
    barred = tree.status == Status.BARRED
    assert barred.any()
    assert any(not tree.is_leaf(int(node)) for node in np.flatnonzero(barred))


@pytest.mark.parametrize("algorithm", ["stosoo", "stroquool"])
def test_repeated_points_are_allowed(algorithm):
    r = bamsoo.minimize(bowl, BOX, 40, algorithm=algorithm, constraints=[lambda x: x.sum() - 0.8])
    assert (r.X.sum(axis=1) <= 0.8).all()
    assert r.nfev == 40


def test_an_algorithm_of_the_users_own_cannot_ask_for_a_forbidden_point():
    class Stubborn(bamsoo.algorithms.Algorithm):
        """Asks for the points of a grid, whatever the constraints say."""

        def start(self, domain, rng, book):
            book.begin()
            for u in np.linspace(0.0, 1.0, 11):
                yield from book.evaluate_point(np.array([u]))
            return "the grid is done"

    r = bamsoo.minimize(
        bowl, [(0, 1)], 50, algorithm=Stubborn(), constraints=[lambda x: x[0] - 0.45]
    )
    assert r.X[:, 0].max() <= 0.45
    assert r.nfev == 5


def test_a_value_at_a_forbidden_point_informs_the_model_but_is_never_the_best():
    opt = bamsoo.Optimizer([(0, 1)] * 2, constraints=[lambda x: x.sum() - 1.0])
    opt.tell([0.9, 0.9], -100.0)
    for _ in range(15):
        trial = opt.ask()
        opt.tell(trial, bowl(trial.x))
    r = opt.result
    assert not r.feasible[0]
    assert r.feasible[1:].all()
    assert r.fun > -1.0


@pytest.mark.slow
def test_an_optimum_on_a_linear_constraint_is_found_precisely():
    r = bamsoo.minimize(
        bowl, [(0, 1)] * 4, 40, constraints=[LinearConstraint(np.ones((1, 4)), -np.inf, 1.0)]
    )
    assert r.fun == pytest.approx(4 * 0.35**2, abs=1e-5)
