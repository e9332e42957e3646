"""Which evaluations are stopped before their last step, and what is believed about their values.

Values are to be maximised here, as in the algorithms. The rule is the paper's, one level down:
there a node is evaluated only if its upper bound reaches the best value, and here an evaluation
goes on only if the upper bound of its final value does. Four things are added:

- An evaluation is not stopped before its own curve has settled most of what was unknown about its
  final value. Otherwise the parameters alone would decide, and stopping would teach nothing.
- Decisions are made after steps that grow by a constant factor, because one more step says little
  late in a curve.
- The first evaluations are compared with each other instead of with a final value, since there is
  none. If an evaluation has T steps, each of them is stopped after about sqrt(T) steps, so that
  together they cost no more than one full evaluation. The search then begins the best of them again
  (`Course`), and later any other whose final value seems to be better than the best one after all.
- A share of all steps is spent on evaluations that the rule would have stopped, so that curves
  which cross late are seen as they are, however wrong the model was about them.

With several objectives, each has a model of its curves. The upper bounds of the final values are a
vector, and the evaluation goes on only if no point of the front dominates it, as cells are judged
there. The first evaluations are then not compared with each other, since none of them need be best.

`Levels` is the same rule for a fidelity: the levels at which a point was evaluated take the place
of the steps, and a point that cannot win is not evaluated at a higher level.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, isqrt, nan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..algorithms.attempts import Attempts
from ..base.blas import one_thread
from ..base.typing import Array
from ..model.curves import CONSTANTS as CURVES
from ..model.curves import FIDELITY, CurveConstants, CurveModel
from ..space import Domain, Fidelity, Point


@dataclass(frozen=True)
class StoppingConstants:
    """Constants of the rule, chosen on develop tasks of lcbench (docs/steps.md)."""

    width: float = 0.5
    """The factor of sigma in the upper bound of a final value. With 0.5, an evaluation is stopped
    if its probability to win is below 31 %. A larger one finishes more evaluations that lose; a
    smaller one stops more of those that would have won. With several objectives the factor is
    larger, so that the probability to win in any of them is the same."""

    settled: float = 0.15
    """An evaluation may be stopped once its curve has left at most this share of the variance of
    its final value open. With more, it is stopped earlier, on less evidence."""

    decisions: int = 14
    """The number of steps of a full curve after which an evaluation may be stopped."""

    spared: float = 0.05
    """The share of all steps that go to evaluations which the rule would have stopped."""

    tolerance: float = 0.01
    """With several objectives, the front counts as better by this share of its range, as it does
    for cells (`FrontConstants`)."""


CONSTANTS = StoppingConstants()

LARGEST = 1e307
"""Larger values and beliefs count as this one, so that differences of two values are finite."""

CHEAP = StoppingConstants(width=1.0, settled=1.0, spared=0.0)
"""The constants for a fidelity, chosen on six small problems, of which four are in
`examples/fidelity.py`. A point that was dropped may still climb later, so nothing has to be settled
before, and `WHOLE` says which points climb whatever the rule says."""

FINEST = 50
"""The top of a fidelity as a step of the model of curves, which was made for about so many."""

WHOLE = 10
"""The first point and every one after this many climb through all levels of a fidelity to the top,
so that what each level says about the top is seen. A run then has at most about this many times as
many points as its budget, which keeps the search affordable, too."""

TELLS = 0.35
"""A level is used if it leaves at most this share of the variance open that a point's value at the
top has; otherwise the point goes on to a higher level. On six develop tasks of XGBoost by training
size with six seeds, the mean scores after 5, 10 and 20 full evaluations were .36, .51 and .66 with
0.25, .37, .55 and .73 with 0.35, and .39, .60 and .75 with 0.5. But on a function whose cheap
versions mislead, the search with 0.5 is far behind the other two after 20 (docs/steps.md)."""

REVIVED = 10
"""The number of dropped points, the best by what was believed, that are looked at again."""


class Belief(NamedTuple):
    """What the values of an evaluation that was not finished would have been, one per objective."""

    means: tuple[float, ...]
    variances: tuple[float, ...]
    """They are nan if they are not known."""


class Verdict(NamedTuple):
    """Whether an evaluation can still win."""

    margin: float
    """How far its upper bound is above the best value, in units of sigma; it is stopped if this is
    below 0. With several objectives, it is the least of what it is ahead of each point of the
    front, in the objective in which it is furthest ahead of it."""
    belief: Belief
    """What its final value would be."""
    spared: bool = False
    """Whether it goes on although it cannot win."""

    @property
    def stop(self) -> bool:
        """Whether the evaluation is to be stopped."""
        return self.margin < 0.0 and not self.spared


def ahead(values: Array, front: Array, unit: Array | float = 1.0) -> float:
    """How far the values of a point are ahead of a front that it has to beat, one row per point.

    It is the least distance from the points of the front, each in the objective that is furthest
    ahead of it; below 0 if one of them dominates the values, and inf if the front is empty.
    """
    return float(((values - front) / unit).max(axis=1).min(initial=inf))


class Stopping:
    """The curves of a search, and the rule that stops evaluations which cannot win.

    The values of a curve have one row for each step, with one number for each objective. With one
    objective, they may be a list of numbers.

    Parameters
    ----------
    steps : int
        The number of steps of a full evaluation.
    domain : Domain
    constants : StoppingConstants
    model : CurveConstants
    objectives : int, default 1
    """

    def __init__(
        self,
        steps: int,
        domain: Domain,
        constants: StoppingConstants = CONSTANTS,
        model: CurveConstants = CURVES,
        objectives: int = 1,
    ) -> None:
        self.steps, self._constants = steps, constants
        self.models = [CurveModel(steps, domain, model) for _ in range(objectives)]
        """The model of the curves of each objective."""
        self.look = isqrt(steps)
        """The number of steps of the first evaluations, which are compared with each other."""
        self.looks = steps // self.look if self.look > 1 and objectives == 1 else 0
        """The number of these evaluations; together they cost at most one full evaluation."""
        self._width = constants.width
        if objectives > 1:
            from scipy.special import ndtr, ndtri  # takes long to load

            self._width = float(ndtri(ndtr(constants.width) ** (1.0 / objectives)))
        self._worst = np.full(objectives, inf)  # stands for a step without a value
        self._decisive = np.unique(np.round(np.geomspace(1.0, steps, constants.decisions)))
        self._to_spare = 0.0  # steps
        self._spared: set[int] = set()

    def add(
        self,
        x: Array,
        taken: int,
        steps: Sequence[int],
        values: ArrayLike,
        instead_of: int | None = None,
    ) -> int | None:
        """Enter the curve of an evaluation that has ended after `taken` steps.

        x is a point of the unit cube. The value of a finished one is that of the last step. Returns
        the curve's index, or None if it has no values. It may take the place of a shorter one of
        the same point, given by its index.
        """
        known = self._rows(values)
        good = np.isfinite(known).all(axis=1)
        known = known.clip(-LARGEST, LARGEST)[good]
        self._to_spare += self._constants.spared * taken
        if good.any():
            self._worst = np.minimum(self._worst, known.min(axis=0))
            t = np.array(steps)[good]
            for model, column in zip(self.models, known.T, strict=True):
                place = model.add(x, t, column, instead_of)  # the same for all objectives
            return place
        return instead_of

    def _rows(self, values: ArrayLike) -> Array:
        return np.array(values, dtype=float).reshape(-1, len(self.models))

    def spare(self, number: int, step: int) -> None:
        """Note that a trial goes on to its end from this step, although it cannot win."""
        self._spared.add(number)
        self._to_spare -= self.steps - step

    def verdict(
        self, number: int, x: Array, steps: Sequence[int], values: ArrayLike, best: ArrayLike
    ) -> Verdict:
        """Judge a trial after its latest step, against the best final value so far.

        With several objectives, `best` is the front, one row per point.
        """
        rows, front = self._rows(values), self._rows(best)
        front = front[np.isfinite(front).all(axis=1)]
        step, before = steps[-1], steps[-2] if len(steps) > 1 else 0
        due = ((before < self._decisive) & (self._decisive <= step)).any()
        known = None
        if step < self.steps and due and number not in self._spared and len(front):
            known = self.believe(x, steps, rows)
        if known is None:
            return Verdict(inf, Belief(tuple(rows[-1].tolist()), (0.0,) * len(self.models)))
        means, sigmas, shares = known
        margin = ahead(means, self._seen(front), sigmas) + self._width
        if shares.max() > self._constants.settled:
            margin = max(margin, 1.0)  # too early to say
        spared = margin < 0.0 and self._to_spare >= self.steps - step
        return Verdict(margin, self._belief(means, sigmas), spared)

    def _seen(self, front: Array) -> Array:
        """The values to beat in the models' units; with several, moved by the tolerance."""
        front = front.clip(-LARGEST, LARGEST)
        if len(front) > 1:
            front = front + self._constants.tolerance * np.ptp(front, axis=0)
        columns = zip(self.models, front.T, strict=True)
        return np.column_stack([[model.seen(v) for v in column] for model, column in columns])

    def belief(self, x: Array, steps: Sequence[int], values: ArrayLike) -> Belief:
        """What the final value of a curve that was stopped would have been.

        It is nan if neither this curve nor any that has ended has a value.
        """
        known = self.believe(x, steps, values)
        if known is not None:
            return self._belief(*known[:2])
        rows = self._rows(values)
        numbers = rows[np.isfinite(rows).all(axis=1)]
        last = rows[-1] if np.isfinite(rows[-1]).all() else numbers.min(axis=0, initial=inf)
        known_at_all = tuple(each if isfinite(each) else nan for each in last.tolist())
        return Belief(known_at_all, (0.0,) * len(self.models))

    def _belief(self, means: Array, sigmas: Array) -> Belief:
        """A belief in the units of the values."""
        found = []
        for model, mean, sigma in zip(self.models, means.tolist(), sigmas.tolist(), strict=True):
            value = min(max(model.value(mean), -LARGEST), LARGEST)
            deviation = min(model.slope(mean) * sigma, sqrt(LARGEST))
            found.append((value, deviation * deviation))
        values, variances = zip(*found, strict=True)
        return Belief(values, variances)

    def beliefs(self, curves: Sequence[int]) -> list[Belief]:
        """What the final values of curves that were entered would have been."""
        with one_thread():
            ends = [model.ends(curves) for model in self.models]
        means, sigmas = (np.column_stack([each[k] for each in ends]) for k in (0, 1))
        return [self._belief(*each) for each in zip(means, sigmas, strict=True)]

    def believe(
        self, x: Array, steps: Sequence[int], values: ArrayLike
    ) -> tuple[Array, Array, Array] | None:
        """Means and deviations of a curve's final values, and the share of each variance left open.

        They are in the models' units, one for each objective; None if no curve has ended.
        """
        if not len(self.models[0]):
            return None
        t: NDArray[np.intp] = np.array(steps)
        known = self._rows(values)
        known = np.where(np.isfinite(known).all(axis=1, keepdims=True), known, self._worst)
        known = known.clip(-LARGEST, LARGEST)
        with one_thread():  # the number of threads changes the rounding, and so the decisions
            found = [
                model.predict(x, t, column)
                for model, column in zip(self.models, known.T, strict=True)
            ]
        means, sigmas, shares = np.array(found).T
        return means, sigmas, shares


class Levels:
    """Which level of a fidelity a point is evaluated at, from cheap ones to the top.

    A point with values at some levels is like a curve with values after some steps, and the rule is
    that of `Stopping`: a point climbs to the next level if it can still win. Levels that say little
    about this point are skipped.
    """

    def __init__(self, fidelity: Fidelity, domain: Domain) -> None:
        self._fidelity = fidelity
        self._rule = Stopping(FINEST, domain, CHEAP, FIDELITY)
        # by the point at the top of the fidelity
        self._curves: dict[Point, dict[int, float]] = {}
        self._failed: dict[Point, set[float]] = {}  # the levels at which a point failed
        self._record: defaultdict[float, Attempts] = defaultdict(Attempts)

    def _step(self, level: float) -> int:
        """A value of the fidelity as a step of the model of curves."""
        place = self._fidelity.place(level)
        spread = FINEST**place if self._fidelity.log else 1.0 + (FINEST - 1.0) * place
        return round(spread)

    def above(self, level: float | None, point: Point, index: int) -> float:
        """The level after this one, or the first, for the point that was begun as this one."""
        levels = self._fidelity.levels
        failed = self._failed.get(point, ())
        for each in levels[:-1]:
            if each in failed or (level is not None and each <= level):
                continue
            fails = self._record[each].fails_alone
            if index % WHOLE == 0 or (not fails and self._tells(point, each)):
                return each
        return levels[-1]

    def _tells(self, point: Point, level: float) -> bool:
        """Whether the value at a level says much about that at the top."""
        steps, values = self._curve(point)
        step = self._step(level)
        x = point.unit
        then = self._rule.believe(x, [*steps, step], [*values, values[-1] if values else 0.0])
        now = self._rule.believe(x, steps, values) if steps else None
        if then is None:
            return True
        if now is None:
            return float(then[2][0]) <= TELLS
        return float(then[1][0]) ** 2 <= TELLS * float(now[1][0]) ** 2

    def enter(self, point: Point, level: float, value: float) -> None:
        """Note the value of a point at a level."""
        self._curves.setdefault(point, {})[self._step(level)] = value
        self._record[level].values += 1
        for each in self._failed.pop(point, ()):
            self._record[each].saved += each < level

    def fail(self, point: Point, level: float) -> None:
        """Note that a point has failed at a level."""
        if level >= self._fidelity.high:
            for each in self._failed.pop(point, ()):
                self._record[each].lost += 1
        else:
            self._failed.setdefault(point, set()).add(level)

    def outlives(self, level: float, index: int) -> bool:
        """Whether a point that has failed at a level is to be evaluated at a higher one."""
        return index % WHOLE == 0 or self._record[level].says_little

    def wins(self, point: Point, index: int, best: ArrayLike) -> bool:
        """Whether a point can still win, or is one of those that climb to the top anyway."""
        return index % WHOLE == 0 or self.margin(point, best) >= 0.0

    def margin(self, point: Point, best: ArrayLike) -> float:
        """How far the upper bound of a point is above the best value, as in `Verdict`."""
        return self._rule.verdict(-1, point.unit, *self._curve(point), best).margin

    def end(self, point: Point) -> None:
        """Enter what is known about a point into the model: it has reached the top, or stays."""
        self._rule.add(point.unit, FINEST, *self._curve(point))

    def belief(self, point: Point) -> Belief:
        """What the value of a point at the top would be."""
        return self._rule.belief(point.unit, *self._curve(point))

    def _curve(self, point: Point) -> tuple[list[int], list[float]]:
        curve = sorted(self._curves.get(point, {}).items())
        return [step for step, _ in curve], [value for _, value in curve]
