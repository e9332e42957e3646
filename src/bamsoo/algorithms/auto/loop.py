"""The default: BaMSOO whose prior is learned as it goes, with a local model beside the tree.

What it adds to Algorithm 3, and why, is told in docs/auto.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import numpy as np

from ...checks import check_between, check_callable, check_noise, check_whole
from ...space.axes import Domain
from ..book import Book, leftovers
from ..search import B, Search, Waiting, sqrt_h_max
from ..tree import Status, Tree
from .constants import CONSTANTS, Constants
from .local import Local, probe
from .prior import Prior


@dataclass(frozen=True)
class Auto:
    """Settings of the default; none needs touching.

    Parameters
    ----------
    eta, k, h_max
        As in `BaMSOO`.
    patience : int
        As in `BaMSOO`, but never more than 10,000 over the evaluations so far.
    width : float
        Share of B_N that multiplies sigma; the union bound behind B_N is loose.
    warp : bool
        Let the GP see a logarithm of the values where that is likelier.
    local : bool
        Beside the evaluations in the tree, some at the top of a local model.
    noise : float or "learn"
        Variance of the noise in a value, in the caller's own units; 0 for none. Under noise
        there is no warp: it would bend the noise too.
    constants : Constants
        The numbers behind all this; for experiments.
    """

    eta: float = 0.05
    k: int = 2
    h_max: Callable[[int], float] = sqrt_h_max
    width: float = 0.5
    patience: int = 100
    warp: bool = True
    local: bool = True
    noise: float | str = 0.0
    constants: Constants = CONSTANTS

    def __post_init__(self) -> None:
        check_between("Auto", "eta", self.eta, 0.0, 1.0)
        check_whole("Auto", "k", self.k, 2)
        check_callable("Auto", "h_max", self.h_max)
        check_between("Auto", "width", self.width, 0.0)
        check_whole("Auto", "patience", self.patience)
        check_noise("Auto", self.noise, learn=True)

    def start(self, domain: Domain, rng: np.random.Generator, book: Book, sign: float) -> Search:
        """Begin a search."""
        return auto(self, domain, Tree(domain, self.k), book)


def auto(settings: Auto, domain: Domain, tree: Tree, book: Book) -> Search:
    """BaMSOO (Algorithm 3) with a learned prior, and a local step for each step in the tree."""
    constants = settings.constants
    prior = Prior(tree, book, settings.warp, settings.noise, constants)
    local = Local(len(domain.continuous), constants)
    book.begin(tree, prior.gp)
    yield from book.evaluate(0)
    N, in_a_row, owed = 1, 0, 0.0
    while True:
        prior.update(settings.width * B(N, settings.eta))
        patience = min(settings.patience, max(constants.loop.work // max(book.t, 1), 1))
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
                width = settings.width * prior.calibration * B(N, settings.eta)
                lcb, ucb = posterior.bounds(i, width)
                if ucb >= book.f_plus or not prior.ready or in_a_row >= patience:
                    in_a_row, owed = 0, owed + 1
                    yield from book.evaluate(child, lcb, posterior, i)
                else:
                    in_a_row += 1
                    book.rejected += 1
                    tree.set(child, lcb, Status.REJECTED)
            book.n += 1
            while settings.local and prior.ready and owed >= (every := local.every):
                owed -= every
                yield from local_step(local, domain, book, constants)
        if not expanded:
            return (yield from leftovers(tree, book))


def local_step(local: Local, domain: Domain, book: Book, constants: Constants) -> Waiting:
    """Evaluate the top of the local model, unless that point is known or out already."""
    X = np.array([x for _, x, _, _ in book.records])
    f = book.believed()
    out = np.array([x for x, _ in book.out.values()]).reshape(-1, domain.dim)
    free = domain.continuous
    if not free:
        return
    x = X[int(f.argmax())].copy()
    top = probe(X[:, free], f, out[:, free], constants.local)
    if top is not None:
        x[free] = top
        yield from book.evaluate_point(x)
        return
    keys = [key for key, _, _, _ in book.records]
    local.judge(dict(zip(keys, f.tolist(), strict=True)), book.out)
    steps = np.array([book.out[ticket][0] for ticket in local.waiting]).reshape(-1, domain.dim)
    rest = [i for i in range(domain.dim) if i not in free]
    alike = (X[:, rest] == x[rest]).all(axis=1)  # all, where every axis is continuous
    top = local.propose(X[alike][:, free], f[alike], steps[:, free])
    if top is None:
        return
    x[free] = top
    taken = np.vstack([X, out])
    if np.all((np.abs(taken - x) > constants.loop.same * domain.finest).any(axis=1)):
        local.waiting[book.expect(x)] = float(f.max()), local.view
        book.receive((yield x))
    elif not len(steps):
        local.count(False, local.view)
