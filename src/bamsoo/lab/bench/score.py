"""What a set of runs is worth.

Where the least value is known: area under the curve, wins and losses, medians of the regret.
Elsewhere: scores between a random search and the best value that any of the methods found.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..._typing import Array
from .case import Case
from .errors import BenchError
from .runs import Measurement, case_of, trace

TARGETS: Array = 10.0 ** np.linspace(2.0, -8.0, 51)
FLOOR = 1e-16
"""The smallest regret told from zero."""

SAMPLE = 10
"""Random points whose median has score 0."""

Runs = dict[Case, Measurement]
"""The runs of one method."""

Methods = Mapping[str, Runs]
"""The runs of several methods, by name."""


def by_method(runs: Iterable[Measurement]) -> dict[str, Runs]:
    """Runs sorted by method and case."""
    found: dict[str, Runs] = {}
    for run in runs:
        found.setdefault(run["method"], {})[case_of(run)] = run
    return found


def solved(best: Array) -> Array:
    """Share of the targets reached after each evaluation, from the best regret so far."""
    share: Array = (best[:, None] <= TARGETS).mean(axis=1)
    return share


def auc(best: Array) -> float:
    """Area under the curve: mean of `solved` over the evaluations."""
    return float(solved(best).mean())


def by_function(runs: Runs, cases: Iterable[Case]) -> dict[str, float]:
    """Area under the curve by function, averaged over its instances among `cases`."""
    found: dict[str, list[float]] = {}
    for case in cases:
        found.setdefault(case.problem, []).append(auc(trace(runs[case])))
    return {problem: float(np.mean(areas)) for problem, areas in found.items()}


def log_regret(runs: Runs, problem: str) -> Array:
    """log10 of the regret of every run on a problem, one run in each row."""
    rows = [trace(run) for case, run in runs.items() if case.problem == problem]
    logs: Array = np.log10(np.maximum(np.array(rows), FLOOR))
    return logs


@dataclass(frozen=True)
class Duel:
    """Ours and a peer on exactly the runs that both have.

    Parameters
    ----------
    ours, theirs : dict
        Area under the curve by function.
    cases : sequence of Case
        The runs in common.
    """

    ours: dict[str, float]
    theirs: dict[str, float]
    cases: Sequence[Case]

    @property
    def areas(self) -> tuple[float, float]:
        """Ours and theirs, averaged over functions."""
        return float(np.mean(list(self.ours.values()))), float(np.mean(list(self.theirs.values())))

    @property
    def ratio(self) -> float:
        """Ours over theirs."""
        ours, theirs = self.areas
        return ours / theirs if theirs > 0 else np.inf

    @property
    def gains(self) -> dict[str, float]:
        """Ours less theirs, by function."""
        return {f: area - self.theirs[f] for f, area in self.ours.items()}

    @property
    def outcome(self) -> tuple[int, int, int]:
        """Functions won, lost and tied."""
        gains = np.array(list(self.gains.values()))
        won, lost = int((gains > 1e-12).sum()), int((gains < -1e-12).sum())
        return won, lost, len(gains) - won - lost


def duel(ours: Runs, theirs: Runs, dim: int) -> Duel | None:
    """The comparison in one dimension, or None where no run is common."""
    cases = [case for case in ours if case in theirs and case.dim == dim]
    if not cases:
        return None
    return Duel(by_function(ours, cases), by_function(theirs, cases), cases)


def scores(methods: Methods) -> dict[str, dict[Case, Array]]:
    """The score after each evaluation, by method and case.

    0 is the median of the first points of the random search, 1 the best value that any of these
    methods found within the budget; whatever is worse than 0 counts as 0. So scores depend on
    which methods are compared. A case that random search has not run has none.
    """
    found: dict[str, dict[Case, Array]] = {name: {} for name in methods}
    for case, run in methods.get("random", {}).items():
        zero = float(np.median(_values(run)[:SAMPLE]))
        here = {name: trace(runs[case]) for name, runs in methods.items() if case in runs}
        one = min(float(best[-1]) for best in here.values())
        for name, best in here.items():
            found[name][case] = _between(best, zero, one)
    return found


def _values(run: Measurement) -> Array:
    """What was found at each evaluation; failed ones count as infinitely bad."""
    if "steps" in run:
        raise BenchError(
            f"the runs of {run['suite']} store regrets, expected values: name no optimum in its "
            "targets, or write it up by areas"
        )
    values = np.array(run.get("truths", run["values"]), dtype=float) - run.get("optimum", 0.0)
    return np.where(np.isnan(values), np.inf, values)


def _between(best: Array, zero: float, one: float) -> Array:
    """`best` on the scale from `zero` to `one`, where less is better."""
    if np.isinf(zero):  # most random points fail: any value is worth as much as the best
        return np.isfinite(best).astype(float)
    if not one < zero:  # nothing better than a random point was found by anyone
        return (best <= one).astype(float)
    with np.errstate(invalid="ignore"):
        score: Array = np.clip((zero - best) / (zero - one), 0.0, 1.0)
    return score


def outcome(ours: Array, theirs: Array) -> tuple[int, int, int]:
    """Cases won, lost and tied by score."""
    won, lost = int((ours > theirs + 1e-9).sum()), int((ours < theirs - 1e-9).sum())
    return won, lost, len(ours) - won - lost
