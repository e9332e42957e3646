"""A limit of a number that evaluations measure, such as "Tpeak <= 520"."""

import ast
import re
from collections.abc import Collection, Iterator
from math import isfinite
from typing import NamedTuple, TypeVar

from ..base.checks import brief
from ..base.typing import Array
from ..errors import SettingsError

_COMPARISON = re.compile(r"(<=|>=|==|<|>|=)")


T = TypeVar("T", float, Array)


class Limit(NamedTuple):
    """A measured number and the limit that it has to meet."""

    name: str
    """The name of the number."""
    side: float = 1.0
    """1 for an upper limit, and -1 for a lower one."""
    bound: float = 0.0
    text: str = ""
    """The constraint in words; for a limit of 0 that was not stated, the name alone."""

    def excess(self, number: T) -> T:
        """By how much a number misses the limit; it meets the limit if this is at most 0."""
        return self.side * (number - self.bound)

    def number(self, excess: float) -> float:
        """The number that misses the limit by this much."""
        return self.bound + self.side * excess


def limits_of(text: str, parameters: Collection[str]) -> Iterator[Limit]:
    """The limits in a string of `constraints`: one, or two as in "300 <= T <= 520".

    A name alone has to be at most 0.
    """
    parts = [part.strip() for part in _COMPARISON.split(text)]
    if len(parts) == 1:
        yield Limit(text, text=text)
        return
    if any(sign not in ("<=", ">=") for sign in parts[1::2]):
        raise SettingsError(
            f"the constraint {brief(text)} compares with something other than <= and >=; write it "
            "as 'NAME <= NUMBER' or 'NAME >= NUMBER'"
        )
    numbers = [_number(part) for part in parts[::2]]
    named = [part for part, number in zip(parts[::2], numbers, strict=True) if number is None]
    ends = numbers[0] is None or numbers[-1] is None
    if len(named) != 1 or not named[0] or len(parts) > 5 or (len(parts) == 5 and ends):
        raise SettingsError(
            f"the constraint {brief(text)} must have one name and a number on either side of it, "
            f"as in 'NAME <= 520'; {_formula(text)}"
        )
    (name,) = named
    if names := _names(name) & set(parameters):
        raise SettingsError(
            f"the constraint {brief(text)} is about the parameter {min(names)!r}, which is known "
            f"in advance; {_formula(text)}"
        )
    for _, side, bound in sides_of(text):
        shown = f"{name} {'<=' if side > 0.0 else '>='} {bound!r}"
        yield Limit(name, side, bound, shown.removesuffix(".0"))


class Side(NamedTuple):
    """A bound of something that need not be measured: a parameter, or an expression."""

    what: str
    side: float
    """1 for an upper bound, and -1 for a lower one."""
    bound: float


def sides_of(text: str) -> list[Side]:
    """The bounds in a chain of comparisons, such as "1 <= x <= 3"; none if one has no number."""
    parts = [part.strip() for part in re.split("([<>]=?)", text)]
    numbers, found = [_number(part) for part in parts[::2]], []
    for i, sign in enumerate(parts[1::2]):
        left, right = numbers[i], numbers[i + 1]
        if (left is None) == (right is None):
            return []
        side = 1.0 if ("<" in sign) == (left is None) else -1.0
        bound = right if left is None else left
        assert bound is not None
        found.append(Side(parts[2 * i] if left is None else parts[2 * i + 2], side, bound))
    return found


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    if not isfinite(number):
        raise SettingsError(f"the limit of a constraint must be finite, got {brief(text)}")
    return number


def _formula(text: str) -> str:
    return f"for a formula of parameters, give bamsoo.Formula({brief(text)}) (--constraint)"


def _names(text: str) -> set[str]:
    """The names in an expression; none if the text is not one."""
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
