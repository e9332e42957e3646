"""Repair of a study that is damaged, or that can no longer be replayed."""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from ..checks import count
from ..course import Course, Setup
from ..errors import BamsooError, StudyError
from ..events import Asked, Enqueued, Event, Told, present
from .backends import on_server, shown
from .journal import Address, Place
from .rows import BadRowError, as_event
from .sqlite import (
    PAGE,
    STATE,
    clear_errors,
    connect,
    connect_to_read,
    create,
    has_own_log,
    identify,
    read_pair,
    reserved,
)
from .study import Study, checked, optimizer_of, versions

KEPT = ("settings", "identity", "created", "note")
"""What is kept in addition to the events."""

LEAF = 13
"""The first byte of a page that contains events."""

UNREADABLE = (sqlite3.DatabaseError, BadRowError, UnicodeDecodeError)


class Repaired(NamedTuple):
    """The outcome of a repair."""

    path: Path
    events: int
    """The number of events in the longest undamaged part that can be replayed; the run continues
    from its end."""
    values: int
    """The number of later values, kept as known points."""
    missing: tuple[int, ...]
    """The numbers of the events that are lost."""
    lost: tuple[str, ...]
    """What else could not be saved, in words."""

    def __str__(self) -> str:
        said = f"{self.path}: contains {count(self.events, 'event')} unchanged"
        if self.values:
            said += f", and {count(self.values, 'later value')} as known points"
        lost = list(self.lost)
        if self.missing:
            lost.insert(0, f"{count(len(self.missing), 'event')} ({_ranges(self.missing)})")
        return f"{said}; {f'lost: {_listed(lost)}' if lost else 'nothing is lost'}"


class Readable(NamedTuple):
    """What can be read of a damaged study."""

    meta: dict[str, Any]
    events: dict[int, Event]
    """The events by number."""
    missing: tuple[int, ...]
    lost: tuple[str, ...]


def repair(
    study: str | os.PathLike[str], to: str | os.PathLike[str], values_only: bool = False
) -> Repaired:
    """Make a good study from what can be read of a damaged one, which is not changed.

    Events are kept unchanged from the first one on, as far as none is missing and a search can
    replay them. Values that were told after that are kept as known points.

    Parameters
    ----------
    study : path or address
        The damaged study.
    to : path
        The new file.
    values_only : bool, default False
        Keep every value as a known point, and begin a fresh search.

    Raises
    ------
    StudyError
        If nothing can be saved, because the file is not a study or its settings are lost.
    """
    source: Place = Path(os.path.realpath(study))
    if on_server(study):
        source = Address(shown(study))
    target = Path(to)
    with reserved(target):
        found = _read_rows(str(study), source) if isinstance(source, Address) else _read(source)
        part, course = _longest_part(source, found, values_only)
        setup = optimizer_of(source, found.meta["settings"])[0]._setup
        lost = [*found.lost]
        behind = list(_behind(part, found, setup, course, source, lost))
        create(target, {**found.meta, "versions": versions()}, [*part, *behind])
        Study.open(target, readonly=True).close()
    values = sum(isinstance(event, Told) for event in behind)
    return Repaired(target, len(part), values, found.missing, tuple(lost))


# --- reading


def _read(path: Path) -> Readable:
    """All that can be read, on whatever pages it is."""
    if not path.is_file():
        raise StudyError(f"{path}: there is no such study; check the path")
    with TemporaryDirectory() as place, clear_errors(path):
        copy = Path(place) / "study.db"
        shutil.copyfile(path, copy)
        if has_own_log(path):
            shutil.copyfile(f"{path}-wal", f"{copy}-wal")
            _renew_first_page(copy)
            with closing(connect(copy)) as connection:  # which moves the log to the file
                connection.execute("PRAGMA journal_mode = DELETE").fetchone()
        _renew_first_page(copy)
        with closing(connect(copy)) as connection:
            # No text is longer than the file, and no file has more events than bytes; a number
            # that says otherwise would make this take for ever.
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, copy.stat().st_size)
            found = _search_pages(connection, copy)
    if "settings" not in found.meta:
        with clear_errors(path):  # which names the reason, if there is one
            connection, _ = connect_to_read(path)
            with closing(connection):
                identify(connection, path)
        raise StudyError(
            f"{path}: its settings cannot be read, and without them nothing can be saved"
        )
    return found


def _read_rows(address: str, place: Place) -> Readable:
    """All rows of a study on a server that are as they were written; the others are lost."""
    from .postgresql import everything

    pairs, rows = everything(address)
    meta: dict[str, Any] = {}
    events: dict[int, Event] = {}
    for row in pairs:
        with suppress(BadRowError):
            meta[row[0]] = read_pair(row)
    for row in rows:
        with suppress(BadRowError):
            events[row[0]] = as_event(row[0], row)
    if "settings" not in meta:
        raise StudyError(
            f"{place}: its settings cannot be read, and without them nothing can be saved"
        )
    # An event that is missing at the end leaves no trace on a server, which keeps no second count.
    missing = tuple(n for n in range(1, max(events, default=0) + 1) if n not in events)
    known = {row[0] for row in pairs}
    lost = tuple(f"the {key}" for key in KEPT if key in known and key not in meta)
    return Readable({key: meta[key] for key in KEPT if key in meta}, events, missing, lost)


def _renew_first_page(path: Path) -> None:
    """Write the first page, which is the same in all studies except for the number of pages."""
    blank = path.with_name("blank.db")
    create(blank, {}, [])
    pages = -(-path.stat().st_size // PAGE) or 1
    with path.open("r+b") as file, blank.open("rb") as fresh:
        first = fresh.read(PAGE)
        file.write(first[:28] + pages.to_bytes(4, "big") + bytes(8) + first[40:])
        file.truncate(pages * PAGE)


def _search_pages(connection: sqlite3.Connection, path: Path) -> Readable:
    """Read each page by itself, so that a destroyed one does not hide those that it leads to."""
    roots = dict(connection.execute("SELECT name, rootpage FROM sqlite_master"))
    last = _highest(connection)
    pages = path.read_bytes()[::PAGE]
    meta: dict[str, Any] = {}
    events: dict[int, Event] = {}
    absent = set()
    connection.execute("PRAGMA journal_mode = OFF").fetchone()
    connection.execute("PRAGMA writable_schema = ON")
    for page in (roots["meta"], roots["spare"], *range(2, len(pages) + 1)):
        connection.execute("UPDATE sqlite_master SET rootpage = ?", (page,))
        (version,) = connection.execute("PRAGMA schema_version").fetchone()
        connection.execute(f"PRAGMA schema_version = {version + 1}")  # reads the tables again
        for key in (*KEPT, STATE):
            try:
                row = connection.execute("SELECT * FROM meta WHERE key = ?", (key,)).fetchone()
                if row is not None:
                    meta.setdefault(key, read_pair(row))
                elif page in (roots["meta"], roots["spare"]):
                    absent.add(key)
            except UNREADABLE:
                pass
        if pages[page - 1] == LEAF:
            for number in _numbers(connection):
                try:
                    query = "SELECT * FROM events WHERE id = ?"
                    row = connection.execute(query, (number,)).fetchone()
                    if row is not None and 0 < number < len(pages) * PAGE:
                        events.setdefault(number, as_event(number, row))
                except UNREADABLE:
                    pass
    lost = [f"the {key}" for key in KEPT if key not in meta and key not in absent]
    state = meta.pop(STATE, None)
    length = state[0] if isinstance(state, list) and state else last
    if not isinstance(length, int) or length > len(pages) * PAGE:
        length = None
    highest = max([length or 0, *events])
    if length is None:
        lost.append(f"an unknown number of events after event {highest}")
    missing = tuple(number for number in range(1, highest + 1) if number not in events)
    return Readable(meta, events, missing, tuple(lost))


def _highest(connection: sqlite3.Connection) -> int | None:
    """The number of the last event; None if the pages that lead to it are damaged."""
    try:
        (health,) = connection.execute("PRAGMA quick_check(events)").fetchone()
        (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM events").fetchone()
    except UNREADABLE:
        return None
    return last if health == "ok" else None


def _numbers(connection: sqlite3.Connection) -> list[int]:
    numbers: list[int] = []
    try:
        for (number,) in connection.execute("SELECT id FROM events"):
            numbers.append(number)
    except UNREADABLE:
        pass  # the numbers before the damage
    return numbers


# --- what is kept


def _longest_part(path: Place, found: Readable, values_only: bool) -> tuple[list[Event], Course]:
    """The events from the first on, as far as none is missing and a search can replay them."""
    part: list[Event] = []
    search, function = optimizer_of(path, found.meta["settings"])
    setup = search._setup
    ledger = Course(setup).ledger
    with suppress(BamsooError):  # the rest of the events do not fit
        while not values_only and len(part) + 1 in found.events:
            event = checked(found.events[len(part) + 1], setup, path)
            ledger.apply(event)
            part.append(event)
    while True:
        # Without a constraint's function, which the file does not contain, nothing can be replayed.
        done = begin = present(part) if function is None else len(part)
        course = Course(setup, part[:begin], begin)
        try:
            for event in part[begin:]:
                course.apply(event)
                done += 1
            return part, course
        except BamsooError:
            part = part[:done]


def _behind(
    part: list[Event], found: Readable, setup: Setup, course: Course, path: Place, lost: list[str]
) -> Iterator[Event]:
    """The values that are not in the part, and the points that are still to be evaluated."""
    rest = [found.events[number] for number in sorted(found.events) if number > len(part)]
    asked = [each for each in found.events.values() if isinstance(each, (Asked, Enqueued))]
    points = {event.number: event.key for event in asked}
    told = [event for event in rest if isinstance(event, Told)]
    for event in told:
        kept = event
        if event.number is not None and event.number not in course.ledger.out:
            kept = replace(event, number=None, key=points.get(event.number))
        try:
            if kept.number is None and kept.key is None:
                raise StudyError("the point is lost")
            kept = checked(kept, setup, path)
            course.apply(kept)
        except BamsooError:
            lost.append(f"the value of trial {event.number}, whose point is lost or invalid")
        else:
            yield kept
    values = {event.number for event in told}
    for each in rest:
        if isinstance(each, Enqueued) and each.number not in values:
            try:
                point = checked(replace(each, number=len(course.ledger.trials)), setup, path)
            except BamsooError:
                lost.append(f"the enqueued trial {each.number}, whose point is invalid")
                continue
            if course.ledger.is_new(point.key):
                course.apply(point)
                yield point


def _ranges(numbers: tuple[int, ...]) -> str:
    """Sorted numbers in words, such as "3, 7 to 9"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return _listed([f"{a}" if a == b else f"{a} to {b}" for a, b in runs])


def _listed(lost: list[str], shown: int = 5) -> str:
    more = f", and {len(lost) - shown} more" if len(lost) > shown else ""
    return ", ".join(lost[:shown]) + more
