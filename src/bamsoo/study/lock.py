"""Locks of the operating system on files next to a study, with room for a short text in each.

That text says who evaluates which trial. It is not an event, because it ends with the process. Each
process that has the study open holds the lock on a file of its own until it ends, so that others on
the machine notice at once when it is dead.

A lock ends with the process, however the process ends. It belongs to an open file and not to a
process (`flock`), so that opening and closing the file elsewhere in the process, as a callback that
copies it would do, does not release the lock. A forked child gives up its share at once.
"""

import json
import os
import re
import sqlite3
import warnings
from collections.abc import Iterable
from contextlib import suppress
from glob import escape
from pathlib import Path
from secrets import token_hex
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


class Leases:
    """The processes that have a study file open, and the trials that each of them evaluates.

    Parameters
    ----------
    study : Path
        The study, with symbolic links resolved.
    turns : FileLock
        The lock that this process holds in its turn.
    """

    def __init__(self, study: Path, turns: FileLock) -> None:
        self._study, self._turns = study, turns
        self._own = token_hex(8)
        self._alive = FileLock(_mark(study, self._own))

    def arrive(self) -> bool:
        """Enter this process; True if it is the only one."""
        self._alive.acquire()
        others = self._others()
        if not others:  # what dead processes left that are on no list
            for mark in self._study.parent.glob(f"{escape(self._study.name)}-by-*"):
                if not is_locked(mark):
                    mark.unlink(missing_ok=True)
        self._write({**others, self._own: []})
        return not others

    def taken(self) -> set[int]:
        """The trials that other living processes evaluate."""
        return {trial for trials in self._others().values() for trial in trials}

    def hold(self, trials: Iterable[int]) -> None:
        """Note the trials that this process evaluates."""
        self._write({**_parsed(self._turns.read()), self._own: sorted(trials)})

    def leave(self) -> bool:
        """Remove this process; True if it was the last one."""
        try:
            others = self._others()
            if others:
                self._write(others)
        finally:
            self._alive.remove()
        return not others

    def _others(self) -> dict[str, list[int]]:
        """The other processes, after removing what dead ones left behind."""
        found = _parsed(self._turns.read())
        own = found.pop(self._own, None)
        dead = [each for each in found if not is_locked(_mark(self._study, each))]
        for holder in dead:
            _mark(self._study, holder).unlink(missing_ok=True)
            del found[holder]
        if dead:
            self._write(found if own is None else {**found, self._own: own})
        return found

    def _write(self, held: dict[str, list[int]]) -> None:
        self._turns.write(json.dumps(held).encode())


def is_open(study: Path) -> bool:
    """Whether a process has the study at this path open for writing."""
    study = Path(os.path.realpath(study))
    turns = Path(f"{study}-lock")
    if is_locked(turns):  # it is somebody's turn at this very moment
        return True
    with suppress(OSError):
        # Only the processes of this machine count, because only they can be seen.
        return any(is_locked(_mark(study, holder)) for holder in _parsed(turns.read_bytes()))
    return False


def _mark(study: Path, holder: str) -> Path:
    return Path(f"{study}-by-{holder}")


def _parsed(text: bytes) -> dict[str, list[int]]:
    """The trials by process; nothing if the last writer died while writing."""
    with suppress(ValueError):
        found = json.loads(text.partition(b"\n")[0])
        if isinstance(found, dict) and all(
            holder.isalnum() and isinstance(trials, list) for holder, trials in found.items()
        ):
            return found
    return {}


def _give_up() -> None:
    """Release the locks in a forked child, which would otherwise outlast the parent."""
    for lock in list(_locks):
        if lock._descriptor is not None:
            os.close(lock._descriptor)
            lock._descriptor = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_give_up)


MOUNTS = Path("/proc/self/mounts")

NETWORK = re.compile(
    r"nfs\d?|cifs|smb\w*|afs|beegfs\w*|ceph|gpfs|lustre|glusterfs|ocfs2|gfs2|pvfs2|panfs"
    r"|fuse\.(?:sshfs|glusterfs|ceph|s3fs|gcsfuse|rclone|juicefs|moosefs|lizardfs)\S*"
)


def kind_of_network(path: Path) -> str | None:
    """The name of the network file system that `path` is on; None if there is none, as is known.

    Only Linux says.
    """
    try:
        lines = MOUNTS.read_text("utf-8", "replace").splitlines()
    except OSError:
        return None
    found, longest = "", -1
    for line in lines:
        _, place, kind, *_ = [*line.split(" "), "", "", ""]
        place = re.sub(r"\\(\d{3})", lambda octal: chr(int(octal[1], 8)), place)
        if path.is_relative_to(place) and len(place) >= longest:  # of two on a place, the last
            found, longest = kind, len(place)
    return found if NETWORK.fullmatch(found) else None


def warn_if_shared(path: Path) -> None:
    """Warn if other machines could open the study file, too."""
    kind = kind_of_network(path)
    if kind is not None:
        warnings.warn(
            f"{path} is on a network file system ({kind}), where locks are not safe between "
            "machines: use this study on one machine only, or a PostgreSQL server "
            '(study="postgresql://user@host/db#name") for several',
            stacklevel=2,
        )
