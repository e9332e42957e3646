r"""Hyper-parameters of a GP from data: maximum a posteriori, with analytic gradients.

The mean and the variance are profiled out in closed form, which leaves one log
length-scale a dimension, :math:`\theta_d = \log \ell_d`. With :math:`R` the correlation
matrix, :math:`\alpha = R^{-1}(y - m)` and :math:`s^2 = (y-m)^T\alpha / t`:

.. math::
    \log p = -\tfrac{t}{2}\log s^2 - \tfrac12\log|R|, \qquad
    \frac{\partial \log p}{\partial \theta_d} =
    \tfrac12 \sum_{ij} \Bigl(\frac{\alpha_i\alpha_j}{s^2} - R^{-1}_{ij}\Bigr)
    \frac{\partial R_{ij}}{\partial\theta_d}, \qquad
    \frac{\partial R_{ij}}{\partial\theta_d} =
    -2\,\kappa'(r_{ij}^2)\,\frac{(x_{id}-x_{jd})^2}{\ell_d^2}.

Everything symmetric is kept as its pairs i > j alone: the squared differences along each
axis are computed once, and a value of theta then costs two products of a matrix and a vector
beside the factorisation.

Under noise the diagonal of :math:`R` has a nugget :math:`\eta`, the noise's variance over the
kernel's, and :math:`\log\eta` is one more parameter, behind the lengths:

.. math::
    \frac{\partial \log p}{\partial \log\eta} =
    \tfrac{\eta}{2} \Bigl(\frac{\alpha^T\alpha}{s^2} - \mathrm{tr}\,R^{-1}\Bigr).

Where rows differ in noise, the nugget of row i is :math:`\eta w_i`, and :math:`w_i` multiplies what
row i brings to that slope.

Where the noise's variance :math:`\nu` is given, :math:`s^2 = \nu / \eta` is not profiled out, and
:math:`\tfrac12 (t - (y-m)^T\alpha / s^2)` is added to that slope.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, inf, log

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from .._typing import Array
from .arcs import along_arc
from .kernels import Kernel

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Learning:
    """The numbers of learning hyper-parameters."""

    nugget: float = 1e-8
    """Added to the diagonal of R while fitting, as a share of the variance: with less, R of points
    that a search has crowded together cannot be factored. (The GP itself has no nugget.)"""

    lengths: tuple[float, float] = (0.01, 20.0)
    """Length-scales are sought between these, in units of the unit cube: below the lower a model
    says nothing between its points, above the upper an axis has no influence."""

    typical: float = 0.5
    """A priori the log of a length-scale is normal around the log of this. Half a side of the
    cube suits smooth functions; the prior matters while there are few values."""

    spread: float = 1.0
    """The deviation of that normal: a factor of e either way is usual."""

    noise: tuple[float, float] = (1e-8, 1.0)
    """A nugget that is learned is sought between these; with 1 half of the variance is noise."""

    typical_noise: float = 1e-2
    """A priori the log of a learned nugget is normal around the log of this."""

    noise_spread: float = 2.0
    """The deviation of that normal: wide, since nothing is known about the noise."""

    given_noise: float = 1e3
    """Where the noise is given, the kernel's variance is sought up to this factor either side of
    1: values are standardised, so it cannot be farther."""

    tolerance: float = 1e-5
    """A fit ends when a step gains less than this share of the log posterior."""

    most: int = 200
    """Points that hyper-parameters are learned from. A fit costs the cube of this; more points
    change the lengths by less than their uncertainty."""

    crowd: float = 0.02
    """Points nearer than this on every axis belong to one crowd, and the best of them stands for
    it: the rest would teach the length-scales of that one place."""

    pace: float = 0.3
    """First step of a log length-scale that is tracked (see `Track`)."""

    quicker: float = 1.2
    slower: float = 0.5
    """The pace is multiplied by these while the slope keeps its sign, and when it turns:
    Riedmiller and Braun's own values."""

    paces: tuple[float, float] = (1e-3, 1.0)
    """The pace stays between these."""


LEARNING = Learning()


@dataclass(frozen=True)
class Fit:
    """A fitted prior: kernel and constant mean, and how well it explains the data."""

    kernel: Kernel
    mean: float
    log_posterior: float
    nugget: float = LEARNING.nugget
    """On the diagonal, as a share of the kernel's variance; the noise's where there is noise."""


@lru_cache(maxsize=8)
def pairs(t: int) -> tuple[Indices, Indices, Indices]:
    """The pairs i > j of t points, and where each stands in a matrix by columns."""
    i, j = np.tril_indices(t, -1)
    return i, j, i + t * j


class Evidence:
    """The profile log posterior of log length-scales theta, given points and values.

    Parameters
    ----------
    unit : Kernel
        Of length and variance 1.
    X, y : array
        Points, as `Domain.features` shows them, and values.
    unordered : sequence of int
        The axes on which any two different values are 1 apart.
    typical : float, optional
        The typical length-scale, if not that of `learning`.
    trend : array, optional
        A covariance added to the kernel's, in units of its variance, whatever theta.
    noise : float or "learn"
        Variance of the noise in `y`. Other than 0, theta ends with the log of the nugget.
    arcs : sequence of int
        The axes that not all points have; see `Domain.arcs`.
    weights : array, optional
        How many times the nugget each row has; 1 where none are given.
    extra : array, optional
        A nugget of each row that is not learned, besides the other.
    """

    def __init__(
        self,
        unit: Kernel,
        X: Array,
        y: Array,
        unordered: Sequence[int] = (),
        typical: float | None = None,
        trend: Array | None = None,
        noise: float | str = 0.0,
        weights: Array | None = None,
        extra: Array | None = None,
        learning: Learning = LEARNING,
        arcs: Sequence[int] = (),
    ) -> None:
        t = len(y)
        self._weights = weights
        self._unit, self._y, self._noise = unit, y, noise
        self._i, self._j, self._at = pairs(t)
        squares = ((X[self._i] - X[self._j]) ** 2).T
        for axis in unordered:
            squares[axis] = squares[axis] != 0.0
        for axis in arcs:
            squares[axis] = along_arc(X[self._i, axis] - X[self._j, axis]) ** 2
        self._squares: Array = np.ascontiguousarray(squares)
        typical = learning.typical if typical is None else typical
        self._typical: Array = np.full(len(squares), log(typical))
        self._deviation: Array = np.full(len(squares), learning.spread)
        if noise:
            nugget = learning.typical_noise if isinstance(noise, str) else noise
            self._typical = np.append(self._typical, log(nugget))
            self._deviation = np.append(self._deviation, learning.noise_spread)
        self._diagonal: Array = np.full(t, 1.0 + learning.nugget)
        if extra is not None:
            self._diagonal += extra
        self._trend: Array | float = 0.0
        if trend is not None:
            self._diagonal += np.diag(trend)
            self._trend = trend[self._i, self._j]
        self._sides = np.column_stack([y, np.ones(t)])

    def __call__(self, theta: Array) -> tuple[float, Array, float, float]:
        """Log posterior and its gradient; then the mean and the variance profiled out."""
        t = len(self._y)
        noise = self._noise
        lengths, nugget = (theta[:-1], exp(theta[-1])) if noise else (theta, 0.0)
        scales = np.exp(-2.0 * lengths)
        r2 = scales @ self._squares
        R = np.zeros(t * t)
        R[self._at] = self._unit.of(r2) + self._trend
        R[:: t + 1] = self._diagonal + (nugget if self._weights is None else nugget * self._weights)
        L, info = dpotrf(R.reshape(t, t).T, lower=1, clean=0, overwrite_a=1)
        if info:
            return -inf, np.zeros_like(theta), 0.0, 1.0
        solved = dpotrs(L, self._sides, lower=1)[0]
        mean = float(solved[:, 0].sum() / solved[:, 1].sum())
        alpha = solved[:, 0] - mean * solved[:, 1]
        square = float((self._y - mean) @ alpha)
        profiled = isinstance(noise, str) or noise == 0.0
        s2 = max(square / t, 1e-300) if profiled else float(noise) / nugget
        away = (theta - self._typical) / self._deviation
        value = -0.5 * t * log(s2) - float(np.log(L.diagonal()).sum()) - 0.5 * float(away @ away)

        inverse = dpotri(L, lower=1, overwrite_c=1)[0].T.reshape(-1)
        W = alpha[self._i] * alpha[self._j] / s2 - inverse[self._at]
        W *= self._unit.slope(r2)
        slopes = -2.0 * scales * (self._squares @ W)
        if noise:
            weights = self._weights
            if weights is None:
                trace, square_sum = float(inverse[:: t + 1].sum()), float(alpha @ alpha)
            else:
                trace = float(weights @ inverse[:: t + 1])
                square_sum = float(weights @ (alpha * alpha))
            slope = 0.5 * nugget * (square_sum / s2 - trace)
            if not profiled:
                slope += 0.5 * (t - square / s2)
                value += 0.5 * (t - square / s2)
            slopes = np.append(slopes, slope)
        return value, slopes - away / self._deviation, mean, s2


def fit(
    family: type[Kernel],
    X: Array,
    y: Array,
    starts: list[Array],
    unordered: Sequence[int] = (),
    *,
    noise: float | str = 0.0,
    weights: Array | None = None,
    extra: Array | None = None,
    steps: int = 50,
    learning: Learning = LEARNING,
    arcs: Sequence[int] = (),
) -> Fit:
    """The best kernel of a family for standardised values `y`, from the best of `starts`.

    `starts` are length-scales, one an axis, and under noise a nugget behind them; the fit climbs
    from the likeliest of them, at most `steps` steps. The rest as in `Evidence`.
    """
    from scipy.optimize import minimize

    evidence = Evidence(
        family(1.0), X, y, unordered,
        noise=noise, weights=weights, extra=extra, learning=learning, arcs=arcs,
    )  # fmt: skip

    def descend(theta: Array) -> tuple[float, Array]:
        value, gradient, _, _ = evidence(theta)
        return (-value, -gradient) if value > -inf else (1e25, gradient)

    bounds = [learning.lengths] * len(starts[0])
    if isinstance(noise, str):
        bounds[-1] = learning.noise
    elif noise:
        bounds[-1] = noise / learning.given_noise, noise * learning.given_noise
    low, high = np.log(bounds).T
    candidates = [np.clip(np.log(start), low, high) for start in starts]
    theta = candidates[0]
    if len(candidates) > 1:
        theta = min(candidates, key=lambda candidate: descend(candidate)[0])
    best = minimize(
        descend,
        theta,
        jac=True,
        method="L-BFGS-B",
        bounds=list(zip(low, high, strict=True)),
        options={"maxiter": steps, "ftol": learning.tolerance},
    )
    value, _, mean, s2 = evidence(best.x)
    found = np.exp(best.x)
    if noise:
        return Fit(family(found[:-1], s2), mean, value, learning.nugget + float(found[-1]))
    return Fit(family(found, s2), mean, value, learning.nugget)


class Track:
    """Follows the top of an evidence that changes a little from one time to the next.

    Each log length-scale has a pace of its own: quicker while its slope keeps its sign, slower
    once that turns (resilient propagation; Riedmiller and Braun, 1993). A handful of values each
    time is enough, where a fit from scratch needs dozens.

    Parameters
    ----------
    dim : int
    typical : float
        Length-scale to begin at.
    learning : Learning
    noisy : bool
        Follow the log of the nugget too, for evidence with noise.
    """

    def __init__(
        self, dim: int, typical: float, learning: Learning = LEARNING, noisy: bool = False
    ) -> None:
        self._learning, self._noisy = learning, noisy
        self.theta: Array = np.full(dim, log(typical))
        bounds = [learning.lengths] * dim
        if noisy:
            self.theta = np.append(self.theta, log(learning.typical_noise))
            bounds.append(learning.noise)
        self._low, self._high = np.log(bounds).T
        self._pace: Array = np.full(len(self.theta), learning.pace)
        self._way: Array = np.zeros(len(self.theta))

    def follow(self, evidence: Evidence, steps: int) -> tuple[float, Array, float, float]:
        """Go so many steps on; the best log posterior met, its lengths, nugget and mean."""
        best, top, mean = -inf, self.theta, 0.0
        learning = self._learning
        for _ in range(steps):
            value, slopes, centre, _ = evidence(self.theta)
            if value > best:
                best, top, mean = value, self.theta, centre
            agree = slopes * self._way
            turned = np.where(agree < 0, learning.slower, 1.0)
            self._pace = self._pace * np.where(agree > 0, learning.quicker, turned)
            self._pace = np.clip(self._pace, *learning.paces)
            self._way = np.sign(slopes)
            self.theta = np.clip(self.theta + self._pace * self._way, self._low, self._high)
        found = np.exp(top)
        if self._noisy:
            return best, found[:-1], float(found[-1]), mean
        return best, found, 0.0, mean


def representative(X: Array, values: Array, learning: Learning = LEARNING) -> list[int]:
    """At most `learning.most` of the points to learn from, one of each crowd."""
    order = np.argsort(-values, kind="stable")
    apart = np.ones(len(order), dtype=bool)
    for i, x in enumerate(X[order]):
        if apart[i]:
            later = X[order[i + 1 :]]
            apart[i + 1 :] &= (np.abs(later - x) > learning.crowd).any(axis=1)
    return spread_of(order[apart], learning.most)


def spread_of(order: NDArray[np.intp], most: int) -> list[int]:
    """At most so many of the points in `order`, best first: the best half, and an even spread."""
    if len(order) <= most:
        return sorted(order.tolist())
    best, rest = order[: most // 2], np.sort(order[most // 2 :])
    spread = rest[np.linspace(0, len(rest) - 1, most // 2).astype(int)]
    return sorted({*best.tolist(), *spread.tolist()})
