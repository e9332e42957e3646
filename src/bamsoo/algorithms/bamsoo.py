"""Bayesian multi-scale optimistic optimisation: the paper's Algorithm 3."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from ..kernels import Kernel, Matern52
from ..model.gp import GP
from ..space.axes import Domain
from .algorithm import Algorithm
from .book import Book, leftovers
from .search import DESIGN, B, Search, sqrt_h_max
from .tree import Tree


@dataclass(frozen=True)
class BaMSOO(Algorithm):
    """Settings of BaMSOO.

    Parameters
    ----------
    kernel : Kernel, default Matern52(0.25)
        The prior's covariance, used exactly as given, on the untransformed values.
    mean : float, default 0.0
        The prior's constant mean, in the caller's own sense.
    eta : float, default 0.05
        The confidence bounds hold together with probability 1 - eta.
    k : int, default 2
        The number of children of a node.
    h_max : callable, default sqrt
        ``h_max(n)`` is the largest depth of the tree after n expansions.
    random_start : bool, default False
        Whether to evaluate a uniformly drawn point before the root, as in the paper's experiments.
    patience : int, default 1000
        After this many nodes in a row have been rejected, the next one is evaluated whatever its
        bound, since otherwise an overconfident GP could reject nodes for ever.
    noise : float, default 0.0
        The variance of the noise in a value; 0 if values are exact.
    """

    takes_noise: ClassVar[bool] = True

    kernel: Kernel = Matern52(0.25)  # noqa: RUF009 (frozen)
    mean: float = 0.0
    eta: float = 0.05
    k: int = 2
    h_max: Callable[[int], float] = sqrt_h_max
    random_start: bool = False
    patience: int = 1000
    noise: float = 0.0

    def start(self, domain: Domain, rng: np.random.Generator, book: Book) -> Search:
        gp = GP(self.kernel, domain.dim, self.mean, self.noise, domain)
        return bamsoo(self, Tree(domain, self.k), gp, book, rng)


def bamsoo(settings: BaMSOO, tree: Tree, gp: GP, book: Book, rng: np.random.Generator) -> Search:
    """BaMSOO, Algorithm 3.

    Names and line numbers (`l.`) are the paper's; `book` holds t, n and f_plus.
    """
    book.begin(tree, gp)
    if settings.random_start and (x := tree.domain.draw(rng)) is not None:
        yield from book.evaluate_point(x, DESIGN)
    yield from book.evaluate(0)  # l.1-4
    N, in_a_row = 1, 0
    while True:  # l.5
        book.learn_limits(B(N, settings.eta))
        nu_max, expanded = -inf, False  # l.6
        for h in tree.sweep(settings.h_max(book.n)):  # l.7
            leaf = tree.best_leaf(h)  # l.8
            if leaf is None or (expanded and tree.g[leaf] <= nu_max):  # l.9
                continue
            nu_max, expanded = tree.g[leaf], True  # l.24, read before g can change
            children = tree.split(leaf)
            posterior = gp.at(tree.centres(children))
            ahead = book.grades.ahead(tree.centres(children))
            for i, child in enumerate(children):  # l.10
                N += 1  # l.11
                if not tree.is_new(child):  # it shares its parent's centre, so g is known
                    continue
                lcb, ucb = posterior.bounds(i, B(N, settings.eta))
                worth = ucb >= book.f_plus and ahead.can_meet(i)
                g = ahead.grade(i, lcb)
                if worth or in_a_row >= settings.patience:  # l.12
                    in_a_row = 0
                    yield from book.evaluate(child, g, posterior, i)  # l.13-15, 19-20
                else:
                    in_a_row += 1
                    book.reject(child, g)  # l.17
            book.n += 1  # l.25
        if not expanded:
            return (yield from leftovers(tree, book))
