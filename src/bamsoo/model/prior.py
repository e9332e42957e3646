"""Learns a prior from points and values: a transform, a kernel, a mean and the noise together.

Several transforms of the values are tried, a kernel is fitted to the result of each, and the most
likely combination is returned. The algorithm `auto` calls this again and again as values arrive,
and the report calls it for searches that have no GP of their own.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..base.typing import Array
from ..kernels import Matern52
from ..space.axes import Domain
from .arcs import squared
from .conditioned import Conditioned, Factor
from .gp import GP
from .learning import LEARNING, Fit, Learning, fit
from .warp import Linear, Transform, alternatives, best_above_median


@dataclass(frozen=True)
class PriorConstants:
    """The constants of learning a prior."""

    bends: tuple[float, ...] = (1.0, 0.1, 0.01)
    """The distances below the best value, in standard deviations, at which a warp changes from
    linear to logarithmic. The three orders of magnitude cover what the test functions need; each
    bend costs one more fit."""

    steps: int = 10
    """The largest number of steps of a fit, which begins where the last one ended. More steps take
    much more time and hardly change the points that are asked for."""

    noisy_steps: int = 20
    """The same if there is noise, because there is one more parameter and the likelihood is
    flatter."""

    least_noise: float = 1e-8
    """The lower limit of a given variance of the noise, after the transform. With less, the matrix
    would be singular in floating-point arithmetic."""

    most_noise: float = 100.0
    """The upper limit. Values with more noise than this say nothing about the function anyway."""

    tails: float | None = 4.0
    """The degrees of freedom of Student's t distribution, which learned noise is assumed to have,
    so that an outlier has little influence. With 4, little is lost if the noise is in fact normal.
    None stands for normally distributed noise."""

    rounds: int = 2
    """The number of times that the variances of the outliers are estimated and the kernel is
    fitted again. Each estimate depends on the fit before it, and each round costs one more fit."""

    heaviest: float = 1e4
    """The largest factor by which the variance of an outlier is raised above that of other
    values. An outlier then has practically no influence, and the matrix is still well scaled."""

    widest: float = 4.0
    """The largest calibration factor: leave-one-out errors are treated as at most this number of
    sigmas. Without a limit, a single outlier could widen the bounds until no point is rejected."""

    growth: int = 4
    """A search fits its prior when there are this many values, since fewer say nothing about
    length-scales, and again when their number has grown by a factor of 1 + 1/growth. The total cost
    of all fits is then a constant multiple of the cost of the last one."""

    rows: int = 1000
    """The largest number of points in the GP right after a fit. Bounds far from the best point need
    few of them, and the time of a suggestion grows with the square of this number. Since the GP
    must not grow by more than a factor of 1 + 1/growth either, there are at most rows/growth
    evaluations between two fits."""

    @property
    def most_rows(self) -> int:
        """The largest number of points in the GP right before a fit."""
        return self.rows + self.rows // self.growth


CONSTANTS = PriorConstants()


@dataclass(frozen=True)
class LearnedPrior:
    """A transform of the values, and the prior of the transformed values."""

    transform: Transform
    fit: Fit
    noise: float
    """The variance of the noise, in transformed units, of values that have no variance of their
    own; 0 if there is none."""

    calibration: float
    """The root mean square of the leave-one-out errors in units of sigma, but at least 1. The
    search multiplies sigma by it, because with an overconfident GP it would reject too much."""

    score: float
    """The log posterior density, which can be compared between transforms: the highest is best."""

    factors: Array | None = None
    """If the noise is learned, the factor by which the variance of each value's noise exceeds it:
    more than 1 for an outlier."""

    def gp(self, domain: Domain) -> GP:
        """A GP with this prior and no values."""
        return GP(self.fit.kernel, domain.dim, self.fit.mean, self.noise, domain)


@dataclass(frozen=True)
class Noise:
    """The noise in transformed values, in the form that `Evidence` needs."""

    level: float | str
    """The variance of the noise of a row with weight 1; "learn", or 0 if there is no noise."""

    weights: Array | None = None
    """The factor by which the level is multiplied for each row; None stands for 1."""

    own: Array | None = None
    """If the level is learned, the variances of the rows whose variances are known. These have
    weight 0."""

    def nuggets(self, fit: Fit, learning: Learning) -> Array | float:
        """What is added to the diagonal for each row, as a share of the kernel's variance."""
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
    """Find the most likely of several transforms, and fit a kernel to the transformed values.

    Parameters
    ----------
    domain : Domain
        The domain of the points.
    X, values : array
        Points of the unit cube and their values, of which larger ones are better.
    starts : sequence of (lengths, nugget)
        Where a fit may begin; the most likely start is chosen. A nugget of None stands for the
        given noise, or for a typical nugget if the noise is learned.
    warp : bool, default True
        Whether to try transforms that are logarithmic far below the best value.
    noise : float or "learn", default 0.0
        The variance of the noise in a value, in the units of the values.
    transforms : callable, optional
        Returns the transforms to try, given the values, in the form of `warp.alternatives`, which
        is the default.
    variances : array, optional
        The variance of each value that has one of its own, and nan for the others.
    constants : PriorConstants, optional
        The constants of this function.
    learning : Learning, optional
        The constants of each fit.
    """
    unordered, seen = domain.unordered, domain.features(X)
    if variances is not None and np.isnan(variances).all():
        variances = None
    best: tuple[float, Fit, Transform, Array, Noise] | None = None
    if transforms is None:
        bends = constants.bends if warp else ()
        if noise == "learn":  # outliers may dominate the deviation, so best - median is the unit
            bends = tuple(bend * best_above_median(values) for bend in bends)
        transforms = partial(alternatives, bends=bends)
    for transform, log_slope in transforms(values):
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
        fitted, after, factors = _robust(fitted, domain, seen, y, after, constants, learning)
    nuggets = after.nuggets(fitted, learning)
    ratio = leave_one_out_ratio(fitted, seen, y, unordered, constants.widest, domain.arcs, nuggets)
    if after.level and (after.weights is None or isinstance(after.level, str)):
        variance = fitted.nugget * fitted.kernel.variance
    elif after.weights is None or isinstance(noise, str):
        variance = 0.0
    else:
        variance = _scaled(transform, noise, constants)
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
    # The nugget of a known variance is its ratio to the kernel's variance, which is not known yet:
    # fit with a kernel variance of 1 first, and then with the variance that was found.
    return once(after.own / once(after.own).kernel.variance)


def _robust(
    fitted: Fit,
    domain: Domain,
    seen: Array,
    y: Array,
    noise: Noise,
    constants: PriorConstants,
    learning: Learning,
) -> tuple[Fit, Noise, Array]:
    """A fit on which outliers have little influence, the noise that it assumes, and its factors."""
    factors, heavy = np.ones(len(y)), noise
    start = fitted.kernel.lengths(seen.shape[1]), fitted.nugget
    for _ in range(constants.rounds):
        factors = heavy_tails(fitted, domain, seen, y, noise, constants, learning)
        weights = factors if noise.weights is None else factors * noise.weights
        heavy = replace(noise, weights=weights)
        fitted = _fitted(domain, seen, y, [start], heavy, constants, learning)
    return fitted, heavy, factors


def _scaled(transform: Transform, noise: float, constants: PriorConstants) -> float:
    """The given variance of the noise in transformed units; 0 stays 0."""
    if not noise:
        return 0.0
    assert isinstance(transform, Linear)  # values are not warped if their noise is given
    return min(max(transform.variance(noise), constants.least_noise), constants.most_noise)


def _after(
    transform: Transform,
    values: Array,
    noise: float | str,
    variances: Array | None,
    constants: PriorConstants,
) -> Noise:
    """The noise after a transform of the values."""
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
    r"""The factor by which the variance of each value's noise exceeds the learned one.

    The noise is assumed to have Student's t distribution with :math:`\nu` = `tails` degrees of
    freedom, which is a normal distribution whose variance is random. If the posterior at a point
    has the mean :math:`\mu_i` and the variance :math:`v_i`, the expected precision of the value, in
    units of :math:`1/\sigma^2`, is :math:`(\nu + 1) / (\nu + ((y_i - \mu_i)^2 + v_i) / \sigma^2)`.
    This is one step of expectation maximisation.
    """
    assert constants.tails is not None
    nuggets = np.broadcast_to(after.nuggets(fitted, learning), len(y))
    known = _conditioned(fitted, X, y, domain.unordered, domain.arcs, nuggets)
    if known is None:
        return np.ones(len(y))
    noise = nuggets * fitted.kernel.variance
    error = (noise * known.alpha) ** 2 + noise - noise * noise * known.precisions
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
    """The root mean square of leave-one-out errors in units of sigma, limited to [1, `widest`].

    `X`, `y`, `unordered` and `arcs` are those of `Evidence`. `nuggets` are added to the diagonal;
    by default it is the nugget of the fit.
    """
    on_diagonal = fitted.nugget if nuggets is None else nuggets
    known = _conditioned(fitted, X, y, unordered, arcs, on_diagonal)
    return 1.0 if known is None else known.error_ratio(widest)


def _conditioned(
    fitted: Fit,
    X: Array,
    y: Array,
    unordered: Sequence[int],
    arcs: Sequence[int],
    nuggets: Array | float,
) -> Conditioned | None:
    """The fitted process, given the values; None if their covariance cannot be factored."""
    lengths = fitted.kernel.lengths(X.shape[1])
    squares = squared(X[:, None], X, unordered, arcs)
    K = fitted.kernel.of(np.tensordot(lengths**-2.0, squares, 1))
    K.flat[:: len(y) + 1] += nuggets * fitted.kernel.variance
    factor = Factor.of(K)
    return None if factor is None else Conditioned(factor, y - fitted.mean)
