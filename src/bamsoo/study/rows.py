"""Conversion of events to rows of the journal's table and back, each row with a checksum."""

from hashlib import blake2b
from json import dumps, loads
from math import isfinite, nan
from typing import Any, TypeAlias

import numpy as np

from ..checks import brief, is_finite
from ..errors import ValueTypeError
from ..events import Asked, Ended, Enqueued, Event, Expected, Reported, Restarted, Told
from ..space.constraints import as_extras

KINDS: dict[str, type[Any]] = {
    "ask": Asked,
    "enqueue": Enqueued,
    "expect": Expected,
    "report": Reported,
    "tell": Told,
    "end": Ended,
    "restart": Restarted,
}
"""The events, by the name that is stored."""

_NAMES = {kind: name for name, kind in KINDS.items()}

Row: TypeAlias = tuple[Any, ...]


class BadRowError(ValueError):
    """A row that is not a valid event; the message says which row, and why."""


def as_row(number: int, event: Event) -> Row:
    """The row of an event, with its checksum."""
    body: dict[str, Any] = {}
    if (key := getattr(event, "key", None)) is not None:
        body["point"] = [x if isfinite(x) else None for x in np.frombuffer(key).tolist()]
    if isinstance(event, Asked) and event.origin is not None:
        body["origin"] = event.origin
    if isinstance(event, Told):
        if event.values:
            body["values"] = list(event.values)
        if event.error is not None:
            body["error"] = event.error
        if event.measured:
            body["measured"] = event.measured
        if event.variance is not None:
            body["variance"] = event.variance
        if event.extras:
            body["extras"] = dict(event.extras)
    if isinstance(event, Reported):
        body["step"] = event.step
        if isfinite(event.value):
            body["value"] = event.value
        if event.stopped is not None:
            body["stopped"] = event.stopped
    trial = getattr(event, "number", None)
    row = (number, _NAMES[type(event)], trial, dumps(body), event.time)
    return (*row, checksum(row))


def as_event(number: int, row: Row) -> Event:
    """The event of a row that should have this number, counted from 1.

    Raises BadRowError if the row is not a valid event, or has changed since it was written.
    """
    *rest, stored = row
    ours, kind, trial, text, time = rest
    if ours != number:
        raise BadRowError(f"event {number} is missing")
    if stored != checksum(tuple(rest)):
        raise BadRowError(f"event {number} has changed since it was written: its checksum differs")
    if not isinstance(kind, str) or kind not in KINDS:
        raise BadRowError(f"event {number} has the unknown kind {brief(kind)}")
    if not is_time(time):
        raise BadRowError(f"event {number} has the invalid time {brief(time)}")
    body = _Body(number, trial, text)
    if kind in ("end", "restart"):
        event: Event = KINDS[kind](time)
    elif kind == "expect":
        event = Expected(body.point(), time)
    elif kind == "tell":
        event = body.told(time)
    elif kind == "ask":
        event = Asked(body.trial(), body.point(), time, body.origin())
    elif kind == "report":
        event = body.reported(time)
    else:
        event = Enqueued(body.trial(), body.point(), time)
    return event


class _Body:
    """The fields of a row, each of which is checked when it is taken."""

    def __init__(self, number: int, trial: Any, text: Any) -> None:
        self._number, self._trial = number, trial
        try:
            self._fields = loads(text)
        except (TypeError, ValueError, RecursionError):
            self._fields = None
        if not isinstance(self._fields, dict):
            raise self._invalid("body", text)

    def _invalid(self, what: str, given: Any) -> BadRowError:
        return BadRowError(f"event {self._number} has the invalid {what} {brief(given)}")

    def trial(self) -> int:
        if type(self._trial) is not int or self._trial < 0:
            raise self._invalid("trial", self._trial)
        return self._trial

    def point(self) -> bytes:
        point = self._fields.get("point")
        if not isinstance(point, list) or not all(x is None or _is_number(x) for x in point):
            raise self._invalid("point", point)
        return np.array([nan if x is None else x for x in point], dtype=float).tobytes()

    def origin(self) -> str | None:
        origin = self._fields.get("origin")
        if origin is not None and not (isinstance(origin, str) and origin.isidentifier()):
            raise self._invalid("origin", origin)
        return origin

    def reported(self, time: float) -> Reported:
        found = self._fields
        step, value, stopped = found.get("step"), found.get("value"), found.get("stopped")
        if type(step) is not int or step < 0:
            raise self._invalid("step", step)
        if value is not None and not _is_number(value):
            raise self._invalid("value", value)
        if stopped is not None and type(stopped) is not bool:
            raise self._invalid("decision", stopped)
        number = nan if value is None else float(value)
        return Reported(self.trial(), step, number, stopped, time)

    def told(self, time: float) -> Told:
        found = self._fields
        values, error = found.get("values", []), found.get("error")
        measured, variance = found.get("measured", []), found.get("variance")
        listed = isinstance(values, list) and all(map(_is_number, values))
        if not listed or ("values" in found and not values):  # nothing is written as no list
            raise self._invalid("values", values)
        if error is not None and not isinstance(error, str):
            raise self._invalid("error", error)
        try:
            assert isinstance(measured, list)
            assert all(type(c) in (int, float) for c in measured)
            numbers = tuple(map(float, measured))
        except (AssertionError, OverflowError):
            raise self._invalid("measurements", measured) from None
        if variance is not None and not (_is_number(variance) and variance >= 0.0):
            raise self._invalid("variance", variance)
        try:
            extras = as_extras(found.get("extras", {}))
        except ValueTypeError:
            raise self._invalid("extras", found.get("extras")) from None
        return Told(
            None if self._trial is None else self.trial(),
            self.point() if self._trial is None else None,
            tuple(map(float, values)),
            error,
            numbers,
            None if variance is None else float(variance),
            extras,
            time,
        )


def checksum(fields: Row) -> str:
    """The checksum of a row's fields, in order, with all bits of a float."""
    exact = [field.hex() if isinstance(field, float) else field for field in fields]
    text = dumps(exact, default=repr)
    return blake2b(text.encode(), digest_size=8).hexdigest()


def _is_number(field: Any) -> bool:
    return type(field) in (int, float) and is_finite(field)


def is_time(field: Any) -> bool:
    """Whether a field is a number of seconds since 1970, in a year of up to four digits or so."""
    return _is_number(field) and abs(field) < 1e11
