"""LOGO: locally oriented global optimisation (Kawaguchi, Maruyama and Zheng, 2016).

"The paper" in this module is that one.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

import numpy as np

from ..base.checks import brief, check_whole
from ..errors import SettingsError
from ..space.axes import Domain
from .algorithm import Algorithm
from .book import Book, leftovers
from .search import Search
from .tree import Tree

MOST_DEPTHS = 1_000
"""Largest w. No tree is deeper, and every sweep counts through w depths."""


def w_sqrt_h_max(n: int, w: int) -> float:
    """h_max(n) = w sqrt(n) - w, as in the paper's experiments."""
    return w * sqrt(n) - w


@dataclass(frozen=True)
class LOGO(Algorithm):
    """Settings of LOGO.

    Parameters
    ----------
    w : int or sequence of int, default (3, 4, 5, 6, 8, 30)
        The number of adjacent depths that compete for one expansion: 1 is SOO, and larger numbers
        make the search more local. In a sequence, the search moves one step up after a sweep that
        improved the best value, and one step down after any other sweep.
    k : int, default 3
        The number of children of a node.
    h_max : callable, default w sqrt(n) - w
        ``h_max(n, w)`` is the largest depth of the tree after n expansions.
    """

    w: int | Sequence[int] = (3, 4, 5, 6, 8, 30)
    k: int = 3
    h_max: Callable[[int, int], float] = w_sqrt_h_max

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "w", checked_w("LOGO", self.w))

    def start(self, domain: Domain, rng: np.random.Generator, book: Book) -> Search:
        return logo(self, Tree(domain, self.k), book)


def checked_w(name: str, w: Any) -> int | tuple[int, ...]:
    """The setting `w`, a whole number or a tuple of them; raises an error if it is neither."""
    if isinstance(w, (str, bytes)) or not isinstance(w, Sequence):
        check_whole(name, "w", w, most=MOST_DEPTHS)
        return int(w)
    if not w:
        raise SettingsError(
            f"{name}: w must be a whole number or a sequence of them, got {brief(w)}"
        )
    for each in w:
        check_whole(name, "w", each, most=MOST_DEPTHS)
    return tuple(int(each) for each in w)


def schedule(w: int | Sequence[int]) -> list[int]:
    """The local weights to step through."""
    return [w] if isinstance(w, int) else list(w)


def supersets(tree: Tree, w: int, h_max: float) -> Iterator[range]:
    """The depths kw to kw + w - 1 of each superset k of a sweep.

    The supersets run from the first one with a leaf to floor(min(h_max, depth(T)) / w), the paper's
    h_plus, and there is at least one.
    """
    depths = list(tree.sweep(h_max))
    if depths:
        for k in range(depths[0] // w, depths[-1] // w + 1):
            yield range(k * w, k * w + w)


def logo(settings: LOGO, tree: Tree, book: Book) -> Search:
    """LOGO, Algorithm 1; g is f, or -inf for a node that is pending or has failed."""
    book.begin(tree)
    yield from book.evaluate(0)
    W, j = schedule(settings.w), 0
    while True:
        val_max, expanded, f_plus = -inf, False, book.f_plus
        for Psi in supersets(tree, W[j], settings.h_max(book.n, W[j])):
            leaf = tree.best_leaf_among(Psi)
            if leaf is None or (expanded and tree.g[leaf] <= val_max):
                continue
            val_max, expanded = tree.g[leaf], True
            for child in tree.split(leaf):
                if tree.is_new(child):
                    yield from book.evaluate(child)
            book.n += 1
        if not expanded:
            return (yield from leftovers(tree, book))
        j = min(j + 1, len(W) - 1) if book.f_plus > f_plus else max(j - 1, 0)
