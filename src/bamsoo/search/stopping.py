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

`Levels` is the same rule for a fidelity: the levels at which a point was evaluated take the place
of the steps, and a point that cannot win is not evaluated at a higher level.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, isqrt, nan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    smaller one stops more of those that would have won."""

    settled: float = 0.15
    """An evaluation may be stopped once its curve has left at most this share of the variance of
    its final value open. With more, it is stopped earlier, on less evidence."""

    decisions: int = 14
    """The number of steps of a full curve after which an evaluation may be stopped."""

    spared: float = 0.05
    """The share of all steps that go to evaluations which the rule would have stopped."""


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
    """What the value of an evaluation that was not finished would have been."""

    mean: float
    variance: float
    """It is nan if it is not known."""


class Verdict(NamedTuple):
    """Whether an evaluation can still win."""

    margin: float
    """How far its upper bound is above the best value, in units of sigma; it is stopped if this is
    below 0."""
    belief: Belief
    """What its final value would be."""
    spared: bool = False
    """Whether it goes on although it cannot win."""

    @property
    def stop(self) -> bool:
        """Whether the evaluation is to be stopped."""
        return self.margin < 0.0 and not self.spared


class Stopping:
    """The curves of a search, and the rule that stops evaluations which cannot win.

    Parameters
    ----------
    steps : int
        The number of steps of a full evaluation.
    domain : Domain
    constants : StoppingConstants
    model : CurveConstants
    """

    def __init__(
        self,
        steps: int,
        domain: Domain,
        constants: StoppingConstants = CONSTANTS,
        model: CurveConstants = CURVES,
    ) -> None:
        self.steps, self._constants = steps, constants
        self.model = CurveModel(steps, domain, model)
        """The model of the curves."""
        self.look = isqrt(steps)
        """The number of steps of the first evaluations, which are compared with each other."""
        self.looks = steps // self.look if self.look > 1 else 0
        """The number of these evaluations; together they cost at most one full evaluation."""
        self._worst = inf  # stands for a step without a value
        self._decisive = np.unique(np.round(np.geomspace(1.0, steps, constants.decisions)))
        self._to_spare = 0.0  # steps
        self._spared: set[int] = set()

    def add(
        self,
        x: Array,
        taken: int,
        steps: Sequence[int],
        values: Sequence[float],
        instead_of: int | None = None,
    ) -> int | None:
        """Enter the curve of an evaluation that has ended after `taken` steps.

        x is a point of the unit cube. The value of a finished one is that of the last step. Returns
        the curve's index, or None if it has no values. It may take the place of a shorter one of
        the same point, given by its index.
        """
        known = np.array(values, dtype=float)
        good = np.isfinite(known)
        known = known.clip(-LARGEST, LARGEST)
        self._to_spare += self._constants.spared * taken
        if good.any():
            self._worst = min(self._worst, float(known[good].min()))
            return self.model.add(x, np.array(steps)[good], known[good], instead_of)
        return instead_of

    def spare(self, number: int, step: int) -> None:
        """Note that a trial goes on to its end from this step, although it cannot win."""
        self._spared.add(number)
        self._to_spare -= self.steps - step

    def verdict(
        self, number: int, x: Array, steps: Sequence[int], values: Sequence[float], best: float
    ) -> Verdict:
        """Judge a trial after its latest step, against the best final value so far."""
        step, before = steps[-1], steps[-2] if len(steps) > 1 else 0
        due = ((before < self._decisive) & (self._decisive <= step)).any()
        if step >= self.steps or not due or number in self._spared or not isfinite(best):
            return Verdict(inf, Belief(values[-1], 0.0))
        known = self.believe(x, steps, values)
        if known is None:
            return Verdict(inf, Belief(values[-1], 0.0))
        mean, sigma, share = known
        margin = (mean - self.model.seen(best)) / sigma + self._constants.width
        if share > self._constants.settled:
            margin = max(margin, 1.0)  # too early to say
        spared = margin < 0.0 and self._to_spare >= self.steps - step
        return Verdict(margin, self._belief(mean, sigma), spared)

    def belief(self, x: Array, steps: Sequence[int], values: Sequence[float]) -> Belief:
        """What the final value of a curve that was stopped would have been.

        It is nan if neither this curve nor any that has ended has a value.
        """
        known = self.believe(x, steps, values)
        if known is not None:
            return self._belief(*known[:2])
        numbers = [value for value in values if isfinite(value)]
        last = values[-1] if isfinite(values[-1]) else min(numbers, default=nan)
        return Belief(last, 0.0)

    def _belief(self, mean: float, sigma: float) -> Belief:
        """A belief in the units of the values."""
        value = min(max(self.model.value(mean), -LARGEST), LARGEST)
        deviation = min(self.model.slope(mean) * sigma, sqrt(LARGEST))
        return Belief(value, deviation * deviation)

    def beliefs(self, curves: Sequence[int]) -> list[Belief]:
        """What the final values of curves that were entered would have been."""
        with one_thread():
            means, sigmas = self.model.ends(curves)
        return [self._belief(*each) for each in zip(means.tolist(), sigmas.tolist(), strict=True)]

    def believe(
        self, x: Array, steps: Sequence[int], values: Sequence[float]
    ) -> tuple[float, float, float] | None:
        """Mean and deviation of a curve's final value, and the share of its variance left open.

        They are in the model's units; None if no curve has ended.
        """
        if not len(self.model):
            return None
        t: NDArray[np.intp] = np.array(steps)
        known = np.array(values, dtype=float)
        known[~np.isfinite(known)] = self._worst
        with one_thread():  # the number of threads changes the rounding, and so the decisions
            return self.model.predict(x, t, known.clip(-LARGEST, LARGEST))


@dataclass
class Attempts:
    """What has become of the points that were evaluated at a level of a fidelity."""

    values: int = 0
    """The number of points with a value there."""
    saved: int = 0
    """The number of points that failed there, and have a value at a higher level."""
    lost: int = 0
    """The number of points that failed there, and then at the top."""

    @property
    def says_little(self) -> bool:
        """Whether half of the points that fail at this level are expected to have a value above.

        By Laplace's rule of succession; before any has been tried, they are.
        """
        return self.saved >= self.lost

    @property
    def fails_alone(self) -> bool:
        """Whether most points are expected to fail at this level, although not above it."""
        return self.saved > self.values + self.lost


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
        ahead = self._rule.believe(x, [*steps, step], [*values, values[-1] if values else 0.0])
        now = self._rule.believe(x, steps, values) if steps else None
        if ahead is None:
            return True
        return (ahead[2] if now is None else (ahead[1] / now[1]) ** 2) <= TELLS

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

    def wins(self, point: Point, index: int, best: float) -> bool:
        """Whether a point can still win, or is one of those that climb to the top anyway."""
        return index % WHOLE == 0 or self.margin(point, best) >= 0.0

    def margin(self, point: Point, best: float) -> float:
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
