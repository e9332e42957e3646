"""The suite `overhead`: what methods cost by themselves, measured side by side.

Methods take turns on one machine, in one process with one thread, so that the ratios are
fair even where the seconds are not. Nothing is read from earlier runs.
"""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from ..jobs.pool import perform
from .goals import Row
from .methods import ALL
from .runs import (
    Job,
    Record,
    case_of,
    job,
)
from .store import Ledger
from .suites import Case
from .tables import Table, brief

DIM, BUDGET, INSTANCE = 5, 100, 14
FUNCTIONS = (1, 8, 12, 15, 21)
"""A sphere, a valley, a ridge, and two with many optima."""

LONG, LONGEST = 1000, 5000
LIMITS = {"botorch": 50.0, "optuna-gp": 20.0}
"""A method is to cost this many times what ours costs."""

LONG_SECONDS = 10.0


def cases(budget: int | None = None, functions: Sequence[int] | None = None) -> list[Case]:
    """What the methods take turns on."""
    return [
        Case("overhead", f"f{f}", DIM, INSTANCE, budget or BUDGET) for f in functions or FUNCTIONS
    ]


def jobs(peers: Sequence[str], on: Sequence[Case]) -> list[Job]:
    """The methods in turn on each function."""
    return [job(method, case) for case in on for method in ("bamsoo", *peers)]


def long_jobs(longest: bool) -> list[Job]:
    """Ours alone: a thousand evaluations of each function, more of one with many optima."""
    on = cases(LONG) + (cases(LONGEST, [15]) if longest else [])
    return [job("bamsoo", case) for case in on]


def measure(
    turns: Sequence[Job], alone: Sequence[Job], folder: Path, advance: Callable[[float], object]
) -> list[Record]:
    """Every run anew; those `alone` in a process each, whose peak of memory is then theirs."""
    shutil.rmtree(folder, ignore_errors=True)
    ledger = Ledger(folder)
    perform(turns, ledger, 1, advance)
    for one in alone:
        perform([one], ledger, 1, advance)
    return ledger.records()


def side_by_side(records: Sequence[Record], on: Sequence[Case]) -> Table:
    """Medians of the methods that took turns, and their ratio to ours."""
    seconds = medians(records, on)
    rows = []
    for name in seconds:
        here = [r for r in records if r["method"] == name and case_of(r) in on]
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
        f"{on[0].budget} evaluations in {DIM}-D, one thread, methods in turn: seconds a run, "
        f"medians over BBOB functions {', '.join(case.problem for case in on)}",
        ["", "processor", "wall clock", "slowest suggestion", "times bamsoo's processor time"],
        rows,
    )


def medians(records: Sequence[Record], on: Sequence[Case]) -> dict[str, float]:
    """Median processor time by method."""
    spent: dict[str, list[float]] = {}
    for record in records:
        if case_of(record) in on:
            spent.setdefault(record["method"], []).append(record["cpu"])
    return {name: float(np.median(spent[name])) for name in ALL if name in spent}


def alone(records: Sequence[Record]) -> Table:
    """Ours over many evaluations."""
    rows = [
        [
            f"{r['budget']:,}",
            r["problem"],
            brief(r["wall"]),
            brief(r["cpu"]),
            brief(r["slowest"]),
            brief(r["slowest_early"]),
            f"{r['peak_mb']}" if "peak_mb" in r else "–",
        ]
        for r in long_runs(records)
    ]
    return Table(
        "alone",
        f"bamsoo alone in {DIM}-D, one thread, a process a run",
        [
            "evaluations",
            "function",
            "seconds, wall clock",
            "processor",
            "slowest suggestion",
            "slowest up to 300",
            "peak memory, MB",
        ],
        rows,
        "The peak includes Python, numpy and scipy.",
    )


def long_runs(records: Sequence[Record]) -> list[Record]:
    """The runs of ours that were long."""
    return [r for r in records if r["budget"] >= LONG]


def goals(records: Sequence[Record], on: Sequence[Case]) -> list[Row]:
    """Ratios to the GP peers, and the time of a thousand evaluations."""
    spent, rows = medians(records, on), list[Row]()
    for name, limit in LIMITS.items():
        if name in spent:
            ratio = spent[name] / spent["bamsoo"]
            goal = f"at most 1/{limit:.0f} of the overhead of {ALL[name].label}"
            rows.append((goal, f"1/{ratio:.0f}", ratio >= limit))
    thousand = [r["wall"] for r in long_runs(records) if r["budget"] == LONG]
    if thousand:
        goal = f"{LONG:,} evaluations in {DIM}-D in at most {LONG_SECONDS:.0f} s"
        worst = max(thousand)
        rows.append((goal, f"at most {worst:.1f} s", worst <= LONG_SECONDS))
    return rows
