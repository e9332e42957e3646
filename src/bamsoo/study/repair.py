"""Repair of a study that is damaged, or that can no longer be replayed."""

import os
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ..checks import count
from ..course import Course
from ..errors import BamsooError, StudyError
from ..events import Asked, Enqueued, Event, Told, present
from .journal import clear_errors, connect_to_read, create, identify, read_pair
from .rows import COLUMNS, BadRowError, as_event
from .study import Study, checked, optimizer_of, versions

GAP = 5000
"""After this many event numbers in a row without an event, reading stops."""


class Repaired(NamedTuple):
    """The outcome of a repair."""

    path: Path
    events: int
    """The number of events in the longest undamaged part that can be replayed; the run continues
    from its end."""
    values: int
    """The number of later values, kept as known points."""
    lost: tuple[str, ...]
    """What could not be saved, in words."""

    def __str__(self) -> str:
        said = f"{self.path}: contains {count(self.events, 'event')} unchanged"
        if self.values:
            said += f", and {count(self.values, 'later value')} as known points"
        return f"{said}; {f'lost: {_listed(self.lost)}' if self.lost else 'nothing is lost'}"


def repair(
    study: str | os.PathLike[str], to: str | os.PathLike[str], values_only: bool = False
) -> Repaired:
    """Make a good study from what can be read of a damaged one, which is not changed.

    Events are kept unchanged from the first one on, as far as none is missing and a search can
    replay them. Values that were told after that are kept as known points.

    Parameters
    ----------
    study : path
        The damaged file.
    to : path
        The new file.
    values_only : bool, default False
        Keep every value as a known point, and begin a fresh search.

    Raises
    ------
    StudyError
        If nothing can be saved, because the file is not a study or its settings are lost.
    """
    source, target = Path(os.path.realpath(study)), Path(to)
    if os.path.lexists(target):
        raise StudyError(f"{target}: exists already; choose another name for the repaired study")
    meta, found, lost = _read(source)
    whole = [] if values_only else _longest_part(source, meta, found)
    events = [*whole, *_values_behind(whole, found)]
    create(target, {**meta, "versions": versions()}, events)
    Study.open(target, readonly=True).close()
    return Repaired(target, len(whole), len(events) - len(whole), tuple(lost))


def _read(path: Path) -> tuple[dict[str, Any], dict[int, Event], list[str]]:
    """All that can be read: the metadata, the events by number, and what is lost."""
    if not path.is_file():
        raise StudyError(f"{path}: there is no such study; check the path")
    with clear_errors(path):
        connection = connect_to_read(path)
        try:
            identify(connection, path)
            lost: list[str] = []
            meta = dict(_pairs(connection, lost))
            found = dict(_rows(connection, lost))
        finally:
            connection.close()
    settings = meta.get("settings")
    if settings is None:
        raise StudyError(
            f"{path}: its settings cannot be read, and without them nothing can be saved"
        )
    optimizer_of(path, settings)  # raises an error if they are invalid
    return meta, found, lost


def _pairs(connection: sqlite3.Connection, lost: list[str]) -> Iterator[tuple[str, Any]]:
    for key in ("settings", "identity", "created", "note"):
        try:
            row = connection.execute("SELECT * FROM meta WHERE key = ?", (key,)).fetchone()
            if row is not None:
                yield key, read_pair(row)
        except (sqlite3.DatabaseError, UnicodeDecodeError, BadRowError):
            lost.append(f"the {key}")


def _rows(connection: sqlite3.Connection, lost: list[str]) -> Iterator[tuple[int, Event]]:
    """Events read one by one, so that a damaged page does not hide those on other pages."""
    query = f"SELECT {', '.join(COLUMNS)} FROM events WHERE id = ?"
    number = 0
    missing: list[int] = []
    while len(missing) < GAP:
        number += 1
        try:
            row = connection.execute(query, (number,)).fetchone()
            event = None if row is None else as_event(number, row)
        except BadRowError as error:
            lost.append(str(error))
            continue
        except (sqlite3.DatabaseError, UnicodeDecodeError):
            event = None
        if event is None:
            missing.append(number)
            continue
        lost += [f"event {each} cannot be read" for each in missing]
        missing = []
        yield number, event


def _longest_part(path: Path, meta: dict[str, Any], found: dict[int, Event]) -> list[Event]:
    """The events from the first on, as far as none is missing and a search can replay them."""
    part: list[Event] = []
    while len(part) + 1 in found:
        part.append(found[len(part) + 1])
    setup = optimizer_of(path, meta["settings"])[0]._setup
    while True:
        begin = present(part)
        course, done = Course(setup, part[:begin], begin), begin
        try:
            for event in part[begin:]:
                course.apply(checked(event, setup, path))
                done += 1
            return part
        except BamsooError:
            part = part[:done]


def _values_behind(part: list[Event], found: dict[int, Event]) -> Iterator[Event]:
    """The values that are not in the part, as tells of its pending trials or as known points."""
    asked = [each for each in found.values() if isinstance(each, (Asked, Enqueued))]
    points = {event.number: event.key for event in asked}
    out: set[int | None] = {each.number for each in part if isinstance(each, (Asked, Enqueued))}
    out -= {event.number for event in part if isinstance(event, Told)}
    for number in sorted(found):
        event = found[number]
        if number <= len(part) or not isinstance(event, Told):
            continue
        if event.number is None or event.number in out:
            out.discard(event.number)
            yield event
        elif event.number in points:
            yield replace(event, number=None, key=points[event.number])


def _listed(lost: tuple[str, ...], shown: int = 5) -> str:
    more = f", and {len(lost) - shown} more" if len(lost) > shown else ""
    return ", ".join(lost[:shown]) + more
