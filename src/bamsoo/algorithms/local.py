r"""A model of the objective around the best point, and where it is highest.

The points nearest to the incumbent :math:`x^+` are seen in a frame of their own,
:math:`x = x^+ + S z`, scaled so that they fill [-1, 1]^D. A squared-exponential GP is
fitted to them in two frames: along the axes, and along the principal axes of the curvature
found last time; the likelier one is taken. Its mean is climbed from the incumbent, within
the points' own reach. Where values fall off in a narrow, slanted valley the second frame
makes the valley round.

Nothing global is maximised: one climb, from one point, of a function with a gradient.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from .._typing import Array
from ..kernels import SquaredExponential
from ..learning import NUGGET, fit

_SHARE = 1.6  # points used, as a multiple of what a full quadratic needs with some to spare
_THIN = 1e-3  # no side of a frame is thinner than this share of its longest
_CURVED = 1e-2  # nor curvature, between one frame and the next, than this share of the largest
_TRIES = 4  # steps in vain, times D + 1, before they become rarer
_SKEWED = 1e8  # a frame with a larger condition number has lost its way: start again


class Model(NamedTuple):
    r"""A fitted mean, :math:`\sum_i \alpha_i \kappa(z, z_i)`, in its frame."""

    log_posterior: float
    S: Array
    Z: Array
    lengths: Array
    alpha: Array

    def mean(self, z: Array) -> tuple[float, Array]:
        """Its value and gradient, less the constant."""
        weighted, apart = self._at(z)
        return float(weighted.sum()), -(weighted @ apart)

    def hessian(self, z: Array) -> Array:
        """Its second derivatives."""
        weighted, apart = self._at(z)
        return (apart.T * weighted) @ apart - np.diag(weighted.sum() / self.lengths**2)

    def _at(self, z: Array) -> tuple[Array, Array]:
        apart = (z - self.Z) / self.lengths
        kernel = np.exp(-0.5 * np.einsum("ij,ij->i", apart, apart))
        return self.alpha * kernel, apart / self.lengths


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
        self._start: Array = np.full(dim, 2.0)
        self._curved: Array | None = None
        self._tries, self._in_vain = _TRIES * (dim + 1), 0

    @property
    def every(self) -> int:
        """How many evaluations in the tree go with one here: more while these bring nothing."""
        return int(2 ** min(max(self._in_vain - self._tries, 0), 5))

    def count(self, better: bool) -> None:
        """Note whether a step was better than all before it."""
        self._in_vain = 0 if better else self._in_vain + 1

    def propose(self, X: Array, f: Array) -> Array | None:
        """The point where the local mean is highest, in [0,1]^D; None with too few points."""
        dim = X.shape[1]
        if len(X) < dim + 2:
            return None
        centre = X[int(f.argmax())]
        reach = np.linalg.solve(self._frame, (X - centre).T)
        near = np.argsort((reach**2).sum(0), kind="stable")[: self._count]
        y = f[near] / max(float(np.abs(f[near]).max()), 1e-300)
        y = (y - y.mean()) / max(float(y.std()), 1e-12)
        frames = [self._axes] if self._curved is None else [self._axes, self._curved]
        models = [self._fitted(frame, X[near] - centre, y) for frame in frames]
        model = max(models, key=lambda m: m.log_posterior)
        x, z = climb(model, centre)
        self._frame = model.S
        self._curved = curvature_frame(model, z)
        self._start = models[0].lengths
        return x

    def _fitted(self, frame: Array, offsets: Array, y: Array) -> Model:
        Z: Array = np.asarray(np.linalg.solve(frame, offsets.T).T, dtype=float)
        sides = np.maximum(np.abs(Z).max(0), 1e-12)
        sides = np.maximum(sides, _THIN * sides.max())
        Z /= sides
        dim = len(sides)
        fitted = fit(SquaredExponential, Z, y, [self._start, np.full(dim, 2.0)])
        lengths = fitted.kernel.lengths(dim)
        alpha = weights(SquaredExponential(lengths)(Z, Z), y - fitted.mean)
        return Model(fitted.log_posterior, frame * sides, Z, lengths, alpha)


def weights(R: Array, y: Array) -> Array:
    """R^-1 y, with the least on the diagonal that lets R be factored."""
    for nugget in (1e-12, 1e-10, NUGGET):
        R.flat[:: len(y) + 1] = 1.0 + nugget
        factor, info = dpotrf(R)
        if not info:
            break
    alpha: Array = dpotrs(factor, y)[0]
    return alpha


def climb(model: Model, centre: Array) -> tuple[Array, Array]:
    """From the incumbent to the top of the mean, inside the frame and the cube; x and z."""
    from scipy.optimize import minimize

    def descend(z: Array) -> tuple[float, Array]:
        value, gradient = model.mean(z)
        return -value, -gradient

    dim = len(centre)
    options = {"maxiter": 50}
    z: Array = minimize(
        descend, np.zeros(dim), jac=True, method="L-BFGS-B", bounds=[(-1.0, 1.0)] * dim,
        options=options,
    ).x  # fmt: skip
    x = centre + model.S @ z
    if np.all((x >= 0.0) & (x <= 1.0)):
        return x, z

    # The cube cuts the frame: climb again in x, whose bounds are then a box.
    inverse = np.linalg.inv(model.S)

    def descend_in_x(x: Array) -> tuple[float, Array]:
        value, gradient = model.mean(inverse @ (x - centre))
        return -value, -(inverse.T @ gradient)

    width = np.abs(model.S).sum(1)
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
