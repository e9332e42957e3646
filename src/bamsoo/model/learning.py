r"""Learns the hyper-parameters of a GP from data, by maximising their posterior density.

The mean and the variance are profiled out in closed form, which leaves one logarithm of a
length-scale per dimension, :math:`\theta_d = \log \ell_d`. Let :math:`R` be the correlation matrix,
:math:`\alpha = R^{-1}(y - m)` and :math:`s^2 = (y-m)^T\alpha / t`. The log likelihood and its
gradient are, up to a constant,

.. math::
    \log p = -\tfrac{t}{2}\log s^2 - \tfrac12\log|R|, \qquad
    \frac{\partial \log p}{\partial \theta_d} =
    \tfrac12 \sum_{ij} \Bigl(\frac{\alpha_i\alpha_j}{s^2} - R^{-1}_{ij}\Bigr)
    \frac{\partial R_{ij}}{\partial\theta_d}, \qquad
    \frac{\partial R_{ij}}{\partial\theta_d} =
    -2\,\kappa'(r_{ij}^2)\,\frac{(x_{id}-x_{jd})^2}{\ell_d^2}.

Of symmetric matrices only the pairs i > j are stored. The squared differences along each axis are
computed once; for each theta, there are then two products of a matrix and a vector in addition to
the factorisation.

If values are noisy, a nugget :math:`\eta` is added to the diagonal of :math:`R`: the ratio of the
noise's variance to the kernel's. :math:`\log\eta` is one more parameter, after the length-scales:

.. math::
    \frac{\partial \log p}{\partial \log\eta} =
    \tfrac{\eta}{2} \Bigl(\frac{\alpha^T\alpha}{s^2} - \mathrm{tr}\,R^{-1}\Bigr).

If the noise differs from row to row, the nugget of row i is :math:`\eta w_i`, and the contribution
of row i to this derivative is multiplied by :math:`w_i`.

If the noise's variance :math:`\nu` is given, :math:`s^2 = \nu / \eta` is not profiled out, and
:math:`\tfrac12 (t - (y-m)^T\alpha / s^2)` is added to this derivative.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from math import exp, inf, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.typing import Array
from ..kernels import Kernel
from .arcs import squared
from .conditioned import Factor

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Learning:
    """The constants of learning hyper-parameters."""

    nugget: float = 1e-8
    """Added to the diagonal of R while fitting, as a share of the variance. With a smaller nugget,
    R cannot be factored if a search has crowded its points together. The GP itself uses its own,
    smaller `JITTER`."""

    lengths: tuple[float, float] = (0.01, 20.0)
    """The range of length-scales, in units of the unit cube's side. With a smaller one, a model
    says nothing about the space between its points; with a larger one, an axis has no influence."""

    typical: float = 0.5
    """The median of the prior of a length-scale, whose logarithm has a normal distribution. Half a
    side of the cube suits smooth functions. The prior matters while there are few values."""

    spread: float = 1.0
    """The standard deviation of that normal distribution: with 1, length-scales within a factor of
    e of the typical one are common."""

    noise: tuple[float, float] = (1e-8, 1.0)
    """The range of a learned nugget. A nugget of 1 means that half of the values' variance is
    noise."""

    typical_noise: float = 1e-2
    """The median of the prior of a learned nugget, whose logarithm has a normal distribution. With
    0.01, the standard deviation of the noise is a tenth of that of the function."""

    noise_spread: float = 2.0
    """The standard deviation of that normal distribution. It is wide because nothing is known in
    advance about the noise."""

    given_noise: float = 1e3
    """If the noise is given, the kernel's variance is sought between 1 over this factor and this
    factor. Values are standardised, so their variance is not far from 1."""

    tolerance: float = 1e-5
    """A fit ends when a step improves the log posterior by less than this share of it."""

    most: int = 200
    """The largest number of points from which hyper-parameters are learned. The time of a fit grows
    with the cube of this number, and more points change the length-scales by less than their
    uncertainty."""

    crowd: float = 0.02
    """Points that differ from a better one by at most this along every axis are left out of a fit.
    Otherwise the places where a search has crowded its points would decide the length-scales."""

    pace: float = 0.3
    """The first step of the logarithm of a length-scale in `Track`. A factor of e**0.3 = 1.35 is
    large enough to matter and small enough not to overshoot."""

    quicker: float = 1.2
    """The pace is multiplied by this while the slope keeps its sign. The value is the one that
    Riedmiller and Braun recommend."""

    slower: float = 0.5
    """The pace is multiplied by this when the slope changes its sign; also their value."""

    paces: tuple[float, float] = (1e-3, 1.0)
    """The smallest and the largest pace. The former lets a length-scale that has settled move again
    when the data change, and the latter keeps a step within a factor of e."""


LEARNING = Learning()


@dataclass(frozen=True)
class Fit:
    """A fitted prior, and how well it explains the data."""

    kernel: Kernel
    mean: float
    """The constant prior mean."""
    log_posterior: float
    """The log posterior density of the hyper-parameters, up to a constant."""
    nugget: float = LEARNING.nugget
    """Added to the diagonal, as a share of the kernel's variance; it includes the noise, if any."""


@lru_cache(maxsize=8)
def pairs(t: int) -> tuple[Indices, Indices, Indices]:
    """The pairs i > j of t points, and the index of each in a matrix stored by columns."""
    i, j = np.tril_indices(t, -1)
    return i, j, i + t * j


class Evidence:
    """The log posterior of theta, the logarithms of the length-scales, given points and values.

    The mean and the variance are profiled out.

    Parameters
    ----------
    unit : Kernel
        A kernel with length-scale 1 and variance 1.
    X, y : array
        The points, as `Domain.features` returns them, and their values.
    unordered : sequence of int, default ()
        The axes of options, on which any two different values have a distance of 1.
    typical : float, optional
        The typical length-scale; by default that of `learning`.
    trend : array, optional
        A covariance matrix that is added to the kernel's, in units of the kernel's variance. It
        does not depend on theta.
    noise : float or "learn", default 0.0
        The variance of the noise in `y`. Unless it is 0, the last entry of theta is the logarithm
        of the nugget.
    weights : array, optional
        The factor by which the nugget of each row is multiplied; by default 1.
    extra : array, optional
        A fixed nugget of each row, which is added to the learned one; by default 0.
    learning : Learning, optional
        The constants.
    arcs : sequence of int, default ()
        The axes of numbers that do not exist at all points; see `Domain.arcs`.
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
        self._unit, self._noise = unit, noise
        # the kernel's variance is profiled out, unless the noise is given
        self._profiled = isinstance(noise, str) or noise == 0.0
        self._i, self._j, self._at = pairs(t)
        squares = squared(X[self._i], X[self._j], unordered, arcs)
        self._squares: Array = np.ascontiguousarray(squares)
        typical = learning.typical if typical is None else typical
        self._typical: Array = np.full(len(squares), log(typical))
        self._deviation: Array = np.full(len(squares), learning.spread)
        if noise:
            nugget = learning.typical_noise if isinstance(noise, str) else noise
            self._typical = np.append(self._typical, log(nugget))
            self._deviation = np.append(self._deviation, learning.noise_spread)
        self._own: Array = np.full(t, 1.0 + learning.nugget)
        if extra is not None:
            self._own += extra
        self._set(y, trend)

    def _set(self, y: Array, trend: Array | None) -> None:
        self._y, self._trend, self._lift = y, np.zeros(1), np.zeros(1)
        if trend is not None:
            self._trend, self._lift = trend[self._i, self._j], trend.diagonal()
        self._diagonal = self._own + self._lift
        self._sides = np.ones((len(y), 2))
        self._sides[:, 0] = y

    def with_others(self, y: Array, trend: Array | None) -> "Evidence":
        """The evidence of the same points with other values and another trend."""
        found = copy(self)
        found._set(y, trend)
        return found

    def covariance(self, lengths: Array) -> Array:
        """The covariance matrix of the points with its trend, without nuggets, divided by s^2."""
        t = len(self._y)
        K = np.empty((t, t))
        below = self._unit.of(lengths**-2.0 @ self._squares) + self._trend
        K[self._i, self._j] = K[self._j, self._i] = below
        K.flat[:: t + 1] = 1.0 + self._lift
        return K

    def __call__(self, theta: Array) -> tuple[float, Array, float, float]:
        """The log posterior, its gradient, and the mean and the variance that were profiled out."""
        found = self._profile(theta)
        if found is None:
            return -inf, np.zeros_like(theta), 0.0, 1.0
        t, noise = len(self._y), self._noise
        inverse = found.factor.triangle().T.reshape(-1)
        W = found.alpha[self._i] * found.alpha[self._j] / found.s2 - inverse[self._at]
        W *= found.falls
        slopes = -2.0 * found.scales * (self._squares @ W)
        if noise:
            weights = self._weights
            if weights is None:
                trace = float(inverse[:: t + 1].sum())
                square_sum = float(found.alpha @ found.alpha)
            else:
                trace = float(weights @ inverse[:: t + 1])
                square_sum = float(weights @ (found.alpha * found.alpha))
            slope = 0.5 * found.nugget * (square_sum / found.s2 - trace)
            if not self._profiled:
                slope += 0.5 * (t - found.square / found.s2)
            slopes = np.append(slopes, slope)
        gradient = slopes - found.away / self._deviation
        return found.value, gradient, found.mean, found.s2

    def value(self, theta: Array) -> float:
        """The log posterior alone, which takes half of the time."""
        found = self._profile(theta)
        return -inf if found is None else found.value

    def _profile(self, theta: Array) -> "Profile | None":
        """What the value and its gradient share; None if the matrix cannot be factored."""
        t, noise = len(self._y), self._noise
        lengths, nugget = (theta[:-1], exp(theta[-1])) if noise else (theta, 0.0)
        scales = np.exp(-2.0 * lengths)
        R = np.empty(t * t)  # only the lower half is used
        correlations, falls = self._unit.of_and_slope(scales @ self._squares)
        R[self._at] = correlations + self._trend
        R[:: t + 1] = self._diagonal + (nugget if self._weights is None else nugget * self._weights)
        factor = Factor.of(R.reshape(t, t).T, overwrite=True)
        if factor is None:
            return None
        solved = factor.solve(self._sides)
        mean = float(solved[:, 0].sum() / solved[:, 1].sum())
        alpha = solved[:, 0] - mean * solved[:, 1]
        square = float((self._y - mean) @ alpha)
        s2 = max(square / t, 1e-300) if self._profiled else float(noise) / nugget
        away = (theta - self._typical) / self._deviation
        value = -0.5 * t * log(s2) - factor.log_root - 0.5 * float(away @ away)
        if not self._profiled:
            value += 0.5 * (t - square / s2)
        return Profile(value, mean, s2, square, nugget, scales, falls, alpha, away, factor)


class Profile(NamedTuple):
    """An evidence at one theta, in the notation of this module."""

    value: float
    mean: float
    s2: float
    square: float
    """(y - m)^T alpha."""
    nugget: float
    scales: Array
    """1 / l^2, one per axis."""
    falls: Array
    """The slopes of the kernel at the pairs i > j."""
    alpha: Array
    away: Array
    """The distance of theta from its typical value, in standard deviations of its prior."""
    factor: Factor


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
    """Fit a kernel of a family to standardised values `y`, from the best of `starts`.

    Parameters
    ----------
    family : type of Kernel
        The class of the kernel.
    X, y : array
        The points, as `Domain.features` returns them, and their values.
    starts : list of array
        Length-scales, one per axis, followed by a nugget if there is noise. The fit begins at the
        start with the highest posterior density.
    unordered, noise, weights, extra, learning, arcs
        As in `Evidence`.
    steps : int, default 50
        The largest number of steps of the optimiser.
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
    best = minimize(
        descend,
        max((np.clip(np.log(start), low, high) for start in starts), key=evidence.value),
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
    """Follows the maximum of an `Evidence` that changes a little from one call to the next.

    The logarithm of each length-scale has its own step size, the pace, which grows while its slope
    keeps its sign and shrinks when the sign changes (resilient propagation; Riedmiller and Braun,
    1993). This needs only a few evaluations of the evidence each time, whereas a fit from scratch
    needs dozens.

    Parameters
    ----------
    dim : int
        The number of length-scales.
    typical : float
        The length-scale to begin at.
    learning : Learning, optional
        The constants.
    noisy : bool, default False
        Whether to follow the logarithm of the nugget too, for an evidence with noise.
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
        """Take a number of steps; return the best log posterior, its lengths, nugget and mean."""
        best, top, mean = -inf, self.theta, 0.0
        least, most = self._learning.paces
        factors = np.array([1.0, self._learning.quicker, self._learning.slower])  # for 0, 1 and -1
        for _ in range(steps):
            value, slopes, centre, _ = evidence(self.theta)
            if value > best:
                best, top, mean = value, self.theta, centre
            agree = slopes * self._way
            self._pace = self._pace * factors[np.sign(agree).astype(int)]
            self._pace = np.minimum(np.maximum(self._pace, least), most)
            self._way = np.sign(slopes)
            moved = self.theta + self._pace * self._way
            self.theta = np.minimum(np.maximum(moved, self._low), self._high)
        found = np.exp(top)
        if self._noisy:
            return best, found[:-1], float(found[-1]), mean
        return best, found, 0.0, mean


def representative(X: Array, values: Array, learning: Learning = LEARNING) -> list[int]:
    """The indices of at most `learning.most` points to learn from, without crowds of points."""
    order = np.argsort(-values, kind="stable")
    apart = np.ones(len(order), dtype=bool)
    for i, x in enumerate(X[order]):
        if apart[i]:
            later = X[order[i + 1 :]]
            apart[i + 1 :] &= (np.abs(later - x) > learning.crowd).any(axis=1)
    return spread_of(order[apart], learning.most)


def spread_of(order: NDArray[np.intp], most: int) -> list[int]:
    """Choose at most `most` of the indices in `order`, which lists the best first.

    Half of the choice are the best ones, and the other half are spread evenly over the rest.
    """
    if len(order) <= most:
        return sorted(order.tolist())
    best, rest = order[: most // 2], np.sort(order[most // 2 :])
    spread = rest[np.linspace(0, len(rest) - 1, most // 2).astype(int)]
    return sorted({*best.tolist(), *spread.tolist()})
