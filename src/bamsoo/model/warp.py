"""Transforms of values, which are strictly increasing and have an inverse.

A Gaussian process works best with values that have mean 0, standard deviation 1 and no long tails.
The search, the report and `predict` all use these transforms.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import asinh, hypot, isinf, log, sqrt
from typing import Protocol

import numpy as np

from ..base.typing import Array

_FAR = 1e150
"""Standardised values are limited to this size, so that their squares do not overflow. It affects
only values that arrive after a fit; the next fit scales them down."""

_SMALLEST_SCALE = 1e-12
"""Values whose differences are at most this share of the largest are equal up to rounding. Also
used instead of the standard deviation if they are."""


class Transform(Protocol):
    """Converts the objective's values to the numbers that a GP sees, and back."""

    def __call__(self, value: float) -> float:
        """The transformed value."""
        ...

    def inverse(self, g: Array) -> Array:
        """Convert transformed values back."""
        ...

    def variance(self, noise: float, value: float) -> float:
        """The variance of a transformed value, given the variance `noise` of the value itself."""
        ...


@dataclass(frozen=True)
class Identity:
    """Leaves values unchanged, for a prior that the caller gives, as in the paper."""

    def __call__(self, value: float) -> float:
        return float(value)

    def inverse(self, g: Array) -> Array:
        """The numbers, unchanged."""
        return g

    def variance(self, noise: float, value: float) -> float:
        """The variance, unchanged."""
        return noise


@dataclass(frozen=True)
class Linear:
    """The linear transform (value / size - shift) / scale."""

    size: float
    shift: float
    scale: float

    def __call__(self, value: float) -> float:
        return min(max((value / self.size - self.shift) / self.scale, -_FAR), _FAR)

    def inverse(self, g: Array) -> Array:
        """Convert transformed values back."""
        with np.errstate(over="ignore"):
            return np.nan_to_num((g * self.scale + self.shift) * self.size)

    def variance(self, noise: float, value: float = 0.0) -> float:
        """The variance in transformed units, which is the same for every value."""
        deviation = min(sqrt(noise) / self.size / self.scale, _FAR)
        return deviation * deviation


@dataclass(frozen=True)
class Bent:
    """A transform that is linear near the best value and logarithmic far below it.

    It is (-asinh(u / bend) - shift) / scale, where u = best - linear(value) is the distance below
    the best value, after the transform `linear`.
    """

    linear: Linear
    best: float
    bend: float
    shift: float
    scale: float

    def __call__(self, value: float) -> float:
        return (-asinh((self.best - self.linear(value)) / self.bend) - self.shift) / self.scale

    def inverse(self, g: Array) -> Array:
        """Convert transformed values back."""
        with np.errstate(over="ignore"):
            below = self.bend * np.sinh(-(g * self.scale + self.shift))
        return self.linear.inverse(self.best - np.nan_to_num(below))

    def variance(self, noise: float, value: float) -> float:
        """To first order, the variance times the square of the slope at the value."""
        u = (self.best - self.linear(value)) / self.bend
        slope = 1.0 / (self.bend * self.scale * hypot(1.0, u))
        return self.linear.variance(noise) * slope * slope


@dataclass(frozen=True)
class Centred:
    """The transform asinh(value / unit) / scale, or value / unit if `scale` is inf.

    It maps 0 to 0, because what matters about a constraint is its sign.
    """

    unit: float
    scale: float

    def __call__(self, value: float) -> float:
        small = min(max(value / self.unit, -_FAR), _FAR)
        return small if isinf(self.scale) else asinh(small) / self.scale

    def inverse(self, g: Array) -> Array:
        """Convert transformed values back."""
        with np.errstate(over="ignore"):
            small = g if isinf(self.scale) else np.sinh(g * self.scale)
            return np.nan_to_num(small * self.unit)

    def variance(self, noise: float, value: float) -> float:
        """To first order, the variance times the square of the slope at the value."""
        deviation = sqrt(noise) / self.unit
        if not isinf(self.scale):
            deviation /= self.scale * hypot(1.0, value / self.unit)
        return deviation * deviation


@dataclass(frozen=True)
class Shifted:
    """Another transform, of what is left of a value when the origin is subtracted."""

    of: Transform
    origin: float

    def __call__(self, value: float) -> float:
        return self.of(value - self.origin)

    def inverse(self, g: Array) -> Array:
        """Convert transformed values back."""
        return self.of.inverse(g) + self.origin

    def variance(self, noise: float, value: float) -> float:
        """That of the other transform."""
        return self.of.variance(noise, value - self.origin)


def alternatives(values: Array, bends: Sequence[float]) -> Iterator[tuple[Transform, float]]:
    """Transforms to mean 0 and standard deviation 1: a linear one, then one for each bend.

    Each comes with the sum of the logarithms of its slopes at the values. With that added, the log
    likelihoods of different transforms of the same values can be compared.
    """
    linear, slope = standardisation(values)
    yield linear, len(values) * log(slope)
    y = np.array([linear(value) for value in values.tolist()])
    best = float(y.max())
    for bend in bends if y.min() < best else ():
        u = (best - y) / bend
        warped = -np.arcsinh(u)
        shift, scale = float(warped.mean()), max(float(warped.std()), _SMALLEST_SCALE)
        log_slope = -float(0.5 * np.log1p(u * u).sum()) + len(y) * log(slope / (bend * scale))
        yield Bent(linear, best, bend, shift, scale), log_slope


def size_of(values: Array) -> float:
    """The largest absolute value, or 1 if all are zero: values divided by it do not overflow."""
    return float(np.abs(values).max(initial=0.0)) or 1.0


def all_equal(values: Array) -> bool:
    """Whether all values are equal, up to rounding."""
    size = size_of(values)
    return bool(np.ptp(values / size) <= _SMALLEST_SCALE)


def at_limit(transform: Transform) -> bool:
    """Whether half of the values are equal to the best, so that the bend is as small as can be.

    The model then cannot tell how far below the best the other values are.
    """
    return isinstance(transform, Bent) and transform.bend <= _SMALLEST_SCALE


def best_above_median(values: Array) -> float:
    """How far the best value is above the median, in standard deviations of the values."""
    linear, _ = standardisation(values)
    below, beyond = np.sort(values)[[(len(values) - 1) // 2, len(values) // 2]].tolist()
    above = linear(float(values.max())) - linear(0.5 * below + 0.5 * beyond)  # no overflow
    return max(above, _SMALLEST_SCALE)


def standardisation(values: Array) -> tuple[Linear, float]:
    """The linear transform to mean 0 and standard deviation 1, for values of any size.

    Also returns the slope of the transform with respect to value / size. The factor 1 / size, which
    could overflow, is left out because all transforms of the same values share it.
    """
    size = size_of(values)
    small = values / size
    shift, scale = float(small.mean()), max(float(small.std()), _SMALLEST_SCALE)
    return Linear(size, shift, scale), 1.0 / scale


def deviation(values: Array) -> float:
    """The standard deviation of values of any size, whose squares may be beyond floats."""
    size = size_of(values)
    return size * float((values / size).std()) if len(values) else 0.0


def standardised(values: Array) -> tuple[Array, float]:
    """The values shifted and scaled to mean 0 and standard deviation 1, and the scale."""
    scale = max(float(values.std()), _SMALLEST_SCALE)
    return (values - values.mean()) / scale, scale


def log_heights(values: Array, share: float) -> tuple[Array, float]:
    """Logarithms of the heights of standardised values above the worst one, standardised again.

    This turns narrow peaks on a plain into wide bowls. The transform is linear below the height
    that the given share of the values do not exceed. Also returns the sum of the logarithms of its
    slopes.
    """
    height = values - values.min()
    bend = max(float(np.quantile(height, share)), _SMALLEST_SCALE)
    logs, scale = standardised(np.arcsinh(height / bend))
    log_slope = -0.5 * float(np.log1p((height / bend) ** 2).sum()) - len(values) * log(bend)
    return logs, log_slope - len(values) * log(scale)
