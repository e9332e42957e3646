"""Rules that end a run: the argument `stop`, and the two rules that come with the package.

After each evaluation a rule is called with the result so far. It returns True or a sentence that
says why to end the run, and anything false to continue. A rule may also have a method `next_point`,
which is called with the result before the search is asked for a point, and returns a point to
evaluate first, or None.
"""

from collections.abc import Callable, Sequence
from math import inf, nan
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .base.checks import brief, check_between, check_whole, count
from .base.pareto import hypervolume, joined, reference_of
from .base.typing import Array
from .errors import SettingsError

if TYPE_CHECKING:
    from .record.objectives import Objectives
    from .record.trials import Evaluation
    from .result.result import Result

Rule: TypeAlias = Callable[[Any], object]
"""A callable that takes a `Result`."""


PATIENCE = 2
"""After an improvement, `Gap` does not choose points of its own for PATIENCE * (D + 1) evaluations
in D dimensions. With more, a run takes longer to end; with fewer, a search that is still improving
loses evaluations."""


class Stalled:
    """Stop when the best value has not improved in `n` evaluations.

    With several objectives, it is the hypervolume that has to improve.

    Only feasible points can improve the best value, and values are compared as they were told.
    Failed and infeasible evaluations count as evaluations without improvement. So do those that
    were stopped early, once there is a final value. Those below the top of a fidelity do not count.

    Parameters
    ----------
    n : int
        The number of evaluations.
    gain : float, optional
        The smallest gain that counts, in units of the value. Smaller ones count as soon as they add
        up to it. By default it is the search's `tol`, and without that any gain counts.
    """

    def __init__(self, n: int, gain: float | None = None) -> None:
        check_whole("Stalled", "n", n)
        if gain is not None:
            check_between("Stalled", "gain", gain, 0.0)
        self.n, self.gain = int(n), None if gain is None else float(gain)
        self._reached = _Reached()
        self._least, self._seen = 0.0, 0  # the gain that counted, and the evaluations seen
        self._best, self._since = -inf, 0

    def __repr__(self) -> str:
        return f"Stalled({self.n}{'' if self.gain is None else f', gain={self.gain:g}'})"

    def __call__(self, result: "Result") -> str | None:
        """Why to stop, or None."""
        gain = (result.tol if self.gain is None else self.gain) or 0.0
        if not self._reached.follow(result) or gain != self._least:
            self._least, self._seen, self._best, self._since = gain, 0, -inf, 0
        values = self._reached.values
        for evaluation, value in zip(
            result.evaluations[self._seen :], values[self._seen :], strict=True
        ):
            if value > self._best and value - self._best >= gain:
                self._best, self._since = value, 0
            elif evaluation.number is not None and not evaluation.cheap:
                # the first ones are stopped to compare them, before any of them is finished
                self._since += not (evaluation.stopped and self._best == -inf)
        self._seen = len(values)
        if self._since < self.n:
            return None
        what = "hypervolume" if result.objectives.several else "best value"
        least = f" by {gain:g}" if gain else ""
        return f"the {what} has not improved{least} in {count(self.n, 'evaluation')}"


class _Reached:
    """What each evaluation of a run reached, kept from one result of it to the next.

    It is the value to be maximised, or the hypervolume after it. So a rule that is called after
    each evaluation looks at each of them once.

    Attributes
    ----------
    values : list of float
    """

    def __init__(self) -> None:
        self.values: list[float] = []
        self._last: Evaluation | None = None
        # of several objectives, to be maximised: all values, the range of them, and their front
        self._rows: list[Array] = []
        self._range: Array = np.empty(0)
        self._reference: Array = np.empty(0)
        self._front: Array = np.empty(0)

    def follow(self, result: "Result") -> bool:
        """Take in what is new in a result; return whether all that was known stays as it was.

        It does not if the result is one of another run, if failures were taken back, or if the
        reference of a hypervolume has moved.
        """
        told, done = result.evaluations, len(self.values)
        same = 0 < done <= len(told) and told[done - 1] is self._last
        if not same:
            done, self.values, self._rows = 0, [], []
        self._last = told[-1] if told else None
        if result.objectives.several:
            return self._follow_front(told[done:], result.objectives) and same
        turn = result.objectives.sense.turn
        self.values += [turn(each.value) if each.feasible else -inf for each in told[done:]]
        return same

    def _follow_front(self, new: Sequence["Evaluation"], objectives: "Objectives") -> bool:
        """The same for several objectives; whether the reference stays as it was."""
        lost = np.full(len(objectives), nan)
        rows = [objectives.turned(each.numbers) if each.feasible else lost for each in new]
        good = [row for row, each in zip(rows, new, strict=True) if each.feasible]
        known = [*self._range] if self._rows and len(self._range) else []
        self._rows += rows
        if not (known or good):
            self._range = np.empty(0)
            self.values = [-inf] * len(self._rows)
            return True
        ends = np.array([*known, *good])
        self._range = np.array([ends.min(0), ends.max(0)])
        reference = reference_of(self._range)
        same = np.array_equal(reference, self._reference)
        if not same or not self.values:
            self._reference, self._front = reference, np.empty((0, len(objectives)))
            self.values, rows = [], self._rows
        for row in rows:
            front = joined(self._front, row)
            self.values.append(self.values[-1] if self.values else -inf)
            if front is not None:
                self._front, self.values[-1] = front, hypervolume(front, reference) or -inf
        return same


class Gap:
    """Stop when, by the model's bounds, at most `width` is left to gain.

    The quantity compared with `width` is `Result.gap`. The algorithm must have a model.

    A search that has found the optimum spends its evaluations near it, so a corner of the space
    that it does not visit could keep a high bound for ever. Therefore, when the best value has not
    improved by more than `width` for a while, every second evaluation is made where the bound is
    largest.

    Parameters
    ----------
    width : float
        In units of the objective. With several objectives, it is a share: the hypervolume that the
        bounds leave, over that of the front.
    """

    def __init__(self, width: float) -> None:
        check_between("Gap", "width", width, 0.0)
        self.width = float(width)
        self._witness: Any = None  # where the bound was largest when it was last looked for
        self._reached = _Reached()
        self._best, self._good = -inf, 0  # the best value, and the first that is about as good
        self._trials: list[int] = []  # the number of trials up to each evaluation

    def __repr__(self) -> str:
        return f"Gap({self.width:g})"

    def __call__(self, result: "Result") -> str | None:
        """Why to stop, or None."""
        if result.has_no_model:
            raise SettingsError(
                f"{self!r} needs an algorithm with a model, such as auto, bamsoo or gp-ucb"
            )
        if result.objectives.several:
            if result.gap > self.width:
                return None
            return f"the model's bounds leave at most {self.width:g} of the hypervolume to gain"
        if (bounds := result.bounds) is None:
            return None
        best = result.objectives.sense.turn(result.fun)
        if self._witness is not None and bounds.gain(best, self._witness) > self.width:
            return None  # the bound there is still too high, so a full search would be wasted
        self._witness = bounds.top
        if result.gap > self.width:
            return None
        return f"the model's bounds leave at most {self.width:g} to gain"

    def next_point(self, result: "Result") -> Any:
        """The point with the largest bound, if it is time to evaluate one; otherwise None."""
        if not self._reached.follow(result):
            self._best, self._good, self._trials = -inf, 0, []
        values, done = self._reached.values, len(self._trials)
        for each in result.evaluations[done:]:
            before = self._trials[-1] if self._trials else 0
            self._trials.append(before + (each.number is not None))
        self._best = best = max([self._best, *values[done:]])
        if best == -inf:
            return None
        good = best * (1.0 - self.width) if result.objectives.several else best - self.width
        while values[self._good] < good:
            self._good += 1
        since = self._trials[-1] - self._trials[self._good]
        idle = since - PATIENCE * (result.space.dim + 1)
        if idle < 0 or idle % 2 or (top := result.most_promising) is None:
            return None
        return result.space.decode(top[0])


def as_rules(stop: Any) -> tuple[Rule, ...]:
    """The argument `stop` as a tuple of rules."""
    rules = () if stop is None else tuple(stop) if isinstance(stop, (list, tuple)) else (stop,)
    for rule in rules:
        if isinstance(rule, type) or not callable(rule):
            raise SettingsError(
                f"stop must be a callable or a list of callables, such as Stalled(20), "
                f"got {brief(rule)}"
            )
    return rules
