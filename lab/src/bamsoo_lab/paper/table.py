"""Table 1: seconds for each algorithm and function, and their ratios."""

from collections.abc import Mapping, Sequence
from statistics import median

from bamsoo.problems import PAPER

from ..jobs.task import Finished, Task
from .benchmarks import (
    ALGORITHMS,
    SECONDS,
    settings_of,
)
from .experiment import Experiment, Request
from .output import Assertion, Output, claims
from .output import table as markdown

FUNCTIONS = tuple(problem.name for problem in PAPER)

PAPER_SECONDS: Mapping[str, tuple[float, ...]] = {
    "GP-UCB": (29.9438, 29.5716, 34.0311, 115.2402, 100.7770),
    "BaMSOO": (3.0680, 3.4693, 3.9722, 2.0918, 3.8951),
    "SOO": (0.1810, 0.1835, 0.1871, 0.4313, 0.4350),
}
"""The paper's seconds, in the order of `FUNCTIONS`."""


def tasks(request: Request) -> list[Task]:
    """The runs of `benchmarks`, timed on one thread, with no other run of ours at the same time."""
    scale = request.scale
    return [
        Task(
            "paper.benchmarks:run",
            {**settings_of(problem, algorithm, seed, scale.evaluations), "timed": True},
            SECONDS[algorithm] * scale.evaluations / 200,
        )
        for seed in range(scale.timings)
        for problem in FUNCTIONS
        for algorithm in ALGORITHMS
    ]


def write(runs: Sequence[Finished], output: Output) -> str:
    """Medians, with the paper's figures in parentheses, and their ratios."""
    seconds = {
        (algorithm, problem): median(
            run.result["seconds"]
            for run in runs
            if (run.settings["algorithm"], run.settings["problem"]) == (algorithm, problem)
        )
        for algorithm in ALGORITHMS
        for problem in FUNCTIONS
    }
    output.csv(
        "table1",
        ["algorithm", "problem", "seconds", "paper_seconds"],
        (
            (algorithm, problem, f"{seconds[algorithm, problem]:.4f}", paper)
            for algorithm in ALGORITHMS
            for problem, paper in zip(FUNCTIONS, PAPER_SECONDS[algorithm], strict=True)
        ),
    )
    rows = [
        [algorithm, *(f"{seconds[algorithm, p]:.3f} ({paper:.2f})" for p, paper in pairs)]
        for algorithm in ALGORITHMS
        for pairs in [list(zip(FUNCTIONS, PAPER_SECONDS[algorithm], strict=True))]
    ]
    ratios = {
        (slow, fast): [
            (seconds[slow, p] / seconds[fast, p], PAPER_SECONDS[slow][i] / PAPER_SECONDS[fast][i])
            for i, p in enumerate(FUNCTIONS)
        ]
        for slow, fast in (("GP-UCB", "BaMSOO"), ("BaMSOO", "SOO"))
    }
    rows += [
        [f"{slow} / {fast}", *(f"{ours:.0f} ({paper:.0f})" for ours, paper in pair)]
        for (slow, fast), pair in ratios.items()
    ]
    faster = [ours for ours, _ in ratios["GP-UCB", "BaMSOO"]]
    slower = [ours for ours, _ in ratios["BaMSOO", "SOO"]]
    evaluations = runs[0].settings["evaluations"]
    text = "\n\n".join(
        [
            "## Table 1: seconds",
            f"Seconds for {evaluations} evaluations in one process with one thread, as the median "
            f"of {len(runs) // len(seconds)} runs; the paper's seconds, on another machine, in "
            "parentheses.",
            markdown(["algorithm", *(p.capitalize() for p in FUNCTIONS)], rows),
            claims(
                [
                    Assertion(
                        "BaMSOO is about 10 to 40 times faster than GP-UCB",
                        f"{min(faster):.0f} to {max(faster):.0f} times faster",
                        min(faster) >= 10,
                    ),
                    Assertion(
                        "BaMSOO is much slower than SOO",
                        f"{min(slower):.0f} to {max(slower):.0f} times slower",
                        min(slower) > 2,
                    ),
                ]
            ),
        ]
    )
    return output.section(5, "table", text)


EXPERIMENT = Experiment("table", tasks, write, alone=True)
