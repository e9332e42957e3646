"""The tree that partitions [0,1]^D: cells (h, j), their centres, and the leaves by depth.

A node is an integer, its place in the arrays below; a million nodes fit easily.

=========  ======================================================================
low, high  corners of the cell X_{h,j}
x          its centre x_{h,j}
g          the paper's place-holder g(x_{h,j}): a value, or a bound, or -inf
depth      h
status     how the centre stands: see `Status`
=========  ======================================================================
"""

from array import array
from collections.abc import Iterator
from enum import IntEnum
from heapq import heappop, heappush
from math import inf, isinf

import numpy as np
from numpy.typing import NDArray

from ._typing import Array
from .errors import SettingsError

_TERMINAL = 2**62  # in place of a first child: a cell too small to have any


class Status(IntEnum):
    """How the centre of a cell stands."""

    NEW = 0  # just cut, not looked at yet
    EVALUATED = 1  # g is the objective's value
    REJECTED = 2  # g is the lower confidence bound; never sent out
    PENDING = 3  # sent out, no answer yet
    FAILED = 4  # sent out, no value came


class Tree:
    """A k-ary tree of boxes; a leaf is cut across its longest side into k equal parts.

    Parameters
    ----------
    dim : int
        D.
    k : int
        Children of a node, at least 2. With an odd k the middle child keeps its
        parent's centre, and with it g and status: nothing is evaluated twice.
    finest : array of float
        For each axis, the smallest distance between centres that is still a
        difference to the objective. A cell that would go below it is cut across
        another axis, or not at all.
    """

    def __init__(self, dim: int, k: int, finest: float | Array = 2.0**-52) -> None:
        if k < 2:
            raise SettingsError(f"k, the number of children of a node, must be >= 2, got {k}")
        self.dim, self.k = dim, k
        self._finest = np.broadcast_to(np.asarray(finest, dtype=float), (dim,))
        self._middle = k // 2 if k % 2 else -1
        # Cells of one depth have one shape: how many times each axis is cut, and what to add
        # to (low, high, x) of a cell to get its children's.
        self._times_cut = [0] * dim
        self._shifts: list[Array | None] = []
        self._corners: Array = np.empty((64, 3, dim))
        self._corners[0, 0], self._corners[0, 1], self._corners[0, 2] = 0.0, 1.0, 0.5
        self.g: list[float] = [-inf]
        self.depth: list[int] = [0]
        self._status = bytearray([Status.NEW])
        self._first_child = array("q", [-1])
        self._parent = array("q", [-1])
        self._heaps: list[list[tuple[float, int]]] = [[]]
        self._shallowest = 0

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

    def centre(self, node: int) -> Array:
        """x_{h,j} of one node, as an array of its own."""
        x: Array = self._corners[node, 2]
        return x.copy()

    def centres(self, nodes: range) -> Array:
        """x_{h,j} of consecutive nodes, such as the children `split` returns."""
        return self._corners[nodes.start : nodes.stop, 2]

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
        while (parent := self._parent[node]) >= 0:
            j += (node - self._first_child[parent]) * weight
            node, weight = parent, weight * self.k
        return h, j

    def set(self, node: int, g: float, status: Status) -> None:
        """Give a node its g; a leaf takes its place among the leaves of its depth.

        Where the node has a middle child, which shares its centre, that child follows.
        """
        if self._status[node] == Status.NEW or g != self.g[node]:
            self.g[node] = g
            if self._first_child[node] < 0:
                heappush(self._heaps[self.depth[node]], (-g, node))
        self._status[node] = status
        if self._middle >= 0 and 0 <= (child := self._first_child[node]) < _TERMINAL:
            self.set(child + self._middle, g, status)

    def best_leaf(self, h: int) -> int | None:
        """Argmax of g over the leaves at depth h; the older of equals; None if there are none."""
        heap = self._heaps[h]
        while heap:
            minus_g, node = heap[0]
            if self._first_child[node] < 0 and self.g[node] == -minus_g:
                return node
            heappop(heap)  # expanded since, or its g has changed
        return None

    def sweep(self, h_max: float) -> Iterator[int]:
        """Depths of one sweep: from the shallowest leaf to min(depth(T), h_max).

        Both are read when the sweep begins. The shallowest leaf is always reached, or a
        slow h_max would stop the search for ever (SOO with k = 2 and sqrt(n), at n = 8).
        """
        while self.best_leaf(self._shallowest) is None:
            if self._shallowest == len(self._heaps) - 1:
                return
            self._shallowest += 1
        deepest = len(self._heaps) - 1
        if not isinf(h_max):
            deepest = min(deepest, int(h_max))
        yield from range(self._shallowest, max(deepest, self._shallowest) + 1)

    def split(self, leaf: int) -> range:
        """Cut a leaf in k; returns the children, (h+1, kj) to (h+1, kj+k-1), or none.

        None where the cell is too small to tell its children apart; it is then no
        longer offered as a leaf.
        """
        k, start, h = self.k, len(self.g), self.depth[leaf] + 1
        if h > len(self._shifts):
            self._shifts.append(self._next_shift())
        shift = self._shifts[h - 1]
        if shift is None:
            self._first_child[leaf] = _TERMINAL
            return range(0)
        self._first_child[leaf] = start
        if start + k > len(self._corners):
            self._corners = np.concatenate([self._corners, np.empty_like(self._corners)])
        np.add(self._corners[leaf], shift, out=self._corners[start : start + k])
        if h == len(self._heaps):
            self._heaps.append([])
        self.g += [-inf] * k
        self.depth += [h] * k
        self._status += bytes(k)
        self._first_child.extend([-1] * k)
        self._parent.extend([leaf] * k)
        if self._middle >= 0:
            self.set(start + self._middle, self.g[leaf], Status(self._status[leaf]))
        return range(start, start + k)

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
