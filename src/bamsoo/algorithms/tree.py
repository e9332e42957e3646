"""The tree that partitions [0,1]^D: cells (h, j), their centres, and the leaves by depth.

A node is an integer, its place in the arrays below; a million nodes fit easily.

=========  ======================================================================
low, high  corners of the cell X_{h,j}
x          its point x_{h,j}: the centre, or another point where constraints rule that out
g          the paper's place-holder g(x_{h,j}): a value, or a bound, or -inf
depth      h
status     how the centre stands: see `Status`
=========  ======================================================================
"""

from array import array
from collections.abc import Iterator
from enum import IntEnum
from heapq import heappop, heappush
from itertools import pairwise
from math import inf, isinf

import numpy as np
from numpy.typing import NDArray

from .._typing import Array
from ..errors import SettingsError
from ..space.axes import (
    Continuous,
    Domain,
    Options,
    Steps,
)
from ..space.region import TRIES, TRIES_AT_FIRST

_TERMINAL = 2**62  # in place of a first child: a cell too small to have any

_CENTRAL = 0.9
"""A child takes over its parent's point where that lies in this share of the child's middle; a
point at the edge says little about the cell. As for cells whose points are drawn."""

_IN_VAIN = 1000
"""Cells in a row in which no allowed point was found, before a search ends. What is allowed and
has been missed so often is a small part of what a cell holds."""


class Status(IntEnum):
    """How the centre of a cell stands."""

    NEW = 0  # just cut, not looked at yet
    EVALUATED = 1  # g is the objective's value
    REJECTED = 2  # g is the lower confidence bound; never sent out
    PENDING = 3  # sent out, no answer yet
    FAILED = 4  # sent out, no value came
    BARRED = 5  # no allowed point of the cell was found; g is -inf, and nothing is sent out


class Tree:
    """A k-ary tree of boxes; a leaf is cut across its longest side into k equal parts.

    Parameters
    ----------
    dim : int
        D.
    domain : Domain
        The axes. A cell whose children could not be told apart on an axis, or that holds
        one value there, is cut across another, or not at all. An axis that exists only for certain
        options is cut only in cells that hold no other options.
    k : int
        Children of a node, at least 2; fewer where an axis of whole numbers has no more
        to offer, and on an axis of options one for each. A child that has its parent's
        centre, as the middle one of an odd k, takes its g and status with it: nothing is
        evaluated twice.
    rng : Generator, optional
        Draw the point of each cell but the root at random, instead of taking its centre: centres
        of cells share most of their coordinates, and a region near the edge of one axis would be
        reached only after several cuts of that axis.
    middle : float
        Real numbers are drawn from the middle of the cell, this share of each side.

    Where constraints are known in advance (`Domain.region`), a cell whose point is not allowed is
    represented by another of its points. A cell without one that can be found stays a leaf with a
    g of -inf: it is cut when nothing else is left at its depth, and its parts are looked at more
    closely. A cell that is proven to have none is no leaf any more.
    """

    def __init__(
        self, domain: Domain, k: int, rng: np.random.Generator | None = None, middle: float = 0.9
    ) -> None:
        if k < 2:
            raise SettingsError(f"k, the number of children of a node, must be >= 2, got {k}")
        self.domain, self.dim, self.k = domain, domain.dim, k
        self.uniform = len(domain.continuous) == domain.dim
        """Whether all cells of one depth have one shape."""
        self._finest = domain.finest
        self._rng, self._middle_share = rng, middle
        # For a uniform tree: how many times each axis is cut at the depth reached, and what to
        # add, at each depth, to (low, high, x) of a cell to get its children's.
        self._times_cut = [0] * self.dim
        self._shifts: list[Array | None] = []
        self._corners: Array = np.empty((64, 3, self.dim))
        self._corners[0, 0], self._corners[0, 1] = 0.0, 1.0
        self._corners[0, 2] = domain.middle
        self.g: list[float] = [-inf]
        self.depth: list[int] = [0]
        self._status = bytearray([Status.NEW])
        self._first_child = array("q", [-1])
        self._parent = array("q", [-1])
        self._heir = array("q", [-1])  # the child that has its parent's centre
        self._heaps: list[list[tuple[float, int]]] = [[]]
        self._shallowest = 0
        self._barred_in_a_row = 0
        if domain.region is not None:
            low, high, x = self._corners[0]
            found = domain.region.find(low, high, x.copy(), TRIES_AT_FIRST)
            if found.x is None:
                self._bar(0, found.empty)
            else:
                self._corners[0, 2] = found.x

    def __len__(self) -> int:
        return len(self.g)

    def __repr__(self) -> str:
        return f"<Tree: {len(self)} nodes, k={self.k}, depth {max(self.depth)}>"

    @property
    def low(self) -> Array:
        """Lower corners, one row a node."""
        return self._corners[: len(self), 0]

    @property
    def high(self) -> Array:
        """Upper corners, one row a node."""
        return self._corners[: len(self), 1]

    @property
    def x(self) -> Array:
        """Centres, one row a node."""
        return self._corners[: len(self), 2]

    @property
    def status(self) -> NDArray[np.uint8]:
        """`Status` of every node."""
        return np.frombuffer(bytes(self._status), dtype=np.uint8)

    @property
    def parent(self) -> NDArray[np.int64]:
        """The node that each node was cut from; -1 for the root."""
        return np.array(self._parent)

    @property
    def drawn(self) -> bool:
        """Whether the points of cells are drawn at random, and not their centres."""
        return self._rng is not None

    @property
    def any_allowed(self) -> bool:
        """Whether a point was found that the constraints allow."""
        return bool(self._status.strip(bytes([Status.BARRED])))

    @property
    def gave_up(self) -> bool:
        """Whether allowed points were looked for in vain for so long that the search ends."""
        return self._barred_in_a_row > _IN_VAIN

    def centre(self, node: int) -> Array:
        """x_{h,j} of one node, as an array of its own."""
        x: Array = self._corners[node, 2]
        return x.copy()

    def centres(self, nodes: range) -> Array:
        """x_{h,j} of consecutive nodes, such as the children `split` returns."""
        return self._corners[nodes.start : nodes.stop, 2]

    def sides(self, node: int) -> Array:
        """The sides of a cell; 0 along an axis that exists nowhere in it."""
        low, high, _ = self._corners[node]
        sides: Array = high - low
        if self.domain.conditional:
            sides[~np.array(self.domain.exists_somewhere(low, high))] = 0.0
        return sides

    def status_of(self, node: int) -> Status:
        """`Status` of one node."""
        return Status(self._status[node])

    def is_new(self, node: int) -> bool:
        """Whether the node waits for its first g (a middle child never does)."""
        return self._status[node] == Status.NEW

    def is_leaf(self, node: int) -> bool:
        """Whether the node has no children (yet)."""
        return self._first_child[node] < 0

    def leaves(self) -> list[int]:
        """Every node without children, oldest first."""
        return [node for node, child in enumerate(self._first_child) if child < 0]

    def cell(self, node: int) -> tuple[int, int]:
        """(h, j): depth, and the place among the k^h cells of that depth."""
        h, j, weight = self.depth[node], 0, 1
        most = max([self.k, *(a.count for a in self.domain.axes if isinstance(a, Options))])
        while (parent := self._parent[node]) >= 0:
            j += (node - self._first_child[parent]) * weight
            node, weight = parent, weight * most
        return h, j

    def set(self, node: int, g: float, status: Status) -> None:
        """Give a node its g; a leaf takes its place among the leaves of its depth.

        Where the node has a child that shares its centre, that child follows.
        """
        if self._status[node] == Status.NEW or g != self.g[node]:
            self.g[node] = g
            if self._first_child[node] < 0:
                heappush(self._heaps[self.depth[node]], (-g, node))
        self._status[node] = status
        if (heir := self._heir[node]) >= 0:
            self.set(heir, g, status)

    def best_leaf(self, h: int) -> int | None:
        """Argmax of g over the leaves at depth h; the older of equals; None if there are none."""
        heap = self._heaps[h]
        while heap:
            minus_g, node = heap[0]
            if self._first_child[node] < 0 and self.g[node] == -minus_g:
                return node
            heappop(heap)  # expanded since, or its g has changed
        return None

    @property
    def deepest(self) -> int:
        """depth(T)."""
        return len(self._heaps) - 1

    def best_leaf_among(self, depths: range) -> int | None:
        """Argmax of g over the leaves at these depths; the older of equals; None without any."""
        found = (self.best_leaf(h) for h in depths if h <= self.deepest)
        leaves = [leaf for leaf in found if leaf is not None]
        return min(leaves, key=lambda leaf: (-self.g[leaf], leaf), default=None)

    def cuttable(self) -> list[int]:
        """Leaves that may be expanded; in a uniform tree the best of each depth alone."""
        if self.uniform:
            found = (self.best_leaf(h) for h in self.sweep(inf))
            return [leaf for leaf in found if leaf is not None]
        if self.gave_up:
            return []
        return [node for node, child in enumerate(self._first_child) if child < 0]

    def sweep(self, h_max: float) -> Iterator[int]:
        """Depths of one sweep: from the shallowest leaf to min(depth(T), h_max).

        Both are read when the sweep begins. The shallowest leaf is always reached, or a
        slow h_max would stop the search for ever (SOO with k = 2 and sqrt(n), at n = 8).
        """
        if self.gave_up:
            return
        while self.best_leaf(self._shallowest) is None:
            if self._shallowest == self.deepest:
                return
            self._shallowest += 1
        deepest = self.deepest
        if not isinf(h_max):
            deepest = min(deepest, int(h_max))
        yield from range(self._shallowest, max(deepest, self._shallowest) + 1)

    def split(self, leaf: int) -> range:
        """Cut a leaf in k; returns the children, (h+1, kj) to (h+1, kj+k-1), or none.

        None where the cell is too small to tell its children apart; it is then no
        longer offered as a leaf.
        """
        start, h = len(self.g), self.depth[leaf] + 1
        cells = self._parts(self._corners[leaf], h)
        if cells is None:
            self._first_child[leaf] = _TERMINAL
            return range(0)
        if self.uniform:
            heir = self.k // 2 if self.k % 2 else -1
        else:
            heir = self._same_centre(cells, leaf)
        if self._rng is not None:
            heir = -1
            cells[:, 2] = self._drawn(cells[:, 0], cells[:, 1])
        barred: dict[int, bool] = {}
        if self.domain.region is not None:
            heir, barred = self._represent(leaf, cells)
        k = len(cells)
        self._first_child[leaf] = start
        while start + k > len(self._corners):
            self._corners = np.concatenate([self._corners, np.empty_like(self._corners)])
        self._corners[start : start + k] = cells
        if h == len(self._heaps):
            self._heaps.append([])
        self.g += [-inf] * k
        self.depth += [h] * k
        self._status += bytes(k)
        self._first_child.extend([-1] * k)
        self._parent.extend([leaf] * k)
        self._heir.extend([-1] * k)
        if heir >= 0:
            self._heir[leaf] = start + heir
            self.set(start + heir, self.g[leaf], Status(self._status[leaf]))
        for i, empty in barred.items():
            self._bar(start + i, empty)
        return range(start, start + k)

    def centres_below(self, leaf: int, levels: int) -> Array:
        """Centres of the cells so many levels below a leaf, which is not cut for it.

        A cell that is too small to be cut stands for its descendants.
        """
        cells = self._corners[leaf][None]
        for h in range(self.depth[leaf] + 1, self.depth[leaf] + levels + 1):
            parts = ((cell, self._parts(cell, h)) for cell in cells)
            cells = np.concatenate([cell[None] if p is None else p for cell, p in parts])
        centres: Array = cells[:, 2]
        return centres

    def _parts(self, cell: Array, h: int) -> Array | None:
        """The children of a cell, which will be at depth h; None where it is too small."""
        if not self.uniform:
            return self._cut(cell)
        while h > len(self._shifts):
            self._shifts.append(self._next_shift())
        shift = self._shifts[h - 1]
        return None if shift is None else cell + shift

    def _bar(self, node: int, empty: bool) -> None:
        """No allowed point of this cell was found; `empty`: because there is none."""
        self.set(node, -inf, Status.BARRED)
        if empty:
            self._first_child[node] = _TERMINAL
        else:
            self._barred_in_a_row += 1

    def _represent(self, leaf: int, cells: Array) -> tuple[int, dict[int, bool]]:
        """Give each new cell an allowed point; which one inherits, and which ones have none.

        The cell that holds its parent's point inherits that where it lies in the middle, or where
        no other is found: a cell with a point that is known to be allowed is never set aside.
        """
        region = self.domain.region
        assert region is not None
        own, known = self._corners[leaf, 2], self._status[leaf] != Status.BARRED
        heir, barred = -1, {}
        for i, (low, high, x) in enumerate(cells):
            if self._rng is None:
                x[:] = self._centre_of(low, high)
            holds = known and heir < 0 and bool(((own >= low) & (own <= high)).all())
            if holds and (np.abs(own - x) <= 1e-9 * (high - low)).all():
                heir, x[:], self._barred_in_a_row = i, own, 0
                continue
            away = np.abs(own - 0.5 * (low + high))
            central = holds and bool((away <= 0.5 * _CENTRAL * (high - low)).all())
            if central and not region.allowed(x):
                heir, x[:], self._barred_in_a_row = i, own, 0
                continue
            found = region.find(low, high, x.copy(), TRIES if known else TRIES // 4)
            if found.x is not None:
                x[:] = found.x
                self._barred_in_a_row = 0
            elif holds:
                heir, x[:], self._barred_in_a_row = i, own, 0
            else:
                barred[i] = found.empty
        return heir, barred

    def _centre_of(self, low: Array, high: Array) -> Array:
        """The centre of a cell: of an axis of options the first, of whole numbers the middle."""
        x: Array = 0.5 * (low + high)
        for i, axis in enumerate(self.domain.axes):
            if isinstance(axis, Steps):
                first, last = axis.boundary(float(low[i])), axis.boundary(float(high[i]))
                middle = first if isinstance(axis, Options) else (first + last - 1) // 2
                x[i] = axis.centre(middle)
        return x

    def _drawn(self, low: Array, high: Array) -> Array:
        """One point of each cell."""
        assert self._rng is not None
        u = self._rng.random(low.shape)
        x: Array = low + (high - low) * (0.5 + self._middle_share * (u - 0.5))
        for i, axis in enumerate(self.domain.axes):
            if isinstance(axis, Steps):
                whole = low[:, i] + (high[:, i] - low[:, i]) * u[:, i]
                x[:, i] = [axis.centre(axis.at(float(each))) for each in whole]
        return self.domain.canonical(x)

    def _same_centre(self, cells: Array, leaf: int) -> int:
        same = np.flatnonzero((cells[:, 2] == self._corners[leaf, 2]).all(1))
        return int(same[0]) if len(same) else -1

    def _cut(self, cell: Array) -> Array | None:
        """The children of a cell with discrete axes, shape (at most k or options, 3, D)."""
        low, high, centre = cell
        # Equal sides differ by rounding; the factor makes the first of them the longest.
        sides = (high - low) * (1.0 - 1e-9 * np.arange(self.dim))
        axes = list(range(self.dim))
        if self.domain.conditional:
            # Options that bring along axes of their own come first, so that each is tried early.
            sides[self.domain.opening] += 1.0
            there = self.domain.exists_throughout(low, high)
            axes = [i for i in axes if there[i]]
        for i in sorted(axes, key=lambda i: -sides[i]):
            axis, a, b = self.domain.axes[i], float(low[i]), float(high[i])
            if isinstance(axis, Continuous):
                if (b - a) / self.k < self._finest[i]:
                    continue
                edges = [a + (b - a) * j / self.k for j in range(self.k)] + [b]
                centres = [0.5 * (p + q) for p, q in pairwise(edges)]
                if self.k % 2:
                    centres[self.k // 2] = float(centre[i])
            else:
                first, last = axis.boundary(a), axis.boundary(b)
                if last - first < 2:
                    continue
                parts = last - first if isinstance(axis, Options) else min(self.k, last - first)
                cuts = whole_cuts(axis, first, last, parts)
                edges = [axis.edge(j) for j in cuts]
                middle = [p if isinstance(axis, Options) else (p + q - 1) // 2
                          for p, q in pairwise(cuts)]  # fmt: skip
                centres = [axis.centre(j) for j in middle]
            cells = np.repeat(cell[None], len(centres), axis=0)
            cells[:, 0, i], cells[:, 1, i], cells[:, 2, i] = edges[:-1], edges[1:], centres
            return cells
        return None

    def _next_shift(self) -> Array | None:
        """From a cell of the deepest shape so far to its k children, shape (k, 3, D).

        The longest side is cut, the first of equals; None where no axis can be cut.
        """
        k, times = self.k, self._times_cut
        longest_first = sorted(range(self.dim), key=times.__getitem__)
        for axis in longest_first:
            side = float(k) ** -times[axis]
            if side / k >= self._finest[axis]:
                break
        else:
            return None
        times[axis] += 1
        shift = np.zeros((k, 3, self.dim))
        for i in range(k):
            shift[i, :, axis] = i / k, (i + 1) / k - 1.0, (2 * i + 1 - k) / (2 * k)
        shift *= side
        return shift


def whole_cuts(axis: Steps, first: int, last: int, parts: int) -> list[int]:
    """Edges, by number, that cut values first..last-1 in parts about as wide as each other."""
    low, high = axis.edge(first), axis.edge(last)
    cuts = [first]
    for j in range(1, parts):
        nearest = axis.boundary(low + (high - low) * j / parts)
        cuts.append(min(max(nearest, cuts[-1] + 1), last - (parts - j)))
    return [*cuts, last]
