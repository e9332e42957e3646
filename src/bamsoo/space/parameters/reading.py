"""Parameters as callers write them: a kind, a pair, or a plain value, which is fixed."""

from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np

from ...base.checks import brief, is_finite
from ...errors import SpaceError
from .fixed import Fixed
from .interval import check_interval
from .parameter import Parameter
from .real import Real

PLAIN = (int, float, str, bool, np.number, np.bool_, np.str_)
"""The types of plain values, which are fixed parameters in a dict of parameters."""


def check_name(name: Any) -> str:
    """Return a parameter's name, or raise an error if it is not a string."""
    if not isinstance(name, str):
        raise SpaceError(f"a parameter's name must be a string, got {brief(name)}")
    return name


def as_parameters(given: Mapping[Any, Any]) -> dict[str, Parameter]:
    """The parameters of a dict by name.

    Here a list of two numbers is refused: elsewhere it may mean two options, as in scikit-learn.
    """
    for name, each in given.items():
        if isinstance(each, list) and len(each) == 2 and _are_numbers(each):
            raise SpaceError(
                f"{name}: a list could be a range or options, got {brief(each)}; give a tuple "
                f"{brief(tuple(each))} for a range, or Choice({brief(each)}) for options"
            )
    return {
        check_name(name): _fixed(name, each)
        if isinstance(each, PLAIN)
        else as_parameter(name, each)
        for name, each in given.items()
    }


def _fixed(name: str, value: Any) -> Fixed:
    try:
        return Fixed(value)
    except SpaceError as error:
        raise SpaceError(f"{name}: {error}") from None


def _are_numbers(given: Iterable[Any]) -> bool:
    return all(isinstance(each, (int, float, np.number)) for each in given)


def _as_elsewhere(given: Any) -> str:
    """What to write for a range as other libraries give it, such as (1e-3, 10, "log-uniform")."""
    if isinstance(given, range) and len(given) > 1:
        whole = abs(given.step) == 1
        return f"Int({min(given)}, {max(given)})" if whole else f"Choice({brief(list(given))})"
    if isinstance(given, (list, tuple)) and _is_prior(*given):
        low, high, prior = given
        whole = isinstance(low, int) and isinstance(high, int)
        return _written(low, high, whole, prior.startswith("log"))
    kind = type(given).__name__
    if callable(getattr(given, "support", None)):  # scipy.stats
        (low, high), kind = given.support(), getattr(getattr(given, "dist", None), "name", "")
        return _written(low, high, kind == "randint", kind in ("loguniform", "reciprocal"))
    low, high = (
        next((getattr(given, each) for each in names if hasattr(given, each)), None)
        for names in (("low", "lower"), ("high", "upper"))
    )
    if is_finite(low) and is_finite(high):  # Optuna, scikit-optimize, ConfigSpace
        log = getattr(given, "log", False) is True or getattr(given, "prior", "") == "log-uniform"
        return _written(low, high, "Int" in kind, log)
    options = getattr(given, "choices", None) or getattr(given, "categories", None)
    return f"Choice({brief(list(options))})" if isinstance(options, (list, tuple)) else ""


def _is_prior(*given: Any) -> bool:
    """Whether this is a range and what its values are like, as scikit-optimize writes it."""
    known = ("log-uniform", "uniform", "log", "linear")
    return len(given) == 3 and _are_numbers(given[:2]) and given[2] in known


def _written(low: Any, high: Any, whole: bool, log: bool) -> str:
    """A range as it is written here."""
    kind, cast = ("Int", int) if whole else ("Real", float)
    return f"{kind}({cast(low)}, {cast(high)}{', log=True' if log else ''})"


def as_parameter(name: str, parameter: Any) -> Parameter:
    """Return a parameter unchanged, or convert a (low, high) pair into a `Real`."""
    if isinstance(parameter, Parameter):
        return parameter
    try:
        # These could be unpacked into two items as well, but they are not a (low, high) pair.
        if isinstance(parameter, (str, bytes, range, Mapping, Set)):
            raise TypeError
        low, high = parameter
        if isinstance(low, str) or (isinstance(parameter, list) and not _are_numbers(parameter)):
            raise TypeError
    except (TypeError, ValueError):
        options = isinstance(parameter, (list, tuple, Set)) and len(parameter) > 0
        hint = f"; for options, give Choice({brief(parameter)})" if options else ""
        if is_finite(parameter):
            hint = (
                "; in a space with names, a plain value is a fixed parameter: {'a': (0, 1), 'b': 2}"
            )
        if ours := _as_elsewhere(parameter):
            hint = f"; write {ours}"
        raise SpaceError(
            f"{name}: expected (low, high), Real, Int or Choice, got {brief(parameter)}{hint}"
        ) from None
    check_interval(name, low, high, False)
    return Real(low, high)
