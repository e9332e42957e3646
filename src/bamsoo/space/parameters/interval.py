"""What the kinds with a range have in common: its steps, its checks, and how it is written."""

from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite, lcm, ulp
from typing import Any

import numpy as np

from ...base.checks import brief
from ...errors import SpaceError
from .given import numbers


@dataclass(frozen=True)
class Grid:
    """The numbers (first + i * by) / per for i = 0, ..., count - 1.

    Since `first`, `by` and `per` are whole numbers, each value is rounded only once. In steps of
    0.1, for example, the value after 0.2 is 0.3 and not 0.30000000000000004.
    """

    first: int
    by: int
    per: int
    count: int

    @classmethod
    def of(cls, low: float, high: float, step: float) -> "Grid":
        """The numbers from low to high in these steps, all three taken as decimal numbers."""
        start, end, by = (Fraction(repr(number)) for number in (low, high, step))
        per = lcm(start.denominator, by.denominator)
        return cls(int(start * per), int(by * per), per, int((end - start) // by) + 1)

    def value(self, i: int) -> float:
        """The value with index i."""
        return (self.first + i * self.by) / self.per

    def index(self, value: float) -> int:
        """The index of the value that is nearest to a number."""
        nearest = round((Fraction(value) * self.per - self.first) / self.by)
        return min(max(nearest, 0), self.count - 1)


def check_interval(name: str, low: Any, high: Any, log_scale: Any) -> None:
    """Raise an error unless these are the ends of a range that a search can use."""
    given = f"got low={brief(low)}, high={brief(high)}"
    try:
        low, high = float(numbers(low)), float(numbers(high))
    except TypeError:
        raise SpaceError(f"{name}: bounds must be numbers, {given}") from None
    if not (isfinite(low) and isfinite(high)):
        raise SpaceError(f"{name}: bounds must be finite floating-point numbers, {given}")
    if not low < high:
        fixed = f"; with names, a plain value fixes a parameter: {low:g}" if low == high else ""
        raise SpaceError(f"{name}: low must be below high, {given}{fixed}")
    if not isinstance(log_scale, (bool, np.bool_)) and log_scale not in (0, 1):
        raise SpaceError(f"{name}: log must be True or False, got {brief(log_scale)}")
    if log_scale and low <= 0:
        raise SpaceError(f"{name}: a log scale needs low > 0, {given}")


def check_step(name: str, low: float, high: float, log_scale: bool, step: Any) -> None:
    """Raise an error unless a range can be divided into such steps."""
    try:
        size = float(numbers(step))
    except TypeError:
        raise SpaceError(f"{name}: step must be a number, got {brief(step)}") from None
    if log_scale:
        raise SpaceError(f"{name}: step cannot be combined with log=True; leave one of them out")
    if not 0.0 < size < inf or Grid.of(low, high, size).count < 2:
        raise SpaceError(
            f"{name}: step must be above 0 and at most high - low = {high - low:g}, "
            f"got {brief(step)}"
        )
    if size < 2.0 * ulp(max(abs(low), abs(high))) or (high - low) / size > 2**52:
        raise SpaceError(
            f"{name}: a step of {brief(step)} is too small to tell apart the values between "
            f"{low:g} and {high:g}; give a larger step or none"
        )


def off_the_grid(step: float | None, low: float, number: float, nearest: float) -> str:
    """In words, why a number of a range with steps is not one of its values."""
    if step is None:
        return f"expected a whole number, got {number}"
    return f"expected a value in steps of {step} from {float(low)}, such as {nearest}, got {number}"


def written(name: str, low: float, high: float, flags: dict[str, bool], step: float | None) -> str:
    """A range as the command takes it, such as ``rate:1e-4:1:log``."""
    ends = [repr(float(end)).removesuffix(".0") for end in (low, high)]
    words = [flag for flag, is_set in flags.items() if is_set]
    words += [f"step={repr(float(step)).removesuffix('.0')}"] if step else []
    return ":".join([name, *ends, *words])
