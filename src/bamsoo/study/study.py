"""A search that outlives its process: every event is written to a file before it takes effect.

A study is resumed by replay. A search depends only on its settings and its events. The file holds
both, and opening it applies the events to a fresh search.
"""

import itertools
import os
import re
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from ..algorithms import Algorithm, Name, planned, resolve
from ..algorithms.book import SAME
from ..algorithms.search import REPEAT
from ..base.checks import brief, count
from ..base.defaults import ALGORITHM, DIRECTION, SEED
from ..base.guard import transaction, writing_transaction
from ..base.simple import plain
from ..errors import (
    BamsooError,
    SettingsError,
    StudyError,
)
from ..model.warp import deviation
from ..record.events import (
    Asked,
    Enqueued,
    Event,
    Restarted,
    Told,
    present,
)
from ..record.objectives import Objectives, ObjectivesLike
from ..record.residuals import SumOfSquares
from ..record.trials import Evaluation, Record, Trial
from ..search.course import Course
from ..search.optimizer import Optimizer, Prepared
from ..search.setup import Setup, given_seed, setup_of
from ..search.unfinished import believed_ends
from ..space import Space, SpaceLike
from .address import StudyPlace, parse
from .backends import is_written, open_journal
from .journal import FORMAT, Journal, damaged
from .kept import StudyJournal, versions
from .rows import is_time
from .settings import (
    algorithm_from_json,
    algorithm_to_json,
    constraints_from_json,
    constraints_to_json,
    difference,
    options,
    space_from_json,
    space_to_json,
)
from .sqlite import create, reserved

if TYPE_CHECKING:
    from ..result.result import Result

SETTINGS = {"space", "direction", "algorithm", "seed"}

E = TypeVar("E", bound=Event)


class OtherSettingsError(StudyError):
    """The given settings are not those of the study.

    Parameters
    ----------
    differs : str
        What differs.
    command : str
        The command that begins a study with these settings; empty if there is none.
    python : str
        The arguments that do the same in Python.
    """

    def __init__(self, differs: str, command: str, python: str) -> None:
        either = f"{command}, or in Python " if command else ""
        super().__init__(
            f"{differs}; open it with its own settings, or begin a new study with what this one "
            f"knows: {either}{python}"
        )
        self.differs, self.command, self.python = differs, command, python

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.differs, self.command, self.python)


class Replayed(NamedTuple):
    """The outcome of the replay when a study was opened.

    Another processor rounds differently. If the search asks for a point that equals the stored one
    up to rounding, the stored one is used.
    """

    trials: int
    """The number of trials that the search was asked for again."""
    adopted: tuple[int, ...] = ()
    """The numbers of the trials whose points the search computes slightly differently here."""
    furthest: float = 0.0
    """The largest of those differences, as a share of a parameter's range."""

    def __str__(self) -> str:
        said = f"{count(self.trials, 'trial')} {'was' if self.trials == 1 else 'were'} replayed"
        if self.adopted:
            said += (
                f"; for {len(self.adopted)} of them this machine computes a slightly different "
                f"point because of rounding (by at most {self.furthest:.1g} of a range), and the "
                "stored point was used"
            )
        return said


class Study(Optimizer):
    """An optimiser that writes every event to a file before it takes effect.

    Studies are opened and created with `Study.open`. When `tell` returns, the value is on disk.
    Several processes may have the study open: each step of one of them begins with what the others
    have written. Trials whose process has ended are handed out first. Several threads may share a
    study, but a forked process may not use the study of its parent.
    """

    def __init__(
        self, stored: Journal, write: bool, replay: bool, settings: Setup, missing: str | None
    ) -> None:
        self._missing = missing
        """The name of a constraint function that was not given when the study was opened."""
        self.path: StudyPlace = stored.place
        restart = write and not replay
        with stored.turn() if restart else nullcontext():
            journal = StudyJournal(stored, settings, write, replay)
            super().__init__(Prepared(journal.setup, journal))
            self._journal: StudyJournal = journal
            begin = journal.begin(self._events)
            if restart:
                self._happen(Restarted())
        apart = self._course.apart
        asked = sum(isinstance(event, Asked) for event in self._events[begin:])
        self.replayed = Replayed(asked, tuple(apart), max(apart.values(), default=0.0))
        """The outcome of the replay when the study was opened."""

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        *,
        space: SpaceLike = None,
        direction: str | None = None,
        objectives: ObjectivesLike = None,
        algorithm: Name | Algorithm | None = None,
        seed: int | None = None,
        budget: int | None = None,
        constraints: Sequence[Any] | None = None,
        noise: float | str | None = None,
        steps: int | None = None,
        tol: float | None = None,
        rng: Any = None,
        replay: bool = True,
        readonly: bool = False,
    ) -> "Study":
        """Open a study, or create one.

        Parameters
        ----------
        path : path or address
            A file, or ``postgresql://user@host/db#name``. A new study needs `space`. An existing
            one needs no settings; if any are given, they must be its own.
        space, direction, objectives, algorithm, seed, noise, steps, tol, rng : optional
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
            If the file is not a study, is damaged, has other settings, or asks for other points
            when it is replayed.

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
        seed = given_seed(seed, rng, None)
        given = _settings(
            space, direction, algorithm, seed, constraints, objectives, steps, tol, noise
        )
        made: list[Setup] = []

        def new() -> dict[str, Any]:
            if space is None:
                raise StudyError(
                    f"{parse(path).shown}: there is no such study; a new one needs a space"
                )
            search = resolve(ALGORITHM if algorithm is None else algorithm, noise)
            settings = {**_settings(None, DIRECTION, ALGORITHM, SEED), **given}
            settings["algorithm"] = algorithm_to_json(planned(search, budget))
            if not settings.get("constraints"):
                settings.pop("constraints", None)
            made.append(_setup(settings, constraints)[0])
            Course(made[0])  # settings that the search refuses raise before a file is created
            return {
                "format": FORMAT,
                "identity": made[0].identity,
                "versions": versions(),
                "created": time.time(),
                "settings": settings,
            }

        journal = open_journal(path, not readonly, new)
        try:
            stored = journal.meta().get("settings", {})
            if not isinstance(stored, dict) or not set(stored) >= SETTINGS:
                raise damaged(journal.place, "its settings are missing")
            if algorithm is None and noise is not None:
                own = setup_of_study(journal.place, stored, constraints)[0].algorithm
                given["algorithm"] = algorithm_to_json(resolve(own, noise))
            _refuse_others(journal.place, stored, given)
            fresh, missing = (
                (made[0], None) if made else setup_of_study(journal.place, stored, constraints)
            )
            if missing is not None and not readonly:
                raise StudyError(f"{journal.place}: {_give_again(missing)}")
            return cls(journal, not readonly, replay, fresh, missing)
        except BaseException:
            journal.close()
            raise

    def check_settings(self, **given: Any) -> None:
        """Raise a StudyError if any of these settings, as in `open`, is not the study's own."""
        _refuse_others(self.path, self.settings, _settings(**given))

    def backup(self, path: str | PathLike[str]) -> None:
        """Write a copy of the study in its present state to a new file.

        An ordinary copy of a file that is being written may be damaged; this one is not.
        """
        with self._lock, reserved(Path(path)):
            create(Path(path), *self._journal.stored.contents())

    def replay(self, observer: Callable[[Optimizer, Trial], object] | None = None) -> Optimizer:
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
        search = self._twin()
        self._lead(search, observer)
        return search

    def _lead(
        self, search: Optimizer, observer: Callable[[Optimizer, Trial], object] | None = None
    ) -> None:
        """Take a search made by `_twin` through the events that it has not taken yet."""
        if self._missing is not None:
            raise StudyError(f"{self.path}: {_give_again(self._missing)}")
        with self._journal.explained():
            search._follow(self._events, observer)

    def _leads(self, search: Optimizer) -> bool:
        """Whether the events of a search are the first events of this study.

        They are not if the study has been replaced by another file, or if a fresh search was
        started from its values (`replay=False`).
        """
        events, done = self._events, len(search._events)
        same = done <= len(events) and events[:done][-1:] == search._events[-1:]
        return same and present(events) == present(search._events)

    # --- other processes

    def refresh(self) -> None:
        """Take in what other processes have written; `result`, `best` and `trials` do so, too."""
        if not self._journal.writes or self._journal.stored.forked:
            return
        with self._lock:
            if self._journal.spoilt is None and not self._broken:
                with suppress(StudyError):  # what is known here can be read in any case
                    transaction(Study._read_on)(self)

    def give_back(self, trial: Trial) -> None:
        """Note that nobody evaluates this trial any more, so that `ask` hands it out again.

        Trials that were given back are handed out before new ones, by any process.
        """
        super().give_back(trial)
        with suppress(StudyError):  # if the study cannot be written, its trials are free anyway
            self._free()

    @writing_transaction
    def _free(self) -> None:
        self._note_held()

    @property
    def result(self) -> "Result":
        """The result so far of all processes; see `bamsoo.minimize` for its fields."""
        self.refresh()
        result = super().result
        if not self._course.started and any(isinstance(each, Asked) for each in self._events):
            # the search was not replayed: its model comes when it is asked for
            result.replay_with(lambda: self.replay().result)
        return result

    @property
    def best(self) -> Evaluation | None:
        """The best feasible evaluation so far of all processes; see `Optimizer.best`."""
        self.refresh()
        return super().best

    @property
    def trials(self) -> list[Record]:
        """Every trial, and every point that was told without being asked for, in order."""
        self.refresh()
        constrained = bool(self.settings.get("constraints")) or self.space.pinned
        return list(self.ledger.records(constrained))

    @property
    def believed_ends(self) -> dict[int, list[tuple[float, float]]]:
        """For each stopped trial, what its curve says about its final values.

        These are a mean and a deviation for each objective. No search is replayed for them.
        """
        return believed_ends(self.space, self.ledger, self.objectives)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the search, as they are stored."""
        settings: dict[str, Any] = self._journal.meta["settings"]
        return settings

    @property
    def noise(self) -> float | str:
        """The variance of the noise that the search assumes; 0 without noise, or "learn".

        It is also "learn" for an algorithm that evaluates points repeatedly, which assumes noise
        without knowing its variance, and after a search has found a point with two values.

        For a study that is open for reading only, `result` and `best` use the values as told even
        under noise; the search's own estimates need a `replay`.
        """
        algorithm = self.algorithm
        noise: float | str = "learn" if algorithm.repeats else algorithm.noise
        return noise or ("learn" if self._found_noise else 0.0)

    @property
    def _found_noise(self) -> bool:
        """Whether the point that the search evaluated again, if it did, has two values."""
        asked = [e for e in self._events if isinstance(e, Asked | Enqueued)]
        again = next((e.key for e in asked if isinstance(e, Asked) and e.origin == REPEAT), None)
        if again is None:
            return False
        same = {e.number for e in asked if e.key == again}
        known = [e for e in self._events if isinstance(e, Told) and e.values]
        values = [e.values[0] for e in known]
        told = [e.values[0] for e in known if e.number in same or e.key == again]
        # the search compares values in its own units, in which it is a little more exact
        return len(told) > 1 and max(told) - min(told) > SAME * deviation(np.array(values))

    @property
    def length(self) -> int:
        """The number of events in the study, which never decreases."""
        return len(self._events)

    @property
    def created(self) -> float | None:
        """When the study was created, in seconds since 1970; None if the file does not say."""
        created = self._journal.meta.get("created")
        return created if is_time(created) else None

    @property
    def versions(self) -> dict[str, str]:
        """The versions of the software that the study was created with, by name."""
        return self._journal.versions

    @property
    def note(self) -> Any:
        """What a driver stores with the study, such as how to evaluate trials; None at first."""
        return self._journal.meta.get("note")

    @note.setter
    def note(self, value: Any) -> None:
        self._set_note(value)

    @writing_transaction
    def _set_note(self, value: Any) -> None:
        if self._journal.meta.get("note") != value:
            self._journal.set_meta("note", value)

    def close(self) -> None:
        """Close the study; other processes may then evaluate its unfinished trials."""
        with nullcontext() if self._journal.stored.forked else self._lock:
            self._journal.close()

    def __enter__(self) -> "Study":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<study {str(self.path)!r}: {self.told} of {len(self.ledger.trials)} trials told>"


def _give_again(name: str) -> str:
    return (
        f"the constraint {name} of this study is a Python function, which the file does not "
        "contain; open the study with the same constraints= as when it was created"
    )


def _settings(
    space: SpaceLike = None,
    direction: str | None = None,
    algorithm: Name | Algorithm | None = None,
    seed: int | None = None,
    constraints: Sequence[Any] | None = None,
    objectives: ObjectivesLike = None,
    steps: int | None = None,
    tol: float | None = None,
    noise: float | str | None = None,
) -> dict[str, Any]:
    """The settings that were given, in the form in which they are stored as JSON.

    The direction of a study with named objectives is theirs.
    """
    given: dict[str, Any] = {}
    if objectives is not None:
        aims = Objectives.of(objectives, direction or DIRECTION)
        direction = aims.direction
        if aims.squares is not None:
            of_squares = asdict(aims.squares).items()
            given["residuals"] = {k: plain(k, v) for k, v in of_squares if v is not None}
        else:
            given["objectives"] = [list(each) for each in aims.ways.items()]
    if space is not None:
        given["space"] = space_to_json(space if isinstance(space, Space) else Space(space))
    if direction is not None:
        given["direction"] = direction
    if algorithm is not None:
        given["algorithm"] = algorithm_to_json(resolve(algorithm, noise))
    if seed is not None:
        given["seed"] = plain("seed", seed)
    if constraints is not None:
        given["constraints"] = constraints_to_json(constraints)
    if steps is not None:
        given["steps"] = plain("steps", steps)
    if tol is not None:
        given["tol"] = plain("tol", tol)
    return given


def _aims(settings: dict[str, Any]) -> ObjectivesLike:
    """The argument `objectives` from the settings."""
    if "residuals" in settings:
        return SumOfSquares(**settings["residuals"])
    return dict(settings["objectives"]) if "objectives" in settings else None


def _setup(
    settings: dict[str, Any], constraints: Sequence[Any] | None = None
) -> tuple[Setup, str | None]:
    """What decides the course of a search, and the name of the first missing function."""
    made, missing = constraints_from_json(settings.get("constraints", []), constraints)
    setup = setup_of(
        space_from_json(settings["space"]),
        DIRECTION if "objectives" in settings else settings["direction"],
        algorithm_from_json(settings["algorithm"]),
        settings["seed"],
        constraints=made,
        objectives=_aims(settings),
        steps=settings.get("steps"),
        tol=settings.get("tol"),
    )
    setup.constraints.forgotten = missing
    return setup, missing


def setup_of_study(
    path: StudyPlace, settings: Any, constraints: Sequence[Any] | None = None
) -> tuple[Setup, str | None]:
    """The same as `_setup`, with errors that name the study at `path`."""
    try:
        return _setup(settings, constraints)
    except StudyError as error:
        raise StudyError(f"{path}: {error}") from error
    except Exception as error:  # they may come from elsewhere and be anything
        why = str(error) if isinstance(error, BamsooError) else brief(error)
        raise damaged(path, f"its settings are invalid: {why}") from error


def _next_name(path: Path) -> Path:
    """The name of a file next to another one that does not exist: run-2.db after run.db."""
    stem = re.sub(r"-\d+$", "", path.stem)
    names = (path.with_name(f"{stem}-{i}{path.suffix}") for i in itertools.count(2))
    return next(each for each in names if not os.path.lexists(each))


def _nearby(path: Path) -> str:
    """A path as it is written in this directory."""
    with suppress(OSError, ValueError):  # it is elsewhere, or this directory is gone
        return str(path.relative_to(Path.cwd()))
    return str(path)


def _refuse_others(path: StudyPlace, stored: dict[str, Any], given: dict[str, Any]) -> None:
    if given.get("algorithm", {}).get("budget", 0) is None:  # then the stored budget is meant
        planned_for = stored["algorithm"].get("budget")
        given = {**given, "algorithm": {**given["algorithm"], "budget": planned_for}}
    differs = difference(stored, given)
    if differs is None:
        return
    old, new = str(path), f"{path}-2"
    if isinstance(path, Path):
        old, new = _nearby(path), _nearby(_next_name(path))
    words = options(stored, given)
    command = ""
    if words is not None:
        command = " ".join(["bamsoo fork", shlex.quote(old), shlex.quote(new), *words])
    python = f"study={new!r}, known={old!r}"
    before, after = (
        [each["name"] for each in settings.get("space", stored["space"])["parameters"]]
        for settings in (stored, given)
    )
    if added := [name for name in after if name not in before]:
        python += f", fill={{{', '.join(f'{name!r}: value' for name in added)}}}"
    if gone := [name for name in before if name not in after]:
        python += (
            f", ignore={gone!r} if the values do not depend on {' and '.join(gone)}; if they do, "
            f"fix what is gone, as with --fix {gone[0]}=VALUE"
        )
    raise OtherSettingsError(f"{path}: the study's {differs}", command, python)


@contextmanager
def withdrawn_if_wrong(search: Optimizer, new: bool) -> Iterator[None]:
    """Remove a study that is new if its settings prove wrong before anything was told.

    Otherwise the call with the mistake corrected would be refused, because it has other settings.
    """
    try:
        yield
    except SettingsError:
        if new and isinstance(search, Study) and not search.told:
            search.close()
            if isinstance(search.path, Path) and not is_written(search.path):
                search.path.unlink(missing_ok=True)
        raise
