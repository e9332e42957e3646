"""Runs with constraints: how they are compared, and their tables and goals.

A run is judged by its best feasible point so far, or by its smallest total violation if it has no
feasible point. Every feasible point is better than every infeasible one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import isclose
from typing import Any, NamedTuple

import numpy as np

from .designs import DESIGNS
from .goals import OWN, GoalRow
from .methods import ALL
from .runs import feasible, trace
from .score import Methods, Runs
from .tables import Table, ordered, runs_in_words

AT = (25, 50, 100)
"""Numbers of evaluations after which runs are compared."""

TIE = 1e-6
"""Values, or total violations, count as equal if their relative difference is at most this."""

GAP = 0.01
"""Designs: the gap to the optimum that is to be reached, as a fraction of the optimum."""

SHARE = 4.0
"""Designs: how many are to be won for each one lost against a peer."""


class Standing(NamedTuple):
    """What a run has reached: the violation of its best point, and the value of that point.

    Smaller is better; violations are compared first, and values only if these are equal.
    """

    violation: float
    value: float


def standing(run: Mapping[str, Any], at: int) -> Standing:
    """What a run has reached after `at` evaluations."""
    values, violations = (
        np.array(run[name][:at], dtype=float) for name in ("values", "violations")
    )
    met = feasible(run)[:at] & ~np.isnan(values)
    if met.any():
        return Standing(0.0, float(values[met].min()))
    known = violations[~np.isnan(violations)]
    return Standing(float(known.min()) if len(known) else np.inf, np.inf)


def compared(ours: Standing, theirs: Standing) -> int:
    """Compare two standings: 1 if ours is better, -1 if theirs is, 0 if they are equal."""
    for mine, other in zip(ours, theirs, strict=True):
        if not isclose(mine, other, rel_tol=TIE):
            return 1 if mine < other else -1
    return 0


def outcome(ours: Runs, theirs: Runs, at: int) -> tuple[int, int, int]:
    """Count the runs won, lost and tied after `at` evaluations, among those that both have."""
    found = [
        compared(standing(ours[case], at), standing(theirs[case], at))
        for case in ours
        if case in theirs
    ]
    return found.count(1), found.count(-1), found.count(0)


def marks(methods: Methods) -> list[int]:
    """The numbers of `AT` that are below every budget, and the smallest budget."""
    least = min(case.budget for runs in methods.values() for case in runs)
    return sorted({*(at for at in AT if at < least), least})


def duels(methods: Methods, own: str = OWN) -> Table:
    """Wins, losses and ties of one method, and the share of feasible runs of each method."""
    ours, at, rows = methods[own], marks(methods), []
    for name in ordered(methods):
        common = [case for case in methods[name] if case in ours]
        if not common:
            continue
        theirs = {case: methods[name][case] for case in common}
        results = [
            "" if name == own else " / ".join(map(str, outcome(ours, theirs, t))) for t in at
        ]
        shares = [np.mean([standing(r, t).violation == 0.0 for r in theirs.values()]) for t in at]
        seconds = float(np.median([run["cpu"] for run in theirs.values()]))
        rows.append(
            [
                ALL[name].label,
                runs_in_words(common),
                *results,
                " / ".join(f"{100 * share:.0f}" for share in shares),
                f"{seconds:.2g}",
            ]
        )
    return Table(
        "duels",
        f"Wins / losses / ties of {ALL[own].label} by the best feasible value, on the runs that "
        "both methods have",
        [
            "method",
            "problems × instances",
            *(f"after {t}" for t in at),
            f"% of runs with a feasible point after {' / '.join(map(str, at))}",
            "overhead per run, s",
        ],
        rows,
        "A run without a feasible point loses against a run with one; two such runs are compared "
        "by their smallest total violation. Values within a relative 1e-6 of each other are ties. "
        "The overhead is the median processor time on one thread.",
    )


def duels_by_dimension(methods: Methods) -> list[Table]:
    """`duels` for each dimension on its own."""
    found = []
    for dim in sorted({case.dim for case in methods[OWN]}):
        here = {
            name: {case: run for case, run in runs.items() if case.dim == dim}
            for name, runs in methods.items()
        }
        table = duels({name: runs for name, runs in here.items() if runs})
        found.append(replace(table, name=f"duels-{dim}", title=f"{table.title}, D = {dim}"))
    return found


def gap(runs: Runs, problem: str, at: int) -> float:
    """The gap between best feasible value and optimum, relative to the latter: median over runs."""
    found = [float(trace(run)[at - 1]) for case, run in runs.items() if case.problem == problem]
    return max(float(np.median(found)), 0.0) / abs(DESIGNS[problem].optimum) if found else np.nan


def gaps(methods: Methods, own: str = OWN) -> Table:
    """The gap of every method on every design, halfway through the budget and at its end."""
    at = marks(methods)[-2:]
    names = ordered(methods)
    problems = [name for name in DESIGNS if any(c.problem == name for c in methods[own])]
    rows = [
        [
            problem,
            f"{DESIGNS[problem].optimum:.7g}",
            *(" / ".join(_percent(gap(methods[name], problem, t)) for t in at) for name in names),
        ]
        for problem in problems
    ]
    return Table(
        "gaps",
        f"Gap between the best feasible value and the optimum after {' / '.join(map(str, at))} "
        "evaluations, as a percentage of the optimum: median over seeds (lower is better)",
        ["problem", "optimum", *(ALL[name].label for name in names)],
        rows,
        "“none”: at least half of the runs found no feasible point. “–”: not run.",
    )


def _percent(share: float) -> str:
    if np.isnan(share):
        return "–"
    if np.isinf(share):
        return "none"
    digits = 0 if share >= 1.0 else 2 if share >= 1e-3 else 4
    return f"{100 * share:.{digits}f}"


def design_goals(methods: Methods) -> list[GoalRow]:
    """The gap on engineering designs, and on how many of them we are ahead of each peer."""
    ours, end = methods[OWN], marks(methods)[-1]
    wanted = [
        name
        for name, design in DESIGNS.items()
        if design.engineering and any(case.problem == name for case in ours)
    ]
    far = {name: g for name in wanted if not (g := gap(ours, name, end)) <= GAP}
    rows: list[GoalRow] = [
        (
            f"within {100 * GAP:g} % of the optimum on every engineering design, after {end} "
            "evaluations",
            ", ".join(f"{_percent(g)} % on {name}" for name, g in far.items()) or "on all",
            not far,
        )
    ]
    for peer in _peers(methods):
        won = lost = 0
        for name in wanted:
            sides = [
                {case: run for case, run in methods[m].items() if case.problem == name}
                for m in (OWN, peer)
            ]
            runs_won, runs_lost, _ = outcome(sides[0], sides[1], end)
            won, lost = won + (runs_won > runs_lost), lost + (runs_won < runs_lost)
        rows.append(
            (
                f"ahead of {ALL[peer].label} on at least {SHARE:g} engineering designs for each "
                f"one behind, after {end} evaluations",
                f"{won} ahead, {lost} behind",
                won >= SHARE * lost,
            )
        )
    return rows


def coco_goals(methods: Methods) -> list[GoalRow]:
    """More wins than losses against each peer, in each dimension."""
    rows: list[GoalRow] = []
    end = marks(methods)[-1]
    for dim in sorted({case.dim for case in methods[OWN]}):
        ours = {case: run for case, run in methods[OWN].items() if case.dim == dim}
        for peer in _peers(methods):
            won, lost, tied = outcome(ours, methods[peer], end)
            if won + lost + tied:
                rows.append(
                    (
                        f"D = {dim}: more wins than losses against {ALL[peer].label} after {end} "
                        "evaluations",
                        f"{won} won, {lost} lost",
                        won > lost,
                    )
                )
    return rows


def _peers(methods: Methods) -> Iterable[str]:
    return (name for name in ordered(methods) if not ALL[name].ours)
