"""What a study needs of the place where its events are kept, whatever that place is.

A journal is a list of numbered events that only grows. Several processes may have it open. They
take turns: a process that wants to write waits for its turn, reads what others have written since
its own last event, appends, and lets the next one have its turn. Nothing else in the package knows
whether the events are in a file or on a server.
"""

import os
from collections.abc import Callable, Collection, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeAlias

from ..errors import StudyError
from ..events import Event
from .rows import BadRowError, Row, as_event

FORMAT = 4
"""The format of the settings and events that this version reads and writes."""


class Address(str):
    """The address of a study on a server, without its password."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name of the study."""
        return self.partition("#")[2]


Place: TypeAlias = Path | Address
"""Where a study is: a file, or a name on a server."""

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
    def place(self) -> Place:
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

    def append(self, event: Event) -> None:
        """Write an event behind those that were read; when this returns, it cannot be lost.

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

    def backup(self, to: Path) -> None:
        """Write the study in its present state to a new file."""
        raise NotImplementedError

    def spare_place(self) -> Path:
        """An unused name for a file with what an open study has in memory, if it is gone."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the study, so that others may evaluate what this process has not finished."""
        raise NotImplementedError


left_to_parent: list[object] = []
"""Connections in a forked child, kept alive here because only the parent may close them."""


def check_format(place: Place, version: int) -> None:
    """Raise an error if a study has another format than this version reads."""
    if version != FORMAT:
        newer = version > FORMAT
        raise StudyError(
            f"{place}: was written by {'a newer' if newer else 'an older'} bamsoo (format "
            f"{version}; this one reads {FORMAT}); {'update bamsoo' if newer else 'use that one'} "
            "to open it"
        )


def damaged(place: Place, what: str) -> StudyError:
    """The error for a damaged study, with what can be done about it."""
    return StudyError(
        f"{place}: is damaged ({what}); it was not changed: restore a copy, or try `bamsoo repair`"
    )
