"""Constraints written as text, such as ``x + 2*y <= 3``.

The text is parsed with the small grammar below and never executed as Python code, so that a formula
can be read from a settings file or the command line::

    formula     = sum (("<=" | ">=" | "<" | ">") sum)+
    sum         = product (("+" | "-") product)*
    product     = sign (("*" | "/") sign)*
    sign        = ("+" | "-") sign | power
    power       = atom ("**" sign)?
    atom        = number | name | function "(" sum ("," sum)* ")" | "(" sum ")"

Each name is a parameter of the space, and all numbers are floats.
"""

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from math import inf, nan
from typing import Any, TypeAlias

from ..checks import brief
from ..errors import SettingsError

Term: TypeAlias = Callable[[Mapping[str, Any]], float]
"""A part of a formula, as a function that computes its value from those of the parameters."""

_OPERATIONS: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}

LONGEST = 2000
"""The largest number of characters in a formula. It is far more than anyone writes by hand, and it
bounds the time that is spent on text from elsewhere."""

FUNCTIONS: dict[str, tuple[Callable[..., float], int | None]] = {
    "abs": (math.fabs, 1),
    "sqrt": (math.sqrt, 1),
    "exp": (math.exp, 1),
    "log": (math.log, 1),
    "log10": (math.log10, 1),
    "sin": (math.sin, 1),
    "cos": (math.cos, 1),
    "tan": (math.tan, 1),
    "min": (min, None),
    "max": (max, None),
}
"""The functions that a formula may call, each with its number of arguments; None stands for one
argument or more."""

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<name>[^\W\d]\w*)"
    r"|(?P<sign>\*\*|<=|>=|==|!=|[-+*/(),<>=]))"
)

_DEEPEST = 50
"""How deeply parentheses, calls, powers and signs may be nested. Each level takes several calls of
the parser, which together must stay far below Python's recursion limit."""


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
        parser = _Parser(text)
        self._parts = parser.parse()
        self.names = frozenset(parser.names)
        """The names of the parameters that the formula uses."""

    def __repr__(self) -> str:
        return f"Formula({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Formula) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __reduce__(self) -> Any:
        return Formula, (self.text,)

    def __call__(self, **params: Any) -> float:
        """By how much the formula is violated, given its parameters; <= 0 if it holds."""
        return max(self.values(params))

    def values(self, params: Mapping[str, Any]) -> list[float]:
        """One number for each comparison in the chain, which is <= 0 if the comparison holds.

        It is nan if it cannot be computed, for example because of a division by zero.
        """
        return [part(params) for part in self._parts]


class _Parser:
    """A recursive-descent parser of the grammar at the top of this module."""

    def __init__(self, text: str) -> None:
        self._text, self._depth = text, 0
        self.names: set[str] = set()
        self._tokens: list[tuple[str, str]] = []
        at = 0
        while at < len(text.rstrip()):
            found = _TOKEN.match(text, at)
            if found is None:
                raise self._error(f"{brief(text[at:].strip()[:10])} is not valid here")
            assert found.lastgroup is not None
            self._tokens.append((found.lastgroup, found[found.lastgroup]))
            at = found.end()
        self._at = 0

    def parse(self) -> list[Term]:
        """One term for each comparison, which is <= 0 if the comparison holds."""
        terms, signs = [self._sum()], []
        while (sign := self._take("<=", ">=", "<", ">")) is not None:
            signs.append(sign)
            terms.append(self._sum())
        if self._at < len(self._tokens):
            word = self._tokens[self._at][1]
            if word in ("=", "==", "!="):
                raise self._error("an equality needs a tolerance, such as abs(x - y) <= 1e-6")
            raise self._error(f"{word!r} is not expected here")
        if not signs:
            raise self._error("a comparison is missing, such as <= 3")
        return [_difference(terms[i], terms[i + 1], sign) for i, sign in enumerate(signs)]

    def _error(self, what: str) -> SettingsError:
        return SettingsError(
            f"the constraint {brief(self._text)} is not a valid formula: {what}; expected "
            "something like x + 2*y <= 3"
        )

    def _take(self, *words: str) -> str | None:
        if self._at < len(self._tokens) and self._tokens[self._at][1] in words:
            self._at += 1
            return self._tokens[self._at - 1][1]
        return None

    def _sum(self) -> Term:
        first, rest = self._product(), []
        while (sign := self._take("+", "-")) is not None:
            rest.append((sign, self._product()))
        return _chain(first, rest)

    def _product(self) -> Term:
        first, rest = self._sign(), []
        while (sign := self._take("*", "/")) is not None:
            rest.append((sign, self._sign()))
        return _chain(first, rest)

    def _sign(self) -> Term:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._error("it is nested too deeply")
        try:
            if (sign := self._take("+", "-")) is None:
                return self._power()
            inner = self._sign()
            return inner if sign == "+" else lambda params: -inner(params)
        finally:
            self._depth -= 1

    def _power(self) -> Term:
        base = self._atom()
        if self._take("**") is None:
            return base
        exponent = self._sign()
        return _safe(lambda params: math.pow(base(params), exponent(params)))

    def _atom(self) -> Term:
        if self._at == len(self._tokens):
            raise self._error("it ends too early")
        kind, word = self._tokens[self._at]
        self._at += 1
        if kind == "number":
            number = float(word)
            return lambda params: number
        if kind == "name" and self._take("(") is not None:
            return self._call(word)
        if kind == "name":
            self.names.add(word)
            return lambda params: float(params[word])
        if word == "(":
            inner = self._sum()
            self._close()
            return inner
        raise self._error(f"{word!r} is not expected here")

    def _call(self, name: str) -> Term:
        if name not in FUNCTIONS:
            raise self._error(f"{name!r} is none of the functions {', '.join(FUNCTIONS)}")
        function, count = FUNCTIONS[name]
        arguments = [self._sum()]
        while self._take(",") is not None:
            arguments.append(self._sum())
        self._close()
        if count is not None and len(arguments) != count:
            raise self._error(f"{name} takes exactly one argument")
        if len(arguments) == 1 and count is None:
            return arguments[0]
        return _safe(lambda params: float(function(*(each(params) for each in arguments))))

    def _close(self) -> None:
        if self._take(")") is None:
            raise self._error("a closing parenthesis is missing")


def _chain(first: Term, rest: list[tuple[str, Term]]) -> Term:
    """Sums and products from left to right, without a nested call for each operand."""
    if not rest:
        return first

    def value(params: Mapping[str, Any]) -> float:
        total = first(params)
        for sign, term in rest:
            total = _OPERATIONS[sign](total, term(params))
        return total

    return _safe(value)


def _difference(left: Term, right: Term, sign: str) -> Term:
    """A term that is <= 0 if the comparison holds, and otherwise the distance from holding."""
    low, high = (left, right) if sign[0] == "<" else (right, left)
    if len(sign) == 2:
        return lambda params: low(params) - high(params)

    def strictly(params: Mapping[str, Any]) -> float:
        apart = low(params) - high(params)
        return math.ulp(0.0) if apart == 0.0 else apart

    return strictly


def _safe(term: Term) -> Term:
    """The term, with the value nan where it is not defined and inf where it overflows."""

    def calm(params: Mapping[str, Any]) -> float:
        try:
            return term(params)
        except (ValueError, ZeroDivisionError):
            return nan
        except OverflowError:
            return inf

    return calm


def check_names(formula: Formula, names: Sequence[str]) -> None:
    """Raise an error if a formula uses a name that is not a parameter."""
    for name in sorted(formula.names):
        if name not in names:
            raise SettingsError(
                f"the constraint {brief(formula.text)} uses {name!r}, which is not a parameter; "
                f"the parameters are {', '.join(names)}"
            )
