"""The exact optimum of the objective over its box, which no search can exceed.

Supports are integers, so only ceil(T_k) matters, and whether a k-gram is extracted depends only on
T_k and T_{k+1}. Four small tables therefore contain every E and H as sums of their entries, and all
combinations in the box (42 million by default) can be compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, prod

import numpy as np

from bamsoo.errors import SettingsError
from bamsoo.space.axes import Mask

from .counts import Floats, Ints, K
from .objective import NAMES, Objective, Score

_MOST_CELLS = 2_000_000_000


@dataclass(frozen=True)
class Optimum:
    """The optimum of a box: thresholds, their score, and the number of combinations compared."""

    thresholds: dict[str, float]
    score: Score
    cells: int


def optimum(objective: Objective) -> Optimum:
    """Find the exact optimum of the box, by comparing all distinct combinations of thresholds.

    If several are equally good, the first in the order of (T3, T4, T1, T2) is returned. Real
    thresholds that round up to it have the same score.
    """
    steps = [
        _steps(objective.extractor.counts.min_count, low, high)
        for low, high in objective.box.values()
    ]
    cells = prod(map(len, steps))
    if cells > _MOST_CELLS:
        raise SettingsError(f"the box has {cells} combinations, expected {_MOST_CELLS} or fewer")
    everything = [np.ones(len(right), bool) for right in objective.right]
    E1, E2, E3, E4 = _tables(objective, steps, everything)
    H1, H2, H3, H4 = _tables(objective, steps, objective.right)
    best, where = -1.0, (0, 0, 0, 0)
    for i3 in range(len(steps[2])):
        E12, H12 = E1 + E2[:, i3], H1 + H2[:, i3]
        for i4 in range(len(steps[3])):
            E = E12 + (E3[i3, i4] + E4[i4, 0])
            H = H12 + (H3[i3, i4] + H4[i4, 0])
            _, _, F = objective.f(E, H)
            at = int(F.argmax())
            if F.flat[at] > best:
                best = float(F.flat[at])
                where = (*divmod(at, F.shape[1]), i3, i4)
    highs = [high for _, high in objective.box.values()]
    T = [min(float(step[i]), high) for step, i, high in zip(steps, where, highs, strict=True)]
    return Optimum(dict(zip(NAMES, T, strict=True)), objective.score(T), cells)


def _steps(min_count: int, low: float, high: float) -> Floats:
    """Every value of ceil(T) inside the box, except those below the smallest support kept."""
    first = min(max(min_count, ceil(low)), ceil(high))
    return np.arange(first, ceil(high) + 1, dtype=np.float64)


def _tables(objective: Objective, steps: Sequence[Floats], counted: Sequence[Mask]) -> list[Ints]:
    """Table k at [i, j]: the number of counted rows with S >= steps_k[i] and D < steps_{k+1}[j]."""
    tables = []
    extractor = objective.extractor
    for k in range(K):
        following = steps[k + 1] if k + 1 < K else np.array([np.inf])
        support = extractor.counts.levels[k].support[counted[k]]
        dismisser = extractor.dismissers[k][counted[k]]
        reached = np.searchsorted(steps[k], support, "right")
        fallen = np.searchsorted(following, dismisser, "right")
        table = np.zeros((len(steps[k]) + 1, len(following) + 1), np.int64)
        np.add.at(table, (reached, fallen), 1)
        tables.append(table[::-1].cumsum(0)[::-1].cumsum(1)[1:, :-1])
    return tables
