"""Trials and what becomes of them: evaluations, curves, and the rows of a table."""

from collections.abc import Mapping, Sequence
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple

from ..base.checks import readable
from ..base.typing import Array, Simple
from ..base.words import TRIAL, no_attribute
from ..space import Point
from .objectives import Objectives

GIVEN = "given"
"""The origin of a point that the caller chose, or evaluated without being asked."""


class Trial:
    """A point to evaluate: its number, `x` as an array, `params` by name."""

    __slots__ = ("number", "owner", "point", "x")

    def __init__(self, number: int, point: Point, owner: str = "") -> None:
        self.number, self.point, self.owner = number, point, owner
        self.x: Array = point.x.copy()  # a copy, since the caller may write to it

    def __repr__(self) -> str:
        return f"Trial({self.number}, {self.params})"

    if not TYPE_CHECKING:  # a checker would take it to mean that any attribute exists

        def __getattr__(self, name: str) -> Any:
            raise no_attribute(self, name, TRIAL)

    @property
    def params(self) -> dict[str, Any]:
        """Values by name (x0, x1, ... where the space has no names)."""
        return self.point.params


class Evaluation(NamedTuple):
    """A finished trial, or a point that was told without being asked for (its number is None).

    Values are in the caller's own sense: a maximised function keeps its sign.
    """

    number: int | None
    point: Point
    numbers: tuple[float, ...]
    """The value of each objective, in order; empty if the evaluation failed."""
    objectives: Objectives
    error: str | None = None  # why it failed
    measured: tuple[float, ...] = ()
    """One number for each measured constraint, as the evaluation returned it."""
    feasible: bool = True
    """Whether there is a value and every constraint is met, known or measured; with a fidelity,
    the value must be one of its top."""
    variance: float | None = None
    """The variance of the noise in the value, if it is known."""
    told_at: float | None = None
    """When the value was told, in seconds since 1970, if that is stored."""
    extras: Mapping[str, Simple] = {}
    """What else the evaluation returned, by name."""
    origin: str | None = None
    """Which part of the search asked for the point: "design", "tree", "local" and so on, or "given"
    if the caller chose it; None if the study was made by an earlier version and not replayed."""
    steps: int | None = None
    """The number of steps that it took; None in a search without steps, and if nobody asked."""
    stopped: bool = False
    """Whether it was stopped because it could not win; it then has no value and is no failure."""
    cheap: bool = False
    """Whether it was made below the top of a fidelity; it then has a value, but is no result."""
    residuals: tuple[float, ...] = ()
    """In a fit, the residuals as they were returned; nan is missing data."""
    believed: tuple[float, ...] = ()
    """What is believed about the value, if somebody else stopped the evaluation."""
    took: float | None = None
    """How long it took, in seconds, if that is known."""
    curve: tuple[tuple[float, ...], ...] = ()
    """If it is from another study, its steps, each with the values after it."""

    def __repr__(self) -> str:
        one = not self.objectives.several
        cells = {
            "number": self.number,
            "params": self.params,
            **({"value": self.value} if one else {"values": self.values}),
            "error": self.error,
            "measured": self.measured or None,
            "feasible": None if self.feasible or self.failed else False,
            "variance": self.variance,
            "extras": dict(self.extras) or None,
            "origin": self.origin,
            "steps": self.steps,
            "state": self.state if self.stopped or self.cheap else None,
            "took": self.took,
        }
        return _in_short("Evaluation", cells)

    @property
    def x(self) -> Array:
        """The point as an array."""
        return self.point.x

    @property
    def value(self) -> float:
        """The value in a search with one objective; nan if the evaluation failed."""
        if self.objectives.several:
            raise AttributeError("with several objectives there is no single value; use .values")
        return self.numbers[0] if self.numbers else nan

    @property
    def values(self) -> dict[str, float]:
        """The value of each objective by name; empty if the evaluation failed."""
        return self.objectives.by_name(self.numbers)

    @property
    def params(self) -> dict[str, Any]:
        """The point by name (x0, x1, ... where the space has no names)."""
        return self.point.params

    @property
    def failed(self) -> bool:
        """Whether the evaluation gave no value, although it was not stopped."""
        return not self.numbers and not self.stopped

    @property
    def state(self) -> str:
        """Whether the trial is "done" or "failed", or its value was "given" unasked.

        With steps, a trial is "finished", "stopped" or "failed". With a fidelity, it is "finished"
        at the top and "cheap" below it.
        """
        if self.stopped:
            return "stopped"
        if self.failed:
            return "failed"
        if self.cheap:
            return "cheap"
        if self.number is None:
            return "given"
        whole = self.steps is None and self.point.space.fidelity is None
        return "done" if whole else "finished"


def _in_short(name: str, cells: Mapping[str, Any]) -> str:
    """The `repr` of a row: what there is to say, and numbers without needless digits."""
    known = (f"{key}={readable(cell)}" for key, cell in cells.items() if cell is not None)
    return f"{name}({', '.join(known)})"


class Curve:
    """The values of a trial step by step, one for each objective; they are nan if a step gave none.

    Steps are counted from 1. A trial whose first report is of step 0 counts them from 0, and here
    1 is added.

    Parameters
    ----------
    first : int
        The first step that was reported, as the caller counts.
    """

    __slots__ = ("first", "steps", "values")

    def __init__(self, first: int) -> None:
        self.first = first
        self.steps: list[int] = []
        self.values: list[tuple[float, ...]] = []

    @property
    def taken(self) -> int:
        """The number of steps taken so far."""
        return self.steps[-1] if self.steps else 0

    def counted(self, step: int) -> int:
        """A step of the caller, counted from 1."""
        return step + (self.first == 0)


class Record(NamedTuple):
    """A trial, or a point told without being asked for, as a row of a table.

    `state` is "done", "failed", "out" (pending: asked for but not told yet) or "given" (a point
    that nobody asked for; it has no number); with steps, "finished" takes the place of "done", and
    a trial may also be "stopped", or "cheap" with a fidelity. Times are seconds since 1970, if they
    are stored.
    """

    number: int | None
    params: dict[str, Any]
    value: float | None
    state: str
    error: str | None
    asked_at: float | None
    told_at: float | None
    measured: dict[str, float] | None = None
    """The measured constraints by name; None if nothing was measured."""
    feasible: bool | None = None
    """Whether there is a value and every constraint is met; None without constraints."""
    variance: float | None = None
    """The variance of the noise in the value, if it was told."""
    steps: int | None = None
    """The number of steps taken so far; None in a search without steps."""
    extras: Mapping[str, Simple] = {}
    """What else the evaluation returned, by name."""
    values: dict[str, float] | None = None
    """The value of each objective by name; None if there is none. `value` is that of a search with
    one objective."""
    origin: str | None = None
    """As in `Evaluation`."""
    took: float | None = None
    """How long the evaluation took, in seconds, if that is stored."""

    @property
    def seconds(self) -> float | None:
        """How long the evaluation took; in studies of earlier versions, since it was asked for."""
        if self.took is not None or self.asked_at is None or self.told_at is None:
            return self.took
        return self.told_at - self.asked_at

    retried: tuple[str, ...] = ()
    """Why the trial failed before, once for each time that it was retried."""
    residuals: tuple[float, ...] = ()
    """As in `Evaluation`."""
    reported: Mapping[str, float] | None = None
    """The value of each objective after the last step, by name; None if none was reported."""
    curve: tuple[tuple[float, ...], ...] = ()
    """The steps taken, each with the values after it."""

    def __repr__(self) -> str:
        several = self.values is not None and len(self.values) > 1
        cells = {
            **self._asdict(),
            "values": self.values if several else None,
            "extras": dict(self.extras) or None,
            "retried": self.retried or None,
            "residuals": None,
            "curve": None,
            "asked_at": None,
            "told_at": None,
        }
        return _in_short("Record", cells)


def extra_names(rows: Sequence[Evaluation | Record]) -> list[str]:
    """The names of all extras, in the order in which they first occur."""
    return list(dict.fromkeys(name for row in rows for name in row.extras))
