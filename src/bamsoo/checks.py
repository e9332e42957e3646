"""Checks of settings. An error says in one sentence what was given and what was expected."""

from math import inf
from numbers import Integral, Real
from reprlib import Repr
from typing import Any

from .errors import SettingsError


def brief(value: Any) -> str:
    """`repr` for an error message: on one line, and no longer than that needs."""
    short = Repr()
    short.maxother = short.maxstring = short.maxlong = 60
    text = " ".join(short.repr(value).split())
    return text if len(text) <= 80 else f"{text[:77]}..."


LONGEST = 10_000
"""Characters that are kept of a text that somebody else wrote, such as an exception's."""


def storable(text: str) -> str:
    """The text as a file and a terminal can take it: valid Unicode, and not too long.

    Of a text that is too long the middle is left out.
    """
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    if len(text) > LONGEST:
        half = LONGEST // 2 - 20  # room for what is said between
        text = f"{text[:half]} [{len(text) - 2 * half} characters left out] {text[-half:]}"
    return text


def count(number: int, what: str) -> str:
    """A number of things in words: 1 evaluation, 2 evaluations."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def check_between(name: str, what: str, value: Any, low: float = -inf, high: float = inf) -> None:
    """Refuse what is not a number strictly between `low` and `high`."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not (number and low < value < high):
        expected = f"strictly between {low:g} and {high:g}"
        if high == inf:
            expected = "finite" if low == -inf else "positive and finite"
        raise SettingsError(f"{name}: {what} must be {expected}, got {brief(value)}")


def check_whole(name: str, what: str, value: Any, least: int = 1) -> None:
    """Refuse what is not a whole number >= `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise SettingsError(f"{name}: {what} must be a whole number >= {least}, got {brief(value)}")


def check_callable(name: str, what: str, value: Any) -> None:
    """Refuse what cannot be called."""
    if not callable(value):
        raise SettingsError(f"{name}: {what} must be callable, got {brief(value)}")


def check_kind(name: str, what: str, value: Any, kind: type) -> None:
    """Refuse what is not an instance of `kind`."""
    if not isinstance(value, kind):
        raise SettingsError(f"{name}: {what} must be a {kind.__name__}, got {brief(value)}")


def check_noise(name: str, value: Any, learn: bool = False) -> None:
    """Refuse what is no variance of noise, nor "learn" where that can be learned."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not (
        (number and 0.0 <= value < inf) or (learn and isinstance(value, str) and value == "learn")
    ):
        or_learn = " or 'learn'" if learn else " (only Auto can learn it)"
        raise SettingsError(
            f"{name}: noise must be a finite variance >= 0{or_learn}, got {brief(value)}"
        )
