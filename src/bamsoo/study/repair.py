"""What can be saved of a study that is damaged, or that no longer replays."""

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import StudyError
from .journal import (
    clear_errors,
    columns,
    connect_to_read,
    create,
    identify,
    read_pair,
)
from .replay import Walk, last_restart, versions
from .rows import BadRowError, Event, as_event
from .study import Study, optimizer_of

GAP = 5000
"""So many numbers in a row without an event are the end of the events."""


class Repaired(NamedTuple):
    """What a repair has saved."""

    path: Path
    events: int
    """Events of the longest part that is whole and replays: the run goes on from its end."""
    values: int
    """Values from behind that part, kept as known points."""
    lost: tuple[str, ...]
    """What could not be saved, in words."""

    def __str__(self) -> str:
        said = f"{self.path}: holds {self.events} events as they were"
        if self.values:
            said += f", and {self.values} values from behind them as known points"
        return f"{said}; {f'lost: {_listed(self.lost)}' if self.lost else 'nothing is lost'}"


def repair(
    study: str | os.PathLike[str], to: str | os.PathLike[str], values_only: bool = False
) -> Repaired:
    """Make a good study of what can be read of another; that one is left as it is.

    The longest part of the study that is whole, and that a search walks through as it did, is kept
    as it was. Values that were told after its end are kept as points that are known.

    Parameters
    ----------
    study : path
    to : path
        A new file.
    values_only : bool
        Keep every value as a known point, and begin a fresh search.

    Raises
    ------
    StudyError
        Where there is nothing to begin with: the file is no study, or its settings are lost.
    """
    source, target = Path(os.path.realpath(study)), Path(to)
    if os.path.lexists(target):
        raise StudyError(f"{target}: is there already; give the repaired study a name of its own")
    meta, found, lost = _read(source)
    whole = [] if values_only else _longest_part(source, meta, found)
    events = [*whole, *_values_behind(whole, found)]
    create(target, {**meta, "versions": versions()}, events)
    Study.open(target, readonly=True).close()
    return Repaired(target, len(whole), len(events) - len(whole), tuple(lost))


def _read(path: Path) -> tuple[dict[str, Any], dict[int, Event], list[str]]:
    """All that can be read: what stands beside the events, the events by number, what is lost."""
    if not path.is_file():
        raise StudyError(f"{path}: there is no such study")
    with clear_errors(path):
        connection = connect_to_read(path)
        try:
            version = identify(connection, path)
            lost: list[str] = []
            meta = dict(_pairs(connection, lost))
            found = dict(_rows(connection, version, lost))
        finally:
            connection.close()
    settings = meta.get("settings")
    if settings is None:
        raise StudyError(f"{path}: its settings cannot be read, and without them nothing can")
    optimizer_of(path, settings)  # says what is wrong with them
    return meta, found, lost


def _pairs(connection: sqlite3.Connection, lost: list[str]) -> Iterator[tuple[str, Any]]:
    for key in ("settings", "created", "note", "exhausted"):
        try:
            row = connection.execute("SELECT * FROM meta WHERE key = ?", (key,)).fetchone()
            if row is not None:
                yield key, read_pair(row)
        except (sqlite3.DatabaseError, UnicodeDecodeError, BadRowError):
            lost.append(f"the {key}")


def _rows(
    connection: sqlite3.Connection, version: int, lost: list[str]
) -> Iterator[tuple[int, Event]]:
    """Events one by one: where a page is damaged, those on other pages can still be read."""
    query = f"SELECT {', '.join(columns(version))} FROM events WHERE id = ?"
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
    """The events from the first on, as far as none is missing and a search walks through them."""
    part: list[Event] = []
    while len(part) + 1 in found:
        part.append(found[len(part) + 1])
    while True:
        walk = Walk(optimizer_of(path, meta["settings"])[0], last_restart(part), path, versions())
        done = 0
        try:
            for event in part:
                walk.take(event)
                done += 1
            return part
        except StudyError:
            part = part[:done]


def _values_behind(part: list[Event], found: dict[int, Event]) -> Iterator[Event]:
    """The values that the part does not hold, told as its own trials or as known points."""
    points = {event.trial: event.point for event in found.values() if event.kind == "ask"}
    out = {event.trial for event in part if event.kind == "ask"}
    out -= {event.trial for event in part if event.kind == "tell"}
    for number in sorted(found):
        event = found[number]
        if number <= len(part) or event.kind != "tell":
            continue
        if event.trial is None or event.trial in out:
            out.discard(event.trial)
            yield event
        elif event.trial in points:
            yield event._replace(trial=None, point=points[event.trial])


def _listed(lost: tuple[str, ...], shown: int = 5) -> str:
    more = f", and {len(lost) - shown} more" if len(lost) > shown else ""
    return ", ".join(lost[:shown]) + more
