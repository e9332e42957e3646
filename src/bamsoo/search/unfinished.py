"""Evaluations that are not finished: which of them are stopped, and which go on later.

A search knows of points and values only. In between, an evaluation may consist of steps and be
stopped, or be made at a level of a fidelity and climb to the next one. `Unfinished` is the case of
one step at one level, in which an evaluation is finished when it has a value.
"""

from collections.abc import Callable, Iterable, Sequence
from enum import Enum, auto
from math import inf, isfinite, nan, sqrt

import numpy as np

from ..base.typing import Array
from ..errors import ReplayError
from ..model.curves import CONSTANTS as CURVES
from ..model.curves import FRONT
from ..record.events import Reported
from ..record.ledger import Ledger
from ..record.objectives import Objectives
from ..record.trials import GIVEN, Curve, Evaluation
from ..space import Point, Space
from .stopping import REVIVED, Belief, Levels, Stopping, Verdict, ahead

ROUNDING = 1e-4
"""Two points count as equal up to rounding if they differ by at most this share of each range.

Climbing a nearly singular model amplifies the last digit of a processor's arithmetic. Between
types of processors, half of the points found by such a climb differ by less than 1e-12, nine in
ten by less than 1e-8, and the largest difference is 7e-5 (docs/reliability.md). A search that has
taken a different course differs by more than this."""


class Fate(Enum):
    """What becomes of a value that has arrived."""

    SEEN = auto()
    """The search sees it."""
    RISES = auto()
    """The point is evaluated at a higher level first."""
    MERGED = auto()
    """The search needs no value of this level, since it has or awaits one of the top."""
    KEPT = auto()
    """It is kept until the search begins."""


class Unfinished:
    """The evaluations of a search without steps and levels.

    Parameters
    ----------
    space : Space
    ledger : Ledger
    objectives : Objectives
    bar : callable
        The value that an evaluation has to beat, to be maximised, as an array of one row. With
        several objectives, it has a row for each point of the front. It is empty if there is none.
    """

    is_stale = False
    """Whether what is believed about stopped evaluations has changed since `revise`."""

    def __init__(
        self, space: Space, ledger: Ledger, objectives: Objectives, bar: Callable[[], Array]
    ) -> None:
        self._space, self._ledger, self._objectives, self._bar = space, ledger, objectives, bar
        # by the point at the top of the fidelity: what is believed, and the latest evaluation
        self._dropped: dict[Point, tuple[Belief, Evaluation]] = {}

    def restore(self) -> None:
        """Take up the trials of the ledger, which were there before the search began."""
        for trial in self._ledger.trials:
            self.begin(trial.point)
        for evaluation in self._ledger.evaluations:
            self.end(evaluation)

    def recall(self, evaluation: Evaluation) -> None:
        """Take up what is believed about an evaluation from before the search began."""

    # --- points

    def first(self, point: Point, full: bool) -> Point:
        """The point at the level at which it is evaluated first; at the top if it is to be full."""
        return point

    def higher(self, evaluation: Evaluation) -> Point:
        """The point of an evaluation at the next level."""
        return evaluation.point.at_top

    def pending(self, point: Point) -> Point | None:
        """The point itself or the same one at another level, whichever is pending; None if none."""
        return point if self._ledger.is_out(point) else None

    def evaluation(self, point: Point) -> Evaluation | None:
        """The evaluation of a point at the top; if it was dropped below it, the latest one."""
        known, top = self._ledger.at(point), point.at_top
        return self._dropped[top][1] if known is None and top in self._dropped else known

    # --- the life of an evaluation

    def begin(self, point: Point) -> None:
        """Note that a point is evaluated, whatever its fidelity."""

    def must_end(self, number: int) -> None:
        """Note that a trial is not stopped, because nothing else is left to evaluate."""

    def judge(self, number: int, step: int, values: tuple[float, ...]) -> Verdict:
        """The verdict on a step that is about to be reported."""
        return Verdict(inf, Belief(self._objectives.to_maximise(values), (0.0,) * len(values)))

    def report(self, event: Reported) -> None:
        """Take a step into account."""
        self._ledger.apply(event)

    def end(self, evaluation: Evaluation) -> None:
        """Take into account that an evaluation has ended."""
        if evaluation.believed:
            means = self._objectives.to_maximise(evaluation.believed)
            self.drop(evaluation, Belief(means, (nan,) * len(means)))

    def arrive(self, evaluation: Evaluation, answers: bool, started: bool) -> Fate:
        """What becomes of a value.

        `answers` says whether the point was pending, and `started` whether the search has begun.
        """
        return Fate.SEEN

    def drop(self, evaluation: Evaluation, belief: Belief) -> None:
        """Note that a point stays as it is, and what its final value is believed to be."""
        self._dropped[evaluation.point.at_top] = belief, evaluation

    def instead(self, evaluation: Evaluation) -> Belief | None:
        """What the search sees instead of a value, if the evaluation is not finished."""
        if not evaluation.stopped:
            return None
        return self._dropped[evaluation.point.at_top][0]

    # --- what goes on later

    def left(self, rising: Iterable[Point]) -> list[tuple[float, Evaluation]]:
        """The evaluations that may go on, by what is believed about them, best first.

        Those of the points `rising` go on in any case.
        """
        return []

    def revived(self, rising: Iterable[Point]) -> Evaluation | None:
        """The evaluation that is to go on before the search is asked for a point."""
        return None

    def revived_by(self, evaluation: Evaluation, rising: Iterable[Point]) -> Evaluation | None:
        """The evaluation that is to go on because of a value."""
        return None

    def before_start(self) -> list[Evaluation]:
        """Evaluations that the search sees only now that it begins."""
        return []

    # --- beliefs

    def revise(self) -> dict[Point, Belief]:
        """What is now believed about stopped evaluations, by their points."""
        return {}

    def expected_ends(self) -> dict[int, list[tuple[float, float]]]:
        """For each pending trial with a curve, the mean and deviation of each final value."""
        return {}

    def _dropped_and_idle(self, rising: Iterable[Point]) -> list[tuple[float, Evaluation]]:
        ledger = self._ledger
        out = (*(trial.point for trial in ledger.out.values()), *ledger.expected)
        waiting = {point.at_top for point in (*out, *rising)}
        found = [
            (self._promise(belief), evaluation)
            for point, (belief, evaluation) in self._dropped.items()
            if point not in waiting and ledger.at(evaluation.point) is evaluation
        ]
        return sorted(found, key=lambda each: -each[0])

    def _promise(self, belief: Belief) -> float:
        """How good a value seems to be; with several objectives, how far it is ahead of the front.

        That is in units of the range of each objective, so that they can be compared.
        """
        if not self._objectives.several:
            return belief.means[0]
        ranges = np.ptp([e.numbers for e in self._ledger.evaluations if e.numbers], axis=0)
        return ahead(np.array(belief.means), self._bar(), np.where(ranges > 0.0, ranges, 1.0))


class InSteps(Unfinished):
    """The evaluations of a search with steps, which are stopped when they cannot win.

    Parameters
    ----------
    space, ledger, objectives, bar
        As in `Unfinished`.
    steps : int
        The number of steps of a full evaluation.
    revises : bool
        Whether the search makes use of what is believed when that changes.
    compares : bool
        Whether the first evaluations are compared with each other, and stopped ones begun again.
    """

    def __init__(
        self,
        space: Space,
        ledger: Ledger,
        objectives: Objectives,
        bar: Callable[[], Array],
        steps: int,
        revises: bool,
        compares: bool,
    ) -> None:
        super().__init__(space, ledger, objectives, bar)
        model = FRONT if objectives.several else CURVES
        self._rule = Stopping(steps, space.domain, model=model, objectives=len(objectives))
        self._revises, self._compares = revises, compares
        self._judged: tuple[tuple[int, int, tuple[float, ...]], Verdict] | None = None
        # the curve of each trial in the model, and those of stopped ones by their points
        self._places: dict[int, int] = {}
        self._cut: dict[Point, int] = {}
        self._to_the_end: set[int] = set()

    def recall(self, evaluation: Evaluation) -> None:
        """Take up what is believed about an evaluation from before the search began."""
        if evaluation.stopped and evaluation.number in self._ledger.costs.curves:
            self.drop(evaluation, self._belief_of(evaluation.number))

    def must_end(self, number: int) -> None:
        """Note that a trial is not stopped, because nothing else is left to evaluate."""
        self._to_the_end.add(number)

    def judge(self, number: int, step: int, values: tuple[float, ...]) -> Verdict:
        """The verdict on a step that is about to be reported."""
        key = number, step, values
        if self._judged is None or self._judged[0] != key:
            curve = self._ledger.costs.curves.get(number)
            if curve is None or step <= curve.first:
                curve = Curve(step)
            steps = [*curve.steps, curve.counted(step)]
            rows = self._to_maximise([*curve.values, values or (nan,) * len(self._objectives)])
            unit = self._ledger.trials[number].point.unit
            verdict = self._rule.verdict(number, unit, steps, rows, self._bar())
            if number in self._to_the_end:
                verdict = Verdict(inf, verdict.belief)
            elif steps[-1] >= self._rule.look and self._is_look(number):
                known = self._rule.belief(unit, steps, rows)
                verdict = Verdict(-inf, known) if isfinite(known.means[0]) else verdict
            self._judged = key, verdict
        return self._judged[1]

    def _to_maximise(self, rows: Sequence[tuple[float, ...]]) -> list[tuple[float, ...]]:
        return [self._objectives.to_maximise(row) for row in rows]

    def _is_look(self, number: int) -> bool:
        """Whether a trial is one of the first, which are compared with each other.

        Points that the caller chose are evaluated whatever the others are like, and once there is a
        final value it is what others have to beat.
        """
        if not self._compares or self._finished():
            return False
        return number < self._rule.looks and self._ledger.origin(number) != GIVEN

    def _finished(self) -> bool:
        """Whether any evaluation has given a final value."""
        return any(evaluation.numbers for evaluation in self._ledger.evaluations)

    def report(self, event: Reported) -> None:
        """Take a step into account, after which the trial goes on or has ended."""
        verdict = None
        if event.stopped is not None:
            verdict = self.judge(event.number, event.step, event.values)
            if verdict.stop != event.stopped and abs(verdict.margin) > ROUNDING:
                was = "was stopped" if event.stopped else "went on"
                raise ReplayError(
                    f"trial {event.number} differs: it {was} after step {event.step}, but now "
                    "the opposite is decided"
                )
        self._judged = None
        self._ledger.apply(event)
        if verdict is not None and verdict.spared:
            self._rule.spare(event.number, self._ledger.costs.curves[event.number].taken)
        if verdict is not None and event.stopped:
            evaluation = self._ledger.evaluations[-1]
            self.drop(evaluation, verdict.belief)
            self.end(evaluation)

    def end(self, evaluation: Evaluation) -> None:
        """Enter the curve of a trial that has ended into the model of curves."""
        super().end(evaluation)
        number, rule = evaluation.number, self._rule
        curve = None if number is None else self._ledger.costs.curves.get(number)
        if number is None or curve is None or evaluation.failed:
            return
        steps, rows = curve.steps, curve.values
        if not evaluation.stopped:  # its last value, if it ended early or told another one
            steps = [*(step for step in steps if step < rule.steps)]
            rows = [*rows[: len(steps)], evaluation.numbers]
            steps.append(rule.steps)
        cut = self._cut.pop(evaluation.point, None)
        unit = evaluation.point.unit
        place = rule.add(unit, curve.taken, steps, self._to_maximise(rows), cut)
        if place is not None:
            self._places[number] = place
            self.is_stale = self._revises
            if evaluation.stopped:
                self._cut[evaluation.point] = place

    def left(self, rising: Iterable[Point]) -> list[tuple[float, Evaluation]]:
        """The evaluations that were stopped, by what is believed about them, best first."""
        return self._dropped_and_idle(rising)

    def revived(self, rising: Iterable[Point]) -> Evaluation | None:
        """The most promising of the stopped evaluations, if by now it seems that it can win.

        It begins again, which costs much, so it has to seem better than the best one. The first
        evaluations are all stopped, and the best of them is what is finished first.
        """
        if not self._dropped or not self._compares:
            return None
        first = not self._finished() and len(self._ledger.trials) >= self._rule.looks
        bar = self._bar()
        if not (first or len(bar)):
            return None
        _, best = next(iter(self.left(rising)), (-inf, None))
        if best is None:
            return None
        means = self._dropped[best.point.at_top][0].means
        return best if ahead(np.array(means), bar) > 0.0 else None

    def revise(self) -> dict[Point, Belief]:
        """What is now believed about stopped evaluations, by their points."""
        self.is_stale = False
        cut = [evaluation for _, evaluation in self._dropped.values()]
        places = [self._places.get(-1 if each.number is None else each.number) for each in cut]
        known = [
            (each, place) for each, place in zip(cut, places, strict=True) if place is not None
        ]
        if not known:
            return {}
        beliefs = self._rule.beliefs([place for _, place in known])
        for (evaluation, _), belief in zip(known, beliefs, strict=True):
            self.drop(evaluation, belief)
        return dict(zip((evaluation.point for evaluation, _ in known), beliefs, strict=True))

    def _belief_of(self, number: int) -> Belief:
        """What is believed about a trial that has a curve and was not finished."""
        if number in self._places:
            return self._rule.beliefs([self._places[number]])[0]
        curve = self._ledger.costs.curves[number]
        rows = self._to_maximise(curve.values)
        return self._rule.belief(self._ledger.trials[number].point.unit, curve.steps, rows)

    def expected_ends(self) -> dict[int, list[tuple[float, float]]]:
        """For each pending trial with a curve, the mean and deviation of each final value."""
        return self.ends_of(self._ledger.out)

    def ends_of(self, numbers: Iterable[int]) -> dict[int, list[tuple[float, float]]]:
        """The mean and deviation of each final value, for those of some trials that have a curve.

        They are in the caller's own sense. If nothing is known about a final value, it is left out.
        """
        found: dict[int, list[tuple[float, float]]] = {}
        for number in numbers:
            if number in self._ledger.costs.curves:
                means, variances = self._belief_of(number)
                means = self._objectives.to_maximise(means)  # back to the caller's sense
                if all(map(isfinite, means)):
                    found[number] = [*zip(means, map(sqrt, variances), strict=True)]
        return found


def believed_ends(
    space: Space, ledger: Ledger, objectives: Objectives
) -> dict[int, list[tuple[float, float]]]:
    """For each trial that was stopped, the mean and deviation of each of its final values.

    This is what the curves of all trials say; no search has to be replayed for it.
    """
    if ledger.steps is None or not ledger.stopped:
        return {}
    nothing = np.empty((0, len(objectives)))
    steps = InSteps(space, ledger, objectives, lambda: nothing, ledger.steps, False, False)
    steps.restore()
    stopped = (e.number for e in ledger.evaluations if e.stopped and e.number is not None)
    return steps.ends_of(stopped)


class AtLevels(Unfinished):
    """The evaluations of a search with a fidelity, which climb its levels while they can win.

    Parameters
    ----------
    space, ledger, objectives, bar
        As in `Unfinished`.
    levels : Levels
    """

    def __init__(
        self,
        space: Space,
        ledger: Ledger,
        objectives: Objectives,
        bar: Callable[[], Array],
        levels: Levels,
    ) -> None:
        super().__init__(space, ledger, objectives, bar)
        self._levels = levels
        # by the point at the top: the order in which they were begun, and the highest
        # evaluations below the top from before the search began
        self._begun: dict[Point, int] = {}
        self._below: dict[Point, Evaluation] = {}

    def _above(self, point: Point, level: float | None) -> Point:
        top = point.at_top
        return point.at(self._levels.above(level, top, self._begun.get(top, len(self._begun))))

    def first(self, point: Point, full: bool) -> Point:
        """The point at the level at which it is evaluated first; at the top if it is to be full."""
        first = self._above(point, None)  # in any case, since the model learns when it is asked
        return point.at_top if full else first

    def higher(self, evaluation: Evaluation) -> Point:
        """The point of an evaluation at the next level."""
        return self._above(evaluation.point, evaluation.point.level)

    def pending(self, point: Point) -> Point | None:
        """The point itself or the same one at another level, whichever is pending; None if none."""
        out = (*(trial.point for trial in self._ledger.out.values()), *self._ledger.expected)
        return next((each for each in out if each.at_top == point.at_top), None)

    def begin(self, point: Point) -> None:
        """Note that a point is evaluated, whatever its fidelity."""
        self._begun.setdefault(point.at_top, len(self._begun))

    def arrive(self, evaluation: Evaluation, answers: bool, started: bool) -> Fate:
        """What becomes of a value; `answers` and `started` are as in `Unfinished`."""
        if not evaluation.numbers:
            return self._fail(evaluation, answers)
        levels, level, point = self._levels, evaluation.point.level, evaluation.point.at_top
        levels.enter(point, level, *self._objectives.to_maximise(evaluation.numbers))
        if not evaluation.cheap:
            self._dropped.pop(point, None)
            self._below.pop(point, None)
        elif not self._ledger.is_new(point):
            return Fate.MERGED
        elif not (answers or started):
            if point not in self._below or level >= self._below[point].point.level:
                self._below[point] = evaluation
            return Fate.KEPT
        elif answers and levels.wins(point, self._begun.get(point, -1), self._bar()):
            return Fate.RISES
        else:
            self.drop(evaluation, levels.belief(point))
        levels.end(point)
        return Fate.SEEN

    def _fail(self, evaluation: Evaluation, answers: bool) -> Fate:
        """What becomes of a failure, which is that of a level, or also that of the point."""
        level, point = evaluation.point.level, evaluation.point.at_top
        self._levels.fail(point, level)
        if evaluation.point == point:
            return Fate.SEEN
        if not answers:  # nothing is known about the point at higher levels
            return Fate.KEPT
        if self._levels.outlives(level, self._begun.get(point, -1)):
            return Fate.RISES
        self.drop(evaluation, Belief((-inf,), (0.0,)))
        return Fate.SEEN

    def instead(self, evaluation: Evaluation) -> Belief | None:
        """What the search, which knows no levels, sees instead of a value below the top."""
        if not evaluation.cheap:
            return super().instead(evaluation)
        if (point := evaluation.point.at_top) in self._dropped:
            return self._dropped[point][0]
        return Belief(self._objectives.to_maximise(evaluation.numbers), (0.0,))

    def left(self, rising: Iterable[Point]) -> list[tuple[float, Evaluation]]:
        """The evaluations below the top, by what is believed about them, best first."""
        return self._dropped_and_idle(rising)

    def revived_by(self, evaluation: Evaluation, rising: Iterable[Point]) -> Evaluation | None:
        """The point below the top that could win by most, after a value at the top.

        Only such a value can change what could win.
        """
        if evaluation.cheap or not evaluation.numbers or not self._dropped:
            return None
        bar = self._bar()
        judged = [
            (self._levels.margin(e.point.at_top, bar), e)
            for mean, e in self.left(rising)[:REVIVED]
            if isfinite(mean)  # one that failed is evaluated again only if nothing else is left
        ]
        margin, best = max(judged, key=lambda each: each[0], default=(0.0, None))
        return best if margin > 0.0 else None

    def before_start(self) -> list[Evaluation]:
        """The points that were known only below the top before the search began.

        What is believed about them depends on all that is known then, so it has to wait for that.
        """
        below, self._below = self._below, {}
        for point in below:
            self._levels.end(point)
        for point, evaluation in below.items():
            self.drop(evaluation, self._levels.belief(point))
        return [*below.values()]
