"""Transforms of values: each strictly increasing, with its inverse.

A Gaussian process expects values of mean 0 and deviation 1 without long tails. The search, the
report and `predict` all take their transforms from here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import asinh, hypot, isinf, log, sqrt
from typing import Protocol

import numpy as np

from .._typing import Array

_FAR = 1e150  # standardised values are cut here, so that none overflows; the next fit rescales
_SMALLEST_SIZE = 1e-300  # in place of the largest of values that are all zero
_SMALLEST_SCALE = 1e-12  # in place of the deviation of values that are all equal


class Transform(Protocol):
    """From values to what a GP sees, and back."""

    def __call__(self, value: float) -> float:
        """What the GP sees of a value."""
        ...

    def inverse(self, g: Array) -> Array:
        """The values whose transforms these are."""
        ...

    def variance(self, noise: float, value: float) -> float:
        """The variance of what the GP sees of a value that was measured with this variance."""
        ...


@dataclass(frozen=True)
class Identity:
    """Values as they are: for a prior that is given, as in the paper."""

    def __call__(self, value: float) -> float:
        return float(value)

    def inverse(self, g: Array) -> Array:
        """The same numbers."""
        return g

    def variance(self, noise: float, value: float) -> float:
        """The same variance."""
        return noise


@dataclass(frozen=True)
class Linear:
    """To (value / size - shift) / scale."""

    size: float
    shift: float
    scale: float

    def __call__(self, value: float) -> float:
        return min(max((value / self.size - self.shift) / self.scale, -_FAR), _FAR)

    def inverse(self, g: Array) -> Array:
        """The values whose transforms these are."""
        with np.errstate(over="ignore"):
            return np.nan_to_num((g * self.scale + self.shift) * self.size)

    def variance(self, noise: float, value: float = 0.0) -> float:
        """A variance of the values, in transformed units; the same for any value."""
        deviation = min(sqrt(noise) / self.size / self.scale, _FAR)
        return deviation * deviation


@dataclass(frozen=True)
class Bent:
    """Linear near the best value and logarithmic far below it, then standardised.

    With u the distance below `best` after `linear`: -asinh(u / bend), less `shift`, over `scale`.
    """

    linear: Linear
    best: float
    bend: float
    shift: float
    scale: float

    def __call__(self, value: float) -> float:
        return (-asinh((self.best - self.linear(value)) / self.bend) - self.shift) / self.scale

    def inverse(self, g: Array) -> Array:
        """The values whose transforms these are."""
        with np.errstate(over="ignore"):
            below = self.bend * np.sinh(-(g * self.scale + self.shift))
        return self.linear.inverse(self.best - np.nan_to_num(below))

    def variance(self, noise: float, value: float) -> float:
        """To first order: the variance times the square of the slope at the value."""
        u = (self.best - self.linear(value)) / self.bend
        slope = 1.0 / (self.bend * self.scale * hypot(1.0, u))
        return self.linear.variance(noise) * slope * slope


@dataclass(frozen=True)
class Centred:
    """To asinh(value / unit) / scale, or value / unit where `scale` is inf: 0 stays 0.

    For constraints, whose sign is what matters.
    """

    unit: float
    scale: float

    def __call__(self, value: float) -> float:
        small = min(max(value / self.unit, -_FAR), _FAR)
        return small if isinf(self.scale) else asinh(small) / self.scale

    def inverse(self, g: Array) -> Array:
        """The values whose transforms these are."""
        with np.errstate(over="ignore"):
            small = g if isinf(self.scale) else np.sinh(g * self.scale)
            return np.nan_to_num(small * self.unit)

    def variance(self, noise: float, value: float) -> float:
        """To first order: the variance times the square of the slope at the value."""
        deviation = sqrt(noise) / self.unit
        if not isinf(self.scale):
            deviation /= self.scale * hypot(1.0, value / self.unit)
        return deviation * deviation


def candidates(values: Array, bends: Sequence[float]) -> Iterator[tuple[Transform, float]]:
    """Transforms to mean 0 and deviation 1, each with the sum of the logs of its slopes.

    First the linear one, then one for each bend. The slopes make the likelihoods of two
    transforms of the same values comparable.
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


def best_above_median(values: Array) -> float:
    """How far the best value is above the median, in deviations of the values."""
    linear, _ = standardisation(values)
    above = linear(float(values.max())) - linear(float(np.median(values)))
    return max(above, _SMALLEST_SCALE)


def standardisation(values: Array) -> tuple[Linear, float]:
    """To mean 0 and deviation 1, safe for values of any size and for constant ones.

    Returns the transform and its slope for values over the largest of them, whose constant
    factor is common to all transforms of the same values.
    """
    size = max(float(np.abs(values).max()), _SMALLEST_SIZE)
    small = values / size
    shift, scale = float(small.mean()), max(float(small.std()), _SMALLEST_SCALE)
    return Linear(size, shift, scale), 1.0 / scale


def standardised(values: Array) -> tuple[Array, float]:
    """The values with mean 0 and deviation 1, and their deviation before."""
    scale = max(float(values.std()), _SMALLEST_SCALE)
    return (values - values.mean()) / scale, scale


def log_heights(values: Array, share: float) -> tuple[Array, float]:
    """Logarithms of standardised values' heights above the worst, standardised again.

    Peaks on a plain become bowls. The logarithm turns linear below the height that `share` of
    the values do not reach. Returns the sum of the logs of the slopes too.
    """
    height = values - values.min()
    bend = max(float(np.quantile(height, share)), _SMALLEST_SCALE)
    logs, scale = standardised(np.arcsinh(height / bend))
    log_slope = -0.5 * float(np.log1p((height / bend) ** 2).sum()) - len(values) * log(bend)
    return logs, log_slope - len(values) * log(scale)
