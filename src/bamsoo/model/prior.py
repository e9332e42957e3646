"""A prior learned from points and values: transform, kernel, mean and nugget together.

The default learns its prior here as it goes, and the report of a search without a GP does too.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from .._typing import Array
from ..space.axes import Domain
from .arcs import along_arc
from .gp import GP
from .kernels import Matern52
from .learning import LEARNING, Fit, Learning, fit
from .warp import Linear, Transform, best_above_median, candidates


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

    tails: float | None = 4.0
    rounds: int = 2
    heaviest: float = 1e4
    """Noise that is learned is taken to be of Student's t distribution with so many degrees of
    freedom, so that an outlier is not believed: 4 costs little where the noise is normal. None:
    normal. The variances are estimated in so many rounds, and none grows by more than the factor
    last."""

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
    """Variance of the noise of a value without one of its own, in transformed units; 0 where there
    is none."""

    calibration: float

    score: float
    """The logarithm of how likely the values are, with the prior of the hyper-parameters; larger
    is likelier, whatever the transform."""

    factors: Array | None = None
    """Under noise that is learned, how many times that variance each value has: more than 1 where
    the value is an outlier."""

    def gp(self, domain: Domain) -> GP:
        """A GP with this prior and no values."""
        return GP(self.fit.kernel, domain.dim, self.fit.mean, self.noise, domain)


@dataclass(frozen=True)
class Noise:
    """The noise in a few values after a transform, as `Evidence` takes it."""

    level: float | str
    """Variance of the noise that rows have by weight, "learn", or 0: there is none."""

    weights: Array | None = None
    own: Array | None = None
    """Where the level is learned: the known variances of rows of weight 0."""

    def nuggets(self, fit: Fit, learning: Learning) -> Array | float:
        """What stands on the diagonal of each row, as a share of the kernel's variance."""
        learned = fit.nugget - learning.nugget
        found: Array | float = fit.nugget
        if self.weights is not None:
            found = learning.nugget + learned * self.weights
        return found if self.own is None else found + self.own / fit.kernel.variance


def learn_prior(
    domain: Domain,
    X: Array,
    values: Array,
    starts: Sequence[tuple[Array, float | None]],
    *,
    warp: bool = True,
    noise: float | str = 0.0,
    transforms: Callable[[Array], Iterable[tuple[Transform, float]]] | None = None,
    variances: Array | None = None,
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
    variances : array, optional
        The variance of each value that has one of its own, nan elsewhere.
    """
    unordered, seen = domain.unordered, domain.features(X)
    if variances is not None and np.isnan(variances).all():
        variances = None
    best: tuple[float, Fit, Transform, Array, Noise] | None = None
    bends = constants.bends if warp else ()
    if noise == "learn":  # noise may have long tails, which the deviation is then a measure of
        bends = tuple(bend * best_above_median(values) for bend in bends)
    tried: Iterable[tuple[Transform, float]]
    tried = candidates(values, bends) if transforms is None else transforms(values)
    for transform, log_slope in tried:
        y = np.array([transform(value) for value in values.tolist()])
        after = _after(transform, values, noise, variances, constants)
        fitted = _fitted(domain, seen, y, starts, after, constants, learning)
        score = fitted.log_posterior + log_slope
        if best is None or score > best[0]:
            best = score, fitted, transform, y, after
    assert best is not None
    score, fitted, transform, y, after = best
    factors = None
    if after.level == "learn" and constants.tails is not None:
        factors = np.ones(len(y))
        start = fitted.kernel.lengths(seen.shape[1]), fitted.nugget
        for _ in range(constants.rounds):
            factors = heavy_tails(fitted, domain, seen, y, after, constants, learning)
            weights = factors if after.weights is None else factors * after.weights
            heavy = replace(after, weights=weights)
            fitted = _fitted(domain, seen, y, [start], heavy, constants, learning)
        after = heavy
    nuggets = after.nuggets(fitted, learning)
    ratio = leave_one_out_ratio(fitted, seen, y, unordered, constants.widest, domain.arcs, nuggets)
    if after.weights is None:
        variance = fitted.nugget * fitted.kernel.variance if after.level else 0.0
    elif isinstance(after.level, str):
        variance = fitted.nugget * fitted.kernel.variance
    else:
        variance = _scaled(transform, noise, constants) if not isinstance(noise, str) else 0.0
    return LearnedPrior(transform, fitted, variance, ratio, score, factors)


def _fitted(
    domain: Domain,
    seen: Array,
    y: Array,
    starts: Sequence[tuple[Array, float | None]],
    after: Noise,
    constants: PriorConstants,
    learning: Learning,
) -> Fit:
    usual = learning.typical_noise if isinstance(after.level, str) else after.level
    begin = [
        np.append(lengths, usual if nugget is None else nugget) if after.level else lengths
        for lengths, nugget in starts
    ]
    steps = constants.noisy_steps if after.level else constants.steps

    def once(extra: Array | None) -> Fit:
        return fit(
            Matern52, seen, y, begin, domain.unordered,
            noise=after.level, weights=after.weights, extra=extra, steps=steps, learning=learning,
            arcs=domain.arcs,
        )  # fmt: skip

    if after.own is None:
        return once(None)
    # a known variance is a nugget once the kernel's variance is known: that of y at first
    return once(after.own / once(after.own).kernel.variance)


def _scaled(transform: Transform, noise: float, constants: PriorConstants) -> float:
    """A given noise in transformed units; 0 stays 0."""
    if not noise:
        return 0.0
    assert isinstance(transform, Linear)  # under noise that is given there is no warp
    return min(max(transform.variance(noise), constants.least_noise), constants.most_noise)


def _after(
    transform: Transform,
    values: Array,
    noise: float | str,
    variances: Array | None,
    constants: PriorConstants,
) -> Noise:
    """The noise in transformed units."""
    if variances is None:
        return Noise(noise if isinstance(noise, str) else _scaled(transform, noise, constants))
    known = ~np.isnan(variances)
    own = np.zeros(len(values))
    own[known] = [
        min(transform.variance(float(variances[i]), float(values[i])), constants.most_noise)
        for i in np.flatnonzero(known)
    ]
    if isinstance(noise, str) and not known.all():
        return Noise(noise, (~known).astype(float), own)
    if not isinstance(noise, str):
        own[~known] = _scaled(transform, noise, constants)
    level = float(own.mean())
    if level == 0.0:
        return Noise(0.0)
    return Noise(max(level, constants.least_noise), own / level)


def heavy_tails(
    fitted: Fit,
    domain: Domain,
    X: Array,
    y: Array,
    after: Noise,
    constants: PriorConstants,
    learning: Learning,
) -> Array:
    r"""How many times the learned noise each value has, by Student's t with `tails` degrees.

    A t distribution is a normal one whose variance is random. Given the posterior at a point, of
    mean :math:`\mu_i` and variance :math:`v_i`, the expectation of its precision is
    :math:`(\nu + 1) / (\nu + ((y_i - \mu_i)^2 + v_i) / \sigma^2)` (one step of EM).
    """
    assert constants.tails is not None
    nuggets = np.broadcast_to(after.nuggets(fitted, learning), len(y))
    inverse, alpha = _inverse(fitted, X, y, domain.unordered, domain.arcs, nuggets)
    if inverse is None:
        return np.ones(len(y))
    noise = nuggets * fitted.kernel.variance
    error = (noise * alpha) ** 2 + noise - noise * noise * np.diag(inverse)
    sigma2 = fitted.nugget * fitted.kernel.variance
    factors: Array = (constants.tails + error / sigma2) / (constants.tails + 1.0)
    return np.clip(factors, 1.0, constants.heaviest)


def leave_one_out_ratio(
    fitted: Fit,
    X: Array,
    y: Array,
    unordered: Sequence[int],
    widest: float,
    arcs: Sequence[int] = (),
    nuggets: Array | float | None = None,
) -> float:
    r"""Root mean square of leave-one-out errors in units of their sigma, from 1 to `widest`.

    `X`, `y`, `unordered` and `arcs` as in `Evidence`; `nuggets` stand on the diagonal, that of
    the fit where none are given.

    With :math:`\alpha = K^{-1}(y - m)` the error at point i is
    :math:`\alpha_i / K^{-1}_{ii}` and its variance :math:`1 / K^{-1}_{ii}`.
    """
    on_diagonal = fitted.nugget if nuggets is None else nuggets
    inverse, alpha = _inverse(fitted, X, y, unordered, arcs, on_diagonal)
    if inverse is None:
        return 1.0
    return sqrt(min(max(float(np.mean(alpha**2 / np.diag(inverse))), 1.0), widest**2))


def _inverse(
    fitted: Fit,
    X: Array,
    y: Array,
    unordered: Sequence[int],
    arcs: Sequence[int],
    nuggets: Array | float,
) -> tuple[Array | None, Array]:
    """The inverse of K, and its product with y - m; None where K cannot be factored."""
    lengths = fitted.kernel.lengths(X.shape[1])
    Z = X / lengths
    squares = (Z[:, None] - Z[None]) ** 2
    for axis in unordered:
        squares[..., axis] = (squares[..., axis] != 0.0) / lengths[axis] ** 2
    for axis in arcs:
        squares[..., axis] = (along_arc(X[:, None, axis] - X[:, axis]) / lengths[axis]) ** 2
    K = fitted.kernel.of(squares.sum(-1))
    K.flat[:: len(y) + 1] += nuggets * fitted.kernel.variance
    factor, info = dpotrf(K, lower=1, clean=1)
    if info:
        return None, y
    inverse = dpotri(factor, lower=1)[0]
    inverse.flat[:: len(y) + 1] *= 0.5
    inverse += inverse.T
    return inverse, inverse @ (y - fitted.mean)
