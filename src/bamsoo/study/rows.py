"""Conversion of events to rows of the journal's table and back, each row with a checksum."""

from hashlib import blake2b
from json import dumps, loads
from math import isfinite, nan
from typing import Any, NamedTuple, TypeAlias

from ..checks import brief, is_number

COLUMNS = ("id", "kind", "trial", "point", "value", "error", "time")
"""The columns of format 1. Format 2 added the checksum, and format 3 the measured constraints."""

KINDS = ("ask", "enqueue", "tell", "restart")

MEASURE = "measure"
"""The stored kind of a tell whose value has a known variance. The variance is appended to the
numbers of the point, or is the only number if the point is that of a trial."""

Row: TypeAlias = tuple[Any, ...]


class BadRowError(ValueError):
    """A row that is not a valid event; the message says which row, and why."""


class Event(NamedTuple):
    """An entry of the journal; the schema in `journal` explains the columns."""

    kind: str
    trial: int | None
    point: list[float] | None
    value: float | None
    error: str | None
    time: float
    measured: list[float] | None = None
    variance: float | None = None


def as_row(number: int, event: Event) -> Row:
    """The row of an event, with its checksum."""
    point = None if event.point is None else dumps(_without_nan(event.point))
    kind = event.kind
    if event.variance is not None:
        kind, point = MEASURE, dumps([*_without_nan(event.point or []), event.variance])
    row = (number, kind, event.trial, point, event.value, event.error, event.time)
    measured = None if event.measured is None else dumps(event.measured)
    return (*row, row_checksum(row, measured), measured)


def as_event(number: int, row: Row) -> Event:
    """The event of a row that should have this number, counted from 1.

    Raises BadRowError if the row is not a valid event, or has changed since it was written.
    """
    ours, (kind, trial, point, value, error, time, *rest) = row[0], row[1:]
    if ours != number:
        raise BadRowError(f"event {number} is missing")
    measured = rest[1] if len(rest) > 1 else None
    if rest and rest[0] != row_checksum(row[: len(COLUMNS)], measured):
        raise BadRowError(f"event {number} has changed since it was written: its checksum differs")
    if not isinstance(kind, str) or kind not in (*KINDS, MEASURE):
        raise BadRowError(f"event {number} has the unknown kind {brief(kind)}")
    for name, given, fits in (
        ("trial", trial, trial is None or (isinstance(trial, int) and trial >= 0)),
        ("value", value, value is None or _is_number(value)),
        ("error", error, error is None or isinstance(error, str)),
        ("time", time, is_time(time)),
    ):
        if not fits:
            raise BadRowError(f"event {number} has the invalid {name} {brief(given)}")
    numbers = _measured(number, measured)
    event = Event(kind, trial, _point(number, point), value, error, time, numbers)
    return _with_variance(number, event) if kind == MEASURE else event


def _with_variance(number: int, event: Event) -> Event:
    """The event with its variance, which is stored behind its point."""
    *point, variance = event.point or [-1.0]
    if not variance >= 0.0:
        raise BadRowError(f"event {number} has the invalid variance {brief(event.point)}")
    return event._replace(kind="tell", point=point or None, variance=variance)


def row_checksum(row: Row, measured: Any) -> str:
    """The checksum of the fields of format 1, and of the measured constraints, if any."""
    return checksum(row if measured is None else (*row, measured))


def checksum(fields: Row) -> str:
    """The checksum of a row's fields, in order, with all bits of a float."""
    exact = [field.hex() if isinstance(field, float) else field for field in fields]
    text = dumps(exact, default=repr)
    return blake2b(text.encode(), digest_size=8).hexdigest()


def _without_nan(point: list[float]) -> list[float | None]:
    """A point as stored in JSON, with null for a parameter that does not exist there."""
    return [x if isfinite(x) else None for x in point]


def _is_number(field: Any) -> bool:
    return type(field) in (int, float) and is_number(field)


def is_time(field: Any) -> bool:
    """Whether a field is a number of seconds since 1970, in a year of up to four digits or so."""
    return _is_number(field) and abs(field) < 1e11


def _measured(number: int, text: Any) -> list[float] | None:
    """The measured constraints, whose numbers need not be finite."""
    if text is None:
        return None
    try:
        measured = loads(text)
        if isinstance(measured, list) and all(type(each) in (int, float) for each in measured):
            return [float(each) for each in measured]
    except (TypeError, ValueError, OverflowError, RecursionError):
        pass
    raise BadRowError(f"event {number} has the invalid measurements {brief(text)}")


def _point(number: int, text: Any) -> list[float] | None:
    if text is None:
        return None
    try:
        point = loads(text)
        if isinstance(point, list) and all(x is None or _is_number(x) for x in point):
            return [nan if x is None else x for x in point]
    except (TypeError, ValueError, RecursionError):
        pass
    raise BadRowError(f"event {number} has the invalid point {brief(text)}")
