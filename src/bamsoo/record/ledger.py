"""The record of all trials, pending and finished, in the caller's own units.

A trial is pending from the moment it is handed out until its value is told. The record is what the
events so far add up to; it knows nothing of the search.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Collection, Iterator, KeysView, Mapping, Sequence
from math import nan
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.checks import count, readable
from ..base.pareto import compromise, non_dominated
from ..base.typing import Array, Simple
from ..base.words import TRIAL, no_attribute
from ..errors import TrialError
from ..space import Constraints, Point, Space
from .events import Asked, Enqueued, Event, Expected, Imported, Reported, Retried, Told
from .objectives import Objectives

PARTS = 2**60
"""The parts of an evaluation at the top of a fidelity in which costs are counted. Whole numbers add
up without rounding, so a budget is never exceeded."""

GIVEN = "given"
"""The origin of a point that the caller chose, or evaluated without being asked."""


class Trial:
    """A point to evaluate: its number, `x` as an array, `params` by name."""

    __slots__ = ("number", "owner", "point", "x")

    def __init__(self, number: int, point: Point, owner: str = "") -> None:
        self.number, self.point, self.owner = number, point, owner
        self.x: Array = point.x.copy()  # a copy, since the caller may write to it

    def __repr__(self) -> str:
        return f"Trial({self.number}, {self.params})"

    if not TYPE_CHECKING:  # a checker would take it to mean that any attribute exists

        def __getattr__(self, name: str) -> Any:
            raise no_attribute(self, name, TRIAL)

    @property
    def params(self) -> dict[str, Any]:
        """Values by name (x0, x1, ... where the space has no names)."""
        return self.point.params


class Evaluation(NamedTuple):
    """A finished trial, or a point that was told without being asked for (its number is None).

    Values are in the caller's own sense: a maximised function keeps its sign.
    """

    number: int | None
    point: Point
    numbers: tuple[float, ...]
    """The value of each objective, in order; empty if the evaluation failed."""
    objectives: Objectives
    error: str | None = None  # why it failed
    measured: tuple[float, ...] = ()
    """One number for each measured constraint, as the evaluation returned it."""
    feasible: bool = True
    """Whether there is a value and every constraint is met, known or measured; with a fidelity,
    the value must be one of its top."""
    variance: float | None = None
    """The variance of the noise in the value, if it is known."""
    told_at: float | None = None
    """When the value was told, in seconds since 1970, if that is stored."""
    extras: Mapping[str, Simple] = {}
    """What else the evaluation returned, by name."""
    origin: str | None = None
    """Which part of the search asked for the point: "design", "tree", "local" and so on, or "given"
    if the caller chose it; None if the study was made by an earlier version and not replayed."""
    steps: int | None = None
    """The number of steps that it took; None in a search without steps, and if nobody asked."""
    stopped: bool = False
    """Whether it was stopped because it could not win; it then has no value and is no failure."""
    cheap: bool = False
    """Whether it was made below the top of a fidelity; it then has a value, but is no result."""
    residuals: tuple[float, ...] = ()
    """In a fit, the residuals as they were returned; nan is missing data."""
    believed: tuple[float, ...] = ()
    """What is believed about the value, if somebody else stopped the evaluation."""
    took: float | None = None
    """How long it took, in seconds, if that is known."""

    def __repr__(self) -> str:
        one = not self.objectives.several
        cells = {
            "number": self.number,
            "params": self.params,
            **({"value": self.value} if one else {"values": self.values}),
            "error": self.error,
            "measured": self.measured or None,
            "feasible": None if self.feasible or self.failed else False,
            "variance": self.variance,
            "extras": dict(self.extras) or None,
            "origin": self.origin,
            "steps": self.steps,
            "state": self.state if self.stopped or self.cheap else None,
            "took": self.took,
        }
        return _in_short("Evaluation", cells)

    @property
    def x(self) -> Array:
        """The point as an array."""
        return self.point.x

    @property
    def value(self) -> float:
        """The value in a search with one objective; nan if the evaluation failed."""
        if self.objectives.several:
            raise AttributeError("with several objectives there is no single value; use .values")
        return self.numbers[0] if self.numbers else nan

    @property
    def values(self) -> dict[str, float]:
        """The value of each objective by name; empty if the evaluation failed."""
        return self.objectives.by_name(self.numbers)

    @property
    def params(self) -> dict[str, Any]:
        """The point by name (x0, x1, ... where the space has no names)."""
        return self.point.params

    @property
    def failed(self) -> bool:
        """Whether the evaluation gave no value, although it was not stopped."""
        return not self.numbers and not self.stopped

    @property
    def state(self) -> str:
        """Whether the trial is "done" or "failed", or its value was "given" unasked.

        With steps, a trial is "finished", "stopped" or "failed". With a fidelity, it is "finished"
        at the top and "cheap" below it.
        """
        if self.stopped:
            return "stopped"
        if self.failed:
            return "failed"
        if self.cheap:
            return "cheap"
        if self.number is None:
            return "given"
        whole = self.steps is None and self.point.space.fidelity is None
        return "done" if whole else "finished"


def _in_short(name: str, cells: Mapping[str, Any]) -> str:
    """The `repr` of a row: what there is to say, and numbers without needless digits."""
    known = (f"{key}={readable(cell)}" for key, cell in cells.items() if cell is not None)
    return f"{name}({', '.join(known)})"


class Curve:
    """The values of a trial step by step, one for each objective; they are nan if a step gave none.

    Steps are counted from 1. A trial whose first report is of step 0 counts them from 0, and here
    1 is added.

    Parameters
    ----------
    first : int
        The first step that was reported, as the caller counts.
    """

    __slots__ = ("first", "steps", "values")

    def __init__(self, first: int) -> None:
        self.first = first
        self.steps: list[int] = []
        self.values: list[tuple[float, ...]] = []

    @property
    def taken(self) -> int:
        """The number of steps taken so far."""
        return self.steps[-1] if self.steps else 0

    def counted(self, step: int) -> int:
        """A step of the caller, counted from 1."""
        return step + (self.first == 0)


class Record(NamedTuple):
    """A trial, or a point told without being asked for, as a row of a table.

    `state` is "done", "failed", "out" (pending: asked for but not told yet) or "given" (a point
    that nobody asked for; it has no number); with steps, "finished" takes the place of "done", and
    a trial may also be "stopped", or "cheap" with a fidelity. Times are seconds since 1970, if they
    are stored.
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
    steps: int | None = None
    """The number of steps taken so far; None in a search without steps."""
    extras: Mapping[str, Simple] = {}
    """What else the evaluation returned, by name."""
    values: dict[str, float] | None = None
    """The value of each objective by name; None if there is none. `value` is that of a search with
    one objective."""
    origin: str | None = None
    """As in `Evaluation`."""
    took: float | None = None
    """How long the evaluation took, in seconds, if that is stored."""

    @property
    def seconds(self) -> float | None:
        """How long the evaluation took; in studies of earlier versions, since it was asked for."""
        if self.took is not None or self.asked_at is None or self.told_at is None:
            return self.took
        return self.told_at - self.asked_at

    retried: tuple[str, ...] = ()
    """Why the trial failed before, once for each time that it was retried."""
    residuals: tuple[float, ...] = ()
    """As in `Evaluation`."""
    reported: Mapping[str, float] | None = None
    """The value of each objective after the last step, by name; None if none was reported."""

    def __repr__(self) -> str:
        several = self.values is not None and len(self.values) > 1
        cells = {
            **self._asdict(),
            "values": self.values if several else None,
            "extras": dict(self.extras) or None,
            "retried": self.retried or None,
            "residuals": None,
            "asked_at": None,
            "told_at": None,
        }
        return _in_short("Record", cells)


def extra_names(rows: Sequence[Evaluation | Record]) -> list[str]:
    """The names of all extras, in the order in which they first occur."""
    return list(dict.fromkeys(name for row in rows for name in row.extras))


class Ledger:
    """Every trial and every value of one search, as far as its events say.

    Parameters
    ----------
    space : Space
    constraints : Constraints
    objectives : Objectives
    owner : str
        Identifies the search that the trials belong to, so that a trial is still recognised after
        it, or the search itself, has been sent to another process and back.
    steps : int, optional
        The number of steps of a full evaluation, if trials report their steps.
    """

    def __init__(
        self,
        space: Space,
        constraints: Constraints,
        objectives: Objectives,
        owner: str,
        steps: int | None = None,
    ) -> None:
        self._space, self._constraints, self._objectives = space, constraints, objectives
        self._owner, self.steps = owner, steps
        self.unit = steps or (1 if space.fidelity is None else PARTS)
        """The number of parts of a full evaluation in which the budget is counted: its steps, or
        parts that are so small that the costs of a fidelity are multiples of them."""
        self.trials: list[Trial] = []
        """Every trial that has been handed out or enqueued, by number."""
        self.evaluations: list[Evaluation] = []
        """Every evaluation, in the order in which the values were told."""
        self.told = 0
        """The number of trials that have been told; points that nobody asked for do not count."""
        self.failed = 0
        """The number of trials that gave no value."""
        self.stopped = 0
        """The number of trials that were stopped; they count as told and not as failed."""
        self.taken = 0
        """What all trials together have cost, in parts of a full evaluation."""
        self.curves: dict[int, Curve] = {}
        """What each trial has reported, by number."""
        self.infeasible = 0
        """The number of trials that gave a value but violate a constraint."""
        self.given = 0
        """The number of points that were told without being asked for."""
        self.imports: dict[str, Imported] = {}
        """What was last taken over from each source of earlier evaluations."""
        self.all_failed = True
        """Whether no evaluation, told or given, gave a value or was stopped."""
        self.nresiduals = 0
        """In a fit, the number of residuals of an evaluation."""
        self.best: Evaluation | None = None
        """The feasible evaluation with the best value, as it was told; None if there are several
        objectives."""
        self.front: list[Evaluation] = []
        """With several objectives, the feasible evaluations that no other one dominates, by their
        values as told."""
        self._out: dict[int, Trial] = {}
        self._idle: list[int] = []  # numbers of pending trials, in ascending order
        self.elsewhere: Collection[int] = ()
        """The trials that other processes are evaluating, as far as is known."""
        self._expected: dict[Point, None] = {}
        self._pending: dict[Point, int] = {}  # the number of pending trials at each point
        self._at: dict[Point, Evaluation] = {}
        self._retried: dict[int, tuple[str, ...]] = {}  # why trials failed before
        self._rows: list[Trial | Evaluation] = []  # trials, and points told without being asked for
        self._result: dict[int, Evaluation] = {}  # by number of the trial
        self._asked_at: list[float | None] = []
        self._origin: list[str | None] = []
        self._X: Array = np.empty((16, space.dim))
        self._F: Array = np.empty((16, len(objectives)))
        self._params: list[dict[str, Any]] = []

    # --- looking up a point

    @property
    def out(self) -> Mapping[int, Trial]:
        """The pending trials, by number."""
        return MappingProxyType(self._out)

    @property
    def expected(self) -> KeysView[Point]:
        """The points that are being evaluated elsewhere and have not been told yet."""
        return self._expected.keys()

    def point_of(self, key: bytes) -> Point:
        """The point of an event."""
        return Point(key, self._space)

    def at(self, point: Point) -> Evaluation | None:
        """The latest evaluation of a point with a value, or else the latest, if there is one."""
        return self._at.get(point)

    def is_out(self, point: Point) -> bool:
        """Whether this point is pending."""
        return point in self._pending or point in self._expected

    def is_new(self, point: Point) -> bool:
        """Whether this point is neither known nor pending."""
        return point not in self._at and not self.is_out(point)

    def __len__(self) -> int:
        """The number of points that are known or pending."""
        return len(self._at) + len(self._pending) + len(self._expected)

    def origin(self, number: int) -> str | None:
        """Which part of the search asked for a trial, as in `Evaluation`."""
        return self._origin[number]

    def trial_at(self, point: Point) -> Trial | None:
        """The pending trial at this point, if any, whether somebody is evaluating it or not."""
        return next((trial for trial in self._out.values() if trial.point == point), None)

    @property
    def cost(self) -> float:
        """What all trials together have cost, in full evaluations."""
        return self.taken / self.unit

    def _size(self, point: Point) -> int:
        """What a finished evaluation of this point costs, in parts of a full one."""
        fidelity = self._space.fidelity
        if fidelity is None:
            return self.unit
        return max(round(self.unit * fidelity.cost_of(point.level)), 1)

    @property
    def begun(self) -> float:
        """What all trials together cost once they are finished, in full evaluations."""
        return sum(self._size(trial.point) for trial in self.trials) / self.unit

    @property
    def all_levels(self) -> float:
        """What a point costs at all levels of the fidelity together, in parts of a full one."""
        fidelity = self._space.fidelity
        return self.unit * sum(map(fidelity.cost_of, fidelity.levels)) if fidelity else self.unit

    def free(
        self, budget: float, running: Mapping[int, int], elsewhere: Collection[int] = ()
    ) -> float:
        """What is left of the budget, without what pending trials may yet cost, in parts.

        `running` has the number of steps so far of each trial that is being evaluated here. Those
        that are being evaluated `elsewhere` have taken the steps that they have reported. The parts
        are those of `unit`.
        """
        steps = {n: self.curves[n].taken if n in self.curves else 0 for n in elsewhere}
        steps |= running
        out = ((self._out[n].point, taken) for n, taken in steps.items() if n in self._out)
        pending = sum(self._size(point) - taken for point, taken in out)
        return budget * self.unit - self.taken - pending

    def must_finish(self, number: int, budget: float, running: Mapping[int, int]) -> bool:
        """Whether a run without a value would end without one if this trial were stopped.

        `running` is as in `free`, and contains the step that the trial is about to report.
        """
        left = self.free(budget, running) + self.unit - running[number] - 1  # the step is not told
        return self.best is None and not self.front and left < self.unit

    def check_report(self, trial: Trial, step: int) -> None:
        """Raise an error unless this pending trial can have reached this step now."""
        assert self.steps is not None
        curve = self.curves.get(trial.number)
        if curve is None or step <= curve.first:  # it begins, or begins again
            curve = Curve(step)
        said = f"trial {trial.number} reports step {step}"
        if curve.counted(step) > self.steps:
            raise TrialError(f"{said}, but an evaluation has {self.steps} steps")
        if curve.counted(step) <= curve.taken:
            raise TrialError(
                f"{said} after step {curve.taken - (curve.first == 0)}; report each step once, "
                "in order"
            )

    def is_stopped(self, trial: Trial) -> bool:
        """Whether this is one of our trials, and was stopped."""
        result = self._result.get(trial.number) if trial.owner == self._owner else None
        return result is not None and result.stopped

    def check_pending(self, trial: Trial) -> None:
        """Raise an error unless this trial is one of ours and has not been told."""
        if trial.owner != self._owner or not 0 <= trial.number < len(self.trials):
            raise TrialError(
                f"trial {trial.number} belongs to another optimiser or study; tell its value there"
            )
        if trial.number not in self._out:
            raise TrialError(
                f"trial {trial.number} has already been told; tell each trial only once"
            )

    # --- events

    def apply(self, event: Event) -> None:
        """Take an event into account; raises a TrialError if it cannot follow the others."""
        if isinstance(event, (Asked, Enqueued)):
            number = len(self.trials)
            if event.number != number:
                raise TrialError(f"trial {event.number} comes where {number} is expected")
            trial = Trial(number, self.point_of(event.key), self._owner)
            self.trials.append(trial)
            self._idle.append(number)  # first, so that an interrupt here leaves no lost trial
            self._out[number] = trial
            self._pending[trial.point] = self._pending.get(trial.point, 0) + 1
            self._rows.append(trial)
            self._asked_at.append(event.time)
            self._origin.append(event.origin if isinstance(event, Asked) else GIVEN)
        elif isinstance(event, Expected):
            self._expected[self.point_of(event.key)] = None
        elif isinstance(event, Reported):
            self._report(event)
        elif isinstance(event, Told):
            self._settle(event)
        elif isinstance(event, Imported):
            self.imports[event.source] = event
        elif isinstance(event, Retried):
            self._take_back(event)

    def _report(self, event: Reported) -> None:
        number = event.number
        if self.steps is None or number not in self._out:
            raise TrialError(f"trial {number} reports a step, but is not pending")
        self.check_report(self._out[number], event.step)
        curve = self.curves.get(number)
        if curve is None or event.step <= curve.first:
            curve = self.curves[number] = Curve(event.step)
        step = curve.counted(event.step)
        self.taken += step - curve.taken
        curve.steps.append(step)
        curve.values.append(event.values or (nan,) * len(self._objectives))
        if event.stopped:
            self._settle(Told(number, None, (), time=event.time, stopped=True))

    def _settle(self, event: Told) -> None:
        number = event.number
        if number is not None:
            if number not in self._out:
                raise TrialError(f"trial {number} is told, but is not pending")
            point = self._out.pop(number).point
            self._not_idle(number)
            self.told += 1
            if number not in self.curves:  # nothing was reported: it took all its steps
                self.taken += self._size(point)
            self._pending[point] -= 1
            if not self._pending[point]:
                del self._pending[point]
        else:
            assert event.key is not None
            point = self.point_of(event.key)
            self._expected.pop(point, None)
        self._enter(number, point, event)

    def _enter(self, number: int | None, point: Point, event: Told) -> None:
        values = () if event.stopped else event.values
        fidelity = self._space.fidelity
        cheap = bool(values) and fidelity is not None and point.level < fidelity.high
        met = all(c <= 0.0 for c in self._constraints.excess(event.measured))
        feasible = bool(values) and not cheap and met
        if number is None:  # a point that was asked for is known to be allowed
            feasible = feasible and self._constraints.violated(point.x) is None
        evaluation = self.evaluation(number, point, values)._replace(
            error=event.error,
            measured=event.measured,
            feasible=feasible,
            variance=event.variance,
            told_at=event.time,
            extras=dict(event.extras),
            steps=self._steps_of(number),
            stopped=event.stopped,
            believed=event.values if event.stopped else (),
            cheap=cheap,
            residuals=event.residuals,
            took=event.took,
            origin=GIVEN if number is None else self._origin[number],
        )
        self._append(evaluation)
        self.nresiduals = self.nresiduals or len(event.residuals)
        if number is None:
            self.given += 1
            self._rows.append(evaluation)
        else:
            self._result[number] = evaluation
        self._count(evaluation)

    def _count(self, evaluation: Evaluation) -> None:
        """Count an evaluation by what became of it, and rank it if it may be the best."""
        asked = evaluation.number is not None
        if evaluation.stopped:
            self.stopped += 1
        elif evaluation.feasible:
            self._rank(evaluation)
        elif not evaluation.numbers:
            self.failed += asked
        elif not evaluation.cheap:
            self.infeasible += asked

    def _append(self, evaluation: Evaluation) -> None:
        """Add a row to the columns of the result."""
        t = len(self.evaluations)
        if t == len(self._F):
            self._X = np.concatenate([self._X, np.empty_like(self._X)])
            self._F = np.concatenate([self._F, np.empty_like(self._F)])
        self._X[t], self._F[t] = evaluation.x, evaluation.numbers or nan
        before = self._at.get(evaluation.point)
        if evaluation.numbers or before is None or not before.numbers:  # a value stays known
            self._at[evaluation.point] = evaluation
        self.evaluations.append(evaluation)
        self.all_failed = self.all_failed and evaluation.failed

    def _take_back(self, event: Retried) -> None:
        """Take failures back: their trials are pending again, and have cost nothing."""
        for number in event.numbers:
            told = self._result.pop(number, None)
            if told is None or not told.failed:
                raise TrialError(f"trial {number} is retried, but has not failed")
            self._retried[number] = (*self._retried.get(number, ()), told.error or "")
            trial, curve = self.trials[number], self.curves.pop(number, None)
            self.taken -= self._size(trial.point) if curve is None else curve.taken
            self.told, self.failed = self.told - 1, self.failed - 1
            self._out[number] = trial
            self._pending[trial.point] = self._pending.get(trial.point, 0) + 1
            insort(self._idle, number)
        gone = set(event.numbers)

        def stays(row: Trial | Evaluation) -> bool:
            if isinstance(row, Trial):
                return True
            if row.number is None:
                return row.point.key != event.key or not row.failed
            return row.number not in gone

        self._rows = [row for row in self._rows if stays(row)]
        kept = [evaluation for evaluation in self.evaluations if stays(evaluation)]
        self.given -= len(self.evaluations) - len(kept) - len(gone)
        self.evaluations, self._at, self._params, self.all_failed = [], {}, [], True
        for evaluation in kept:
            self._append(evaluation)

    def evaluation(
        self, number: int | None, point: Point, values: tuple[float, ...] = ()
    ) -> Evaluation:
        """An evaluation of this search."""
        return Evaluation(number, point, values, self._objectives)

    def _rank(self, evaluation: Evaluation) -> None:
        """Compare a feasible evaluation with the best ones so far."""
        if self._objectives.several:
            self.front = front_of([*self.front, evaluation])
            return
        sense = self._objectives.sense
        if self.best is None or sense.better(evaluation.value, self.best.value):
            self.best = evaluation

    def _steps_of(self, number: int | None) -> int | None:
        """The number of steps that a trial has taken since it last began, if it takes steps."""
        if self.steps is None or number is None:
            return None
        curve = self.curves.get(number)
        return self.steps if curve is None else curve.taken

    # --- who evaluates a trial: not an event, because it ends with the process

    @property
    def idle(self) -> tuple[int, ...]:
        """The numbers of the pending trials that nobody is evaluating."""
        if not self.elsewhere:
            return tuple(self._idle)
        return tuple(number for number in self._idle if number not in self.elsewhere)

    @property
    def held(self) -> set[int]:
        """The numbers of the trials that this process is evaluating."""
        return self._out.keys() - set(self._idle)

    def hand_out(self) -> Trial:
        """The oldest trial that nobody is evaluating, for the caller to evaluate."""
        number = self.idle[0]
        self._not_idle(number)
        self._out[number] = Trial(number, self._out[number].point, self._owner)
        return self._out[number]

    def give_back(self, trial: Trial) -> None:
        """Note that nobody is evaluating this trial any more, unless it has already been told."""
        own = self._out.get(trial.number)
        if own is not None and own.point == trial.point and trial.number not in self._idle:
            insort(self._idle, trial.number)

    def take(self, trial: Trial) -> None:
        """Note that somebody is evaluating this pending trial."""
        self._not_idle(trial.number)

    def _not_idle(self, number: int) -> None:
        place = bisect_left(self._idle, number)
        if place < len(self._idle) and self._idle[place] == number:
            del self._idle[place]

    # --- the columns of a result: copies, so that later evaluations do not change them

    #     of the first evaluations, up to a number; the rows of these never change

    def X(self, number: int) -> Array | list[dict[str, Any]]:
        """The points that were told: an array, or a list of dicts if the space has names."""
        if not self._space.named:
            return self._X[:number].copy()
        params = self._params
        if len(params) < number:  # a new list, because another thread may be here too
            more = [self._space.params(each.x) for each in self.evaluations[len(params) : number]]
            self._params = params = [*params, *more]
        return [dict(each) for each in params[:number]]

    def feasible(self, number: int) -> NDArray[np.bool_]:
        """Whether each point that was told is feasible."""
        return np.array([each.feasible for each in self.evaluations[:number]], dtype=bool)

    def C(self, number: int) -> dict[str, Array]:
        """The measurements of each constraint, by name; nan where nothing was measured."""
        names = self._constraints.measured
        rows = [each.measured or (nan,) * len(names) for each in self.evaluations[:number]]
        columns = np.array(rows).reshape(len(rows), len(names)).T
        return {name: column.copy() for name, column in zip(names, columns, strict=True)}

    def R(self, number: int) -> Array:
        """The residuals of each evaluation, one row each; nan if it failed or data is missing."""
        missing = (nan,) * self.nresiduals
        rows = [each.residuals or missing for each in self.evaluations[:number]]
        return np.array(rows, dtype=float).reshape(len(rows), self.nresiduals)

    def F(self, number: int) -> Array:
        """The values that were told; nan if the evaluation failed.

        With several objectives there is one column for each.
        """
        F: Array = self._F[:number].copy()
        return F if self._objectives.several else F[:, 0]

    def curves_until_now(self) -> Callable[[], dict[int, list[Any]]]:
        """A function that returns the values after each step of the trials, as they are now.

        With several objectives, those of a step are a tuple. Only the curves of pending trials can
        still change, so only those are copied at once.
        """
        number, curves = len(self.curves), self.curves
        pending = {n: curves[n].values.copy() for n in self._out if n in curves}
        several = self._objectives.several

        def shown(values: list[tuple[float, ...]]) -> list[Any]:
            return values.copy() if several else [value for (value,) in values]

        return lambda: {
            n: shown(pending.get(n, curve.values)) for n, curve in list(curves.items())[:number]
        }

    def records(self, constrained: bool) -> Iterator[Record]:
        """Every trial, and every point that was told without being asked for, in order.

        `constrained` says whether there are constraints to meet; their functions may be missing.
        """
        names = self._constraints.measured
        for row in self._rows:
            asked_at: float | None = None
            told: Evaluation | None
            if isinstance(row, Evaluation):
                told = row
            else:
                asked_at, told = self._asked_at[row.number], self._result.get(row.number)
                if told is None:
                    record = Record(row.number, row.params, None, "out", None, asked_at, None)
                    curve, origin = self.curves.get(row.number), self._origin[row.number]
                    steps = None if curve is None else curve.taken
                    retried = self._retried.get(row.number, ())
                    last = self._reported(row.number)
                    yield record._replace(
                        steps=steps, origin=origin, retried=retried, reported=last
                    )
                    continue
            yield Record(
                told.number,
                self._space.params(told.x),
                told.value if told.numbers and not self._objectives.several else None,
                told.state,
                told.error,
                asked_at,
                told.told_at,
                dict(zip(names, told.measured, strict=True)) if told.measured else None,
                told.feasible if constrained else None,
                told.variance,
                told.steps,
                dict(told.extras),
                told.values or None,
                told.origin,
                told.took,
                () if told.number is None else self._retried.get(told.number, ()),
                told.residuals,
                self._reported(told.number),
            )

    def _reported(self, number: int | None) -> dict[str, float] | None:
        """The values that a trial reported last, by objective."""
        if number is None or (curve := self.curves.get(number)) is None:
            return None
        return self._objectives.by_name(curve.values[-1])


def compromise_of(front: list[Evaluation]) -> Evaluation | None:
    """The evaluation of a front with the largest share of its hypervolume; None without any."""
    if not front:
        return None
    rows = [each.numbers for each in front]
    return front[compromise(front[0].objectives.turned(rows))]


def front_of(evaluations: list[Evaluation]) -> list[Evaluation]:
    """The evaluations that no other one dominates, ordered by the first objective, best first.

    All of them have values. Of several evaluations of one point, only the first is on the front.
    """
    if not evaluations:
        return []
    Y = evaluations[0].objectives.turned([evaluation.numbers for evaluation in evaluations])
    first: dict[Point, int] = {}
    for i in np.flatnonzero(non_dominated(Y)).tolist():
        first.setdefault(evaluations[i].point, i)
    on_front = np.array([*first.values()])
    order = on_front[np.lexsort((*-Y[on_front].T[:0:-1], -Y[on_front, 0]))]
    return [evaluations[i] for i in order.tolist()]


def on_the_front(front: list[Evaluation]) -> str:
    """How many points are on a front, in words; points with equal values count once."""
    different = len({each.numbers for each in front})
    more = len(front) - different
    same = f", and {more} with the same values" if more else ""
    return f"{count(different, 'point')} on the front{same}"
