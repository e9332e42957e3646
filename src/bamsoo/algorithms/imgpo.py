"""IMGPO: infinite-metric GP optimisation (Kawaguchi, Kaelbling and Lozano-Pérez, 2015).

"The paper" in this module is that one.
"""

from dataclasses import dataclass
from math import inf, log, log2, pi, sqrt

import numpy as np

from ..base.checks import MOST_STEPS, check_whole
from ..errors import SettingsError
from ..kernels import Kernel
from ..model.gp import GP
from ..space.axes import Domain
from .algorithm import Algorithm
from .book import Book, leftovers
from .empirical import START, EmpiricalPrior
from .search import Search
from .tree import Status, Tree


@dataclass(frozen=True)
class IMGPO(Algorithm):
    """Settings of IMGPO.

    Parameters
    ----------
    kernel : Kernel, optional
        The prior's covariance, used exactly as given, on the untransformed values. By default, the
        kernel and the mean are learned from the values (line 39).
    mean : float, default 0.0
        The prior's constant mean, in the caller's own sense, if the kernel is given.
    eta : float, default 0.05
        The upper bounds hold together with probability 1 - eta.
    Xi_max : int, default 4
        The largest number of levels below a cell at which the GP's bounds are computed, which takes
        up to k^Xi_max bounds per cell.
    k : int, default 3
        The number of children of a node, 3 in the paper.
    patience : int, default 1000
        As in `BaMSOO`.
    """

    kernel: Kernel | None = None
    mean: float = 0.0
    eta: float = 0.05
    Xi_max: int = 4
    k: int = 3
    patience: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("IMGPO", "Xi_max", self.Xi_max, most=int(log2(MOST_STEPS)))
        if self.k**self.Xi_max > MOST_STEPS:
            raise SettingsError(
                f"IMGPO: k^Xi_max, the number of bounds per cell, must be at most {MOST_STEPS}, "
                f"got {self.k}^{self.Xi_max}"
            )

    def start(self, domain: Domain, rng: np.random.Generator, book: Book) -> Search:
        gp = GP(self.kernel or START, domain.dim, self.mean, domain=domain)
        return imgpo(self, Tree(domain, self.k), gp, book)


def varsigma(M: int, eta: float) -> float:
    r"""Confidence width :math:`\varsigma_M = \sqrt{2\log(\pi^2 M^2 / 12\eta)}`."""
    return sqrt(max(2.0 * log(pi**2 * M**2 / (12.0 * eta)), 0.0))


def imgpo(settings: IMGPO, tree: Tree, gp: GP, book: Book) -> Search:
    """IMGPO, Algorithm 1.

    Names and line numbers (`l.`) are the paper's; `book` holds f_plus.
    A node is "GP-based" in the paper's sense while its status is REJECTED: its g is then U.
    """
    book.begin(tree, gp)
    prior = EmpiricalPrior(tree, book) if settings.kernel is None else None
    yield from book.evaluate(0)  # l.2-4
    M, Xi, in_a_row = 0, 1.0, 0  # l.5
    while True:  # l.6
        best: dict[int, int] = {}  # i*_h
        upsilon_max, f_plus = -inf, book.f_plus  # l.7
        for h in tree.sweep(inf):  # l.8, steps (i) and (ii)
            while (leaf := tree.best_leaf(h)) is not None and tree.g[leaf] >= upsilon_max:
                if tree.status_of(leaf) != Status.REJECTED:  # l.13-14
                    best[h], upsilon_max = leaf, tree.g[leaf]
                    break
                lcb, _ = gp.at(tree.x[[leaf]]).bounds(0, varsigma(M, settings.eta))
                yield from book.evaluate(leaf, lcb)  # l.16-18; g is the bound while it is pending
        if not best:
            return (yield from leftovers(tree, book))
        for h, leaf in list(best.items()):  # l.19, step (iii)
            reach = range(1, int(min(Xi, settings.Xi_max)) + 1)
            xi = next((xi for xi in reach if h + xi in best), 0)  # l.21
            if xi:
                below = tree.centres_below(leaf, xi)
                below = below[(below != tree.x[leaf]).any(1)]  # at the leaf's own centre, U is g
                posterior = gp.at(below)
                widths = (varsigma(M + 1 + i, settings.eta) for i in range(len(below)))
                bounds = [posterior.bounds(i, width)[1] for i, width in enumerate(widths)]
                z = max([tree.g[leaf], *bounds])  # l.22
                M += len(below)
                if z < tree.g[best[h + xi]]:  # l.23-24
                    del best[h]
        upsilon_max = -inf  # l.25
        for leaf in best.values():  # l.26, steps (iv) and (v)
            if tree.g[leaf] < upsilon_max:  # l.27
                continue
            children = tree.split(leaf)
            posterior = gp.at(tree.centres(children))
            for i, child in enumerate(children):  # l.32
                if not tree.is_new(child):
                    continue
                M += 1
                lcb, ucb = posterior.bounds(i, varsigma(M, settings.eta))
                if ucb >= book.f_plus or in_a_row >= settings.patience:  # l.33
                    in_a_row = 0
                    yield from book.evaluate(child, lcb, posterior, i)  # l.34-35
                    upsilon_max = max(upsilon_max, tree.g[child])
                else:
                    in_a_row += 1
                    book.reject(child, ucb)  # l.37
            book.n += 1  # l.28
        Xi = Xi + 4.0 if book.f_plus > f_plus else max(Xi - 0.5, 1.0)  # l.38
        if prior is not None:
            gp = prior.update() or gp  # l.39
