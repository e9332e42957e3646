"""The suite `parallel`: make the runs that are missing, and write the results."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from bamsoo.base.typing import Array

from ...jobs.pool import Batch, perform
from ...jobs.store import Store
from ...paper.output import (
    BLUE,
    GREY,
    ORANGE,
    Output,
)
from .. import goals
from ..archive import PARALLEL, read
from ..comparison import Comparison, check_packages
from ..methods import ALL
from ..runs import Measurement, measurement
from ..suites.paper import NAMES
from ..suites.parallel import (
    FUNCTIONS,
    PEER_BUDGET,
    PEER_CASES,
    WORKERS,
    budget,
)
from ..tables import Table, brief, versions
from .clock import DURATIONS
from .runs import (
    PEER_TARGETS,
    PEER_WORKERS,
    SECONDS,
    TARGETS,
    ours,
    peer_part,
)

LABELS = {name: ALL[name].label for name in ALL} | {"botorch": "BoTorch (qLogEI)"}

MOST, BUSY = {8: 1.1, 64: 1.3}, 0.95
"""Goals: ratio of evaluations to those of one worker plus workers - 1, by number of workers, and
utilisation."""

LEAST = 40
"""Targets that one worker reaches in fewer evaluations are left out. With eight workers, the first
eight points are chosen before any value is known; this delay would decide the ratio there."""

MANY = WORKERS[1:]

CAPTIONS = {
    "evaluations": "What many workers cost: evaluations until a target, divided by those of one "
    "worker plus workers - 1 (1 means that only delay is lost); thick lines are medians over "
    "problems and targets, grey ones single ones (at the top edge: not reached)",
    "clock": "What many workers save: virtual time until a target, divided by that of one worker "
    "(lower is better); thick lines are medians over problems and targets, grey ones single ones; "
    "dotted: a perfect speed-up",
    "utilisation": "How busy the workers are when the time of the search itself counts (1 means "
    "never idle): exponential durations, median and worst run",
}


def measure(asked: Comparison, folder: Path, jobs: int, console: Console) -> list[Measurement]:
    """Our runs, made now or earlier, and those of the peers, stored or made now."""
    todo = [*ours(), *peer_part("bamsoo")]
    if asked.run_peers:
        todo += [task for name in asked.peers for task in peer_part(name)]
    check_packages(asked.suite, todo)
    (done,) = perform([Batch(todo, jobs)], Store(folder / "parallel"), console)
    made = [measurement(finished) for finished in done]
    if asked.run_peers:
        return made
    return [*made, *(run for run in read(PARALLEL) if run["method"] in asked.peers)]


def write(
    asked: Comparison, measured: Sequence[Measurement], output: Output
) -> tuple[list[Table], dict[str, str]]:
    """Tables and pictures of evaluations, time and utilisation."""
    runs = [r for r in measured if r["budget"] == budget(r["workers"])]
    part = [r for r in measured if r["budget"] == PEER_BUDGET]
    shown = [
        evaluations(runs),
        speed_ups(runs),
        goals.table(reached(runs)),
        by_problem(runs),
        utilisations(runs),
        side_by_side(part),
        own_time(part),
        made_with(part),
    ]
    lines = [_line(r) for r in measured]
    output.csv("parallel-runs", list(lines[0]), (list(line.values()) for line in lines))
    curves(runs, output)
    return shown, CAPTIONS


def medians(
    runs: Iterable[Measurement], what: int, durations: str, workers: int
) -> dict[str, Array]:
    """For each problem, the median over boxes or instances of the cost of each target.

    `what` is 0 for evaluations and 1 for virtual time. A target that is not reached costs inf. One
    worker is run with constant durations only: others do not change its points, and its time is the
    number of evaluations on average.
    """
    durations = "constant" if workers == 1 else durations
    found: dict[str, list[list[float]]] = {}
    for r in runs:
        if r["durations"] == durations and r["workers"] == workers:
            row = [np.inf if hit is None else hit[what] for hit in r["reached"]]
            found.setdefault(r["problem"], []).append(row)
    return {problem: np.median(rows, axis=0) for problem, rows in found.items()}


Ratios = dict[tuple[str, int], float]
"""By problem and the index of the target."""


def relative(runs: Sequence[Measurement], what: int, durations: str, workers: int) -> Ratios:
    """`medians` divided by those of one worker; evaluations by these plus workers - 1.

    Only targets that one worker reaches, after at least `LEAST` evaluations.
    """
    alone = medians(runs, 0, durations, 1)
    one, many = (medians(runs, what, durations, w) for w in (1, workers))
    delay = workers - 1 if what == 0 else 0
    return {
        (problem, i): float(many[problem][i] / (one[problem][i] + delay))
        for problem in many
        for i, count in enumerate(alone[problem])
        if LEAST <= count < np.inf
    }


def overall(ratios: Ratios) -> float:
    """The median; nan if there are none."""
    return float(np.median([*ratios.values()])) if ratios else np.nan


def reached(runs: Sequence[Measurement]) -> list[goals.GoalRow]:
    """The goals, with what was measured."""
    least = min(r["utilisation"] for r in runs)
    rows = [(f"utilisation at least {BUSY}", f"{least:.3f} in the worst run", least >= BUSY)]
    for workers in MANY:
        for name in DURATIONS:
            ratio, most = overall(relative(runs, 0, name, workers)), MOST[workers]
            rows.append(
                (
                    f"{workers} workers, {name} durations: at most {most} times the evaluations of "
                    f"one worker plus {workers - 1}",
                    f"{_number(ratio)} times"
                    if np.isfinite(ratio)
                    else "half of the targets not reached",
                    ratio <= most,
                )
            )
    return rows


def evaluations(runs: Sequence[Measurement]) -> Table:
    """What many workers cost, by durations."""
    rows = []
    for durations in DURATIONS:
        cells = []
        for workers in MANY:
            ratios = relative(runs, 0, durations, workers)
            found = sorted(ratios.values())
            quarter = len(found) // 4
            cells.append(
                f"{_number(overall(ratios))} ({_number(found[quarter])} to "
                f"{_number(found[-1 - quarter])}); {found.count(np.inf)} of {len(found)} not "
                "reached"
                if found
                else "–"
            )
        rows.append([durations, *cells])
    return Table(
        "evaluations",
        "Evaluations until a target, divided by those of one worker plus workers - 1 (lower is "
        f"better), for targets that one worker needs at least {LEAST} evaluations for",
        ["durations", *map(_workers, MANY)],
        rows,
        "Median over problems and targets of the ratio of medians, with quartiles. A search that "
        "is asked while workers - 1 values are pending, and is otherwise as good as with one "
        "worker, has a ratio of 1. Targets that are not reached count as infinite.",
    )


def speed_ups(runs: Sequence[Measurement]) -> Table:
    """What many workers save, by durations."""
    rows = []
    for durations in DURATIONS:
        found = [overall(relative(runs, 1, durations, workers)) for workers in MANY]
        rows.append(
            [durations, *("not" if np.isinf(ratio) else _number(1.0 / ratio) for ratio in found)]
        )
    return Table(
        "speed-up",
        "Speed-up: virtual time of one worker divided by that of several (higher is better); "
        "median over the same problems and targets",
        ["durations", *map(_workers, MANY)],
        rows,
        "“not”: half of the targets were not reached.",
    )


def by_problem(runs: Sequence[Measurement]) -> Table:
    """For each problem and target, the evaluations of one worker, and the ratios of several."""
    one = medians(runs, 0, "constant", 1)
    shares = [relative(runs, 0, name, workers) for workers in MANY for name in DURATIONS]
    rows = []
    for problem, i in shares[0]:
        if problem in NAMES:
            name = problem.capitalize()
        else:
            name = f"{problem}, D = {FUNCTIONS[int(problem[1:])]}"
        cells = [_number(share[problem, i]) for share in shares]
        rows.append([name, f"{TARGETS[i]:g}", f"{one[problem][i]:.3g}", *cells])
    return Table(
        "problems",
        "Evaluations divided by those of one worker plus workers - 1, by problem and target",
        [
            *("problem", "target", "evaluations of one worker"),
            *(f"{workers}, {name}" for workers in MANY for name in DURATIONS),
        ],
        rows,
        "Columns: the number of workers, and the kind of durations. “not”: not reached in the "
        "median over boxes or instances.",
    )


def utilisations(runs: Sequence[Measurement]) -> Table:
    """Utilisation by durations and workers, without and with the time of the search itself."""
    rows = []
    for name in DURATIONS:
        here = {w: [r for r in runs if (r["durations"], r["workers"]) == (name, w)] for w in MANY}
        cells = [f"{min(r['utilisation'] for r in here[w]):.3f}" for w in MANY]
        rows.append([name, "not counted", *cells])
        for i, seconds in enumerate(SECONDS):
            cells = [f"{np.median([r['utilisation_at'][i] for r in here[w]]):.3f}" for w in MANY]
            rows.append([name, f"evaluations of {seconds:g} s", *cells])
    thinking = {
        w: float(np.median([r["thinking"] for r in runs if r["workers"] == w])) for w in WORKERS
    }
    slowest = max(r["slowest"] for r in runs)
    return Table(
        "utilisation",
        "Utilisation (1 is best): the worst run if the time of the search itself is not counted, "
        "and the median if it is, for evaluations of a given mean duration",
        [
            "durations",
            "time of the search",
            *map(_workers, MANY),
        ],
        rows,
        "The search itself takes "
        + ", ".join(f"{1e3 * thinking[w]:.0f} ms with {_workers(w)}" for w in WORKERS)
        + f" of processor time per ask in the median run, and {brief(slowest)} s in the slowest "
        "ask of all runs.",
    )


def side_by_side(part: Sequence[Measurement]) -> Table:
    """Evaluations of each method until each target, box by box, on the cases that all have run."""
    names, rows = _methods(part), []
    for problem in dict.fromkeys(case.problem for case in PEER_CASES):
        for i, target in enumerate(PEER_TARGETS):
            for w in PEER_WORKERS:
                cells = []
                for name in names:
                    wanted = (name, problem, w)
                    hits = [
                        "not" if r["reached"][i] is None else f"{r['reached'][i][0]:.0f}"
                        for r in part
                        if (r["method"], r["problem"], r["workers"]) == wanted
                    ]
                    cells.append(", ".join(hits) or "–")
                rows.append([problem.capitalize(), f"{target:g}", f"{w}", *cells])
    boxes = sorted({case.instance for case in PEER_CASES})
    return Table(
        "peers",
        f"Compared with peers: evaluations until the target in boxes "
        f"{', '.join(map(str, boxes))} (fewer is better)",
        ["problem", "target", "workers", *(LABELS[name] for name in names)],
        rows,
        f"Exponential durations, {PEER_BUDGET} evaluations. “not”: not reached with these. Only a "
        "small part of the cases is run, because the peers are slow.",
    )


def own_time(part: Sequence[Measurement]) -> Table:
    """The time of an ask for each method, and the resulting utilisation."""
    rows = []
    for name in _methods(part):
        for w in PEER_WORKERS:
            here = [r for r in part if (r["method"], r["workers"]) == (name, w)]
            busy = np.median([r["utilisation_at"] for r in here], axis=0)
            cells = [f"{share:.2f}" for share in busy]
            ask = float(np.median([r["thinking"] for r in here]))
            rows.append([LABELS[name], f"{w}", f"{1e3 * ask:.0f}", *cells])
    return Table(
        "own-time",
        "Time of the search itself on these runs, and utilisation when it counts: medians",
        ["method", "workers", "ms per ask", *(f"evaluations of {s:g} s" for s in SECONDS)],
        rows,
        "Processor time on one thread.",
    )


def _methods(part: Sequence[Measurement]) -> list[str]:
    """Names of the methods that were run, in the order in which tables show them."""
    return [name for name in ALL if any(r["method"] == name for r in part)]


def made_with(part: Sequence[Measurement]) -> Table:
    """Versions of everything in the comparison."""
    methods: dict[str, dict[Any, Measurement]] = {}
    for i, record in enumerate(part):
        methods.setdefault(record["method"], {})[i] = record
    return versions(methods)


def curves(runs: Sequence[Measurement], output: Output) -> None:
    """The three pictures of `CAPTIONS`."""
    for name, what, label, says in (
        ("evaluations", 0, "evaluations divided by those\nof one worker + workers - 1",
         "What many workers cost: 1 means that only delay is lost"),
        ("clock", 1, "time divided by that\nof one worker",
         "What many workers save: lower is better"),
    ):  # fmt: skip
        grid: dict[str, Any] = {"ncols": len(DURATIONS), "sharey": True}
        with output.picture(name, 12.0, 4.2, **grid) as axes:
            for ax, durations in zip(axes, DURATIONS, strict=True):
                _ratio_panel(ax, runs, what, durations)
            axes[0].set_ylabel(label)
            axes[0].figure.suptitle(says)
            axes[0].figure.legend(
                *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4
            )
    _utilisation_picture(runs, output)


def _ratio_panel(ax: Any, runs: Sequence[Measurement], what: int, durations: str) -> None:
    top = 5.0 if what == 0 else 2.0
    shares = [relative(runs, what, durations, w) for w in WORKERS]
    for pair in shares[0]:
        line = np.minimum([share[pair] for share in shares], top)
        ax.plot(WORKERS, line, color=GREY, lw=0.7, alpha=0.5, zorder=1)
    line = np.minimum([overall(share) for share in shares], top)
    ax.plot(WORKERS, line, "o-", color=BLUE, lw=2.4, label="median")
    if what == 0:
        ax.plot([*MOST], [*MOST.values()], "k*", ms=10, label="goals")
        ax.set_ylim(0.4, top * 1.05)
    else:
        ax.plot(WORKERS, 1.0 / np.array(WORKERS), "k:", lw=1.0, label="perfect speed-up")
        ax.set_ylim(0.012, top)
    ax.set(xscale="log", yscale="log", xlabel="workers", title=f"{durations} durations")
    ax.set_xticks(WORKERS, map(str, WORKERS))
    ticks = (0.5, 1, 1.5, 2, 3, 5) if what == 0 else (0.02, 0.05, 0.1, 0.2, 0.5, 1)
    ax.set_yticks(ticks, map(str, ticks))
    ax.minorticks_off()


def _utilisation_picture(runs: Sequence[Measurement], output: Output) -> None:
    here = [r for r in runs if r["durations"] == "exponential"]
    with output.picture("utilisation", 6.5, 4.2) as ax:
        for i, (seconds, colour, mark) in enumerate(
            zip(SECONDS, (ORANGE, BLUE, "#009E73"), "so^", strict=True)
        ):
            at = [[r["utilisation_at"][i] for r in here if r["workers"] == w] for w in MANY]
            middle, worst = [np.median(a) for a in at], [min(a) for a in at]
            ax.plot(MANY, middle, mark + "-", color=colour, lw=2.2, label=f"{seconds:g} s")
            ax.plot(MANY, worst, color=colour, lw=1.0, ls="--")
        ax.axhline(BUSY, color="black", lw=1.0, ls=":")
        ax.annotate(
            f"goal {BUSY}", (MANY[0], BUSY), (0, -12), textcoords="offset points", fontsize=10
        )
        ax.set(xscale="log", xlabel="workers", ylabel="utilisation", ylim=(0.8, 1.005))
        ax.set_title("How busy the workers are: 1 means never idle")
        ax.set_xticks(MANY, map(str, MANY))
        ax.minorticks_off()
        ax.legend(title="mean duration\n(dashed: worst run)", loc="lower left")


def _workers(number: int) -> str:
    return f"{number} workers" if number > 1 else "1 worker"


def _number(ratio: float) -> str:
    if np.isnan(ratio):
        return "–"
    return f"{ratio:.2f}" if np.isfinite(ratio) else "not"


def _line(r: Measurement) -> dict[str, object]:
    """A run as a row of the CSV file."""
    names = ("method", "problem", "dim", "instance", "budget", "workers", "durations", "told")
    hits = [hit or (None, None) for hit in r["reached"]]
    hits += [(None, None)] * (len(TARGETS) - len(hits))  # peers have fewer targets
    return {
        **{name: r[name] for name in names},
        **{f"evaluations_{t:g}": hit[0] for t, hit in zip(TARGETS, hits, strict=True)},
        **{f"time_{t:g}": hit[1] for t, hit in zip(TARGETS, hits, strict=True)},
        "regret": r["regret"],
        "utilisation": r["utilisation"],
        "thinking": r["thinking"],
        "slowest": r["slowest"],
    }
