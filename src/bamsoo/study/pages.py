"""What can be read of a damaged study file, page by page."""

import os
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..errors import StudyError
from ..record.events import Event
from .address import FileAddress
from .journal import KEPT, Readable
from .rows import BadRowError, as_event, read_pair
from .sqlite import (
    PAGE,
    STATE,
    clear_errors,
    connect,
    connect_to_read,
    create,
    has_own_log,
    identify,
)

LEAF = 13
"""The first byte of a page that contains events."""

UNREADABLE = (sqlite3.DatabaseError, BadRowError, UnicodeDecodeError)


def readable(address: FileAddress) -> Readable:
    """All that can be read of a file, on whatever pages it is."""
    path = Path(os.path.realpath(address.path))
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
            found = _search_pages(connection, copy)._replace(place=path)
    if "settings" not in found.meta:
        with clear_errors(path):  # which names the reason, if there is one
            connection, _ = connect_to_read(path)
            with closing(connection):
                identify(connection, path)
    return found.checked


def _renew_first_page(path: Path) -> None:
    """Write the first page, which is the same in all studies except for the number of pages."""
    blank = path.with_name("blank.db")
    create(blank, {}, [])
    pages = -(-path.stat().st_size // PAGE) or 1
    with path.open("r+b") as file, blank.open("rb") as fresh:
        first = fresh.read(PAGE)
        file.write(first[:28] + pages.to_bytes(4, "big") + bytes(8) + first[40:])
        file.truncate(pages * PAGE)


def _pairs_on(connection: sqlite3.Connection) -> tuple[dict[str, Any], set[str]]:
    """What can be read of the metadata, if they begin on this page, and the keys of what is not."""
    meta: dict[str, Any] = {}
    absent = set()
    for key in (*KEPT, STATE):
        with suppress(*UNREADABLE):
            row = connection.execute("SELECT * FROM meta WHERE key = ?", (key,)).fetchone()
            if row is None:
                absent.add(key)
            else:
                meta[key] = read_pair(row)
    return meta, absent


def _events_on(connection: sqlite3.Connection, most: int) -> dict[int, Event]:
    """What can be read of the events, if they begin on this page; numbers are below `most`."""
    events: dict[int, Event] = {}
    for number in _numbers(connection):
        with suppress(*UNREADABLE):
            row = connection.execute("SELECT * FROM events WHERE id = ?", (number,)).fetchone()
            if row is not None and 0 < number < most:
                events[number] = as_event(number, row)
    return events


def _search_pages(connection: sqlite3.Connection, path: Path) -> Readable:
    """Read each page by itself, so that a destroyed one does not hide those that it leads to."""
    roots = dict(connection.execute("SELECT name, rootpage FROM sqlite_master"))
    last = _highest(connection)
    pages = path.read_bytes()[::PAGE]
    meta: dict[str, Any] = {}
    events: dict[int, Event] = {}
    absent: set[str] = set()
    connection.execute("PRAGMA journal_mode = OFF").fetchone()
    connection.execute("PRAGMA writable_schema = ON")
    for page in (roots["meta"], roots["spare"], *range(2, len(pages) + 1)):
        connection.execute("UPDATE sqlite_master SET rootpage = ?", (page,))
        (version,) = connection.execute("PRAGMA schema_version").fetchone()
        connection.execute(f"PRAGMA schema_version = {version + 1}")  # reads the tables again
        found, nothing = _pairs_on(connection)
        meta |= {key: value for key, value in found.items() if key not in meta}
        if page in (roots["meta"], roots["spare"]):
            absent |= nothing
        if pages[page - 1] == LEAF:
            for number, event in _events_on(connection, len(pages) * PAGE).items():
                events.setdefault(number, event)
    lost = [f"the {key}" for key in KEPT if key not in meta and key not in absent]
    state = meta.pop(STATE, None)
    length = state[0] if isinstance(state, list) and state else last
    if not isinstance(length, int) or length > len(pages) * PAGE:
        length = None
    highest = max([length or 0, *events])
    if length is None:
        lost.append(f"an unknown number of events after event {highest}")
    missing = tuple(number for number in range(1, highest + 1) if number not in events)
    return Readable(path, meta, events, missing, tuple(lost))


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
