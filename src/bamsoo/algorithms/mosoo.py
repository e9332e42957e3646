"""Multi-objective simultaneous optimistic optimisation (Al-Dujaili and Suresh, 2016).

SOO expands the leaf with the best value at each depth, if it is better than those expanded at
smaller depths in the same sweep. MO-SOO expands all leaves of a depth whose vectors no other leaf
of this depth dominates, nor any leaf expanded at a smaller depth in the same sweep. This is the
reading taken here; depth(T) and h_max(n) are read when a sweep begins. With one objective it is
SOO, except that leaves with equal values are expanded together.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..base.pareto import non_dominated
from ..base.typing import Array
from ..space.axes import Domain
from .book import Book, leftovers
from .search import Search
from .soo import SOO
from .tree import Status, Tree


@dataclass(frozen=True)
class MOSOO(SOO):
    """Settings of MO-SOO, which are those of `SOO`."""

    several: ClassVar[bool] = True

    def start(self, domain: Domain, rng: np.random.Generator, book: Book) -> Search:
        return mosoo(self, Tree(domain, self.k), book)


def mosoo(settings: MOSOO, tree: Tree, book: Book) -> Search:
    """MO-SOO; a node that is pending or has failed is worse than any vector."""
    book.begin(tree)
    yield from book.evaluate(0)
    while True:
        V: list[Array] = []  # the vectors that were expanded in this sweep
        expanded = False
        for h in tree.sweep(settings.h_max(book.n)):
            chosen, vectors = promising(tree, book, h, V)
            if not len(vectors) and expanded:
                chosen = []
            for leaf in chosen:
                expanded = True
                for child in tree.split(leaf):
                    if tree.is_new(child):
                        yield from book.evaluate(child)
                book.n += 1
            V += vectors
        if not expanded:
            return (yield from leftovers(tree, book))


def promising(tree: Tree, book: Book, h: int, V: list[Array]) -> tuple[list[int], list[Array]]:
    """The leaves at depth h that no leaf of this depth and no vector of V dominates, and theirs.

    If measured constraints are violated, the leaves with the smallest violation are compared. If no
    leaf of this depth has a vector, the oldest one stands for them all.
    """
    leaves = [n for n in tree.leaves() if tree.depth[n] == h and not tree.is_new(n)]
    row_of = book.grades.rows_of_nodes()
    valued = [n for n in leaves if tree.status_of(n) == Status.EVALUATED and n in row_of]
    if not valued:
        return leaves[:1], []
    rows = np.array([row_of[n] for n in valued])
    missed = book.known.missed[rows]
    kept = np.flatnonzero(missed == missed.min())
    F = book.known.F[rows[kept]]
    on_front = non_dominated(np.vstack([F, *V]))[: len(F)]
    return [valued[i] for i in kept[on_front].tolist()], list(F[on_front])
