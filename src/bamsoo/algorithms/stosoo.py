"""StoSOO (Valko, Carpentier and Munos, 2013): SOO for noisy values.

"The paper" in this module is that one.
"""

from dataclasses import dataclass
from math import ceil, inf, log, sqrt
from typing import ClassVar

import numpy as np

from ..base.checks import check_between, check_whole
from ..space.axes import Domain
from .algorithm import Algorithm
from .book import Book, leftovers
from .estimates import Estimate
from .search import Search
from .tree import Status, Tree


@dataclass(frozen=True)
class StoSOO(Algorithm):
    """Settings of StoSOO.

    Parameters
    ----------
    k : int, default 3
        The number of children of a node, K in the paper. With an odd k, the middle child has the
        same centre as its parent and shares its evaluations.
    evaluations : int, optional
        The number of evaluations of a node before it is expanded, k in the paper; by default
        n / log(n)^3, rounded up.
    h_max : int, optional
        The largest depth of the tree; by default sqrt(n / evaluations).
    delta : float, optional
        The confidence bounds hold together with probability 1 - delta; by default 1 / sqrt(n).
    spread : float, default 1.0
        The width of the interval in which values lie, including noise; 1 in the paper.
    budget : int, optional
        n, the number of evaluations to plan for; `minimize` fills in its own budget. When it has
        been used up, n is doubled.
    """

    repeats: ClassVar[bool] = True
    plans: ClassVar[bool] = True

    k: int = 3
    evaluations: int | None = None
    h_max: int | None = None
    delta: float | None = None
    spread: float = 1.0
    budget: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.evaluations is not None:
            check_whole("StoSOO", "evaluations", self.evaluations)
        if self.delta is not None:
            check_between("StoSOO", "delta", self.delta, 0.0, 1.0)
        check_between("StoSOO", "spread", self.spread, 0.0)

    def start(self, domain: Domain, rng: np.random.Generator, book: Book) -> Search:
        return stosoo(self, self.own_budget(), Tree(domain, self.k), book)

    def plan(self, n: int) -> tuple[int, float, float]:
        """For n evaluations: k of the paper, h_max, and log(n k / delta)."""
        k = self.evaluations or (ceil(n / log(n) ** 3) if n > 1 else 1)
        return k, self.h_max or sqrt(n / k), log(n * k / (self.delta or 1.0 / sqrt(n)))


def stosoo(settings: StoSOO, n: int, tree: Tree, book: Book) -> Search:
    """StoSOO, Algorithm 1; g is the paper's b-value.

    Pending evaluations count in T(t). A node without any value has the b-value +inf as long as more
    evaluations of it are due, and -inf once they are all pending.
    """
    book.begin(tree)
    k, h_max, logarithm = settings.plan(n)
    estimates = {0: Estimate(tree.centre(0))}
    waiting: list[int] = []  # nodes with pending evaluations
    smallest: list[int] = []  # cells that cannot be split
    deepest = -1

    def barred(node: int) -> bool:
        return tree.status_of(node) == Status.BARRED

    def set_b(node: int) -> None:
        if barred(node):
            return
        estimate = estimates[node]
        if estimate.count == 0:
            b = inf if estimate.asked < k else -inf
        else:
            b = estimate.mean + settings.spread * sqrt(logarithm / (2 * estimate.asked))
        tree.set(node, b, Status.EVALUATED if estimate.count else tree.status_of(node))

    set_b(0)
    while True:
        if book.asked >= n:
            n *= 2
            k, h_max, logarithm = settings.plan(n)
            for leaf in tree.leaves():
                set_b(leaf)
        b_max, acted = -inf, False
        for h in tree.sweep(h_max):
            best = tree.best_leaf(h)
            if best is None or tree.g[best] < b_max:
                continue
            acted = True
            estimate = estimates[best]
            if estimate.asked < k and not barred(best):
                waiting.append(best)
                yield from book.sample(best, estimate)
                for node in waiting:
                    set_b(node)
                waiting = [node for node in waiting if estimates[node].out]
            else:
                b_max = tree.g[best]
                children = tree.split(best)
                smallest += [] if children else [best]
                for child in children:
                    x = tree.centre(child)
                    estimates[child] = estimate if (x == estimate.x).all() else Estimate(x)
                    set_b(child)
                book.n += 1
                if h > deepest:
                    deepest, book.estimates.finalists = h, []
                if h == deepest and not barred(best):
                    book.estimates.finalists.append(estimate)
        if not acted:  # all cells of a finite space are single points: repeat them, best b first
            smallest = [node for node in smallest if not barred(node)]
            if not smallest:
                return (yield from leftovers(tree, book))
            book.estimates.finalists = [estimates[node] for node in smallest]
            best = max(smallest, key=tree.g.__getitem__)
            yield from book.sample(best, estimates[best])
            for node in smallest:
                set_b(node)
