"""Candidates from all over the space, of which the most promising one is evaluated.

Candidates come from three sources. Some are drawn from random leaves of the tree, so that they lie
as densely as the tree has split the space: sparsely where it is not promising, and densely where it
is. Some are neighbours of the best points, moved along a few axes of any kind. Some are mixtures of
good points, which take each parameter from one of them. The global model ranks all of them by
expected improvement, and the first is evaluated. Nothing is optimised over the whole space.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from ...base.typing import Array
from ...space.axes import Discrete, Domain, Mask
from ..book import Book
from ..search import CANDIDATE
from ..tree import Tree
from .demand import Demand
from .failures import Failures
from .schedule import Branch, Focus, Proposal
from .worth import Above, Worth


@dataclass(frozen=True)
class CandidateConstants:
    """Constants of the candidates."""

    work: float = 30_000.0
    """The number of candidates of each of the three kinds is this over the number of points in the
    GP, so that ranking them does not cost more as the GP grows."""

    counts: tuple[int, int] = (32, 256)
    """The smallest and the largest number of candidates of each kind, whatever `work` says. The
    constraints of as many as the smallest number are predicted together."""

    parents: int = 5
    """Neighbours are drawn around this many of the best points. Around the best point alone, the
    search would stay in one basin."""

    falling: float = 0.6
    """The probability that a neighbour is drawn around one of these points, relative to that of the
    next better point."""

    axes: float = 2.0
    """The number of axes along which a neighbour is moved, on average. A better point usually
    differs in a few parameters only."""

    sizes: tuple[float, float] = (0.01, 0.5)
    """The standard deviation of a neighbour's step is drawn between these, evenly on a log scale,
    as a share of each axis. Small steps refine a good point, and large ones leave its basin."""

    crossed: float = 0.3
    """Mixtures take each parameter from a random point among this share of the best ones. What is
    good in one of these points is often good in the others too."""


class Candidates:
    """Proposes the candidate with the largest expected improvement.

    Parameters
    ----------
    domain : Domain
    tree : Tree
    book : Book
    failures : Failures
    demand : Demand
    rng : Generator
    constants : CandidateConstants
    """

    origin = CANDIDATE

    def __init__(
        self,
        domain: Domain,
        tree: Tree,
        book: Book,
        failures: Failures,
        demand: Demand,
        rng: np.random.Generator,
        constants: CandidateConstants,
    ) -> None:
        self._domain, self._tree, self._book = domain, tree, book
        self._failures, self._demand = failures, demand
        self._worth = Worth(book, failures)
        self._rng, self._constants = rng, constants

    def judge(self, step: Proposal, better: bool, row: int | None) -> None:
        """Nothing is learned from single steps."""

    def propose(self, focus: Focus) -> Proposal | None:
        """The most promising candidate, or None if every candidate is known or pending.

        As long as no feasible point is known, the probability of meeting the measured constraints
        replaces expected improvement. Under noise, the best points are candidates for another
        evaluation.
        """
        constants, book, known = self._constants, self._book, self._book.known
        goal = Above(self._demand.goal(focus.rows)) if self._improves else None
        X = self._domain.pin(known.X[known.order(book.beliefs.values(), focus.rows)])
        count = self._count
        best = min(constants.parents, len(X))
        parents = X[self._rng.choice(best, count, p=_falling(best, constants.falling))]
        good = X[: max(int(constants.crossed * len(X)), best)]
        found = self._three_kinds(parents, good, count)
        for axis, option in focus.path:
            found = found[found[:, axis] == option]
        found = found[self._domain.allows(found)]
        again = max(self._worth.noises) > 0.0
        if again:
            found = np.vstack([found, X[:best]])
        if not len(found):
            return None
        failing = self._failures.expects(found)
        if not failing.all():
            found = found[~failing]
        dull = self._demand.is_dull(found)
        if not dull.all():
            found = found[~dull]
        least = 4.0 * self._domain.finest  # closer points may be equal after rounding
        order = self._ranked(found, self._worth.of(found, goal))
        new = (i for i in order if again or book.is_new(found[i], least))
        return None if (i := next(new, None)) is None else Proposal(found[i])

    def promise(self, branches: Sequence[Branch]) -> Array:
        """The most that a point of each branch is expected to gain over the best value.

        Half of the points are neighbours of the best points of the branch, and half are drawn from
        all of it. As long as no feasible point is known, the probability of meeting the measured
        constraints replaces expected improvement.
        """
        book, domain = self._book, self._domain
        each = max(self._count // len(branches), 2)
        found = np.empty((len(branches), each, domain.dim))
        for i, (path, rows) in enumerate(branches):
            best = domain.pin(book.known.X[rows[: self._constants.parents]])
            near = self._neighbours(best[self._rng.integers(len(best), size=each // 2)])
            found[i] = np.vstack([near, self._rng.random((each - len(near), domain.dim))])
            for axis, option in path:
                found[i, :, axis] = option
        points = np.array([domain.snap(x) for x in found.reshape(-1, domain.dim)])
        goal = Above(book.f_plus) if self._improves else None
        gain = self._worth.of(points, goal, again=False) * self._worth.meets(points)
        return np.asarray(gain.reshape(len(branches), each).max(1))

    @property
    def _improves(self) -> bool:
        """Whether there is a feasible value that can be improved."""
        return self._book.limits is None or self._book.known.met

    @property
    def _count(self) -> int:
        """The number of candidates of each kind."""
        gp, constants = self._book.gp, self._constants
        assert gp is not None
        return int(np.clip(constants.work / max(gp.t, 1), *constants.counts))

    @property
    def total(self) -> int:
        """The number of candidates of all three kinds together."""
        return 3 * self._count

    def around(self, X: Array, front: int) -> Array:
        """Candidates of all three kinds, given the known points, of which the first are a front.

        Each point of the front is as likely a parent. Under noise, these points are candidates too.
        """
        count, good = self._count, X[: max(front, self._constants.parents)]
        parents = good[self._rng.integers(len(good), size=count)]
        found = self._three_kinds(parents, good, count)
        return np.vstack([found, good]) if self._book.noisy else found

    def _three_kinds(self, parents: Array, good: Array, count: int) -> Array:
        return np.vstack(
            [self._neighbours(parents), self._crossed(good, count), self._in_leaves(count)]
        )

    def _ranked(self, found: Array, gain: Array) -> Iterator[int]:
        """The candidates by their gain times the probability of meeting the constraints.

        The probability is at most 1, so it is computed only for as many of them, in the order of
        their gains, as it takes to know which one is next.
        """
        order = np.argsort(-gain, kind="stable")
        if self._book.limits is None:
            yield from order.tolist()
            return
        seen: list[tuple[float, int]] = []
        at_once, _ = self._constants.counts
        for begin in range(0, len(order), at_once):
            some = order[begin : begin + at_once]
            while seen and -seen[0][0] >= gain[some[0]]:
                yield heappop(seen)[1]
            for i, p in zip(some.tolist(), self._worth.meets(found[some]).tolist(), strict=True):
                heappush(seen, (-float(gain[i]) * p, i))
        while seen:
            yield heappop(seen)[1]

    def _neighbours(self, parents: Array) -> Array:
        """Each parent, moved along a few of its axes by a step of random size."""
        rng, domain, constants = self._rng, self._domain, self._constants
        count, dim = parents.shape
        there = domain.exists(parents)
        moved = rng.random((count, dim)) < np.minimum(1.0, constants.axes / there.sum(1))[:, None]
        moved[np.arange(count), self._one_of(there)] = True
        moved &= there
        low, high = np.log(constants.sizes)
        size = np.exp(rng.uniform(low, high, (count, 1)))
        step = rng.standard_normal((count, dim)) * size
        X: Array = np.where(moved, np.clip(parents + step, 0.0, 1.0), parents)
        for i, axis in domain.discrete:
            for j in np.flatnonzero(moved[:, i]).tolist():
                X[j, i] = self._other(axis, float(parents[j, i]), float(X[j, i]))
        return self._filled(X, there) if domain.conditional else X

    def _crossed(self, good: Array, count: int) -> Array:
        """Mixtures that take each parameter from a random one of the good points."""
        chosen = self._rng.integers(len(good), size=(count, self._domain.dim))
        X: Array = good[chosen, np.arange(self._domain.dim)]
        return np.array([self._domain.snap(x) for x in X]) if self._domain.conditional else X

    def _one_of(self, there: Mask) -> NDArray[np.int64]:
        """For each row, one of the axes that exist there."""
        count, dim = there.shape
        if not self._domain.conditional:
            return np.asarray(self._rng.integers(dim, size=count))
        chosen = self._rng.integers(there.sum(1))
        return np.array([np.flatnonzero(row)[i] for row, i in zip(there, chosen, strict=True)])

    def _filled(self, X: Array, before: Mask) -> Array:
        """The points, with values drawn for the axes that exist only since an option changed."""
        drawn = np.where(before, X, self._rng.random(X.shape))
        return np.array([self._domain.snap(x) for x in drawn])

    def _other(self, axis: Discrete, before: float, u: float) -> float:
        """A value other than the one before.

        For whole numbers it is the one at u, or a neighbour if that is the value before; for
        options it is any other option.
        """
        if axis.count == 1:
            return before
        here, there = axis.at(before), axis.at(u)
        if not axis.ordered:
            there = (here + 1 + int(self._rng.integers(axis.count - 1))) % axis.count
        elif here == there:
            there += 1 if self._rng.random() < 0.5 else -1
            there = 1 if there < 0 else axis.count - 2 if there == axis.count else there
        return axis.centre(there)

    def _in_leaves(self, count: int) -> Array:
        """Up to `count` points, each drawn from a leaf that is drawn too."""
        rng, tree = self._rng, self._tree
        nodes = [n for n in rng.integers(len(tree), size=3 * count).tolist() if tree.is_leaf(n)]
        nodes = nodes[:count]
        low, high = tree.low[nodes], tree.high[nodes]
        X: Array = low + (high - low) * rng.random(low.shape)
        if not tree.uniform:
            for i, axis in self._domain.discrete:
                X[:, i] = [axis.centre(axis.at(float(u))) for u in X[:, i]]
        return self._domain.canonical(X)


def _falling(count: int, base: float) -> Array:
    weights = base ** np.arange(count)
    return np.asarray(weights / weights.sum())
