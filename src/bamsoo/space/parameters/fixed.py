"""One value, which may have been another one in earlier evaluations."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from ...base.checks import brief
from ...base.simple import made, option_to_json
from ...errors import SpaceError
from ..axes import Axis, Discrete, Pinned
from .given import equal, single
from .interval import Grid
from .parameter import Parameter, parameter_from_json, parameter_to_json


@dataclass(frozen=True)
class Fixed(Parameter):
    """A parameter with one value. In a dict of parameters, a plain value stands for it.

    Parameters
    ----------
    value : number, str or bool
        The value that every evaluation gets.
    was : Real, Int or Choice, optional
        What the parameter was in earlier evaluations, with `value` among its values. Evaluations
        with other values are then no results, but the model learns from them. By default, there are
        none.
    """

    value: Any
    was: Parameter | None = None

    def __post_init__(self) -> None:
        value = self.value
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, float):
            value += 0.0  # turns -0.0 into 0.0
        object.__setattr__(self, "value", value)
        whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**52
        if whole or (isinstance(value, float) and not isfinite(value)):
            raise SpaceError(
                f"a fixed number must be finite, and as a whole number at most 2**52, got "
                f"{brief(self.value)}"
            )
        if self.was is not None:
            object.__setattr__(self, "was", self.was.loosened())
            if not self.was.has(value):
                raise SpaceError(f"a parameter that was {self.was} cannot be {brief(value)}")

    @property
    def number(self) -> float:
        """The number that represents the value in a point's array."""
        if self.was is not None and self.was.options is not None:
            return float(self.was.number_of("", self.value))
        number = None if isinstance(self.value, (str, bool)) else single(self.value)
        return 0.0 if number is None else number

    @property
    def place(self) -> float:
        """Where a number lies between the ends of the range that it had, on the scale of that."""
        assert self.was is not None
        low, high = self.was.ends
        ends = np.array([low, self.number, high])
        if self.was.log:
            ends = np.log(ends)
        low, here, high = (0.5 * ends).tolist()  # halves, since a width may overflow
        return float(min(max((here - low) / (high - low), 0.0), 1.0))

    # --- what the package asks of every parameter; mostly as the parameter was before

    @property
    def options(self) -> tuple[Any, ...] | None:
        """The values that evaluations have or had; None if these are numbers."""
        if self.was is not None and self.was.options is not None:
            return self.was.options
        return (self.value,) if isinstance(self.value, (str, bool)) else None

    @property
    def whole(self) -> bool:
        """Whether all values are whole numbers."""
        return type(self.value) is int if self.was is None else self.was.whole

    @property
    def log(self) -> bool:
        """Whether the parameter had a logarithmic scale."""
        return self.was is not None and self.was.log

    def grid(self) -> Grid | None:
        """The numbers that represent the values that it had."""
        return None if self.was is None else self.was.grid()

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest number that represents a value in earlier evaluations."""
        return (self.number, self.number) if self.was is None else self.was.ends

    def number_of(self, name: str, value: Any) -> Any:
        """The number for a value in a point, which may be that of an earlier evaluation."""
        if self.was is not None:
            return self.was.number_of(name, value)
        text = isinstance(self.value, (str, bool)) or isinstance(value, (str, bool))
        if not (equal(value, self.value) and (not text or type(value) is type(self.value))):
            raise SpaceError(f"{name} is fixed at {brief(self.value)}, got {brief(value)}")
        return self.number

    def value_of(self, number: float) -> Any:
        """The value that a number of a point's array represents."""
        if number == self.number or self.was is None:
            return self.value
        return self.was.value_of(number)

    def check(self, name: str, number: float, given: Any) -> None:
        """Raise a SpaceError unless some evaluation may have this number."""
        if self.was is not None:
            self.was.check(name, number, given)
        elif number != self.number:
            raise SpaceError(f"{name} is fixed at {brief(self.value)}, got {number:g}")

    def read(self, number: float) -> Any:
        """The value for a number that was read from a text."""
        if number == self.number:
            return self.value
        return number if self.was is None else self.was.read(number)

    @property
    def default(self) -> float:
        """The number of the one value."""
        return self.number

    @property
    def numeric(self) -> bool:
        """Whether one can calculate with the one value."""
        return isinstance(self.value, (int, float))

    @property
    def no_number(self) -> str:
        """What it is, in words, since an array of numbers says too little about it."""
        return "fixed"

    @property
    def name_needed(self) -> str:
        """Nothing: an array can hold its number."""
        return ""

    @property
    def searched(self) -> Parameter | None:
        """What it was, if evaluations are known from then: an axis of the cube is for that."""
        return self.was

    @property
    def fixed(self) -> "Fixed":
        """The parameter itself."""
        return self

    def axis(self, finest: float) -> Axis:
        """An axis on which a search has one place."""
        assert self.was is not None
        grid, axis = self.was.grid(), self.was.axis(finest)
        if grid is None or not isinstance(axis, Discrete):
            return Pinned(place=self.place)
        options = 0 if axis.ordered else axis.count
        return Pinned(place=axis.centre(grid.index(self.number)), options=options)

    def described(self) -> dict[str, Any]:
        """What it was, as the report's page takes it."""
        assert self.was is not None  # the page shows no parameter that always had one value
        return self.was.described()

    def to_json(self, name: str) -> dict[str, Any]:
        """The value, and what the parameter was, as a study stores them."""
        stored = {"value": option_to_json(name, self.value)}
        if self.was is not None:
            stored["was"] = parameter_to_json(name, self.was)
        return stored

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Parameter:
        """The parameter that `to_json` stored."""
        given = dict(stored)
        if "was" in given:
            given["was"] = parameter_from_json(given["was"])
        fixed: Parameter = made(cls, given)
        return fixed

    def as_option(self, name: str) -> tuple[str, str] | None:
        """The option of the command that describes it; None if there is none."""
        known = type(self.value) in (str, int, float)
        return ("--fix", f"{name}={self.value}") if known else None
