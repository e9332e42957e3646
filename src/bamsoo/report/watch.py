"""The report's data, kept up to date while a run writes the study.

Two threads share the work. One reads the file and describes its trials, which is quick. The other
replays the new events and describes the partition, the model and the gap, which takes as long as
the search itself spends computing. Each thread then pauses for several times as long as its last
description took, so that a long study slows down the page and not the run.
"""

import time
from collections.abc import Callable, Mapping
from os import PathLike
from threading import Event, Lock, Thread
from typing import Any, NamedTuple

from ..errors import StudyError
from ..study import Study
from .growth import Growth
from .model import describe_search, describe_trials
from .source import Shown, TrialSource, source_of

READ_EVERY, THINK_EVERY = 0.5, 3.0
"""Least number of seconds between two readings of the file, and between two models."""

REST = 4.0
"""A thread pauses for this many times as long as its last description took, so that describing a
long study again and again takes at most a fifth of a processor."""


class Versioned(NamedTuple):
    """One part of the page's data, and a number that changes with it."""

    version: int
    data: dict[str, Any]


class Watch:
    """The current data of the page for a study file.

    Parameters
    ----------
    study : path or TrialSource
        A study file, or where else to read a study from; it is only read.
    replay : bool, default True
        Whether to replay the search, as in `bamsoo.report.write`.

    Raises
    ------
    StudyError
        If the file is not a study.
    """

    def __init__(self, study: str | PathLike[str] | TrialSource, *, replay: bool = True) -> None:
        self._source = source_of(study)
        self._lock, self._ended = Lock(), Event()
        self._study: Shown = self._source.read()
        self._growth = Growth() if replay and isinstance(self._study, Study) else None
        self._seen: object = None
        self._problem: str | None = None
        self._thought_of: Shown | None = None  # the reading that the latest model is based on
        self._trials = Versioned(1, describe_trials(self._study))
        self._search = Versioned(1, _not_yet(replay))

    def start(self) -> None:
        """Follow the file from now on, until `stop`."""
        for step, pause in ((self.look, READ_EVERY), (self.think, THINK_EVERY)):
            Thread(target=self._repeat, args=(step, pause), daemon=True).start()

    def stop(self) -> None:
        """Stop following the file."""
        self._ended.set()

    def _repeat(self, step: Callable[[], float], pause: float) -> None:
        while not self._ended.is_set():
            try:
                took = step()
            except Exception as error:  # a bug: shown on the page, with a traceback in the terminal
                self._problem = f"bamsoo watch has failed ({type(error).__name__}: {error})"
                raise
            self._ended.wait(max(pause, REST * took))

    # --- the two steps

    def look(self) -> float:
        """Read the file again if it has changed; return the number of seconds that took."""
        began = time.monotonic()
        try:
            now = self._source.signature()
            if now == self._seen:
                return 0.0
            study = self._source.read()
        except StudyError as error:  # moved, damaged, or its server is down: for a while?
            self._problem = str(error)
            return 0.0
        self._problem = None
        self._seen = now
        read = [(each.created, each.length, each.note) for each in (study, self._study)]
        if read[0] == read[1]:  # nothing was written since
            return time.monotonic() - began
        described = describe_trials(study)
        with self._lock:
            self._study = study
            self._trials = Versioned(self._trials.version + 1, described)
        return time.monotonic() - began

    def think(self) -> float:
        """Bring the model up to date if there is anything new.

        Returns the number of seconds that the description took. The replay does not count, because
        no event is replayed twice.
        """
        study = self._study
        if study is self._thought_of:
            return 0.0
        if self._growth is not None and isinstance(study, Study):
            self._growth.catch_up(study)
        began = time.monotonic()
        described = describe_search(study, self._growth)
        with self._lock:
            self._thought_of = study
            self._search = Versioned(self._search.version + 1, described)
        return time.monotonic() - began

    # --- for the page

    def news(self, known: Mapping[str, int]) -> dict[str, Any]:
        """The current state, and those of the requested parts that have changed.

        `known` names the requested parts, "trials" and "search", with the version that the page
        has of each, or 0 if it has none.
        """
        with self._lock:
            parts = {"trials": self._trials, "search": self._search}
        wanted = {name: part for name, part in parts.items() if name in known}
        fresh = {name: p.data for name, p in wanted.items() if p.version != known[name]}
        growth = self._growth
        return {
            **fresh,
            "versions": {name: part.version for name, part in wanted.items()},
            "now": time.time(),
            "running": self._source.running(),
            "problem": self._problem,
            "replayed": None if growth is None else growth.trials,
        }


def _not_yet(replay: bool) -> dict[str, Any]:
    reason = "The search is being replayed." if replay else "Not shown, because of --no-replay."
    model = "The model is being computed."
    return {
        "partition": {"reason": reason},
        "model": {"reason": model},
        "limits": [],
        "ranges": None,
        "believed": {},
        "numbers": [],
        "active": None,
        "failed_nearby": None,
        "what_if": [],
        "least": None,
        "expected": None,
        "objectives": [],
        "predicted": None,
        "gap": None,
        "best": None,
        "notes": {},
        "seen": 0,
    }
