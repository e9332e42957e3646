"""A connection to a PostgreSQL server that outlives restarts, with one rule for every error.

An error that may pass, such as a lost connection, a full disk or a lock that is not free, is waited
for: a stated number of seconds in all, with pauses that grow, one line when the wait begins and one
when it ends. Any other error is raised at once.
"""

import math
import time
from collections.abc import Callable
from typing import Any, TypeVar

from ..base.checks import short
from ..errors import SettingsError, StudyError
from .address import ServerAddress
from .journal import GoneError, log
from .rows import Row

try:
    import psycopg
except ImportError:
    psycopg = None  # type: ignore[assignment]

PATIENCE = 120.0
"""Seconds for which an error that may pass is waited for, which a restart of a large server takes.
After that, the study has to be opened again."""

LONGEST_PAUSE = 5.0
"""Largest number of seconds between two attempts, so that many processes do not keep a server busy
that has just started."""

CONNECT_TIMEOUT = 10.0
"""Seconds for one attempt to connect to one host."""

PASSING = ("08", "53", "57P01", "57P02", "57P03", "57P05", "57014", "55P03", "40", "25P03")
"""How codes of errors begin that may pass: connections, full disks and other resources, shutdowns,
statement and lock timeouts, conflicts of transactions."""

PASSING_TEXTS = (
    *("refused", "reset by peer", "No such file", "timeout", "timed out", "closed the connection"),
    *("unreachable", "No route to host", "Host is down", "Broken pipe", "EOF detected"),
    *("starting up", "shutting down", "not yet accepting", "recovery mode", "too many clients"),
    *("too many connections", "connection slots", "temporarily unavailable", "Temporary failure"),
    *("terminating connection", "could not receive data", "could not send data"),
)
"""Parts of the messages of failed attempts to connect that may succeed later. Such errors have no
code."""

T = TypeVar("T")


class Link:
    """A connection in which each statement is a transaction that waits for the disk.

    Parameters
    ----------
    address : ServerAddress
    patience : float, optional
        Seconds to wait for errors that may pass; by default `PATIENCE`.
    again : callable, optional
        Called with each new connection that replaces a lost one.
    """

    def __init__(
        self,
        address: ServerAddress,
        patience: float | None = None,
        again: Callable[["psycopg.Connection[Row]"], object] = lambda connection: None,
    ) -> None:
        self.address, self._again = address, again
        self._patience = PATIENCE if patience is None else patience
        self._connection: psycopg.Connection[Row] | None = None
        self._over: StudyError | None = None
        """Why there is no use in trying: it is closed, or there is no patience left."""

    def connect(self, seconds: float = CONNECT_TIMEOUT) -> "psycopg.Connection[Row]":
        """A new connection."""
        if psycopg is None:
            raise SettingsError(
                f"{self.address.shown}: a study on a server needs psycopg: "
                "pip install 'bamsoo[postgresql]'"
            )
        given: dict[str, Any] = {**self.address.keywords}
        known = {each.keyword.decode() for each in psycopg.pq.Conninfo.get_defaults()}
        if not given.keys() <= known:
            raise SettingsError(
                f"{self.address.shown}: the address has an option that PostgreSQL does not know; "
                "check what is behind the question mark"
            )
        usual: dict[str, Any] = {
            "connect_timeout": max(2, int(min(seconds, CONNECT_TIMEOUT))),
            "application_name": "bamsoo",
            # a network that is down without a word is noticed within a minute
            "keepalives_idle": 30,
            "keepalives_interval": 10,
            "keepalives_count": 3,
            "tcp_user_timeout": 60_000,
        }
        options = "-c synchronous_commit=on -c client_min_messages=warning"
        own = {"autocommit": True, "options": f"{given.get('options', '')} {options}".strip()}
        return psycopg.connect(**usual | given | own)

    def rows(self, query: str, given: Any = ()) -> list[Row]:
        """What a statement returns; it must be one that may be repeated."""

        def attempt(connection: "psycopg.Connection[Row]") -> list[Row]:
            done = connection.execute(query, given)
            return done.fetchall() if done.description else []

        return self.patiently(attempt)

    def patiently(self, attempt: Callable[["psycopg.Connection[Row]"], T]) -> T:
        """What `attempt` returns, which is repeated after errors that may pass."""
        wait = _Wait(self.address, self._patience)
        while True:
            if self._over is not None:
                raise self._over
            connection = None
            try:
                connection = self._connected()
                done = attempt(connection)
            except _psycopg_errors() as error:
                if isinstance(error, _GONE):
                    where = self.address.shown
                    raise GoneError(f"{where}: was removed while the study was open") from None
                if not may_pass(error, connection is not None and connection.closed):
                    raise cannot(self.address, error) from None
                if not wait.pause(error):
                    self._over = cannot(self.address, error)
                    raise self._over from None
            else:
                wait.end()
                return done

    def _connected(self) -> "psycopg.Connection[Row]":
        """The connection, or a new one if it is lost."""
        if self._connection is None or self._connection.closed:
            connection = self.connect(self._patience)
            try:
                if self._connection is not None:
                    self._again(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def try_once(self, query: str, given: Any = ()) -> None:
        """Run a statement if there is a connection, which is closed if that does not work."""
        if self._connection is not None:
            try:
                self._connection.execute(query, given)
            except psycopg.Error:
                self._connection.close()

    def end(self, why: StudyError | None = None) -> None:
        """Close the connection; `why` is the error of any later use."""
        self._over = why or StudyError(f"{self.address.shown}: the connection is closed")
        if self._connection is not None:
            self._connection.close()


class _Wait:
    """The pauses between attempts, and the two lines that say when they begin and end."""

    def __init__(self, address: ServerAddress, patience: float) -> None:
        self._address, self._patience = address, patience
        self._began, self._pause = math.inf, 0.05

    def pause(self, error: Exception) -> bool:
        """Wait a moment; False if there is no patience left."""
        now = time.monotonic()
        if self._began > now:
            self._began = now
            if self._patience:
                text = "%s: the server cannot be used now (%s); waiting for up to %.0f s"
                log.warning(text, self._address.shown, short(str(error)), self._patience)
        left = self._began + self._patience - now
        if left <= 0:
            return False
        time.sleep(min(self._pause, left))
        self._pause = min(2 * self._pause, LONGEST_PAUSE)
        return True

    def end(self) -> None:
        """An attempt was successful."""
        took = time.monotonic() - self._began
        if took >= 0:
            log.warning("%s: the server can be used again, after %.1f s", self._address.shown, took)


def _psycopg_errors() -> tuple[type[Exception], ...]:
    return () if psycopg is None else (psycopg.Error,)


_GONE: tuple[type[Exception], ...] = (
    () if psycopg is None else (psycopg.errors.ForeignKeyViolation, psycopg.errors.UndefinedTable)
)


def may_pass(error: Exception, lost: bool) -> bool:
    """Whether it may help to wait; `lost` if the error has ended a connection that worked."""
    code: str | None = getattr(error, "sqlstate", None)
    if code is not None:
        return code.startswith(PASSING)
    return lost or any(part in str(error) for part in PASSING_TEXTS)


def cannot(address: ServerAddress, error: Exception) -> StudyError:
    """The error of the server or of psycopg in one sentence."""
    text = " ".join(str(error).split()) or type(error).__name__
    if getattr(error, "sqlstate", None) == "42501":
        text += (
            "; a role needs SELECT, INSERT, UPDATE and DELETE on the tables of bamsoo, which one "
            "that may create tables makes with the first study in this database"
        )
    return StudyError(f"{address.shown}: the server cannot be used: {text}")
