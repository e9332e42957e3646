"""A place for studies to copy: a folder with one file per event.

Copy this file to `src/bamsoo/study/`. The class of the address goes to `address.py` there, where
`parse` has to make one of the text that people give, and it gets a line in `MODULES` of
`backends.py`. Nothing else has to change. A test takes this file, as it is, through a run that is
continued, copied and shown.

What must not go here:

- what the events mean, and whether they fit the study: `kept.py` checks them, for all places;
- the form of an event: `as_row` and `as_event` of `rows.py` make rows of them, with checksums, so
  that damage is noticed in every place in the same way;
- the search: a journal is a list that only grows. What others have written is read by `events`
  before each turn, and the search catches up with it;
- passwords in a message: `shown` of the address is the form that people may see.
"""

import json
import os
from collections.abc import Collection
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bamsoo.base.guard import OvertakenError
from bamsoo.errors import StudyError
from bamsoo.record.events import Event
from bamsoo.study.journal import Backend, Journal, Metadata, Readable, damaged
from bamsoo.study.lock import FileLock, is_locked
from bamsoo.study.rows import as_event, as_row


@dataclass(frozen=True)
class FolderAddress:
    """A study in a folder."""

    path: Path

    @property
    def shown(self) -> str:
        """The address for people to read."""
        return os.fspath(self.path)

    @property
    def file(self) -> Path:
        """What is made from a study has names that derive from this one."""
        return self.path.with_suffix(".db")


class FolderJournal(Journal):
    """An open study in a folder, which one process at a time may have open for writing."""

    def __init__(self, address: FolderAddress, write: bool, new: Metadata) -> None:
        """Open the folder; to write, create it if need be, with the metadata of `new()`."""
        super().__init__()
        self.path = address.path
        self._lock: FileLock | None = None
        if write:
            self.path.mkdir(exist_ok=True)
            # The lock ends with the process, however it ends. Nothing has to be cleared up after a
            # process that was killed, and whatever it has written is valid.
            self._lock = FileLock(self.path / "lock")
            if not self._lock.acquire(wait=False):
                raise StudyError(f"{self.path}: another process has the study open; end that first")
            if not self._meta.exists():
                _write(self._meta, new())
        if not self._meta.exists():
            raise StudyError(f"{self.path}: there is no such study; check the path")

    @property
    def place(self) -> Path:
        return self.path

    @property
    def file(self) -> Path:
        return self.path.with_suffix(".db")

    @property
    def _meta(self) -> Path:
        return self.path / "meta.json"

    # --- reading

    def meta(self) -> dict[str, Any]:
        meta: dict[str, Any] = json.loads(self._meta.read_text("utf-8"))
        return meta

    def events(self, after: int = 0) -> list[Event]:
        # Only what is new is read: this is called before each evaluation.
        rows = []
        try:
            while (file := self.path / f"{after + len(rows) + 1}.json").exists():
                rows.append(json.loads(file.read_text("utf-8")))
            # This counts the events that were read, too, which `append` relies on.
            return self._read(after, rows, self._last if after else "")
        except ValueError as error:  # no JSON, or not the row of an event
            raise damaged(self.place, str(error)) from error

    def contents(self) -> tuple[dict[str, Any], list[Event]]:
        found = readable(FolderAddress(self.path))
        return found.meta, [*found.events.values()]

    # --- writing

    def turn(self) -> AbstractContextManager[None]:
        # Where several processes write, they wait here for each other, event by event.
        return nullcontext()

    def append(self, *events: Event) -> None:
        """Write events; when this returns, they are on disk, and they take effect only then."""
        # A place with transactions writes all of them or none. Here a process may end in between:
        # then the first ones count, and the same call of a run gives the others.
        for event in events:
            row = as_row(self._count + 1, event)
            try:
                _write(self.path / f"{row[0]}.json", row)
            except FileExistsError:  # somebody else has written an event that was not read
                raise OvertakenError from None
            self._count, self._last = row[0], row[-1]

    def set_meta(self, key: str, value: Any) -> None:
        _draft(self._meta, self.meta() | {key: value}).replace(self._meta)

    def taken(self) -> Collection[int]:
        return ()  # there are no other processes that evaluate trials

    def hold(self, trials: Collection[int]) -> None:
        pass  # and so nobody has to know

    def close(self) -> None:
        if self._lock is not None:
            self._lock.close()


def _write(file: Path, content: Any) -> None:
    """Write a new file, as a whole or not at all; raises FileExistsError if there is one."""
    draft = _draft(file, content)
    try:
        os.link(draft, file)  # renaming would replace it
    finally:
        draft.unlink()


def _draft(file: Path, content: Any) -> Path:
    draft = file.with_suffix(".draft")
    with draft.open("w", encoding="utf-8") as stream:
        json.dump(content, stream)
        stream.flush()
        os.fsync(stream.fileno())
    return draft


# --- functions that need no open study


def exists(address: FolderAddress) -> bool:
    """Whether there is something at this address."""
    return address.path.exists()


def is_open(address: FolderAddress) -> bool:
    """Whether a process has the study open for writing."""
    return is_locked(address.path / "lock")


def signature(address: FolderAddress) -> object:
    """A value that changes with every write."""
    return {file.name: file.stat().st_mtime_ns for file in address.path.glob("*.json")}


def readable(address: FolderAddress) -> Readable:
    """What can be read; `bamsoo repair` makes a study of what is left of a damaged one."""
    meta: dict[str, Any] = {}
    events: dict[int, Event] = {}
    lost: list[str] = []
    for file in sorted(address.path.glob("*.json")):
        try:
            content = json.loads(file.read_text("utf-8"))
            if file.stem == "meta":
                meta = content
            else:
                events[int(file.stem)] = as_event(int(file.stem), tuple(content))
        except ValueError:  # not JSON, or not the row of an event
            lost.append(file.name)
    events = dict(sorted(events.items()))
    missing = tuple(set(range(1, max(events, default=0) + 1)) - set(events))
    return Readable(address.path, meta, events, missing, tuple(lost))


BACKEND = Backend(FolderJournal, exists, is_open, signature, readable)
