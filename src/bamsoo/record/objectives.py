"""The objectives of a search: their names and directions, and the checks of their values.

An ordinary search has one objective, which needs no name. Values are in the caller's own sense
everywhere except inside the algorithms, which maximise.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import isawaitable
from math import inf, isfinite, nan
from typing import Any, TypeAlias

import numpy as np

from ..base.checks import brief, is_finite
from ..base.sense import Sense
from ..base.typing import Array
from ..errors import SettingsError, ValueTypeError
from ..space import numbers, single
from .residuals import SumOfSquares, Vector, as_vector

ObjectivesLike: TypeAlias = "Sequence[str] | Mapping[str, str] | SumOfSquares | None"
"""The argument `objectives`: names, or the direction ("min" or "max") of each name. In a fit it
says how residuals become a value."""

MOST = 4
"""The largest number of objectives. With more, nearly every point is on the front, so that a front
says little, and the exact hypervolume becomes slow."""

UNNAMED = "value"
"""The name of the objective of an ordinary search."""

_WAYS = {"min": -1.0, "max": 1.0, "minimize": -1.0, "maximize": 1.0}
_DIRECTIONS = ("minimize", "maximize")


@dataclass(frozen=True)
class Objectives:
    """The names and directions of the objectives, in order.

    Parameters
    ----------
    names : tuple of str
    signs : tuple of float
        1 for an objective that is maximised, and -1 for one that is minimised.
    named : bool, default True
        Whether the caller named them; the objective of an ordinary search has no name of its own.
    squares : SumOfSquares, optional
        In a fit, how residuals become the value.
    """

    names: tuple[str, ...]
    signs: tuple[float, ...]
    named: bool = True
    squares: SumOfSquares | None = None

    @classmethod
    def of(cls, given: Any, direction: str) -> "Objectives":
        """Check the argument `objectives`; names without directions have the search's own."""
        if direction not in _DIRECTIONS:
            raise SettingsError(
                f"direction must be 'minimize' or 'maximize', got {brief(direction)}"
            )
        if isinstance(given, SumOfSquares) and _WAYS[direction] > 0.0:
            raise SettingsError("a sum of squares is minimised; leave out direction='maximize'")
        if given is None or isinstance(given, SumOfSquares):
            return cls((UNNAMED,), (_WAYS[direction],), named=False, squares=given)
        names = _checked_names(given)
        ways = list(given.values()) if isinstance(given, Mapping) else [direction] * len(names)
        for name, way in zip(names, ways, strict=True):
            if not isinstance(way, str) or way not in _WAYS:
                raise SettingsError(
                    f"the direction of the objective {name!r} must be 'min' or 'max', "
                    f"got {brief(way)}"
                )
        return cls(tuple(names), tuple(_WAYS[way] for way in ways))

    def __len__(self) -> int:
        return len(self.names)

    @property
    def several(self) -> bool:
        """Whether there is more than one, so that the answer is a front instead of a point."""
        return len(self.names) > 1

    @property
    def direction(self) -> str:
        """Whether to "minimize" or to "maximize", or "mixed" if the directions differ."""
        ways = {_DIRECTIONS[sign > 0.0] for sign in self.signs}
        return ways.pop() if len(ways) == 1 else "mixed"

    @property
    def ways(self) -> dict[str, str]:
        """The direction of each by name: "min" or "max"."""
        return {
            name: "max" if sign > 0.0 else "min"
            for name, sign in zip(self.names, self.signs, strict=True)
        }

    def only(self, name: str) -> "Objectives":
        """One of them alone."""
        if name not in self.names:
            raise SettingsError(
                f"unknown objective {brief(name)}; expected one of {', '.join(self.names)}"
            )
        return Objectives((name,), (self.signs[self.names.index(name)],))

    def by_name(self, values: Sequence[float]) -> dict[str, float]:
        """The values of an evaluation by name; empty if it failed."""
        return dict(zip(self.names, values, strict=True)) if values else {}

    def to_maximise(self, values: Sequence[float]) -> tuple[float, ...]:
        """The values of an evaluation as a search sees them, or back; empty if it failed."""
        return tuple(Sense(s).turn(v) for s, v in zip(self.signs, values, strict=bool(values)))

    @property
    def sense(self) -> Sense:
        """What is better in the first objective, which is the only one of an ordinary search."""
        return Sense(self.signs[0])

    @property
    def senses(self) -> list[Sense]:
        """What is better in each of them."""
        return [Sense(sign) for sign in self.signs]

    def turned(self, rows: Any) -> Array:
        """Values with one column for each objective as a search sees them, or back."""
        return Sense(self.signs).turn(np.asarray(rows, dtype=float))

    def values(self, given: Any) -> tuple[float, ...]:
        """Check what an evaluation returned: one number for each objective, by name or in order.

        The tuple is empty if the evaluation failed: if any of them is None, nan or infinite, or if
        one of these stands for them all.
        """
        if given is None:
            return ()
        by_name = type(given) is not float and isinstance(given, Mapping)  # the quickest first
        if by_name:
            if self.named:
                return _all_or_none(self._in_order(given))
            raise ValueTypeError(
                f"an objective value must be one real number, got {brief(given)}; name several "
                "with objectives=, or return (value, {name: ...})"
            )
        if not self.several:
            return _all_or_none((given,))
        try:
            several = list(np.ma.asarray(given)) if isinstance(given, np.ma.MaskedArray) else given
            entries = [] if isinstance(given, (str, bytes)) else list(several)
        except TypeError:
            entries = []
        if len(entries) != len(self):
            if (alone := single(given)) is not None and not isfinite(alone):
                return ()
            raise ValueTypeError(
                f"an evaluation must return one number for each of the objectives "
                f"{', '.join(self.names)}, in this order or as a dict, got {brief(given)}"
            )
        return _all_or_none(entries)

    def told(self, value: Any, residuals: Any = None) -> tuple[tuple[float, ...], Vector]:
        """Check a value, or the residuals whose sum of squares it is.

        In a fit, what an evaluation returned as its value is its residuals. Both tuples are empty
        if the evaluation failed.
        """
        if residuals is None and self.squares is None:
            return self.values(value), Vector()
        if residuals is not None and (self.several or self.signs[0] > 0.0):
            raise ValueTypeError(
                "residuals are for a search that minimises one objective, their sum of squares"
            )
        if residuals is not None and value is not None:
            raise ValueTypeError(
                "give either a value or residuals; the value is their sum of squares"
            )
        vector = as_vector(value if residuals is None else residuals)
        number = (self.squares or SumOfSquares()).value(vector)
        return ((number,), vector) if isfinite(number) else ((), Vector())

    def _in_order(self, given: Mapping[Any, Any]) -> list[Any]:
        for name in given:
            if name not in self.names:
                raise ValueTypeError(
                    f"{brief(name)} is not an objective; expected {', '.join(self.names)}"
                )
        missing = [name for name in self.names if name not in given]
        if missing:
            raise ValueTypeError(
                f"the objective {missing[0]!r} is missing; an evaluation must return a number for "
                f"each of {', '.join(self.names)}"
            )
        return [given[name] for name in self.names]

    def target(self, given: Any) -> dict[str, float]:
        """Check the argument `target`: the value to reach of each objective that it names."""
        if not self.several and not isinstance(given, Mapping):
            if not is_finite(given):
                raise SettingsError(f"target must be a finite number, got {brief(given)}")
            return {self.names[0]: float(given)}
        if not isinstance(given, Mapping) or not given:
            raise SettingsError(
                "with several objectives, target must be a dict of the values to reach by name, "
                f"got {brief(given)}"
            )
        for name, value in given.items():
            if name not in self.names:
                raise SettingsError(
                    f"target: {brief(name)} is not an objective; expected {', '.join(self.names)}"
                )
            if not is_finite(value):
                raise SettingsError(
                    f"target: the value of {name!r} must be a finite number, got {brief(value)}"
                )
        return {name: float(value) for name, value in given.items()}


ORDINARY = Objectives((UNNAMED,), (-1.0,), named=False)
"""One objective without a name, to be minimised."""


def _checked_names(given: Any) -> list[str]:
    """The names in the argument `objectives`."""
    form = "objectives must be a list of names, or a dict of names and directions"
    unordered = isinstance(given, (set, frozenset))  # values are returned in this order
    if isinstance(given, str) or not isinstance(given, Iterable) or unordered:
        raise SettingsError(f"{form}, got {brief(given)}; write ['loss', 'latency']")
    names = [str(name) if isinstance(name, str) else name for name in given]  # not np.str_
    if not names:
        raise SettingsError(f"{form}, got none; leave out objectives= for a single value")
    for name in names:
        if not isinstance(name, str) or not name.strip():
            raise SettingsError(f"{form}, but one of the names is {brief(name)}")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise SettingsError(f"the objective {twice!r} is named twice; give each a name once")
    if len(names) > MOST:
        raise SettingsError(
            f"there are {len(names)} objectives, but at most {MOST} are possible; combine some of "
            "them, or make them measured constraints"
        )
    return names


def _all_or_none(entries: Iterable[Any]) -> tuple[float, ...]:
    values = tuple(as_value(each) for each in entries)
    return values if all(map(isfinite, values)) else ()


def as_value(value: Any) -> float:
    """The value as one real number; nan if it is None, nan or infinite."""
    if type(value) is float:
        return value if -inf < value < inf else nan
    if value is None:
        return nan
    try:
        array = numbers(value)
    except TypeError:
        hint = "; await it first" if isawaitable(value) else ""
        raise ValueTypeError(
            f"an objective value must be one real number, got {brief(value)}{hint}"
        ) from None
    if array.size != 1:
        raise ValueTypeError(
            f"an objective value must be one real number, got an array of shape {array.shape}; to "
            "fit residuals, use bamsoo.least_squares, and for several objectives, objectives="
        )
    number = float(array.reshape(()))
    return number if isfinite(number) else nan
