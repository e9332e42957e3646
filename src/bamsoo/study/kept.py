"""The journal of a study as its search sees it: events are checked, and last before they count."""

import platform
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import scipy

from ..base.blas import kernels_in_use
from ..base.checks import brief
from ..errors import ReplayError, SpaceError, StudyError, TrialError
from ..record.events import Asked, Enqueued, Event, Expected, Retried, Told, present
from ..search.journal import MemoryJournal
from ..search.setup import Setup
from ..space import Point, numbers_of
from .address import StudyPlace
from .journal import GoneError, Journal, damaged
from .sqlite import create, free_name

E = TypeVar("E", bound=Event)


class StudyJournal(MemoryJournal):
    """A journal that others may write to, in whatever place it is stored.

    Parameters
    ----------
    stored : Journal
        The place where the study is.
    settings : Setup
        The settings of the search; its identity becomes that of the study.
    write, replay : bool
        Whether the study is open for writing, and whether its events are repeated then.
    """

    def __init__(self, stored: Journal, settings: Setup, write: bool, replay: bool) -> None:
        self.stored, self.writes, self._replay = stored, write, replay
        self.meta = stored.meta()
        """What is stored in addition to the events."""
        self.setup = settings._replace(identity=str(self.meta.get("identity", "")))
        stored_constraints = self.meta.get("settings", {}).get("constraints", [])
        self._functions = any("function" in each for each in stored_constraints)
        self.spoilt: str | None = None
        """Why the study must not be written to any more."""
        self._known: list[Event] = []  # what was read and written, to be saved if the file is lost
        self._since: dict[int, float] = {}  # when each trial was handed out
        self.how_to_go_on = (
            f"everything told so far is in {stored.place}; run again with this study to continue"
        )

    @property
    def versions(self) -> dict[str, str]:
        """The versions of the software that the study was created with, by name."""
        found = self.meta.get("versions")
        return dict(found) if isinstance(found, dict) else {}

    def check_writable(self) -> None:
        """Raise an error if this process may not write."""
        self.stored.check_process()
        if self.spoilt is not None:
            raise StudyError(self.spoilt)
        if not self.writes:
            raise StudyError(
                f"{self.stored.place}: the study is open for reading only; open it without readonly"
            )

    def turn(self) -> AbstractContextManager[None]:
        """Keep other processes from writing until the end of the block."""
        return self.stored.turn()

    def events(self) -> list[Event]:
        """All events of the study, checked."""
        self._known = self._checked(self.stored.events())
        return self._known.copy()

    def _checked(self, events: list[Event]) -> list[Event]:
        return [checked(event, self.setup, self.stored.place) for event in events]

    def begin(self, events: list[Event]) -> int:
        """Of these events, how many count by their values alone; all, for reading only."""
        return present(events) if self.writes and self._replay else len(events)

    def news(self, known: int) -> list[Event]:
        """The events behind the first `known` ones, which other processes have written."""
        try:
            found = self.stored.events(known)
        except GoneError as error:
            raise self._gone(error) from error
        news = self._checked(found)
        self._known += news
        return news

    def again(self, known: list[Event]) -> list[Event] | None:
        """All events after an interrupt; None if the study must not be used any more."""
        return None if self.spoilt is not None else self.events()

    def append(self, *events: Event) -> list[Event]:
        """Write events, all of them or none; when this returns, they cannot be lost."""
        written = [self._completed(event) for event in events]
        with self._all_or_nothing():
            self.stored.append(*written)
        self._known += written
        return written

    def _completed(self, event: Event) -> Event:
        """An event that happens now, with all that somebody who reads it cannot find out."""
        event = replace(event, time=time.time())
        if isinstance(event, Told) and event.key is not None and self._functions:
            point = Point.given(self.setup.space, numbers_of(event.key))
            event = replace(event, barred=self.setup.constraints.violated(point.x) is not None)
        if isinstance(event, Told) and event.took is None and event.number in self._since:
            return replace(event, took=time.monotonic() - self._since[event.number])
        return event

    def set_meta(self, key: str, value: Any) -> None:
        """Store something in addition to the events."""
        with self._all_or_nothing():
            self.stored.set_meta(key, value)
        self.meta[key] = value

    def taken(self) -> Collection[int]:
        """The numbers of trials that other living processes evaluate."""
        return self.stored.taken()

    def hold(self, trials: Collection[int], more: Iterable[int]) -> None:
        """Note which trials this process evaluates, before anything changes; `more` are new."""
        self._since |= dict.fromkeys(more, time.monotonic())
        self.stored.hold(trials)

    def spoil(self, why: str) -> None:
        """Note that the search is not where the study is, so that it must not go on."""
        self.spoilt = why

    def close(self) -> None:
        """Close the study; other processes may then evaluate its unfinished trials."""
        self.stored.close()
        self.writes = False
        self.spoilt = self.spoilt or f"{self.stored.place}: the study is closed; open it again"

    @contextmanager
    def explained(self, algorithm: str = "") -> Iterator[None]:
        """In the block, name the file in an error about its events, and say what can be done."""
        before = self.versions
        try:
            yield
        except ReplayError as error:
            changed = [
                f"{name} {before.get(name)} then, {version} now"
                for name, version in versions().items()
                if before.get(name) != version
            ]
            since = f" ({'; '.join(changed)})" if changed else ""
            raise ReplayError(
                f"{self.stored.place}: {error}{since}; to continue from the study's values with a "
                "fresh search, open it with replay=False (--no-replay)"
            ) from error
        except TrialError as error:
            raise damaged(self.stored.place, str(error)) from error

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Mark this study as unusable if a write fails, because the search is ahead of the file."""
        try:
            yield
        except GoneError as error:
            raise self._gone(error) from error
        except StudyError:
            self.spoilt = f"{self.stored.place}: an earlier write failed; open the study again"
            raise

    def _gone(self, error: GoneError) -> StudyError:
        """Save what this process knows of a study that is gone, and mark it as unusable."""
        self.spoilt = f"{error}; {self._rescue()}"
        return StudyError(self.spoilt)

    def _rescue(self) -> str:
        """Save the contents of the lost file, which are in memory; return where, in words."""
        place = free_name(self.stored.file, "rescued")
        try:
            create(place, self.meta, self._known)
        except StudyError as error:
            return f"its contents could not be saved ({error})"
        return f"everything told before that is saved in {place}"


def checked(event: E, setup: Setup, path: StudyPlace) -> E:
    """An event of the study at `path`, with its point in the space's own form.

    Raises an error if the event does not fit the settings of the study.
    """
    try:
        if isinstance(event, (Asked, Enqueued, Expected, Told, Retried)) and event.key is not None:
            event = replace(event, key=Point.given(setup.space, numbers_of(event.key)).key)
    except SpaceError as error:
        raise damaged(path, f"a point is invalid: {error}") from error
    if isinstance(event, Told):
        names = setup.constraints.measured
        if event.values and len(event.values) != len(setup.objectives):
            aims = brief(list(setup.objectives.names))
            raise damaged(path, f"{brief(event.values)} is told for {aims}")
        if len(event.measured) != len(names) and (event.measured or event.values):
            raise damaged(path, f"{brief(event.measured)} is told for {brief(list(names))}")
    return event


def versions() -> dict[str, str]:
    """The versions and the machine on which the last digits of a search's points depend."""
    from .._version import __version__

    return {
        "bamsoo": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "machine": platform.machine(),
        "BLAS": kernels_in_use(),
    }
