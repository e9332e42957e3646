"""Constraints written as text, such as ``x + 2*y <= 3``: a small grammar, and nothing is executed.

::

    formula     = sum (("<=" | ">=" | "<" | ">") sum)+
    sum         = product (("+" | "-") product)*
    product     = sign (("*" | "/") sign)*
    sign        = ("+" | "-") sign | power
    power       = atom ("**" sign)?
    atom        = number | name | function "(" sum ("," sum)* ")" | "(" sum ")"

A name is a parameter of the space. All numbers are floats.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from math import inf, nan
from typing import Any, TypeAlias

from ..checks import brief
from ..errors import SettingsError

Term: TypeAlias = Callable[[Mapping[str, Any]], float]
"""A part of a formula: from the parameters' values to its own."""

LONGEST = 2000
"""Characters of a formula. Nobody writes more, and the parser's recursion stays shallow."""

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
"""What may be called, and with how many arguments; None: any number from one on."""

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<name>[^\W\d]\w*)"
    r"|(?P<sign>\*\*|<=|>=|==|!=|[-+*/(),<>=]))"
)
_DEEPEST = 50  # parentheses, calls, powers and signs inside each other


class Formula:
    """A constraint on the parameters as text, for `constraints=`; a study can store it.

    Parameters
    ----------
    text : str
        A comparison of two expressions, or a chain such as ``0 <= x - y <= 1``. Besides ``+ - * /
        **`` and parentheses there are the functions abs, sqrt, exp, log, log10, sin, cos, tan, min
        and max.

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
                f"a formula is a text of at most {LONGEST} characters, got {brief(text)}"
            )
        self.text = text
        parser = _Parser(text)
        self._parts = parser.parse()
        self.names = frozenset(parser.names)
        """The parameters that it speaks of."""

    def __repr__(self) -> str:
        return f"Formula({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Formula) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __reduce__(self) -> Any:
        return Formula, (self.text,)

    def __call__(self, **params: Any) -> float:
        """How far the comparison is from being met: <= 0 where it holds."""
        return max(self.values(params))

    def values(self, params: Mapping[str, Any]) -> list[float]:
        """One number for each comparison in the chain, <= 0 where it holds.

        Where it cannot be computed, because of a division by zero for example, it is nan.
        """
        return [part(params) for part in self._parts]


class _Parser:
    """Recursive descent over the grammar above."""

    def __init__(self, text: str) -> None:
        self._text, self._depth = text, 0
        self.names: set[str] = set()
        self._tokens: list[tuple[str, str]] = []
        at = 0
        while at < len(text.rstrip()):
            found = _TOKEN.match(text, at)
            if found is None:
                raise self._error(f"{brief(text[at:].strip()[:10])} means nothing there")
            assert found.lastgroup is not None
            self._tokens.append((found.lastgroup, found[found.lastgroup]))
            at = found.end()
        self._at = 0

    def parse(self) -> list[Term]:
        """One difference for each comparison."""
        terms, signs = [self._sum()], []
        while (sign := self._take("<=", ">=", "<", ">")) is not None:
            signs.append(sign)
            terms.append(self._sum())
        if self._at < len(self._tokens):
            word = self._tokens[self._at][1]
            if word in ("=", "==", "!="):
                raise self._error("an equality needs a tolerance, such as abs(x - y) <= 1e-6")
            raise self._error(f"{word!r} is not expected there")
        if not signs:
            raise self._error("a comparison is missing, such as <= 3")
        return [_difference(terms[i], terms[i + 1], sign) for i, sign in enumerate(signs)]

    def _error(self, what: str) -> SettingsError:
        return SettingsError(
            f"the constraint {brief(self._text)} cannot be read: {what}; expected something like "
            "x + 2*y <= 3"
        )

    def _take(self, *words: str) -> str | None:
        if self._at < len(self._tokens) and self._tokens[self._at][1] in words:
            self._at += 1
            return self._tokens[self._at - 1][1]
        return None

    def _sum(self) -> Term:
        term = self._product()
        while (sign := self._take("+", "-")) is not None:
            term = _binary(sign, term, self._product())
        return term

    def _product(self) -> Term:
        term = self._sign()
        while (sign := self._take("*", "/")) is not None:
            term = _binary(sign, term, self._sign())
        return term

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
        return base if self._take("**") is None else _binary("**", base, self._sign())

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
        raise self._error(f"{word!r} is not expected there")

    def _call(self, name: str) -> Term:
        if name not in FUNCTIONS:
            raise self._error(f"there is no function {name!r}, only {', '.join(FUNCTIONS)}")
        function, count = FUNCTIONS[name]
        arguments = [self._sum()]
        while self._take(",") is not None:
            arguments.append(self._sum())
        self._close()
        if count is not None and len(arguments) != count:
            raise self._error(f"{name} takes one number")
        if len(arguments) == 1 and count is None:
            return arguments[0]
        return _safe(lambda params: float(function(*(each(params) for each in arguments))))

    def _close(self) -> None:
        if self._take(")") is None:
            raise self._error("a closing parenthesis is missing")


def _binary(sign: str, left: Term, right: Term) -> Term:
    if sign == "+":
        return lambda params: left(params) + right(params)
    if sign == "-":
        return lambda params: left(params) - right(params)
    if sign == "*":
        return lambda params: left(params) * right(params)
    if sign == "/":
        return _safe(lambda params: left(params) / right(params))
    return _safe(lambda params: math.pow(left(params), right(params)))


def _difference(left: Term, right: Term, sign: str) -> Term:
    """What is <= 0 where the comparison holds."""
    low, high = (left, right) if sign[0] == "<" else (right, left)
    if len(sign) == 2:
        return lambda params: low(params) - high(params)

    def strictly(params: Mapping[str, Any]) -> float:
        apart = low(params) - high(params)
        return math.ulp(0.0) if apart == 0.0 else apart

    return strictly


def _safe(term: Term) -> Term:
    """The term, nan where it is not defined."""

    def calm(params: Mapping[str, Any]) -> float:
        try:
            return term(params)
        except (ValueError, ZeroDivisionError):
            return nan
        except OverflowError:
            return inf

    return calm


def check_names(formula: Formula, names: Sequence[str]) -> None:
    """Refuse a formula that speaks of something that is no parameter."""
    for name in sorted(formula.names):
        if name not in names:
            raise SettingsError(
                f"the constraint {brief(formula.text)} speaks of {name!r}, which is no parameter; "
                f"the parameters are {', '.join(names)}"
            )
