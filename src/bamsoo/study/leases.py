"""Who evaluates which trial of a study file: a text in its lock file, and a lock per process.

That is not an event, because it ends with the process. Each process that has the study open holds
the lock on a file of its own until it ends, so that others on the machine notice at once when it is
dead. Everything here is read and written by the process whose turn it is.
"""

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from glob import escape
from pathlib import Path
from secrets import token_hex

from .lock import FileLock, is_locked


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
