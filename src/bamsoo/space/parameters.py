"""The kinds of parameters: real numbers, whole numbers, and options without order."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, TypeAlias

import numpy as np

from .._typing import Array
from ..checks import brief
from ..errors import SpaceError


@dataclass(frozen=True)
class Real:
    """A real parameter between `low` and `high`, both included.

    Parameters
    ----------
    low, high : float
    log : bool
        Search its logarithm; needs low > 0.
    """

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        _check_interval("Real", self.low, self.high, self.log)
        object.__setattr__(self, "low", float(self.low) + 0.0)  # -0.0 is 0.0: one point, one value
        object.__setattr__(self, "high", float(self.high) + 0.0)
        object.__setattr__(self, "log", bool(self.log))


@dataclass(frozen=True)
class Int:
    """A whole number between `low` and `high`, both included.

    Parameters
    ----------
    low, high : int
    log : bool
        Search its logarithm; needs low > 0.
    """

    low: int
    high: int
    log: bool = False

    def __post_init__(self) -> None:
        _check_interval("Int", self.low, self.high, self.log)
        for what, value in (("low", self.low), ("high", self.high)):
            if isinstance(value, bool) or int(value) != value or abs(value) > 2**52:
                raise SpaceError(f"Int: {what} must be a whole number, got {brief(value)}")
            object.__setattr__(self, what, int(value))
        object.__setattr__(self, "log", bool(self.log))


@dataclass(frozen=True)
class Choice:
    """One of several options without order.

    Parameters
    ----------
    options : sequence
        What is handed to the function: strings, numbers, anything; all different.
    """

    options: tuple[Any, ...]

    def __init__(self, options: Sequence[Any]) -> None:
        if isinstance(options, (str, bytes)) or not isinstance(options, Iterable):
            raise SpaceError(f"Choice: expected a list of options, got {brief(options)}")
        object.__setattr__(self, "options", tuple(options))
        if not self.options:
            raise SpaceError("Choice: expected at least one option, got none")
        for i, option in enumerate(self.options):
            if any(option == other for other in self.options[:i]):
                raise SpaceError(f"Choice: the option {brief(option)} stands there twice")


Parameter: TypeAlias = Real | Int | Choice


def numbers(value: Any) -> Array:
    """`value` as an array of float64; TypeError where it holds anything but real numbers."""
    try:
        array = np.asarray(value)
        with np.errstate(over="ignore"):  # a long double may exceed a double
            floats: Array = array.astype(float)
    except Exception as error:  # whatever a foreign object raises when asked for its numbers
        raise TypeError from error
    kind = array.dtype.kind  # numpy would parse strings, cut complex numbers, take None for nan
    if kind not in "biufO" or isinstance(value, bytearray) or None in array.ravel().tolist():
        raise TypeError
    return floats


def _check_interval(name: str, low: Any, high: Any, log_scale: bool) -> None:
    try:
        low, high = float(numbers(low)), float(numbers(high))
    except TypeError:
        raise SpaceError(
            f"{name}: bounds must be numbers, got low={brief(low)}, high={brief(high)}"
        ) from None
    if not (isfinite(low) and isfinite(high)):
        raise SpaceError(f"{name}: bounds must be finite, got low={low}, high={high}")
    if not low < high:
        raise SpaceError(f"{name}: low must be below high, got low={low}, high={high}")
    if log_scale and low <= 0:
        raise SpaceError(f"{name}: a log scale needs low > 0, got low={low}")


def as_parameter(name: str, parameter: Any) -> Parameter:
    """A parameter as it was given, or the `Real` that a (low, high) pair means."""
    if isinstance(parameter, (Real, Int, Choice)):
        return parameter
    try:
        low, high = parameter
    except (TypeError, ValueError):
        raise SpaceError(
            f"{name}: expected (low, high), Real, Int or Choice, got {brief(parameter)}"
        ) from None
    _check_interval(name, low, high, False)
    return Real(low, high)
