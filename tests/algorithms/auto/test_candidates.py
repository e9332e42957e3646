"""Candidates near the best points, and the improvement that is expected of them."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from mixed_space import DOMAIN
from numpy.testing import assert_allclose
from searches import rng

from bamsoo import Choice, Int, Real
from bamsoo.algorithms.auto.candidates import Candidates
from bamsoo.algorithms.auto.demand import Demand
from bamsoo.algorithms.auto.failures import Failures
from bamsoo.algorithms.auto.loop import CONSTANTS
from bamsoo.algorithms.auto.schedule import Branch, Focus
from bamsoo.algorithms.book import Book
from bamsoo.algorithms.search import Outcome
from bamsoo.algorithms.tree import Tree
from bamsoo.kernels import Matern52
from bamsoo.model.gp import GP
from bamsoo.space import Space


def candidates_in(domain, seed=0, noise=0.0):
    """The candidates of a search that knows nothing yet."""
    book, tree = Book(), Tree(domain, 2, rng(seed))
    book.begin(tree, GP(Matern52(0.5), domain.dim, noise=noise, domain=domain))
    failures = Failures(domain, book, CONSTANTS.failures, CONSTANTS.learning)
    demand = Demand(domain, book, rng(seed), CONSTANTS.demand)
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
    near._book.receive([Outcome(None, x, (0.0,)) for x in X])
    focus = Focus((), np.arange(3), 0)
    last = near.propose(focus)
    assert last.x.tolist() == [0.75, 0.75]
    near._book.expect(last.x)
    assert near.propose(focus) is None


def test_under_noise_known_points_are_proposed_again():
    domain = Space({"a": Int(0, 1), "b": Choice(["x", "y"])}).domain
    near = candidates_in(domain, noise=0.1)
    X = np.array([[0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75]])
    near._book.receive([Outcome(None, x, (float(x[0] == x[1] == 0.25),)) for x in X])
    assert near.propose(Focus((), np.arange(4), 0)).x.tolist() == [0.25, 0.25]


def test_there_are_candidates_however_large_the_model_is():
    near = candidates_in(DOMAIN)
    near._constants = replace(CONSTANTS.candidates, work=0.0)
    near._book.receive([Outcome(None, DOMAIN.snap(np.full(4, 0.5)), (0.0,))])
    drawn, kinds = [], near._three_kinds
    near._three_kinds = lambda parents, good, count: (
        drawn.append(count) or kinds(parents, good, count)
    )
    assert near.propose(Focus((), np.arange(1), 0)) is not None
    assert drawn == [32]


def test_a_finished_option_promises_less_than_one_of_which_little_is_known():
    unit = Real(0.0, 1.0)
    domain = Space({"o": Choice({"a": {"x": unit}, "b": {"y": unit}})}).domain
    near = candidates_in(domain)
    a, b = (domain.axes[0].centre(i) for i in (0, 1))
    X = [[a, x, 0.5] for x in np.linspace(0.0, 1.0, 15)] + [[b, 0.5, 0.3]]
    near._book.receive(
        [Outcome(None, np.array(x), (2.0 - (x[1] - 0.5) ** 2 if x[0] == a else 0.5,)) for x in X]
    )
    first, second = near.promise(
        [Branch(((0, a),), np.arange(15)[::-1]), Branch(((0, b),), np.array([15]))]
    )
    assert 0.0 <= first < second
