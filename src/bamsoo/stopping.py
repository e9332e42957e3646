"""Which evaluations are stopped before their last step, and what is believed about their values.

Values are to be maximised here, as in the algorithms.
"""

from collections.abc import Sequence
from math import inf, isfinite
from typing import NamedTuple

import numpy as np

from ._typing import Array


class Belief(NamedTuple):
    """What the value of an evaluation that was not finished would have been."""

    mean: float
    variance: float


class Verdict(NamedTuple):
    """Whether an evaluation can still win."""

    margin: float
    """By how much it can: it is stopped if this is below 0. In units of the curves' spread."""
    belief: Belief
    """What its final value would be."""

    @property
    def stop(self) -> bool:
        """Whether the evaluation is to be stopped."""
        return self.margin < 0.0


class Stopping:
    """The curves of a search, and the rule that stops evaluations which cannot win.

    Parameters
    ----------
    steps : int
        The number of steps of a full evaluation.
    """

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._ended: list[tuple[Array, Array, float | None]] = []

    def add(self, steps: Sequence[int], values: Sequence[float], final: float | None) -> None:
        """Enter a curve that has ended; `final` is None if it was stopped."""
        self._ended.append((np.array(steps), np.array(values), final))

    def verdict(self, steps: Sequence[int], values: Sequence[float], best: float) -> Verdict:
        """Judge an evaluation after its latest step, against the best final value so far."""
        step, value = steps[-1], values[-1]
        gains = []
        for s, v, final in self._ended:
            reached = np.flatnonzero(s <= step)
            if final is not None and len(reached) and isfinite(v[reached[-1]]):
                gains.append(final - float(v[reached[-1]]))
        if step >= self._steps or len(gains) < 3 or not isfinite(best):
            return Verdict(inf, Belief(value, 0.0))
        spread = max(float(np.std(gains)), 1e-12 * max(1.0, abs(best)))
        if not isfinite(value):
            return Verdict(-1.0, Belief(best - 10.0 * spread, spread**2))
        mean = value + float(np.mean(gains))
        return Verdict((max(gains) + 2.0 * spread + value - best) / spread, Belief(mean, spread**2))
