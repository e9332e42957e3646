r"""Steps along single axes, for functions that are sums of functions of one parameter each.

A sum :math:`f(x) = \sum_d g_d(x_d)` shows itself without any model. If all coordinates of a point
have been met at other points, its value follows from theirs, as that of the fourth corner of a
rectangle follows from the other three. A value that differs refutes the sum. A value that is as
predicted confirms it for each two of its coordinates that have not been met together elsewhere.

From then on, a point with one new coordinate tells what this coordinate contributes, wherever the
others are. So the search is that of one function of one parameter for each axis (`line`). The next
step goes along the axis where most can be gained. Now and then a step goes to the tops of all axes
at once: one value does not say which of them was wrong, but all of them gain at the same time.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...base.typing import Array
from ...space.axes import Domain
from ..book import Book
from ..search import LOCAL
from .line import Line, LineConstants, Move, far, near
from .regime import Regime
from .schedule import Focus, Proposal

LARGEST = np.finfo(float).max ** 0.25
"""Curvatures and squares of differences of values up to this size are finite."""


@dataclass(frozen=True)
class AxesConstants:
    """Constants of the steps along single axes."""

    active: bool = True
    """Whether there are such steps."""

    exact: float = 1e-4
    """A value is as predicted if it differs by at most this share of the second largest change
    along an axis. Parameters that interact differ by far more. With 1e-6, relative errors of 1e-6
    in the values hide that a function is a sum. Once a sum is confirmed, differences below this
    share of the values do not refute it: the values may have small errors."""

    rounding: float = 1e-14
    """Differences below this share of the values are rounding errors."""

    enough: float = 0.5
    """The share of the pairs of axes that have to be tested before a sum counts as confirmed. One
    step tests most of them, and all would take several. Later values test the others, since each
    point of the tree and of the tops of all axes may refute the sum."""

    line: LineConstants = field(default_factory=LineConstants)


class Sum(NamedTuple):
    """What the values say if the function is a sum, and what speaks for that."""

    lines: list[Line]
    best: int
    """The row of the best point all of whose coordinates have known contributions."""
    told: NDArray[np.bool_]
    """The rows whose values told the contributions."""
    refuted: bool
    """Whether some value differs from its prediction by more than a small error in the values."""
    inexact: bool
    """Whether some value differs from its prediction by more than a rounding error."""
    tested: NDArray[np.bool_]
    """For each pair of axes, whether a value is as predicted that could have shown whether the two
    interact."""
    active: int
    """The number of axes along which the function changes, as far as is known."""

    @property
    def extent(self) -> tuple[int, int]:
        """The number of known contributions: along the axis with the fewest, and in total."""
        counts = [len(line.u) for line in self.lines]
        return min(counts), sum(counts)


def decomposed(X: Array, f: Array, first: int, constants: AxesConstants) -> Sum:
    """What each coordinate contributes to the values, as far as it follows from them.

    The coordinates of the row `first` contribute 0. If the contributions of all but one coordinate
    of a point are known, the value tells the remaining one. Values that tell nothing new are tests.
    """
    columns = [np.unique(column, return_inverse=True) for column in X.T]
    ends = np.cumsum([len(u) for u, _ in columns])
    begins = ends - [len(u) for u, _ in columns]
    at = np.stack([inverse.reshape(-1) for _, inverse in columns], axis=1) + begins
    change, told = f - f[first], np.zeros(len(f), dtype=bool)
    g, known, size = np.zeros(ends[-1]), np.zeros(ends[-1], dtype=bool), np.zeros(ends[-1])
    known[at[first]], size[at[first]], told[first] = True, abs(f[first]), True
    while len(rows := np.flatnonzero((lacking := ~known[at]).sum(1) == 1)):
        new, some = np.unique(at[rows][lacking[rows]], return_index=True)
        rows = rows[some]
        g[new] = change[rows] - g[at[rows]].sum(1)
        size[new] = np.maximum(np.abs(f[rows]), size[at[rows]].max(1))
        known[new], told[rows] = True, True
    lines = [
        Line(u[known[begin:end]], g[begin:end][known[begin:end]])
        for (u, _), begin, end in zip(columns, begins, ends, strict=True)
    ]
    complete = known[at].all(1)
    best = int(np.where(complete, f, -np.inf).argmax())
    tests = np.flatnonzero(complete & ~told)
    parts = g[at[tests]]
    second = np.sort(np.abs(parts), axis=1)[:, -2]
    error = np.abs(change[tests] - parts.sum(1)) - constants.exact * second
    sizes = size[at[tests]].max(1, initial=0.0)
    passed = error <= constants.rounding * sizes
    refuted = bool((error > constants.exact * sizes).any())
    # where nothing changes, a prediction that is right says nothing
    least = constants.rounding / constants.exact * float(np.abs(f).max())
    active = np.array([np.ptp(line.g) > least for line in lines])
    tested = np.zeros((len(lines), len(lines)), dtype=bool)
    for row in tests[passed & (second > least)]:
        tested |= fresh_pairs(X[row], X[told])
    tested &= active & active[:, None]
    return Sum(lines, best, told, refuted, not passed.all(), tested, int(active.sum()))


def fresh_pairs(x: Array, X: Array) -> NDArray[np.bool_]:
    """For each pair of axes, whether no row of `X` has the same two coordinates there as x."""
    same = (x == X).astype(float)
    return np.asarray(same.T @ same == 0.0)


class Axes:
    """Proposes steps along single axes once the function is known to be a sum, and none before.

    Parameters
    ----------
    domain : Domain
    book : Book
    tries : int
        After this number times D + 1 steps in a row without an improvement, every second step is
        left to others.
    constants : AxesConstants
    """

    origin = LOCAL

    def __init__(self, domain: Domain, book: Book, tries: int, constants: AxesConstants) -> None:
        self._domain, self._book, self._constants = domain, book, constants
        self._tries = tries * (domain.dim + 1)
        plain = Regime.of(domain, book).plain
        self._off = not constants.active or not plain or domain.dim < 2
        self._confirmed = False
        self._tested = np.zeros((domain.dim, domain.dim), dtype=bool)
        self._seen, self._first = 0, 0
        self._moves: list[tuple[Line, Move | None, Move | None]] = []
        self._since = domain.dim  # the number of steps since the last to the tops of all axes
        self._in_vain = 0

    def judge(self, step: Proposal, better: bool, row: int | None) -> None:
        """Count the steps in a row that did not improve."""
        self._in_vain = 0 if better else self._in_vain + 1

    def propose(self, focus: Focus) -> Proposal | None:
        """A step along one axis or to the tops of all, or one that shows whether there is a sum."""
        book = self._book
        exact = not book.noisy and book.known.final.all()
        if self._off or not exact or np.abs(book.known.values).max() > LARGEST:
            return None
        if not self._confirmed and not self._news():
            return None
        found = self._decomposed()
        self._off = found.refuted or (found.inexact and not self._confirmed)
        if self._off or found.extent[0] < 2:
            return None
        self._tested |= found.tested
        least = max(self._constants.enough * found.active * (found.active - 1), 1.0)
        self._confirmed |= bool(self._tested.sum() >= least)
        if not self._confirmed:
            return self._test(found)
        late = self._in_vain - self._tries
        if late > 0 and late % 2:
            self._in_vain += 1
            return None
        return self._step(found.lines)

    def _news(self) -> bool:
        """Whether a point since the last call has at most one coordinate not met before.

        Other points tell nothing yet, and most points of climbs are of this kind.
        """
        X, seen = self._book.known.X, self._seen
        self._seen = len(X)
        return any((X[:i] == X[i]).any(0).sum() >= X.shape[1] - 1 for i in range(seen, len(X)))

    def _decomposed(self) -> Sum:
        """The sum with the most contributions, relative to the best of their points if possible.

        Differences from the best point have the smallest rounding errors.
        """
        X, f = self._book.known.X, self._book.known.values

        def relative_to(row: int) -> Sum:
            return decomposed(X, f, row, self._constants)

        found = relative_to(self._first)
        others = {found.best}
        if not self._confirmed:
            others.add(int(f.argmax()))
        for row in sorted(others - {self._first}):
            other = relative_to(row)
            if other.extent >= found.extent:
                self._first, found = row, other
        return found

    def _test(self, found: Sum) -> Proposal | None:
        """Of the points of known coordinates opposite to a known point, one that tests the most.

        Opposite means that it differs along every axis, by the coordinate that contributes most.
        None before a first pair of axes has been tested, usually by points of the tree: most other
        functions are refuted by then, and the step is not spent on them.
        """
        if not self._tested.any():
            return None
        X = self._book.known.X
        most, best = 0, X[self._first]
        for x in X[found.told]:
            lines = zip(x, found.lines, strict=True)
            to = np.array([u[np.where(u == here, -np.inf, g).argmax()] for here, (u, g) in lines])
            count = int((fresh_pairs(to, X[found.told]) & ~self._tested).sum())
            if count > most:
                most, best = count, to
        return self._new(best)

    def _step(self, lines: list[Line]) -> Proposal | None:
        moves = self._moved(lines)
        x = np.array([line.u[line.g.argmax()] for line in lines])
        tops = [a.top if a else u for u, (_, a, _) in zip(x.tolist(), moves, strict=True)]
        rounding = self._constants.rounding * abs(float(self._book.known.values[self._first]))
        together = sum(a.gain for _, a, _ in moves if a)
        elsewhere = max((b.gain for _, _, b in moves if b), default=rounding)
        if self._since >= self._domain.dim and together > elsewhere:
            self._since = 0
            if (step := self._new(np.array(tops))) is not None:
                return step
        # a parabola needs three coordinates, so axes with two come first
        ranked = [
            (len(line.u) == 2, move.gain, -d, move.to)
            for d, (line, *both) in enumerate(moves)
            for move in both
            if move and move.gain > rounding
        ]
        for _, _, d, to in sorted(ranked, reverse=True):
            other = x.copy()
            other[-d] = to
            if (step := self._new(other)) is not None:
                self._since += 1
                return step
        return None

    def _moved(self, lines: list[Line]) -> list[tuple[Line, Move | None, Move | None]]:
        """The moves along each axis, of which only those along axes with news are computed."""
        constants, old = self._constants.line, self._moves
        for d, line in enumerate(lines):
            if d == len(old):
                old.append((line, near(line, constants), far(line, constants)))
            elif not np.array_equal(old[d][0].u, line.u):
                old[d] = line, near(line, constants), far(line, constants)
        return old

    def _new(self, x: Array) -> Proposal | None:
        """A step, if its point is neither known nor pending."""
        new = self._book.is_new(x, 4.0 * self._domain.finest)
        return Proposal(x, top=False) if new else None
