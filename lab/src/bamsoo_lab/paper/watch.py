"""Searches driven step by step, with a GP that records every bound they ask for."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from bamsoo.algorithms.book import Book
from bamsoo.algorithms.search import Outcome, Search
from bamsoo.base.typing import Array
from bamsoo.kernels import Kernel
from bamsoo.model.gp import GP, Posterior


class Bound(NamedTuple):
    """The confidence bounds of a node, at the moment when the search asked for them."""

    x: Array
    lower: float
    upper: float


class WatchedGP(GP):
    """A GP that records what it was asked.

    Attributes
    ----------
    bounds : list of Bound
        Bounds of single nodes, in the order in which a search asked for them.
    lattices : list of ndarray
        The points of each call of `posterior`.
    """

    def __init__(self, kernel: Kernel, dim: int, mean: float = 0.0) -> None:
        super().__init__(kernel, dim, mean)
        self.bounds: list[Bound] = []
        self.lattices: list[Array] = []

    def at(self, X: Array) -> Posterior:
        return _WatchedPosterior(self, X)

    def posterior(self, X: Array) -> tuple[Array, Array]:
        self.lattices.append(np.array(X))
        return super().posterior(X)


class _WatchedPosterior(Posterior):
    def __init__(self, gp: WatchedGP, X: Array) -> None:
        super().__init__(gp, X)
        self._points, self._notes = np.array(X), gp.bounds

    def bounds(self, i: int, B: float) -> tuple[float, float]:
        lower, upper = super().bounds(i, B)
        self._notes.append(Bound(self._points[i], lower, upper))
        return lower, upper


def drive(search: Search, book: Book, f: Callable[[Array], float]) -> Iterator[float]:
    """Evaluate what a search asks for, one point at a time; yields each value."""
    try:
        x = next(search)
        while True:
            value = f(x)
            yield value
            x = search.send([Outcome(book.asked - 1, x, (value,))])
    except StopIteration:
        return
