"""A search that outlives its process: ask and tell, with every event written to a file first.

A study is resumed by replay. A search depends only on its settings and on the order of asks and
tells. The file holds both, and opening it repeats them in a fresh search.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from math import isfinite
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, overload

import numpy as np

from .._typing import Array
from ..algorithms import Algorithm, Name, planned, repeats, resolve
from ..checks import brief, storable
from ..defaults import ALGORITHM, DIRECTION, SEED
from ..errors import (
    BamsooError,
    ExhaustedError,
    StudyError,
    TrialError,
)
from ..guard import Guarded, step
from ..ledger import Evaluation, Ledger, Trial
from ..optimizer import Optimizer, as_value, as_variance, ask_several
from ..result import Result
from ..space import Constraints, Space, SpaceLike
from .journal import FORMAT, GoneError, Journal, create, damaged, free_name
from .replay import Observer, Replayed, Walk, last_restart, nobody, versions
from .rows import Event, is_time
from .settings import (
    algorithm_from_json,
    algorithm_to_json,
    constraints_from_json,
    constraints_to_json,
    difference,
    plain,
    space_from_json,
    space_to_json,
)

SETTINGS = {"space", "direction", "algorithm", "seed"}

EXHAUSTED = "exhausted"
"""Key of the number of events after which the search had nothing left to ask for. The search has
then taken one more step than the events show."""


class Record(NamedTuple):
    """A trial as it is recorded in the study.

    `state` is "done", "failed", "out" (pending: asked for but not told yet) or "given" (a point
    that nobody asked for; it has no number). Times are seconds since 1970.
    """

    number: int | None
    params: dict[str, Any]
    value: float | None
    state: str
    error: str | None
    asked_at: float | None
    told_at: float | None
    measured: dict[str, float] | None = None
    """The measured constraints by name; None if nothing was measured."""
    feasible: bool | None = None
    """Whether there is a value and every constraint is met; None without constraints."""
    variance: float | None = None
    """The variance of the noise in the value, if it was told."""


class Study(Guarded):
    """An optimiser that writes every ask and tell to a file before it takes effect.

    Studies are opened and created with `Study.open`. Several threads may share a study, but a
    forked process may not use the study of its parent.
    """

    def __init__(
        self,
        journal: Journal,
        write: bool,
        replay: bool,
        fresh: Optimizer,
        missing: str | None = None,
    ) -> None:
        super().__init__()
        self._missing = missing
        """The name of a constraint function that was not given when the study was opened."""
        self._journal, self._write = journal, write
        self.path = journal.path
        self._meta = journal.meta()
        self.settings: dict[str, Any] = self._meta["settings"]
        self._spoilt: str | None = None
        self._optimizer = fresh
        self._events = journal.events()
        begin = last_restart(self._events) if write and replay else len(self._events)
        self.replayed: Replayed = self._walk(fresh, begin)
        """The outcome of the replay when the study was opened."""
        if not write:
            return
        if not replay:
            self._record(Event("restart", None, None, None, None, time.time()))
        for trial in list(self.ledger.out.values()):
            fresh.give_back(trial)

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        *,
        space: SpaceLike = None,
        direction: str | None = None,
        algorithm: Name | Algorithm | None = None,
        seed: int | None = None,
        budget: int | None = None,
        constraints: Sequence[Any] | None = None,
        noise: float | str | None = None,
        replay: bool = True,
        readonly: bool = False,
    ) -> "Study":
        """Open a study file, or create one.

        Parameters
        ----------
        path : path
            The file. A new one needs `space`. An existing one needs no settings; if any are given,
            they must be its own.
        space, direction, algorithm, seed, noise : optional
            As in `Optimizer`, with the same defaults for a new file.
        budget : int, optional
            The number of evaluations that a new study is planned for, if its algorithm needs one
            (StoSOO, SequOOL, StroquOOL) and does not have its own.
        constraints : list, optional
            As in `Optimizer`. Names, formulas and a LinearConstraint are stored in the file. Of a
            function only the name is stored, so the function has to be given again whenever the
            study is opened for writing.
        replay : bool, default True
            Repeat the stored events in a fresh search, and check that it asks for the same points,
            so that the run continues as if it had never ended. With False, begin a fresh search
            that knows all values told so far, and note that in the file; this is for a study whose
            points this version would not ask for.
        readonly : bool, default False
            Open the study only for reading `result` and `trials`. This takes no lock and works
            while another process is writing. The result then has the values as told, but no tree
            and no nrejected, which only `replay` can recompute.

        Raises
        ------
        StudyError
            If the file is not a study, is damaged, is being written by another process, has
            other settings, or asks for other points when it is replayed.

        Examples
        --------
        >>> import bamsoo, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "run.db")
        >>> with bamsoo.Study.open(path, space={"x": (0, 1)}, algorithm="soo") as study:
        ...     trial = study.ask()
        >>> with bamsoo.Study.open(path) as study:  # in another process, on another day
        ...     trial = study.ask()  # handed out again, because it was not told
        ...     study.tell(trial, (trial.params["x"] - 0.3) ** 2)
        ...     study.result.nfev
        1
        """
        given = _settings(space, direction, algorithm, seed, constraints, noise)
        made: list[Optimizer] = []

        def new() -> dict[str, Any]:
            if space is None:
                raise StudyError(f"{path}: there is no such study; a new one needs a space")
            search = resolve(ALGORITHM if algorithm is None else algorithm, noise)
            settings = {**_settings(None, DIRECTION, ALGORITHM, SEED), **given}
            settings["algorithm"] = algorithm_to_json(planned(search, budget))
            # here invalid settings raise an error, before a file is created
            made.append(_optimizer(settings, constraints)[0])
            return {
                "format": FORMAT,
                "versions": versions(),
                "created": time.time(),
                "settings": settings,
            }

        journal = Journal(Path(path), not readonly, new)
        try:
            stored = journal.meta().get("settings", {})
            if not isinstance(stored, dict) or not set(stored) >= SETTINGS:
                raise damaged(journal.path, "its settings are missing")
            if algorithm is None and noise is not None:
                own = optimizer_of(journal.path, stored, constraints)[0].algorithm
                given["algorithm"] = algorithm_to_json(resolve(own, noise))
            _refuse_others(journal.path, stored, given)
            fresh, missing = (
                (made[0], None) if made else optimizer_of(journal.path, stored, constraints)
            )
            if missing is not None and not readonly:
                raise StudyError(f"{journal.path}: {_give_again(missing)}")
            return cls(journal, not readonly, replay, fresh, missing)
        except BaseException:
            journal.close()
            raise

    def check_settings(
        self,
        space: SpaceLike = None,
        direction: str | None = None,
        algorithm: Name | Algorithm | None = None,
        seed: int | None = None,
        constraints: Sequence[Any] | None = None,
    ) -> None:
        """Raise a StudyError if any of these settings differs from the study's own."""
        given = _settings(space, direction, algorithm, seed, constraints)
        _refuse_others(self.path, self.settings, given)

    # --- for the caller

    @overload
    def ask(self) -> Trial: ...

    @overload
    def ask(self, n: int) -> list[Trial]: ...

    def ask(self, n: int | None = None) -> Trial | list[Trial]:
        """The next trial to evaluate, or a list of `n` trials.

        Trials that were pending when the last process ended come first. The list is shorter if
        fewer than `n` points are left to evaluate.

        Parameters
        ----------
        n : int, optional
            The number of trials. By default a single trial is returned, not a list.

        Raises
        ------
        ExhaustedError
            When the search has nothing left to evaluate.
        """
        if n is not None:
            return ask_several(self, n)
        self._journal.check_process()
        handed: list[Trial] = []
        try:
            return self._ask(handed)
        except BaseException:
            for trial in handed:  # the caller never received it
                self._optimizer.give_back(trial)
            raise

    @step
    def _ask(self, handed: list[Trial]) -> Trial:
        self._check_usable()
        asked = len(self.ledger.trials)
        try:
            trial = self._optimizer.ask()
        except ExhaustedError:
            self._set_meta(EXHAUSTED, len(self._events))
            raise
        handed.append(trial)
        if trial.number == asked:  # a new trial, not one that is handed out again
            self._record(Event("ask", asked, trial.x.tolist(), None, None, time.time()))
        return trial

    def tell(
        self,
        trial: Trial | Array | Mapping[str, Any],
        value: Any,
        error: str | None = None,
        constraints: Mapping[str, Any] | None = None,
        *,
        variance: float | None = None,
    ) -> None:
        """Report a value. When this method returns, the value is on disk.

        Parameters
        ----------
        trial : Trial or point
            A trial that `ask` returned, in this process or an earlier one, or a point of the space
            that was evaluated elsewhere.
        value : float or None
            None, nan and inf mean that the evaluation failed.
        error : str, optional
            Why the evaluation failed.
        constraints : dict, optional
            The numbers that the evaluation measured, by name.
        variance : float, optional
            Variance of the noise in the value, as in `Optimizer.tell`.
        """
        self._journal.check_process()
        noise = as_variance(variance)
        number = as_value(value) + 0.0  # turns -0.0 into 0.0, as sqlite does
        stored = number if isfinite(number) else None
        if stored is None and error is None:
            error = f"the value is {brief(value)}"
        measured: list[float] | None = None
        if (stored is not None or constraints) and self.constraints.measured:
            measured = list(self.constraints.numbers(constraints))
        elif constraints:
            self.constraints.numbers(constraints)  # raises, because none is to be measured
        self._tell(trial, stored, None if error is None else storable(error), measured, noise)

    @step
    def _tell(
        self,
        trial: Trial | Array | Mapping[str, Any],
        stored: float | None,
        error: str | None,
        measured: list[float] | None,
        variance: float | None,
    ) -> None:
        self._check_usable()
        told: Trial | Array
        if isinstance(trial, Trial):
            told = self._own(trial)
            event = Event(
                "tell", trial.number, None, stored, error, time.time(), measured, variance
            )
        else:
            told = self.space.point(trial)
            event = Event(
                "tell", None, told.tolist(), stored, error, time.time(), measured, variance
            )
        self._record(event)
        named = self._named(measured)
        self._optimizer.tell(told, stored, error, named, variance=variance)

    def _named(self, measured: list[float] | None) -> dict[str, float] | None:
        """The measured constraints, by name."""
        if measured is None:
            return None
        return dict(zip(self.constraints.measured, measured, strict=True))

    @step
    def enqueue(self, point: Array | Mapping[str, Any]) -> None:
        """Have `ask` hand out this point before any point that the search chooses.

        It becomes a trial like any other. Nothing changes for a point that is already known or
        pending.
        """
        self._check_usable()
        x = self.space.point(point)
        self.constraints.check_point(x)
        number = len(self.ledger.trials)
        if self.ledger.value(x.tobytes()) is None and not self.ledger.is_out(x.tobytes()):
            self._record(Event("enqueue", number, x.tolist(), None, None, time.time()))
            self._optimizer.enqueue(x)

    def give_back(self, trial: Trial) -> None:
        """Note that nobody evaluates this trial any more, so that `ask` hands it out again."""
        self._optimizer.give_back(trial)

    def backup(self, path: str | PathLike[str]) -> None:
        """Write a copy of the study in its present state to a new file.

        An ordinary copy of a file that is being written may be damaged; this one is not.
        """
        with self._lock:
            self._journal.backup(Path(path))

    def replay(self, observer: Callable[[Optimizer, Trial], object] = nobody) -> Optimizer:
        """Repeat the stored events in a fresh search, and return that search with its model.

        This takes as long as the search spent computing, and evaluates nothing. The study itself,
        which may be open for reading only, is not changed.

        Parameters
        ----------
        observer : callable, optional
            Called as ``observer(search, trial)`` after each trial that the search asks for again.
            The search does not ask again for trials from before the last restart.

        Raises
        ------
        StudyError
            If the search asks for a point other than the one in the study.
        """
        walk = self.walk()
        self.walk_on(walk, observer)
        return walk.search

    def walk(self) -> Walk:
        """A replay that has not begun; `walk_on` takes it through the events."""
        if self._missing is not None:
            raise StudyError(f"{self.path}: {_give_again(self._missing)}")
        search, _ = _optimizer(self.settings, self._optimizer.constraints.given)
        return Walk(search, last_restart(self._events), self.path, self.versions)

    def walk_on(self, walk: Walk, observer: Callable[[Optimizer, Trial], object] = nobody) -> None:
        """Take a replay through the events that it has not taken yet.

        The walk may have begun on an earlier reading of this study, if `continues` says so; it then
        takes only as long as the search spent computing since. Everything else is as in `replay`.
        """
        for event in self._events[walk.done :]:
            walk.take(event, observer)
            walk.last = event
        if self._meta.get(EXHAUSTED) == len(self._events):  # one more ask found nothing left
            walk.asked_in_vain = True
            with suppress(ExhaustedError):
                walk.search.ask()

    def continues(self, walk: Walk) -> bool:
        """Whether the events that a walk has taken are the first events of this study.

        They are not if the study has been replaced by another file, or if a fresh search was
        started from its values (`replay=False`).
        """
        if walk.done > len(self._events) or walk.begin != last_restart(self._events):
            return False
        if walk.asked_in_vain and walk.done < len(self._events):
            return False  # its search has taken one more step than the events show
        return walk.done == 0 or self._events[walk.done - 1] == walk.last

    @property
    def result(self) -> Result:
        """The result so far; see `bamsoo.minimize` for its fields."""
        return self._optimizer.result

    def predict(self, points: Any) -> tuple[Array, Array]:
        """As `Optimizer.predict`; if the study is open for reading only, use `replay` instead."""
        return self._optimizer.predict(points)

    @property
    def trials(self) -> list[Record]:
        """Every trial, and every point that was told without being asked for, in order."""
        events = list(self._events)
        told = {e.trial: e for e in events if e.kind == "tell" and e.trial is not None}
        records = []
        for event in events:
            if event.kind in ("ask", "enqueue"):
                assert event.trial is not None
                records.append(self._as_record(event, told.get(event.trial)))
            elif event.kind == "tell" and event.trial is None:
                records.append(self._as_record(None, event))
        return records

    @property
    def space(self) -> Space:
        """The space that is searched."""
        return self._optimizer.space

    @property
    def constraints(self) -> Constraints:
        """The constraints that points have to meet."""
        return self._optimizer.constraints

    @property
    def ledger(self) -> Ledger:
        """The record of all trials, pending and finished."""
        return self._optimizer.ledger

    @property
    def told(self) -> int:
        """The number of trials that have been told."""
        return self._optimizer.told

    @property
    def best(self) -> Evaluation | None:
        """The best evaluation so far."""
        return self._optimizer.best

    @property
    def rejected(self) -> int:
        """The number of nodes that the GP has ruled out so far."""
        return self._optimizer.rejected

    def reaches(self, target: float) -> bool:
        """Whether the best value so far is at least as good as `target`."""
        return self._optimizer.reaches(target)

    @property
    def suspects_noise(self) -> bool:
        """Whether the values look noisy although the search takes them to be exact."""
        return self._optimizer.suspects_noise

    @property
    def how_to_go_on(self) -> str:
        """For an error message: where to find the values that have been told."""
        return f"everything told so far is in {self.path}; run again with this study to continue"

    @property
    def noise(self) -> float | str:
        """The variance of the noise that the search assumes; 0 without noise, or "learn".

        It is also "learn" for an algorithm that evaluates points repeatedly, which assumes noise
        without knowing its variance.

        For a study that is open for reading only, `result` and `best` use the values as told even
        under noise; the search's own estimates need a `replay`.
        """
        algorithm = self._optimizer.algorithm
        noise: float | str = "learn" if repeats(algorithm) else getattr(algorithm, "noise", 0.0)
        return noise

    @property
    def length(self) -> int:
        """The number of events in the study, which never decreases."""
        return len(self._events)

    @property
    def created(self) -> float | None:
        """When the study was created, in seconds since 1970; None if the file does not say."""
        created = self._meta.get("created")
        return created if is_time(created) else None

    @property
    def versions(self) -> dict[str, str]:
        """The versions of the software that the study was created with, by name."""
        stored = self._meta.get("versions")
        return dict(stored) if isinstance(stored, dict) else {}

    @property
    def note(self) -> Any:
        """What a driver stores with the study, such as how to evaluate trials; None at first."""
        return self._meta.get("note")

    @note.setter
    def note(self, value: Any) -> None:
        self._journal.check_process()
        self._set_note(value)

    @step
    def _set_note(self, value: Any) -> None:
        self._check_usable()
        self._set_meta("note", value)

    def close(self) -> None:
        """Close the file, and let another process write."""
        with nullcontext() if self._journal.forked else self._lock:
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
        return f"<study {str(self.path)!r}: {self.told} of {len(self.ledger.trials)} trials told>"

    # --- events: recorded and replayed

    def _set_meta(self, key: str, value: Any) -> None:
        if self._meta.get(key) != value:
            with self._all_or_nothing():
                self._journal.set_meta(key, value)
            self._meta[key] = value

    def _record(self, event: Event) -> None:
        with self._all_or_nothing():
            self._journal.append(event)
        self._events.append(event)

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Mark this study as unusable if a write fails, because the search is ahead of the file."""
        try:
            yield
        except GoneError as error:
            self._spoilt = f"{error}; {self._rescue()}"
            raise StudyError(self._spoilt) from error
        except StudyError:
            self._spoilt = f"{self.path}: an earlier write failed; open the study again"
            raise

    def _rescue(self) -> str:
        """Save the contents of the lost file, which are in memory; return where, in words."""
        place = free_name(self.path, "rescued")
        try:
            create(place, self._meta, self._events)
        except StudyError as error:
            return f"its contents could not be saved ({error})"
        return f"everything told before that is saved in {place}"

    def _cut_short(self) -> None:
        """Do nothing: `_repair` finds out whether the interrupt came before or after a write."""

    def _repair(self) -> None:
        """Bring the search to the state of the file, which holds all that has happened."""
        if self._spoilt is not None:
            return
        events, ledger = self._journal.events(), self.ledger
        asked = sum(event.kind in ("ask", "enqueue") for event in events)
        told = sum(event.kind == "tell" for event in events)
        if (asked, told) == (len(ledger.trials), len(ledger.evaluations)):
            self._events = events
            return
        held = set(ledger.out) - set(ledger.given_back)
        fresh, _ = _optimizer(self.settings, self._optimizer.constraints.given)
        before, self._events = self._events, events
        try:
            self._walk(fresh, last_restart(events))
        except BaseException:
            self._events = before
            raise
        for trial in list(fresh.ledger.out.values()):
            if trial.number not in held:
                fresh.give_back(trial)
        self._optimizer = fresh

    def _walk(self, search: Optimizer, begin: int, observer: Observer = nobody) -> Replayed:
        """Repeat the events in a fresh search; of those before `begin` it gets only the values."""
        walk = Walk(search, begin, self.path, self.versions)
        for event in self._events:
            walk.take(event, observer)
        return walk.replayed

    # --- helpers

    def _check_usable(self) -> None:
        if self._spoilt is not None:
            raise StudyError(self._spoilt)
        if not self._write:
            raise StudyError(
                f"{self.path}: the study is open for reading only; open it without readonly"
            )

    def _own(self, trial: Trial) -> Trial:
        """The pending trial with this number, even if an earlier process asked for it."""
        known = self.ledger.trials
        if trial.number >= len(known) or known[trial.number].key != trial.key:
            raise TrialError(
                f"trial {trial.number} belongs to another study; tell its value to that one"
            )
        if trial.number not in self.ledger.out:
            raise TrialError(
                f"trial {trial.number} has already been told; tell each trial only once"
            )
        return self.ledger.out[trial.number]

    def _as_record(self, asked: Event | None, told: Event | None) -> Record:
        event = asked or told
        assert event is not None
        x = np.array(event.point, dtype=float)
        return Record(
            event.trial,
            self.space.params(x),
            None if told is None else told.value,
            _state(asked, told),
            None if told is None else told.error,
            None if asked is None else asked.time,
            None if told is None else told.time,
            None if told is None else self._named(told.measured),
            self._feasible(x, asked, told),
            None if told is None else told.variance,
        )

    def _feasible(self, x: Array, asked: Event | None, told: Event | None) -> bool | None:
        if told is None or not self.settings.get("constraints"):
            return None
        met = told.value is not None and all(c <= 0.0 for c in told.measured or [])
        return met and (asked is not None or self.constraints.violated(x) is None)


def _give_again(name: str) -> str:
    return (
        f"the constraint {name} of this study is a Python function, which the file does not "
        "contain; open the study with the same constraints= as when it was created"
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
    algorithm: Name | Algorithm | None,
    seed: int | None,
    constraints: Sequence[Any] | None = None,
    noise: float | str | None = None,
) -> dict[str, Any]:
    """The settings that were given, in the form in which they are stored as JSON."""
    given: dict[str, Any] = {}
    if space is not None:
        given["space"] = space_to_json(space if isinstance(space, Space) else Space(space))
    if direction is not None:
        given["direction"] = direction
    if algorithm is not None:
        given["algorithm"] = algorithm_to_json(resolve(algorithm, noise))
    if seed is not None:
        given["seed"] = plain("seed", seed)
    if constraints:
        given["constraints"] = constraints_to_json(constraints)
    return given


def _optimizer(
    settings: dict[str, Any], constraints: Sequence[Any] | None = None
) -> tuple[Optimizer, str | None]:
    """A search that knows nothing, and the name of the first missing constraint function."""
    made, missing = constraints_from_json(settings.get("constraints", []), constraints)
    search = Optimizer(
        space_from_json(settings["space"]),
        settings["direction"],
        algorithm_from_json(settings["algorithm"]),
        settings["seed"],
        constraints=made,
    )
    return search, missing


def optimizer_of(
    path: Path, settings: Any, constraints: Sequence[Any] | None = None
) -> tuple[Optimizer, str | None]:
    """The same as `_optimizer`, with errors that name the study at `path`."""
    try:
        return _optimizer(settings, constraints)
    except StudyError as error:
        raise StudyError(f"{path}: {error}") from error
    except Exception as error:  # they may come from elsewhere and be anything
        why = str(error) if isinstance(error, BamsooError) else brief(error)
        raise damaged(path, f"its settings are invalid: {why}") from error


def _refuse_others(path: Path, stored: dict[str, Any], given: dict[str, Any]) -> None:
    if given.get("algorithm", {}).get("budget", 0) is None:  # then the stored budget is meant
        planned_for = stored["algorithm"].get("budget")
        given = {**given, "algorithm": {**given["algorithm"], "budget": planned_for}}
    differs = difference(stored, given)
    if differs is not None:
        raise StudyError(
            f"{path}: the study's {differs}; open it with its own settings, or use another file"
        )
