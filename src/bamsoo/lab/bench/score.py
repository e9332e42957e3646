"""What a set of runs is worth: area under the curve, wins and losses, medians."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..._typing import Array
from .runs import Record, case_of, trace
from .suites import Case

TARGETS: Array = 10.0 ** np.linspace(2.0, -8.0, 51)
FLOOR = 1e-16
"""The smallest regret told from zero."""

Runs = dict[Case, Record]
"""The runs of one method."""


def by_method(records: Iterable[Record]) -> dict[str, Runs]:
    """Records sorted by method and case."""
    found: dict[str, Runs] = {}
    for record in records:
        found.setdefault(record["method"], {})[case_of(record)] = record
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
    """log10 of the regret of every run on a problem, one a row."""
    rows = [trace(record) for case, record in runs.items() if case.problem == problem]
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
