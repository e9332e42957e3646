"""The tree that partitions [0,1]^D: cells (h, j), their centres, and the leaves by depth.

A node is an integer, its index in the arrays below; a million nodes fit easily.

=========  ======================================================================
low, high  corners of the cell X_{h,j}
x          its point x_{h,j}: the centre, or another point if constraints rule that out
g          the paper's placeholder g(x_{h,j}): a value, or a bound, or -inf
depth      h
status     the state of the node: see `Status`
=========  ======================================================================
"""

from array import array
from collections.abc import Iterator
from enum import IntEnum
from heapq import heappop, heappush
from math import inf, isinf

import numpy as np
from numpy.typing import NDArray

from ..base.typing import Array
from ..errors import SettingsError
from ..space.axes import Domain
from ..space.region import TRIES, TRIES_AT_FIRST

_TERMINAL = 2**62  # stored instead of a first child, for a cell that cannot be split

_CENTRAL = 0.9
"""A child inherits its parent's point only if that lies in the central part of the child, this
share of each side: a point at the edge says little about the cell."""

_IN_VAIN = 1000
"""A search ends after this many cells in a row in which no allowed point was found. Whatever is
allowed and has been missed so often is a tiny part of those cells."""


class Status(IntEnum):
    """The state of a node."""

    NEW = 0  # just created, nothing has been decided yet
    EVALUATED = 1  # g is the objective's value
    REJECTED = 2  # by the GP: g is the lower confidence bound, nothing was evaluated
    PENDING = 3  # being evaluated
    FAILED = 4  # evaluated without getting a value
    BARRED = 5  # no allowed point was found in the cell: g is -inf, nothing is evaluated


class Tree:
    """A k-ary tree of boxes; a leaf is split across its longest side into k equal parts.

    With constraints that are known in advance (`Domain.region`), a cell whose centre is not allowed
    is represented by another of its points. If none is found, the cell remains a leaf with a g of
    -inf: it is split when nothing else is left at its depth, and its parts are searched more
    closely. If the cell is proven to have no allowed point, it is not a leaf any more.

    Parameters
    ----------
    domain : Domain
        The axes. A cell that has only one value along an axis, or whose children would be too close
        to be told apart there, is split across another axis, or not at all. An axis that exists
        only for certain options is split only in cells that contain no other options.
    k : int
        The number of children of a node, at least 2. There are fewer if an axis of whole numbers
        has fewer values left, and an axis of options has one child for each. A child with the same
        centre as its parent, such as the middle one for an odd k, inherits g and status, so that
        nothing is evaluated twice.
    rng : Generator, optional
        If given, the point of each cell except the root is drawn at random instead of being the
        centre. Centres share most of their coordinates, so a region near the edge of an axis would
        be reached only after several splits of that axis.
    middle : float, default 0.9
        Random points are drawn from the central part of the cell, this share of each side.
    """

    def __init__(
        self, domain: Domain, k: int, rng: np.random.Generator | None = None, middle: float = 0.9
    ) -> None:
        if k < 2:
            raise SettingsError(f"k, the number of children of a node, must be >= 2, got {k}")
        self.domain, self.dim, self.k = domain, domain.dim, k
        self.uniform = len(domain.continuous) == domain.dim
        """Whether all cells of the same depth have the same shape."""
        self._finest = domain.finest
        self._rng, self._middle_share = rng, middle
        # For a uniform tree: how often each axis has been split at the depth reached so far, and
        # for each depth, what to add to (low, high, x) of a cell to obtain those of its children.
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
        self._heir = array("q", [-1])  # the child with the same centre as its parent
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
        """Lower corners, one row per node."""
        return self._corners[: len(self), 0]

    @property
    def high(self) -> Array:
        """Upper corners, one row per node."""
        return self._corners[: len(self), 1]

    @property
    def x(self) -> Array:
        """Centres, one row per node."""
        return self._corners[: len(self), 2]

    @property
    def status(self) -> NDArray[np.uint8]:
        """`Status` of every node."""
        return np.frombuffer(bytes(self._status), dtype=np.uint8)

    @property
    def parent(self) -> NDArray[np.int64]:
        """The parent of each node; -1 for the root."""
        return np.array(self._parent)

    @property
    def drawn(self) -> bool:
        """Whether the points of cells are drawn at random instead of being their centres."""
        return self._rng is not None

    @property
    def any_allowed(self) -> bool:
        """Whether a point was found that the constraints allow."""
        return bool(self._status.strip(bytes([Status.BARRED])))

    @property
    def gave_up(self) -> bool:
        """Whether so many cells in a row had no allowed point that the search should end."""
        return self._barred_in_a_row > _IN_VAIN

    def centre(self, node: int) -> Array:
        """A copy of x_{h,j} of one node."""
        x: Array = self._corners[node, 2]
        return x.copy()

    def centres(self, nodes: range) -> Array:
        """x_{h,j} of consecutive nodes, such as the children that `split` returns."""
        return self._corners[nodes.start : nodes.stop, 2]

    def sides(self, node: int) -> Array:
        """The side lengths of a cell; 0 along an axis that does not exist anywhere in it."""
        low, high, _ = self._corners[node]
        sides: Array = high - low
        if self.domain.conditional:
            sides[~np.array(self.domain.exists_somewhere(low, high))] = 0.0
        return sides

    def status_of(self, node: int) -> Status:
        """`Status` of one node."""
        return Status(self._status[node])

    def is_new(self, node: int) -> bool:
        """Whether the node has no g yet (a child that shares its parent's centre always has)."""
        return self._status[node] == Status.NEW

    def is_leaf(self, node: int) -> bool:
        """Whether the node has no children yet."""
        return self._first_child[node] < 0

    def heir(self, node: int) -> int:
        """The child with the same point as its parent, or -1."""
        return self._heir[node]

    def leaves(self) -> list[int]:
        """Every node without children, oldest first."""
        return [node for node, child in enumerate(self._first_child) if child < 0]

    def cell(self, node: int) -> tuple[int, int]:
        """(h, j): the depth, and the index among the k^h cells of that depth."""
        h, j, weight = self.depth[node], 0, 1
        most = max([self.k, *(a.count for _, a in self.domain.discrete if not a.ordered)])
        while (parent := self._parent[node]) >= 0:
            j += (node - self._first_child[parent]) * weight
            node, weight = parent, weight * most
        return h, j

    def set(self, node: int, g: float, status: Status) -> None:
        """Set g and status of a node, and enter a leaf into the queue of its depth.

        If a child shares the node's centre, it gets the same g and status.
        """
        if self._status[node] == Status.NEW or g != self.g[node]:
            self.g[node] = g
            if self._first_child[node] < 0:
                heappush(self._heaps[self.depth[node]], (-g, node))
        self._status[node] = status
        if (heir := self._heir[node]) >= 0:
            self.set(heir, g, status)

    def best_leaf(self, h: int) -> int | None:
        """The leaf with the largest g at depth h, the oldest among equals; None without leaves."""
        heap = self._heaps[h]
        while heap:
            minus_g, node = heap[0]
            if self._first_child[node] < 0 and self.g[node] == -minus_g:
                return node
            heappop(heap)  # an outdated entry: the leaf has been split or its g has changed
        return None

    @property
    def deepest(self) -> int:
        """depth(T), the largest depth of a node."""
        return len(self._heaps) - 1

    def best_leaf_among(self, depths: range) -> int | None:
        """The leaf with the largest g at these depths, the oldest among equals, or None."""
        found = (self.best_leaf(h) for h in depths if h <= self.deepest)
        leaves = [leaf for leaf in found if leaf is not None]
        return min(leaves, key=lambda leaf: (-self.g[leaf], leaf), default=None)

    def cuttable(self) -> list[int]:
        """Leaves that may be split; in a uniform tree, only the best of each depth."""
        if self.uniform:
            found = (self.best_leaf(h) for h in self.sweep(inf))
            return [leaf for leaf in found if leaf is not None]
        if self.gave_up:
            return []
        return [node for node, child in enumerate(self._first_child) if child < 0]

    def sweep(self, h_max: float) -> Iterator[int]:
        """Depths of one sweep: from the shallowest leaf to min(depth(T), h_max).

        Both are read when the sweep begins. The shallowest leaf is always included, since otherwise
        a slowly growing h_max could stop the search for ever (as in SOO with k = 2 and sqrt(n), at
        n = 8).
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
        """Split a leaf into k children, (h+1, kj) to (h+1, kj+k-1), and return them.

        The range is empty if the cell is too small to be split; it is then no longer offered as a
        leaf.
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
        """Centres of the cells this many levels below a leaf, without splitting the leaf.

        A cell that is too small to be split stands for its descendants.
        """
        cells = self._corners[leaf][None]
        for h in range(self.depth[leaf] + 1, self.depth[leaf] + levels + 1):
            parts = ((cell, self._parts(cell, h)) for cell in cells)
            cells = np.concatenate([cell[None] if p is None else p for cell, p in parts])
        centres: Array = cells[:, 2]
        return centres

    def _parts(self, cell: Array, h: int) -> Array | None:
        """The children of a cell, which will be at depth h; None if it is too small."""
        if not self.uniform:
            return self._cut(cell)
        while h > len(self._shifts):
            self._shifts.append(self._next_shift())
        shift = self._shifts[h - 1]
        return None if shift is None else cell + shift

    def _bar(self, node: int, empty: bool) -> None:
        """Mark a cell in which no allowed point was found; `empty` if it is proven to have none."""
        self.set(node, -inf, Status.BARRED)
        if empty:
            self._first_child[node] = _TERMINAL
        else:
            self._barred_in_a_row += 1

    def _represent(self, leaf: int, cells: Array) -> tuple[int, dict[int, bool]]:
        """Give each new cell an allowed point, if one is found.

        Returns the index of the child that inherits its parent's point, or -1, and the indices of
        the cells without an allowed point, each with whether that is proven. The cell that contains
        its parent's point inherits it if the point is central, or if no other point is found, so
        that no cell with a point known to be allowed is given up.
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
        """The centre of a cell: the first of options, the middle of whole numbers and of ranges."""
        x: Array = 0.5 * (low + high)
        for i, axis in self.domain.discrete:
            x[i] = axis.middle_of(float(low[i]), float(high[i]))
        return x

    def _drawn(self, low: Array, high: Array) -> Array:
        """One random point of each cell."""
        assert self._rng is not None
        u = self._rng.random(low.shape)
        x: Array = low + (high - low) * (0.5 + self._middle_share * (u - 0.5))
        for i, axis in self.domain.discrete:
            whole = low[:, i] + (high[:, i] - low[:, i]) * u[:, i]
            x[:, i] = [axis.centre(axis.at(float(each))) for each in whole]
        return self.domain.canonical(x)

    def _same_centre(self, cells: Array, leaf: int) -> int:
        same = np.flatnonzero((cells[:, 2] == self._corners[leaf, 2]).all(1))
        return int(same[0]) if len(same) else -1

    def _cut(self, cell: Array) -> Array | None:
        """The children of a cell with discrete axes, shape (number of children, 3, D)."""
        low, high, centre = cell
        # Equal sides may differ by rounding; the factor makes the first of them the longest.
        sides = (high - low) * (1.0 - 1e-9 * np.arange(self.dim))
        axes = list(range(self.dim))
        if self.domain.conditional:
            # Axes whose options open further axes come first, so that each option is tried early.
            sides[self.domain.opening] += 1.0
            there = self.domain.exists_throughout(low, high)
            axes = [i for i in axes if there[i]]
        for i in sorted(axes, key=lambda i: -sides[i]):
            side = float(low[i]), float(centre[i]), float(high[i])
            if (parts := self.domain.axes[i].split(*side, self.k)) is None:
                continue
            edges, centres = parts
            cells = np.repeat(cell[None], len(centres), axis=0)
            cells[:, 0, i], cells[:, 1, i], cells[:, 2, i] = edges[:-1], edges[1:], centres
            return cells
        return None

    def _next_shift(self) -> Array | None:
        """The shift from a cell of the greatest depth so far to its k children, shape (k, 3, D).

        The longest side is split, the first among equals. None if no axis can be split.
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
