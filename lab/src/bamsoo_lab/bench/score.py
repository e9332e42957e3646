"""Measures of a set of runs.

If the optimum is known: area under the curve, wins and losses, medians of the regret. Otherwise:
scores between a random search and the best value that any of the methods found.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bamsoo.base.typing import Array

from . import suites
from .case import Case
from .errors import BenchError
from .methods.plain import SAMPLE
from .runs import Measurement, case_of, feasible, trace

TARGETS: Array = 10.0 ** np.linspace(2.0, -8.0, 51)
FLOOR = 1e-16
"""The smallest regret that counts as more than zero."""

LEAST = -1.0
"""The lowest score, however bad a value is; also that of a run in which everything failed."""

TIE = 1e-6
"""Scores that differ by at most this count as equal."""

IntArray: TypeAlias = NDArray[np.int64]

Runs = dict[Case, Measurement]
"""The runs of one method."""

Methods = Mapping[str, Runs]
"""The runs of several methods, by name."""


def by_method(runs: Iterable[Measurement]) -> dict[str, Runs]:
    """Runs grouped by method and case."""
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
    """log10 of the regret of every run on a problem, one run per row."""
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
        """Our area divided by theirs."""
        ours, theirs = self.areas
        return ours / theirs if theirs > 0 else np.inf

    @property
    def gains(self) -> dict[str, float]:
        """Our area minus theirs, by function."""
        return {f: area - self.theirs[f] for f, area in self.ours.items()}

    @property
    def outcome(self) -> tuple[int, int, int]:
        """Functions won, lost and tied."""
        gains = np.array(list(self.gains.values()))
        won, lost = int((gains > 1e-12).sum()), int((gains < -1e-12).sum())
        return won, lost, len(gains) - won - lost


def duel(ours: Runs, theirs: Runs, dim: int) -> Duel | None:
    """The comparison in one dimension, or None if there are no runs in common."""
    cases = [case for case in ours if case in theirs and case.dim == dim]
    if not cases:
        return None
    return Duel(by_function(ours, cases), by_function(theirs, cases), cases)


def hindsight(ours: Runs, peers: Methods, dim: int) -> Duel | None:
    """Compare ours, on every function, with the peer that did best there.

    Nobody could have chosen these peers beforehand. Each is compared on the runs that it and ours
    have in common. The result is None if there are none.
    """
    duels = [found for runs in peers.values() if (found := duel(ours, runs, dim)) is not None]
    best: dict[str, Duel] = {}
    for found in duels:
        for function, gain in found.gains.items():
            if function not in best or gain < best[function].gains[function]:
                best[function] = found
    if not best:
        return None
    functions = [f for f in by_function(ours, (c for c in ours if c.dim == dim)) if f in best]
    return Duel(
        {f: best[f].ours[f] for f in functions},
        {f: best[f].theirs[f] for f in functions},
        [case for f in functions for case in best[f].cases if case.problem == f],
    )


def scores(methods: Methods, pooled: bool = False) -> dict[str, dict[Case, Array]]:
    """The score after each of the `moments` of a case, by method and case.

    0 is the median of the first points of random search, 1 is the best value that any of these
    methods reached within the budget, and -1 is the lowest score. So scores depend on which methods
    are compared. Under noise, points count by their true values. A case without a run of random
    search has no scores.

    If instances are only seeds, the cases of one problem may be `pooled`: 1 is then the best value
    of all of them. With many seeds, it depends less on which methods are compared.
    """
    found: dict[str, dict[Case, Array]] = {name: {} for name in methods}
    traces: dict[Case, dict[str, Array]] = {}
    samples: dict[Case, Array] = {}
    ones: dict[Case | str, float] = {}
    for case, run in methods.get("random", {}).items():
        traces[case] = {name: trace(runs[case]) for name, runs in methods.items() if case in runs}
        samples[case] = _sample(run)
        best = [*(float(some.min()) for some in traces[case].values()), *samples[case]]
        problem = case.problem if pooled else case
        ones[problem] = min(ones.get(problem, np.inf), *best)
    for case, here in traces.items():
        zero = float(np.median(samples[case])) if len(samples[case]) else np.inf
        for name, some in here.items():
            scored = _between(some, zero, ones[case.problem if pooled else case])
            found[name][case] = scored[moments(case)]
    return found


def moments(case: Case) -> IntArray:
    """Indices of the evaluations after which a case has scores.

    All of them, or each hundredth of the budget in a suite whose budgets differ.
    """
    if not suites.ALL[case.suite].relative:
        return np.arange(case.budget)
    found: IntArray = np.ceil(np.arange(1, 101) * case.budget / 100.0).astype(int) - 1
    return found


def _sample(run: Measurement) -> Array:
    """Values of the first random points, without those that failed or broke a constraint.

    If all of these did, values of all points.
    """
    if "steps" in run:
        raise BenchError(
            f"the runs of {run['suite']} store regrets; expected values, so leave the optimum out "
            "of its targets, or report the suite by areas"
        )
    found = np.array(run["values"], dtype=float)
    found[~feasible(run)] = np.nan
    for points in (run.get("sample", found[:SAMPLE]), found):
        values = np.array(points, dtype=float) - run.get("optimum", 0.0)
        good: Array = values[~np.isnan(values)]
        if len(good):
            break
    return good


def _between(best: Array, zero: float, one: float) -> Array:
    """`best` on the scale from `zero` to `one`, where smaller values are better."""
    if not one < zero or np.isinf(zero):  # no method found anything better than a random point
        return np.where((best <= one) & np.isfinite(best), 1.0, LEAST)
    return np.maximum(LEAST, (zero - best) / (zero - one))


def by_problem(found: Mapping[Case, Array], at: int) -> dict[str, float]:
    """Mean score over the cases of each problem, after `at` evaluations."""
    groups: dict[str, list[float]] = {}
    for case, score in found.items():
        groups.setdefault(case.problem, []).append(float(score[at - 1]))
    return {problem: float(np.mean(some)) for problem, some in groups.items()}


def interval(values: Sequence[float], draws: int = 2000) -> tuple[float, float]:
    """A 95 % bootstrap interval of the mean."""
    array = np.asarray(values, dtype=float)
    picked = np.random.default_rng(0).integers(len(array), size=(draws, len(array)))
    low, high = np.quantile(array[picked].mean(axis=1), [0.025, 0.975])
    return float(low), float(high)


def outcome(ours: Array, theirs: Array) -> tuple[int, int, int]:
    """Cases won, lost and tied by score."""
    won, lost = int((ours > theirs + TIE).sum()), int((ours < theirs - TIE).sum())
    return won, lost, len(ours) - won - lost
