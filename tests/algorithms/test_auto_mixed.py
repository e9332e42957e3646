"""The default algorithm with whole numbers and options, and with failing evaluations."""

from dataclasses import replace
from math import erf, exp, pi, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import bamsoo
from bamsoo import Choice, Int, Real
from bamsoo.algorithms.auto.candidates import Candidates, improvement
from bamsoo.algorithms.auto.climb import ClimbConstants, edge_of
from bamsoo.algorithms.auto.demand import Demand
from bamsoo.algorithms.auto.failures import Failures
from bamsoo.algorithms.auto.local import Model
from bamsoo.algorithms.auto.loop import CONSTANTS, design
from bamsoo.algorithms.auto.schedule import Focus
from bamsoo.algorithms.book import Book
from bamsoo.algorithms.search import Outcome
from bamsoo.algorithms.tree import Status, Tree
from bamsoo.kernels import Matern52
from bamsoo.model.gp import GP
from bamsoo.space import Space

SPACE = {
    "rate": Real(1e-4, 1.0, log=True),
    "size": Int(1, 64, log=True),
    "count": Int(0, 9),
    "kind": Choice(["a", "b", "c"]),
}
DOMAIN = Space(SPACE).domain


def mixed(rate, size, count, kind):
    return (
        (np.log10(rate) + 2) ** 2
        + abs(np.log2(size) - 3)
        + (count - 7) ** 2 / 9
        + "cab".index(kind)
    )


@pytest.mark.parametrize("seed", range(3))
def test_it_finds_the_best_of_a_mixed_space(seed):
    r = bamsoo.minimize(mixed, SPACE, 60, seed=seed)
    assert (r.params["kind"], r.params["size"], r.params["count"]) == ("c", 8, 7)
    assert r.fun < 0.01


@pytest.mark.parametrize("seed", range(3))
def test_a_space_of_whole_numbers_alone_has_steps_outside_the_tree_too(seed):
    space = {f"x{i}": Int(0, 30) for i in range(4)}
    best = {f"x{i}": 5 * i + 7 for i in range(4)}
    r = bamsoo.minimize(
        lambda **x: float(sum((x[n] - best[n]) ** 2 for n in x)), space, 60, seed=seed
    )
    assert r.fun <= 2


def test_every_option_is_tried_early():
    space = {"x": (0, 1), "kind": Choice(list("abcdef"))}
    r = bamsoo.minimize(lambda x, kind: x, space, 8)
    assert {params["kind"] for params in r.X} == set("abcdef")


def test_a_parameter_with_hundreds_of_options_does_not_spend_the_budget_on_them():
    points = design(Space({"kind": Choice(range(200)), "x": (0, 1)}).domain, rng())
    assert len(points) == 12


def test_the_first_points_are_a_latin_hypercube():
    points = design(Space([(0, 1)] * 7).domain, rng())
    assert points.shape == (7, 7)
    for column in points.T:
        assert sorted((column * 7).astype(int).tolist()) == list(range(7))


def test_values_known_from_before_replace_the_first_design():
    opt = bamsoo.Optimizer(SPACE)
    random = np.random.default_rng(0)
    for _ in range(10):
        x = Space(SPACE).decode(DOMAIN.snap(random.random(4)))
        params = Space(SPACE).params(x)
        opt.tell(params, mixed(**params))
    for _ in range(4):
        trial = opt.ask()
        opt.tell(trial, mixed(**trial.params))
    in_tree = (opt.result.tree.status == Status.EVALUATED).sum()
    assert in_tree >= 2


def rng(seed=0):
    return np.random.default_rng(seed)


@given(st.integers(0, 10_000), st.lists(st.integers(0, 10**6), max_size=12))
def test_drawn_points_lie_in_their_cells_and_on_the_domain(seed, path):
    tree = Tree(DOMAIN, 2, rng(seed))
    leaf = 0
    for step in path:
        children = tree.split(leaf)
        if not children:
            break
        leaf = children[step % len(children)]
    x = tree.centre(leaf)
    assert np.all((x >= tree.low[leaf]) & (x <= tree.high[leaf]))
    assert_allclose(DOMAIN.snap(x), x, atol=0)


def test_the_seed_decides_the_drawn_points():
    runs = [bamsoo.minimize(mixed, SPACE, 25, seed=seed).X for seed in (1, 1, 2)]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def test_at_least_every_seventh_evaluation_is_in_the_tree():
    r = bamsoo.minimize(mixed, SPACE, 120)
    design_and_root = 1 + DOMAIN.dim
    assert (r.tree.status == Status.EVALUATED).sum() >= (120 - design_and_root) // 7


# --- steps near the best


def candidates_in(domain, seed=0):
    """The candidates of a search that knows nothing yet."""
    book, tree = Book(), Tree(domain, 2, rng(seed))
    book.begin(tree, GP(Matern52(0.5), domain.dim, domain=domain))
    failures = Failures(domain, book, CONSTANTS.failures, CONSTANTS.learning)
    demand = Demand(book, rng(seed), CONSTANTS.demand)
    return Candidates(domain, tree, book, failures, demand, rng(seed), CONSTANTS.candidates)


@given(st.integers(0, 1000))
def test_neighbours_are_points_of_the_domain_and_differ_from_their_parents(seed):
    near = candidates_in(DOMAIN, seed)
    parents = np.array([DOMAIN.snap(u) for u in rng(seed + 1).random((20, 4))])
    found = near._neighbours(parents)
    assert_allclose([DOMAIN.snap(x) for x in found], found, atol=0)
    assert np.all((found >= 0) & (found <= 1))
    discrete = found[:, 1:] != parents[:, 1:]
    moved = discrete.any(axis=1) | (found[:, 0] != parents[:, 0])
    at_edge = np.isin(parents[:, 0], (0.0, 1.0))
    assert np.all(moved | at_edge)


def test_known_and_pending_points_are_not_proposed_again():
    domain = Space({"a": Int(0, 1), "b": Choice(["x", "y"])}).domain
    near = candidates_in(domain)
    X = np.array([[0.25, 0.25], [0.75, 0.25], [0.25, 0.75]])
    near._book.receive([Outcome(None, x, 0.0) for x in X])
    focus = Focus((), np.arange(3), 0)
    last = near.propose(focus)
    assert last.x.tolist() == [0.75, 0.75]
    near._book.expect(last.x)
    assert near.propose(focus) is None


def test_there_are_candidates_however_large_the_model_is():
    near = candidates_in(DOMAIN)
    near._constants = replace(CONSTANTS.candidates, work=0.0)
    near._book.receive([Outcome(None, DOMAIN.snap(np.full(4, 0.5)), 0.0)])
    assert near.propose(Focus((), np.arange(1), 0)) is not None


def test_expected_improvement_is_the_closed_form():
    mu, sigma, best = np.array([0.3, -1.0, 2.0]), np.array([0.5, 1.0, 1e-3]), 0.4
    expected = []
    for m, s in zip(mu, sigma, strict=True):
        u = (m - best) / s
        density, share = exp(-u * u / 2) / sqrt(2 * pi), (1 + erf(u / sqrt(2))) / 2
        expected.append((m - best) * share + s * density)
    assert_allclose(improvement(mu, sigma, best), expected, rtol=1e-9)


def test_hopeless_candidates_still_have_an_order():
    gain = improvement(np.array([-1.0, -2.0]), np.full(2, 1e-9), 0.0)
    assert gain[0] > gain[1]


# --- failures


def test_it_avoids_a_failing_region_and_finds_the_optimum_on_its_edge():
    def f(x):
        return None if x[0] + 0.3 * x[1] < 2.1 else float(x @ x)

    r = bamsoo.minimize(f, [(-5, 5)] * 2, 60)
    assert r.nfailed < 30  # of steps that bisect the edge, about every second fails
    assert r.fun - 2.1**2 / 1.09 < 1e-3


def test_random_crashes_do_not_keep_the_search_away():
    random = np.random.default_rng(5)

    def f(x):
        return None if random.random() < 0.3 else float(((x - 0.3) ** 2).sum())

    r = bamsoo.minimize(f, [(0, 1)] * 2, 60)
    assert r.fun < 1e-3


def test_while_every_evaluation_fails_the_search_looks_everywhere():
    opt = bamsoo.Optimizer([(0, 1)])
    seen = []
    for _ in range(15):
        trial = opt.ask()
        seen.append(float(trial.x[0]))
        opt.tell(trial, None)
    assert np.diff(np.sort([0.0, *seen, 1.0])).max() <= 0.13


def test_a_failing_option_is_soon_abandoned():
    space = {"x": (0.0, 1.0), "kind": Choice(["works", "fails"])}
    r = bamsoo.minimize(lambda x, kind: x**2 if kind == "works" else None, space, 30)
    assert r.nfailed <= 8
    assert r.fun < 1e-3


def failing(good, bad):
    book = Book()
    domain = Space([(0, 1)] * 2).domain
    book.begin()
    for x in good:
        book.receive([Outcome(None, np.array(x), 0.0)])
    for i, x in enumerate(bad):
        book.out[i] = (np.array(x), None)
        book.receive([Outcome(i, np.array(x), float("nan"))])
    return Failures(domain, book, CONSTANTS.failures, CONSTANTS.learning)


def test_success_is_probable_near_successes_and_improbable_near_failures():
    model = failing([[0.8, y] for y in (0.1, 0.5, 0.9)], [[0.2, y] for y in (0.1, 0.5, 0.9)])
    there, here = model.success(np.array([[0.15, 0.4], [0.85, 0.4]]))
    assert there < 0.01 < 0.5 < here
    assert model.expected_at(np.array([0.2, 0.3]))
    assert not model.expected_at(np.array([0.8, 0.3]))


def test_no_failure_is_expected_if_nothing_has_failed():
    model = failing([[0.5, 0.5]], [])
    assert not model.known
    assert not model.expected_at(np.array([0.1, 0.1]))
    assert_allclose(model.success(np.zeros((3, 2))), 1.0)


def a_model(Z):
    dim = Z.shape[1]
    return Model(0.0, np.eye(dim), Z, np.ones(dim), 0.0, np.zeros(len(Z)), 1.0, np.zeros(len(Z)))


def test_the_edge_is_half_way_between_successes_and_failures():
    good = np.array([[0.0, 0.0], [0.5, 0.3], [0.4, -0.6]])
    edge = edge_of(
        a_model(good), np.array([[-0.2, 0.0], [-0.3, 0.8], [-0.5, -1.0]]), ClimbConstants()
    )
    at = lambda z: float(edge.w @ z + edge.b)
    assert at(np.array([-0.1, 0.0])) == pytest.approx(0.0, abs=1e-3)
    assert all(at(z) > 0 for z in good)
    assert at(np.array([-0.2, 0.0])) < 0


def test_there_is_no_edge_if_no_plane_separates_the_two_sides():
    good = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    assert edge_of(a_model(good), np.array([[0.5, 0.0]]), ClimbConstants()) is None


@pytest.mark.parametrize("edge", [0.3, 0.4, 0.48])
def test_steps_along_a_bound_next_to_failures_stay_inside(edge):
    opt = bamsoo.Optimizer({"x": (0, 1), "y": (-2, 2)})
    for _ in range(40):
        trial = opt.ask()
        x, y = trial.x
        assert 0.0 <= x <= 1.0
        assert -2.0 <= y <= 2.0
        opt.tell(trial, x + abs(y) if x <= edge else None)
