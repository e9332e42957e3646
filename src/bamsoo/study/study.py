"""A search that outlives its process: ask and tell, with every event in a file first.

Resume is replay. A search is a function of its settings and of the order of asks and tells;
the file holds both, and opening it walks a fresh search through them.
"""

import platform
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import isfinite
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
import scipy
from scipy.optimize import OptimizeResult

from .._typing import Array
from ..algorithms import resolve
from ..algorithms.search import Algorithm
from ..checks import brief
from ..errors import (
    ExhaustedError,
    SpaceError,
    StudyError,
    TrialError,
)
from ..optimizer import (
    Evaluation,
    Optimizer,
    Trial,
    as_value,
)
from ..space import Space, SpaceLike
from .journal import FORMAT, Event, Journal
from .settings import (
    algorithm_from_json,
    algorithm_to_json,
    difference,
    plain,
    space_from_json,
    space_to_json,
)


class Record(NamedTuple):
    """A trial as the study holds it.

    `state` is "done", "failed", "out" (asked, not told), or "given": a point that nobody
    asked for, without a number. Times are seconds since 1970.
    """

    number: int | None
    params: dict[str, Any]
    value: float | None
    state: str
    error: str | None
    asked_at: float | None
    told_at: float | None


class Study:
    """An optimiser whose every ask and tell is in a file before it counts; see `Study.open`."""

    def __init__(self, journal: Journal, write: bool, replay: bool) -> None:
        self._journal, self._write = journal, write
        self.path = journal.path
        self._meta = journal.meta()
        self.settings: dict[str, Any] = self._meta["settings"]
        self._spoilt: str | None = None
        self._events: list[Event] = []
        self._points: dict[int, Array] = {}  # of every trial asked
        self._told: dict[int, Event] = {}
        self._again: deque[int] = deque()
        try:
            self._algorithm = algorithm_from_json(self.settings["algorithm"])
            self._fresh()
        except (KeyError, TypeError, AttributeError) as error:
            raise self._damaged(f"its settings make no sense: {error!r}") from error
        self.space: Space = self._optimizer.space
        for event in journal.events():
            self._enter(event)
        if not write:
            self._warm(self._events)
            return
        if replay:
            self._replay()
        else:
            self._warm(self._events)
            self._record(Event("restart", None, None, None, None, time.time()))
        self._again = deque(number for number in self._points if number not in self._told)

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        *,
        space: SpaceLike = None,
        direction: str | None = None,
        algorithm: str | Algorithm | None = None,
        seed: int | None = None,
        replay: bool = True,
        readonly: bool = False,
    ) -> "Study":
        """Open a study file, or make one.

        Parameters
        ----------
        path : path
            A new file needs `space`; an existing one needs no setting, and refuses others
            than its own.
        space, direction, algorithm, seed
            As in `Optimizer`, with its defaults where the file is new.
        replay : bool
            Walk a fresh search through the stored events and check that it asks for the
            same points, as it must for the run to go on as if it had never ended. False:
            begin a fresh search that knows all values told so far (for a study whose
            points this version would not ask for). That is noted in the file.
        readonly : bool
            For `result` (without tree and nrejected, which only a replay knows) and `trials`:
            no replay, no lock, also beside a running driver.

        Raises
        ------
        StudyError
            Where the file is no study, is damaged, is being written by another process, has
            other settings, or replays to other points.

        Examples
        --------
        >>> import bamsoo, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "run.db")
        >>> with bamsoo.Study.open(path, space={"x": (0, 1)}, algorithm="soo") as study:
        ...     trial = study.ask()
        >>> with bamsoo.Study.open(path) as study:  # in another process, on another day
        ...     trial = study.ask()  # handed out again: nobody has told it
        ...     study.tell(trial, (trial.params["x"] - 0.3) ** 2)
        ...     study.result.nfev
        1
        """
        given = _settings(space, direction, algorithm, seed)

        def new() -> dict[str, Any]:
            if space is None:
                raise StudyError(
                    f"{path}: there is no such study; a new one needs a space to search"
                )
            settings = {**_settings(None, "minimize", "auto", 0), **given}
            Optimizer(  # refuses what does not go together before there is a file
                space,
                settings["direction"],
                resolve("auto" if algorithm is None else algorithm),
                settings["seed"],
            )
            return {
                "format": FORMAT,
                "versions": _versions(),
                "created": time.time(),
                "settings": settings,
            }

        journal = Journal(Path(path), not readonly, new)
        try:
            stored = journal.meta().get("settings", {})
            if not {"space", "direction", "algorithm", "seed"} <= set(stored):
                raise StudyError(f"{journal.path}: is damaged (its settings are missing)")
            _refuse_others(journal.path, stored, given)
            return cls(journal, not readonly, replay)
        except BaseException:
            journal.close()
            raise

    def check_settings(
        self,
        space: SpaceLike = None,
        direction: str | None = None,
        algorithm: str | Algorithm | None = None,
        seed: int | None = None,
    ) -> None:
        """Refuse, with a StudyError, settings that are not this study's."""
        _refuse_others(self.path, self.settings, _settings(space, direction, algorithm, seed))

    # --- what the caller does

    def ask(self) -> Trial:
        """The next point to evaluate; first those that were out when the last process ended.

        Raises
        ------
        ExhaustedError
            When the search has nothing left to evaluate.
        """
        self._check_usable()
        if self._again:
            number = self._again.popleft()
        else:
            with self._all_or_nothing():
                x = self._next()
                number = len(self._points)
                self._record(Event("ask", number, x.tolist(), None, None, time.time()))
        return self._trial(number)

    def tell(
        self,
        trial: Trial | Array | Mapping[str, Any],
        value: Any,
        error: str | None = None,
    ) -> None:
        """Report a value; when this returns, it is on the disk.

        Parameters
        ----------
        trial : Trial or point
            What `ask` returned, in this process or an earlier one; or a point of the space
            that was evaluated elsewhere.
        value : float or None
            None, nan and inf mean that the evaluation failed.
        error : str, optional
            Why it failed.
        """
        self._check_usable()
        number = as_value(value) + 0.0  # sqlite knows no -0.0
        stored = number if isfinite(number) else None
        if stored is None and error is None:
            error = f"the value is {brief(value)}"
        if isinstance(trial, Trial):
            self._check_out(trial)
            event = Event("tell", trial.number, None, stored, error, time.time())
        else:
            point = self.space.point(trial)
            event = Event("tell", None, point.tolist(), stored, error, time.time())
        with self._all_or_nothing():
            self._record(event)
            self._apply(event)
        if event.trial is not None and event.trial in self._again:
            self._again.remove(event.trial)

    def give_back(self, trial: Trial) -> None:
        """Nobody evaluates this trial any more: `ask` hands it out again, before new ones."""
        if trial.number not in self._told and trial.number not in self._again:
            self._again = deque(sorted([*self._again, trial.number]))

    @property
    def result(self) -> OptimizeResult:
        """What is known so far, as a scipy OptimizeResult; see `bamsoo.minimize`."""
        result = self._optimizer.result
        result.nfev = self.told
        return result

    @property
    def trials(self) -> list[Record]:
        """Every trial asked, and every point given, in order."""
        records = []
        for event in self._events:
            if event.kind == "ask":
                assert event.trial is not None
                told = self._told.get(event.trial)
                records.append(self._as_record(event, told))
            elif event.kind == "tell" and event.trial is None:
                records.append(self._as_record(None, event))
        return records

    @property
    def told(self) -> int:
        """Evaluations of trials that were asked for."""
        return len(self._told)

    @property
    def best(self) -> Evaluation | None:
        """The best evaluation so far."""
        return self._optimizer.best

    @property
    def rejected(self) -> int:
        """Nodes the GP has rejected so far."""
        return self._optimizer.rejected

    def reaches(self, target: float) -> bool:
        """Whether the best value so far is at least as good as `target`."""
        return self._optimizer.reaches(target)

    @property
    def note(self) -> Any:
        """What a driver keeps beside the trials, such as how to evaluate them; None at first."""
        return self._meta.get("note")

    @note.setter
    def note(self, value: Any) -> None:
        self._check_usable()
        self._journal.set_meta("note", value)
        self._meta["note"] = value

    def close(self) -> None:
        """Close the file, and let another process write."""
        self._journal.close()
        self._write = False
        self._spoilt = self._spoilt or f"{self.path}: the study is closed; open it again"

    def __enter__(self) -> "Study":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<study {str(self.path)!r}: {self.told} of {len(self._points)} trials told>"

    # --- events: kept, applied, replayed

    def _fresh(self) -> None:
        """A search that knows nothing."""
        self._optimizer = Optimizer(
            space_from_json(self.settings["space"]),
            self.settings["direction"],
            self._algorithm,
            self.settings["seed"],
        )
        self._asked: dict[int, Trial] = {}  # trials of this search that are out, by our number
        self._before: dict[bytes, Trial | None] = {}  # points out since before it began

    def _enter(self, event: Event) -> None:
        """Take an event into the books; refuse one that cannot follow those before it."""
        if event.kind == "ask":
            if event.trial != len(self._points):
                raise self._damaged(f"trial {event.trial} is asked out of order")
            self._points[event.trial] = self._checked(event)
        elif event.kind == "tell" and event.trial is not None:
            if event.trial not in self._points or event.trial in self._told:
                raise self._damaged(f"trial {event.trial} is told, and is not out")
            self._told[event.trial] = event
        elif event.kind == "tell":
            self._checked(event)
        elif event.kind != "restart":
            raise self._damaged(f"an event is called {event.kind!r}")
        self._events.append(event)

    def _checked(self, event: Event) -> Array:
        try:
            return self.space.point(np.array(event.point, dtype=float))
        except (SpaceError, TypeError, ValueError) as error:
            raise self._damaged(f"the point {brief(event.point)}: {error}") from error

    def _record(self, event: Event) -> None:
        self._journal.append(event)
        self._enter(event)

    def _warm(self, events: list[Event]) -> None:
        """Tell a fresh search all values; trials still out are no trials of that search."""
        self._fresh()
        out = {}
        for event in events:
            if event.kind == "ask":
                assert event.trial is not None
                out[event.trial] = self._points[event.trial]
            elif event.kind == "tell":
                point = event.point if event.trial is None else out.pop(event.trial)
                self._optimizer.tell(np.array(point), event.value)
        self._before = {x.tobytes(): None for x in out.values()}

    def _next(self) -> Array:
        """The point the search asks for now, under the number that is next."""
        while True:
            trial = self._optimizer.ask()
            key = trial.x.tobytes()
            if key not in self._before:
                self._asked[len(self._points)] = trial
                return trial.x.copy()
            self._before[key] = trial  # it is out already: its value will serve both

    def _apply(self, event: Event) -> None:
        """Tell the search what an event tells."""
        if event.trial is None:
            self._optimizer.tell(np.array(event.point), event.value)
        elif event.trial in self._asked:
            self._optimizer.tell(self._asked.pop(event.trial), event.value)
        else:  # out since before this search began
            x = self._points[event.trial]
            trial = self._before.pop(x.tobytes(), None)
            self._optimizer.tell(x.copy() if trial is None else trial, event.value)

    def _replay(self) -> None:
        """Walk a fresh search through the events since the last restart."""
        events, points = self._events, self._points
        starts = [i for i, event in enumerate(events) if event.kind == "restart"]
        begin = starts[-1] + 1 if starts else 0
        self._points = {}
        for event in events[:begin]:
            if event.kind == "ask" and event.trial is not None:
                self._points[event.trial] = points[event.trial]
        self._warm(events[:begin])
        for event in events[begin:]:
            if event.kind == "tell":
                self._apply(event)
                continue
            assert event.trial is not None
            x = points[event.trial]
            try:
                now = self._next()
            except ExhaustedError:
                now = None
            if now is None or now.tobytes() != x.tobytes():
                raise self._mismatch(event.trial, x, now)
            self._points[event.trial] = x

    def _mismatch(self, number: int, x: Array, now: Array | None) -> StudyError:
        asked = "no point any more" if now is None else str(self.space.params(now))
        before, here = self._meta.get("versions", {}), _versions()
        changed = [
            f"{name} {before.get(name)} then, {version} now"
            for name, version in here.items()
            if before.get(name) != version
        ]
        return StudyError(
            f"{self.path}: trial {number} differs: the study holds "
            f"{self.space.params(x)}, the search asks for {asked}"
            f"{' (' + '; '.join(changed) + ')' if changed else ''}; open it with replay=False "
            "(--no-replay) to go on from its values with a fresh search"
        )

    def _damaged(self, what: str) -> StudyError:
        return StudyError(f"{self.path}: is damaged ({what}); restore a copy or begin another")

    # --- small things

    def _trial(self, number: int) -> Trial:
        x = self._points[number]
        return Trial(number, x.copy(), self.space, x.tobytes())

    def _check_usable(self) -> None:
        if self._spoilt is not None:
            raise StudyError(self._spoilt)
        if not self._write:
            raise StudyError(f"{self.path}: the study is open for reading only")

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """An event that is half done, in the file and not here, is the end of this object."""
        try:
            yield
        except ExhaustedError:
            raise
        except BaseException:
            self._spoilt = f"{self.path}: writing was interrupted; open the study again"
            raise

    def _check_out(self, trial: Trial) -> None:
        x = self._points.get(trial.number)
        if x is None or x.tobytes() != trial._key:
            raise TrialError(f"trial {trial.number} is not of this study; tell it where it is")
        if trial.number in self._told:
            raise TrialError(f"trial {trial.number} was told already; a value is told once")

    def _as_record(self, asked: Event | None, told: Event | None) -> Record:
        event = asked or told
        assert event is not None
        return Record(
            event.trial,
            self.space.params(np.array(event.point, dtype=float)),
            None if told is None else told.value,
            _state(asked, told),
            None if told is None else told.error,
            None if asked is None else asked.time,
            None if told is None else told.time,
        )


def _state(asked: Event | None, told: Event | None) -> str:
    if told is None:
        return "out"
    if told.value is None:
        return "failed"
    return "given" if asked is None else "done"


def _settings(
    space: SpaceLike,
    direction: str | None,
    algorithm: str | Algorithm | None,
    seed: int | None,
) -> dict[str, Any]:
    """Those settings that were given, as JSON holds them."""
    given: dict[str, Any] = {}
    if space is not None:
        given["space"] = space_to_json(space if isinstance(space, Space) else Space(space))
    if direction is not None:
        given["direction"] = direction
    if algorithm is not None:
        given["algorithm"] = algorithm_to_json(resolve(algorithm))
    if seed is not None:
        given["seed"] = plain("seed", seed)
    return given


def _refuse_others(path: Path, stored: dict[str, Any], given: dict[str, Any]) -> None:
    differs = difference(stored, given)
    if differs is not None:
        raise StudyError(
            f"{path}: the study has another {differs}; open it with its own settings or begin "
            "another file"
        )


def _versions() -> dict[str, str]:
    from .. import __version__

    return {
        "bamsoo": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "machine": platform.machine(),
    }
