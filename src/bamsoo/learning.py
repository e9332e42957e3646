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
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from ._typing import Array
from .kernels import Kernel

NUGGET = 1e-8
"""Added to the diagonal of R while fitting (the GP itself has no nugget)."""

LENGTHS = (0.01, 20.0)
"""Length-scales are sought between these, in units of the unit cube."""


@dataclass(frozen=True)
class Fit:
    """A fitted prior: kernel and constant mean, and how well it explains the data."""

    kernel: Kernel
    mean: float
    log_posterior: float


class Evidence:
    """The profile log posterior of log length-scales theta, given points and values.

    Parameters
    ----------
    unit : Kernel
        Of length and variance 1.
    X, y : array
        Points (or their features) and values.
    owners : sequence of int, optional
        Where X holds features, the axis each stands for: those of one axis share its
        length-scale.
    typical : float
        A priori log lengths are normal around the log of this, with deviation 1.
    trend : array, optional
        A covariance added to the kernel's, in units of its variance, whatever theta.
    """

    def __init__(
        self,
        unit: Kernel,
        X: Array,
        y: Array,
        owners: Sequence[int] | None = None,
        typical: float = 0.5,
        trend: Array | None = None,
    ) -> None:
        t = len(y)
        self._unit, self._y, self._typical = unit, y, log(typical)
        self._i, self._j = np.tril_indices(t, -1)
        self._at = self._i + t * self._j  # where pair (i, j) stands in a matrix by columns
        squares = ((X[self._i] - X[self._j]) ** 2).T
        if owners is not None and list(owners) != list(range(len(squares))):
            shared = np.zeros((max(owners) + 1, len(self._at)))
            np.add.at(shared, list(owners), squares)
            squares = shared
        self._squares: Array = np.ascontiguousarray(squares)
        self._diagonal: Array = np.full(t, 1.0 + NUGGET)
        self._trend: Array | float = 0.0
        if trend is not None:
            self._diagonal += np.diag(trend)
            self._trend = trend[self._i, self._j]
        self._sides = np.column_stack([y, np.ones(t)])

    def __call__(self, theta: Array) -> tuple[float, Array, float, float]:
        """Log posterior and its gradient; then the mean and the variance profiled out."""
        t = len(self._y)
        scales = np.exp(-2.0 * theta)
        r2 = scales @ self._squares
        R = np.zeros(t * t)
        R[self._at] = self._unit.of(r2) + self._trend
        R[:: t + 1] = self._diagonal
        L, info = dpotrf(R.reshape(t, t).T, lower=1, clean=0, overwrite_a=1)
        if info:
            return -inf, np.zeros_like(theta), 0.0, 1.0
        solved = dpotrs(L, self._sides, lower=1)[0]
        mean = float(solved[:, 0].sum() / solved[:, 1].sum())
        alpha = solved[:, 0] - mean * solved[:, 1]
        s2 = max(float((self._y - mean) @ alpha) / t, 1e-300)
        away = theta - self._typical
        value = -0.5 * t * log(s2) - float(np.log(L.diagonal()).sum()) - 0.5 * float(away @ away)

        inverse = dpotri(L, lower=1, overwrite_c=1)[0].T.reshape(-1)
        W = alpha[self._i] * alpha[self._j] / s2 - inverse[self._at]
        W *= self._unit.slope(r2)
        return value, -2.0 * scales * (self._squares @ W) - away, mean, s2


def fit(
    family: type[Kernel],
    X: Array,
    y: Array,
    starts: list[Array],
    owners: Sequence[int] | None = None,
    *,
    typical: float = 0.5,
    trend: Array | None = None,
    steps: int = 50,
) -> Fit:
    """The best kernel of a family for standardised values `y`, from the best of `starts`.

    `starts` are length-scales, one an axis; the fit climbs from the likeliest of them, at most
    `steps` steps. The rest as in `Evidence`.
    """
    from scipy.optimize import minimize

    evidence = Evidence(family(1.0), X, y, owners, typical, trend)

    def descend(theta: Array) -> tuple[float, Array]:
        value, gradient, _, _ = evidence(theta)
        return (-value, -gradient) if value > -inf else (1e25, gradient)

    low, high = np.log(LENGTHS)
    candidates = [np.clip(np.log(start), low, high) for start in starts]
    theta = candidates[0]
    if len(candidates) > 1:
        theta = min(candidates, key=lambda candidate: descend(candidate)[0])
    best = minimize(
        descend,
        theta,
        jac=True,
        method="L-BFGS-B",
        bounds=[(low, high)] * len(theta),
        options={"maxiter": steps, "ftol": 1e-5},
    )
    value, _, mean, s2 = evidence(best.x)
    return Fit(family(np.exp(best.x), s2), mean, value)
