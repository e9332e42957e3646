"""The file of a study: settings and events in sqlite, written by one process at a time in turn.

Every event is one commit, moved out of the write-ahead log before it is acknowledged, so that the
main file alone holds everything, unless another program keeps an old state open for reading. Events
are numbered, and each write first checks that the file still exists and still ends with the event
that this process has read or written last. If a second writer gets past the lock, the one that
writes later gets an error, and the file stays intact.

A process that is killed leaves its log behind, and sqlite would apply that log to any file that
gets the name later. So each process that writes stores a new token in the main file before its
first event, and each commit of any process repeats the latest token: a log whose token differs from
that of the main file belongs to another file, and is not used.
"""

import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from functools import cache
from itertools import count
from json import dumps
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeAlias

from ..base.checks import brief
from ..base.guard import OvertakenError
from ..errors import StudyError
from ..record.events import Event
from .journal import (
    FORMAT,
    GoneError,
    Journal,
    Metadata,
    check_format,
    damaged,
    left_to_parent,
    log,
)
from .lock import FileLock, Leases, warn_if_shared
from .rows import BadRowError, Row, as_event, as_row, checksum, read_pair

APPLICATION = int.from_bytes(b"bams", "big")

PAGE = 4096
"""Bytes per page. It is set explicitly, because `repair` has to know it if the header is lost."""

SCHEMA = """
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    checksum TEXT NOT NULL  -- of key and value
) WITHOUT ROWID;
CREATE TABLE events (
    id INTEGER PRIMARY KEY,  -- 1, 2, 3, and so on, without a gap
    kind TEXT NOT NULL,      -- ask, enqueue, expect, tell, end or restart; see docs/study.md
    trial INTEGER,           -- NULL unless the event concerns a trial
    body TEXT NOT NULL,      -- JSON: point, values, error, measured, variance, where they exist
    time REAL NOT NULL,      -- seconds since 1970
    checksum TEXT NOT NULL   -- of the fields before it
);
CREATE TABLE spare (         -- the same as meta on other pages, and the state: [events, token]
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    checksum TEXT NOT NULL
) WITHOUT ROWID;
"""
"""A file with any other schema is refused. Do not edit this text, not even its comments: sqlite
stores it in the file, and it is compared letter by letter."""

STATE = "state"
"""Key of the number of events and the token of the process that wrote last. Both are in one row,
and so on one page, which is in the log of every commit."""

PATIENCE = 2.0
"""Seconds to wait for readers before a log is left as it is. The package's own readers need less
than one even for ten thousand trials; a longer time would delay the end of every run next to
another program that keeps the file open."""

APPEND = """
INSERT INTO events SELECT ?, ?, ?, ?, ?, ?
WHERE (SELECT max(id) FROM events) IS ?
AND (SELECT checksum FROM events WHERE id = ?) IS ?
"""
"""Append an event if the last one in the file is the last one that this process knows."""

TIMEOUT = 30.0
"""Seconds after which a statement that waits for another program fails."""

LONGEST_CELL = 1 << 26
"""Largest number of bytes of a text in the file. Longer ones cannot be settings or messages, and
are refused before they are read into memory."""

Signature: TypeAlias = list[tuple[int, int, int] | None]
"""Inode, size and time of the study file and of sqlite's log."""


class SqliteJournal(Journal):
    """An open study file."""

    def __init__(self, path: Path, write: bool, new: Metadata) -> None:
        """Open the file at `path`; to write, create it if need be, with the metadata of `new()`."""
        super().__init__()
        self.path = Path(os.path.realpath(path))
        self._log = Path(f"{self.path}-wal")
        self._turns = FileLock(Path(f"{self.path}-lock"))
        self._leases: Leases | None = None
        self._file: sqlite3.Connection | None = None
        self._token = ""  # of the commits
        self._bound = False  # whether this process has renewed it in the main file
        self._version = -1  # changes when another connection has written
        self._seen: dict[Path, tuple[int, int, int]] = {}  # device, inode and size of each file
        try:
            if write:
                if os.path.lexists(self.path):  # checked first: no lock file next to other files
                    with self._clear_errors():
                        self._open(False)
                    self._close_file()
                with self.turn(), self._clear_errors():
                    self._leases = Leases(self.path, self._turns)
                    alone = self._leases.arrive()
                    if not os.path.lexists(self.path):
                        create(self.path, new(), [])
                    self._open(True, alone)
                warn_if_shared(self.path)
            else:
                with self._clear_errors():
                    self._open(False)
        except BaseException:
            self.close()
            raise

    @property
    def place(self) -> Path:
        return self.path

    # --- opening

    def _open(self, write: bool, alone: bool = False) -> None:
        if not self.path.exists():
            raise StudyError(f"{self.path}: there is no such study; check the path")
        if not self.path.is_file():
            raise StudyError(f"{self.path}: is not a file; give the path of a study file")
        if self.path.stat().st_size == 0:
            raise StudyError(
                f"{self.path}: the file is empty and not a study; remove it to begin a new one"
            )
        reader, logged = connect_to_read(self.path)
        try:  # a file that is not a study, or is damaged, is never opened for writing
            identify(reader, self.path)
            (pages,) = reader.execute("PRAGMA page_count").fetchone()
            if self.path.stat().st_size < pages * PAGE and not logged:  # a log contains the rest
                raise sqlite3.DatabaseError("its end is missing")
            check_health(reader)
        except BaseException:
            reader.close()
            raise
        if not write:
            self._file = reader
            return
        reader.close()
        if alone and not logged and _size(self._log):  # nobody else has this log open
            remove_side_files(self.path)
        self._file = connect(self.path)
        self._file.execute("PRAGMA journal_mode = WAL").fetchone()
        self._file.execute("PRAGMA synchronous = FULL")
        self._file.execute("PRAGMA wal_autocheckpoint = 1").fetchone()
        self._look()

    def _clear_errors(self) -> AbstractContextManager[None]:
        """Turn an error of sqlite, or an invalid row, into one sentence about this file."""
        return clear_errors(self.path)

    @property
    def _connection(self) -> sqlite3.Connection:
        if self._file is None:
            raise StudyError(f"{self.path}: the study is closed; open it again")
        if self._file.in_transaction:  # a write was interrupted
            self._file.rollback()
        return self._file

    # --- reading

    def meta(self) -> dict[str, Any]:
        with self._clear_errors():
            for row in self._connection.execute("SELECT * FROM spare"):
                read_pair(row)  # raises an error if it has changed
            self._least, _ = read_state(self._connection)
            rows = self._connection.execute("SELECT * FROM meta")
            return {row[0]: read_pair(row) for row in rows}

    def events(self, after: int = 0) -> list[Event]:
        with self._clear_errors():
            (version,) = self._connection.execute("PRAGMA data_version").fetchone()
            if version == self._version and after == self._count:
                return []
            last = self._last if after == self._count else self._checksum(after)
            query = "SELECT * FROM events WHERE id > ? ORDER BY id"
            events = self._read(after, self._connection.execute(query, (after,)), last)
            if self._bound:
                _, self._token = read_state(self._connection)
        self._version = version
        return events

    def _checksum(self, number: int) -> str:
        query = "SELECT checksum FROM events WHERE id = ?"
        row = self._connection.execute(query, (number,)).fetchone()
        return "" if row is None else row[0]

    # --- writing

    def set_meta(self, key: str, value: Any) -> None:
        with self._writing() as connection:
            put(connection, key, value)

    @contextmanager
    def turn(self) -> Iterator[None]:
        self.check_process()
        try:
            try:
                self._turns.acquire()
            except (OSError, sqlite3.Error) as error:
                raise StudyError(
                    f"{self.path}: the study cannot be written here: {error}"
                ) from error
            yield
        finally:
            self._turns.release()

    def taken(self) -> set[int]:
        with self._clear_errors():
            return set() if self._leases is None else self._leases.taken()

    def hold(self, trials: Collection[int]) -> None:
        with self._clear_errors():
            if self._leases is not None:
                self._leases.hold(trials)

    def append(self, *events: Event) -> None:
        """Write events; when this method returns, they are on disk."""
        rows = [as_row(number, event) for number, event in enumerate(events, self._count + 1)]
        # an interrupt from here on may leave events that are in the file and not counted
        version, self._version = self._version, -1
        with self._writing() as connection:
            last = (self._count, self._last) if self._count else (None, None)
            for row in rows:
                if connection.execute(APPEND, (*row, last[0], *last)).rowcount != 1:
                    raise OvertakenError
                last = (row[0], row[-1])
        self._count, self._last = rows[-1][0], rows[-1][-1]
        self._version = version

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction, after checking that the files are ours."""
        self.check_process()
        self._check_there()
        with self._clear_errors():
            if not self._bound:
                self._bind()
            connection = self._connection
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                put_state(connection, self._token)
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.rollback()
        self._look()

    def _bind(self) -> None:
        """Store a new token in the main file, so that the log can be told from any other.

        The main file has to contain everything else before, and the token before any event;
        otherwise a log with acknowledged events could be taken for that of another file. Where a
        reader prevents this, the token stays as it was.
        """
        connection, new = self._connection, token_hex(8)
        _, self._token = read_state(connection)
        if self._empty_log():
            put_state(connection, new)
            if self._empty_log():
                self._token = new
            else:
                put_state(connection, self._token)
        self._bound = True

    def _empty_log(self) -> bool:
        """Move everything in the log to the main file; False if a reader prevents it."""
        connection = self._connection
        connection.execute(f"PRAGMA busy_timeout = {PATIENCE * 1000:.0f}")
        try:
            busy, logged, moved = connection.execute("PRAGMA wal_checkpoint(FULL)").fetchone()
            return not busy and bool(logged == moved)
        finally:
            connection.execute(f"PRAGMA busy_timeout = {TIMEOUT * 1000:.0f}")

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

    # --- the whole file

    def contents(self) -> tuple[dict[str, Any], list[Event]]:
        self.check_process()
        meta = self.meta()
        with self._clear_errors():
            rows = self._connection.execute("SELECT * FROM events ORDER BY id").fetchall()
            return meta, [as_event(number, row) for number, row in enumerate(rows, 1)]

    @property
    def file(self) -> Path:
        return self.path

    def close(self) -> None:
        """Close the file, and leave the trials that are not finished to other processes.

        The last process to leave also removes the files next to the study.
        """
        if self.forked or self._leases is None:
            self._close_file(alone=True)
            return
        leases, self._leases = self._leases, None
        try:
            with self.turn():
                last = leases.leave()
                self._close_file(last)
                if last:
                    self._turns.remove()
        except (OSError, StudyError):  # the directory is gone, for example
            self._close_file(alone=True)
        self._turns.close()

    def _close_file(self, alone: bool = True) -> None:
        if self._file is not None and self.forked:
            left_to_parent.append(self._file)
        elif self._file is not None:
            if self._bound and alone:
                self._finish()
            self._file.close()
        self._file = None

    def _finish(self) -> None:
        with suppress(sqlite3.Error):  # the log then keeps what could not be moved
            if not self._empty_log():
                log.warning(
                    "%s: another program is reading this study, so its last events are still in "
                    "%s; keep the two files together, or make a copy with `bamsoo backup`",
                    self.path,
                    self._log.name,
                )


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
    except OSError as error:
        raise StudyError(f"{path}: cannot be used: {error}") from error
    except UnicodeDecodeError as error:  # raised for sqlite's message about a damaged schema
        raise damaged(path, "a text in it is not UTF-8") from error


def check_health(connection: sqlite3.Connection) -> None:
    """Raise an error if sqlite finds the structure of a file to be damaged."""
    (health,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if health != "ok":
        raise sqlite3.DatabaseError(" ".join(str(health).split()))


def identify(connection: sqlite3.Connection, path: Path) -> None:
    """Raise an error if the file is not a study of this format, or has other tables."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'trial_params'").fetchone():
            raise StudyError(
                f"{path}: is a study of Optuna, which only Optuna can continue; begin a study that "
                f"knows it with known={str(path)!r}, or with --import {path.name}"
            )
        raise StudyError(
            f"{path}: is a database of another program and not a bamsoo study; give another path"
        )
    check_format(path, version)
    # A view, a trigger or a computed column would run its code for whoever uses the file.
    found = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
    for kind, name, sql in found:
        if (kind, name, sql) not in _known_objects():
            raise StudyError(
                f"{path}: contains the {brief(kind)} {brief(name)}, which is not part of a study; "
                "it was not changed, give another path"
            )
    missing = _known_objects() - set(found)
    if missing:
        raise sqlite3.DatabaseError(f"no such table: {min(missing)[1]}")


@cache
def _known_objects() -> frozenset[Row]:
    """The schema of a study file, as sqlite stores it."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(SCHEMA)
        return frozenset(connection.execute("SELECT type, name, sql FROM sqlite_master"))


def put_state(connection: sqlite3.Connection, token: str) -> None:
    """Store the number of events, and the token of the process that writes."""
    (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM events").fetchone()
    put(connection, STATE, [last, token], ("spare",))


def read_state(connection: sqlite3.Connection) -> tuple[int, str]:
    """The number of events, and the token of the process that wrote last."""
    row = connection.execute("SELECT * FROM spare WHERE key = ?", (STATE,)).fetchone()
    state = None if row is None else read_pair(row)
    if not isinstance(state, list) or [type(each) for each in state] != [int, str]:
        raise BadRowError(f"its state is {brief(state)}")
    return state[0], state[1]


def put(
    connection: sqlite3.Connection, key: str, value: Any, tables: Iterable[str] = ("meta", "spare")
) -> None:
    """Store something in addition to the events."""
    row = (key, dumps(value))
    for table in tables:
        connection.execute(
            f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?)", (*row, checksum(row))
        )


def create(path: Path, meta: dict[str, Any], events: Iterable[Event]) -> None:
    """Create a study under another name, then rename it, so that there is never half a study."""
    rows = [as_row(number, event) for number, event in enumerate(events, start=1)]
    try:
        dumps(meta)
    except ValueError as error:  # Python refuses to write whole numbers with very many digits
        raise StudyError(
            f"{path}: a seed or an option has too many digits to be stored; give a shorter one"
        ) from error
    with _new_file(path) as connection:
        connection.execute(f"PRAGMA page_size = {PAGE}")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")
        connection.executescript(f"BEGIN; {SCHEMA}")
        for key, value in meta.items():
            put(connection, key, value)
        connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", rows)
        put_state(connection, token_hex(8))
        connection.execute("COMMIT")


@contextmanager
def reserved(path: Path) -> Iterator[None]:
    """Keep other processes from writing a new file under this name at the same time."""
    lock = FileLock(Path(f"{os.path.realpath(path)}-lock"))
    try:
        if not lock.acquire(wait=False):
            raise StudyError(f"{path}: another process is writing this file; choose another name")
    except OSError as error:
        raise StudyError(f"{path}: cannot be written here: {error}") from error
    try:
        if os.path.lexists(path):
            raise StudyError(f"{path}: exists already; choose another name")
        yield
    finally:
        lock.remove()


def free_name(path: Path, what: str) -> Path:
    """An unused name in the directory of `path`."""
    names = (f"{path}-{what}{'' if i == 1 else f'-{i}'}" for i in count(1))
    return next(Path(name) for name in names if not os.path.lexists(name))


@contextmanager
def _new_file(path: Path) -> Iterator[sqlite3.Connection]:
    new = Path(f"{path}-new")
    try:
        new.unlink(missing_ok=True)
        connection = connect(new)
        try:
            yield connection
        finally:
            connection.close()
        remove_side_files(path)  # left by a file that had this name before
        new.replace(path)
    except (OSError, sqlite3.Error) as error:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        raise StudyError(f"{path}: the study cannot be created: {error}") from error
    _sync_directory(path)


def remove_side_files(path: Path) -> None:
    """Remove what sqlite left next to a file that had this name before."""
    left = [Path(f"{path}-{kind}") for kind in ("wal", "shm", "journal")]
    for each in left:
        each.unlink(missing_ok=True)
    _sync_directory(path)


def _sync_directory(path: Path) -> None:
    """Make changes of names next to `path` survive a power failure."""
    with suppress(OSError, AttributeError):
        directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def connect(path: Path | str, uri: bool = False) -> sqlite3.Connection:
    """A connection in which each statement is a transaction; the caller synchronises threads."""
    connection = sqlite3.connect(
        path, timeout=TIMEOUT, isolation_level=None, check_same_thread=False, uri=uri
    )
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_CELL)
    return connection


def connect_to_read(path: Path) -> tuple[sqlite3.Connection, bool]:
    """A connection for reading, and whether it reads a log in addition to the file.

    It works while another process writes, and on read-only media. Without a log, the file is copied
    to memory: a connection to the file itself would leave files of sqlite behind, and would apply
    the log of another file.
    """
    while True:
        before = signature(path)
        if has_own_log(path):
            return connect(f"{path.as_uri()}?mode=ro", uri=True), True
        memory = connect(":memory:")
        try:
            with closing(_alone(path)) as file:
                file.backup(memory)
        except BaseException:
            memory.close()
            raise
        if signature(path) == before:
            return memory, False
        memory.close()  # somebody has written to the file meanwhile


def has_own_log(path: Path) -> bool:
    """Whether there is a log that continues the file at `path`, or may be needed to complete it."""
    if not _size(Path(f"{path}-wal")):
        return False
    with (
        closing(_alone(path)) as file,
        closing(connect(f"{path.as_uri()}?mode=ro", uri=True)) as both,
    ):
        ours, theirs = (_unless_damaged(read_state, each) for each in (file, both))
        if ours is not None and theirs is not None and ours[1] != theirs[1]:
            return False
        last = _unless_damaged(_last_event, file)
        if last is None:  # the file may have been cut off while the log was being moved to it
            return True
        if _unless_damaged(_last_event, both, last[0]) != last:
            return False
        # Next to an older copy, the log of the same process lacks what was moved to the file since.
        found = _unless_damaged(_last_event, both)
        return found is None or theirs is None or bool(found[0] >= theirs[0])


def _unless_damaged(read: Callable[..., Any], *args: Any) -> Any:
    """What `read` returns; None if what it reads is damaged, or is not there."""
    try:
        return read(*args)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:  # which means that a table is missing
            raise
    except (sqlite3.DatabaseError, BadRowError, UnicodeDecodeError):
        pass
    return None


def _last_event(connection: sqlite3.Connection, last: int | None = None) -> tuple[int, str]:
    """The number and the checksum of the last event, or of the one with this number."""
    check_health(connection)
    found, highest = connection.execute("SELECT count(*), max(id) FROM events").fetchone()
    if found != (highest or 0):
        raise BadRowError("an event is missing")
    last = found if last is None else last
    row = connection.execute("SELECT * FROM events WHERE id = ?", (last,)).fetchone()
    if row is None:
        return 0, ""
    as_event(last, row)
    return last, row[-1]


def _alone(path: Path) -> sqlite3.Connection:
    """A connection to the file without its log; somebody may be writing to it."""
    return connect(f"{path.as_uri()}?immutable=1", uri=True)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def signature(path: Path) -> Signature:
    """A value that changes whenever the file has been written to."""
    found: Signature = []
    for name in (path, Path(f"{path}-wal")):
        try:
            stat = name.stat()
        except OSError:
            found.append(None)
        else:
            found.append((stat.st_ino, stat.st_size, stat.st_mtime_ns))
    return found
