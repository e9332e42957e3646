r"""A local model of the objective around the best point.

The tree finds the right region, but needs many cells to find an optimum to many digits. That is the
task of this model. It is a GP through the points nearest to the incumbent :math:`x^+`, in a frame
of its own, :math:`x = x^+ + S z`, scaled so that these points fill [-1, 1]^D. There are two frames:
one along the axes, and one along the principal axes of the last curvature, in which a narrow
slanted valley is round. In each frame the GP is fitted with and without a quadratic trend along
its axes. Two more models have heavy trends: a plane or a round bowl, and any quadratic function.
The most likely of the six is used.
"""

from dataclasses import dataclass
from math import log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...base.typing import Array
from ...kernels import SquaredExponential
from ...model.conditioned import Factor
from ...model.learning import LEARNING, Evidence, Learning, Track
from ...model.warp import log_heights, size_of, standardised

UNIT = SquaredExponential(1.0)
_NUGGETS = (1e-12, 1e-10, 1e-8)  # shares of the diagonal, the first that can be factored is added


@dataclass(frozen=True)
class LocalConstants:
    """Constants of the local model."""

    typical: float = 2.0
    """The length-scale that is expected a priori, in a frame in which the points fill [-1, 1]^D. It
    is long because a trust region is a place where the function is expected to be smooth."""

    trends: tuple[float, ...] = (0.0, 1.0)
    """The weights of the quadratic trend that are tried; the most likely one is used. 0 means no
    trend."""

    heavy: float = 1e6
    """The weight of heavy trends. It is so large that such a trend has to explain the values to
    three digits. One is linear or curved equally in all directions, and D + 3 points are enough to
    recognise it; with 1e4 it takes a few more. The other is any quadratic function: of those
    through the points it takes the one with the smallest curvature, as in Powell's methods. With 0
    neither is tried."""

    products: bool = True
    """Whether the second heavy trend is tried. In fifty dimensions it learns slanted valleys from
    fewer points than the frames do."""

    steps: int = 4
    """The number of steps by which the length-scales are improved at each proposal, starting from
    where they were left at the last one."""

    bend: float | None = 0.2
    """The logarithm of heights turns linear below the height that this share of the values do not
    reach. None means that logarithms are never taken."""

    curved: float = 1e-2
    """The smallest curvature that the next frame takes into account, as a share of the largest. As
    the frame is scaled by the square root, it stretches by at most a factor of 10 from one step to
    the next."""


class Trend(NamedTuple):
    """The quadratic trend of a model."""

    tau: float
    """Its weight; 0 if there is none."""
    beta: float = 0.5
    """How much single axes may be curved in addition to what all of them share."""
    chi: float = 0.0
    """The same of products of axes."""


class LocalModel(NamedTuple):
    r"""A fitted mean, :math:`\sum_i \alpha_i k(z, z_i)`, in its frame.

    :math:`k(z, z') = \kappa(z, z') + \tau (z^T z' + \beta \sum_d z_d^2 z_d'^2 + |z|^2|z'|^2 +
    \chi (z^T z')^2)`, with :math:`\kappa` squared-exponential. The second part is a quadratic
    trend; its third term curves it equally along all axes.
    """

    log_posterior: float
    S: Array
    Z: Array
    lengths: Array
    trend: Trend
    alpha: Array

    def height(self, z: Array) -> float:
        """The mean at a point without its constant term."""
        linear, bent = _trend(self.Z, self.trend, self.alpha)
        return float(
            self.alpha @ _correlations((z - self.Z) / self.lengths) + linear @ z + z @ bent @ z
        )

    @property
    def everywhere(self) -> bool:
        """Whether it is a plane or a round bowl, which holds far from its points too."""
        tau, beta, chi = self.trend
        return tau > 0.0 and beta == chi == 0.0

    def derivatives(self, z: Array) -> tuple[float, Array, Array]:
        """The mean at a point without its constant term, its gradient and its Hessian."""
        return derivatives(z, self.Z, self.lengths, self.trend, self.alpha)


class Framed(NamedTuple):
    """The points of a view in a frame, which several models share."""

    S: Array
    upright: bool
    """Whether the frame is along the axes of the cube."""
    Z: Array
    trend: Array
    evidence: Evidence


class Measured(NamedTuple):
    """Noisy values as they were measured, and as the global model sees them."""

    values: Array
    seen: Array
    log_slopes: Array
    """The logarithms of the slopes of the global model's transform at the values."""
    weights: Array
    """The variances of the noise in the values, relative to their mean."""

    def at(self, some: NDArray[Any]) -> "Measured":
        """The entries of some of the points, with weights relative to their own mean."""
        values, seen, log_slopes, weights = (column[some] for column in self)
        return Measured(values, seen, log_slopes, weights / max(float(weights.mean()), 1e-300))


class Local:
    """A model of the objective around a point, fitted again for each step.

    Parameters
    ----------
    dim : int
    constants : LocalConstants
    learning : Learning
    noisy : bool
        Whether to learn the noise in the values instead of taking them to be exact.
    """

    def __init__(
        self,
        dim: int,
        constants: LocalConstants,
        learning: Learning = LEARNING,
        noisy: bool = False,
    ) -> None:
        self._noise: float | str = "learn" if noisy else 0.0
        self._constants, self._learning = constants, learning
        self._tracks: dict[tuple[int, bool, float], Track] = {}
        self._axes: Array = np.eye(dim)
        self._frame = self._axes
        self._curved: Array | None = None

    def nearest(self, X: Array, centre: Array, count: int) -> NDArray[np.intp]:
        """The rows of X that are nearest to the centre, in the frame of the last model."""
        reach = np.linalg.solve(self._frame, (X - centre).T)
        return np.argsort((reach**2).sum(0), kind="stable")[:count]

    def fit(self, view: int, offsets: Array, f: Array, measured: Measured | None) -> LocalModel:
        """The most likely model.

        Parameters
        ----------
        view : int
            The number of points that the caller usually takes. The length-scales of models with the
            same number are followed from one step to the next.
        offsets, f : array
            The points relative to the centre, and their values.
        measured : Measured, optional
            Under noise, the values that the model is fitted to instead.
        """
        constants = self._constants
        weights = None if measured is None else measured.weights
        frames = [self._axes] if self._curved is None else [self._axes, self._curved]
        framed = [self._framed(frame, offsets, weights) for frame in frames]
        if measured is None:
            plain = standardised(f / size_of(f))[0]
            y, log_slope = self._unbent(view, framed[0], plain)
        else:
            y = self._as_measured(view, framed[0], measured)
        fits = [self._fitted(view, each, tau, y) for each in framed for tau in constants.trends]
        best = max(fits, key=lambda fit: fit.log_posterior)
        model = best.model(y, best.nugget * (np.ones(len(y)) if weights is None else weights))
        if measured is None and len(f) >= offsets.shape[1] + 3:
            return self._heavy(offsets, plain, model.log_posterior + log_slope) or model
        return model

    def turn(self, model: LocalModel, z: Array) -> None:
        """Take the next frames from this model, and from its curvature at z."""
        self._frame = model.S
        self._curved = curvature_frame(model, z, self._constants)

    def _track(self, view: int, upright: bool, tau: float) -> Track:
        key = view, upright, tau
        if key not in self._tracks:
            dim, typical = len(self._axes), self._constants.typical
            self._tracks[key] = Track(dim, typical, self._learning, bool(self._noise))
        return self._tracks[key]

    def _framed(self, frame: Array, offsets: Array, weights: Array | None) -> Framed:
        """The points in a frame, and what all models in it share."""
        Z, sides = filling(frame, offsets)
        evidence = Evidence(
            UNIT, Z, np.zeros(len(Z)), typical=self._constants.typical,
            noise=self._noise, weights=weights, learning=self._learning,
        )  # fmt: skip
        return Framed(frame * sides, frame is self._axes, Z, quadratic(Z, Trend(1.0)), evidence)

    def _heavy(self, offsets: Array, y: Array, other: float) -> LocalModel | None:
        """The more likely model with a heavy trend; None if another log posterior is higher.

        Its frame has the same scale along all axes, or a round bowl would not be round.
        """
        constants = self._constants
        if not constants.heavy:
            return None
        heavy = [Trend(constants.heavy, 0.0, chi) for chi in (0.0, 1.0)[: 1 + constants.products]]
        size = max(float(np.abs(offsets).max()), 1e-12)
        S, Z = size * self._axes, offsets / size
        lengths = np.full(Z.shape[1], constants.typical)
        theta = np.log(lengths)
        plain = Evidence(UNIT, Z, y, typical=constants.typical, learning=self._learning)
        best: tuple[Trend, Evidence] | None = None
        for trend in heavy:
            evidence = plain.with_others(y, quadratic(Z, trend))
            if (value := evidence.value(theta)) > other:
                other, best = value, (trend, evidence)
        if best is None:
            return None
        trend, evidence = best
        fit = LocalFit(S, Z, trend, evidence, other, lengths, 0.0, evidence(theta)[2])
        return fit.model(y, np.zeros(len(y)))

    def _unbent(self, view: int, axes: Framed, plain: Array) -> tuple[Array, float]:
        """The standardised values, or the logarithms of their height above the worst of them.

        Logarithms turn a peak on a plain into a bowl. The two are compared by the evidence of a
        model with a trend and with the length-scales of the last fit; the more likely one is used.
        Also returns the sum of the logarithms of the transform's slopes.
        """
        if self._constants.bend is None:
            return plain, 0.0
        logs, log_slope = log_heights(plain, self._constants.bend)
        theta = self._track(view, True, self._constants.trends[-1]).theta
        as_is = axes.evidence.with_others(plain, axes.trend).value(theta)
        as_logs = axes.evidence.with_others(logs, axes.trend).value(theta) + log_slope
        return (logs, log_slope) if as_logs > as_is else (plain, 0.0)

    def _as_measured(self, view: int, axes: Framed, measured: Measured) -> Array:
        """The standardised noisy values, as they were measured or as the global model sees them.

        Noise that grows with the distance from the best value becomes even once logarithms are
        taken. As in `_unbent`, the more likely of the two is used.
        """
        size = size_of(measured.values)
        plain, scale = standardised(measured.values / size)
        seen, seen_scale = standardised(measured.seen)
        theta = self._track(view, True, self._constants.trends[-1]).theta
        ratio = max(size * scale / seen_scale, 5e-324)  # values near 0 underflow
        slopes = float(measured.log_slopes.sum()) + len(seen) * log(ratio)
        as_is = axes.evidence.with_others(plain, axes.trend).value(theta)
        as_seen = axes.evidence.with_others(seen, axes.trend).value(theta) + slopes
        return seen if as_seen > as_is else plain

    def _fitted(self, view: int, framed: Framed, tau: float, y: Array) -> "LocalFit":
        evidence = framed.evidence.with_others(y, tau * framed.trend if tau else None)
        found = self._track(view, framed.upright, tau).follow(evidence, self._constants.steps)
        return LocalFit(framed.S, framed.Z, Trend(tau), evidence, *found)


class LocalFit(NamedTuple):
    """The hyper-parameters of a model. Only the most likely of several is solved for its mean."""

    S: Array
    Z: Array
    trend: Trend
    evidence: Evidence
    log_posterior: float
    lengths: Array
    nugget: float
    mean: float

    def model(self, y: Array, noise: Array) -> LocalModel:
        """The model with these hyper-parameters."""
        K = self.evidence.covariance(self.lengths)
        K.flat[:: len(K) + 1] += noise
        alpha = Factor.with_nugget(K, _NUGGETS, lower=False).solve(y - self.mean)
        return LocalModel(self.log_posterior, self.S, self.Z, self.lengths, self.trend, alpha)


def filling(frame: Array, offsets: Array) -> tuple[Array, Array]:
    """Coordinates in a frame, scaled so that they fill [-1, 1]^D, and the scale of each axis."""
    Z: Array = np.asarray(np.linalg.solve(frame, offsets.T).T, dtype=float)
    sides = np.maximum(np.abs(Z).max(0), 1e-12)
    sides = np.maximum(sides, 1e-3 * sides.max())  # in thinner frames rounding errors decide
    return Z / sides, sides


def blind(X: Array) -> NDArray[np.intp]:
    """The axes on which all points agree. A model would take no step along them."""
    return np.flatnonzero(np.ptp(X, axis=0) == 0.0)


def quadratic(Z: Array, trend: Trend) -> Array:
    """The covariance of a quadratic trend."""
    squares = Z**2
    norms = squares.sum(1)
    K: Array = Z @ Z.T + trend.beta * squares @ squares.T + norms[:, None] * norms
    if trend.chi:
        K += trend.chi * (Z @ Z.T) ** 2
    return trend.tau * K


def derivatives(
    z: Array, Z: Array, lengths: Array, trend: Trend, weights: Array
) -> tuple[float, Array, Array]:
    """The weighted sum of the covariances of a point with the rows of `Z`.

    Its gradient and its Hessian come with it.
    """
    apart = (z - Z) / lengths
    weighted = weights * _correlations(apart)
    apart /= lengths
    total = float(weighted.sum())
    gradient, hessian = -(weighted @ apart), (apart.T * weighted) @ apart
    hessian.flat[:: len(z) + 1] -= total / lengths**2
    if trend.tau:
        linear, bent = _trend(Z, trend, weights)
        total += float(linear @ z + z @ bent @ z)
        gradient += linear + 2.0 * (bent @ z)
        hessian += 2.0 * bent
    return total, gradient, hessian


def _trend(Z: Array, trend: Trend, weights: Array) -> tuple[Array, Array]:
    """The weighted sum of a trend's covariances, which is a z + z B z, as a and B."""
    tau, beta, chi = trend
    along = weights @ Z**2
    bent = np.diag(beta * along + along.sum())
    if chi:
        bent += chi * (Z.T * weights) @ Z
    return tau * (weights @ Z), tau * bent


def _correlations(apart: Array) -> Array:
    """The squared-exponential kernel of differences in units of its length-scales."""
    return np.asarray(np.exp(-0.5 * np.einsum("ij,ij->i", apart, apart)))


def curvature_frame(model: LocalModel, z: Array, constants: LocalConstants) -> Array | None:
    """A frame along the principal axes of the mean's curvature at `z`; None if it is singular."""
    values, axes = np.linalg.eigh(-model.derivatives(z)[2])
    curvature = np.abs(values)
    curvature /= max(float(curvature.max()), 1e-300)
    frame: Array = model.S @ (axes * np.maximum(curvature, constants.curved) ** -0.5)
    frame /= max(float(np.abs(frame).max()), 1e-300)
    singular = not np.isfinite(frame).all() or np.linalg.cond(frame) > 1.0 / np.finfo(float).eps
    return None if singular else frame
