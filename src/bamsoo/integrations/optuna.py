"""A sampler and a pruner for Optuna: its studies, storages and dashboard with bamsoo's search.

Optuna stores the trials, so the sampler stores nothing else. It repeats the trials of the study so
far in a bamsoo search and asks that search for the next point; another process with the same
storage does the same with a search of its own. The point that a trial was given is noted on the
trial, with the trials that were unfinished at that moment. This determines the order of asks and
tells without the help of clocks.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from math import isclose, isfinite, log, nan
from random import uniform
from secrets import randbits
from statistics import median
from threading import RLock
from typing import Any
from zlib import crc32

import numpy as np

from ..algorithms import Algorithm, Name, resolve
from ..base.checks import brief, check_whole
from ..base.defaults import ALGORITHM
from ..base.sense import MAXIMISED, MINIMISED, Sense
from ..base.typing import Array
from ..errors import ExhaustedError, SettingsError
from ..record.objectives import MOST
from ..record.trials import Trial
from ..search.journal import MemoryJournal
from ..search.optimizer import Optimizer, Prepared
from ..search.setup import setup_of
from ..search.stopping import Stopping
from ..space import Point
from ..space.axes import cube

try:
    from optuna import logging
    from optuna.distributions import (
        BaseDistribution,
        CategoricalDistribution,
        FloatDistribution,
        IntDistribution,
    )
    from optuna.pruners import BasePruner
    from optuna.samplers import BaseSampler, RandomSampler
    from optuna.samplers._base import _process_constraints_after_trial
    from optuna.search_space import intersection_search_space
    from optuna.study import Study, StudyDirection
    from optuna.trial import FrozenTrial, TrialState

    from ..study.optuna_space import (
        CallerPoint,
        Structure,
        as_space,
        as_structure,
        described,
        flat,
        parameter,
        structure_of,
        suggested_by,
        values_of,
    )
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"BaMSOOSampler needs the package {error.name}; pip install 'bamsoo[optuna]'",
        name=error.name,
    ) from error

NOTE = "bamsoo:asked"
"""The attribute of a trial that holds the point it was given, the index of that point, and which of
the trials up to `until` were unfinished at that moment."""

_CONSTRAINTS = "constraints"
"""The attribute in which Optuna stores measured constraints as a list; for single ones, a colon and
the name are appended."""

_PAUSE = 0.01  # longest pause, in seconds, before asking again after a first collision
_ROUNDING = 1e-12  # relative change of a number that a database may cause


class BaMSOOSampler(BaseSampler):
    """Suggest the points that a bamsoo search asks for; see docs/optuna.md.

    Parameters
    ----------
    algorithm : str or settings object, default "auto"
        As in `bamsoo.Optimizer`.
    noise : float or "learn", optional
        As in `bamsoo.Optimizer`. A point may then be suggested more than once. Optuna's best trial
        is still the one with the best measured value.
    seed : int, optional
        The same seed and the same sequence of trials give the same points, whether the study was
        resumed or not. By default, a seed is drawn at random. The default algorithm draws few
        random numbers, so two seeds may give the same points for a while; the first trial is up to
        `independent_sampler`, which by default is random.
    independent_sampler : optuna.samplers.BaseSampler, optional
        The sampler for everything outside the search space: the first trial of a study, and
        parameters whose presence follows no rule. By default, a random sampler.
    search_space : dict of name -> distribution, optional
        The search space, if it is known beforehand. By default, it consists of the parameters of
        the completed trials, including those that only some trials have, if that depends on the
        value of a categorical or integer parameter.
    constraints_func : callable, optional
        As in Optuna's own samplers: it takes a finished trial and returns a sequence of numbers,
        which are stored on the trial; the trial is feasible if none of them is positive.
        Constraints that the objective sets with `trial.set_constraint` count too. Each constraint
        has its own model.
    """

    def __init__(
        self,
        algorithm: Name | Algorithm = ALGORITHM,
        *,
        noise: float | str | None = None,
        seed: int | None = None,
        independent_sampler: BaseSampler | None = None,
        search_space: Mapping[str, BaseDistribution] | None = None,
        constraints_func: Callable[[FrozenTrial], Sequence[float]] | None = None,
    ) -> None:
        if seed is not None:
            check_whole("BaMSOOSampler", "seed", seed, 0)
        for name, distribution in (search_space or {}).items():
            if not isinstance(distribution, BaseDistribution):
                raise SettingsError(
                    f"BaMSOOSampler: {name} must be an Optuna distribution, "
                    f"got {brief(distribution)}"
                )
        self._algorithm = resolve(algorithm, noise)
        if self._algorithm.repeats:
            raise SettingsError(
                f"{type(self._algorithm).__name__} evaluates points repeatedly, but BaMSOOSampler "
                "suggests each point once; use another algorithm, or bamsoo.minimize"
            )
        self._seed = randbits(32) if seed is None else int(seed)
        self._independent = independent_sampler
        self._given = None if search_space is None else dict(search_space)
        if constraints_func is not None and not callable(constraints_func):
            raise SettingsError(
                "BaMSOOSampler: constraints_func must be a function of a trial that returns a "
                f"sequence of numbers, got {brief(constraints_func)}"
            )
        self._constraints_func = constraints_func
        self._walk: Walk | None = None
        self._read: tuple[int, list[FrozenTrial]] | None = None  # the latest reading of the storage
        self._found: dict[int, Structure] = {}  # by trial number, until its point is sampled
        self._warned = False  # that the study has too many objectives
        self._lock = RLock()

    def __getstate__(self) -> dict[str, Any]:
        """Everything except the search, which is rebuilt from the trials after unpickling."""
        return {**self.__dict__, "_walk": None, "_read": None, "_found": {}, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=RLock())

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        if len(study.directions) > MOST:
            self._warn_of(study)
            return {}
        space = self._given
        if space is None:
            with self._lock:
                trials = trials_of(study)
                self._read = trial.number, trials  # for `sample_relative`, which comes next
                structure = self._found[trial.number] = structure_of(trials)
            space = flat(structure)
        return {name: space[name] for name in sorted(space) if parameter(space[name]) is not None}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        space = {name: d for name, d in search_space.items() if parameter(d) is not None}
        if not space:
            return {}
        with self._lock:  # Optuna's own threads share a sampler
            structure = self._found.pop(trial.number, {})
            if flat(structure) != space:
                structure = as_structure(space)
            trials = self._trials(study, trial)
            limits = names_of_constraints(trials)
            trainings = any(each.intermediate_values for each in trials)
            if self._walk is None or not self._walk.fits(study, structure, limits, trainings):
                self._walk = Walk(study, structure, limits, trainings, self._algorithm, self._seed)
            point = self._walk.next(study, trial, trials)
        if point is None:
            return {
                name: self.sample_independent(study, trial, name, space[name]) for name in space
            }
        return values_of(structure, point)

    def _warn_of(self, study: Study) -> None:
        """Say once that a study has more objectives than a search can have."""
        if not self._warned:
            logging.get_logger(__name__).warning(
                f"the study has {len(study.directions)} objectives, but BaMSOOSampler searches for "
                f"at most {MOST}; sampling independently"
            )
        self._warned = True

    def _trials(self, study: Study, trial: FrozenTrial) -> list[FrozenTrial]:
        """The study's trials, as `infer_relative_search_space` has read them for this trial.

        They are read again if the trial of another thread has come in between, because a search
        that has seen newer trials must not be shown older ones.
        """
        read, self._read = self._read, None
        return trials_of(study) if read is None or read[0] != trial.number else read[1]

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        sampler = self._independent or self._random(trial, param_name)
        return sampler.sample_independent(study, trial, param_name, param_distribution)

    def _random(self, trial: FrozenTrial, name: str) -> BaseSampler:
        """A random sampler seeded by trial and parameter: a resumed study draws the same."""
        place = [self._seed, trial.number, crc32(name.encode())]
        return RandomSampler(seed=int(np.random.SeedSequence(place).generate_state(1)[0]))

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        if self._independent is not None:
            self._independent.before_trial(study, trial)

    def after_trial(
        self,
        study: Study,
        trial: FrozenTrial,
        state: TrialState,
        values: Sequence[float] | None,
    ) -> None:
        if self._constraints_func is not None:
            _process_constraints_after_trial(self._constraints_func, study, trial, state)
        if self._independent is not None:
            self._independent.after_trial(study, trial, state, values)

    def reseed_rng(self) -> None:
        """Reseed the independent sampler; the search needs no new seed to avoid duplicates."""
        if self._independent is not None:
            self._independent.reseed_rng()


class Walk:
    """A search that repeats the trials of one study, over one search space."""

    def __init__(
        self,
        study: Study,
        structure: Structure,
        limits: list[str],
        trainings: bool,
        algorithm: Algorithm,
        seed: int,
    ) -> None:
        self._storage, self._study_id = study._storage, study._study_id
        self._structure = structure
        self._limits, self._trainings = limits, trainings
        space = described(structure)
        text = repr((space, limits) if limits else space)
        self._fingerprint = sha256(text.encode()).hexdigest()[:16]
        ways = ["max" if each == StudyDirection.MAXIMIZE else "min" for each in study.directions]
        self._sense = MAXIMISED if ways[0] == "max" else MINIMISED
        self._several = len(ways) > 1
        aims = None
        if self._several:
            aims = {f"objective {i}": way for i, way in enumerate(ways)}  # Optuna's may be equal
        setup = setup_of(
            as_space(structure),
            "maximize" if self._sense == MAXIMISED else "minimize",
            algorithm,
            seed,
            constraints=limits,
            objectives=aims,
        )
        # trainings that report their steps are not repeated to look for noise
        self._optimizer = Optimizer(Prepared(setup._replace(trainings=trainings), MemoryJournal()))
        self._told: set[int] = set()  # numbers of the trials that have been told
        self._believed: list[float] = []  # about pruned trials
        self._handed: dict[int, Point] = {}  # the point that each trial was given, as far as seen
        self._ended = False

    def fits(self, study: Study, structure: Structure, limits: list[str], trainings: bool) -> bool:
        """Whether this walk belongs to `study`, with this space and these constraints.

        `trainings` says whether trials report their steps.
        """
        same = study._storage is self._storage and study._study_id == self._study_id
        same = same and trainings == self._trainings
        return same and structure == self._structure and limits == self._limits

    def next(
        self, study: Study, trial: FrozenTrial, trials: list[FrozenTrial]
    ) -> CallerPoint | None:
        """A point for `trial` that no other trial has had, or None if none is left.

        The point is also noted on the trial.

        `trials` are the trials of the study at this moment. Between reading the storage and
        writing to it, another process may do the same and choose the same point. A process that
        finds, after writing, that its point was also chosen by another asks again after a pause of
        random length. Of two such processes, the second one to wake up then sees the new choice of
        the first.
        """
        pause = _PAUSE
        while True:
            news = self._news(trials, trial)
            self._catch_up(news)
            asked = self._ask()
            if asked is None:
                return None
            point = asked.params
            unfinished = [trial.number, *(t.number for t in news if t.number not in self._told)]
            note: dict[str, Any] = {
                "space": self._fingerprint,
                "point": point,
                "order": len(self._handed),
                "until": max([*unfinished, *self._told]),
                "unfinished": unfinished,
            }
            self._storage.set_trial_system_attr(trial._trial_id, NOTE, note)
            self._handed[trial.number] = asked.point
            if not any(self._holds(t) == asked.point for t in self._news(trials_of(study), trial)):
                return point
            time.sleep(uniform(0.0, pause))
            pause *= 2.0
            trials = trials_of(study)

    def _news(self, trials: list[FrozenTrial], trial: FrozenTrial) -> list[FrozenTrial]:
        """All trials except this one and those that have already been told."""
        known = {trial.number, *self._told}
        return [t for t in trials if t.number not in known]

    def _ask(self) -> Trial | None:
        """A trial of the search for nobody else: one that was given back, or a new one."""
        try:
            return self._optimizer.ask()
        except ExhaustedError as error:
            if not self._ended:
                logging.get_logger(__name__).warning(f"{error}; sampling independently")
            self._ended = True
            return None

    def _catch_up(self, trials: list[FrozenTrial]) -> None:
        """Repeat the asks and tells of the trials, in the order that their notes determine."""
        notes = {t.number: note for t in trials if (note := self._note(t)) is not None}
        for number, note in sorted(notes.items(), key=lambda item: (item[1]["order"], item[0])):
            place = self._place(note["point"])
            if place == self._handed.get(number):
                continue
            for trial in trials:  # in their state at the time when the point was given
                if trial.number in note["unfinished"]:
                    if trial.number not in notes:
                        self._expect(self._holds(trial))
                elif trial.number <= note["until"] and trial.state.is_finished():
                    self._tell(trial)
            self._replay(place)
            self._handed[number] = place
        for trial in trials:
            if trial.state.is_finished():
                self._tell(trial)
        self._see_running([t for t in trials if not t.state.is_finished()])

    def _replay(self, place: Point) -> None:
        """Repeat that a trial was given this point: the search asks for it too, or expects it."""
        ledger = self._optimizer.ledger
        if (trial := ledger.trial_at(place)) is not None:
            ledger.take(trial)
        elif not ledger.idle:
            own = self._ask()
            if own is not None and own.point != place:
                self._optimizer.give_back(own)
        self._expect(place)

    def _expect(self, place: Point | None) -> None:
        if place is not None:
            self._optimizer.expect(place.x)

    def _tell(self, trial: FrozenTrial) -> None:
        """Tell the value of a finished trial, unless it has already been told."""
        if trial.number in self._told:
            return
        self._told.add(trial.number)
        if (place := self._holds(trial)) is not None:
            asked = self._optimizer.ledger.trial_at(place)
            told = place.x if asked is None else asked
            measured = constraints_of(trial)
            # a measurement that is missing counts as nan, which is not feasible
            limits = {name: measured.get(name, nan) for name in self._limits}
            if trial.state == TrialState.PRUNED and (believed := self._belief(trial)) is not None:
                self._optimizer._tell_stopped(told, believed, limits)
                return
            value = None
            if trial.state == TrialState.COMPLETE:
                value = trial.values if self._several else trial.value
            self._optimizer.tell(told, value, constraints=None if value is None else limits)

    def _see_running(self, running: list[FrozenTrial]) -> None:
        """Count as pending exactly those points that are being evaluated."""
        held = [self._holds(t) for t in running]
        for place in held:
            self._expect(place)
        ledger = self._optimizer.ledger
        for trial in ledger.out.values():
            if trial.point in held:
                ledger.take(trial)
            else:
                self._optimizer.give_back(trial)
        for place in [place for place in ledger.expected if place not in held]:
            self._optimizer.tell(place.x, None)  # it was given out but not evaluated

    def _belief(self, trial: FrozenTrial) -> float | None:
        """What is believed about the value of a pruned trial; None if it reported no number.

        It is known to be poor, but not how poor. Its last intermediate value counts, but never as
        better than the median of what is known or believed about the others.
        """
        reported = trial.intermediate_values
        if not reported or not isfinite(last := reported[max(reported)]):
            return None
        known = [e.value for e in self._optimizer.evaluations if isfinite(e.value)]
        known += self._believed
        if known:
            last = self._sense.turn(min(map(self._sense.turn, (last, median(known)))))
        self._believed.append(last)
        return last

    def _holds(self, trial: FrozenTrial) -> Point | None:
        """The point of a trial: the one it was given, unless it has suggested other values."""
        found = suggested_by(self._structure, trial)
        if found is None:
            return None
        point, whole = found
        note = self._note(trial)
        if note is not None:
            handed, of = note["point"], trial.distributions
            if all(
                name in handed and _same(of[name], handed[name], number)
                for name, number in point.items()
            ):
                return self._place(handed)
        return self._place(point) if whole else None

    def _note(self, trial: FrozenTrial) -> dict[str, Any] | None:
        """The note on a trial about the point it was given, if that is a point of this space."""
        note: dict[str, Any] | None = trial.system_attrs.get(NOTE)
        return note if note is not None and note["space"] == self._fingerprint else None

    def _place(self, point: CallerPoint) -> Point:
        return Point.given(self._optimizer.space, point)


def _same(distribution: BaseDistribution, handed: float, stored: float) -> bool:
    """Whether a number that a trial was given became the stored one.

    A database may round it. Of choices that compare equal, such as 1 and True, Optuna stores the
    first one, whichever the trial was given.
    """
    if isinstance(distribution, CategoricalDistribution):
        options = distribution.choices
        handed = distribution.to_internal_repr(options[int(handed)])
    return isclose(handed, stored, rel_tol=_ROUNDING)


def trials_of(study: Study) -> list[FrozenTrial]:
    """All trials, since a pruner with brackets gives samplers a study that shows only some."""
    return study._storage.get_all_trials(study._study_id, deepcopy=False)


def constraints_of(trial: FrozenTrial) -> dict[str, float]:
    """The measured constraints of a trial by name; those of `constraints_func` by index."""
    found: dict[str, float] = {}
    for key, value in trial.system_attrs.items():
        if key == _CONSTRAINTS and value is not None:
            found |= {str(i): float(number) for i, number in enumerate(value)}
        elif key.startswith(f"{_CONSTRAINTS}:"):
            found[key.removeprefix(f"{_CONSTRAINTS}:")] = float(value)
    return found


def names_of_constraints(trials: list[FrozenTrial]) -> list[str]:
    """The names of all constraints of finished trials, in a fixed order."""
    return sorted({name for t in trials if t.state.is_finished() for name in constraints_of(t)})


class BaMSOOPruner(BasePruner):
    """Prune a trial when the upper bound of its final value is worse than the best value.

    It works with any sampler. The bound is that of a Gaussian process over parameters and steps;
    see docs/steps.md. A small share of all steps goes to trials that would have been pruned, so
    that curves which cross late are seen.

    Parameters
    ----------
    steps : int, optional
        The number of steps of a full trial, from the first report to the last. By default it is
        that of the longest complete trial, and nothing is pruned before one is complete.
    """

    def __init__(self, steps: int | None = None) -> None:
        if steps is not None:
            check_whole("BaMSOOPruner", "steps", steps)
        self._steps = steps
        self._key: Any = None
        self._stopping: Stopping | None = None
        self._seen: set[int] = set()
        self._lock = RLock()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=RLock())

    def prune(self, study: Study, trial: FrozenTrial) -> bool:
        """Whether the trial is to be stopped after its latest report."""
        with self._lock:  # threads of a study with n_jobs share the pruner
            return self._prune(study, trial)

    def _prune(self, study: Study, trial: FrozenTrial) -> bool:
        if len(study.directions) > 1:
            raise SettingsError(
                "BaMSOOPruner needs a study with one objective; leave out the pruner"
            )
        trials = study.get_trials(deepcopy=False)
        ended = [t for t in trials if t.state in (TrialState.COMPLETE, TrialState.PRUNED)]
        done = [t for t in ended if t.state == TrialState.COMPLETE and t.value is not None]
        curves = [t for t in ended if t.intermediate_values]
        if not trial.intermediate_values or not done or not curves:
            return False
        first = min(min(t.intermediate_values) for t in (*curves, trial))
        steps = self._steps or _most_steps(done, first)
        if max(trial.intermediate_values) - first >= steps:
            return False  # it has taken all its steps
        sense = MAXIMISED if study.direction == StudyDirection.MAXIMIZE else MINIMISED
        space = _in_all(trial, curves)
        stopping = self._told(study.study_name, curves, space, first, sense, steps)
        best = max(sense.turn(float(t.value)) for t in done if t.value is not None)
        at, values = _curve(trial, first, sense, steps)
        verdict = stopping.verdict(trial.number, _unit(trial, space), at, values, best)
        if verdict.spared:
            stopping.spare(trial.number, at[-1])
        return verdict.stop

    def _told(
        self,
        name: str,
        curves: list[FrozenTrial],
        space: dict[str, BaseDistribution],
        first: int,
        sense: Sense,
        steps: int,
    ) -> Stopping:
        """The rule that decides, which knows the curves of the trials that have ended."""
        if (key := (name, steps, first, tuple(space))) != self._key:
            axes = sum(_width(each) for each in space.values())
            self._key, self._stopping, self._seen = key, Stopping(steps, cube(axes)), set()
        assert self._stopping is not None
        for each in curves:
            if each.number not in self._seen:
                self._seen.add(each.number)
                at, values = _whole_curve(each, first, sense, steps)
                if at:
                    self._stopping.add(_unit(each, space), at[-1], at, values)
        return self._stopping


def _in_all(trial: FrozenTrial, others: list[FrozenTrial]) -> dict[str, BaseDistribution]:
    """The parameters of a trial that the others have, too, and with the same distributions."""
    space = intersection_search_space([*others, trial], include_pruned=True)
    return {name: each for name, each in space.items() if name in trial.params}


def _most_steps(done: list[FrozenTrial], first: int) -> int:
    """The number of steps of the longest trial, counted from the first step of any."""
    reported = [t.intermediate_values for t in done if t.intermediate_values]
    return max((max(each) - first + 1 for each in reported), default=1)


def _curve(
    trial: FrozenTrial, first: int, sense: Sense, most: int
) -> tuple[list[int], list[float]]:
    """The steps of a trial, counted from 1, and its values, to be maximised."""
    steps = sorted(step for step in trial.intermediate_values if step - first < most)
    return [s - first + 1 for s in steps], [sense.turn(trial.intermediate_values[s]) for s in steps]


def _whole_curve(
    trial: FrozenTrial, first: int, sense: Sense, steps: int
) -> tuple[list[int], list[float]]:
    """The same for a trial that has ended; the value of a finished one is that of its last step."""
    at, values = _curve(trial, first, sense, steps)
    if trial.state != TrialState.COMPLETE:
        return at, values
    kept = [i for i, step in enumerate(at) if step < steps]
    last = sense.turn(float(trial.value or 0.0))
    return [*(at[i] for i in kept), steps], [*(values[i] for i in kept), last]


def _width(distribution: Any) -> int:
    is_choice = isinstance(distribution, CategoricalDistribution)
    return len(distribution.choices) if is_choice else 1


def _unit(trial: FrozenTrial, space: dict[str, Any]) -> Array:
    """The parameters of a trial as a point of a cube, with one axis per option of a choice."""
    found: list[float] = []
    for name, each in space.items():
        value = trial.params[name]
        if isinstance(each, CategoricalDistribution):
            index = each.to_internal_repr(value)
            found += [0.7 * (i == index) for i in range(len(each.choices))]  # 1 apart, about
        else:
            assert isinstance(each, (FloatDistribution, IntDistribution))
            low, high = float(each.low), float(each.high)
            low, high, at = (log(v) if each.log else v for v in (low, high, float(value)))
            found.append((at - low) / max(high - low, 1e-300))
    return np.array(found)


BamsooSampler = BaMSOOSampler
"""The same class, spelled like `BamsooSearchCV`."""
