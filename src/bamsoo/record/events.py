"""Everything that can happen to a search: the one list from which all else can be rebuilt.

A search is a function of its settings and of this list. An `Optimizer` keeps the list in memory,
and a `Study` writes each event to a file before it takes effect. A point is identified by its key,
the bytes of its array in the caller's own units. `time` is in seconds since 1970; only events that
are stored have one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ..base.checks import count
from ..base.typing import Simple


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
    residuals: tuple[float, ...] = ()
    """In a fit, the residuals as they were returned, of which the value is the sum of squares; nan
    is missing data."""
    took: float | None = None
    """How long the evaluation took, in seconds, without the time that it waited for a worker."""
    stopped: bool = False
    """Whether somebody else stopped the evaluation before it had a value. `values` are then what is
    believed about it, and were not measured."""
    curve: tuple[tuple[float, ...], ...] = ()
    """Of an evaluation in another study, its steps, counted from 1, each with the values after it;
    they are nan if it gave none. The search does not use them."""
    barred: bool = False
    """Whether the point, which nobody asked for, violates a constraint that a study cannot store,
    so that somebody who reads the study does not take it for a result."""

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
        residuals = tuple(map(repr, self.residuals))
        curve = tuple(map(repr, self.curve))
        rest = self.took, self.stopped, curve, self.barred
        return (*told, extras, self.time, residuals, *rest)


@dataclass(frozen=True, slots=True)
class Reported:
    """A pending trial reached a step, and perhaps ended there.

    A step that is not after the first one reported means that the trial began again. What it
    reported before is then void, but the steps that it took still count.
    """

    number: int
    step: int
    values: tuple[float, ...]
    """One number for each objective, in the caller's own sense; empty if the step gave none."""
    stopped: bool | None = None
    """Whether the trial was stopped here because it could not win; None if nobody asked."""
    time: float | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """The search was asked for a point and had none left."""

    time: float | None = None


@dataclass(frozen=True, slots=True)
class Restarted:
    """A fresh search began, which knows the values told so far and nothing else."""

    time: float | None = None


@dataclass(frozen=True, slots=True)
class Imported:
    """Earlier evaluations were taken over from a source: how many, and what was assumed.

    As text it is a sentence about them.
    """

    source: str
    taken: int
    left_out: int = 0
    """The number of evaluations of the source that do not fit the space or are not finished."""
    why: str = ""
    """Why the first of them does not fit, and how many are not finished."""
    filled: Mapping[str, Simple] = field(default_factory=dict)
    """The values that were assumed for parameters which the source lacks."""
    ignored: tuple[str, ...] = ()
    """The names of the source that were assumed not to matter."""
    time: float | None = None

    def __str__(self) -> str:
        said = [count(self.taken, "evaluation")]
        if self.left_out:
            said.append(f"{self.left_out} were left out ({self.why})")
        said += [f"assumed to have had {name}={value!r}" for name, value in self.filled.items()]
        said += [f"assumed not to depend on {name}" for name in self.ignored]
        return "; ".join(said)

    def __hash__(self) -> int:
        filled = tuple((name, repr(each)) for name, each in self.filled.items())
        return hash((self.source, self.taken, self.left_out, self.why, filled, self.ignored))


@dataclass(frozen=True, slots=True)
class Retried:
    """Failures were taken back, and a fresh search began, which knows nothing of them."""

    numbers: tuple[int, ...]
    """The failed trials, which are pending again."""
    key: bytes | None = None
    """A failed point that nobody asked for."""
    time: float | None = None


FRESH = (Restarted, Retried)
"""The events with which a fresh search begins."""

Event: TypeAlias = (
    Asked | Enqueued | Expected | Reported | Told | Ended | Restarted | Retried | Imported
)


def present(events: Sequence[Event]) -> int:
    """The index of the first event of the present search, behind the last restart."""
    starts = (i for i in range(len(events), 0, -1) if isinstance(events[i - 1], FRESH))
    return next(starts, 0)
