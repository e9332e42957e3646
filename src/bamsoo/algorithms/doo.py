r"""Deterministic optimistic optimisation (Munos, 2011): Sec. 3 of the paper.

Unlike SOO, it has to know a semi-metric :math:`\ell(x, y) = c\,\|x - y\|^\alpha` on the unit cube
with :math:`f(x^*) - f(x) \le \ell(x, x^*)`.
"""

from dataclasses import dataclass

import numpy as np

from ..base.checks import check_between
from ..space.axes import Domain
from .algorithm import Algorithm
from .book import Book, leftovers
from .search import Search
from .tree import Tree


@dataclass(frozen=True)
class DOO(Algorithm):
    """Settings of DOO.

    Parameters
    ----------
    c : float, default 1.0
        The factor in the semi-metric c ||x - y||^alpha, in units of the unit cube.
    alpha : float, default 2.0
        The exponent in the semi-metric.
    k : int, default 3
        The number of children of a node.
    """

    c: float = 1.0
    alpha: float = 2.0
    k: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        check_between("DOO", "c", self.c, 0.0)
        check_between("DOO", "alpha", self.alpha, 0.0)

    def start(self, domain: Domain, rng: np.random.Generator, book: Book) -> Search:
        return doo(self, Tree(domain, self.k), book)


def doo(settings: DOO, tree: Tree, book: Book) -> Search:
    """DOO: expand the leaf with the highest f(x_{h,j}) + sup over its cell of l(x_{h,j}, x).

    If all cells of the same depth have the same shape, only the best leaf of each depth has to be
    compared.
    """
    book.begin(tree)

    def upper_bound(leaf: int) -> float:
        radius = 0.5 * float(np.linalg.norm(tree.sides(leaf)))
        return tree.g[leaf] + settings.c * float(radius**settings.alpha)

    yield from book.evaluate(0)
    while True:
        leaves = tree.cuttable()
        if not leaves:
            return (yield from leftovers(tree, book))
        for child in tree.split(max(leaves, key=upper_bound)):
            if tree.is_new(child):
                yield from book.evaluate(child)
        book.n += 1
