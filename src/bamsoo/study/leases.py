"""Who evaluates which trial of a study file: a small file next to it, and a lock per process.

That is not an event, because it ends with the process. Each process that has the study open holds
the lock on a file of its own until it ends, so that others on the machine notice at once when it is
dead. Everything here is read and written by the process whose turn it is.
"""

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from .lock import FileLock, is_locked


class Leases:
    """The processes that have a study file open, and the trials that each of them evaluates.

    Parameters
    ----------
    study : Path
        The study, with symbolic links resolved.
    """

    def __init__(self, study: Path) -> None:
        self._study, self._file = study, Path(f"{study}-leases")
        self._own = token_hex(8)
        self._alive = FileLock(_mark(study, self._own))

    def arrive(self) -> bool:
        """Enter this process; True if it is the only one."""
        self._alive.acquire()
        others = self._others()
        self._write({**others, self._own: []})
        return not others

    def taken(self) -> set[int]:
        """The trials that other living processes evaluate."""
        return {trial for trials in self._others().values() for trial in trials}

    def hold(self, trials: Iterable[int]) -> None:
        """Note the trials that this process evaluates."""
        self._write({**_read(self._file), self._own: sorted(trials)})

    def leave(self) -> bool:
        """Remove this process; True if it was the last one."""
        others = self._others()
        if others:
            self._write(others)
        else:
            self._file.unlink(missing_ok=True)
        self._alive.remove()
        return not others

    def _others(self) -> dict[str, list[int]]:
        """The other processes, after removing what dead ones left behind."""
        found = _read(self._file)
        others = {}
        for holder, trials in found.items():
            if holder != self._own:
                if is_locked(_mark(self._study, holder)):
                    others[holder] = trials
                else:
                    _mark(self._study, holder).unlink(missing_ok=True)
        if len(others) < len(found) - (self._own in found):
            own = {self._own: found[self._own]} if self._own in found else {}
            self._write({**others, **own})
        return others

    def _write(self, held: dict[str, list[int]]) -> None:
        # Not synchronised with the disk: after a power failure, no process is alive anyway.
        self._file.write_text(json.dumps(held), "ascii")


def is_open(study: Path) -> bool:
    """Whether a process has the study at this path open for writing."""
    study = Path(os.path.realpath(study))
    return any(is_locked(_mark(study, holder)) for holder in _read(Path(f"{study}-leases")))


def _mark(study: Path, holder: str) -> Path:
    return Path(f"{study}-by-{holder}")


def _read(file: Path) -> dict[str, list[int]]:
    """The trials by process; nothing if the file is not there, or its writer died while writing."""
    with suppress(OSError, ValueError):
        found = json.loads(file.read_bytes())
        if isinstance(found, dict) and all(
            holder.isalnum() and isinstance(trials, list) for holder, trials in found.items()
        ):
            return found
    return {}
