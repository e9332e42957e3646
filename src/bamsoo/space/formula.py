"""Constraints written as text, such as ``x + 2*y <= 3``.

Python's parser reads the text, but the text itself is never executed, so that it can come from a
settings file or the command line. Only names, numbers, arithmetic, comparisons and the functions
below are accepted. From them a function is made, with one line for each operation and its own names
for everything. Each name is a parameter of the space, and all numbers are floats.
"""

import ast
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from math import inf, isnan, nan
from typing import Any

from ..base.checks import brief
from ..errors import SettingsError

LONGEST = 2000
"""The largest number of characters in a formula. It is far more than anyone writes by hand, and it
bounds the time that is spent on text from elsewhere."""

DEEPEST = 50
"""How deeply parentheses may be nested. Python's parser has a limit too, which differs between its
versions; this one is lower, so that a formula is valid in all of them or in none."""

_WORD = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<name>[^\W\d]\w*)"
    r"|(?P<sign>\*\*|[<>]=?|[-+*/(),])|\S"
)


def _careful(function: Callable[..., float]) -> Callable[..., float]:
    """The function, with the value nan if an argument is nan."""

    def value(*x: float) -> float:
        # min(x, nan) and nan**0 would hide it
        return nan if any(map(isnan, x)) else function(*x)

    return value


def _power(x: float, y: float) -> float:
    """The power, which is infinite if it overflows."""
    try:
        return math.pow(x, y)
    except OverflowError:
        return -inf if x < 0.0 and y % 2.0 == 1.0 else inf


def _exp(x: float) -> float:
    """The exponential, which is infinite if it overflows."""
    try:
        return math.exp(x)
    except OverflowError:
        return inf


FUNCTIONS: dict[str, Callable[..., float]] = {
    "abs": math.fabs,
    "sqrt": math.sqrt,
    "exp": _exp,
    "log": math.log,
    "log10": math.log10,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "min": _careful(lambda *x: min(x)),
    "max": _careful(lambda *x: max(x)),
}
"""The functions that a formula may call: min and max with any number of arguments, the others with
one."""

_KNOWN = {**FUNCTIONS, "pow": _careful(_power), "power": _power, "inf": inf, "__builtins__": {}}

_OPERATIONS: dict[type[ast.AST], str] = {
    ast.Add: "{} + {}",
    ast.Sub: "{} - {}",
    ast.Mult: "{} * {}",
    ast.Div: "{} / {}",
    ast.Pow: "pow({}, {})",
    ast.UAdd: "+{}",
    ast.USub: "-{}",
    ast.LtE: "{0} - {1}",
    ast.GtE: "{1} - {0}",
    ast.Lt: "{0} - {1} or 5e-324",  # the smallest positive number, because equality is not enough
    ast.Gt: "{1} - {0} or 5e-324",
}


class Formula:
    """A constraint on the parameters, written as text, for the argument `constraints=`.

    Unlike a function, it can be stored in a study.

    Parameters
    ----------
    text : str
        A comparison of two expressions, such as ``x + 2*y <= 3``, or a chain of comparisons, such
        as ``0 <= x - y <= 1``. An expression may use the parameters' names, numbers, ``+ - * /
        **``, parentheses, and the functions abs, sqrt, exp, log, log10, sin, cos, tan, min and
        max.

    Examples
    --------
    >>> import bamsoo
    >>> sides = {"a": (0, 5), "b": (0, 5)}
    >>> r = bamsoo.maximize(
    ...     lambda a, b: a * b, sides, 40, constraints=[bamsoo.Formula("2*a + 2*b <= 10")]
    ... )
    >>> bool(r.fun > 6.2)
    True
    """

    def __init__(self, text: str) -> None:
        if not isinstance(text, str) or len(text) > LONGEST:
            raise SettingsError(
                f"a formula must be a string of at most {LONGEST} characters, got {brief(text)}"
            )
        self.text = text
        self.arguments, self._count, self._source = _parse(text)
        """The same as `names`, in the order of the arguments of `at`."""
        self.names = frozenset(self.arguments)
        """The names of the parameters that the formula uses."""

    def __repr__(self) -> str:
        return f"Formula({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Formula) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __reduce__(self) -> Any:
        return Formula, (self.text,)

    def __len__(self) -> int:
        """The number of comparisons in the chain."""
        return self._count

    @property
    def comparisons(self) -> list[str]:
        """Each comparison of the chain as a text of its own, such as "x - y <= 1"."""
        parts = [part.strip() for part in re.split("([<>]=?)", self.text)]
        return [" ".join(parts[i : i + 3]) for i in range(0, len(parts) - 2, 2)]

    @cached_property
    def _compute(self) -> Callable[..., list[float]]:
        """The function, compiled when it is first used."""
        made: dict[str, Callable[..., list[float]]] = {}
        exec(self._source, _KNOWN, made)
        return made["compute"]

    def __call__(self, **params: Any) -> float:
        """By how much the formula is violated, given its parameters; <= 0 if it holds.

        It is nan if any part of the formula is undefined.
        """
        values = self.values(params)
        return nan if any(map(isnan, values)) else max(values)

    def values(self, params: Mapping[str, Any]) -> list[float]:
        """One number for each comparison in the chain, which is <= 0 if the comparison holds.

        If any part of the formula is undefined, for example because of a division by zero, one or
        all of them are nan, even if the value of that part would not matter.
        """
        try:
            return self.at(*[float(params[name]) for name in self.arguments])
        except OverflowError:  # a huge whole number
            return [nan] * self._count

    def at(self, *numbers: float) -> list[float]:
        """The same for the parameters' numbers, in the order of `arguments`."""
        try:
            return self._compute(*numbers)
        except (ValueError, ZeroDivisionError, OverflowError):
            return [nan] * self._count


def _parse(text: str) -> tuple[list[str], int, str]:
    """The names in a formula, its number of comparisons, and a function that computes them."""
    words = list(_WORD.finditer(text))
    # With placeholders for names and numbers, Python's keywords can be names of parameters, and
    # its other kinds of numbers, such as 0x10 and 1j, are refused.
    source = " ".join(
        word[0] if word.lastgroup == "sign" else f"_{i}" for i, word in enumerate(words)
    )

    def invalid(what: str) -> SettingsError:
        return SettingsError(
            f"the constraint {brief(text)} is not a valid formula: {what}; expected something like "
            "x + 2*y <= 3"
        )

    def unexpected(at: int) -> SettingsError:
        return invalid(f"{words[source[:at].count(' ')][0]!r} is not expected here")

    depth = 0
    for word in words:
        if word[0] in ("=", "!"):
            raise invalid("an equality needs a tolerance, such as abs(x - y) <= 1e-6")
        if not word.lastgroup:
            raise invalid(f"{word[0]!r} is not valid here")
        depth += (word[0] == "(") - (word[0] == ")")
        if depth > DEEPEST:
            raise invalid("it is nested too deeply")
    try:
        tree = ast.parse(source, mode="eval").body
    except SyntaxError as error:
        if not error.offset:
            raise invalid("it ends too early") from None
        if "never closed" in error.msg:
            raise invalid("a closing parenthesis is missing") from None
        raise unexpected(error.offset - 1) from None
    except (RecursionError, MemoryError):
        raise invalid("it is nested too deeply") from None
    if not isinstance(tree, ast.Compare):
        raise invalid("a comparison is missing, such as <= 3")

    names: dict[str, str] = {}
    found: list[tuple[str, int]] = []  # each part and its number of operands, the last one first
    todo: list[ast.expr] = [tree.left, *tree.comparators]
    while todo:  # a loop, because a long sum is a deep tree
        match todo.pop():
            case ast.Name(id=place):
                word = words[int(place[1:])]
                if word.lastgroup == "number":
                    found.append((repr(float(word[0])), 0))
                else:
                    found.append((names.setdefault(word[0], f"x{len(names)}"), 0))
            case ast.UnaryOp(op=sign, operand=operand):
                found.append((_OPERATIONS[type(sign)], 1))
                todo.append(operand)
            case ast.BinOp(left=left, op=sign, right=right):
                found.append((_OPERATIONS[type(sign)], 2))
                todo += [left, right]
            case ast.Call(func=ast.Name(id=place), args=[_, *others] as given, keywords=[]):
                function = words[int(place[1:])][0]
                if function not in FUNCTIONS:
                    raise invalid(f"{function!r} is none of the functions {', '.join(FUNCTIONS)}")
                if others and function not in ("min", "max"):
                    raise invalid(f"{function} takes exactly one argument")
                found.append((f"{function}({', '.join(['{}'] * len(given))})", len(given)))
                todo += given
            case other:
                raise unexpected(other.col_offset)

    lines = [f"def compute({', '.join(names.values())}):"]
    stack: list[str] = []
    for form, count in reversed(found):
        if count:
            if form.startswith("pow") and stack[-1][0] in "123456789":  # not 0, which hides nan
                form = form.replace("pow", "power")
            lines.append(f" t{len(lines)} = {form.format(*stack[-count:])}")
            del stack[-count:]
            form = f"t{len(lines) - 1}"
        stack.append(form)
    pairs = zip(tree.ops, stack, stack[1:], strict=False)
    lines.append(
        f" return [{', '.join(_OPERATIONS[type(sign)].format(*ab) for sign, *ab in pairs)}]"
    )
    return list(names), len(tree.ops), "\n".join(lines)


def check_names(formula: Formula, names: Sequence[str]) -> None:
    """Raise an error if a formula uses a name that is not a parameter."""
    for name in sorted(formula.names):
        if name not in names:
            raise SettingsError(
                f"the constraint {brief(formula.text)} uses {name!r}, which is not a parameter; "
                f"the parameters are {', '.join(names)}"
            )
