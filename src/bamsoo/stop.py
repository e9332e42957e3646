"""Rules that end a run: the argument `stop`, and the two rules that come with the package.

After each evaluation a rule is called with the result so far. It returns True or a sentence that
says why to end the run, and anything false to continue. A rule may also have a method `next_point`,
which is called with the result before the search is asked for a point, and returns a point to
evaluate first, or None.
"""

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any, TypeAlias

from .base.checks import brief, check_between, check_whole, count
from .errors import SettingsError

if TYPE_CHECKING:
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

    def __repr__(self) -> str:
        return f"Stalled({self.n}{'' if self.gain is None else f', gain={self.gain:g}'})"

    def __call__(self, result: "Result") -> str | None:
        """Why to stop, or None."""
        several = result.objectives.several
        gain = (result.tol if self.gain is None else self.gain) or 0.0
        since, best = 0, -inf
        for evaluation, value in zip(result.evaluations, _reached(result), strict=True):
            if value > best and value - best >= gain:
                best, since = value, 0
            elif evaluation.number is not None and not evaluation.cheap:
                # the first ones are stopped to compare them, before any of them is finished
                since += not (evaluation.stopped and best == -inf)
        if since < self.n:
            return None
        what = "hypervolume" if several else "best value"
        least = f" by {gain:g}" if gain else ""
        return f"the {what} has not improved{least} in {count(self.n, 'evaluation')}"


def _reached(result: "Result") -> list[float]:
    """What each evaluation reached: its value to be maximised, or the hypervolume after it."""
    if result.objectives.several:
        return [volume or -inf for volume in result.hypervolumes.tolist()]
    sign = result.objectives.signs[0]
    return [sign * each.value if each.feasible else -inf for each in result.evaluations]


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
        best = result.fun if result.direction == "maximize" else -result.fun
        if self._witness is not None and bounds.gain(best, self._witness) > self.width:
            return None  # the bound there is still too high, so a full search would be wasted
        self._witness = bounds.top
        if result.gap > self.width:
            return None
        return f"the model's bounds leave at most {self.width:g} to gain"

    def next_point(self, result: "Result") -> Any:
        """The point with the largest bound, if it is time to evaluate one; otherwise None."""
        values = _reached(result)
        best = max(values, default=-inf)
        if best == -inf:
            return None
        good = best * (1.0 - self.width) if result.objectives.several else best - self.width
        first = next(i for i, value in enumerate(values) if value >= good)
        since = sum(each.number is not None for each in result.evaluations[first + 1 :])
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
