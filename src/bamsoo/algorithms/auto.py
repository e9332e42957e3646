"""The default: BaMSOO whose prior is learned as it goes."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import numpy as np

from .._typing import Array
from ..checks import check_between, check_callable, check_whole
from ..gp import GP
from ..kernels import Matern52
from ..learning import fit
from ..partition import Status, Tree
from .base import (
    EXHAUSTED,
    B,
    Book,
    Domain,
    Search,
    sqrt_h_max,
)

_FAR = 1e150  # standardised values are cut here: the next fit brings them back


@dataclass(frozen=True)
class Auto:
    """Settings of the default; none needs touching.

    Parameters
    ----------
    eta, k, h_max, patience
        As in `BaMSOO`.
    width : float
        Share of B_N that multiplies sigma; the union bound behind B_N is loose.
    """

    eta: float = 0.05
    k: int = 3
    h_max: Callable[[int], float] = sqrt_h_max
    width: float = 0.5
    patience: int = 100

    def __post_init__(self) -> None:
        check_between("Auto", "eta", self.eta, 0.0, 1.0)
        check_whole("Auto", "k", self.k, 2)
        check_callable("Auto", "h_max", self.h_max)
        check_whole("Auto", "patience", self.patience)
        check_between("Auto", "width", self.width, 0.0)

    def start(self, domain: Domain, rng: np.random.Generator, book: Book, sign: float) -> Search:
        """Begin a search."""
        return auto(self, Tree(domain.dim, self.k, domain.finest), book)


def auto(settings: Auto, tree: Tree, book: Book) -> Search:
    """BaMSOO (Algorithm 3) on standardised values, with a prior learned between sweeps."""
    prior = Learned(tree, book)
    book.begin(tree, prior.gp)
    yield from book.evaluate(0)
    N, in_a_row = 1, 0
    while True:
        prior.update(settings.width * B(N, settings.eta))
        nu_max, expanded = -inf, False
        for h in tree.sweep(settings.h_max(book.n)):
            leaf = tree.best_leaf(h)
            if leaf is None or (expanded and tree.g[leaf] <= nu_max):
                continue
            nu_max, expanded = tree.g[leaf], True
            children = tree.split(leaf)
            posterior = prior.gp.at(tree.centres(children))
            for i, child in enumerate(children):
                N += 1
                if not tree.is_new(child):
                    continue
                lcb, ucb = posterior.bounds(i, settings.width * B(N, settings.eta))
                if ucb >= book.f_plus or not prior.ready or in_a_row >= settings.patience:
                    in_a_row = 0
                    yield from book.evaluate(child, lcb, posterior, i)
                else:
                    in_a_row += 1
                    book.rejected += 1
                    tree.set(child, lcb, Status.REJECTED)
            book.n += 1
        if not expanded:
            return EXHAUSTED


class Learned:
    """A GP on standardised values, refitted when the data have grown by a quarter.

    Every number the search compares (g, f_plus, the GP's values) is in the same
    standardised units; `update` moves them all at once.
    """

    def __init__(self, tree: Tree, book: Book) -> None:
        self._tree, self._book = tree, book
        self.ready = False
        self._next = 4
        self._lengths: Array = np.full(tree.dim, 0.5)
        self.gp = GP(Matern52(self._lengths), tree.dim)

    def update(self, width: float) -> None:
        """Refit if it is time, then bring every bound up to date."""
        book, tree = self._book, self._tree
        if book.t < self._next:
            return
        self._next = book.t + max(2, book.t // 4)
        X = np.array([x for _, x, _, _ in book.records])
        raw = np.array([value for _, _, value, _ in book.records])
        standardise = standardisation(raw)
        y = np.array([standardise(value) for value in raw.tolist()])
        fitted = fit(Matern52, X, y, [self._lengths, np.full(tree.dim, 0.5)])
        self._lengths = fitted.kernel.lengths(tree.dim)
        self.gp = GP(fitted.kernel, tree.dim, fitted.mean)
        book.move(standardise, self.gp)
        self.ready = True
        bounded = [
            n for n in tree.leaves() if tree.status_of(n) in (Status.REJECTED, Status.PENDING)
        ]
        if bounded:
            mu, sigma = self.gp.posterior(tree.x[bounded])
            for node, lcb in zip(bounded, (mu - width * sigma).tolist(), strict=True):
                tree.set(node, lcb, tree.status_of(node))


def standardisation(values: Array) -> Callable[[float], float]:
    """To mean 0 and deviation 1, safe for values of any size and for constant ones."""
    size = max(float(np.abs(values).max()), 1e-300)
    small = values / size
    shift, scale = float(small.mean()), max(float(small.std()), 1e-12)
    return lambda value: min(max((value / size - shift) / scale, -_FAR), _FAR)
