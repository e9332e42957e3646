"""The default: BaMSOO whose prior is learned as it goes, with a local model beside the tree.

What it adds to Algorithm 3, and why, is told in docs/auto.md.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import asinh, inf, log, sqrt

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from .._typing import Array
from ..axes import Domain
from ..checks import check_between, check_callable, check_noise, check_whole
from ..gp import GP
from ..kernels import Matern52
from ..learning import MOST, TYPICAL_NOISE, Fit, fit, representative, spread_of
from ..partition import Status, Tree
from .base import B, Book, Linear, Search, Waiting, leftovers, sqrt_h_max
from .local import Local, probe

_ROWS = 1000  # points the GP starts from after a refit, and
_GAP = 250  # evaluations until the next at the latest: its factor stays this small for ever
_BLOCK = 1000  # leaves whose bounds are computed at once
_WORK = 10_000  # rejections in a row, times evaluations so far, before one must be evaluated
_STEPS = 10  # of a fit, from where the last one ended
_BENDS = (1.0, 0.1, 0.01)  # where a warp turns from linear to logarithmic, in deviations

Transform = Callable[[float], float]


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
    """

    eta: float = 0.05
    k: int = 2
    h_max: Callable[[int], float] = sqrt_h_max
    width: float = 0.5
    patience: int = 100
    warp: bool = True
    local: bool = True
    noise: float | str = 0.0

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
    prior, local = Prior(tree, book, settings.warp, settings.noise), Local(len(domain.continuous))
    book.begin(tree, prior.gp)
    yield from book.evaluate(0)
    N, in_a_row, owed = 1, 0, 0.0
    while True:
        prior.update(settings.width * B(N, settings.eta))
        patience = min(settings.patience, max(_WORK // max(book.t, 1), 1))
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
                yield from local_step(local, domain, book)
        if not expanded:
            return (yield from leftovers(tree, book))


def local_step(local: Local, domain: Domain, book: Book) -> Waiting:
    """Evaluate the top of the local model, unless that point is known or out already."""
    X = np.array([x for _, x, _, _ in book.records])
    f = book.believed()
    out = np.array([x for x, _ in book.out.values()]).reshape(-1, domain.dim)
    free = domain.continuous
    if not free:
        return
    x = X[int(f.argmax())].copy()
    top = probe(X[:, free], f, out[:, free])
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
    if np.all((np.abs(taken - x) > 4.0 * domain.finest).any(axis=1)):
        local.waiting[book.asked] = float(f.max()), local.view
        yield from book.evaluate_point(x)
    elif not len(steps):
        local.count(False, local.view)


class Prior:
    """A GP on transformed values, refitted when the data have grown by a quarter.

    Every number the search compares (g, f_plus, the GP's values) is in the same transformed
    units; `update` moves them all at once. `calibration` is how much wider than sigma the
    leave-one-out errors are, never less than 1: a GP too sure of itself would starve the
    search.
    """

    def __init__(self, tree: Tree, book: Book, warp: bool, noise: float | str = 0.0) -> None:
        self._tree, self._book, self._warp, self._noise = tree, book, warp and not noise, noise
        self._next = 4
        self._lengths: Array = np.full(tree.dim, 0.5)
        self._nugget = TYPICAL_NOISE
        self.gp = GP(Matern52(self._lengths), tree.dim, domain=tree.domain)
        self.ready = False
        self.calibration = 1.0

    def update(self, width: float) -> None:
        """Refit if it is time, then bring every bound up to date."""
        book, tree = self._book, self._tree
        if book.t < self._next:
            return
        self._next = book.t + min(max(2, book.t // 4), _GAP)
        X = np.array([x for _, x, _, _ in book.records])
        raw = np.array([value for _, _, value, _ in book.records])
        order = np.argsort(-book.believed(), kind="stable")
        some = spread_of(order, MOST) if self._noise else representative(X, raw)
        owners = tree.domain.owners
        seen = tree.domain.features(X[some])
        best: tuple[float, Fit, Transform, Array] | None = None
        for transform, log_slope in transforms(raw[some], self._warp):
            y = np.array([transform(value) for value in raw[some].tolist()])
            starts = [self._lengths, np.full(tree.dim, 0.5)]
            noise = self._noise_after(transform)
            if noise:
                nuggets = self._nugget, TYPICAL_NOISE if isinstance(noise, str) else noise
                starts = [np.append(*both) for both in zip(starts, nuggets, strict=True)]
            steps = _STEPS if not noise else 2 * _STEPS
            fitted = fit(Matern52, seen, y, starts, owners, noise=noise, steps=steps)
            score = fitted.log_posterior + log_slope
            if best is None or score > best[0]:
                best = score, fitted, transform, y
        assert best is not None
        _, fitted, transform, y = best
        self._lengths = fitted.kernel.lengths(tree.dim)
        self.calibration = leave_one_out_ratio(fitted, seen / self._lengths[owners], y)
        variance = fitted.nugget * fitted.kernel.variance if self._noise else 0.0
        self.gp = GP(fitted.kernel, tree.dim, fitted.mean, variance, tree.domain)
        self._nugget = fitted.nugget
        self.ready = True
        book.move(transform, self.gp, spread_of(order, _ROWS))
        self._refresh(width * self.calibration)

    def _noise_after(self, transform: Transform) -> float | str:
        """The noise in transformed units, within reason; "learn" and 0 stay what they are."""
        if isinstance(self._noise, str) or not self._noise:
            return self._noise
        assert isinstance(transform, Linear)
        return min(max(transform.variance(self._noise), 1e-8), 100.0)

    def _refresh(self, width: float) -> None:
        """New lower bounds for the leaves that have no value."""
        tree = self._tree
        bounded = [
            node
            for node in tree.leaves()
            if tree.status_of(node) in (Status.REJECTED, Status.PENDING)
        ]
        for i in range(0, len(bounded), _BLOCK):
            block = bounded[i : i + _BLOCK]
            mu, sigma = self.gp.posterior(tree.x[block])
            for node, lcb in zip(block, (mu - width * sigma).tolist(), strict=True):
                tree.set(node, lcb, tree.status_of(node))


def transforms(values: Array, warp: bool) -> Iterator[tuple[Transform, float]]:
    """Strictly increasing transforms to mean 0 and deviation 1, with the log of their slopes.

    First the linear one. Then, if asked, for a few bends b, with u the distance below the
    best value in deviations: -asinh(u / b), linear near the best and logarithmic far below.
    """
    linear, slope = standardisation(values)
    yield linear, len(values) * log(slope)
    y = np.array([linear(value) for value in values.tolist()])
    best = float(y.max())
    for bend in _BENDS if warp and y.min() < best else ():
        u = (best - y) / bend
        warped = -np.arcsinh(u)
        shift, scale = float(warped.mean()), max(float(warped.std()), 1e-12)
        log_slope = -float(0.5 * np.log1p(u * u).sum()) + len(y) * log(slope / (bend * scale))

        def bent(
            value: float, b: float = bend, shift: float = shift, scale: float = scale
        ) -> float:
            return (-asinh((best - linear(value)) / b) - shift) / scale

        yield bent, log_slope


def standardisation(values: Array) -> tuple[Linear, float]:
    """To mean 0 and deviation 1, safe for values of any size and for constant ones.

    Returns the transform and its slope for values over the largest of them, whose constant
    factor is common to all transforms of the same values.
    """
    size = max(float(np.abs(values).max()), 1e-300)
    small = values / size
    shift, scale = float(small.mean()), max(float(small.std()), 1e-12)
    return Linear(size, shift, scale), 1.0 / scale


def leave_one_out_ratio(fitted: Fit, Z: Array, y: Array) -> float:
    r"""Root mean square of leave-one-out errors in units of their sigma, from 1 to 4.

    `Z` holds the points in length-scales.

    With :math:`\alpha = K^{-1}(y - m)` the error at point i is
    :math:`\alpha_i / K^{-1}_{ii}` and its variance :math:`1 / K^{-1}_{ii}`.
    """
    K = fitted.kernel.of(((Z[:, None] - Z[None]) ** 2).sum(-1))
    K.flat[:: len(y) + 1] += fitted.nugget * fitted.kernel.variance
    factor, info = dpotrf(K, lower=1, clean=1)
    if info:
        return 1.0
    inverse = dpotri(factor, lower=1)[0]
    inverse.flat[:: len(y) + 1] *= 0.5
    inverse += inverse.T
    alpha = inverse @ (y - fitted.mean)
    return sqrt(min(max(float(np.mean(alpha**2 / np.diag(inverse))), 1.0), 16.0))
