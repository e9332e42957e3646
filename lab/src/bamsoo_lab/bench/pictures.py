"""The pictures of the report."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from bamsoo.base.typing import Array

from ..paper.output import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    Output,
)
from .case import Case
from .methods import ALL, OURS
from .runs import Measurement, trace
from .score import (
    Duel,
    Methods,
    duel,
    log_regret,
    scores,
    solved,
)
from .suites.paper import NAMES
from .tables import Table, after, marks, ordered

STYLE: dict[str, dict[str, Any]] = {
    "bamsoo": {"color": BLUE, "lw": 2.8, "zorder": 5},
    "slsqp": {"color": "#CC79A7", "lw": 1.5, "ls": "--"},
    "cobyqa": {"color": "#E69F00", "lw": 1.5, "ls": "--"},
    "bobyqa": {"color": "#009E73", "lw": 1.5, "ls": "-."},
    "turbo": {"color": "#D55E00", "lw": 1.5, "ls": "-."},
    "lq-cma": {"color": "black", "lw": 1.2, "ls": "-."},
    "botorch": {"color": ORANGE, "lw": 1.8},
    "optuna-gp": {"color": GREEN, "lw": 1.8},
    "smac": {"color": "#CC79A7", "lw": 1.5},
    "skopt": {"color": "#E69F00", "lw": 1.5},
    "optuna-tpe": {"color": "#56B4E9", "lw": 1.5, "ls": "--"},
    "botorch-nehvi": {"color": ORANGE, "lw": 1.8},
    "optuna-nsga2": {"color": "#E69F00", "lw": 1.5, "ls": "-."},
    "pymoo": {"color": "#CC79A7", "lw": 1.5, "ls": "-."},
    "optuna-tpe-group": {"color": "#56B4E9", "lw": 1.5},
    "bamsoo-whole": {"color": BLUE, "lw": 1.8, "ls": "--"},
    "random-asha": {"color": "black", "lw": 1.2, "ls": "-."},
    "random-hyperband": {"color": "#E69F00", "lw": 1.5, "ls": "-."},
    "random-median": {"color": "#CC79A7", "lw": 1.5, "ls": "-."},
    "tpe-asha": {"color": ORANGE, "lw": 1.8},
    "tpe-hyperband": {"color": GREEN, "lw": 1.8},
    "tpe-median": {"color": "#CC79A7", "lw": 1.5},
    "smac-budgets": {"color": ORANGE, "lw": 1.5, "ls": "--"},
    "dehb": {"color": GREEN, "lw": 1.5, "ls": "--"},
    "cma": {"color": "black", "lw": 1.2, "ls": "--"},
    "direct": {"color": "black", "lw": 1.2, "ls": ":"},
    "cma-margin": {"color": "black", "lw": 1.2, "ls": "--"},
    "bamsoo-noise": {"color": BLUE, "lw": 1.8, "ls": "--"},
    "random": {"color": GREY, "lw": 1.2, "ls": ":"},
}
"""Colours from the palette of Okabe and Ito. Methods not listed appear in the tables only."""

BARS = 3
"""Number of peers that are compared function by function."""


def shown(methods: Methods) -> list[str]:
    """The methods to draw, ours last so that it is drawn on top."""
    names = [name for name in ordered(methods) if name in STYLE and name != "bamsoo"]
    return [*names, "bamsoo"]


@contextmanager
def panels(output: Output, name: str, count: int) -> Iterator[list[Any]]:
    """A picture with `count` panels in rows of two or three, and one legend below them."""
    columns = min(count, 3 if count > 4 else 2)
    rows = -(-count // columns)
    size = (max(4.0 * columns, 6.0), 0.8 + 3.4 * rows)
    with output.picture(name, *size, nrows=rows, ncols=columns, squeeze=False) as grid:
        axes = list(grid.flat)
        for ax in axes[count:]:
            ax.set_axis_off()
        yield axes[:count]
        for i in range(0, count, columns):
            axes[i].set_ylabel(axes[0].get_ylabel())
        _legend(axes[:count])


def _legend(axes: Sequence[Any]) -> None:
    found: dict[str, Any] = {}
    for ax in axes:
        found |= dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    labels = [m.label for m in ALL.values() if m.label in found]
    most = 5 if len(axes) > 4 else 4 if len(axes) > 1 else 2
    crowded = 2 <= len(axes) <= 4 and len(labels) > 8  # many of them have long names
    axes[0].figure.legend(
        [found[label] for label in labels],
        labels,
        loc="outside lower center",
        ncols=3 if crowded else min(len(labels), most),
        fontsize="small" if crowded else None,
        frameon=False,
    )


def regret(methods: Methods, output: Output) -> None:
    """Regret against evaluations, one panel per function of the paper: medians and quartiles."""
    problems = [p for p in NAMES if any(c.problem == p for c in methods["bamsoo"])]
    with panels(output, "regret", len(problems)) as axes:
        axes[0].set_ylabel("log$_{10}$ of the regret")
        for ax, problem in zip(axes, problems, strict=True):
            for name in shown(methods):
                if any(case.problem == problem for case in methods[name]):
                    _band(ax, name, log_regret(methods[name], problem))
            ax.set(title=problem.capitalize(), xlabel="evaluations")


def _band(ax: Any, name: str, logs: Array) -> None:
    """The median of the rows, and quartiles if there are enough rows and the line is solid."""
    t = np.arange(1, logs.shape[1] + 1)
    low, middle, high = np.quantile(logs, [0.25, 0.5, 0.75], axis=0)
    ax.plot(t, middle, label=ALL[name].label, **STYLE[name])
    if len(logs) >= 3 and "ls" not in STYLE[name]:
        ax.fill_between(t, low, high, color=STYLE[name]["color"], alpha=0.15, linewidth=0)


def dimensions(methods: Methods) -> list[int]:
    """The dimensions in which ours was run."""
    return sorted({case.dim for case in methods["bamsoo"]})


def common(methods: Methods, dim: int) -> tuple[list[str], list[Case]]:
    """The methods that were run on every function, and the cases that all of these have."""
    ours = {case for case in methods["bamsoo"] if case.dim == dim}
    functions = {case.problem for case in ours}
    full = [m for m in shown(methods) if {c.problem for c in methods[m] if c in ours} == functions]
    cases = [case for case in ours if all(case in methods[name] for name in full)]
    counts = Counter(case.instance for case in cases)
    return full, [case for case in cases if counts[case.instance] == len(functions)]


def curves(methods: Methods, output: Output) -> bool:
    """Share of (function, target) pairs reached against evaluations, one panel per dimension."""
    dims = dimensions(methods)
    with panels(output, "solved", len(dims)) as axes:
        axes[0].set_ylabel("share of targets reached")
        for ax, dim in zip(axes, dims, strict=True):
            names, cases = common(methods, dim)
            for name in names:
                share = np.mean([solved(trace(methods[name][case])) for case in cases], axis=0)
                ax.plot(np.arange(1, len(share) + 1), share, label=ALL[name].label, **STYLE[name])
            instances = sorted({case.instance for case in cases})
            plural = "s" if len(instances) > 1 else ""
            numbers = ", ".join(map(str, instances))
            ax.set(title=f"D = {dim}, instance{plural} {numbers}", xlabel="evaluations")
            ax.set_ylim(bottom=0)
    return True


def mean_scores(methods: Methods, output: Output, name: str) -> None:
    """Mean score against evaluations: methods with all runs of ours, and those of the best rest.

    Some methods are so slow that they have only a part of the runs. The second panel shows the runs
    of the one among them that comes closest to ours, and every method that has these runs too. The
    curves start where the tables do, because true values under noise are not known earlier.
    """
    found = scores(methods)
    whole, first = {*found["bamsoo"]}, marks(methods)[0]
    drawn = {m: whole.intersection(found[m]) for m in shown(methods) if whole & {*found[m]}}

    def lead(method: str) -> float:
        cases = drawn[method]
        ours = np.mean([found["bamsoo"][case][first - 1 :].mean() for case in cases])
        return float(np.mean([found[method][case][first - 1 :].mean() for case in cases]) - ours)

    drawings = [("all runs", [m for m in drawn if drawn[m] == whole], whole)]
    if slow := [m for m in drawn if drawn[m] != whole and m not in OURS]:
        closest = max(slow, key=lead)
        cases = drawn[closest]
        title = f"the {len(cases)} runs of {ALL[closest].label}"
        drawings.append((title, [m for m in drawn if cases <= drawn[m]], cases))
    relative = after(methods)[-1].endswith("%")
    counted = "evaluations, % of the budget" if relative else "evaluations"
    with panels(output, name, len(drawings)) as axes:
        for ax, (title, some, cases) in zip(axes, drawings, strict=True):
            until = min((len(found["bamsoo"][case]) for case in cases), default=0)
            start = min(marks(methods)[0], until)
            for method in some if cases else ():
                rows = [found[method][case][start - 1 : until] for case in cases]
                t = np.arange(start, until + 1)
                ax.plot(t, np.mean(rows, axis=0), label=ALL[method].label, **STYLE[method])
            ax.set(xlabel=counted, ylabel="mean score", title=title)


def bars(methods: Methods, output: Output) -> bool:
    """Area under the curve by function, ours minus a peer's, for each peer and dimension.

    Draws nothing and returns False if no peer was run on all functions of some dimension.
    """
    ours, dims = methods["bamsoo"], dimensions(methods)
    full = {name for dim in dims for name in common(methods, dim)[0]}
    peers = [name for name in ordered(full) if name not in OURS][:BARS]
    if not peers:
        return False
    size = (max(3.3 * len(dims), 6.0), 0.6 + 2.4 * len(peers))
    grid = {"nrows": len(peers), "ncols": len(dims), "squeeze": False, "sharey": True}
    with output.picture("functions", *size, **grid) as axes:
        for row, name in zip(axes, peers, strict=True):
            for ax, dim in zip(row, dims, strict=True):
                _bars(ax, duel(ours, methods[name], dim), dim)
            row[0].set_ylabel(f"area minus that of\n{ALL[name].label}")
        for ax in axes[-1]:
            ax.set_xlabel("BBOB function")
    return True


def _bars(ax: Any, against: Duel | None, dim: int) -> None:
    ax.axhline(0.0, color="black", lw=0.8)
    ax.set(xlim=(0, 25), xticks=[1, 5, 10, 15, 20, 24])
    if against is None:
        ax.set_title(f"D = {dim}: not run", fontsize=12)
        return
    number = [int(problem.removeprefix("f")) for problem in against.gains]
    gain = np.array(list(against.gains.values()))
    ax.bar(number, gain, color=np.where(gain >= 0, BLUE, ORANGE))
    won, lost, _ = against.outcome
    ax.set_title(f"D = {dim}: {won} won, {lost} lost", fontsize=12)


def outcomes(tables: Sequence[Table], output: Output, name: str) -> None:
    """Runs won, tied and lost against each peer at the end of the budget, one panel per table."""
    size = (max(4.6 * len(tables), 7.0), 3.4)
    with output.picture(name, *size, ncols=len(tables), squeeze=False) as ((*axes,),):
        for ax, table in zip(axes, tables, strict=True):
            column = [i for i, head in enumerate(table.header) if head.startswith("after")][-1]
            rows = [row for row in table.rows if row[column]][::-1]
            found = np.array([[int(n) for n in row[column].split(" / ")] for row in rows])
            start = np.zeros(len(rows))
            for word, i, color in (("won", 0, BLUE), ("tied", 2, "#d0d0d0"), ("lost", 1, ORANGE)):
                share = found[:, i] / found.sum(1)
                drawn = ax.barh(
                    range(len(rows)), share, left=start, color=color, height=0.62, label=word
                )
                counts = [
                    str(count) if width >= 0.07 else ""
                    for count, width in zip(found[:, i], share, strict=True)
                ]
                ink = "black" if word == "tied" else "white"
                ax.bar_label(drawn, counts, label_type="center", color=ink)
                start = start + share
            labels = [row[0].replace(", multi-start", ",\nmulti-start") for row in rows]
            ax.set_yticks(range(len(rows)), labels)
            where = re.search(r"D = \d+$", table.title)
            ax.set(xlim=(0.0, 1.0), xlabel="share of the runs", title=where[0] if where else "")
        axes[0].legend(ncols=3, loc="lower left", bbox_to_anchor=(0.0, 1.08), fontsize=11)


def overhead(methods: Methods, output: Output) -> bool:
    """Cumulative processor time against evaluations, on log scales, one panel per dimension."""
    dims = dimensions(methods)
    with panels(output, "overhead", len(dims)) as axes:
        axes[0].set_ylabel("cumulative overhead, seconds")
        for ax, dim in zip(axes, dims, strict=True):
            for name in shown(methods):
                marks = _marks([r for c, r in methods[name].items() if c.dim == dim])
                if marks:
                    at, seconds = zip(*marks, strict=True)
                    ax.plot(at, seconds, label=ALL[name].label, **STYLE[name])
            ax.set(title=f"D = {dim}", xlabel="evaluations", xscale="log", yscale="log")
    return True


def _marks(runs: Sequence[Measurement]) -> list[tuple[int, float]]:
    """Median overhead at the evaluations at which every run recorded it."""
    seconds: dict[int, list[float]] = {}
    for run in runs:
        for at, spent in run["marks"]:
            seconds.setdefault(at, []).append(spent)
    whole = max(map(len, seconds.values()), default=0)
    return [
        (at, max(float(np.median(spent)), 1e-4))
        for at, spent in sorted(seconds.items())
        if len(spent) == whole and at > 1
    ]
