"""What runs are worth: scores between the median random point and the best value found.

0 is the median of random search's first points on a case, 1 the best that any of the runs
compared has reached; -1 is the least a run can get. Where there is noise, points are worth their
true values, and a run has reached what its best point is truly worth.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import BenchError
from .methods import SAMPLE

Record = Mapping[str, Any]
Place = tuple[str, int]
"""A problem and an instance of it."""

LEAST = -1.0
TIE = 1e-6
"""Scores that differ by no more than this are equal."""


@dataclass(frozen=True)
class Scale:
    """The values that score 0 and 1 on one case."""

    zero: float
    one: float

    def score(self, value: float | None) -> float:
        """A true value as a score; None, where nothing succeeded, is the least."""
        if value is None:
            return LEAST
        if self.zero <= self.one:  # no run is better than a random point
            return 1.0 if value <= self.one else LEAST
        return max(LEAST, (self.zero - value) / (self.zero - self.one))


def place(record: Record) -> Place:
    """Where a run belongs."""
    return record["problem"], record["instance"]


def successes(values: Iterable[float | None]) -> list[float]:
    """The values of evaluations that did not fail."""
    return [value for value in values if value is not None]


def as_told(record: Record) -> dict[str, Any]:
    """A noisy run scored by what it was told instead of by true values."""
    values = record["values"]
    marks = [[n, min(successes(values[:n]), default=None)] for n, _ in record["marks"]]
    return {**{k: v for k, v in record.items() if k != "sample"}, "marks": marks}


def scales(records: Iterable[Record]) -> dict[Place, Scale]:
    """The scale of each place, over all records given; random search must be among them."""
    draws: dict[Place, list[float]] = {}
    best: dict[Place, float] = {}
    places = set()
    for record in records:
        where = place(record)
        places.add(where)
        if record["method"] == "random":
            early = successes(record.get("sample", record["values"][:SAMPLE]))
            draws.setdefault(where, []).extend(early or successes(record["values"]))
            best |= {where: min([*early, best.get(where, early[0])])} if early else {}
        for _, value in record["marks"]:
            if value is not None:
                best[where] = min(value, best.get(where, value))
    missing = sorted(places - set(draws))
    if missing:
        raise BenchError(
            f"random search has no run on {missing[0][0]}, instance {missing[0][1]}, and the "
            "score needs one; add random to the methods that are run"
        )
    return {
        where: Scale(float(np.median(draws[where] or [best[where]])), best[where])
        for where in places
        if where in best
    }


def at_mark(record: Record, mark: int) -> float | None:
    """The true value after so many evaluations; a run that ended early keeps its last."""
    found: float | None = None
    for count, value in record["marks"]:
        if count <= mark:
            found = value
    return found


Scores = dict[tuple[str, int, int], float]
"""Scores of one method after so many evaluations, by problem, instance and seed."""


def scores(records: Iterable[Record], scale: Mapping[Place, Scale], mark: int) -> Scores:
    """Scores of the runs that were long enough."""
    return {
        (r["problem"], r["instance"], r["seed"]): scale[place(r)].score(at_mark(r, mark))
        for r in records
        if r["budget"] >= mark and place(r) in scale
    }


@dataclass(frozen=True)
class Duel:
    """Two methods on the runs that both have: won, lost and equal, and the mean difference."""

    won: int
    lost: int
    equal: int
    difference: float


def duel(ours: Scores, theirs: Scores) -> Duel:
    """Compare scores run by run."""
    common = ours.keys() & theirs.keys()
    gaps = np.array([ours[k] - theirs[k] for k in sorted(common)])
    won, lost = int(np.sum(gaps > TIE)), int(np.sum(gaps < -TIE))
    mean = float(gaps.mean()) if len(gaps) else float("nan")
    return Duel(won, lost, len(gaps) - won - lost, mean)


def by_problem(found: Scores) -> dict[str, float]:
    """Mean score of each problem."""
    groups: dict[str, list[float]] = {}
    for (problem, _, _), score in found.items():
        groups.setdefault(problem, []).append(score)
    return {problem: float(np.mean(values)) for problem, values in groups.items()}


def interval(values: Sequence[float], draws: int = 2000) -> tuple[float, float]:
    """A 95 % bootstrap interval of the mean: of problems, when given one value per problem."""
    rng = np.random.default_rng(0)
    array = np.asarray(values, dtype=float)
    means = array[rng.integers(len(array), size=(draws, len(array)))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)
