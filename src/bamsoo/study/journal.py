"""What a study needs of the place where its events are kept, whatever that place is.

A journal is a list of numbered events that only grows. Several processes may have it open. They
take turns: a process that wants to write waits for its turn, reads what others have written since
its own last event, appends, and lets the next one have its turn. Nothing else in the package knows
whether the events are in a file or on a server.
"""

import logging
import os
import sys
from collections.abc import Callable, Collection, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from ..errors import StudyError
from ..record.events import Event
from .address import StudyPlace
from .rows import BadRowError, Row, as_event

FORMAT = 4
"""The format of the settings and events that this version reads and writes."""


log = logging.getLogger("bamsoo.study")
"""What somebody has to know who waits for a study, or keeps its file. Unlike the log of a run, it
is shown if the caller has not configured logging."""


class _Shown(logging.Handler):
    """Prints on standard error, unless the caller has said where to."""

    def emit(self, record: logging.LogRecord) -> None:
        if not logging.getLogger().handlers:
            text = "".join(c if c.isprintable() else " " for c in record.getMessage())
            print(f"bamsoo: {text}", file=sys.stderr)


log.addHandler(_Shown(logging.WARNING))

Metadata: TypeAlias = Callable[[], dict[str, Any]]
"""Makes what a new study stores in addition to its events."""


class GoneError(StudyError):
    """An open study was removed, replaced or truncated."""


class Journal:
    """An open study. It belongs to the process that opened it, and not to forked children of it."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._count, self._last = 0, ""  # number of events read, and the checksum of the last one
        self._least = 0  # the number of events that the study has at least

    @property
    def place(self) -> StudyPlace:
        """Where the study is, for messages."""
        raise NotImplementedError

    @property
    def forked(self) -> bool:
        """Whether this is a child of the process that opened the study."""
        return os.getpid() != self._process

    def check_process(self) -> None:
        """Raise an error in a forked child, because only its parent may write."""
        if self.forked:
            raise StudyError(
                f"{self.place}: the study was opened by process {self._process} and cannot be used "
                f"in process {os.getpid()}, which was forked from it; use it in the first one"
            )

    def _read(self, after: int, rows: Iterable[Row], last: str) -> list[Event]:
        """The events of the rows behind the first `after` ones; `last` is the checksum before."""
        events: list[Event] = []
        for row in rows:
            events.append(as_event(after + len(events) + 1, row))
            last = row[-1]
        if after + len(events) < self._least:
            raise BadRowError(f"event {after + len(events) + 1} is missing")
        self._count, self._last = after + len(events), last
        self._least = max(self._least, self._count)
        return events

    def meta(self) -> dict[str, Any]:
        """Everything that is stored in addition to the events."""
        raise NotImplementedError

    def events(self, after: int = 0) -> list[Event]:
        """The events behind the first `after` ones, in order; cheap if there are none."""
        raise NotImplementedError

    def turn(self) -> AbstractContextManager[None]:
        """Wait for the turn of this process, which lasts until the end of the block."""
        raise NotImplementedError

    def append(self, *events: Event) -> None:
        """Write events behind those that were read; when this returns, they cannot be lost.

        Where the place has transactions, all of them are there or none.

        Raises OvertakenError if the study has more events than this process has read.
        """
        raise NotImplementedError

    def set_meta(self, key: str, value: Any) -> None:
        """Store something in addition to the events."""
        raise NotImplementedError

    def taken(self) -> Collection[int]:
        """The trials that other living processes evaluate."""
        raise NotImplementedError

    def hold(self, trials: Collection[int]) -> None:
        """Note which trials this process evaluates, before it changes anything else.

        Raises OvertakenError if others may have had a turn since that of this process began.
        """
        raise NotImplementedError

    def contents(self) -> tuple[dict[str, Any], list[Event]]:
        """Everything that is stored, and all events; they do not count as read."""
        raise NotImplementedError

    @property
    def file(self) -> Path:
        """The file, or that which the study could have; names of copies derive from it."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the study, so that others may evaluate what this process has not finished."""
        raise NotImplementedError


KEPT = ("settings", "identity", "created", "note")
"""What a repair keeps in addition to the events."""


class Readable(NamedTuple):
    """What can be read of a damaged study."""

    place: StudyPlace
    meta: dict[str, Any]
    events: dict[int, Event]
    """The events by number."""
    missing: tuple[int, ...]
    lost: tuple[str, ...]

    @property
    def checked(self) -> "Readable":
        """The same; raises an error if nothing can be saved."""
        if "settings" not in self.meta:
            raise StudyError(
                f"{self.place}: its settings cannot be read, and without them nothing can be saved"
            )
        return self


@dataclass(frozen=True)
class Backend:
    """What there is for a kind of place; each function but `open` takes an address of that kind."""

    open: Callable[[Any, bool, Metadata], Journal]
    """Opens a study; to write, it is created if need be, with the metadata of `new()`."""
    exists: Callable[[Any], bool]
    """Whether there is something at an address."""
    is_open: Callable[[Any], bool]
    """Whether a living process has the study open for writing."""
    signature: Callable[[Any], object]
    """A value that changes whenever the study has been written to."""
    readable: Callable[[Any], Readable]
    """What can be read of a study that may be damaged."""


left_to_parent: list[object] = []
"""Connections in a forked child, kept alive here because only the parent may close them."""


def check_format(place: StudyPlace, version: int) -> None:
    """Raise an error if a study has another format than this version reads."""
    if version != FORMAT:
        newer = version > FORMAT
        raise StudyError(
            f"{place}: was written by {'a newer' if newer else 'an older'} bamsoo (format "
            f"{version}; this one reads {FORMAT}); {'update bamsoo' if newer else 'use that one'} "
            "to open it"
        )


def damaged(place: StudyPlace, what: str) -> StudyError:
    """The error for a damaged study, with what can be done about it."""
    return StudyError(
        f"{place}: is damaged ({what}); it was not changed: restore a copy, or try `bamsoo repair`"
    )
