"""The record of all trials, pending and finished, in the caller's own units.

A trial is pending from the moment it is handed out until its value is told. The record is what the
events so far add up to; it knows nothing of the search.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Collection, Iterator, KeysView, Mapping
from types import MappingProxyType

import numpy as np

from ..base.checks import count
from ..base.pareto import compromise, dominates, non_dominated
from ..errors import TrialError
from ..space import Constraints, Point, Space
from .columns import Columns
from .costs import Costs
from .events import Asked, Enqueued, Event, Expected, Imported, Reported, Retried, Told
from .objectives import Objectives
from .trials import GIVEN, Evaluation, Record, Trial


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
        self.trials: list[Trial] = []
        """Every trial that has been handed out or enqueued, by number."""
        self.columns = Columns(constraints, objectives)
        self.evaluations = self.columns.evaluations
        """Every evaluation, in the order in which the values were told."""
        self.told = 0
        """The number of trials that have been told; points that nobody asked for do not count."""
        self.failed = 0
        """The number of trials that gave no value."""
        self.stopped = 0
        """The number of trials that were stopped; they count as told and not as failed."""
        self.infeasible = 0
        """The number of trials that gave a value but violate a constraint."""
        self.given = 0
        """The number of points that were told without being asked for."""
        self.imports: dict[str, Imported] = {}
        """What was last taken over from each source of earlier evaluations."""
        self.all_failed = True
        """Whether no evaluation, told or given, gave a value or was stopped."""
        self.best: Evaluation | None = None
        """The feasible evaluation with the best value, as it was told; None if there are several
        objectives."""
        self.front: list[Evaluation] = []
        """With several objectives, the feasible evaluations that no other one dominates, by their
        values as told."""
        self._out: dict[int, Trial] = {}
        self.costs = Costs(space, objectives, steps, self._out)
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
    def begun(self) -> float:
        """What all trials together cost once they are finished, in full evaluations."""
        return sum(self.costs.size(trial.point) for trial in self.trials) / self.costs.unit

    def must_finish(self, number: int, budget: float, running: Mapping[int, int]) -> bool:
        """Whether a run without a value would end without one if this trial were stopped.

        `running` is as in `Costs.free`, and contains the step that the trial is about to report.
        """
        unit = self.costs.unit
        left = self.costs.free(budget, running) + unit - running[number] - 1  # it is not told yet
        return self.best is None and not self.front and left < unit

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
            self.costs.report(event)
            if event.stopped:
                self._settle(Told(event.number, None, (), time=event.time, stopped=True))
        elif isinstance(event, Told):
            self._settle(event)
        elif isinstance(event, Imported):
            self.imports[event.source] = event
        elif isinstance(event, Retried):
            self._take_back(event)

    def _settle(self, event: Told) -> None:
        number = event.number
        if number is not None:
            if number not in self._out:
                raise TrialError(f"trial {number} is told, but is not pending")
            trial = self._out.pop(number)
            point = trial.point
            self._not_idle(number)
            self.told += 1
            self.costs.end(trial)
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
            allowed = not event.barred and self._constraints.violated(point.x) is None
            feasible = feasible and allowed
        evaluation = Evaluation(
            number,
            point,
            values,
            self._objectives,
            error=event.error,
            measured=event.measured,
            feasible=feasible,
            variance=event.variance,
            told_at=event.time,
            extras=dict(event.extras),
            steps=self.costs.steps_of(number),
            stopped=event.stopped,
            believed=event.values if event.stopped else (),
            cheap=cheap,
            residuals=event.residuals,
            took=event.took,
            curve=event.curve,
            origin=GIVEN if number is None else self._origin[number],
        )
        self._append(evaluation)
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
        """Add a row to the columns of the result, and know its point."""
        before = self._at.get(evaluation.point)
        if evaluation.numbers or before is None or not before.numbers:  # a value stays known
            self._at[evaluation.point] = evaluation
        self.columns.add(evaluation)
        self.all_failed = self.all_failed and evaluation.failed

    def _take_back(self, event: Retried) -> None:
        """Take failures back: their trials are pending again, and have cost nothing."""
        for number in event.numbers:
            told = self._result.pop(number, None)
            if told is None or not told.failed:
                raise TrialError(f"trial {number} is retried, but has not failed")
            self._retried[number] = (*self._retried.get(number, ()), told.error or "")
            trial = self.trials[number]
            self.costs.take_back(trial)
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
        self.columns = Columns(self._constraints, self._objectives)
        self.evaluations, self._at, self.all_failed = self.columns.evaluations, {}, True
        for evaluation in kept:
            self._append(evaluation)

    def _rank(self, evaluation: Evaluation) -> None:
        """Compare a feasible evaluation with the best ones so far."""
        if self._objectives.several:
            self.front = front_with(self.front, evaluation)
            return
        sense = self._objectives.sense
        if self.best is None or sense.better(evaluation.value, self.best.value):
            self.best = evaluation

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

    # --- rows of a table

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
                    curve = self.costs.curves.get(row.number)
                    yield Record(
                        row.number,
                        row.params,
                        None,
                        "out",
                        None,
                        asked_at,
                        None,
                        steps=None if curve is None else curve.taken,
                        origin=self._origin[row.number],
                        retried=self._retried.get(row.number, ()),
                        reported=self.costs.reported(row.number),
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
                self.costs.reported(told.number),
                told.curve or self.costs.curve_of(told.number),
            )


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


def front_with(front: list[Evaluation], evaluation: Evaluation) -> list[Evaluation]:
    """The front of one more evaluation than those of a front, in the order of `front_of`."""
    several = evaluation.objectives.turned([each.numbers for each in (*front, evaluation)])
    Y, y = several[:-1], several[-1]
    if dominates(Y, y).any():
        return front
    stays = ~dominates(y, Y)
    kept = [each for each, stay in zip(front, stays.tolist(), strict=True) if stay]
    if all(each.point != evaluation.point for each in kept):
        before = (-Y[stays]).tolist()
        kept.insert(bisect_right(before, (-y).tolist()), evaluation)
    return kept


def rows_of(front: list[Evaluation], evaluations: list[Evaluation]) -> set[int]:
    """The places in a list of evaluations of those on a front, one for each point.

    Under noise, the values on the front are estimates, and the place is that of the first of them.
    """
    places: dict[tuple[object, ...], int] = {}
    for i, each in enumerate(evaluations):
        places.setdefault((each.number, each.point), i)
        places.setdefault((each.number, each.point, each.numbers), i)
    return {
        places.get((each.number, each.point, each.numbers), places[each.number, each.point])
        for each in front
    }


def on_the_front(front: list[Evaluation]) -> str:
    """How many points are on a front, in words; points with equal values count once."""
    different = len({each.numbers for each in front})
    more = len(front) - different
    same = f", and {more} with the same values" if more else ""
    return f"{count(different, 'point')} on the front{same}"
