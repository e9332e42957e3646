"""The file under a study: settings and events in sqlite, written by one process at a time.

A side file, locked as long as the writer lives, keeps a second one out: the lock is the
operating system's, and goes with the process however that ends. Every event is one commit,
moved out of the write-ahead log before it is acknowledged, so that the main file alone
holds all that was.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from json import JSONDecodeError, dumps, loads
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import StudyError

FORMAT = 1
"""What this version writes; it reads every format up to it."""

APPLICATION = int.from_bytes(b"bams", "big")

SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,  -- ask, tell, or restart: a fresh search that begins with all told so far
    trial INTEGER,       -- NULL where a point is told that nobody asked for
    point TEXT,          -- JSON numbers, each the shortest that reads back as the same double
    value REAL,          -- NULL: the evaluation failed
    error TEXT,
    time REAL NOT NULL   -- seconds since 1970
);
"""


class Event(NamedTuple):
    """A line of the journal; the columns are told in the schema."""

    kind: str
    trial: int | None
    point: list[float] | None
    value: float | None
    error: str | None
    time: float


class Journal:
    """An open study file."""

    def __init__(self, path: Path, write: bool, new: Callable[[], dict[str, Any]]) -> None:
        """Open the file at `path`, or, to write, make one that begins with the meta of `new()`."""
        self.path = Path(os.path.realpath(path))
        self._lock: sqlite3.Connection | None = None
        self._file: sqlite3.Connection | None = None
        self.created = False
        try:
            if write:
                if os.path.lexists(self.path):  # beside a file that is not ours leave nothing
                    with self._clear_errors():
                        self._open(False)
                    self.close()
                self._lock = _lock(self.path)
                if not os.path.lexists(self.path):
                    _create(self.path, new())
                    self.created = True
            with self._clear_errors():
                self._open(write)
        except BaseException:
            self.close()
            raise

    def _open(self, write: bool) -> None:
        if not self.path.exists():
            raise StudyError(f"{self.path}: there is no such study")
        if not self.path.is_file():
            raise StudyError(f"{self.path}: is not a file; expected a study file")
        if self.path.stat().st_size == 0:
            raise StudyError(
                f"{self.path}: the file is empty, not a study; remove it to begin a new one"
            )
        reader = _connect_to_read(self.path)
        try:  # nothing of a file that is not ours, or not whole, is opened for writing
            self._identify(reader)
            self._check_whole(reader)
        except BaseException:
            reader.close()
            raise
        if not write:
            self._file = reader
            return
        self._file = _connect(self.path)
        reader.close()
        self._file.execute("PRAGMA journal_mode = WAL").fetchone()
        self._file.execute("PRAGMA synchronous = FULL")
        self._file.execute("PRAGMA wal_autocheckpoint = 1").fetchone()

    def _identify(self, connection: sqlite3.Connection) -> None:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application != APPLICATION:
            raise StudyError(f"{self.path}: is a database of another program, not a bamsoo study")
        if version > FORMAT:
            raise StudyError(
                f"{self.path}: was written by a newer bamsoo (format {version}; this one reads "
                f"up to {FORMAT}); update bamsoo to open it"
            )

    def _check_whole(self, connection: sqlite3.Connection) -> None:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        log = Path(f"{self.path}-wal")
        logged = log.exists() and log.stat().st_size > 0  # then the log may hold the rest
        if self.path.stat().st_size < pages * size and not logged:
            raise sqlite3.DatabaseError("its end is missing")
        (health,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if health != "ok":
            raise sqlite3.DatabaseError(" ".join(str(health).split()))

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        """What sqlite or JSON says, as one sentence about this file."""
        try:
            yield
        except (sqlite3.OperationalError, sqlite3.ProgrammingError) as error:
            raise StudyError(f"{self.path}: cannot be used: {error}") from error
        except (sqlite3.DatabaseError, JSONDecodeError) as error:
            what = "is no study file" if "not a database" in str(error) else "is damaged"
            raise StudyError(
                f"{self.path}: {what} ({error}); it was left as it is, restore a copy or begin "
                "another"
            ) from error

    @property
    def _connection(self) -> sqlite3.Connection:
        if self._file is None:
            raise StudyError(f"{self.path}: the study is closed; open it again")
        return self._file

    def meta(self) -> dict[str, Any]:
        """Everything that is stored beside the events."""
        with self._clear_errors():
            rows = self._connection.execute("SELECT key, value FROM meta").fetchall()
            return {key: loads(value) for key, value in rows}

    def set_meta(self, key: str, value: Any) -> None:
        """Store something beside the events."""
        with self._clear_errors():
            self._connection.execute(
                "INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, dumps(value))
            )

    def events(self) -> list[Event]:
        """All events in order."""
        query = "SELECT id, kind, trial, point, value, error, time FROM events ORDER BY id"
        events = []
        with self._clear_errors():
            for number, (i, kind, trial, point, *rest) in enumerate(
                self._connection.execute(query), start=1
            ):
                if i != number:
                    raise sqlite3.DatabaseError(f"event {number} is missing")
                events.append(Event(kind, trial, None if point is None else loads(point), *rest))
        return events

    def append(self, event: Event) -> None:
        """Write an event; when this returns it is on the disk."""
        point = None if event.point is None else dumps(event.point)
        with self._clear_errors():
            self._connection.execute(
                "INSERT INTO events (kind, trial, point, value, error, time) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (event.kind, event.trial, point, event.value, event.error, event.time),
            )

    def close(self) -> None:
        """Close the file, and let another process write."""
        for connection in (self._file, self._lock):
            if connection is not None:
                connection.close()
        self._file = self._lock = None


def _connect(path: Path | str, timeout: float = 30.0, uri: bool = False) -> sqlite3.Connection:
    """A connection in which each statement is a transaction; threads are the caller's care."""
    return sqlite3.connect(
        path, timeout=timeout, isolation_level=None, check_same_thread=False, uri=uri
    )


def _lock(path: Path) -> sqlite3.Connection:
    try:
        lock = _connect(f"{path}-lock", timeout=0.0)
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except BaseException:
            lock.close()
            raise
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
            raise StudyError(
                f"{path}: another process is writing this study; wait until it ends, or end it"
            ) from None
        raise StudyError(f"{path}: the study cannot be written here: {error}") from error
    return lock


def _connect_to_read(path: Path) -> sqlite3.Connection:
    address = f"{path.as_uri()}?mode=ro"
    connection = _connect(address, uri=True)
    try:
        connection.execute("PRAGMA schema_version").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        if Path(f"{path}-wal").exists():
            raise
        # A place that cannot be written to has no room for sqlite's shared memory.
        connection = _connect(f"{address}&immutable=1", uri=True)
    except BaseException:
        connection.close()
        raise
    return connection


def _create(path: Path, meta: dict[str, Any]) -> None:
    """Make the whole file elsewhere, then give it its name: there is never half a study."""
    new = Path(f"{path}-new")
    try:
        new.unlink(missing_ok=True)
        connection = _connect(new)
        try:
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {FORMAT}")
            connection.executescript(f"BEGIN; {SCHEMA}")
            rows = [(key, dumps(value)) for key, value in meta.items()]
            connection.executemany("INSERT INTO meta VALUES (?, ?)", rows)
            connection.execute("COMMIT")
        finally:
            connection.close()
        new.replace(path)
    except (OSError, sqlite3.Error) as error:
        raise StudyError(f"{path}: the study cannot be made: {error}") from error
    with suppress(OSError, AttributeError):  # so that the name too survives a power cut
        directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
