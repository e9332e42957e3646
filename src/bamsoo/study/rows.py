"""Conversion of events to rows of the journal's table and back, each row with a checksum."""

from collections.abc import Iterable
from hashlib import blake2b
from json import dumps, loads
from math import isfinite, nan
from typing import Any, TypeAlias

import numpy as np

from ..base.checks import brief, is_finite
from ..errors import ValueTypeError
from ..record.events import (
    Asked,
    Ended,
    Enqueued,
    Event,
    Expected,
    Imported,
    Reported,
    Restarted,
    Retried,
    Told,
)
from ..space import key_of, numbers_of
from ..space.constraints import as_extras

KINDS: dict[str, type[Any]] = {
    "ask": Asked,
    "enqueue": Enqueued,
    "expect": Expected,
    "report": Reported,
    "tell": Told,
    "end": Ended,
    "restart": Restarted,
    "import": Imported,
    "retry": Retried,
}
"""The events, by the name that is stored."""

_NAMES = {kind: name for name, kind in KINDS.items()}

Row: TypeAlias = tuple[Any, ...]

DEEPEST = 200
"""How deeply settings and notes may be nested. A condition inside a condition takes three levels,
and functions that call themselves for each level stay far below Python's limit."""


class BadRowError(ValueError):
    """A row that is not a valid event; the message says which row, and why."""


def as_row(number: int, event: Event) -> Row:
    """The row of an event, with its checksum."""
    body: dict[str, Any] = {}
    if (key := getattr(event, "key", None)) is not None:
        body["point"] = _nones(numbers_of(key).tolist())
    if isinstance(event, Asked) and event.origin is not None:
        body["origin"] = event.origin
    if isinstance(event, Told):
        body |= _said(event)
    if isinstance(event, Reported):
        body["step"] = event.step
        if len(event.values) == 1:
            body["value"] = event.values[0]
        elif event.values:
            body["values"] = list(event.values)
        if event.stopped is not None:
            body["stopped"] = event.stopped
    if isinstance(event, Imported):
        body = {"source": event.source, "taken": event.taken, "left_out": event.left_out}
        body |= {"why": event.why, "filled": dict(event.filled), "ignored": list(event.ignored)}
    if isinstance(event, Retried):
        body["trials"] = list(event.numbers)
    trial = getattr(event, "number", None)
    row = (number, _NAMES[type(event)], trial, dumps(body), event.time)
    return (*row, checksum(row))


def _said(event: Told) -> dict[str, Any]:
    """What was said about an evaluation; what was not said is left out."""
    said = {
        "values": list(event.values),
        "error": event.error,
        "measured": event.measured,
        "variance": event.variance,
        "extras": dict(event.extras),
        "stopped": event.stopped,
        "residuals": _nones(event.residuals),
        "took": event.took,
        "curve": [_nones(step) for step in event.curve],
        "barred": event.barred,
    }
    nothing: tuple[Any, ...] = ([], (), {})
    return {
        name: each
        for name, each in said.items()
        if each is not None and each is not False and each not in nothing
    }


def _nones(numbers: Iterable[float]) -> list[float | None]:
    """Numbers as JSON has them, with None for nan and inf."""
    return [x if isfinite(x) else None for x in numbers]


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
    elif kind == "import":
        event = body.imported(time)
    elif kind == "retry":
        event = body.retried(time)
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
        return key_of(np.array([nan if x is None else x for x in point], dtype=float))

    def origin(self) -> str | None:
        origin = self._fields.get("origin")
        if origin is not None and not (isinstance(origin, str) and origin.isidentifier()):
            raise self._invalid("origin", origin)
        return origin

    def reported(self, time: float) -> Reported:
        found = self._fields
        step, stopped = found.get("step"), found.get("stopped")
        if type(step) is not int or step < 0:
            raise self._invalid("step", step)
        if (value := found.get("value")) is not None and not _is_number(value):
            raise self._invalid("value", value)
        if stopped is not None and type(stopped) is not bool:
            raise self._invalid("decision", stopped)
        values = self._values() if value is None else (float(value),)
        return Reported(self.trial(), step, values, stopped, time)

    def imported(self, time: float) -> Imported:
        found = self._fields
        texts, counts = [found.get("source"), found.get("why", "")], []
        for name in ("taken", "left_out"):
            if type(number := found.get(name)) is not int or number < 0:
                raise self._invalid(name, number)
            counts.append(number)
        ignored = found.get("ignored", [])
        if not isinstance(ignored, list) or not all(isinstance(t, str) for t in (*texts, *ignored)):
            raise self._invalid("source", found)
        try:
            filled = as_extras(found.get("filled", {}))
        except ValueTypeError:
            raise self._invalid("assumptions", found.get("filled")) from None
        source, why = map(str, texts)
        return Imported(source, counts[0], counts[1], why, filled, tuple(ignored), time)

    def retried(self, time: float) -> Retried:
        numbers = self._fields.get("trials")
        if not isinstance(numbers, list) or not all(type(n) is int and n >= 0 for n in numbers):
            raise self._invalid("trials", numbers)
        key = self.point() if "point" in self._fields else None
        return Retried(tuple(numbers), key, time)

    def told(self, time: float) -> Told:
        found, values = self._fields, self._values()
        if (error := found.get("error")) is not None and not isinstance(error, str):
            raise self._invalid("error", error)
        try:
            extras = as_extras(found.get("extras", {}))
        except ValueTypeError:
            raise self._invalid("extras", found.get("extras")) from None
        stopped = self._fields.get("stopped", False)
        if type(stopped) is not bool or (stopped and not values):
            raise self._invalid("decision", stopped)
        return Told(
            None if self._trial is None else self.trial(),
            self.point() if self._trial is None else None,
            values,
            error,
            self._measured(),
            self._amount("variance"),
            extras,
            time,
            self._residuals(bool(values)),
            self._amount("took"),
            stopped,
            self._curve(),
            self._fields.get("barred", False) is True,
        )

    def _values(self) -> tuple[float, ...]:
        values = self._fields.get("values", [])
        listed = isinstance(values, list) and all(map(_is_number, values))
        if not listed or ("values" in self._fields and not values):  # nothing is written as no list
            raise self._invalid("values", values)
        return tuple(map(float, values))

    def _measured(self) -> tuple[float, ...]:
        measured = self._fields.get("measured", [])
        if not isinstance(measured, list) or any(type(c) not in (int, float) for c in measured):
            raise self._invalid("measurements", measured)
        try:
            return tuple(map(float, measured))
        except OverflowError:
            raise self._invalid("measurements", measured) from None

    def _amount(self, name: str) -> float | None:
        """A number that cannot be negative, or None if it was not written."""
        if (amount := self._fields.get(name)) is None:
            return None
        if not (_is_number(amount) and amount >= 0):
            raise self._invalid(name, amount)
        return float(amount)

    def _curve(self) -> tuple[tuple[float, ...], ...]:
        curve = self._fields.get("curve", [])
        if not isinstance(curve, list) or not all(map(_is_step, curve)):
            raise self._invalid("curve", curve)
        return tuple(tuple(nan if v is None else float(v) for v in step) for step in curve)

    def _residuals(self, valued: bool) -> tuple[float, ...]:
        residuals = self._fields.get("residuals", [])
        vector = isinstance(residuals, list) and all(r is None or _is_number(r) for r in residuals)
        if not vector or (residuals and not valued):
            raise self._invalid("residuals", residuals)
        return tuple(nan if r is None else float(r) for r in residuals)


def checksum(fields: Row) -> str:
    """The checksum of a row's fields, in order, with all bits of a float."""
    exact = [field.hex() if isinstance(field, float) else field for field in fields]
    text = dumps(exact, default=repr)
    return blake2b(text.encode(), digest_size=8).hexdigest()


def read_pair(row: Row) -> Any:
    """The value in a row of the tables meta and spare."""
    key, value, written = row
    if written != checksum((key, value)):
        raise BadRowError(
            f"its {brief(key)} has changed since it was written: the checksum differs"
        )
    try:
        level = [read := loads(value)]
        for _ in range(DEEPEST):
            level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return read
    except (TypeError, ValueError, RecursionError):
        pass
    raise BadRowError(f"its {brief(key)} has the invalid value {brief(value)}")


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _is_number(field: Any) -> bool:
    return type(field) in (int, float) and is_finite(field)


def _is_step(field: Any) -> bool:
    """Whether a field is a step of a curve: its number, and a value or None for each objective."""
    return (
        isinstance(field, list)
        and len(field) > 1
        and _is_number(field[0])
        and all(v is None or _is_number(v) for v in field[1:])
    )


def is_time(field: Any) -> bool:
    """Whether a field is a number of seconds since 1970, in a year of up to four digits or so."""
    return _is_number(field) and abs(field) < 1e11
