"""Simultaneous optimistic optimisation (Munos, 2011): the paper's Algorithm 2."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import numpy as np

from ..space.axes import Domain
from .algorithm import Algorithm
from .book import Book, leftovers
from .search import Search, sqrt_h_max
from .tree import Tree


@dataclass(frozen=True)
class SOO(Algorithm):
    """Settings of SOO.

    Parameters
    ----------
    k : int, default 3
        The number of children of a node. With an odd k, the middle child costs no evaluation.
    h_max : callable, default sqrt
        ``h_max(n)`` is the largest depth of the tree after n expansions.
    """

    k: int = 3
    h_max: Callable[[int], float] = sqrt_h_max

    def start(self, domain: Domain, rng: np.random.Generator, book: Book) -> Search:
        return soo(self, Tree(domain, self.k), book)


def soo(settings: SOO, tree: Tree, book: Book) -> Search:
    """SOO, Algorithm 2; g is f, or -inf for a node that is pending or has failed."""
    book.begin(tree)
    yield from book.evaluate(0)
    while True:
        nu_max, expanded = -inf, False
        for h in tree.sweep(settings.h_max(book.n)):
            leaf = tree.best_leaf(h)
            if leaf is None or (expanded and tree.g[leaf] <= nu_max):
                continue
            nu_max, expanded = tree.g[leaf], True
            for child in tree.split(leaf):
                if tree.is_new(child):
                    yield from book.evaluate(child)
            book.n += 1
        if not expanded:
            return (yield from leftovers(tree, book))
