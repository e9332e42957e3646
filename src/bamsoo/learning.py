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

The sum over pairs needs no D matrices:
:math:`\sum_{ij} W_{ij}(x_{id}-x_{jd})^2 = 2(\sum_i w_i x_{id}^2 - x_d^T W x_d)` with
:math:`w = W\mathbf 1`.
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

_PRIOR_MEAN, _PRIOR_STD = log(0.5), 1.0  # of log length


@dataclass(frozen=True)
class Fit:
    """A fitted prior: kernel and constant mean, and how well it explains the data."""

    kernel: Kernel
    mean: float
    log_posterior: float


def log_posterior(
    unit: Kernel,
    theta: Array,
    X: Array,
    y: Array,
    owners: Sequence[int] | None = None,
) -> tuple[float, Array, float, float]:
    """Profile log posterior of theta and its gradient; then the mean and variance profiled out.

    `unit` is a kernel of length and variance 1. Where X holds features, `owners` names the
    axis each stands for: those of one axis share its length-scale.
    """
    t = len(y)
    scale = np.exp(-theta)
    Z = X * (scale if owners is None else scale[list(owners)])
    square = np.einsum("ij,ij->i", Z, Z)
    r2 = np.maximum(square[:, None] + square[None] - 2.0 * (Z @ Z.T), 0.0)
    R = unit.of(r2)
    R.flat[:: t + 1] = 1.0 + NUGGET
    L, info = dpotrf(R, lower=1, clean=1)
    if info:
        return -inf, np.zeros_like(theta), 0.0, 1.0
    solved = dpotrs(L, np.column_stack([y, np.ones(t)]), lower=1)[0]
    mean = float(solved[:, 0].sum() / solved[:, 1].sum())
    alpha = solved[:, 0] - mean * solved[:, 1]
    s2 = max(float((y - mean) @ alpha) / t, 1e-300)
    away = (theta - _PRIOR_MEAN) / _PRIOR_STD
    value = -0.5 * t * log(s2) - float(np.log(np.diag(L)).sum()) - 0.5 * float(away @ away)

    inverse = dpotri(L, lower=1)[0]
    inverse.flat[:: t + 1] *= 0.5
    inverse += inverse.T  # dpotri fills the lower half alone, over zeros
    W = (np.outer(alpha, alpha / s2) - inverse) * unit.slope(r2)
    pairs = W.sum(1) @ (Z * Z) - np.einsum("ij,ij->j", Z, W @ Z)
    if owners is not None:
        pairs = np.bincount(owners, pairs, len(theta))
    return value, -2.0 * pairs - away / _PRIOR_STD, mean, s2


def fit(
    family: type[Kernel],
    X: Array,
    y: Array,
    starts: list[Array],
    owners: Sequence[int] | None = None,
) -> Fit:
    """The best kernel of a family for standardised values `y`, from the best of `starts`.

    `starts` are length-scales, one an axis; the fit climbs from the likeliest of them.
    `owners` as in `log_posterior`.
    """
    from scipy.optimize import minimize

    unit = family(1.0)

    def descend(theta: Array) -> tuple[float, Array]:
        value, gradient, _, _ = log_posterior(unit, theta, X, y, owners)
        return (-value, -gradient) if value > -inf else (1e25, gradient)

    low, high = np.log(LENGTHS)
    candidates = [np.clip(np.log(start), low, high) for start in starts]
    theta = min(candidates, key=lambda c: descend(c)[0])
    best = minimize(
        descend,
        theta,
        jac=True,
        method="L-BFGS-B",
        bounds=[(low, high)] * len(theta),
        options={"maxiter": 50, "ftol": 1e-5},
    )
    value, _, mean, s2 = log_posterior(unit, best.x, X, y, owners)
    return Fit(family(np.exp(best.x), s2), mean, value)
