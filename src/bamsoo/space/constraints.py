"""The argument `constraints=`: constraints known in advance, and names of measured ones.

A constraint that is known in advance is a function, a formula, or one of scipy's constraints on the
parameters. It is converted into numbers with lower and upper bounds, from which a `Region` finds
allowed points. A measured constraint is given as a string: each evaluation returns its number, and
it is met if the number is within the limit that the string states, as in "Tpeak <= 520". A name
alone means at most 0.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, wraps
from itertools import chain
from math import inf
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from ..base.checks import LONGEST_NAME, MOST_EXTRAS, brief, storable
from ..base.typing import Array, Simple
from ..errors import SettingsError, SpaceError, ValueTypeError
from .formula import Formula, check_names
from .limit import Limit, Side, limits_of, sides_of
from .parameters import numbers, single
from .region import Cube, LinearRows, Region
from .space import Space

EQUAL = 1e-8
"""The tolerance of an equality constraint (one of scipy's constraints with lb = ub), as a multiple
of max(1, |lb|). Without it hardly any point would be allowed, because computed numbers are rarely
equal; this value is far above rounding errors and negligible for a user. Inequalities have no
tolerance."""


MOST_MEASURED = 100
"""Largest number of measured constraints. Each has a model of its own that is fitted again and
again."""

LONGEST_FORMULAS = 20_000
"""Largest number of characters of all formulas together. They are computed at tens of thousands of
points if it is hard to find one that they allow; a Python function has no such limit."""


class Points:
    """Points in the parameters' own units, in the forms that constraints take them in."""

    def __init__(self, space: Space, X: Array) -> None:
        self._space, self.X = space, X

    @cached_property
    def columns(self) -> list[list[float]]:
        """The numbers of each parameter."""
        return self.X.T.tolist()  # type: ignore[no-any-return]

    @cached_property
    def params(self) -> list[dict[str, Any]]:
        """The values of each point by name."""
        return [self._space.params(x) for x in self.X]


class Bounded(NamedTuple):
    """A constraint as numbers with bounds: it is met if low <= values(x) <= high."""

    values: Callable[[Points], Sequence[Sequence[float]] | Array]
    """Computes the numbers at some points; for each number, the values at all points."""
    low: Array
    """Lower bounds of the numbers."""
    high: Array
    """Upper bounds of the numbers."""
    smooth: bool
    """Whether the numbers say how far a point is from being allowed, and not just yes or no."""
    linear: LinearRows | None
    """The same as a matrix, if the numbers are linear in the parameters."""
    words: str
    """What the constraint is called in messages."""
    texts: Sequence[str] = ()
    """Each number with its bound in words, if the constraint was given as text."""

    def at(self, space: Space, x: Array) -> Array:
        """The numbers at a single point."""
        return np.array([each[0] for each in self.values(Points(space, x[None]))])

    @property
    def limits(self) -> list[tuple[str, str]]:
        """A name for each lower and then each upper bound, and what has to hold, in words."""
        if self.texts:
            named = [(side[0].what if (side := sides_of(t)) else t, t) for t in self.texts]
            return 2 * named
        several = len(self.low) > 1
        names = [f"{self.words}[{k}]" if several else self.words for k in range(len(self.low))]
        lower = [(n, f"{n} >= {end:.15g}") for n, end in zip(names, self.low.tolist(), strict=True)]
        # a function is met if it is at most 0
        upper = [
            (n, f"{n} <= {end:.15g}" if end else n)
            for n, end in zip(names, self.high.tolist(), strict=True)
        ]
        return lower + upper


class Constraints:
    """The constraints of one search, checked.

    Parameters
    ----------
    space : Space
        The space whose parameters are constrained.
    given : sequence, optional
        The constraints in the form that `minimize` takes. By default there are none.
    forgotten : str, optional
        The name of a constraint that is a Python function, if there was one and it was lost, since
        study files and pickles of results do not contain it.
    """

    def __init__(self, space: Space, given: Any = None, forgotten: str | None = None) -> None:
        self.space, self.forgotten = space, forgotten
        self.given: tuple[Any, ...] = _listed(given)
        """The constraints as they were given."""
        strings = [each for each in self.given if isinstance(each, str)]
        self.limits: tuple[Limit, ...] = tuple(
            limit for each in strings for limit in limits_of(each, space.own_names)
        )
        """The limits of the numbers that each evaluation measures, in order."""
        self.measured: tuple[str, ...] = tuple(dict.fromkeys(each.name for each in self.limits))
        """The names of the numbers that each evaluation measures."""
        check_amount(self.limits, [f.text for f in self.given if isinstance(f, Formula)])
        sides = [(limit.name, limit.side) for limit in self.limits]
        if len(set(sides)) < len(sides) or not all(self.measured):
            raise SettingsError(
                "each measured constraint needs a unique, non-empty name, or one upper and one "
                f"lower limit, got {brief(list(self.given))}"
            )
        lower = {limit.name: limit for limit in self.limits if limit.side < 0.0}
        for limit in self.limits:
            other = lower.get(limit.name, limit)
            if limit.bound < other.bound:
                raise SettingsError(
                    f"the limits {limit.text} and {other.text} cannot both be met; leave one out, "
                    "or change it"
                )
        self._columns = [(limit, self.measured.index(limit.name)) for limit in self.limits]
        self._rows = [_rows(space, each) for each in self.given if not isinstance(each, str)]

    def __bool__(self) -> bool:
        return bool(self.given) or self.space.pinned

    def __reduce__(self) -> tuple[Any, ...]:
        return Constraints, (self.space, self.given, self.forgotten)

    def without_functions(self) -> "Constraints":
        """The same as far as it can be stored: without Python functions."""
        kept = [c for c in self.given if isinstance(c, (str, Formula)) or hasattr(c, "A")]
        lost = [c for c in self.given if not any(c is each for each in kept)]
        forgotten = getattr(lost[0], "__name__", type(lost[0]).__name__) if lost else self.forgotten
        return Constraints(self.space, kept, forgotten)

    @property
    def known(self) -> bool:
        """Whether any constraint is known in advance."""
        return bool(self._rows)

    def region(self) -> Region | None:
        """A new `Region` of the constraints known in advance; None if there are none."""
        if not self._rows:
            return None
        space, rows = self.space, self._rows
        domain = space.domain

        def values(U: Array) -> Array:
            if not len(U):
                return np.empty((0, sum(len(each.low) for each in rows)))
            points = Points(space, space.decode(U))
            found, *others = (each.values(points) for each in rows)
            if others:
                found = [*found, *chain(*others)]
            return np.ascontiguousarray(np.asarray(found).T)

        linear = [each.linear for each in rows if each.linear is not None]
        return Region(
            values,
            np.concatenate([each.low for each in rows]),
            np.concatenate([each.high for each in rows]),
            any(each.smooth for each in rows),
            LinearRows(
                np.vstack([each.A for each in linear]),
                np.concatenate([each.low for each in linear]),
                np.concatenate([each.high for each in linear]),
            )
            if linear
            else None,
            Cube(
                domain.dim,
                domain.continuous,
                domain.finest,
                domain.snap,
                self._corners,
                domain.lattice,
            ),
        )

    def _corners(self, low: Array, high: Array) -> tuple[Array, Array]:
        """The smallest and the largest value of each parameter in a cell of the cube."""
        inward = np.full(self.space.domain.dim, 1e-9)
        inward[self.space.domain.continuous] = 0.0
        inward *= high - low  # two whole numbers share the edge between their intervals
        return self.space.decode(low + inward), self.space.decode(high - inward)

    @property
    def known_limits(self) -> list[tuple[str, str]]:
        """The name of each number of `known_excess`, and what has to hold, in words."""
        return [pair for each in self._rows if each.smooth for pair in each.limits]

    @property
    def yes_or_no(self) -> bool:
        """Whether a known constraint does not say how far a point is from being allowed."""
        return not all(each.smooth for each in self._rows)

    def with_bound(self, new: Side) -> "Constraints | None":
        """The same with another bound of a formula or function; None if `new` is about neither.

        It takes the place of the bound on the same side of the same formula or function.
        """
        known = [each for each in self.given if not isinstance(each, str)]
        for given, row in zip(known, self._rows, strict=True):
            if getattr(given, "__name__", None) == new.what:
                if not row.smooth:
                    raise SettingsError(
                        f"{new.what} returns a bool, so it has no limit that could be moved"
                    )
                rest = [each for each in self.given if each is not given or new.side < 0.0]
                return Constraints(self.space, [*rest, _moved(given, new)], self.forgotten)
        text = f"{new.what} {'<=' if new.side > 0.0 else '>='} {new.bound!r}"
        try:
            formula = Formula(text)
            check_names(formula, self.space.own_names)
        except SettingsError:
            return None
        rest = []
        for each in self.given:
            parts = each.comparisons if isinstance(each, Formula) else []
            if not any(_alike(part, new) for part in parts):
                rest.append(each)
                continue
            rest += [Formula(part) for part in parts if not _alike(part, new)]
        return Constraints(self.space, [*rest, formula], self.forgotten)

    def known_excess(self, x: Array) -> Array:
        """By how much each bound of the known constraints is missed, of those that are numbers.

        A bound is met if its number here is at most 0.
        """
        found = []
        for each in self._rows:
            if each.smooth:
                y = each.at(self.space, x)
                found += [each.low - y, y - each.high]
        with np.errstate(invalid="ignore"):
            return np.concatenate(found) if found else np.empty(0)

    def violated(self, x: Array) -> str | None:
        """The name of the first constraint known in advance that x violates, or None.

        The point is given in the parameters' own units. A fixed parameter is such a constraint.
        """
        if (words := self.space.moved(x)) is not None:
            return words
        for each in self._rows:
            y = each.at(self.space, x)
            if not ((y >= each.low) & (y <= each.high)).all():  # nan is neither
                return each.words
        return None

    def check_point(self, x: Array) -> None:
        """Raise an error if a point violates a constraint that is known in advance."""
        if (words := self.violated(x)) is not None:
            raise SpaceError(
                f"the point {brief(self.space.params(x))} violates the constraint {words}; a "
                "point to evaluate must meet every constraint that is known in advance"
            )

    def excess(self, measured: Sequence[float]) -> tuple[float, ...]:
        """By how much each limit is missed; nothing if nothing was measured.

        A limit is met if its number here is at most 0.
        """
        if not measured:
            return ()
        return tuple(limit.excess(measured[i]) for limit, i in self._columns)

    def extras(self, given: Any) -> dict[str, Simple]:
        """The extras of an evaluation, checked; none of them may be a constraint."""
        extras = {} if given is None else as_extras(given)
        for name in extras:
            if name in self.measured:
                raise ValueTypeError(
                    f"{name!r} is a measured constraint, and not an extra; give it in `constraints`"
                )
        return extras

    def numbers(self, given: Any) -> tuple[float, ...]:
        """Check the measurements of an evaluation, a dict by name, and return their numbers."""
        if given is None:
            given = {}
        if not isinstance(given, Mapping):
            raise ValueTypeError(
                "measured constraints must be a dict that maps each name to a number, got "
                f"{brief(given)}"
            )
        for name in given:
            if name not in self.measured:
                raise ValueTypeError(
                    f"{brief(name)} is not a measured constraint; `constraints` names "
                    f"{', '.join(self.measured) or 'none'}"
                )
        missing = [name for name in self.measured if name not in given]
        if missing:
            raise ValueTypeError(
                f"the constraint {missing[0]!r} was not measured; an evaluation must return "
                f"(value, {{{missing[0]!r}: number}})"
            )
        return tuple(as_number(name, given[name]) for name in self.measured)


def _moved(given: Callable[..., Any], new: Side) -> Callable[..., Any]:
    """A constraint that is met if a function is within another bound than 0."""

    @wraps(given)
    def moved(*args: Any, **params: Any) -> Any:
        return new.side * (given(*args, **params) - new.bound)

    return moved


def _alike(comparison: str, new: Side) -> bool:
    """Whether a comparison is about the same expression and side; spaces make no difference."""
    what = "".join(new.what.split())
    return any(
        old.side == new.side and "".join(old.what.split()) == what for old in sides_of(comparison)
    )


def check_amount(measured: Sequence[Any], formulas: Sequence[str]) -> None:
    """Raise an error if there are too many measured constraints, or too much text in formulas."""
    if len(measured) > MOST_MEASURED:
        raise SettingsError(
            f"at most {MOST_MEASURED} constraints can be measured, got {len(measured)}; combine "
            "some of them, for example as their maximum"
        )
    if (length := sum(map(len, formulas))) > LONGEST_FORMULAS:
        raise SettingsError(
            f"all formulas together may have at most {LONGEST_FORMULAS} characters, got {length}; "
            "give a Python function instead"
        )


def _listed(given: Any) -> tuple[Any, ...]:
    if given is None:
        return ()
    if isinstance(given, Mapping):
        raise SettingsError(f"constraints must be a list, got {brief(given)}")
    if isinstance(given, str) or not isinstance(given, Sequence):
        return (given,)  # a single one needs no list
    return tuple(given)


def as_number(name: Any, value: Any) -> float:
    """The measurement of a constraint as a float.

    None and masked values become nan, which counts as violated.
    """
    number = np.nan if value is None else single(value)
    if number is None:
        raise ValueTypeError(
            f"the measured constraint {name!r} must be a single number, got {brief(value)}"
        )
    return number


def as_extras(given: Any) -> dict[str, Simple]:
    """Check the extras of an evaluation, a dict by name, and return them."""
    if not isinstance(given, Mapping):
        raise ValueTypeError(
            "extras must be a dict that maps names to numbers, strings, booleans or None, got "
            f"{brief(given)}"
        )
    if len(given) > MOST_EXTRAS:
        raise ValueTypeError(
            f"an evaluation may have at most {MOST_EXTRAS} extras, got {len(given)}; save the "
            "rest in a file, and give its name as an extra"
        )
    for name in given:
        if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME:
            raise ValueTypeError(
                f"the name of an extra must be a string of 1 to {LONGEST_NAME} characters, "
                f"got {brief(name)}"
            )
    return {storable(name): as_simple(name, value) for name, value in given.items()}


def as_simple(name: Any, value: Any) -> Simple:
    """A value that an evaluation returned by name, in a form that fits into a file.

    A number of another library becomes one of Python, and the middle of a text that is too long is
    left out. Whole numbers of more than 64 bits become floats, as databases cannot hold them.
    """
    if value is None or isinstance(value, (bool, np.bool_)):
        return None if value is None else bool(value)
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, Integral) and abs(int(value)) < 2**63:
        return int(value)
    number = single(value)
    if number is None:
        raise ValueTypeError(
            f"{name!r} must be a number, a string, a boolean or None, got {brief(value)}"
        )
    return number


def _rows(space: Space, given: Any) -> Bounded:
    if isinstance(given, Formula):
        return _formula(space, given)
    if hasattr(given, "A") and hasattr(given, "lb") and hasattr(given, "ub"):
        return _scipy(space, given, linear=True)
    if callable(getattr(given, "fun", None)) and hasattr(given, "lb") and hasattr(given, "ub"):
        return _scipy(space, given, linear=False)
    if callable(given) and not isinstance(given, type):
        return _callable(space, given)
    raise SettingsError(
        "a constraint must be a callable, a LinearConstraint or NonlinearConstraint of scipy, a "
        f"Formula, or a string such as 'Tpeak <= 520' for one that is measured, got {brief(given)}"
    )


def _callable(space: Space, given: Callable[..., Any]) -> Bounded:
    words = getattr(given, "__name__", None) or brief(given)
    values = _checked(space, words, (lambda p: given(**p)) if space.named else given, bools=True)
    middle = Points(space, space.decode(np.full((1, space.domain.dim), 0.5)))
    count = len(values(middle))
    said = given(**middle.params[0]) if space.named else given(middle.X[0])
    smooth = np.asarray(said).dtype != bool
    return Bounded(values, np.full(count, -inf), np.zeros(count), smooth, None, words)


def _checked(
    space: Space, words: str, call: Callable[[Any], Any], bools: bool
) -> Callable[[Points], Array]:
    """A caller's function as one that returns an array of numbers, as many at every point.

    If it may return `bools`, True becomes -1 and False 1, and it is called like the objective.
    Otherwise it belongs to one of scipy's constraints, and is always called with an array.
    """
    count: int | None = None

    def values(points: Points) -> Array:
        nonlocal count
        found = []
        for i, point in enumerate(points.params if bools and space.named else points.X.copy()):
            try:
                said = call(point)
            except Exception as error:
                raise SettingsError(
                    f"the constraint {words} raised {type(error).__name__}: {brief(str(error))} at "
                    f"{brief(space.params(points.X[i]))}; it must return a bool or a number for "
                    "every point of the space"
                ) from error
            y = _numbers(words, said, bools)
            count = count or len(y)
            if len(y) != count:
                raise SettingsError(
                    f"the constraint {words} returned {len(y)} numbers at "
                    f"{brief(space.params(points.X[i]))} and {count} at another point; it must "
                    "return equally many at every point of the space"
                )
            found.append(y)
        return np.array(found).T

    return values


def _numbers(words: str, said: Any, bools: bool) -> Sequence[float] | Array:
    """What a caller's function said, as numbers."""
    # The first three are the usual ones, and a search asks tens of thousands of times.
    if isinstance(said, float):
        return [float(said)]
    if bools and isinstance(said, (bool, np.bool_)):
        return [-1.0 if said else 1.0]
    if type(said) is np.ndarray and said.ndim == 1 and said.dtype == float and len(said):
        return said.copy()  # the function may use this array again
    try:
        found = numbers(said).ravel()
    except TypeError:
        found = np.empty(0)
    if not len(found):
        raise SettingsError(
            f"the constraint {words} must return a bool or a number, got {brief(said)}"
        )
    return 1.0 - 2.0 * found if bools and np.asarray(said).dtype == bool else found


def _formula(space: Space, formula: Formula) -> Bounded:
    check_names(formula, space.own_names)
    for name in sorted(formula.names):
        if not all(slot.parameter.numeric for slot in space.slots if slot.name == name):
            raise SettingsError(
                f"the constraint {brief(formula.text)} uses {name!r}, whose options are not all "
                "numbers; give a Python function instead"
            )

    count, names = len(formula), [slot.name for slot in space.slots]
    used = [slot for slot in space.slots if slot.name in formula.names]
    always = all(slot.condition is None and slot.parameter.fixed is None for slot in used)
    if always and all(slot.parameter.options is None for slot in used):
        places = [names.index(name) for name in formula.arguments]

        def values(points: Points) -> Sequence[Sequence[float]]:
            columns = [points.columns[i] for i in places]
            here = list(zip(*columns, strict=True)) or [()] * len(points.X)
            first = formula.at(*here[0])
            # Points that differ along a single axis mostly agree in what this formula uses.
            found = [first if each == here[0] else formula.at(*each) for each in here]
            return list(zip(*found, strict=True))
    else:

        def values(points: Points) -> Sequence[Sequence[float]]:
            met = [-1.0] * count  # if one of its parameters does not exist
            found = [formula.values(p) if formula.names <= p.keys() else met for p in points.params]
            return list(zip(*found, strict=True))

    return Bounded(
        values, np.full(count, -inf), np.zeros(count), True, None, formula.text, formula.comparisons
    )


def _scipy(space: Space, given: Any, linear: bool) -> Bounded:
    kind = "LinearConstraint" if linear else "NonlinearConstraint"
    if space.fidelity is not None:
        raise SettingsError(
            f"a {kind} has an entry for each parameter, but {space.names[-1]} is a Fidelity, which "
            "is not searched; give a Python function or a Formula instead"
        )
    for name, parameter in space.parameters.items():
        if what := parameter.no_number:
            raise SettingsError(
                f"a {kind} needs a space of numbers, but {name} is {what}; give a Python "
                "function instead"
            )
    middle = Points(space, space.decode(np.full((1, space.domain.dim), 0.5)))
    A: Array = np.empty((0, 0))
    if linear:
        dense = given.A.toarray() if hasattr(given.A, "toarray") else given.A
        A = np.atleast_2d(numbers(dense))
        if A.shape[1] != space.dim or not np.isfinite(A).all():
            raise SettingsError(
                "the matrix A of a LinearConstraint must have finite entries and one column for "
                f"each of the {space.dim} parameters, got a matrix of shape {A.shape}"
            )

        def products(points: Points) -> Array:
            # One by one, as a product of two matrices rounds differently with each number of rows.
            return np.array([A @ x for x in points.X]).T

        values: Callable[[Points], Array] = products
    else:
        values = _checked(space, kind, given.fun, bools=False)
    count = len(values(middle))
    try:
        low = np.broadcast_to(numbers(given.lb), (count,)).copy()
        high = np.broadcast_to(numbers(given.ub), (count,)).copy()
    except (TypeError, ValueError):
        raise SettingsError(
            f"the bounds lb and ub of a {kind} with {count} rows have the shapes "
            f"{np.shape(given.lb)} and {np.shape(given.ub)}; give a single bound or one per row"
        ) from None
    if not (low <= high).all():
        raise SettingsError(f"a {kind} needs lb <= ub, got {brief(given.lb)} and {brief(given.ub)}")
    slack = np.where(low == high, EQUAL * np.maximum(1.0, np.abs(low)), 0.0)
    low, high = low - slack, high + slack
    rows = LinearRows(A, low, high) if linear else None
    return Bounded(values, low, high, True, rows, kind)
