"""Values from a caller as numbers, and whether two of them are the same."""

from math import inf, nan
from typing import Any

import numpy as np

from ...base.typing import Array


def equal(one: Any, other: Any) -> bool:
    """Whether two options are the same; a comparison without a clear answer counts as no."""
    if one is other:
        return True
    try:
        return bool(one == other) or bool(one != one and other != other)  # two nans are the same
    except Exception:  # comparing two arrays gives an array, which has no truth value
        return False


def numbers(value: Any) -> Array:
    """Convert `value` into an array of float64.

    A whole number beyond the largest float64 becomes infinite, and a masked entry nan. Of a tensor
    that torch differentiates, or that is on another device, the value is taken.

    Raises
    ------
    TypeError
        If the value holds anything other than real numbers.
    """
    try:
        array = np.asarray(_on_its_own(value))
        entries = array.ravel().tolist()
    except Exception as error:  # an object of another library may raise anything here
        raise TypeError from error
    # numpy would parse strings, drop imaginary parts and read None as nan
    if array.dtype.kind not in "biufO" or isinstance(value, bytearray) or None in entries:
        raise TypeError
    try:
        with np.errstate(all="ignore"):  # a long double may be too large for a float64
            floats: Array = array.astype(float)
    except OverflowError:
        floats = np.array([_nearest_float(entry) for entry in entries]).reshape(array.shape)
    except Exception as error:
        raise TypeError from error
    return np.where(value.mask, nan, floats) if isinstance(value, np.ma.MaskedArray) else floats


def _on_its_own(value: Any) -> Any:
    """The values of a tensor of torch alone, which refuses to become an array as it is."""
    for method in ("detach", "cpu"):
        if callable(take := getattr(value, method, None)):
            value = take()
    return value


def single(value: Any) -> float | None:
    """A single number, whatever holds it, as a float; None if it is not one number."""
    try:
        array = numbers(value)
    except TypeError:
        return None
    return float(array.reshape(())) if array.size == 1 else None


def _nearest_float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf
