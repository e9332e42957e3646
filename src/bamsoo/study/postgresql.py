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

import logging
import platform
import tempfile
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from json import dumps
from pathlib import Path
from secrets import token_hex
from threading import Event as Flag
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from ..checks import LONGEST_NAME, brief
from ..errors import SettingsError, StudyError
from ..events import Event
from ..guard import OvertakenError
from .journal import (
    FORMAT,
    Address,
    GoneError,
    Journal,
    Metadata,
    check_format,
    damaged,
    left_to_parent,
)
from .lock import FileLock, is_locked
from .rows import BadRowError, Row, as_event, as_row, checksum
from .sqlite import create, free_name, read_pair, reserved

log = logging.getLogger("bamsoo")

try:
    import psycopg
except ImportError:
    psycopg = None  # type: ignore[assignment]

LEASE = 60.0
"""Seconds after which a process on another machine counts as dead if it has not renewed its lease.
A shorter time would hand out the trials of a machine that is only busy, or of a network that is
down for a moment; a longer one delays the trials of a machine that has crashed."""

PATIENCE = 120.0
"""Seconds for which a process tries to connect again, which a restart of a large server takes."""

LOCKS = int.from_bytes(b"bams", "big") << 32
"""The locks of this package on a server are this number plus that of the study."""

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
"""
"""Append an event if the last one of the study is the last one that this process knows."""

HOLD = """
INSERT INTO bamsoo_leases VALUES (%(study)s, %(holder)s, %(machine)s, %(trials)s,
                                  now() + %(lease)s * interval '1 second')
ON CONFLICT (study, holder) DO UPDATE SET trials = excluded.trials, until = excluded.until
"""

RENEW = """
UPDATE bamsoo_leases SET until = now() + %(lease)s * interval '1 second'
WHERE study = %(study)s AND holder = %(holder)s
"""


class ServerStudy:
    """The address of a study: how to connect, and how to say so without the password."""

    def __init__(self, address: str) -> None:
        uri, _, name = address.partition("#")
        if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
            raise SettingsError(
                f"{self._shown(uri)}: the name of the study is missing; add it at the end, as in "
                "postgresql://user@host/db#name"
            )
        self.uri, self.name = uri, name
        self.shown = Address(f"{self._shown(uri)}#{name}")

    @staticmethod
    def _shown(uri: str) -> str:
        parts = urlsplit(uri)
        user, at, host = parts.netloc.rpartition("@")
        options = [each for each in parse_qsl(parts.query) if "password" not in each[0].lower()]
        query = urlencode(options, safe="/")
        netloc = f"{user.partition(':')[0]}{at}{host}"
        return urlunsplit((parts.scheme, netloc, parts.path, query, ""))

    @property
    def file(self) -> Path:
        """The name of a file in this directory that the study could have."""
        plain = "".join(c if c.isalnum() or c in "-_." else "-" for c in self.name)
        return Path(f"{plain}.db")

    def connect(self) -> "psycopg.Connection[Row]":
        """A connection in which each statement is a transaction that waits for the disk."""
        if psycopg is None:
            raise SettingsError(
                f"{self.shown}: a study on a server needs psycopg: pip install 'bamsoo[postgresql]'"
            )
        return psycopg.connect(
            self.uri,
            autocommit=True,
            connect_timeout=10,
            application_name="bamsoo",
            options="-c synchronous_commit=on -c client_min_messages=warning",
            keepalives_idle=30,
        )

    def cannot(self, error: Exception) -> StudyError:
        """The error of the server or of psycopg in one sentence."""
        text = " ".join(str(error).split()) or type(error).__name__
        return StudyError(f"{self.shown}: the server cannot be used: {text}")


class PostgresqlJournal(Journal):
    """An open study on a server."""

    def __init__(self, address: str, write: bool, new: Metadata) -> None:
        """Open the study; to write, create it if need be, with the metadata of `new()`."""
        super().__init__()
        self._target, self._writes = ServerStudy(address), write
        self._in_turn = self._lost_turn = False
        self._holder = token_hex(8)
        self._alive: FileLock | None = None
        self._ended = Flag()
        self._study = 0
        try:
            self._server: psycopg.Connection[Row] | None = self._target.connect()
        except Exception as error:
            if psycopg is not None and isinstance(error, psycopg.Error):
                raise self._target.cannot(error) from None
            raise
        try:
            self._open(new)
        except BaseException:
            self.close()
            raise

    def _open(self, new: Metadata) -> None:
        if self._writes:
            self._create(new)
        found = _find(self._connection, self._target)
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

    def _create(self, new: Metadata) -> None:
        try:
            with self._connection.transaction():  # all processes that start now wait for the first
                self._connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCKS,))
                if _find(self._connection, self._target) is not None:
                    return
                meta = new()
                self._connection.execute(SCHEMA)
                query = "INSERT INTO bamsoo_studies (name, format) VALUES (%s, %s) RETURNING id"
                made = self._connection.execute(query, (self._target.name, FORMAT)).fetchone()
                assert made is not None
                self._study = made[0]
                for key, value in meta.items():
                    self.set_meta(key, value)
        except psycopg.Error as error:
            raise self._target.cannot(error) from error

    @property
    def place(self) -> Address:
        return self._target.shown

    # --- the connection

    @property
    def _connection(self) -> "psycopg.Connection[Row]":
        if self._server is None:
            raise StudyError(f"{self.place}: the study is closed; open it again")
        return self._server

    def _rows(self, query: str, given: Any = ()) -> list[Row]:
        """What a statement returns, which may be repeated if the connection is lost."""
        while True:
            try:
                done = self._connection.execute(query, given)
                return done.fetchall() if done.description else []
            except (psycopg.OperationalError, psycopg.InterfaceError) as error:
                self._connect_again(error)
            except (psycopg.errors.ForeignKeyViolation, psycopg.errors.UndefinedTable):
                raise GoneError(f"{self.place}: was removed while the study was open") from None
            except psycopg.Error as error:
                raise self._target.cannot(error) from error

    def _connect_again(self, lost: Exception) -> None:
        """Connect again, and wait for the turn again if it was the turn of this process."""
        log.warning("%s: the connection is lost (%s); trying again", self.place, brief(str(lost)))
        end, pause = time.monotonic() + PATIENCE, 0.05
        while True:
            with suppress(psycopg.Error):
                self._connection.close()
            try:
                self._server = self._target.connect()
                if self._in_turn:
                    self._lost_turn = True
                    self._server.execute("SELECT pg_advisory_lock(%s)", (LOCKS + self._study,))
            except psycopg.Error as error:
                if time.monotonic() > end:
                    raise self._target.cannot(error) from error
                time.sleep(pause)
                pause = min(2 * pause, 2.0)
            else:
                return

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

    def _checksum(self, number: int) -> str:
        query = "SELECT checksum FROM bamsoo_events WHERE study = %s AND id = %s"
        found = self._rows(query, (self._study, number))
        return found[0][0] if found else ""

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
            self._end_turn()

    def _end_turn(self) -> None:
        if self._server is not None:
            try:
                self._server.execute("SELECT pg_advisory_unlock_all()")
            except psycopg.Error:  # then the lock ends with the connection
                with suppress(psycopg.Error):
                    self._server.close()

    def append(self, event: Event) -> None:
        """Write an event; when this method returns, the server has it on disk."""
        row = as_row(self._count + 1, event)
        names = ("id", "kind", "trial", "body", "time", "sum")
        last = (self._count, self._last) if self._count else (None, None)
        given = dict(zip(names, row, strict=True))
        given |= {"study": self._study, "last": last[0], "last_sum": last[1]}
        while True:
            try:
                written = self._connection.execute(APPEND, given).rowcount
                break
            except psycopg.errors.UniqueViolation:
                written = 0
                break
            except (psycopg.errors.ForeignKeyViolation, psycopg.errors.UndefinedTable):
                raise GoneError(f"{self.place}: was removed while the study was open") from None
            except (psycopg.OperationalError, psycopg.InterfaceError) as error:
                self._connect_again(error)
                if self._checksum(row[0]) == row[-1]:  # the answer was lost, the event is not
                    written = 1
                    break
            except psycopg.Error as error:
                raise self._target.cannot(error) from error
        if written != 1:
            raise OvertakenError
        self._count, self._last = row[0], row[-1]

    def set_meta(self, key: str, value: Any) -> None:
        row = (key, dumps(value))
        query = (
            "INSERT INTO bamsoo_meta VALUES (%s, %s, %s, %s) ON CONFLICT (study, key) "
            "DO UPDATE SET value = excluded.value, checksum = excluded.checksum"
        )
        self._rows(query, (self._study, *row, checksum(row)))

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
        while not self._ended.wait(LEASE / 4):
            try:
                with self._target.connect() as server:
                    server.execute(RENEW, self._lease)
            except psycopg.Error as error:  # the next time, perhaps
                log.warning("%s: the lease was not renewed: %s", self.place, brief(str(error)))

    # --- the whole study

    def backup(self, to: Path) -> None:
        """Write the study in its present state to a new file."""
        self.check_process()
        with reserved(to):
            meta = self.meta()
            query = f"SELECT {ROW} FROM bamsoo_events WHERE study = %s ORDER BY id"
            rows = self._rows(query, (self._study,))
            try:
                events = [as_event(number, row) for number, row in enumerate(rows, 1)]
            except BadRowError as error:
                raise damaged(self.place, str(error)) from error
            create(to, meta, events)

    def spare_place(self) -> Path:
        return free_name(Path.cwd() / self._target.file, "rescued")

    def close(self) -> None:
        """Close the study, so that others may evaluate what this process has not finished."""
        server, self._server = self._server, None
        if self.forked:
            left_to_parent.append(server)
            return
        self._ended.set()
        if server is not None:
            with suppress(psycopg.Error):
                if self._alive is not None:
                    query = "DELETE FROM bamsoo_leases WHERE study = %s AND holder = %s"
                    server.execute(query, (self._study, self._holder))
                server.close()
        if self._alive is not None:
            with suppress(OSError):
                self._alive.remove()


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


def _find(connection: "psycopg.Connection[Row]", target: ServerStudy) -> tuple[int, int] | None:
    """The number and the format of the study; None if there is no such study."""
    row = connection.execute("SELECT to_regclass('bamsoo_studies') IS NULL").fetchone()
    if row is not None and row[0]:
        return None
    query = "SELECT id, format FROM bamsoo_studies WHERE name = %s"
    found = connection.execute(query, (target.name,)).fetchone()
    return None if found is None else (found[0], found[1])


# --- functions that need no open journal


def _ask(address: str, query: str) -> list[Row] | None:
    """What the server answers about the study; None if there is no such study."""
    target = ServerStudy(address)
    try:
        with target.connect() as connection:
            found = _find(connection, target)
            return None if found is None else connection.execute(query, (found[0],)).fetchall()
    except Exception as error:
        if psycopg is not None and isinstance(error, psycopg.Error):
            raise target.cannot(error) from None
        raise


def exists(address: str) -> bool:
    """Whether there is a study at this address."""
    return _ask(address, "SELECT %s") is not None


def is_open(address: str) -> bool:
    """Whether a living process has the study open for writing."""
    return bool(_holders(_ask(address, _LEASES) or [])[0])


def signature(address: str) -> object:
    """A value that changes whenever the study has been written to."""
    query = (
        "SELECT id, (SELECT max(id) FROM bamsoo_events WHERE study = s.id), "
        "(SELECT string_agg(checksum, '' ORDER BY key) FROM bamsoo_meta WHERE study = s.id) "
        "FROM bamsoo_studies AS s WHERE id = %s"
    )
    return _ask(address, query)


def everything(address: str) -> tuple[list[Row], list[Row]]:
    """The rows of the metadata and of the events as they are, for a repair."""
    meta = _ask(address, "SELECT key, value, checksum FROM bamsoo_meta WHERE study = %s")
    if meta is None:
        raise StudyError(f"{ServerStudy(address).shown}: there is no such study; check the address")
    query = f"SELECT {ROW} FROM bamsoo_events WHERE study = %s ORDER BY id"
    return meta, _ask(address, query) or []
