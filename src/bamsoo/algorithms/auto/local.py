r"""A local model of the objective around the best point, whose top is a point to evaluate next.

The tree finds the right region, but needs many cells to find an optimum to many digits. That is the
task of this model. It is a GP through the points nearest to the incumbent :math:`x^+`, in a frame
of its own, :math:`x = x^+ + S z`, scaled so that these points fill [-1, 1]^D. There are two frames:
one along the axes, and one along the principal axes of the last curvature, in which a narrow
slanted valley is round. In each frame the GP is fitted with and without a quadratic trend. The most
likely of the four models is climbed from the incumbent, within a trust region.

There are two views, one of few points and one of many, each with its own trust region. A view is
used as long as its steps improve on the best value; after a step that does not, it is the other
view's turn.

This is not a global search of an acquisition function. A step takes one climb of a function whose
gradient is known, within the trust region, and a second one if its top is pending already.
"""

from collections.abc import Sequence
from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

from ..._typing import Array
from ...kernels import SquaredExponential
from ...model.learning import Evidence, Learning, Track
from ...model.warp import log_heights, standardised
from .constants import CONSTANTS, Constants, LocalConstants

UNIT = SquaredExponential(1.0)
_LEAST = 1e-12  # of a variance that is 0 but for rounding errors
_HALVINGS = 4  # of a step that ends next to a failure; even shorter steps would bring nothing


class Model(NamedTuple):
    r"""A fitted mean, :math:`\sum_i \alpha_i k(z, z_i)`, in its frame.

    :math:`k(z, z') = \kappa(z, z') + \tau (z^T z' + \tfrac12 \sum_d z_d^2 z_d'^2 + |z|^2|z'|^2)`,
    with :math:`\kappa` squared-exponential. The second part is a quadratic trend; its last term
    curves it equally along all axes.
    """

    log_posterior: float
    S: Array
    Z: Array
    lengths: Array
    tau: float
    alpha: Array
    variance: float
    noise: Array
    """The variance of the noise in each value, as a share of `variance`."""

    def value(self, z: Array) -> tuple[float, Array]:
        """The mean at a point without its constant term, and its gradient."""
        k, slopes = covariance_at(z, self.Z, self.lengths, self.tau)
        return float(self.alpha @ k), self.alpha @ slopes

    def hessian(self, z: Array) -> Array:
        """The second derivatives of the mean at a point."""
        apart = (z - self.Z) / self.lengths
        weighted = self.alpha * np.exp(-0.5 * np.einsum("ij,ij->i", apart, apart))
        apart /= self.lengths
        along = self.tau * (self.alpha @ self.Z**2)
        bent = along + 2.0 * along.sum() - weighted.sum() / self.lengths**2
        hessian: Array = (apart.T * weighted) @ apart + np.diag(bent)
        return hessian


class UpperBound:
    """The mean of a model plus a multiple of sigma, as if the values at more points were known.

    Parameters
    ----------
    model : Model
    Z : array
        The points whose values are going to be known, in the model's frame.
    width : float
        The factor of sigma.
    nuggets : sequence of float
        As in `factored`.
    """

    def __init__(self, model: Model, Z: Array, width: float, nuggets: Sequence[float]) -> None:
        self._model, self.S = model, model.S
        self._Z = np.vstack([model.Z, Z])
        self._width = width * sqrt(model.variance)
        noise = np.append(model.noise, np.full(len(Z), model.noise.mean()))
        K = covariance(self._Z, model.lengths, model.tau) + np.diag(noise)
        self._factor = factored(K, nuggets)

    def value(self, z: Array) -> tuple[float, Array]:
        """The bound at a point without the mean's constant term, and its gradient."""
        model = self._model
        mean, slope = model.value(z)
        k, slopes = covariance_at(z, self._Z, model.lengths, model.tau)
        weights = dpotrs(self._factor, k)[0]
        norm = float(z @ z)
        own = 1.0 + model.tau * (norm + 0.5 * float(z**2 @ z**2) + norm**2)
        sigma = sqrt(max(own - float(weights @ k), _LEAST))
        rise = 2.0 * model.tau * (z + z**3 + 2.0 * norm * z) - 2.0 * (weights @ slopes)
        return mean + self._width * sigma, slope + self._width * rise / (2.0 * sigma)


class Edge(NamedTuple):
    """A plane in a model's frame: evaluations succeed where w z + b >= 0."""

    w: Array
    b: float


class Framed(NamedTuple):
    """The points of a view in a frame, which several models share."""

    S: Array
    upright: bool
    """Whether the frame is along the axes of the cube."""
    Z: Array
    trend: Array
    evidence: Evidence


class Proposal(NamedTuple):
    """A point, and whether it is the top of the model; only such points are used to judge it."""

    x: Array
    top: bool


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


class View:
    """How many points a model is made of, how far its steps may go, and its length-scales so far.

    Parameters
    ----------
    dim : int
    count : int
        The number of points.
    constants : LocalConstants
    learning : Learning
    noisy : bool
        Whether to use the constants for values with noise.
    """

    def __init__(
        self,
        dim: int,
        count: int,
        constants: LocalConstants,
        learning: Learning,
        noisy: bool = False,
    ) -> None:
        self.count = count
        regular = constants.widen, constants.narrow, constants.narrowest
        self._widen, self._narrow, self._narrowest = constants.calm if noisy else regular
        self.radius = 1.0
        self.tracks = {
            (axes, tau): Track(dim, constants.typical, learning, noisy)
            for axes in (True, False)
            for tau in constants.trends
        }

    def judge(self, better: bool) -> None:
        """Widen the trust region after a step that improved, and narrow it otherwise."""
        self.radius *= self._widen if better else self._narrow
        self.radius = min(max(self.radius, self._narrowest), 1.0)


class Local:
    """Proposes one point after another, usually the top of a model fitted to the latest values.

    Parameters
    ----------
    dim : int
    constants : Constants
    noisy : bool
        Whether to learn the noise in the values instead of taking them to be exact.
    """

    def __init__(self, dim: int, constants: Constants = CONSTANTS, noisy: bool = False) -> None:
        self._noise: float | str = "learn" if noisy else 0.0
        self._constants, self._learning = constants.local, constants.learning
        local = self._constants
        whole = (dim + 1) * (dim + 2) // 2 + dim + 2
        counts = local.close * dim, min(int(local.wide * whole), local.widest)
        self._views = [View(dim, count, local, self._learning, noisy) for count in counts if count]
        self.view = self._views[0]
        self._axes: Array = np.eye(dim)
        self._frame = self._axes
        self._curved: Array | None = None

    def count(self, better: bool, view: View) -> None:
        """Note whether a step of a view improved on the best value before it."""
        view.judge(better)
        if not better and view is self.view:
            following = self._views.index(view) + 1
            self.view = self._views[following % len(self._views)]

    def propose(
        self,
        X: Array,
        f: Array,
        out: Array,
        failed: Array | None = None,
        measured: Measured | None = None,
    ) -> Proposal | None:
        """The point of [0,1]^D where the local mean is highest, on this side of the failures.

        If a pending step ends close to that point, the proposal is the point with the highest upper
        bound instead, given that the values at pending points are going to be known. It is None if
        there are too few points, or if all points agree on some axis, or if the model is so certain
        that the point with the highest bound is next to a known or pending one.

        Parameters
        ----------
        X, f : array
            The evaluated points and their values; under noise, the posterior means instead.
        out : array
            The pending points of local steps.
        failed : array, optional
            The points whose evaluations failed.
        measured : Measured, optional
            Under noise, the values that the model is fitted to.
        """
        dim = X.shape[1]
        if len(X) < dim + 2 or len(blind(X)):
            return None
        view, centre = self.view, X[int(f.argmax())]
        reach = np.linalg.solve(self._frame, (X - centre).T)
        near = np.argsort((reach**2).sum(0), kind="stable")[: view.count]
        offsets, weights = X[near] - centre, None
        if measured is not None:
            measured = measured.at(near)
            weights = measured.weights
        frames = [self._axes] if self._curved is None else [self._axes, self._curved]
        framed = [self._framed(frame, offsets, weights) for frame in frames]
        if measured is None:
            y = self._unbent(view, framed[0], f[near] / max(float(np.abs(f[near]).max()), 1e-300))
        else:
            y = self._as_measured(view, framed[0], measured)
        models = [
            self._fitted(view, each, tau, y, weights)
            for each in framed
            for tau in self._constants.trends
        ]
        model = max(models, key=lambda m: m.log_posterior)
        edge = None
        if failed is not None and len(failed):
            edge = edge_of(model, failed - centre, self._constants)
        x, z = climb(model, centre, view.radius, self._constants.climb, edge)
        if failed is not None and len(failed):
            bad = np.linalg.solve(model.S, (failed - centre).T).T
            x = np.clip(centre + model.S @ away_from(bad, model.Z, z), 0.0, 1.0)
        self._frame = model.S
        self._curved = curvature_frame(model, z, self._constants)
        if not self._is_out(x, centre, out):
            return Proposal(x, top=True)
        other = self._apart(model, centre, z, out, edge)
        length = float(np.linalg.norm(x - centre))
        gap = float(np.linalg.norm(np.vstack([X, out]) - other, axis=1).min())
        return Proposal(other, top=False) if gap > self._constants.closest * length else None

    def _apart(
        self, model: Model, centre: Array, top: Array, out: Array, edge: Edge | None
    ) -> Array:
        """The point with the highest upper bound, as if the values at pending points were known.

        There is one climb. It begins at the top of the model, or at a point beside it along an axis
        of the frame, whichever has the highest bound.
        """
        constants, radius = self._constants, self.view.radius
        pending: Array = np.asarray(np.linalg.solve(model.S, (out - centre).T).T, dtype=float)
        bound = UpperBound(model, pending, constants.optimism, constants.nuggets)
        sides = radius * np.vstack([np.eye(len(top)), -np.eye(len(top))])
        starts = np.clip(np.vstack([top, top + 0.5 * sides, top + sides]), -radius, radius)
        inside = np.clip(centre + starts @ model.S.T, 0.0, 1.0)
        starts = np.linalg.solve(model.S, (inside - centre).T).T
        start = max(starts, key=lambda z: bound.value(z)[0])
        x, _ = climb(bound, centre, radius, constants.climb, edge, start)
        return x

    def _is_out(self, x: Array, centre: Array, out: Array) -> bool:
        """Whether a pending step ends so close to `x` that a step there counts as the same."""
        if not len(out):
            return False
        nearest = float(np.linalg.norm(out - x, axis=1).min())
        return nearest < self._constants.same * float(np.linalg.norm(x - centre))

    def _framed(self, frame: Array, offsets: Array, weights: Array | None) -> Framed:
        """The points in a frame, and what all models in it share."""
        Z, sides = filling(frame, offsets, self._constants.thin)
        evidence = Evidence(
            UNIT, Z, np.zeros(len(Z)), typical=self._constants.typical,
            noise=self._noise, weights=weights, learning=self._learning,
        )  # fmt: skip
        return Framed(frame * sides, frame is self._axes, Z, quadratic(Z), evidence)

    def _unbent(self, view: View, axes: Framed, f: Array) -> Array:
        """The standardised values, or the logarithms of their height above the worst of them.

        Logarithms turn a peak on a plain into a bowl. The two are compared by the evidence of a
        model with a trend and with the length-scales of the last fit; the more likely one is used.
        """
        plain, _ = standardised(f)
        if self._constants.bend is None:
            return plain
        logs, log_slope = log_heights(plain, self._constants.bend)
        theta = view.tracks[True, self._constants.trends[-1]].theta
        as_is = axes.evidence.with_others(plain, axes.trend).value(theta)
        as_logs = axes.evidence.with_others(logs, axes.trend).value(theta) + log_slope
        return logs if as_logs > as_is else plain

    def _as_measured(self, view: View, axes: Framed, measured: Measured) -> Array:
        """The standardised noisy values, as they were measured or as the global model sees them.

        Noise that grows with the distance from the best value becomes even once logarithms are
        taken. As in `_unbent`, the more likely of the two is used.
        """
        size = max(float(np.abs(measured.values).max()), 1e-300)
        plain, scale = standardised(measured.values / size)
        seen, seen_scale = standardised(measured.seen)
        theta = view.tracks[True, self._constants.trends[-1]].theta
        slopes = float(measured.log_slopes.sum()) + len(seen) * log(size * scale / seen_scale)
        as_is = axes.evidence.with_others(plain, axes.trend).value(theta)
        as_seen = axes.evidence.with_others(seen, axes.trend).value(theta) + slopes
        return seen if as_seen > as_is else plain

    def _fitted(
        self, view: View, framed: Framed, tau: float, y: Array, weights: Array | None
    ) -> Model:
        constants = self._constants
        evidence = framed.evidence.with_others(y, tau * framed.trend if tau else None)
        track = view.tracks[framed.upright, tau]
        value, lengths, nugget, mean = track.follow(evidence, constants.steps)
        noise = nugget * (np.ones(len(y)) if weights is None else weights)
        K = evidence.covariance(lengths)
        K.flat[:: len(K) + 1] += noise
        alpha: Array = dpotrs(factored(K, constants.nuggets), y - mean)[0]
        variance = max(float(alpha @ (y - mean)) / len(y), 0.0)
        return Model(value, framed.S, framed.Z, lengths, tau, alpha, variance, noise)


def filling(frame: Array, offsets: Array, thin: float) -> tuple[Array, Array]:
    """Coordinates in a frame, scaled so that they fill [-1, 1]^D, and the scale of each axis."""
    Z: Array = np.asarray(np.linalg.solve(frame, offsets.T).T, dtype=float)
    sides = np.maximum(np.abs(Z).max(0), 1e-12)
    sides = np.maximum(sides, thin * sides.max())
    return Z / sides, sides


def blind(X: Array) -> NDArray[np.intp]:
    """The axes on which all points agree. A model would take no step along them."""
    return np.flatnonzero(np.ptp(X, axis=0) == 0.0)


def probe(X: Array, f: Array, out: Array, constants: LocalConstants) -> Array | None:
    """A step from the best point along the first axis on which all points agree, if there is one.

    The tree splits along one axis after another, and reaches the last of them only after about
    (D - 1)^2 cells. With few axes the local model waits for that; with many it needs these steps.
    """
    if X.shape[1] <= constants.few or not constants.probe:
        return None
    axes = blind(np.vstack([X, out]))
    if not len(axes):
        return None
    x: Array = X[int(f.argmax())].copy()
    x[axes[0]] += constants.probe if x[axes[0]] <= 0.5 else -constants.probe
    return x


def quadratic(Z: Array) -> Array:
    """The covariance of a quadratic trend without products of different axes."""
    squares = Z**2
    norms = squares.sum(1)
    trend: Array = Z @ Z.T + 0.5 * squares @ squares.T + norms[:, None] * norms
    return trend


def covariance(Z: Array, lengths: Array, tau: float) -> Array:
    """The model's covariance between the rows of `Z`, divided by its variance."""
    K = SquaredExponential(lengths)(Z, Z)
    return K + tau * quadratic(Z) if tau else K


def covariance_at(z: Array, Z: Array, lengths: Array, tau: float) -> tuple[Array, Array]:
    """The covariances of a point with the rows of `Z`, and their gradients at the point."""
    apart = (z - Z) / lengths
    k = np.exp(-0.5 * np.einsum("ij,ij->i", apart, apart))
    slopes = -k[:, None] * apart / lengths
    if tau:
        squares = Z**2
        norms = squares.sum(1)
        k = k + tau * (Z @ z + 0.5 * squares @ z**2 + norms * (z @ z))
        slopes += tau * (Z + (squares + 2.0 * norms[:, None]) * z)
    return k, slopes


def factored(K: Array, nuggets: Sequence[float]) -> Array:
    """The Cholesky factor of `K` with the first of the nuggets with which it can be factored."""
    diagonal = K.diagonal().copy()
    for nugget in nuggets:
        K.flat[:: len(K) + 1] = diagonal * (1.0 + nugget)
        factor, info = dpotrf(K)
        if not info:
            break
    return factor  # type: ignore[no-any-return]


def away_from(bad: Array, good: Array, z: Array) -> Array:
    """The step, halved (a few times at most) until a success is nearer to it than any failure."""
    for _ in range(_HALVINGS):
        if ((bad - z) ** 2).sum(1).min() > ((good - z) ** 2).sum(1).min():
            break
        z = 0.5 * z
    return z


def edge_of(model: Model, failed: Array, constants: LocalConstants) -> Edge | None:
    """A plane between the incumbent's side and the nearest failures; None if none separates them.

    The plane is half-way between the convex hulls of the two sides, perpendicular to the shortest
    line between them. So each step up to it halves what is unknown, as bisection does.
    """
    from scipy.optimize import nnls

    few = constants.failing * (len(model.lengths) + 1)
    bad = np.linalg.solve(model.S, failed.T).T
    bad = bad[np.argsort((bad**2).sum(1), kind="stable")[:few]]
    if not len(bad):
        return None
    good = model.Z[np.argsort((model.Z**2).sum(1), kind="stable")[:few]]
    unit = max(float(np.sqrt((bad**2).sum(1).min())), 1e-300)  # the distance of the nearest failure
    while len(bad):
        m, n = len(good), len(bad)
        sums = np.zeros((2, m + n))
        sums[0, :m], sums[1, m:] = 1.0, 1.0
        A = np.vstack([np.hstack([good.T, -bad.T]) / unit, constants.heavy * sums])
        goal = np.append(np.zeros(good.shape[1]), [constants.heavy] * 2)
        shares = nnls(A, goal)[0]
        here, there = shares[:m] @ good, shares[m:] @ bad
        w = (here - there) / unit
        if float(w @ w) > constants.apart:
            return Edge(w, max(-float(w @ (here + there)) / 2.0, 0.0))
        bad = bad[: n // 2]
    return None


def climb(
    model: Model | UpperBound,
    centre: Array,
    radius: float,
    most: int,
    edge: Edge | None,
    start: Array | None = None,
) -> tuple[Array, Array]:
    """Climb from the incumbent to the top, within the trust region, the cube and the edge.

    Returns the top as x, in the cube, and as z, in the model's frame.
    """
    from scipy.optimize import minimize

    def descend(z: Array) -> tuple[float, Array]:
        value, gradient = model.value(z)
        return -value, -gradient

    dim = len(centre)
    how: dict[str, Any] = {"method": "L-BFGS-B", "options": {"maxiter": most}, "jac": True}
    limit: dict[str, Any] = {}
    if edge is not None:
        how["method"] = "SLSQP"
        limit = {"type": "ineq", "fun": lambda z: edge.w @ z + edge.b, "jac": lambda z: edge.w}
        how["constraints"] = [limit]
    begin = np.zeros(dim) if start is None else np.clip(start, -radius, radius)
    z: Array = minimize(descend, begin, bounds=[(-radius, radius)] * dim, **how).x
    z = _inside(np.clip(z, -radius, radius), edge)
    x = centre + model.S @ z
    if np.all((x >= 0.0) & (x <= 1.0)):
        return x, z

    # The top is outside the cube. Climb again in x, where the cube is a box, as solvers need it.
    inverse = np.linalg.inv(model.S)

    def descend_in_x(x: Array) -> tuple[float, Array]:
        value, gradient = model.value(inverse @ (x - centre))
        return -value, -(inverse.T @ gradient)

    width = radius * np.abs(model.S).sum(1)
    low, high = np.maximum(centre - width, 0.0), np.minimum(centre + width, 1.0)
    begin = np.clip(x, low, high)
    if edge is not None:
        normal = inverse.T @ edge.w
        limit["fun"] = lambda x: normal @ (x - centre) + edge.b
        limit["jac"] = lambda x: normal
    x = minimize(descend_in_x, begin, bounds=list(zip(low, high, strict=True)), **how).x
    z = _inside(inverse @ (np.clip(x, low, high) - centre), edge)
    x = np.clip(centre + model.S @ z, low, high) if edge is not None else np.clip(x, low, high)
    return x, inverse @ (x - centre)


def _inside(z: Array, edge: Edge | None) -> Array:
    """The step, cut short at the edge if it would cross it."""
    if edge is None or (beyond := float(edge.w @ z)) + edge.b >= 0.0:
        return z
    return z * (edge.b / -beyond)


def curvature_frame(model: Model, z: Array, constants: LocalConstants) -> Array | None:
    """A frame along the principal axes of the mean's curvature at `z`; None if it is too skewed."""
    values, axes = np.linalg.eigh(-model.hessian(z))
    curvature = np.abs(values)
    curvature /= max(float(curvature.max()), 1e-300)
    frame: Array = model.S @ (axes * np.maximum(curvature, constants.curved) ** -0.5)
    frame /= max(float(np.abs(frame).max()), 1e-300)
    if not np.isfinite(frame).all() or np.linalg.cond(frame) > constants.skewed:
        return None
    return frame
