"""Tables and goals of the suite `fits`: how many evaluations a fit needs."""

from collections.abc import Iterable, Mapping, Sequence
from math import inf, isfinite, log10
from typing import Any

import numpy as np

from ..paper.output import BLUE, GREEN, GREY, ORANGE, Output
from .case import Case
from .goals import GoalRow
from .methods import ALL
from .runs import Measurement, trace
from .score import Methods, Runs
from .suites import fits
from .tables import Table, ordered

ACCURACIES = 1e-2, 1e-4, 1e-6
"""Shares of the way from the sum of squares at the centre of the box to the smallest one."""

BASIN = 1e-4
"""The accuracy to which a fit counts as solved: closer than the bottom of any other basin."""

RATIOS, EFFORT, SLOWEST = (1.0, 1.0, 1.1), 0.6, 0.010
"""Goals: evaluations to each accuracy divided by those of DFO-LS; evaluations per solved fit with
several basins divided by those of DFO-LS; seconds per evaluation."""

RIVAL = "dfo-ls"


def reached(run: Measurement, case: Case) -> list[float]:
    """The number of evaluations to each accuracy; inf if it was not reached."""
    target = fits.target(case)
    centre = np.array(target.bounds).mean(1)
    r = target.fun(centre)
    whole = float(r @ r) - fits.optimum(case.problem, case.instance)
    best = trace(run)
    found = [np.flatnonzero(best <= share * whole) for share in ACCURACIES]
    return [float(each[0]) + 1.0 if len(each) else inf for each in found]


def evaluations(runs: Runs) -> dict[Case, list[float]]:
    """The numbers of evaluations of every run."""
    return {case: reached(run, case) for case, run in runs.items()}


ByCase = Mapping[Case, Sequence[float]]


def groups(cases: Iterable[Case]) -> dict[str, list[Case]]:
    """The cases by kind."""
    found: dict[str, list[Case]] = {}
    for case in cases:
        kind = fits.KINDS[case.problem]
        name = "Moré and Wild" if not case.instance else "one basin"
        found.setdefault("several basins" if kind.basins else name, []).append(case)
    return found


def median_ratio(ours: ByCase, theirs: ByCase, cases: Iterable[Case], j: int) -> float:
    """The median ratio of evaluations to an accuracy, on the cases that either reached."""
    pairs = [(ours[case][j], theirs[case][j]) for case in cases if case in ours and case in theirs]
    logs = [_log(a) - _log(b) for a, b in pairs if isfinite(min(a, b))]
    return float(10.0 ** np.median(logs)) if logs else inf


def _log(number: float) -> float:
    return log10(number) if isfinite(number) else 9.0


def effort(found: ByCase, cases: Sequence[Case]) -> float:
    """Evaluations per solved fit: those of all runs, divided by the number of solved ones."""
    j = ACCURACIES.index(BASIN)
    spent = sum(min(found[case][j], case.budget) for case in cases)
    return spent / max(solved(found, cases), 1e-9)


def solved(found: ByCase, cases: Sequence[Case]) -> int:
    """The number of solved fits."""
    return sum(isfinite(found[case][ACCURACIES.index(BASIN)]) for case in cases)


def table(methods: Methods) -> Table:
    """For each kind of fit and method: solved fits, effort, and ratios to DFO-LS."""
    found = {name: evaluations(runs) for name, runs in methods.items()}
    rows = []
    for group, cases in groups(methods["bamsoo"]).items():
        for name in ("bamsoo", *ordered([n for n in methods if n != "bamsoo"])):
            some = [case for case in cases if case in found[name]]
            if not some:
                continue
            spent = effort(found[name], some)
            ratios = [
                median_ratio(found[name], found[RIVAL], some, j) if RIVAL in found else inf
                for j in range(len(ACCURACIES))
            ]
            shown = " / ".join(f"{ratio:.2f}" if ratio < 1e3 else "-" for ratio in ratios)
            label = ALL[name].label if name != "bamsoo" else "bamsoo"
            count = f"{solved(found[name], some)} of {len(some)}"
            rows.append([group, label, count, f"{spent:.0f}" if spent < 1e6 else "-", shown])
    header = ["fits", "method", "solved", "evaluations per solved fit", "ratios to DFO-LS"]
    return Table(
        "fits",
        "Evaluations that fits need",
        header,
        rows,
        "Solved: within 1e-4 of the way from the centre of the box to the best fit. The ratios are "
        "medians of the numbers of evaluations to 1e-2 / 1e-4 / 1e-6, on fits that either reached.",
    )


def profile(methods: Methods, output: Output, name: str) -> None:
    """The share of fits that are solved against evaluations: with one basin, and with several."""
    j = ACCURACIES.index(BASIN)
    found = {method: evaluations(runs) for method, runs in methods.items()}
    several = groups(methods["bamsoo"]).get("several basins", [])
    single = [case for case in methods["bamsoo"] if case not in several]
    styles: dict[str, tuple[str, Any, float]] = {
        "bamsoo": (BLUE, "-", 2.8),
        "bamsoo-sum": (BLUE, ":", 1.8),
        RIVAL: (ORANGE, "--", 1.8),
        "least-squares": (GREEN, "-.", 1.8),
        "bobyqa": (GREY, ":", 1.8),
        "optuna-gp": (GREY, "-", 1.2),
    }
    with output.picture(name, 9.0, 3.6, ncols=2, sharey=True) as axes:
        for ax, cases, title in zip(
            axes, (single, several), ("one basin", "several basins"), strict=True
        ):
            for method in ("bamsoo", *ordered([n for n in methods if n != "bamsoo"])):
                needed = np.sort(
                    [found[method][case][j] for case in cases if case in found[method]]
                )
                color, style, width = styles.get(method, ("black", ":", 1.5))
                share = np.arange(1, len(needed) + 1) / max(len(needed), 1)
                solved = np.isfinite(needed)
                most = max(case.budget for case in cases) if cases else 1
                x, y = [1.0, *needed[solved], most], [0.0, *share[solved]]
                ax.step(
                    x, [*y, y[-1]], where="post", color=color, ls=style, lw=width,
                    label=ALL[method].label,
                )  # fmt: skip
            ax.set(xscale="log", xlabel="evaluations", title=title, ylim=(0.0, 1.02))
        axes[0].set_ylabel("share of fits solved")
        axes[1].legend(loc="upper left", fontsize=10)


def problems(methods: Methods) -> Table:
    """The median number of evaluations of every problem."""
    found = {name: evaluations(runs) for name, runs in methods.items()}
    names = ["bamsoo", *ordered([n for n in methods if n != "bamsoo"])]
    rows = []
    for problem in dict.fromkeys(case.problem for case in methods["bamsoo"]):
        row = [problem]
        for name in names:
            some = [each[1] for case, each in found[name].items() if case.problem == problem]
            row.append("" if not some else _shown(float(np.median(some))))
        rows.append(row)
    header = ["problem", *(ALL[name].label for name in names)]
    return Table("fits-problems", "Median evaluations to 1e-4", header, rows)


def _shown(number: float) -> str:
    return f"{number:g}" if isfinite(number) else "-"


def goals(methods: Methods) -> list[GoalRow]:
    """Ratios to DFO-LS, what is solved, and the time per evaluation."""
    found = {name: evaluations(runs) for name, runs in methods.items()}
    ours, kinds, rows = found["bamsoo"], groups(methods["bamsoo"]), list[GoalRow]()
    several = kinds.pop("several basins", [])
    single = [case for cases in kinds.values() for case in cases]
    if RIVAL in found:
        for j, (accuracy, goal) in enumerate(zip(ACCURACIES, RATIOS, strict=True)):
            ratio = median_ratio(ours, found[RIVAL], single, j)
            rows.append(
                (
                    f"one basin: at most {goal:g} times the evaluations of DFO-LS to {accuracy:g}",
                    f"{ratio:.2f} times as many",
                    ratio <= goal,
                )
            )
        ratio = effort(ours, several) / effort(found[RIVAL], several)
        rows.append(
            (
                f"several basins: at most {EFFORT:g} of the evaluations of DFO-LS per solved fit",
                f"{ratio:.2f} times as many",
                ratio <= EFFORT,
            )
        )
    for name in found:
        if name != "bamsoo":
            both = [case for case in several if case in found[name]]  # slow peers run a part
            mine, theirs = solved(ours, both), solved(found[name], both)
            rows.append(
                (
                    f"several basins: at least as many solved as by {ALL[name].label}",
                    f"{mine} and {theirs} of {len(both)}",
                    mine >= theirs,
                )
            )
    runs = [run for case, run in methods["bamsoo"].items() if case.dim <= 11]
    slowest = max(run["cpu"] / run["evaluations"] for run in runs)
    rows.append(
        (
            f"at most {1e3 * SLOWEST:.0f} ms of processor time per evaluation",
            f"{1e3 * slowest:.1f} ms on the slowest run",
            slowest <= SLOWEST,
        )
    )
    return rows
