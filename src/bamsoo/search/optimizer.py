"""Ask and tell: one search, driven by its caller, and rebuilt from its list of events."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from ..algorithms import Algorithm, Name
from ..algorithms.book import Book
from ..base.checks import brief, check_whole
from ..base.defaults import ALGORITHM, DIRECTION, SEED
from ..base.guard import Guarded, transaction, with_own_errors, writing_transaction
from ..base.typing import Array
from ..base.words import OPTIMIZER, no_attribute
from ..errors import (
    BamsooError,
    ExhaustedError,
    LateError,
    SettingsError,
    TrialError,
    ValueTypeError,
)
from ..model.noise import MOST, looks_noisy
from ..record.events import (
    FRESH,
    Asked,
    Ended,
    Enqueued,
    Event,
    Expected,
    Imported,
    Reported,
    Retried,
    Told,
    present,
)
from ..record.ledger import Ledger, compromise_of, front_of
from ..record.objectives import Objectives, ObjectivesLike
from ..record.said import Said, told
from ..record.trials import Evaluation, Trial
from ..result.predictor import predictions
from ..space import Constraints, Point, Space, SpaceLike, single
from .course import Claim, Course
from .journal import MemoryJournal
from .results import predictors_of, result_of
from .setup import Setup, setup_of

if TYPE_CHECKING:  # imported where they are used, since scipy.optimize is slow to load
    from ..result.result import Result


_NOTHING: Any = object()  # the default of an argument for which None has a meaning


class Prepared(NamedTuple):
    """In place of a space: all that an `Optimizer` is made of. A study has a journal on disk."""

    setup: Setup
    journal: MemoryJournal


class Optimizer(Guarded):
    """A search for the best point of `space`, one trial at a time.

    Several threads may share it, and it can be pickled and copied. A call that is interrupted, by
    Ctrl-C for example, has no effect: the search is then rebuilt from what it was asked and told
    before.

    Parameters
    ----------
    space : sequence of (low, high), scipy.optimize.Bounds or dict
        As in `minimize`.
    direction : {"minimize", "maximize"}, default "minimize"
    algorithm : str or settings object, default "auto"
        As in `minimize`.
    seed : int, numpy Generator or None, default 0
        With the same settings, the same seed and the same calls of `ask` and `tell`, the search
        asks for the same points. A Generator draws the seed, and None draws one at random; the
        attribute `seed` holds it.
    noise : float or "learn", optional
        As in `minimize`.
    constraints : list, optional
        As in `minimize`.
    objectives : list of str or dict, optional
        As in `minimize`; names without directions have `direction`.
    steps : int, optional
        The number of steps of a full evaluation, for trials that `report` their steps.
    tol : float, optional
        As in `minimize`.
    rng : optional
        As in `minimize`.

    Examples
    --------
    >>> import bamsoo
    >>> opt = bamsoo.Optimizer([(-5, 10), (0, 15)], algorithm="soo")
    >>> for _ in range(20):
    ...     trial = opt.ask()
    ...     opt.tell(trial, bamsoo.problems.branin(trial.x))
    >>> opt.result.nfev
    20
    """

    @with_own_errors
    def __init__(
        self,
        space: "SpaceLike | Prepared",
        direction: str = DIRECTION,
        algorithm: Name | Algorithm = ALGORITHM,
        seed: int | np.random.Generator | None = SEED,
        noise: float | str | None = None,
        constraints: Sequence[Any] | None = None,
        objectives: ObjectivesLike = None,
        steps: int | None = None,
        tol: float | None = None,
        rng: Any = None,
    ) -> None:
        super().__init__()
        if not isinstance(space, Prepared):
            space = Prepared(
                setup_of(
                    space, direction, algorithm, seed, noise, constraints, objectives, steps, tol,
                    rng,
                ),
                MemoryJournal(),
            )  # fmt: skip
        self._setup, self._journal = space
        self._own: set[int] = set()  # the trials handed out here and not told here
        self._events: list[Event] = self._journal.events()
        """All that has happened to the search; everything else can be rebuilt from it."""
        with self._journal.explained(brief(self.algorithm)):
            begin = self._journal.begin(self._events)
            self._course = Course(self._setup, self._events, begin)

    @property
    def space(self) -> Space:
        """The space that is searched."""
        return self._setup.space

    @property
    def constraints(self) -> Constraints:
        """The constraints that points have to meet."""
        return self._setup.constraints

    @property
    def direction(self) -> str:
        """Whether to "minimize" or to "maximize", or "mixed" if objectives differ in that."""
        return self.objectives.direction

    @property
    def objectives(self) -> Objectives:
        """The names and directions of the objectives."""
        return self._setup.objectives

    @property
    def algorithm(self) -> Algorithm:
        """The settings of the algorithm."""
        return self._setup.algorithm

    @property
    def seed(self) -> int:
        """The seed, which may have been drawn at random."""
        return self._setup.seed

    @property
    def steps(self) -> int | None:
        """The number of steps of a full evaluation, if trials report their steps."""
        return self._setup.steps

    @property
    def tol(self) -> float | None:
        """The smallest gain that matters, in units of the value; None if nobody said."""
        return self._setup.tol

    @property
    def ledger(self) -> Ledger:
        """The record of all trials, pending and finished, in the caller's own units."""
        return self._course.ledger

    @overload
    def ask(self) -> Trial: ...

    @overload
    def ask(self, n: int) -> list[Trial]: ...

    def ask(self, n: int | None = None) -> Trial | list[Trial]:
        """The next trial to evaluate, or a list of `n` trials; several may be pending at once.

        The list is shorter if fewer than `n` points are left to evaluate.

        Parameters
        ----------
        n : int, optional
            The number of trials. By default a single trial is returned, not a list.

        Raises
        ------
        ExhaustedError
            When the search has nothing left to evaluate.
        """
        if n is None:
            return self.ask_within(inf)  # type: ignore[return-value]  # no budget is never used up
        check_whole("ask", "n", n)
        trials: list[Trial] = []
        try:
            while len(trials) < n:
                trials.append(self.ask())
        except ExhaustedError:
            if not trials:
                raise
        except BaseException:  # none stay pending
            for trial in trials:
                self.give_back(trial)
            raise
        return trials

    def ask_within(self, budget: float, running: Mapping[int, int] | None = None) -> Trial | None:
        """The next trial; None if the trials told and those being evaluated use up the budget.

        `running` has the number of steps so far of each trial that is being evaluated here. Trials
        that other processes evaluate count, too.
        """
        handed: list[Trial] = []
        try:
            return self._hand_out(handed, budget, running or {})
        except BaseException:
            for trial in handed:  # the caller never received it
                self.ledger.give_back(trial)
            raise

    @writing_transaction
    def _hand_out(
        self, handed: list[Trial], budget: float, running: Mapping[int, int]
    ) -> Trial | None:
        """The next trial, put into `handed` at once, so that an interrupt does not lose it."""
        self._look_elsewhere()
        free = self.ledger.costs.free(budget, running, self.ledger.elsewhere)
        if free < self.ledger.costs.unit:
            return None
        idle = self.ledger.idle
        number = idle[0] if idle else len(self.ledger.trials)
        if not idle:
            ended = self._course.ended
            try:  # after cheap evaluations, the budget might not allow the first full one
                point, claim = self._course.next(
                    self.ledger.best is None and free < self.ledger.costs.all_levels
                )
            except ExhaustedError:
                if ended is None:
                    self._happen(Ended())
                raise
        self._note_held(number)  # first, so that nobody else can take the trial
        if not idle:
            self._happen(Asked(number, point.key, origin=claim.origin), claim=claim)
        handed.append(self.ledger.out[number])
        return self.ledger.hand_out()

    @writing_transaction
    def enqueue(
        self, point: Array | Mapping[str, Any] | Sequence[Any], *, again: bool = True
    ) -> None:
        """Have `ask` hand out this point before any point that the search chooses.

        It becomes a trial like any other. A point that failed is evaluated again, as with `retry`.
        Nothing changes for a point that has a value or is pending. A point that violates a
        constraint known in advance is refused. Of a list of points, all are enqueued, or none if
        one of them is refused.

        Parameters
        ----------
        point : array or dict, or a list of these
        again : bool, default True
            Whether to evaluate a point again that failed.
        """
        points = [Point.of(self.space, x) for x in self.space.points(point)]
        for each in points:
            self.constraints.check_point(each.x)
        for each in points:
            self._enqueue_one(each, again)

    def _enqueue_one(self, point: Point, again: bool) -> None:
        known = None if self.ledger.is_out(point) else self.ledger.at(point)
        if again and known is not None and known.failed:
            if known.number is not None:
                self._happen(Retried((known.number,)))
                return
            self._happen(Retried((), point.key))
        if self.ledger.is_new(point):
            self._happen(Enqueued(len(self.ledger.trials), point.key))

    @writing_transaction
    def retry(self, numbers: int | Iterable[int] | None = None) -> list[int]:
        """Make failed trials pending again, because what made them fail has been put right.

        `ask` hands them out before new points. They do not count as evaluations until they are told
        again, and the search forgets what it has learned from their failures: it begins again from
        the other values.

        Parameters
        ----------
        numbers : int or list of int, optional
            The numbers of the trials; by default all that failed.

        Returns
        -------
        list of int
            The numbers of the trials that are pending again.
        """
        failed = {e.number for e in self.ledger.evaluations if e.failed and e.number is not None}
        given = failed if numbers is None else numbers
        given = [given] if isinstance(given, (int, np.integer)) else given
        if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
            raise TrialError(f"retry takes a list of the numbers of trials, got {brief(given)}")
        chosen = set[int]()
        for number in given:
            if isinstance(number, bool) or (one := single(number)) not in failed or one is None:
                raise TrialError(
                    f"trial {brief(number)} has not failed, so it cannot be retried; the failed "
                    f"trials are {brief(sorted(failed))}"
                )
            chosen.add(int(one))
        if chosen:
            self._happen(Retried(tuple(sorted(chosen))))
        return sorted(chosen)

    @writing_transaction
    def expect(self, point: Array | Mapping[str, Any]) -> None:
        """Count a point that is being evaluated elsewhere as pending, until its value is told.

        Until then the search does not ask for it, and its model treats it like a pending trial of
        its own. Nothing changes for a point that is already known or pending.

        Parameters
        ----------
        point : point
            An array, or a dict for a named space.
        """
        expected = Point.given(self.space, point)
        if self.ledger.is_new(expected) and not self.algorithm.repeats:
            self._happen(Expected(expected.key))

    @writing_transaction
    def tell(
        self,
        trial: Trial | Array | Mapping[str, Any],
        value: Any = _NOTHING,
        error: str | None = None,
        constraints: Mapping[str, Any] | None = None,
        *,
        residuals: Any = None,
        variance: float | None = None,
        extras: Mapping[str, Any] | None = None,
        took: float | None = None,
    ) -> None:
        """Report a value. Trials may be told in any order.

        Parameters
        ----------
        trial : Trial or point
            A trial that `ask` returned, or a point of the space (an array or a dict) that was
            evaluated elsewhere.
        value : float or None
            None, nan and inf mean that the evaluation failed. With several objectives, a sequence
            with one number for each, in order, or a dict by name.
        error : str, optional
            Why the evaluation failed.
        constraints : dict, optional
            The numbers that the evaluation measured, by name; a constraint is met if its number is
            within its limit.
        residuals : array, optional
            In place of a value, the residuals whose sum of squares is the value: a vector of the
            same length at each point. An entry of nan is missing data and does not count.
        variance : float, optional
            Variance of the noise in this value, in squared units of the objective; 0 if the value
            is exact. With residuals, it is that of the noise in each of them. By default it is what
            the setting `noise` says. After the first variance above 0, the best point is chosen by
            the model's mean instead of the measured value, as with `noise`. Algorithms without a
            model record it but do not use it.
        extras : dict, optional
            Anything else to keep with the evaluation, by name: numbers, strings, booleans or None.
        took : float, optional
            How long the evaluation took, in seconds, for tables and reports. By default, a study
            takes the time since this process was given the trial.

        Notes
        -----
        A trial that `report` stopped has ended without a value. Telling one is not needed, and
        changes nothing.
        """
        if value is _NOTHING and residuals is None:
            raise ValueTypeError("tell needs a value, or residuals=; None means that it failed")
        value = None if value is _NOTHING else value
        if not (isinstance(trial, Trial) and self.ledger.is_stopped(trial)):
            said = Said(value, error, constraints, residuals, variance, extras, took)
            self._tell(trial, self.as_told(said))

    def as_told(self, said: Said) -> Told:
        """The event that `tell_checked` takes; raises a ValueTypeError if it is invalid."""
        return told(said, self.objectives, self.constraints, self.ledger.columns.nresiduals)

    @writing_transaction
    def tell_checked(self, trial: Trial, event: Told) -> None:
        """Tell what `as_told` returned, unless `report` has stopped the trial."""
        if not self.ledger.is_stopped(trial):
            self._tell(trial, event)

    def _tell(self, trial: Trial | Array | Mapping[str, Any], event: Told) -> None:
        if isinstance(trial, Trial):
            self._check_pending(trial)
            self._happen(replace(event, number=trial.number))
        else:
            self._happen(replace(event, key=Point.given(self.space, trial).key))

    @writing_transaction
    def _tell_stopped(self, trial: Trial | Array, value: Any, measured: Mapping[str, Any]) -> None:
        """Note that somebody else stopped an evaluation, and what its value is believed to be."""
        self._tell(trial, replace(self.as_told(Said(value, constraints=measured)), stopped=True))

    @writing_transaction
    def report(self, trial: Trial, step: int, value: Any) -> bool:
        """Report the value of a trial after a step, and return whether to go on.

        If the answer is False, the trial has ended: it cannot win, and no value is to be told. The
        search needs the setting `steps`.

        Parameters
        ----------
        trial : Trial
            A trial that `ask` returned.
        step : int
            The number of steps taken, 1 after the first. Steps may be left out. A trial whose first
            report is of step 0 counts from 0. A trial that reports its first step again has begun
            again.
        value : float or None
            The value so far. None, nan and inf count as worse than any number. With several
            objectives, a number for each, in order or by name.
        """
        values = self._reported(trial, step, value)
        go_on = self._course.can_win(trial.number, int(step), values)
        self._happen(Reported(trial.number, int(step), values, not go_on))
        return go_on

    @writing_transaction
    def _record(self, trial: Trial, step: int, value: Any) -> None:
        """Note the value of a trial after a step without asking whether to go on."""
        values = self._reported(trial, step, value)
        self._happen(Reported(trial.number, int(step), values))

    def _reported(self, trial: Trial, step: Any, value: Any) -> tuple[float, ...]:
        """The values of a step as numbers; raises an error if the trial cannot report it."""
        if self.steps is None:
            raise SettingsError(
                "report needs the number of steps of a full evaluation; make the search with "
                "steps=, such as Optimizer(space, steps=50)"
            )
        if not isinstance(trial, Trial):
            raise TrialError(f"report takes a trial that ask returned, got {brief(trial)}")
        check_whole("report", "step", step, 0)
        values = self.objectives.values(value)
        if self.ledger.is_stopped(trial) and not self._is_late(trial):
            raise TrialError(f"trial {trial.number} was stopped; it has no more steps")
        self._check_pending(trial)
        self.ledger.costs.check(trial, int(step))
        return values

    @transaction
    def give_back(self, trial: Trial) -> None:
        """Note that nobody evaluates this trial any more, so that `ask` hands it out again.

        Trials that were given back are handed out before new ones.
        """
        self.ledger.give_back(trial)

    @writing_transaction
    def give(self, known: Iterable[tuple[Any, ...]], about: Imported | None = None) -> None:
        """Tell earlier evaluations, all of them or none, except for those that are already known.

        Each is a point, its value, what else is known about it by name, its variance, why it
        failed, and perhaps its steps, each with the values after it. Several values of one point
        are all told; only an evaluation that was told before, with the same value at the same
        point, is not told again. `about` says where they are from.
        """
        held = Counter((each.point, each.numbers) for each in self.ledger.evaluations)
        residuals = self.ledger.columns.nresiduals
        events: list[Event] = []
        for point, value, beside, variance, error, *curve in known:
            at, said = Point.given(self.space, point), Said.besides(value, beside, self.constraints)
            variance = said.variance if variance is None else variance
            said = said._replace(error=error, variance=variance)
            event = told(said, self.objectives, self.constraints, residuals)
            residuals = residuals or len(event.residuals)
            if held[at, event.values]:
                held[at, event.values] -= 1
            else:
                events.append(replace(event, key=at.key, curve=curve[0] if curve else ()))
        if about is not None:
            before = self.ledger.imports.get(about.source)
            if before is None or replace(before, time=None) != about:
                events.append(about)
        if events:
            self._happen(*events)

    # --- other processes, which a study may have

    @writing_transaction
    def elsewhere(self) -> Collection[int]:
        """The numbers of the pending trials that other processes are evaluating now."""
        self._look_elsewhere()
        return self.ledger.elsewhere

    def _look_elsewhere(self) -> None:
        """Find out which trials other processes are evaluating."""
        taken = self._journal.taken()
        self.ledger.elsewhere = {number for number in taken if number in self.ledger.out}

    def _note_held(self, *more: int) -> None:
        """Let other processes know which trials this one is evaluating, and `more` from now on."""
        held = self.ledger.held.union(more)
        self._own |= held
        self._journal.hold(held, more)

    def _is_late(self, trial: Trial) -> bool:
        """Whether another process has ended this trial, which this one was evaluating."""
        ours = trial.owner == self._setup.identity and trial.number in self._own
        return ours and trial.number not in self.ledger.out

    def _check_pending(self, trial: Trial) -> None:
        """Raise an error unless this trial is one of ours and has not been told."""
        if self._is_late(trial):
            raise LateError(
                f"trial {trial.number} was finished by another process while this one was still "
                "evaluating it; its value is in the study, and this one is not needed"
            )
        self.ledger.check_pending(trial)

    # --- events

    def _happen(self, *given: Event, claim: Claim | None = None) -> None:
        """Record events, all of them or none, then let them take effect."""
        events = self._journal.append(*given)
        self._events += events
        for event in events:
            if isinstance(event, Told) or (isinstance(event, Reported) and event.stopped):
                self._own.discard(-1 if event.number is None else event.number)
        if any(isinstance(event, FRESH) for event in events):
            self._take_up(self._events)
            return
        for event in events:
            self._course.apply(event, claim)

    def _check_writable(self) -> None:
        self._journal.check_writable()

    def _turn(self) -> AbstractContextManager[None]:
        return self._journal.turn()

    def _read_on(self) -> None:
        """Apply what other processes have written since the last look."""
        if not (news := self._journal.news(len(self._events))):
            return
        try:
            with self._journal.explained(brief(self.algorithm)):
                if any(isinstance(event, FRESH) for event in news):
                    self._follow([*self._events, *news], None)
                else:
                    self._catch_up(news)
        except BamsooError as error:  # this search is not where the journal is
            self._journal.spoil(str(error))
            raise

    def _cut_short(self) -> None:
        """Restore the record of trials at once; the search is restored when it is needed."""
        self._take_up(self._events, len(self._events))

    def _repair(self) -> None:
        """Bring everything to the state that the events add up to."""
        if (events := self._journal.again(self._events)) is not None:
            with self._journal.explained(brief(self.algorithm)):
                self._take_up(events)

    def _take_up(self, events: list[Event], begin: int | None = None) -> None:
        """Become what these events add up to; `begin` is as in `Course`.

        Trials that somebody is evaluating stay so. If this is interrupted, nothing has changed.
        """
        held = self.ledger.held
        course = Course(self._setup, events, begin)
        for number in held & course.ledger.out.keys():
            course.ledger.take(course.ledger.out[number])
        course.ledger.elsewhere = self.ledger.elsewhere
        self._course, self._events = course, events

    def _twin(self) -> "Optimizer":
        """A search of its own with the same settings and trials, to which nothing has happened."""
        return Optimizer(Prepared(self._setup, MemoryJournal()))

    def _follow(
        self, events: Sequence[Event], observer: Callable[["Optimizer", Trial], object] | None
    ) -> None:
        """Repeat the events behind those that have happened here.

        The observer is called with this search and each trial that the search asks for again.
        """
        begin = present(events)
        if len(self._events) < begin:
            self._take_up(list(events[:begin]), begin)
        self._catch_up(events[len(self._events) :], observer)

    def _catch_up(
        self,
        events: Sequence[Event],
        observer: Callable[["Optimizer", Trial], object] | None = None,
    ) -> None:
        """Apply events that follow those that have happened here; there is no restart in them."""
        for event in events:
            self._course.apply(event)
            self._events.append(event)
            if observer is not None and isinstance(event, Asked):
                observer(self, self.ledger.trials[event.number])

    # --- what is known

    @property
    def curves(self) -> dict[int, list[Any]]:
        """The values after each step of the trials that reported their steps, by number.

        With several objectives, those of a step are a tuple.
        """
        return self.ledger.costs.until_now()()

    @property
    def told(self) -> int:
        """The number of trials that have been told."""
        return self.ledger.told

    @property
    def evaluations(self) -> list[Evaluation]:
        """Every evaluation, in the order in which the values were told."""
        return self.ledger.evaluations

    @property
    def unequal(self) -> tuple[str, float, float] | None:
        """The name of an objective, and its two values at a point that was evaluated again.

        None unless they differ, so that values are known to be noisy.
        """
        if (found := self._course.book.unequal) is None:
            return None
        sense = self.objectives.senses[found.objective]
        name = self.objectives.names[found.objective]
        return name, sense.turn(found.first), sense.turn(found.second)

    @property
    @with_own_errors
    def suspects_noise(self) -> bool:
        """Whether values look noisy, though nobody said so, where no point is repeated to see."""
        book = self._course.book
        if book.may_check or not self.algorithm.learns_noise or book.noisy:
            return False
        known = [e for e in self.ledger.evaluations[-MOST:] if e.numbers and not e.cheap]
        X = np.array([e.point.unit for e in known]).reshape(-1, self.space.domain.dim)
        F = np.array([e.numbers for e in known]).reshape(-1, len(self.objectives))
        return any(looks_noisy(self.space.domain, X, column) for column in F.T)

    def _repr_html_(self) -> str:
        """A view for notebooks: what it searches, and the result so far."""
        name, told, asked = type(self.algorithm).__name__, self.told, len(self.ledger.trials)
        head = f"{type(self).__name__}: {self.direction} with {name}, {told} of {asked} trials told"
        return f"<p>{head}</p>{self.result._repr_html_()}"

    @property
    def how_to_go_on(self) -> str:
        """For an error message: where to find the values that have been told."""
        return self._journal.how_to_go_on

    @property
    @transaction
    @with_own_errors
    def book(self) -> Book:
        """What the search has asked for and found, in the unit cube, with its tree and its GP."""
        return self._course.look()

    @property
    def rejected(self) -> int:
        """The number of nodes that the GP has rejected so far."""
        return self._course.book.rejected

    @property
    def best(self) -> Evaluation | None:
        """The best feasible evaluation so far.

        Under noise, this is the one with the best posterior mean minus deviation, and its value is
        an estimate; before the model is fitted, it is the best value as told. For an algorithm that
        evaluates points repeatedly, it is the point that the algorithm recommends, and its value is
        the mean of the values measured there. With several objectives, it is the point of the front
        with the largest share of the hypervolume.
        """
        if self.objectives.several:
            return compromise_of(self.front)
        return self._best_so_far()()

    def _best_so_far(self) -> Callable[[], Evaluation | None]:
        """A function that returns `best` as it is now, with one objective."""
        with self._lock:
            if self._broken or not self._course.estimates:
                best = self.ledger.best
                return lambda: best
            return self._estimated_best()

    @property
    def front(self) -> list[Evaluation]:
        """The feasible evaluations that no other one dominates, ordered by the first objective.

        Under noise, evaluations are compared by the model's means, which are then their values.
        """
        if not self.objectives.several:
            best = self.best
            return [] if best is None else [best]
        with self._lock:
            if self._broken or not self._course.estimates:
                return self.ledger.front
            return front_of([each for each in self._believed() if each.feasible])

    @transaction
    @with_own_errors
    def _estimated_best(self) -> Callable[[], Evaluation | None]:
        return self._course.best_so_far()

    @transaction
    @with_own_errors
    def _believed(self) -> list[Evaluation]:
        """The evaluations that gave a value, with the search's own estimate as the value."""
        return self._course.believed()

    def reaches(self, target: Any) -> bool:
        """Whether the best value so far is at least as good as `target`.

        With several objectives, `target` is a dict, and a single evaluation has to be at least as
        good in each objective that it names.
        """
        goal = self.objectives.target(target)
        best = self.front if self.objectives.several else [self.best] if self.best else []
        senses = dict(zip(self.objectives.names, self.objectives.senses, strict=True))
        return any(
            not any(senses[name].better(goal[name], each.values[name]) for name in goal)
            for each in best
        )

    @property
    def result(self) -> "Result":
        """The result so far; see `bamsoo.minimize` for its fields.

        After an interrupted call it has no tree and no model until the search continues, because
        rebuilding them takes time, and someone who presses Ctrl-C does not want to wait.
        """
        with self._lock:
            book = None if self._broken else self.book
            if self.objectives.several:
                front = self.front
                return result_of(self._setup, self._course, book, lambda: front, bool(front))
            found, success = self._best_so_far(), self.ledger.best is not None

            def best() -> list[Evaluation]:
                return [] if (known := found()) is None else [known]

            return result_of(self._setup, self._course, book, best, success)

    def predict(self, points: Any) -> Any:
        """The mean and deviation of the search's own model at each point.

        This is `Result.predict` for the values known now.
        """
        with self._lock:
            predictors, why = predictors_of(self._setup, self._course, self.book)
        return predictions(self.objectives, predictors, why, points)

    # --- pickles and copies

    if not TYPE_CHECKING:  # a checker would take it to mean that any attribute exists

        def __getattr__(self, name: str) -> Any:
            raise no_attribute(self, name, OPTIMIZER)

    def __getstate__(self) -> dict[str, Any]:
        """Settings and events: the search itself is a generator, which cannot be pickled."""
        with self._lock:
            held = self.ledger.held
            return {"setup": self._setup, "events": self._events.copy(), "held": held}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Replay the events in a fresh search, which takes as long as the search itself took."""
        super().__init__()
        self._journal, self._own = MemoryJournal(), set(state["held"])
        self._setup, self._events = state["setup"], state["events"]
        self._course = Course(self._setup, self._events)
        for number in state["held"]:
            self.ledger.take(self.ledger.out[number])
