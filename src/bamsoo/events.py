"""Everything that can happen to a search: the one list from which all else can be rebuilt.

A search is a function of its settings and of this list. An `Optimizer` keeps the list in memory,
and a `Study` writes each event to a file before it takes effect. A point is identified by its key,
the bytes of its array in the caller's own units. `time` is in seconds since 1970; only events that
are stored have one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import TypeAlias

Simple: TypeAlias = float | int | str | bool | None
"""A value that people read in a table, and that fits into a file."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The search chose a point, which became a pending trial with the next number."""

    number: int
    key: bytes
    time: float | None = None
    origin: str | None = None
    """Which part of the search chose it, as the search says; it is stored so that a table of a
    study needs no replay. Studies of earlier versions lack it, and a replay restores it."""


@dataclass(frozen=True, slots=True)
class Enqueued:
    """The caller chose a point, which became a pending trial with the next number."""

    number: int
    key: bytes
    time: float | None = None


@dataclass(frozen=True, slots=True)
class Expected:
    """A point counts as pending because somebody else is evaluating it; it is not a trial."""

    key: bytes
    time: float | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """An evaluation ended: that of a trial, or of a point (`key`) that nobody asked for."""

    number: int | None
    key: bytes | None
    values: tuple[float, ...]
    """One number for each objective, in the caller's own sense; empty if the evaluation failed."""
    error: str | None = None
    """Why the evaluation failed."""
    measured: tuple[float, ...] = ()
    """One number for each measured constraint; empty if nothing was measured."""
    variance: float | None = None
    """The variance of the noise in the value, if it is known."""
    extras: Mapping[str, Simple] = field(default_factory=dict)
    """What else the evaluation returned, by name; the search does not use it."""
    time: float | None = None

    def __eq__(self, other: object) -> bool:
        """Whether all fields are equal; measurements of nan are, although nan differs from nan."""
        if not isinstance(other, Told):
            return NotImplemented
        return self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash(self._fields())

    def _fields(self) -> tuple[object, ...]:
        measured = tuple(map(repr, self.measured))
        extras = tuple((name, repr(each)) for name, each in self.extras.items())
        told = (self.number, self.key, self.values, self.error, measured, self.variance)
        return (*told, extras, self.time)


@dataclass(frozen=True, slots=True)
class Reported:
    """A pending trial reached a step, and perhaps ended there.

    A step that is not after the first one reported means that the trial began again. What it
    reported before is then void, but the steps that it took still count.
    """

    number: int
    step: int
    value: float
    """In the caller's own sense; nan if the step gave none."""
    stopped: bool | None = None
    """Whether the trial was stopped here because it could not win; None if nobody asked."""
    time: float | None = None

    def __eq__(self, other: object) -> bool:
        """Whether all fields are equal; two missing values are, although nan is not nan."""
        if not isinstance(other, Reported):
            return NotImplemented
        return self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash(self._fields())

    def _fields(self) -> tuple[object, ...]:
        value = self.value if isfinite(self.value) else None
        return (self.number, self.step, value, self.stopped, self.time)


@dataclass(frozen=True, slots=True)
class Ended:
    """The search was asked for a point and had none left."""

    time: float | None = None


@dataclass(frozen=True, slots=True)
class Restarted:
    """A fresh search began, which knows the values told so far and nothing else."""

    time: float | None = None


Event: TypeAlias = Asked | Enqueued | Expected | Reported | Told | Ended | Restarted


def present(events: Sequence[Event]) -> int:
    """The index of the first event of the present search, behind the last restart."""
    starts = (i for i in range(len(events), 0, -1) if isinstance(events[i - 1], Restarted))
    return next(starts, 0)
