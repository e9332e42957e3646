"""Figures of Sec. 6: log distance to the optimum against evaluations, on five functions."""

import warnings
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np

from bamsoo import minimize
from bamsoo.base.typing import Array
from bamsoo.problems import ALL, PAPER, Problem

from ..jobs.task import Finished, Settings, Task
from .algorithms import build
from .experiment import Experiment, Request
from .output import (
    COLOURS,
    MARKS,
    Assertion,
    Output,
    claims,
    image,
    table,
)
from .priors import stored

_BY_DIMENSION = sorted(PAPER, key=lambda problem: problem.dim)
LOW = tuple(problem.name for problem in _BY_DIMENSION if problem.dim <= 3)
MODERATE = tuple(problem.name for problem in _BY_DIMENSION if problem.dim > 3)
"""The functions of the paper's two figures."""

ALGORITHMS = ("GP-UCB", "BaMSOO", "SOO")
FLOOR = -16.0
"""log10 of the smallest distance that counts as more than zero."""

SECONDS = {"GP-UCB": 8.0, "BaMSOO": 0.3, "SOO": 0.05}
"""Rough cost of 200 evaluations, in seconds."""


def settings_of(problem: str, algorithm: str, seed: int, evaluations: int) -> dict[str, Any]:
    """Settings of one run, as in the paper."""
    settings: dict[str, Any] = {
        "problem": problem,
        "algorithm": algorithm,
        "seed": seed,
        "evaluations": evaluations,
    }
    if algorithm != "SOO":
        settings["prior"] = stored()[problem][0]
    return settings


def tasks(request: Request) -> list[Task]:
    """GP-UCB and BaMSOO with every seed, SOO once."""
    scale = request.scale
    return [
        Task(
            "paper.benchmarks:run",
            settings_of(problem, algorithm, seed, scale.evaluations),
            SECONDS[algorithm] * scale.evaluations / 200,
        )
        for seed in range(scale.repeats)
        for problem in LOW + MODERATE
        for algorithm in ALGORITHMS
        if algorithm != "SOO" or seed == 0
    ]


def run(settings: Settings, context: Settings) -> dict[str, Any]:
    """One run on a test function."""
    return run_on(ALL[settings["problem"]], settings)


def run_on(problem: Problem, settings: Settings) -> dict[str, Any]:
    """One run: all values in order, nodes rejected and expanded, depth, seconds and warnings."""
    algorithm = build(settings)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        began = perf_counter()
        r = minimize(
            problem,
            problem.bounds,
            settings["evaluations"],
            algorithm=algorithm,
            seed=settings["seed"],
        )
        seconds = perf_counter() - began
    return {
        "values": r.F.tolist(),
        "rejected": r.nrejected,
        "expanded": r.nexpanded,
        "depth": max(r.tree.depth) if r.tree is not None else 0,
        "seconds": seconds,
        "warnings": sorted({str(warning.message) for warning in caught}),
    }


def log_distance(run: Finished) -> Array:
    """log10(f* - f+) after each evaluation."""
    best = np.minimum.accumulate(run.result["values"])
    distance = best - ALL[run.settings["problem"]].optimum
    log10: Array = np.log10(np.maximum(distance, 10.0**FLOOR))
    return log10


def curves(runs: Sequence[Finished], problem: str, algorithm: str) -> Array:
    """`log_distance` of every repeat, one per row."""
    wanted = (problem, algorithm)
    return np.array(
        [
            log_distance(run)
            for run in runs
            if (run.settings["problem"], run.settings["algorithm"]) == wanted
        ]
    )


def write(runs: Sequence[Finished], output: Output) -> str:
    """Raw runs, summary, the two pictures and the claims about them."""
    output.csv(
        "benchmarks",
        ["problem", "algorithm", "seed", "evaluation", "value", "log10_distance"],
        (
            (run.settings["problem"], run.settings["algorithm"], run.settings["seed"], i + 1, v, d)
            for run in runs
            for i, (v, d) in enumerate(
                zip(run.result["values"], log_distance(run).tolist(), strict=True)
            )
        ),
    )
    final = {
        (problem, algorithm): curves(runs, problem, algorithm)
        for problem in LOW + MODERATE
        for algorithm in ALGORITHMS
    }
    for name, problems in (("low", LOW), ("moderate", MODERATE)):
        draw(output, name, problems, final)
    text = "\n\n".join(
        [
            "## Test functions (Sec. 6)",
            "Each row is an algorithm on a function. A cell under “at n” gives log10 of the "
            "distance to the optimum after n evaluations: the mean ± the standard deviation over "
            "the runs, with the minimum and the maximum in parentheses. Lower is better.",
            summary(final, output, runs),
            image("low", "Low dimension: mean and one standard deviation"),
            image("moderate", "Moderate dimension: mean and one standard deviation"),
            claims(judge(final)),
        ]
    )
    return output.section(3, "benchmarks", text)


Curves = dict[tuple[str, str], Array]


def summary(final: Curves, output: Output, runs: Sequence[Finished]) -> str:
    """The distances at a quarter, half and all of the budget, as CSV and Markdown."""
    budget = next(iter(final.values())).shape[1]
    at = [budget // 4, budget // 2, budget]
    cells, numbers = [], []
    for (problem, algorithm), curve in final.items():
        here = [r for r in runs if r.settings["problem"] == problem]
        here = [r for r in here if r.settings["algorithm"] == algorithm]
        means = [
            f"{curve[:, t - 1].mean():.2f} ± {curve[:, t - 1].std():.2f} "
            f"({curve[:, t - 1].min():.2f}, {curve[:, t - 1].max():.2f})"
            for t in at
        ]
        rejected = np.mean([r.result["rejected"] for r in here])
        depth = np.mean([r.result["depth"] for r in here])
        cells.append([problem, algorithm, len(curve), *means, f"{rejected:.0f}", f"{depth:.0f}"])
        numbers += [
            (problem, algorithm, t, curve[:, t - 1].mean(), curve[:, t - 1].std()) for t in at
        ]
    output.csv("benchmarks_summary", ["problem", "algorithm", "evaluation", "mean", "std"], numbers)
    heads = [f"at {t}" for t in at]
    return table(["function", "algorithm", "runs", *heads, "nodes rejected", "depth"], cells)


def draw(output: Output, name: str, problems: Sequence[str], final: Curves) -> None:
    """Draw one panel per function."""
    size = {"ncols": len(problems), "squeeze": False}
    with output.picture(name, 4.2 * len(problems), 4.0, **size) as axes:
        for ax, problem in zip(axes[0], problems, strict=True):
            for algorithm in ALGORITHMS:
                band(ax, final[problem, algorithm], algorithm)
            ax.set(title=problem.capitalize(), xlabel="evaluations")
        axes[0][0].set_ylabel("log$_{10}$(f* − f$^+$)")
        axes[0][0].legend()


def band(ax: Any, curve: Array, algorithm: str) -> None:
    """Draw the mean and one standard deviation of the rows of `curve`, with about eight markers."""
    t = np.arange(1, curve.shape[1] + 1)
    mean, std = curve.mean(0), curve.std(0)
    colour = COLOURS[algorithm]
    every = max(1, len(t) // 8)
    ax.plot(t, mean, color=colour, marker=MARKS[algorithm], markevery=every, label=algorithm)
    ax.fill_between(t, mean - std, mean + std, color=colour, alpha=0.2, linewidth=0)


def judge(final: Curves) -> list[Assertion]:
    """Sec. 6's claims, on the means at the end of the budget."""
    end = {key: float(curve[:, -1].mean()) for key, curve in final.items()}
    best = {key: float(curve[:, -1].min()) for key, curve in final.items()}

    def listed(problems: Sequence[str], algorithm: str) -> str:
        return ", ".join(f"{p} {end[p, algorithm]:.1f}" for p in problems)

    found = [
        Assertion(
            f"{algorithm} reaches accuracies of up to 1e-8 on Branin, Rosenbrock, Hartmann3 "
            "(to the nearest power of ten)",
            f"mean log10 distance: {listed(LOW, algorithm)}; best runs: "
            + ", ".join(f"{p} {best[p, algorithm]:.1f}" for p in LOW),
            all(end[p, algorithm] <= -7.5 for p in LOW),
        )
        for algorithm in ("BaMSOO", "GP-UCB")
    ]
    for problems, where in ((LOW, "low"), (MODERATE, "moderate")):
        found.append(
            Assertion(
                f"SOO lags behind BaMSOO in {where} dimension",
                f"SOO: {listed(problems, 'SOO')}; BaMSOO: {listed(problems, 'BaMSOO')}",
                all(end[p, "SOO"] > end[p, "BaMSOO"] for p in problems),
            )
        )
    found += [
        Assertion(
            f"BaMSOO is ahead of GP-UCB on {p.capitalize()}",
            f"BaMSOO {end[p, 'BaMSOO']:.2f}, GP-UCB {end[p, 'GP-UCB']:.2f}",
            end[p, "BaMSOO"] < end[p, "GP-UCB"],
        )
        for p in MODERATE
    ]
    return found


EXPERIMENT = Experiment("benchmarks", tasks, write)
