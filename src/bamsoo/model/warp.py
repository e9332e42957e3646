"""Transforms of values, each strictly increasing, and their inverses."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import asinh, log, sqrt

import numpy as np

from .._typing import Array

_FAR = 1e150  # standardised values are cut here: the next fit brings them back
_BENDS = (1.0, 0.1, 0.01)  # where a warp turns from linear to logarithmic, in deviations

Transform = Callable[[float], float]


@dataclass(frozen=True)
class Linear:
    """A transform to (value / size - shift) / scale, and back."""

    size: float
    shift: float
    scale: float

    def __call__(self, value: float) -> float:
        return min(max((value / self.size - self.shift) / self.scale, -_FAR), _FAR)

    def inverse(self, g: Array) -> Array:
        """Values whose transforms these are."""
        with np.errstate(over="ignore"):
            return np.nan_to_num((g * self.scale + self.shift) * self.size)

    def variance(self, noise: float) -> float:
        """A variance of the values, in transformed units."""
        deviation = sqrt(noise) / self.size / self.scale
        return deviation * deviation


def transforms(values: Array, warp: bool) -> Iterator[tuple[Transform, float]]:
    """Strictly increasing transforms to mean 0 and deviation 1, with the log of their slopes.

    First the linear one. Then, if asked, for a few bends b, with u the distance below the
    best value in deviations: -asinh(u / b), linear near the best and logarithmic far below.
    """
    linear, slope = standardisation(values)
    yield linear, len(values) * log(slope)
    y = np.array([linear(value) for value in values.tolist()])
    best = float(y.max())
    for bend in _BENDS if warp and y.min() < best else ():
        u = (best - y) / bend
        warped = -np.arcsinh(u)
        shift, scale = float(warped.mean()), max(float(warped.std()), 1e-12)
        log_slope = -float(0.5 * np.log1p(u * u).sum()) + len(y) * log(slope / (bend * scale))

        def bent(
            value: float, b: float = bend, shift: float = shift, scale: float = scale
        ) -> float:
            return (-asinh((best - linear(value)) / b) - shift) / scale

        yield bent, log_slope


def standardisation(values: Array) -> tuple[Linear, float]:
    """To mean 0 and deviation 1, safe for values of any size and for constant ones.

    Returns the transform and its slope for values over the largest of them, whose constant
    factor is common to all transforms of the same values.
    """
    size = max(float(np.abs(values).max()), 1e-300)
    small = values / size
    shift, scale = float(small.mean()), max(float(small.std()), 1e-12)
    return Linear(size, shift, scale), 1.0 / scale
