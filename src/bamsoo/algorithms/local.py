r"""A model of the objective around the best point, and where it is highest.

The points nearest to the incumbent :math:`x^+` are seen in a frame of their own,
:math:`x = x^+ + S z`, scaled so that they fill [-1, 1]^D. A GP is fitted to them in two frames:
along the axes, and along the principal axes of the curvature found last time, where a narrow,
slanted valley is round; each with and without a quadratic trend along the frame. The likeliest
of the four is climbed from the incumbent, within a trust region.

Nothing global is maximised: one climb, from one point, of a function with a gradient.
"""

from collections.abc import Container, Mapping
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from .._typing import Array
from ..kernels import SquaredExponential
from ..learning import NUGGET, fit

_SHARE = 1.6  # points used, as a multiple of what a full quadratic needs with some to spare
_TYPICAL = 2.0  # length-scale expected of a model that fills [-1, 1]^D
_TRENDS = (0.0, 1.0)  # weights of the quadratic trend that are tried
_STEPS = 3  # of a fit, from where the last one of its kind ended
_THIN = 1e-3  # no side of a frame is thinner than this share of its longest
_CURVED = 1e-2  # nor curvature, between one frame and the next, than this share of the largest
_TRIES = 4  # steps in vain, times D + 1, before they become rarer
_SKEWED = 1e8  # a frame with a larger condition number has lost its way: start again
_SAME = 0.25  # a step that ends nearer than this share of its length to one out is that one
_PROBE = 1.0 / 3.0  # length of a step along an axis on which nothing is known
_FEW = 4  # axes that the tree has soon cut without help
_WIDEN, _NARROW, _NARROWEST = 2.0, 0.7, 0.1  # the trust region after a better step, a worse one


class Model(NamedTuple):
    r"""A fitted mean, :math:`\sum_i \alpha_i k(z, z_i)`, in its frame.

    :math:`k(z, z') = \kappa(z, z') + \tau (z^T z' + \tfrac12 \sum_d z_d^2 z_d'^2)`, with
    :math:`\kappa` squared-exponential: the second part is a quadratic trend.
    """

    log_posterior: float
    S: Array
    Z: Array
    lengths: Array
    tau: float
    alpha: Array

    def value(self, z: Array) -> tuple[float, Array]:
        """The mean, less the constant, and its gradient."""
        k, slopes = covariance_at(z, self.Z, self.lengths, self.tau)
        return float(self.alpha @ k), self.alpha @ slopes

    def hessian(self, z: Array) -> Array:
        """The mean's second derivatives."""
        apart = (z - self.Z) / self.lengths
        weighted = self.alpha * np.exp(-0.5 * np.einsum("ij,ij->i", apart, apart))
        apart /= self.lengths
        bent = self.tau * (self.alpha @ self.Z**2) - weighted.sum() / self.lengths**2
        hessian: Array = (apart.T * weighted) @ apart + np.diag(bent)
        return hessian


class Local:
    """Proposes the top of the local model, time after time.

    Parameters
    ----------
    dim : int
    """

    def __init__(self, dim: int) -> None:
        self._count = int(_SHARE * ((dim + 1) * (dim + 2) // 2 + dim + 2))
        self._axes: Array = np.eye(dim)
        self._frame = self._axes
        self._curved: Array | None = None
        self._lengths: dict[tuple[bool, float], Array] = {}  # of the last fit of each kind
        self._radius = 1.0
        self._tries, self._in_vain = _TRIES * (dim + 1), 0
        self.waiting: dict[int, float] = {}
        """Steps that are out, by ticket, and the best value before each."""

    @property
    def every(self) -> int:
        """How many evaluations in the tree go with one here: more while these bring nothing."""
        return int(2 ** min(max(self._in_vain - self._tries, 0), 5))

    def judge(self, values: Mapping[int, float], out: Container[int]) -> None:
        """Count the steps whose values have come in, or that failed."""
        for ticket in [ticket for ticket in self.waiting if ticket not in out]:
            best = self.waiting.pop(ticket)
            self.count(values.get(ticket, best) > best)

    def count(self, better: bool) -> None:
        """Note whether a step was better than all before it."""
        self._in_vain = 0 if better else self._in_vain + 1
        self._radius *= _WIDEN if better else _NARROW
        self._radius = min(max(self._radius, _NARROWEST), 1.0)

    def propose(self, X: Array, f: Array, out: Array) -> Array | None:
        """The point where the local mean is highest, in [0,1]^D.

        None with too few points, and where a step that is `out` has all but gone already.
        """
        dim = X.shape[1]
        if len(X) < dim + 2:
            return None
        centre = X[int(f.argmax())]
        reach = np.linalg.solve(self._frame, (X - centre).T)
        near = np.argsort((reach**2).sum(0), kind="stable")[: self._count]
        y = f[near] / max(float(np.abs(f[near]).max()), 1e-300)
        y = (y - y.mean()) / max(float(y.std()), 1e-12)
        frames = [self._axes] if self._curved is None else [self._axes, self._curved]
        models = [
            self._fitted(frame, tau, X[near] - centre, y) for frame in frames for tau in _TRENDS
        ]
        model = max(models, key=lambda m: m.log_posterior)
        x, z = climb(model, centre, self._radius)
        self._frame = model.S
        self._curved = curvature_frame(model, z)
        step = np.linalg.norm(x - centre)
        if len(out) and np.linalg.norm(out - x, axis=1).min() < _SAME * step:
            return None
        return x

    def _fitted(self, frame: Array, tau: float, offsets: Array, y: Array) -> Model:
        Z: Array = np.asarray(np.linalg.solve(frame, offsets.T).T, dtype=float)
        sides = np.maximum(np.abs(Z).max(0), 1e-12)
        sides = np.maximum(sides, _THIN * sides.max())
        Z /= sides
        kind = frame is self._axes, tau
        start = self._lengths.get(kind, np.full(len(sides), _TYPICAL))
        trend = tau * quadratic(Z) if tau else None
        fitted = fit(SquaredExponential, Z, y, [start], typical=_TYPICAL, trend=trend, steps=_STEPS)
        lengths = self._lengths[kind] = fitted.kernel.lengths(len(sides))
        alpha: Array = dpotrs(factored(covariance(Z, lengths, tau)), y - fitted.mean)[0]
        return Model(fitted.log_posterior, frame * sides, Z, lengths, tau, alpha)


def probe(X: Array, f: Array, out: Array) -> Array | None:
    """A step from the best point along the first axis on which no two points differ, if any.

    The tree comes to the axes one after another, to the last of them after (D - 1)^2 cells;
    until then the local model would be blind on the rest.
    """
    if X.shape[1] <= _FEW:
        return None
    spread = np.ptp(np.vstack([X, out]), axis=0)
    blind = np.flatnonzero(spread == 0.0)
    if not len(blind):
        return None
    x: Array = X[int(f.argmax())].copy()
    x[blind[0]] += _PROBE if x[blind[0]] <= 0.5 else -_PROBE
    return x


def quadratic(Z: Array) -> Array:
    """Covariance of a quadratic trend without products of different axes."""
    trend: Array = Z @ Z.T + 0.5 * (Z**2) @ (Z**2).T
    return trend


def covariance(Z: Array, lengths: Array, tau: float) -> Array:
    """The model's covariance between the rows of `Z`, over its variance."""
    K = SquaredExponential(lengths)(Z, Z)
    return K + tau * quadratic(Z) if tau else K


def covariance_at(z: Array, Z: Array, lengths: Array, tau: float) -> tuple[Array, Array]:
    """Covariances of a point with the rows of `Z`, and their gradients at the point."""
    apart = (z - Z) / lengths
    k = np.exp(-0.5 * np.einsum("ij,ij->i", apart, apart))
    slopes = -k[:, None] * apart / lengths
    if tau:
        k = k + tau * (Z @ z + 0.5 * (Z**2) @ (z**2))
        slopes += tau * (Z + Z**2 * z)
    return k, slopes


def factored(K: Array) -> Array:
    """Cholesky factor, with the least added to the diagonal that lets `K` be factored."""
    diagonal = K.diagonal().copy()
    for nugget in (1e-12, 1e-10, NUGGET):
        K.flat[:: len(K) + 1] = diagonal * (1.0 + nugget)
        factor, info = dpotrf(K)
        if not info:
            break
    return factor  # type: ignore[no-any-return]


def climb(model: Model, centre: Array, radius: float) -> tuple[Array, Array]:
    """From the incumbent to the top, inside the trust region and the cube; x and z."""
    from scipy.optimize import minimize

    def descend(z: Array) -> tuple[float, Array]:
        value, gradient = model.value(z)
        return -value, -gradient

    dim = len(centre)
    options = {"maxiter": 50}
    z: Array = minimize(
        descend, np.zeros(dim), jac=True, method="L-BFGS-B", bounds=[(-radius, radius)] * dim,
        options=options,
    ).x  # fmt: skip
    x = centre + model.S @ z
    if np.all((x >= 0.0) & (x <= 1.0)):
        return x, z

    # The cube cuts the frame: climb again in x, whose bounds are then a box.
    inverse = np.linalg.inv(model.S)

    def descend_in_x(x: Array) -> tuple[float, Array]:
        value, gradient = model.value(inverse @ (x - centre))
        return -value, -(inverse.T @ gradient)

    width = radius * np.abs(model.S).sum(1)
    low, high = np.maximum(centre - width, 0.0), np.minimum(centre + width, 1.0)
    bounds = list(zip(low, high, strict=True))
    start = np.clip(x, low, high)
    x = minimize(descend_in_x, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    x = np.clip(x, low, high)
    return x, inverse @ (x - centre)


def curvature_frame(model: Model, z: Array) -> Array | None:
    """A frame along the principal axes of the mean's curvature at `z`; None if it is lost."""
    values, axes = np.linalg.eigh(-model.hessian(z))
    curvature = np.abs(values)
    curvature /= max(float(curvature.max()), 1e-300)
    frame: Array = model.S @ (axes * np.maximum(curvature, _CURVED) ** -0.5)
    frame /= max(float(np.abs(frame).max()), 1e-300)
    if not np.isfinite(frame).all() or np.linalg.cond(frame) > _SKEWED:
        return None
    return frame
