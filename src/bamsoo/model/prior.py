"""A prior learned from points and values: transform, kernel, mean and nugget together.

The default learns its prior here as it goes, and the report of a search without a GP does too.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from .._typing import Array
from ..space.axes import Domain
from .arcs import along_arc
from .gp import GP
from .kernels import Matern52
from .learning import LEARNING, Fit, Learning, fit
from .warp import Linear, Transform, candidates


@dataclass(frozen=True)
class PriorConstants:
    """The numbers of learning a prior."""

    bends: tuple[float, ...] = (1.0, 0.1, 0.01)
    """Where a warp turns from linear to logarithmic, in deviations below the best. Three decades
    cover what the test functions need; each costs one more fit."""

    steps: int = 10
    """Steps of a fit, from where the last one ended. More change the points asked little and the
    time much."""

    noisy_steps: int = 20
    """Steps where the noise is fitted too: one more parameter, and a flatter likelihood."""

    least_noise: float = 1e-8
    most_noise: float = 100.0
    """A given variance of the noise, after the transform, is kept between these: outside them the
    matrix is singular, or the values teach nothing."""

    widest: float = 4.0
    """Leave-one-out errors count as at most this many times their sigma: one outlier must not
    make the search accept everything."""


CONSTANTS = PriorConstants()


@dataclass(frozen=True)
class LearnedPrior:
    """A transform of the values, and the prior of what it gives.

    `calibration` is how much wider than sigma the leave-one-out errors are, never less than 1: a
    GP too sure of itself would starve the search.
    """

    transform: Transform
    fit: Fit
    noise: float
    """Variance of the noise, in transformed units; 0 where there is none."""

    calibration: float

    def gp(self, domain: Domain) -> GP:
        """A GP with this prior and no values."""
        return GP(self.fit.kernel, domain.dim, self.fit.mean, self.noise, domain)


def learn_prior(
    domain: Domain,
    X: Array,
    values: Array,
    starts: Sequence[tuple[Array, float | None]],
    *,
    warp: bool = True,
    noise: float | str = 0.0,
    transforms: Callable[[Array], Iterable[tuple[Transform, float]]] | None = None,
    constants: PriorConstants = CONSTANTS,
    learning: Learning = LEARNING,
) -> LearnedPrior:
    """The likeliest of a few transforms, with the kernel fitted to what it gives.

    Parameters
    ----------
    domain : Domain
    X, values : array
        Points of the unit cube and what was measured there, to be maximised.
    starts : sequence of (lengths, nugget)
        Where the fit may begin: the likeliest is taken. None is the typical nugget, or the noise
        that is given.
    warp : bool
        Try logarithms of the values too.
    noise : float or "learn"
        Variance of the noise in a value.
    transforms : callable, optional
        Other transforms than `warp.candidates`, in the same form.
    """
    unordered, seen = domain.unordered, domain.features(X)
    best: tuple[float, Fit, Transform, Array] | None = None
    if transforms is None:
        tried: Iterable[tuple[Transform, float]]
        tried = candidates(values, constants.bends if warp else ())
    else:
        tried = transforms(values)
    for transform, log_slope in tried:
        y = np.array([transform(value) for value in values.tolist()])
        scaled = _after(transform, noise, constants)
        usual = learning.typical_noise if isinstance(scaled, str) else scaled
        begin = [
            np.append(lengths, usual if nugget is None else nugget) if scaled else lengths
            for lengths, nugget in starts
        ]
        steps = constants.noisy_steps if scaled else constants.steps
        fitted = fit(
            Matern52, seen, y, begin, unordered, noise=scaled, steps=steps, learning=learning,
            arcs=domain.arcs,
        )  # fmt: skip
        score = fitted.log_posterior + log_slope
        if best is None or score > best[0]:
            best = score, fitted, transform, y
    assert best is not None
    _, fitted, transform, y = best
    ratio = leave_one_out_ratio(fitted, seen, y, unordered, constants.widest, domain.arcs)
    variance = fitted.nugget * fitted.kernel.variance if noise else 0.0
    return LearnedPrior(transform, fitted, variance, ratio)


def _after(transform: Transform, noise: float | str, constants: PriorConstants) -> float | str:
    """The noise in transformed units; "learn" and 0 stay what they are."""
    if isinstance(noise, str) or not noise:
        return noise
    assert isinstance(transform, Linear)  # under noise there is no warp
    return min(max(transform.variance(noise), constants.least_noise), constants.most_noise)


def leave_one_out_ratio(
    fitted: Fit,
    X: Array,
    y: Array,
    unordered: Sequence[int],
    widest: float,
    arcs: Sequence[int] = (),
) -> float:
    r"""Root mean square of leave-one-out errors in units of their sigma, from 1 to `widest`.

    `X`, `y`, `unordered` and `arcs` as in `Evidence`.

    With :math:`\alpha = K^{-1}(y - m)` the error at point i is
    :math:`\alpha_i / K^{-1}_{ii}` and its variance :math:`1 / K^{-1}_{ii}`.
    """
    lengths = fitted.kernel.lengths(X.shape[1])
    Z = X / lengths
    squares = (Z[:, None] - Z[None]) ** 2
    for axis in unordered:
        squares[..., axis] = (squares[..., axis] != 0.0) / lengths[axis] ** 2
    for axis in arcs:
        squares[..., axis] = (along_arc(X[:, None, axis] - X[:, axis]) / lengths[axis]) ** 2
    K = fitted.kernel.of(squares.sum(-1))
    K.flat[:: len(y) + 1] += fitted.nugget * fitted.kernel.variance
    factor, info = dpotrf(K, lower=1, clean=1)
    if info:
        return 1.0
    inverse = dpotri(factor, lower=1)[0]
    inverse.flat[:: len(y) + 1] *= 0.5
    inverse += inverse.T
    alpha = inverse @ (y - fitted.mean)
    return sqrt(min(max(float(np.mean(alpha**2 / np.diag(inverse))), 1.0), widest**2))
