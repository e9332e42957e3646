"""BaMLOGO: LOGO with the bounds of a Gaussian process, just as BaMSOO is SOO with such bounds.

Kawaguchi, Kaelbling and Lozano-Pérez (2015) compare IMGPO with it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from ..kernels import Kernel
from ..model.gp import GP
from ..space.axes import Domain
from .algorithm import Algorithm
from .book import Book, leftovers
from .empirical import START, EmpiricalPrior
from .logo import checked_w, schedule, supersets, w_sqrt_h_max
from .search import B, Search
from .tree import Tree


@dataclass(frozen=True)
class BaMLOGO(Algorithm):
    """Settings of BaMLOGO.

    Parameters
    ----------
    kernel : Kernel, optional
        The prior's covariance, used exactly as given, on the untransformed values. By default, the
        kernel and the mean are learned from the values.
    mean : float, default 0.0
        The prior's constant mean, in the caller's own sense, if the kernel is given.
    eta : float, default 0.05
        The confidence bounds hold together with probability 1 - eta.
    w : int or sequence of int, default (3, 4, 5, 6, 8, 30)
        As in `LOGO`.
    k : int, default 3
        The number of children of a node.
    h_max : callable, default w sqrt(n) - w
        ``h_max(n, w)`` is the largest depth of the tree after n expansions.
    patience : int, default 1000
        As in `BaMSOO`.
    """

    kernel: Kernel | None = None
    mean: float = 0.0
    eta: float = 0.05
    w: int | Sequence[int] = (3, 4, 5, 6, 8, 30)
    k: int = 3
    h_max: Callable[[int, int], float] = w_sqrt_h_max
    patience: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "w", checked_w("BaMLOGO", self.w))

    def start(self, domain: Domain, rng: np.random.Generator, book: Book) -> Search:
        gp = GP(self.kernel or START, domain.dim, self.mean, domain=domain)
        return bamlogo(self, Tree(domain, self.k), gp, book)


def bamlogo(settings: BaMLOGO, tree: Tree, gp: GP, book: Book) -> Search:
    """BaMLOGO: the sweep of LOGO, with BaMSOO's rule for what is evaluated."""
    book.begin(tree, gp)
    prior = EmpiricalPrior(tree, book) if settings.kernel is None else None
    yield from book.evaluate(0)
    W, j = schedule(settings.w), 0
    N, in_a_row = 1, 0
    while True:
        val_max, expanded, f_plus = -inf, False, book.f_plus
        for Psi in supersets(tree, W[j], settings.h_max(book.n, W[j])):
            leaf = tree.best_leaf_among(Psi)
            if leaf is None or (expanded and tree.g[leaf] <= val_max):
                continue
            val_max, expanded = tree.g[leaf], True
            children = tree.split(leaf)
            posterior = gp.at(tree.centres(children))
            for i, child in enumerate(children):
                N += 1
                if not tree.is_new(child):
                    continue
                lcb, ucb = posterior.bounds(i, B(N, settings.eta))
                if ucb >= book.f_plus or in_a_row >= settings.patience:
                    in_a_row = 0
                    yield from book.evaluate(child, lcb, posterior, i)
                else:
                    in_a_row += 1
                    book.reject(child, lcb)
            book.n += 1
        if not expanded:
            return (yield from leftovers(tree, book))
        j = min(j + 1, len(W) - 1) if book.f_plus > f_plus else max(j - 1, 0)
        if prior is not None:
            gp = prior.update() or gp
