"""Simple values in a form that JSON stores without loss, and that is read back with its type."""

from collections.abc import Mapping
from enum import Enum
from inspect import signature
from math import isfinite
from numbers import Integral
from typing import Any

import numpy as np

from ..errors import BamsooError, StudyError
from .checks import brief, is_finite

NUMPY = ("bool", *(f"{kind}{size}" for kind in ("int", "uint") for size in (8, 16, 32, 64)),
         "float16", "float32", "float64", "str")  # fmt: skip
"""The types of numpy scalars that can be stored as options."""


def plain(name: str, value: Any) -> Any:
    """The value in a form that JSON stores without loss; a sequence becomes a list."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Integral):
        return int(value)
    if is_finite(value):
        return float(value)
    if isinstance(value, (tuple, list)) and not any(isinstance(v, (tuple, list)) for v in value):
        return [plain(name, each) for each in value]
    raise StudyError(
        f"{name}: a study stores strings, finite numbers, booleans and None, got {brief(value)}"
    )


def option_to_json(name: str, option: Any) -> Any:
    """An option as JSON, which can be read back with its exact type.

    Options of other types are refused, even subclasses, because they would come back as something
    else.
    """
    if option is None or type(option) in (bool, int, str):
        return option
    if type(option) is float and isfinite(option):
        return option
    if isinstance(option, np.generic):
        kind = "str" if isinstance(option, np.str_) else option.dtype.name
        if kind in NUMPY and (kind[0] != "f" or isfinite(option)):
            return {"numpy": kind, "value": option.item()}
    hint = "; use the value of each member" if isinstance(option, Enum) else ""
    raise StudyError(
        f"{name}: a study stores strings, finite numbers, booleans and None as options, "
        f"got {brief(option)} of type {type(option).__name__}{hint}"
    )


def option_from_json(stored: Any) -> Any:
    """The option that `option_to_json` stored."""
    if isinstance(stored, list):
        raise StudyError(f"the study has an option of an unknown type, {brief(stored)}")
    if not isinstance(stored, dict):
        return stored
    if stored["numpy"] not in NUMPY:
        raise StudyError(f"the study has an option of an unknown type, {brief(stored['numpy'])}")
    return np.dtype(stored["numpy"]).type(stored["value"])


def made(kind: Any, given: Mapping[str, Any]) -> Any:
    """An object with stored settings; a StudyError if this version does not have one of them."""
    accepted = signature(kind).parameters
    unknown = [key for key in given if key not in accepted]
    if unknown:
        raise StudyError(
            f"the study sets {kind.__name__}.{brief(unknown[0])}, which this version of bamsoo "
            "does not have; update bamsoo"
        )
    try:
        return kind(**given)
    except BamsooError as error:
        raise StudyError(f"the study's settings are invalid: {error}") from error
