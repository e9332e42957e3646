"""A study on a PostgreSQL server: settings and events in tables that several machines share.

The rows are those of a study file, with the same checksums. A process takes its turn with a lock of
the server, which ends with its connection, and each event is a transaction of its own. If the
connection is lost, for example because the server restarts, the process connects again and takes
its turn again. An event is then written again only if it is known not to have been written: the
study still ends with the event before it.

A process that evaluates trials has a lease, a row with a time until which it counts as alive, by
the server's clock; a thread renews it. On the machine of that process, a lock on a file says at
once whether it is alive.
"""

import platform
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from json import dumps
from pathlib import Path
from secrets import token_hex
from threading import Event as Flag
from threading import Thread
from typing import TYPE_CHECKING, Any

from ..base.checks import short
from ..base.guard import OvertakenError
from ..errors import StudyError
from ..record.events import Event
from .address import SafeAddress, ServerAddress, own_server
from .journal import (
    FORMAT,
    KEPT,
    Backend,
    GoneError,
    Journal,
    Metadata,
    Readable,
    check_format,
    damaged,
    left_to_parent,
    log,
)
from .lock import FileLock, is_locked
from .rows import BadRowError, Row, as_event, as_row, checksum, read_pair
from .server import Link

if TYPE_CHECKING:
    import psycopg

LEASE = 60.0
"""Seconds after which a process on another machine counts as dead if it has not renewed its lease.
A shorter time would hand out the trials of a machine that is only busy, or of a network that is
down for a moment; a longer one delays the trials of a machine that has crashed."""

LOCKS = int.from_bytes(b"bams", "big") << 32
"""The locks of this package on a server are this number plus that of the study."""

TABLES = ("bamsoo_studies", "bamsoo_meta", "bamsoo_events", "bamsoo_leases")

SCHEMA = """
CREATE TABLE IF NOT EXISTS bamsoo_studies (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text UNIQUE NOT NULL,
    format integer NOT NULL
);
CREATE TABLE IF NOT EXISTS bamsoo_meta (
    study integer NOT NULL REFERENCES bamsoo_studies ON DELETE CASCADE,
    key text, value text NOT NULL, checksum text NOT NULL,
    PRIMARY KEY (study, key)
);
CREATE TABLE IF NOT EXISTS bamsoo_events (
    study integer NOT NULL REFERENCES bamsoo_studies ON DELETE CASCADE,
    id integer, kind text NOT NULL, trial bigint, body text NOT NULL,
    time double precision NOT NULL, checksum text NOT NULL,
    PRIMARY KEY (study, id)
);
CREATE TABLE IF NOT EXISTS bamsoo_leases (
    study integer NOT NULL REFERENCES bamsoo_studies ON DELETE CASCADE,
    holder text, machine text NOT NULL, trials integer[] NOT NULL, until timestamptz NOT NULL,
    PRIMARY KEY (study, holder)
);
"""

ROW = "id, kind, trial, body, time, checksum"

APPEND = """
INSERT INTO bamsoo_events SELECT %(study)s, %(id)s, %(kind)s, %(trial)s, %(body)s, %(time)s, %(sum)s
WHERE (SELECT max(id) FROM bamsoo_events WHERE study = %(study)s) IS NOT DISTINCT FROM %(last)s
AND (SELECT checksum FROM bamsoo_events WHERE study = %(study)s AND id = %(last)s)
IS NOT DISTINCT FROM %(last_sum)s
ON CONFLICT DO NOTHING
"""
"""Append an event if the last one of the study is the last one that this process knows."""

HOLD = """
INSERT INTO bamsoo_leases VALUES (%(study)s, %(holder)s, %(machine)s, %(trials)s,
                                  now() + %(lease)s * interval '1 second')
ON CONFLICT (study, holder) DO UPDATE SET trials = excluded.trials, until = excluded.until
"""

PUT = """
INSERT INTO bamsoo_meta VALUES (%s, %s, %s, %s)
ON CONFLICT (study, key) DO UPDATE SET value = excluded.value, checksum = excluded.checksum
"""

CHECKSUM = "SELECT checksum FROM bamsoo_events WHERE study = %s AND id = %s"

RENEW = """
UPDATE bamsoo_leases SET until = now() + %(lease)s * interval '1 second'
WHERE study = %(study)s AND holder = %(holder)s
"""


class PostgresqlJournal(Journal):
    """An open study on a server."""

    def __init__(self, address: ServerAddress, write: bool, new: Metadata) -> None:
        """Open the study; to write, create it if need be, with the metadata of `new()`."""
        super().__init__()
        self._address, self._writes = own_server(address), write
        self._in_turn = self._lost_turn = False
        self._holder = token_hex(8)
        self._alive: FileLock | None = None
        self._ended = Flag()
        self._study = 0
        self._link = Link(address, again=self._take_turn_again)
        try:
            self._open(new)
        except BaseException:
            self.close()
            raise

    def _open(self, new: Metadata) -> None:
        if self._writes:
            meta = cache(new)  # the first answer stays, even if the server fails just after it
            self._link.patiently(lambda connection: self._create(connection, meta))
        found = self._link.patiently(lambda connection: _find(connection, self._address))
        if found is None:
            raise StudyError(f"{self.place}: there is no such study; check the address")
        self._study, version = found
        check_format(self.place, version)
        query = "SELECT coalesce(max(id), 0) FROM bamsoo_events WHERE study = %s"
        self._least = self._rows(query, (self._study,))[0][0]
        if self._writes:
            self._alive = FileLock(_mark(self._holder))
            self._alive.acquire()
            self.hold(())
            Thread(target=self._renew, daemon=True).start()

    def _create(self, connection: "psycopg.Connection[Row]", new: Metadata) -> None:
        with connection.transaction():  # all processes that start now wait for the first
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCKS,))
            if _find(connection, self._address) is not None:
                return
            meta = new()
            query = "SELECT bool_and(to_regclass(name) IS NOT NULL) FROM unnest(%s::text[]) AS name"
            found = connection.execute(query, (list(TABLES),)).fetchone()
            if found is not None and not found[0]:  # not every role may create tables
                connection.execute(SCHEMA)
            query = "INSERT INTO bamsoo_studies (name, format) VALUES (%s, %s) RETURNING id"
            made = connection.execute(query, (self._address.name, FORMAT)).fetchone()
            assert made is not None
            for key, value in meta.items():
                connection.execute(PUT, _pair(made[0], key, value))

    @property
    def place(self) -> SafeAddress:
        return self._address.shown

    def _rows(self, query: str, given: Any = ()) -> list[Row]:
        """What a statement returns, which may be repeated if the connection is lost."""
        return self._link.rows(query, given)

    def _take_turn_again(self, connection: "psycopg.Connection[Row]") -> None:
        """After the connection was lost, wait for the turn again if it was that of this process."""
        if self._in_turn:
            self._lost_turn = True
            connection.execute("SELECT pg_advisory_lock(%s)", (LOCKS + self._study,))

    # --- reading

    def meta(self) -> dict[str, Any]:
        query = "SELECT key, value, checksum FROM bamsoo_meta WHERE study = %s"
        try:
            return {row[0]: read_pair(row) for row in self._rows(query, (self._study,))}
        except BadRowError as error:
            raise damaged(self.place, str(error)) from error

    def events(self, after: int = 0) -> list[Event]:
        query = f"SELECT {ROW} FROM bamsoo_events WHERE study = %s AND id >= %s ORDER BY id"
        rows = self._rows(query, (self._study, after))
        last = ""
        if after:  # what was read before is still there
            last = rows.pop(0)[-1] if rows else ""
            if not last or (after == self._count and last != self._last):
                raise GoneError(f"{self.place}: was removed or replaced while the study was open")
        try:
            return self._read(after, rows, last)
        except BadRowError as error:
            raise damaged(self.place, str(error)) from error

    # --- writing

    @contextmanager
    def turn(self) -> Iterator[None]:
        self.check_process()
        try:
            # At first not in turn, so that a lost connection does not wait for the lock twice.
            self._rows("SELECT pg_advisory_lock(%s)", (LOCKS + self._study,))
            self._in_turn, self._lost_turn = True, False
            yield
        finally:
            self._in_turn = False
            self._link.try_once("SELECT pg_advisory_unlock_all()")  # or it ends with the connection

    def append(self, *events: Event) -> None:
        """Write events; when this method returns, the server has them on disk."""
        rows = [as_row(number, event) for number, event in enumerate(events, self._count + 1)]
        names = ("id", "kind", "trial", "body", "time", "sum")
        attempts = 0

        def attempt(connection: "psycopg.Connection[Row]") -> bool:
            nonlocal attempts
            attempts += 1
            if attempts > 1:  # perhaps only the answer was lost, and not the events
                found = connection.execute(CHECKSUM, (self._study, rows[-1][0])).fetchone()
                if found is not None:
                    return bool(found[0] == rows[-1][-1])
            last = (self._count, self._last) if self._count else (None, None)
            with nullcontext() if len(rows) == 1 else connection.transaction():
                for row in rows:
                    given = dict(zip(names, row, strict=True)) | {"study": self._study}
                    given |= {"last": last[0], "last_sum": last[1]}
                    if connection.execute(APPEND, given).rowcount != 1:
                        raise OvertakenError
                    last = (row[0], row[-1])
            return True

        if not self._link.patiently(attempt):
            raise OvertakenError
        self._count, self._last = rows[-1][0], rows[-1][-1]

    def set_meta(self, key: str, value: Any) -> None:
        self._rows(PUT, _pair(self._study, key, value))

    # --- who evaluates what

    def taken(self) -> set[int]:
        alive, dead = _holders(self._rows(_LEASES, (self._study,)))
        for holder in dead:
            query = "DELETE FROM bamsoo_leases WHERE study = %s AND holder = %s"
            self._rows(query, (self._study, holder))
            with suppress(OSError):
                _mark(holder).unlink(missing_ok=True)
        alive.pop(self._holder, None)
        return {trial for trials in alive.values() for trial in trials}

    def hold(self, trials: Collection[int]) -> None:
        self._rows(HOLD, {**self._lease, "machine": _machine(), "trials": sorted(trials)})
        if self._in_turn and self._lost_turn:  # what others evaluate may have changed
            raise OvertakenError

    @property
    def _lease(self) -> dict[str, Any]:
        return {"study": self._study, "holder": self._holder, "lease": LEASE}

    def _renew(self) -> None:
        """Renew the lease again and again, over connections of its own."""
        renewed = True
        while not self._ended.wait(LEASE / 4):
            link = Link(self._address, patience=0.0)
            try:
                link.rows(RENEW, self._lease)
            except StudyError as error:  # the next time, perhaps
                if renewed:
                    log.warning("%s: the lease is not renewed: %s", self.place, short(str(error)))
                renewed = False
            else:
                if not renewed:
                    log.warning("%s: the lease is renewed again", self.place)
                renewed = True
            finally:
                link.end()

    # --- the whole study

    def contents(self) -> tuple[dict[str, Any], list[Event]]:
        self.check_process()
        meta = self.meta()
        query = f"SELECT {ROW} FROM bamsoo_events WHERE study = %s ORDER BY id"
        rows = self._rows(query, (self._study,))
        try:
            return meta, [as_event(number, row) for number, row in enumerate(rows, 1)]
        except BadRowError as error:
            raise damaged(self.place, str(error)) from error

    @property
    def file(self) -> Path:
        return Path.cwd() / self._address.file

    def close(self) -> None:
        """Close the study, so that others may evaluate what this process has not finished."""
        if self.forked:
            left_to_parent.append(self._link)
            self._link = Link(self._address)
            self._link.end(self._closed)
            return
        self._ended.set()
        if self._alive is not None:
            query = "DELETE FROM bamsoo_leases WHERE study = %s AND holder = %s"
            self._link.try_once(query, (self._study, self._holder))
        self._link.end(self._closed)
        if self._alive is not None:
            with suppress(OSError):
                self._alive.remove()

    @property
    def _closed(self) -> StudyError:
        return StudyError(f"{self.place}: the study is closed; open it again")


_LEASES = "SELECT holder, machine, trials, until > now() FROM bamsoo_leases WHERE study = %s"


def _holders(rows: list[Row]) -> tuple[dict[str, list[int]], list[str]]:
    """The trials of each process that is alive, and the processes that are dead."""
    alive, dead = {}, []
    for holder, machine, trials, in_time in rows:
        mark = _mark(holder)
        if is_locked(mark) if machine == _machine() and mark.exists() else in_time:
            alive[holder] = trials
        else:
            dead.append(holder)
    return alive, dead


def _mark(holder: str) -> Path:
    """The file that a process of this machine locks while it is alive."""
    return Path(tempfile.gettempdir()) / f"bamsoo-by-{holder}"


def _machine() -> str:
    """What the processes that can see each other's locks have in common."""
    try:
        machine = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        machine = platform.node()
    place = Path(tempfile.gettempdir()).stat()  # a container on the same machine has another one
    return f"{machine}:{place.st_dev}:{place.st_ino}"


def _pair(study: int, key: str, value: Any) -> Row:
    """A row of the metadata."""
    row = (key, dumps(value))
    return (study, *row, checksum(row))


def _find(connection: "psycopg.Connection[Row]", address: ServerAddress) -> tuple[int, int] | None:
    """The number and the format of the study; None if there is no such study."""
    row = connection.execute("SELECT to_regclass('bamsoo_studies') IS NULL").fetchone()
    if row is not None and row[0]:
        return None
    query = "SELECT id, format FROM bamsoo_studies WHERE name = %s"
    found = connection.execute(query, (address.name,)).fetchone()
    return None if found is None else (found[0], found[1])


# --- functions that need no open journal


def _ask(address: ServerAddress, *queries: str, patience: float | None = None) -> list[list[Row]]:
    """What the server answers about the study; nothing if there is no such study."""
    link = Link(own_server(address), patience)
    try:
        found = link.patiently(lambda connection: _find(connection, address))
        return [] if found is None else [link.rows(query, (found[0],)) for query in queries]
    finally:
        link.end()


def exists(address: ServerAddress) -> bool:
    """Whether there is a study at this address."""
    return bool(_ask(address, "SELECT %s"))


def is_open(address: ServerAddress) -> bool:
    """Whether a living process has the study open for writing."""
    (leases,) = _ask(address, _LEASES, patience=0.0) or [[]]
    return bool(_holders(leases)[0])


def signature(address: ServerAddress) -> object:
    """A value that changes whenever the study has been written to."""
    query = (
        "SELECT id, (SELECT max(id) FROM bamsoo_events WHERE study = s.id), "
        "(SELECT string_agg(checksum, '' ORDER BY key) FROM bamsoo_meta WHERE study = s.id) "
        "FROM bamsoo_studies AS s WHERE id = %s"
    )
    return _ask(address, query, patience=0.0)


def readable(address: ServerAddress) -> Readable:
    """All rows of a study that are as they were written; the others are lost."""
    query = "SELECT key, value, checksum FROM bamsoo_meta WHERE study = %s"
    of_events = f"SELECT {ROW} FROM bamsoo_events WHERE study = %s ORDER BY id"
    found = _ask(address, query, of_events)
    if not found:
        raise StudyError(f"{address.shown}: there is no such study; check the address")
    pairs, rows = found
    meta: dict[str, Any] = {}
    events: dict[int, Event] = {}
    for row in pairs:
        with suppress(BadRowError):
            meta[row[0]] = read_pair(row)
    for row in rows:
        with suppress(BadRowError):
            events[row[0]] = as_event(row[0], row)
    # An event that is missing at the end leaves no trace on a server, which keeps no second count.
    missing = tuple(n for n in range(1, max(events, default=0) + 1) if n not in events)
    known = {row[0] for row in pairs}
    lost = tuple(f"the {key}" for key in KEPT if key in known and key not in meta)
    kept = {key: meta[key] for key in KEPT if key in meta}
    return Readable(address.shown, kept, events, missing, lost).checked


BACKEND = Backend(PostgresqlJournal, exists, is_open, signature, readable)
