"""How exact an evaluation is, which the search chooses."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any, ClassVar

import numpy as np

from ...base.checks import brief
from ...errors import SpaceError
from .given import numbers
from .interval import check_interval, written
from .parameter import Parameter


@dataclass(frozen=True)
class Fidelity(Parameter):
    """How exact an evaluation is: rows, repeats, the fineness of a mesh. The search chooses it.

    Results are judged at `high`, the top. Lower values are cheaper versions of the same function.
    If both ends are of type int, so are all values.

    Parameters
    ----------
    low, high : float or int
        The cheapest version, and the top; low < high.
    log : bool, default False
        Whether the difference from the top shrinks with the logarithm of the value rather than with
        the value itself.
    cost : callable, optional
        What an evaluation at a value costs, in any unit; a positive number. By default the cost is
        proportional to the value. It is called at each of the `levels` when the parameter is made,
        and the attribute holds these numbers, divided by that of the top.

    Examples
    --------
    >>> bamsoo.Fidelity(500, 8000).levels
    (500, 2000, 8000)
    """

    flag: ClassVar[str] = "fidelity"
    form: ClassVar[str] = "NAME:LOW:HIGH[:log]:fidelity"
    entry: ClassVar[tuple[str, ...]] = ("low", "high", "log")
    needed: ClassVar[int] = 2

    low: float
    high: float
    log: bool = False
    cost: Any = None

    def __post_init__(self) -> None:
        check_interval("Fidelity", self.low, self.high, self.log)
        ends = (self.low, self.high)
        whole = all(isinstance(e, (int, np.integer)) and not isinstance(e, bool) for e in ends)
        for name, end in (("low", self.low), ("high", self.high)):
            object.__setattr__(self, name, int(end) if whole else float(end) + 0.0)
        object.__setattr__(self, "log", bool(self.log))
        if self.low > 0 and self.high / self.low == inf:
            raise SpaceError(
                "Fidelity: high must be at most 1e308 times low, got "
                f"low={brief(self.low)}, high={brief(self.high)}"
            )
        if self.cost is None:
            if not self.low > 0:
                raise SpaceError(
                    "Fidelity: the cost is proportional to the value, so low must be above 0, got "
                    f"low={brief(self.low)}; give cost=, a function of the value"
                )
            return
        object.__setattr__(self, "cost", self._costs())

    def _costs(self) -> tuple[float, ...]:
        """What each level costs, as a share of what the top costs."""
        if not callable(self.cost) and not isinstance(self.cost, (list, tuple)):
            raise SpaceError(f"Fidelity: cost must be a function, got {brief(self.cost)}")
        costs = [self.cost(v) for v in self.levels] if callable(self.cost) else list(self.cost)
        for value, cost in zip(self.levels, costs, strict=False):
            try:
                good = 0.0 < float(numbers(cost)) < inf
            except TypeError:
                good = False
            if not good:
                raise SpaceError(
                    "Fidelity: cost must return a positive, finite number, but for "
                    f"{brief(value)} it returned {brief(cost)}"
                )
        if len(costs) != len(self.levels):
            raise SpaceError(f"Fidelity: cost must be a function, got {brief(self.cost)}")
        top = float(costs[-1])
        for value, cost in zip(self.levels, costs, strict=True):
            if float(cost) > top:  # a run would exceed its budget
                raise SpaceError(
                    "Fidelity: no level may cost more than the top, but for "
                    f"{brief(value)} cost returned {brief(cost)} and for {brief(self.high)} only "
                    f"{brief(costs[-1])}"
                )
        return tuple(float(cost) / top for cost in costs)

    @property
    def whole(self) -> bool:
        """Whether all values are whole numbers."""
        return isinstance(self.low, int)

    @cached_property
    def levels(self) -> tuple[float, ...]:
        """The values at which a search evaluates, from the lowest to the top.

        Each is about `RUNG` times the one before, or evenly spaced if `low` is not above 0.
        """
        if self.low > 0:
            most = float(np.log(self.high / self.low) / np.log(RUNG))
            rungs = int(np.clip(round(most), 1, MOST_RUNGS))
            values = np.geomspace(float(self.low), float(self.high), rungs + 1)
        else:
            values = np.linspace(float(self.low), float(self.high), 3)
        # six digits are the same on every processor, so that a study can be continued on another
        inner = [round(v) if self.whole else float(f"{v:.6g}") for v in values[1:-1].tolist()]
        inside = (v for v in inner if self.low < v < self.high)
        return tuple(dict.fromkeys((self.low, *inside, self.high)))

    def cost_of(self, value: float) -> float:
        """What an evaluation costs, in evaluations at the top; interpolated between levels."""
        if self.cost is None:
            return float(value) / float(self.high)
        return float(np.interp(value, self.levels, self.cost))

    def place(self, value: float) -> float:
        """Where a value is between low (0) and high (1), on the scale of the parameter."""
        if self.log:
            return float(np.log(value / self.low) / np.log(self.high / self.low))
        return float((value - self.low) / (self.high - self.low))

    # --- what the package asks of every parameter

    @property
    def ends(self) -> tuple[float, float]:
        """The cheapest version, and the top."""
        return self.low, self.high

    @property
    def searched(self) -> None:
        """The parameter that an axis of the cube is for: a search sees no fidelity."""

    @property
    def fidelity(self) -> "Fidelity":
        """The parameter itself."""
        return self

    @property
    def default(self) -> float:
        """The top: an evaluation that says nothing was there."""
        return self.high

    @property
    def name_needed(self) -> str:
        """Why a space without names cannot have it, and what to do."""
        return (
            "a Fidelity needs a name; give the space as a dict, such as "
            f"{{'x': (0, 1), 'rows': {brief(self)}}}"
        )

    def check(self, name: str, number: float, given: Any) -> None:
        """Raise a SpaceError unless an evaluation can be as exact as that."""
        if not self.low <= number <= self.high:
            raise SpaceError(f"{name}: {number:g} lies outside [{self.low}, {self.high}]")
        if self.whole and not number.is_integer():
            raise SpaceError(f"{name}: {self.why_not(number, number)}")

    def as_option(self, name: str) -> tuple[str, str] | None:
        """The option of the command that describes it."""
        flags = {"log": self.log, "fidelity": True}
        return "--param", written(name, self.low, self.high, flags, None)

    @classmethod
    def from_entry(cls, given: Mapping[str, Any]) -> Parameter:
        """The fidelity; if both ends are whole, its values are whole numbers."""
        ends = {end: given[end] for end in ("low", "high")}
        if all(isinstance(end, (int, float)) and end % 1 == 0 for end in ends.values()):
            ends = {name: int(end) for name, end in ends.items()}
        return cls(**{**given, **ends})


RUNG = 4.0
"""The ratio of neighbouring levels. The levels below one that is reached then cost a third of it
together; with 2, they would cost as much as it does."""

MOST_RUNGS = 4
"""The largest number of levels below the top."""
