"""Locks of the operating system on files next to a study, with room for a short text in each.

A lock ends with the process, however the process ends. It belongs to an open file and not to a
process (`flock`), so that opening and closing the file elsewhere in the process, as a callback that
copies it would do, does not release the lock. A forked child gives up its share at once.
"""

import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from weakref import WeakSet

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows, where a lock of sqlite also belongs to an open file
    fcntl = None

_locks: "WeakSet[FileLock]" = WeakSet()

LARGEST = 1 << 24
"""Largest number of bytes that are read of a text."""

PATIENCE = 3600.0
"""Seconds to wait for a lock where only sqlite can wait for it: as good as for ever."""


class FileLock:
    """A lock on a file that exists for nothing else; it is created on first use.

    Whoever holds the lock may leave a text in the file for the next one. It is not synchronised
    with the disk: a power failure ends everybody who could be interested.

    Parameters
    ----------
    path : Path
        The name of the file.
    create : bool, default True
        Whether to create the file if there is none; otherwise that is a FileNotFoundError.
    """

    def __init__(self, path: Path, create: bool = True) -> None:
        self.path = path
        self._flags = os.O_RDWR | (os.O_CREAT if create else 0) | getattr(os, "O_CLOEXEC", 0)
        self._descriptor: int | None = None
        self._connection: sqlite3.Connection | None = None
        _locks.add(self)

    def acquire(self, wait: bool = True) -> bool:
        """Take the lock; False if somebody else has it and this should not `wait`."""
        if fcntl is None:
            return self._acquire_with_sqlite(wait)
        while True:
            if self._descriptor is None:
                self._descriptor = os.open(self.path, self._flags, 0o666)
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                return False
            if self._is_named():
                return True
            self.close()  # whoever held the lock has just removed this file

    def _acquire_with_sqlite(self, wait: bool) -> bool:
        if self._connection is None:
            self._connection = sqlite3.connect(
                self.path, isolation_level=None, check_same_thread=False
            )
        self._connection.execute(f"PRAGMA busy_timeout = {PATIENCE * 1000 if wait else 0:.0f}")
        try:
            self._connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
                return False
            raise
        return True

    def read(self) -> bytes:
        """The text that was written last; only for the holder of the lock."""
        if self._connection is not None:
            with suppress(sqlite3.OperationalError):  # nothing has been written yet
                text: bytes = self._connection.execute("SELECT text FROM note").fetchone()[0]
                return text
            return b""
        assert self._descriptor is not None
        return os.pread(self._descriptor, LARGEST, 0)

    def write(self, text: bytes) -> None:
        """Replace the text, which must not contain a line break; only for the holder."""
        if self._connection is not None:
            self._connection.execute("CREATE TABLE IF NOT EXISTS note (id PRIMARY KEY, text)")
            self._connection.execute("INSERT OR REPLACE INTO note VALUES (1, ?)", (text,))
            return
        assert self._descriptor is not None
        os.pwrite(self._descriptor, text + b"\n", 0)  # what is left behind it does not count

    def release(self) -> None:
        """Let somebody else have the lock; the file stays open for the next time."""
        if self._descriptor is not None and fcntl is not None:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        elif self._connection is not None and self._connection.in_transaction:
            self._connection.execute("COMMIT")

    def remove(self) -> None:
        """Remove the file, and then release the lock, so that nobody can get it twice."""
        if self._is_named():
            self.path.unlink()
        self.close()
        if fcntl is None:
            with suppress(OSError):  # somebody else has it open
                self.path.unlink()

    def close(self) -> None:
        """Close the file, which releases the lock."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _is_named(self) -> bool:
        """Whether the open file is still the one of this name."""
        if self._descriptor is None:
            return False
        try:
            return os.path.samestat(os.fstat(self._descriptor), self.path.stat())
        except FileNotFoundError:
            return False


def is_locked(path: Path) -> bool:
    """Whether somebody holds the lock on this file."""
    if not path.exists():  # where there is no flock, sqlite would create it
        return False
    lock = FileLock(path, create=False)
    try:
        return not lock.acquire(wait=False)
    except FileNotFoundError:
        return False
    except OSError:
        return True  # for example another user's file: nobody here can say that it is free
    finally:
        lock.close()


def _give_up() -> None:
    """Release the locks in a forked child, which would otherwise outlast the parent."""
    for lock in list(_locks):
        if lock._descriptor is not None:
            os.close(lock._descriptor)
            lock._descriptor = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_give_up)
