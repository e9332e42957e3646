"""The prior that the default learns as it goes."""

from math import sqrt

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from ..._typing import Array
from ...model.gp import GP
from ...model.kernels import Matern52
from ...model.learning import MOST, TYPICAL_NOISE, Fit, fit, representative, spread_of
from ...model.warp import Linear, Transform, transforms
from ..book import Book
from ..tree import Status, Tree

_ROWS = 1000  # points the GP starts from after a refit, and
_GAP = 250  # evaluations until the next at the latest: its factor stays this small for ever
_BLOCK = 1000  # leaves whose bounds are computed at once
_STEPS = 10  # of a fit, from where the last one ended


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
