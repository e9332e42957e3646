"""One writer per study: a lock of the operating system on a file next to the study.

The lock ends with the process, however the process ends. It belongs to an open file and not to a
process (`flock`), so that opening and closing the lock file elsewhere in the process, as a callback
that copies it would do, does not release the lock. A forked child gives up its share at once.
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
except ImportError:  # Windows, where a lock of sqlite also belongs to an open file
    fcntl = None

_held: dict[Path, int] = {}  # file descriptors of the lock files, by study
_mutex = Lock()


class HeldHereError(BlockingIOError):
    """The lock is held by this process itself."""


class WriterLock:
    """The right to write a study, until `release`.

    Parameters
    ----------
    path : Path
        The study, with symbolic links resolved.
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
                f"{path}: this process already has the study open; use that one, or close it first"
            ) from None
        except BlockingIOError:
            raise StudyError(
                f"{path}: another process is writing this study; wait until it ends, or stop it"
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
        while path not in _held:
            descriptor = os.open(f"{path}-lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BaseException:
                os.close(descriptor)
                raise
            if _is_named(descriptor, path):
                _held[path] = descriptor
            else:  # the process that held the lock has just removed this file
                os.close(descriptor)


def _unlock(path: Path) -> None:
    with _mutex:
        if path in _held:
            descriptor = _held.pop(path)
            if _is_named(descriptor, path):
                Path(
                    f"{path}-lock"
                ).unlink()  # before the lock ends, so that nobody can get it twice
            os.close(descriptor)


def _is_named(descriptor: int, path: Path) -> bool:
    """Whether an open lock file is still the one next to the study."""
    try:
        return os.path.samestat(os.fstat(descriptor), Path(f"{path}-lock").stat())
    except FileNotFoundError:
        return False


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
    """Release the locks in a forked child, which would otherwise outlast the parent."""
    for descriptor in _held.values():
        os.close(descriptor)
    _held.clear()
    global _mutex  # another thread may have held it when the process was forked
    _mutex = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_give_up)
