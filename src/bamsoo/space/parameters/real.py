"""Real numbers in a range."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from .interval import Grid, check_interval, check_step, off_the_grid, written
from .parameter import Parameter


@dataclass(frozen=True)
class Real(Parameter):
    """A real number between `low` and `high`, both included.

    Parameters
    ----------
    low, high : float
        The bounds; low < high.
    log : bool, default False
        Whether to search on a logarithmic scale, which needs low > 0.
    step : float, optional
        If given, only the values low, low + step, low + 2 step and so on, up to high, are used. It
        cannot be combined with `log`.
    """

    form: ClassVar[str] = "NAME:LOW:HIGH[:log][:int][:step=S]"
    entry: ClassVar[tuple[str, ...]] = ("low", "high", "log", "step")
    needed: ClassVar[int] = 2
    since: ClassVar[Mapping[str, Any]] = {"step": None}

    low: float
    high: float
    log: bool = False
    step: float | None = None

    def __post_init__(self) -> None:
        check_interval("Real", self.low, self.high, self.log)
        # Adding 0.0 turns -0.0 into 0.0, so that equal points have the same bits.
        object.__setattr__(self, "low", float(self.low) + 0.0)
        object.__setattr__(self, "high", float(self.high) + 0.0)
        object.__setattr__(self, "log", bool(self.log))
        if self.step is not None:
            check_step("Real", self.low, self.high, self.log, self.step)
            object.__setattr__(self, "step", float(self.step))

    def grid(self) -> Grid | None:
        """The values of a parameter with a step; None if it has no step."""
        return None if self.step is None else Grid.of(self.low, self.high, self.step)

    @property
    def ends(self) -> tuple[float, float]:
        """The bounds; with a step, the last value that is at most the upper one."""
        grid = self.grid()
        return self.low, self.high if grid is None else grid.value(grid.count - 1)

    def why_not(self, number: float, nearest: float) -> str:
        """In words, why a number within the ends is no value."""
        return off_the_grid(self.step, self.low, number, nearest)

    def loosened(self) -> "Real":
        """The same range without steps."""
        return replace(self, step=None)

    def as_option(self, name: str) -> tuple[str, str] | None:
        """The option of the command that describes it."""
        return "--param", written(name, self.low, self.high, {"log": self.log}, self.step)
