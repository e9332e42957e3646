"""One writer for each study: a lock of the operating system on a side file.

The lock goes with the process, however that ends. It belongs to an open file and not to a process
(`flock`), so that nobody who opens and closes the side file, such as a callback that copies it,
drops the lock; a forked child gives up its share at once.
"""

import os
import sqlite3
from pathlib import Path
from threading import Lock
from types import ModuleType

from ..errors import StudyError

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows, where sqlite's locks belong to open files too
    fcntl = None

_held: dict[Path, int] = {}  # study -> descriptor of its side file
_mutex = Lock()


class HeldHereError(BlockingIOError):
    """It is this process itself that holds the lock."""


class WriterLock:
    """The right to write a study, until `release`.

    Parameters
    ----------
    path : Path
        The study, with links resolved.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._process = path, os.getpid()
        self._connection: sqlite3.Connection | None = None
        try:
            if fcntl is None:
                self._connection = _exclusive(path)
            else:
                _lock(path)
        except HeldHereError:
            raise StudyError(
                f"{path}: this process has it open already; use that study, or close it first"
            ) from None
        except BlockingIOError:
            raise StudyError(
                f"{path}: another process is writing this study; wait until it ends, or end it"
            ) from None
        except (OSError, sqlite3.Error) as error:
            raise StudyError(f"{path}: the study cannot be written here: {error}") from error

    def release(self) -> None:
        """Let another process write."""
        if os.getpid() != self._process:
            return
        if self._connection is not None:
            self._connection.close()
        _unlock(self._path)


def _lock(path: Path) -> None:
    assert fcntl is not None
    with _mutex:
        if path in _held:
            raise HeldHereError
        descriptor = os.open(f"{path}-lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BaseException:
            os.close(descriptor)
            raise
        _held[path] = descriptor


def _unlock(path: Path) -> None:
    with _mutex:
        if path in _held:
            os.close(_held.pop(path))


def _exclusive(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path}-lock", timeout=0.0, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        connection.close()
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
            raise BlockingIOError from None
        raise
    return connection


def _give_up() -> None:
    """In a forked child: its copies would hold the locks when the parent is long gone."""
    for descriptor in _held.values():
        os.close(descriptor)
    _held.clear()
    global _mutex  # another thread may have held it when the child was made
    _mutex = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_give_up)
