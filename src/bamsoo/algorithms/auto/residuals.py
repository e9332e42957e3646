r"""A model of each residual of a fit around a point, and of their sum of squares.

A model that sees each residual needs far fewer points than one that sees only their sum: it is
bent where the residuals are straight. All residuals have the same Gaussian process, so that one
factorisation serves them all. With the point as the origin, its kernel is that of the Taylor series
of a smooth function,

.. math:: k(z, z') = \ell^2 (e^{z^T z' / \ell^2} - 1) = z^T z' + (z^T z')^2 / 2 \ell^2 + \dots,

and its value at the origin is the residual there. Few points give the slope, of Gauss and Newton,
and more of them the curvature. Divided by the distance of each point, the linear terms of all
points count equally and the others grow with the distance, so that near points count more for the
slope. The length :math:`\ell`, beyond which a residual is bent, is the most likely one. With at
least twice as many points as axes, each axis has a scale of its own.

With a loss, it takes the place of the squares only after the residuals have been modelled. Far from
the best fit nearly all residuals are outliers, and what the loss leaves of them has a kink where a
residual changes its sign, while the residual itself is smooth.
"""

from dataclasses import replace
from functools import cached_property
from math import log

import numpy as np

from ...base.typing import Array
from ...model.conditioned import Factor
from ...record.residuals import SumOfSquares

LENGTHS = np.geomspace(0.02, 100.0, 35)
"""The lengths that are compared, in units of the cube; the last is as good as a plane."""

MOST = 50
"""The number of residuals that a climb models. Their sum of squares is hardly less exact than with
all of them, because so many directions are seldom needed, and each costs time."""

_TYPICAL, _SPREAD = 1.0, 2.0  # a priori, log length is normal around that of a range of the space
_CHANGE = 1.5  # scales are multiplied or divided by this, if that is more likely
_ENOUGH = 2  # times as many points as axes; fewer cannot tell a bent axis from one that matters
_NUGGET = 1e-10  # of the diagonal: what rounding errors leave of two points in one direction
_NOISES = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0)  # that are compared, in units of the largest change
_LARGEST = 1e3  # changes this many times larger than usual are cut off; far out, slopes differ
_HUGE = 1e100  # larger residuals are divided by their size, or products of them would overflow
_FAR = 50.0  # exponents beyond this would overflow when they are squared


class ResidualModel:
    """The model, in the frame of the cube around the origin.

    Parameters
    ----------
    Z : array
        Points relative to the origin, which is not one of them, one per row.
    R : array
        The residuals at these points, one row each; nan for missing data.
    r : array
        The residuals at the origin.
    noisy : bool, default False
        Whether residuals have noise, whose variance is then learned.
    most : int
        If there are more residuals than this, they are rotated, and those that vary are kept.
    scales : array, optional
        What the axes are multiplied by, to begin the search for more likely scales. Without them,
        all are 1.
    squares : SumOfSquares, optional
        The loss. Its weights are not used: the residuals have them.
    """

    everywhere = False  # as in `LocalModel`

    constant: float
    """The covariance that all changes share, because the residual at the origin has noise."""

    def __init__(
        self,
        Z: Array,
        R: Array,
        r: Array,
        noisy: bool = False,
        most: int = MOST,
        scales: Array | None = None,
        squares: SumOfSquares | None = None,
    ) -> None:
        self._squares = None if squares is None or squares.loss == "linear" else squares
        self.S, self.lengths = np.eye(Z.shape[1]), np.ones(Z.shape[1])
        self._r, Y = np.nan_to_num(r), np.nan_to_num(R - r)
        usual = float(np.median(np.abs(Y).max(1))) if Y.size else 0.0
        size = max(float(np.abs(self._r).max(initial=0.0)), usual, 1e-150)
        Y = np.clip(Y, -_LARGEST * size, _LARGEST * size)
        self._unit = size if size > _HUGE else 1.0
        self._r, Y, self._rest = self._r / self._unit, Y / self._unit, 0.0
        if self._squares is not None:
            self._squares = replace(self._squares, f_scale=self._squares.f_scale / self._unit)
        if Y.shape[1] > most and self._squares is None:  # a loss is that of each residual
            self._rotate(Y @ Y.T, Y @ self._r, most)
        else:
            self._Y = Y
        self._scale = max(self._sum(self._r), 1e-300)
        self.Z = Z
        self._scaled(np.ones(Z.shape[1]) if scales is None else scales)
        self._fit(_NOISES if noisy else _NOISES[:1], scales is not None)

    def _scaled(self, scales: Array) -> None:
        """Multiply the axes by these scales."""
        self.scales, self._U = scales, self.Z * scales
        self._norms = np.maximum(np.sqrt((self._U**2).sum(1)), 1e-300)

    def _rotate(self, gram: Array, along: Array, most: int) -> None:
        """Replace the residuals by the projections on the directions in which they vary most."""
        squares, vectors = np.linalg.eigh(gram)
        kept = (squares > 1e-15 * squares[-1:]) & (np.arange(len(squares)) >= len(squares) - most)
        sizes = np.sqrt(squares[kept])
        self._Y = vectors[:, kept] * sizes
        origin = vectors[:, kept].T @ along / sizes
        self._rest = max(float(self._r @ self._r - origin @ origin), 0.0)
        self._r = origin

    def _fit(self, noises: tuple[float, ...], scaling: bool) -> None:
        """Find the most likely length and noise, and then perhaps the scale of each axis."""
        n, D = self.Z.shape
        self.length, self.constant = _TYPICAL, 0.0
        if not n:
            self._A = self._Y
            return
        unit = self._Y / max(float(np.abs(self._Y).max(initial=0.0)), 1e-300)
        gram = unit @ unit.T
        # the number of directions in which residuals vary: those that do not say nothing
        slopes = gram / (self._norms[:, None] * self._norms)
        columns = max(float(np.trace(slopes)) ** 2 / max(float((slopes**2).sum()), 1e-300), 1.0)
        best, size = -np.inf, float(self._norms.max())

        def improves(length: float, constant: float) -> bool:
            nonlocal best
            factor = Factor.of(self._covariance(length, constant))
            if factor is None:
                return False
            norms = self._norms
            left = float(np.trace(factor.solve(gram / (norms[:, None] * norms))))
            value = -0.5 * n * columns * log(max(left, 1e-300))
            value -= columns * (factor.log_root + float(np.log(norms).sum()))
            value -= 0.5 * (log(length / _TYPICAL) / _SPREAD) ** 2
            value -= 0.5 * float(((np.log(self.scales) / _SPREAD) ** 2).sum())
            if value > best:
                best, self._factor = value, factor
                self.length, self.constant = length, constant
                return True
            return False

        for length in LENGTHS[min(0.5 * size, LENGTHS[-1]) <= LENGTHS].tolist():
            for noise in noises:
                improves(length, (noise * size) ** 2)
        for j in range(D) if scaling and n >= _ENOUGH * D else ():
            before = self.scales
            for change in (_CHANGE, 1.0 / _CHANGE):
                scales = before.copy()
                scales[j] *= change
                self._scaled(scales)
                if improves(self.length, self.constant):
                    break
            else:
                self._scaled(before)
        norms = self._norms[:, None]
        self._A = self._factor.solve(self._Y / norms) / norms

    def _covariance(self, length: float, constant: float) -> Array:
        """Of the changes of a residual from the origin, each divided by its distance.

        Under noise, that of the residual at the origin is in all of them.
        """
        products = self._norms[:, None] * self._norms
        K: Array = (length**2 * np.expm1(self._U @ self._U.T / length**2) + constant) / products
        K.flat[:: len(K) + 1] += constant / self._norms**2 + _NUGGET * K.diagonal()
        return K

    def residuals(self, z: Array) -> Array:
        """The residuals at a point, perhaps rotated."""
        return self._at(self._bent(z)) * self._unit

    def _bent(self, z: Array) -> Array:
        return np.asarray(np.clip(self._U @ (self.scales * z) / self.length**2, -_FAR, _FAR))

    def _at(self, bent: Array) -> Array:
        return np.asarray(self._r + (self.length**2 * np.expm1(bent) + self.constant) @ self._A)

    def _sum(self, r: Array) -> float:
        """The sum of the squares of residuals, or of what the loss leaves of them."""
        seen = r if self._squares is None else self._squares.seen(r)
        return float(seen @ seen) + self._rest

    def value(self, z: Array) -> float:
        """The sum of squares at a point."""
        return self._sum(self._at(self._bent(z))) * self._unit * self._unit

    def height(self, z: Array) -> float:
        """Half the sum of squares with a minus sign, relative to its value at the origin."""
        return -0.5 * self._sum(self._at(self._bent(z))) / self._scale

    def derivatives(self, z: Array) -> tuple[float, Array, Array]:
        """The height at a point, its gradient and its Hessian."""
        bent = self._bent(z)
        r, steep = self._at(bent), np.exp(bent)
        Z = self._U * self.scales
        slopes = (Z.T * steep) @ self._A
        pull, bends = r, slopes
        if self._squares is not None:
            pull, change = self._squares.pull(r)
            bends = slopes * change
        curved = (Z.T * (steep * (self._A @ pull))) @ Z / self.length**2
        height = -0.5 * self._sum(r) / self._scale
        return height, -(slopes @ pull) / self._scale, -(bends @ slopes.T + curved) / self._scale

    @cached_property
    def slopes(self) -> Array:
        """The gradient of each residual at the origin, perhaps rotated; one column each."""
        return np.asarray((self._U * self.scales).T @ self._A) * self._unit

    def unknown(self, Z: Array) -> Array:
        """The covariance of the slope at the origin, if the residuals at `Z` were known, too.

        The slope is that by coordinates which are multiplied by the scales. The covariance is
        relative to that before any is known, so that its eigenvalues are between 0 and 1.
        """
        Z = Z[(Z != 0.0).any(axis=1)] * self.scales  # the origin itself says nothing
        if not len(self.Z) + len(Z):
            return np.eye(len(self.lengths))
        norms = np.append(self._norms, np.maximum(np.sqrt((Z**2).sum(1)), 1e-12))
        Z = np.vstack([self._U, Z])
        exponents = np.minimum(Z @ Z.T / self.length**2, _FAR)
        K = self.length**2 * np.expm1(exponents) / (norms[:, None] * norms)
        K.flat[:: len(K) + 1] *= 1.0 + 1e-8
        U = Z / norms[:, None]
        return np.asarray(np.eye(Z.shape[1]) - U.T @ np.linalg.solve(K, U))
