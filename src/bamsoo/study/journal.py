"""The file of a study: settings and events in sqlite, written by one process at a time.

Every event is one commit, moved out of the write-ahead log before it is acknowledged, so that the
main file alone holds everything. Events are numbered, and each write first checks that the file
still exists and still ends with the event that this process wrote last. If a second writer gets
past the lock, the one that writes later gets an error, and the file stays intact.
"""

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from itertools import count
from json import dumps, loads
from pathlib import Path
from typing import Any

from ..checks import brief
from ..errors import StudyError
from .lock import WriterLock
from .rows import (
    COLUMNS,
    BadRowError,
    Event,
    Row,
    as_event,
    as_row,
    checksum,
)

FORMAT = 3
"""The format that this version writes; it reads all formats up to this one."""

APPLICATION = int.from_bytes(b"bams", "big")

SCHEMAS = {
    1: """
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
""",
    2: """
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    checksum TEXT NOT NULL  -- of key and value
) WITHOUT ROWID;
CREATE TABLE events (
    id INTEGER PRIMARY KEY,  -- 1, 2, 3, and so on, without a gap
    kind TEXT NOT NULL,      -- ask, tell, or restart: a fresh search that knows all told so far
    trial INTEGER,           -- NULL where a point is told that nobody asked for
    point TEXT,              -- JSON numbers, each the shortest that reads back as the same double
    value REAL,              -- NULL: the evaluation failed
    error TEXT,
    time REAL NOT NULL,      -- seconds since 1970
    checksum TEXT NOT NULL   -- of all the fields before it (and keeps out writers of format 1)
);
""",
    3: """
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    checksum TEXT NOT NULL  -- of key and value
) WITHOUT ROWID;
CREATE TABLE events (
    id INTEGER PRIMARY KEY,  -- 1, 2, 3, and so on, without a gap
    kind TEXT NOT NULL,      -- ask, tell, or restart: a fresh search that knows all told so far
    trial INTEGER,           -- NULL where a point is told that nobody asked for
    point TEXT,              -- JSON numbers, each the shortest that reads back as the same double
    value REAL,              -- NULL: the evaluation failed
    error TEXT,
    time REAL NOT NULL,      -- seconds since 1970
    checksum TEXT NOT NULL,  -- of the fields before it, and of the next unless that is NULL
    measured TEXT            -- JSON numbers, one for each measured constraint
);
""",
}
"""The exact schema of each format; a file with any other schema is refused. Do not edit these
texts, not even their comments: sqlite stores them in the file, and they are compared letter by
letter."""

APPEND = """
INSERT INTO events SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9
WHERE (SELECT max(id) FROM events) IS ?10
AND (SELECT checksum FROM events WHERE id = ?10) IS ?11
"""
"""Append an event if the last one in the file is the last one that this process knows."""

LONGEST_CELL = 1 << 26
"""Largest number of bytes of a text in the file. Longer ones cannot be settings or messages, and
are refused before they are read into memory."""

DEEPEST = 200
"""How deeply settings and notes may be nested. A condition inside a condition takes three levels,
and functions that call themselves for each level stay far below Python's limit."""

_left_to_parent: list[object] = []
"""Connections in a forked child, kept alive here because only the parent may close them."""


class GoneError(StudyError):
    """The file of an open study was removed, replaced or truncated."""


class Journal:
    """An open study file."""

    def __init__(self, path: Path, write: bool, new: Callable[[], dict[str, Any]]) -> None:
        """Open the file at `path`; to write, create it if need be, with the metadata of `new()`."""
        self.path = Path(os.path.realpath(path))
        self._log = Path(f"{self.path}-wal")
        self._process = os.getpid()
        self._lock: WriterLock | None = None
        self._file: sqlite3.Connection | None = None
        self._format = FORMAT
        self._count, self._last = 0, ""  # number of events, and the checksum of the last one
        self._seen: dict[Path, tuple[int, int, int]] = {}  # device, inode and size of each file
        try:
            if write:
                if os.path.lexists(self.path):  # checked first: no lock file next to other files
                    with self._clear_errors():
                        self._open(False)
                    self._close_file()
                self._lock = WriterLock(self.path)
                if not os.path.lexists(self.path):
                    create(self.path, new(), [])
            with self._clear_errors():
                self._open(write)
        except BaseException:
            self.close()
            raise

    # --- opening

    def _open(self, write: bool) -> None:
        if not self.path.exists():
            raise StudyError(f"{self.path}: there is no such study; check the path")
        if not self.path.is_file():
            raise StudyError(f"{self.path}: is not a file; give the path of a study file")
        if self.path.stat().st_size == 0:
            raise StudyError(
                f"{self.path}: the file is empty and not a study; remove it to begin a new one"
            )
        reader = connect_to_read(self.path)
        try:  # a file that is not a study, or is damaged, is never opened for writing
            self._format = identify(reader, self.path)
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
        self._look()

    def _check_whole(self, connection: sqlite3.Connection) -> None:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        logged = self._log.exists() and self._log.stat().st_size > 0  # may contain the rest
        if self.path.stat().st_size < pages * size and not logged:
            raise sqlite3.DatabaseError("its end is missing")
        (health,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if health != "ok":
            raise sqlite3.DatabaseError(" ".join(str(health).split()))

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        """Turn an error of sqlite, or an invalid row, into one sentence about this file."""
        with clear_errors(self.path):
            yield

    @property
    def _connection(self) -> sqlite3.Connection:
        if self._file is None:
            raise StudyError(f"{self.path}: the study is closed; open it again")
        return self._file

    # --- reading

    def meta(self) -> dict[str, Any]:
        """Everything that is stored in addition to the events."""
        with self._clear_errors():
            rows = self._connection.execute("SELECT * FROM meta")
            return {row[0]: read_pair(row) for row in rows}

    def events(self) -> list[Event]:
        """All events in order."""
        events: list[Event] = []
        last = ""
        with self._clear_errors():
            for row in self._connection.execute(all_events(self._format)):
                events.append(as_event(len(events) + 1, row))
                last = row[len(COLUMNS)] if self._format > 1 else ""
        self._count, self._last = len(events), last
        return events

    # --- writing

    def set_meta(self, key: str, value: Any) -> None:
        """Store something in addition to the events."""
        row = (key, dumps(value))
        with self._writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO meta VALUES (?, ?, ?)", (*row, checksum(row))
            )

    def append(self, event: Event) -> None:
        """Write an event; when this method returns, the event is on disk."""
        row = as_row(self._count + 1, event)
        with self._writing() as connection:
            last = (self._count, self._last) if self._count else (None, None)
            written = connection.execute(APPEND, (*row, *last)).rowcount
        if written != 1:
            raise self._overtaken()
        self._count, self._last = row[0], row[len(COLUMNS)]

    def _overtaken(self) -> StudyError:
        return StudyError(
            f"{self.path}: somebody else has written to this study since it was opened here, so "
            f"this process stops at event {self._count}; the file contains everything up to then; "
            "open it again to continue"
        )

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """The connection for one statement that writes, after checking that the files are ours."""
        self.check_process()
        self._check_there()
        with self._clear_errors():
            if self._format < FORMAT:
                self._upgrade(self._connection)
            yield self._connection
        self._look()

    @property
    def forked(self) -> bool:
        """Whether this is a child of the process that opened the file."""
        return os.getpid() != self._process

    def check_process(self) -> None:
        """Raise an error in a forked child, because only its parent may write."""
        if self.forked:
            raise StudyError(
                f"{self.path}: the study was opened by process {self._process} and cannot be used "
                f"in process {os.getpid()}, which was forked from it; use it in the first one"
            )

    def _check_there(self) -> None:
        for path, (device, number, size) in self._seen.items():
            try:
                found = path.stat()
            except FileNotFoundError:
                raise GoneError(f"{path}: was removed while the study was open") from None
            if (found.st_dev, found.st_ino) != (device, number):
                raise GoneError(f"{path}: was replaced by another file while the study was open")
            if found.st_size < size:
                raise GoneError(f"{path}: was truncated while the study was open")

    def _look(self) -> None:
        """Remember which files these are. The log exists from the first write on."""
        for path in (self.path, self._log):
            with suppress(FileNotFoundError):
                found = path.stat()
                size = found.st_size if path is self.path else 0  # sqlite restarts a log at size 0
                self._seen[path] = found.st_dev, found.st_ino, size

    def _upgrade(self, connection: sqlite3.Connection) -> None:
        """Convert an older file to this format when it is first written to, all or nothing."""
        try:
            connection.execute("BEGIN IMMEDIATE")
            version = identify(connection, self.path)
            if version < FORMAT:
                (found,) = connection.execute("SELECT count(*) FROM events").fetchone()
                if found != self._count:  # another process wrote to it in the older format
                    raise self._overtaken()
                upgrade(connection, version)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.rollback()
            raise
        query = "SELECT checksum FROM events WHERE id = ?"
        (self._last,) = connection.execute(query, (self._count,)).fetchone() or ("",)
        self._format = FORMAT

    # --- the whole file

    def backup(self, to: Path) -> None:
        """Copy the file in its present state, even while it is being written."""
        if os.path.lexists(to):
            raise StudyError(f"{to}: exists already; choose another name for the copy")
        self.check_process()
        with self._clear_errors():
            copy(self._connection, to)

    def close(self) -> None:
        """Close the file, and let another process write."""
        self._close_file()
        if self._lock is not None:
            self._lock.release()
        self._lock = None

    def _close_file(self) -> None:
        if self._file is not None and self.forked:
            _left_to_parent.append(self._file)
        elif self._file is not None:
            self._file.close()
        self._file = None


# --- functions that need no open journal


@contextmanager
def clear_errors(path: Path) -> Iterator[None]:
    """Turn an error of sqlite, or an invalid row, into one sentence about the file at `path`."""
    try:
        yield
    except (sqlite3.OperationalError, sqlite3.ProgrammingError) as error:
        text = " ".join(str(error).split())
        if "decode to UTF-8" in text:
            raise damaged(path, "a text in it is not UTF-8") from error
        raise StudyError(f"{path}: cannot be used: {text}") from error
    except sqlite3.DatabaseError as error:
        text = " ".join(str(error).split())
        if "not a database" in text:
            raise StudyError(
                f"{path}: is not a study file ({text}); it was not changed, give another path"
            ) from error
        raise damaged(path, text) from error
    except BadRowError as error:
        raise damaged(path, str(error)) from error
    except UnicodeDecodeError as error:  # raised for sqlite's message about a damaged schema
        raise damaged(path, "a text in it is not UTF-8") from error


def damaged(path: Path, what: str) -> StudyError:
    """The error for a damaged file, with what can be done about it."""
    return StudyError(
        f"{path}: is damaged ({what}); it was not changed: restore a copy, or try `bamsoo repair`"
    )


def identify(connection: sqlite3.Connection, path: Path) -> int:
    """The format of a study; raises an error if the file is not a study, or has other tables."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise StudyError(
            f"{path}: is a database of another program and not a bamsoo study; give another path"
        )
    if version > FORMAT:
        raise StudyError(
            f"{path}: was written by a newer bamsoo (format {version}; this one reads "
            f"up to {FORMAT}); update bamsoo to open it"
        )
    # A view, a trigger or a computed column would run its code for whoever uses the file.
    found = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
    for kind, name, sql in found:
        if (kind, name, sql) not in _known_objects():
            raise StudyError(
                f"{path}: contains the {brief(kind)} {brief(name)}, which is not part of a study; "
                "it was not changed, give another path"
            )
    missing = {"meta", "events"} - {name for _, name, _ in found}
    if missing:
        raise sqlite3.DatabaseError(f"no such table: {min(missing)}")
    if not all(version in _known_objects()[each] for each in found):
        raise sqlite3.DatabaseError(f"its tables are not those of format {version}")
    return int(version)


@cache
def _known_objects() -> dict[tuple[str, str, str], set[int]]:
    """Everything that may be in the schema of a study file, with the formats that have it."""
    known: dict[tuple[str, str, str], set[int]] = {}
    for version, schema in SCHEMAS.items():
        connection = sqlite3.connect(":memory:")
        connection.executescript(schema)
        for each in connection.execute("SELECT type, name, sql FROM sqlite_master"):
            known.setdefault(each, set()).add(version)
        connection.close()
    return known


def all_events(version: int) -> str:
    """The query for the rows of all events, in order."""
    return f"SELECT {', '.join(columns(version))} FROM events ORDER BY id"


def columns(version: int) -> tuple[str, ...]:
    """The columns of an event in this format."""
    return (*COLUMNS, "checksum", "measured")[: len(COLUMNS) + version - 1]


def read_pair(row: Row) -> Any:
    """The value in a row of the table meta."""
    key, value, *rest = row
    if rest and rest[0] != checksum((key, value)):
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


def upgrade(connection: sqlite3.Connection, version: int) -> None:
    """Convert an older format inside a transaction: make new tables and copy the rows."""
    rows = connection.execute(all_events(version)).fetchall()
    pairs = connection.execute("SELECT key, value FROM meta").fetchall()
    for statement in (
        "DROP TABLE events",
        "DROP TABLE meta",
        *SCHEMAS[FORMAT].strip().removesuffix(";").split(";"),
        f"PRAGMA user_version = {FORMAT}",
    ):
        connection.execute(statement)
    fields = [row[: len(COLUMNS)] for row in rows]
    insert(connection, pairs, [(*row, checksum(row), None) for row in fields])


def insert(connection: sqlite3.Connection, pairs: Iterable[Row], rows: Iterable[Row]) -> None:
    """Fill the tables."""
    connection.executemany(
        "INSERT INTO meta VALUES (?, ?, ?)", [(*pair, checksum(pair)) for pair in pairs]
    )
    connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


def create(path: Path, meta: dict[str, Any], events: Iterable[Event]) -> None:
    """Create a study under another name, then rename it, so that there is never half a study."""
    pairs = [(key, dumps(value)) for key, value in meta.items()]
    with _new_file(path) as connection:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")
        connection.executescript(f"BEGIN; {SCHEMAS[FORMAT]}")
        insert(connection, pairs, [as_row(i, event) for i, event in enumerate(events, start=1)])
        connection.execute("COMMIT")


def free_name(path: Path, what: str) -> Path:
    """An unused name in the directory of `path`."""
    names = (f"{path}-{what}{'' if i == 1 else f'-{i}'}" for i in count(1))
    return next(Path(name) for name in names if not os.path.lexists(name))


def copy(source: sqlite3.Connection, to: Path) -> None:
    """Copy a database in its present state; another process may be writing to it."""
    with _new_file(to) as connection:
        source.backup(connection)
        connection.execute("PRAGMA journal_mode = DELETE").fetchone()  # one file, without a log
        (health,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if health != "ok":
            raise sqlite3.DatabaseError(" ".join(str(health).split()))


@contextmanager
def _new_file(path: Path) -> Iterator[sqlite3.Connection]:
    new = Path(f"{path}-new")
    try:
        new.unlink(missing_ok=True)
        connection = _connect(new)
        try:
            yield connection
        finally:
            connection.close()
        new.replace(path)
    except (OSError, sqlite3.Error) as error:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        raise StudyError(f"{path}: the study cannot be created: {error}") from error
    with suppress(OSError, AttributeError):  # so that the new name survives a power failure too
        directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def _connect(path: Path | str, timeout: float = 30.0, uri: bool = False) -> sqlite3.Connection:
    """A connection in which each statement is a transaction; the caller synchronises threads."""
    connection = sqlite3.connect(
        path, timeout=timeout, isolation_level=None, check_same_thread=False, uri=uri
    )
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_CELL)
    return connection


def connect_to_read(path: Path) -> sqlite3.Connection:
    """A read-only connection; it works while another process writes, and on read-only media."""
    address = f"{path.as_uri()}?mode=ro"
    connection = _connect(address, uri=True)
    try:
        connection.execute("PRAGMA schema_version").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        if Path(f"{path}-wal").exists():
            raise
        # A directory that cannot be written to has no room for sqlite's shared-memory file.
        connection = _connect(f"{address}&immutable=1", uri=True)
    except BaseException:
        connection.close()
        raise
    return connection
