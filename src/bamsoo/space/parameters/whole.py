"""Whole numbers in a range."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ...base.checks import brief
from ...errors import SpaceError
from ..axes import Axis, Discrete
from .interval import Grid, check_interval, check_step, off_the_grid, written
from .parameter import Parameter


@dataclass(frozen=True)
class Int(Parameter):
    """A whole number between `low` and `high`, both included.

    Parameters
    ----------
    low, high : int
        The bounds; low < high.
    log : bool, default False
        As in `Real`.
    step : int, optional
        As in `Real`.
    """

    flag: ClassVar[str] = "int"
    entry: ClassVar[tuple[str, ...]] = ("low", "high", "log", "step")
    needed: ClassVar[int] = 2
    since: ClassVar[Mapping[str, Any]] = {"step": None}

    low: int
    high: int
    log: bool = False
    step: int | None = None

    def __post_init__(self) -> None:
        check_interval("Int", self.low, self.high, self.log)
        for what, value in (("low", self.low), ("high", self.high)):
            if isinstance(value, bool) or int(value) != value:
                raise SpaceError(f"Int: {what} must be a whole number, got {brief(value)}")
            if abs(value) > 2**52:
                raise SpaceError(
                    f"Int: {what} must be between -2**52 and 2**52, where whole numbers are exact "
                    f"as floating-point numbers, got {brief(value)}; use Real for a wider range"
                )
            object.__setattr__(self, what, int(value))
        object.__setattr__(self, "log", bool(self.log))
        if self.step is not None:
            check_step("Int", self.low, self.high, self.log, self.step)
            if isinstance(self.step, bool) or int(self.step) != self.step:
                raise SpaceError(f"Int: step must be a whole number, got {brief(self.step)}")
            object.__setattr__(self, "step", int(self.step))

    def grid(self) -> Grid:
        """The values of the parameter."""
        step = self.step or 1
        return Grid(self.low, step, 1, (self.high - self.low) // step + 1)

    @property
    def whole(self) -> bool:
        """Whether all values are whole numbers, which they are."""
        return True

    def axis(self, finest: float) -> Axis:
        """Ordered values; with `log`, their intervals are as long as on a logarithmic scale."""
        grid = self.grid()
        return Discrete(grid.count, grid.first if self.log else None)

    def why_not(self, number: float, nearest: float) -> str:
        """In words, why a number within the ends is no value."""
        return off_the_grid(self.step, self.low, number, nearest)

    def loosened(self) -> "Int":
        """The same range without steps."""
        return replace(self, step=None)

    def as_option(self, name: str) -> tuple[str, str] | None:
        """The option of the command that describes it."""
        flags = {"log": self.log, "int": True}
        return "--param", written(name, self.low, self.high, flags, self.step)
