"""Checks of settings. Each error says in one sentence what was given and what was expected."""

import numbers
import re
from math import floor, inf, isfinite, log10
from reprlib import Repr
from typing import Any

from ..errors import SettingsError


class _Short(Repr):
    def repr_int(self, x: int, level: int) -> str:
        try:
            return super().repr_int(x, level)
        except ValueError:  # Python refuses to write that many digits
            return f"a whole number of about {int(x.bit_length() * log10(2))} digits"


def shown(value: float, tol: float | None = None) -> str:
    """A value with the digits that a tolerance justifies; by default with six."""
    if tol is None or not isfinite(value):
        return f"{value:.6g}"
    last = floor(log10(tol))
    value = round(value, -last) + 0.0  # no -0.0
    size = floor(log10(abs(value))) if value else last
    return f"{value:.{min(size - last + 1, 17)}g}"


DIGITS = 7
"""Significant digits with which people read a parameter. More of them, and a table is unreadable;
fewer, and neighbouring points of a search that has converged look the same."""


def readable(value: Any, digits: int = DIGITS) -> str:
    """Like `repr`, but real numbers, also in dicts and tuples, have no more digits than needed."""
    if isinstance(value, float) and isfinite(value):
        size = floor(log10(abs(value))) + 1 if value else 1
        return repr(float(f"{value:.{min(max(digits, size), 17)}g}"))
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {readable(v, digits)}" for k, v in value.items()) + "}"
    if type(value) is tuple:
        inner = ", ".join(readable(each, digits) for each in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    return repr(value)


_NUMBER = re.compile(r"(?:0[xX][\da-fA-F]+|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)+")


def without_numbers(text: str) -> str:
    """A reason without its numbers: two that differ in these alone count as the same.

    Addresses in memory are numbers, and what follows a number at once belongs to it: a date is one.
    """
    return _NUMBER.sub("#", text)


def brief(value: Any) -> str:
    """A short `repr` on one line, for an error message."""
    short = _Short()
    short.maxother = short.maxstring = short.maxlong = 60
    text = " ".join(short.repr(value).split())
    return text if len(text) <= 80 else f"{text[:77]}..."


def short(text: str) -> str:
    """A text from elsewhere on one line, shortened for a message."""
    text = " ".join(text.split())
    return text if len(text) <= 200 else f"{text[:197]}..."


LARGEST = 1_000_000
"""Largest whole number that a setting may be, unless its own limit is smaller. Settings may come
from a file that somebody else has made. A search plans for a budget of this size, or counts up to
it, within about a second, and no function that is slow to evaluate needs more."""

MOST_CHILDREN = 1_000
"""Largest number of children of a cell. All of them are created at once, each with three numbers
per parameter, which is 24 MB with the largest number of parameters."""

MOST_STEPS = 100_000
"""Largest number of points at which a search may compute its model before an evaluation. Each takes
about 50 microseconds, so that `ask` ends within seconds."""

LONGEST = 10_000
"""Largest number of characters kept of a text from elsewhere, such as an exception's message."""


MOST_EXTRAS = 100
"""Largest number of extras of an evaluation. They are columns of tables that people read; a curve
or an array belongs into a file whose name is an extra."""

LONGEST_NAME = 200
"""Largest number of characters of the name of an extra, which is the title of a column."""


def storable(text: str) -> str:
    """The text in a form that files and terminals accept: valid Unicode, and not too long.

    The middle of a text that is too long is left out.
    """
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    if len(text) > LONGEST:
        half = LONGEST // 2 - 20  # leaves room for the note in the middle
        text = f"{text[:half]} [{len(text) - 2 * half} characters left out] {text[-half:]}"
    return text


def count(number: int, what: str) -> str:
    """A number with its noun, in the singular or plural: 1 evaluation, 2 evaluations."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def is_finite(value: Any) -> bool:
    """Whether the value is a real number, and not too large for a float."""
    number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    try:
        return number and isfinite(value)
    except OverflowError:
        return False


def check_between(name: str, what: str, value: Any, low: float = -inf, high: float = inf) -> None:
    """Raise an error unless the value is a number strictly between `low` and `high`."""
    if not (is_finite(value) and low < value < high):
        expected = f"strictly between {low:g} and {high:g}"
        if high == inf:
            expected = "finite" if low == -inf else "positive and finite"
        raise SettingsError(f"{name}: {what} must be {expected}, got {brief(value)}")


def check_whole(name: str, what: str, value: Any, least: int = 1, most: int = LARGEST) -> None:
    """Raise an error unless the value is a whole number from `least` to `most`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise SettingsError(f"{name}: {what} must be a whole number >= {least}, got {brief(value)}")
    if int(value) > most:
        raise SettingsError(f"{name}: {what} must be at most {most}, got {brief(value)}")


def check_callable(name: str, what: str, value: Any) -> None:
    """Raise an error unless the value is callable."""
    if not callable(value):
        raise SettingsError(f"{name}: {what} must be callable, got {brief(value)}")


def check_kind(name: str, what: str, value: Any, kind: type) -> None:
    """Raise an error unless the value is an instance of `kind`."""
    if not isinstance(value, kind):
        raise SettingsError(f"{name}: {what} must be a {kind.__name__}, got {brief(value)}")


def check_noise(name: str, value: Any, learn: bool = False) -> None:
    """Raise an error unless the value is a variance >= 0, or "learn" if `learn` allows that."""
    variance = is_finite(value) and value >= 0.0
    if not variance and not (learn and isinstance(value, str) and value == "learn"):
        or_learn = " or 'learn'" if learn else " (only Auto can learn it)"
        raise SettingsError(
            f"{name}: noise must be a finite variance >= 0{or_learn}, got {brief(value)}"
        )
