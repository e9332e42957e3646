"""The suite `overhead`: what methods cost by themselves, measured side by side.

Methods take turns on one machine, in one process with one thread. The ratios are therefore fair,
even if the seconds depend on the machine and its load. Nothing is read from earlier runs.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console

from ..jobs.pool import Batch, perform
from ..jobs.store import Store
from ..jobs.task import Task
from ..paper.output import Output
from . import goals
from .case import Case
from .comparison import Comparison, check_packages
from .methods import ALL
from .runs import Measurement, case_of, measurement, task
from .score import by_method
from .suites.overhead import DIM, cases
from .tables import Table, brief, versions

LONGEST = 5000
LIMITS = {"botorch": 60.0, "optuna-gp": 20.0}
"""Goals: how many times our processor time each method is expected to take."""

SECONDS = {(DIM, 1000): 10.0, (20, 400): 4.0}
"""Goals: the wall-clock time of our own runs, by dimension and evaluations."""


def measure(asked: Comparison, folder: Path, jobs: int, console: Console) -> list[Measurement]:
    """Make every run anew, one at a time.

    The methods take turns in one process. Each long run of ours has a process of its own, so that
    the peak memory of the process is that of the run.
    """
    turns = [task(method, case) for case in asked.cases for method in ("bamsoo", *asked.peers)]
    alone = long_tasks(asked.long) if asked.usual else []
    check_packages(asked.suite, [*turns, *alone])
    shutil.rmtree(folder / "overhead", ignore_errors=True)
    batches = [Batch(turns, 1), *(Batch([one], 1) for one in alone)]
    done = perform(batches, Store(folder / "overhead"), console)
    return [measurement(finished) for batch in done for finished in batch]


def long_tasks(longest: bool) -> list[Task]:
    """Ours alone: each function with more evaluations, and one with many optima at great length."""
    on = [case for dim, budget in SECONDS for case in cases(budget, dim=dim)]
    on += cases(LONGEST, [15]) if longest else []
    return [task("bamsoo", case) for case in on]


def write(
    asked: Comparison, runs: Sequence[Measurement], output: Output
) -> tuple[list[Table], dict[str, str]]:
    """Tables of seconds, and the goals."""
    shown = [side_by_side(runs, asked.cases)]
    if asked.usual:
        shown.append(alone(runs, asked.cases))
        shown.append(goals.table(reached(runs, asked.cases)))
    return [*shown, versions(by_method(runs))], {}


def side_by_side(runs: Sequence[Measurement], on: Sequence[Case]) -> Table:
    """Medians of the methods that took turns, and their ratio to ours."""
    seconds = medians(runs, on)
    rows = []
    for name in seconds:
        here = [r for r in runs if r["method"] == name and case_of(r) in on]
        rows.append(
            [
                ALL[name].label,
                brief(seconds[name]),
                brief(float(np.median([r["wall"] for r in here]))),
                brief(max(r["slowest"] for r in here)),
                f"{seconds[name] / seconds['bamsoo']:.0f}",
            ]
        )
    return Table(
        "side-by-side",
        f"Overhead of {on[0].budget} evaluations in {DIM}-D, in seconds per run: medians over BBOB "
        f"functions {', '.join(case.problem for case in on)}; one thread, methods take turns",
        [
            "method",
            "processor time",
            "wall-clock time",
            "slowest suggestion of all runs",
            "processor time / bamsoo's",
        ],
        rows,
    )


def medians(runs: Sequence[Measurement], on: Sequence[Case]) -> dict[str, float]:
    """Median processor time by method."""
    spent: dict[str, list[float]] = {}
    for run in runs:
        if case_of(run) in on:
            spent.setdefault(run["method"], []).append(run["cpu"])
    return {name: float(np.median(spent[name])) for name in ALL if name in spent}


def alone(runs: Sequence[Measurement], on: Sequence[Case]) -> Table:
    """Our long runs, one per row."""
    rows = [
        [
            f"{r['budget']:,}",
            f"{r['dim']}",
            r["problem"],
            brief(r["wall"]),
            brief(r["cpu"]),
            brief(r["slowest"]),
            brief(r["slowest_early"]),
            f"{r['peak_mb']}" if "peak_mb" in r else "–",
        ]
        for r in long_runs(runs, on)
    ]
    return Table(
        "alone",
        "Overhead of bamsoo alone, in seconds; one thread, one process per run",
        [
            "evaluations",
            "dimensions",
            "function",
            "wall-clock time",
            "processor time",
            "slowest suggestion",
            "slowest of the first 300",
            "peak memory, MB",
        ],
        rows,
        "Peak memory includes Python, numpy and scipy.",
    )


def long_runs(runs: Sequence[Measurement], on: Sequence[Case]) -> list[Measurement]:
    """Those of our runs in which no other method took turns."""
    return [r for r in runs if case_of(r) not in on]


def reached(runs: Sequence[Measurement], on: Sequence[Case]) -> list[goals.GoalRow]:
    """Goals for the ratios to the GP peers, and for the time of our own runs."""
    spent, rows = medians(runs, on), list[goals.GoalRow]()
    for name, limit in LIMITS.items():
        if name in spent:
            ratio = spent[name] / spent["bamsoo"]
            goal = f"at most 1/{limit:.0f} of the overhead of {ALL[name].label}"
            rows.append((goal, f"1/{ratio:.0f}", ratio >= limit))
    for (dim, budget), most in SECONDS.items():
        walls = [r["wall"] for r in long_runs(runs, on) if (r["dim"], r["budget"]) == (dim, budget)]
        if walls:
            goal = f"{budget:,} evaluations in {dim}-D in at most {most:.0f} s"
            rows.append((goal, f"at most {max(walls):.1f} s", max(walls) <= most))
    return rows
