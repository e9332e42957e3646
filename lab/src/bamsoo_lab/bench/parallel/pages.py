"""The suite `parallel`: make the runs that are missing, and write the results."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from bamsoo._typing import Array

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
    PEER_WORKERS,
    SECONDS,
    TARGETS,
    ours,
    peer_part,
)

LABELS = {name: ALL[name].label for name in ALL} | {"botorch": "BoTorch (qLogEI)"}

MOST, AT, BUSY = {8: 1.2, 64: 2.5}, 8, 0.95
"""Goals: ratio of evaluations to those of one worker, by number of workers, and utilisation; and
the number of workers that is shown by problem."""

CAPTIONS = {
    "evaluations": "What many workers cost: evaluations until the target, divided by those of one "
    "worker (1 means that nothing is lost); thick lines are medians over problems, grey ones "
    "single problems (at the top edge: not reached)",
    "clock": "What many workers save: virtual time until the target, divided by that of one worker "
    "(lower is better); thick lines are medians over problems, grey ones single problems; dotted: "
    "a perfect speed-up",
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
        goals.table(reached(runs)),
        ratios(
            runs,
            0,
            "evaluations",
            "Evaluations until the target, divided by those of one worker (lower is better)",
        ),
        delays(runs),
        by_problem(runs),
        ratios(
            runs,
            1,
            "speed-up",
            "Speed-up: virtual time of one worker divided by that of several (higher is better)",
        ),
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

    `what` is 0 for evaluations and 1 for virtual time. A target that is not reached costs inf.
    """
    found: dict[str, list[list[float]]] = {}
    for r in runs:
        if r["durations"] == durations and r["workers"] == workers:
            row = [np.inf if hit is None else hit[what] for hit in r["reached"]]
            found.setdefault(r["problem"], []).append(row)
    return {problem: np.median(rows, axis=0) for problem, rows in found.items()}


def relative(
    runs: Sequence[Measurement], what: int, durations: str, workers: int, more: int = 0
) -> dict[str, Array]:
    """`medians` divided by those of one worker plus `more`; nan if one worker never gets there."""
    one, many = (medians(runs, what, durations, w) for w in (1, workers))
    return {
        problem: many[problem] / np.where(np.isfinite(one[problem]), one[problem] + more, np.nan)
        for problem in many
    }


def overall(shares: dict[str, Array]) -> Array:
    """Median, by target, over the problems that one worker solves; nan if there are none."""
    columns = [column[~np.isnan(column)] for column in np.array(list(shares.values())).T]
    return np.array([np.median(column) if len(column) else np.nan for column in columns])


def reached(runs: Sequence[Measurement]) -> list[goals.Row]:
    """The goals, with what was measured."""
    least = min(r["utilisation"] for r in runs)
    rows = [(f"utilisation at least {BUSY}", f"{least:.3f} in the worst run", least >= BUSY)]
    for workers, most in MOST.items():
        for name in DURATIONS if workers in WORKERS else ():
            ratio = overall(relative(runs, 0, name, workers))
            rows.append(
                (
                    f"{workers} workers, {name} durations: at most {most} times the evaluations of "
                    "one worker",
                    " and ".join(
                        f"{r:.2f} for the target {t:g}" for r, t in zip(ratio, TARGETS, strict=True)
                    ),
                    bool(np.all(ratio <= most)),
                )
            )
    return rows


def delays(runs: Sequence[Measurement]) -> Table:
    """Evaluations, divided by those that a search with delayed values would need."""
    rows = []
    for durations in DURATIONS:
        shares = [overall(relative(runs, 0, durations, w, w - 1)) for w in WORKERS]
        for i, target in enumerate(TARGETS):
            rows.append([durations, f"{target:g}", *(_number(s[i]) for s in shares)])
    return Table(
        "delays",
        "Evaluations until the target, divided by those of one worker plus workers - 1 (lower is "
        "better); median over problems of the ratio of medians",
        ["durations", "target", *(_workers(w) for w in WORKERS)],
        rows,
        "A search that is asked while workers - 1 values are pending, and is otherwise as good as "
        "with one worker, needs workers - 1 evaluations more: its ratio is 1.",
    )


def ratios(runs: Sequence[Measurement], what: int, name: str, title: str) -> Table:
    """Median over problems, by durations and target, with one column per number of workers."""
    rows = []
    for durations in DURATIONS:
        shares = [overall(relative(runs, what, durations, w)) for w in WORKERS]
        for i, target in enumerate(TARGETS):
            cells = [_number(s[i] if what == 0 else 1.0 / s[i]) for s in shares]
            rows.append([durations, f"{target:g}", *cells])
    return Table(
        name,
        f"{title}; median over problems of the ratio of medians",
        ["durations", "target", *(_workers(w) for w in WORKERS)],
        rows,
    )


def by_problem(runs: Sequence[Measurement]) -> Table:
    """For each problem, the evaluations of one worker, and the ratio for eight."""
    rows = []
    one = medians(runs, 0, "constant", 1)
    shares = {name: relative(runs, 0, name, AT) for name in DURATIONS}
    for problem in (*NAMES, *(f"f{f}" for f in FUNCTIONS)):
        alone = " / ".join(_count(n) for n in one[problem])
        cells = [" / ".join(map(_number, shares[name][problem])) for name in DURATIONS]
        rows.append([problem.capitalize() if problem in NAMES else problem, alone, *cells])
    return Table(
        "problems",
        f"{AT} workers by problem: evaluations divided by those of one worker, for the targets "
        + " / ".join(f"{t:g}" for t in TARGETS),
        ["problem", "evaluations of one worker", *DURATIONS],
        rows,
        "Medians over boxes or instances. “not” means that the target is not reached in the "
        "median, and “–” that one worker does not reach it either.",
    )


def utilisations(runs: Sequence[Measurement]) -> Table:
    """Utilisation by durations and workers, without and with the time of the search itself."""
    rows = []
    for name in DURATIONS:
        here = {
            w: [r for r in runs if (r["durations"], r["workers"]) == (name, w)] for w in WORKERS
        }
        cells = [f"{min(r['utilisation'] for r in here[w]):.3f}" for w in WORKERS]
        rows.append([name, "not counted", *cells])
        for i, seconds in enumerate(SECONDS):
            cells = [f"{np.median([r['utilisation_at'][i] for r in here[w]]):.3f}" for w in WORKERS]
            rows.append([name, f"evaluations of {seconds:g} s", *cells])
    thinking = float(np.median([r["thinking"] for r in runs]))
    slowest = max(r["slowest"] for r in runs)
    return Table(
        "utilisation",
        "Utilisation (1 is best): the worst run if the time of the search itself is not counted, "
        "and the median if it is, for evaluations of a given mean duration",
        [
            "durations",
            "time of the search",
            *(_workers(w) for w in WORKERS),
        ],
        rows,
        f"The search itself takes {1e3 * thinking:.0f} ms of processor time per ask in the median "
        f"run, and {brief(slowest)} s in the slowest ask of all runs.",
    )


def side_by_side(part: Sequence[Measurement]) -> Table:
    """Evaluations of each method until each target, box by box, on the cases that all have run."""
    names, rows = _methods(part), []
    for problem in dict.fromkeys(case.problem for case in PEER_CASES):
        for i, target in enumerate(TARGETS):
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
        ("evaluations", 0, "evaluations divided by\nthose of one worker",
         "What many workers cost: 1 means that nothing is lost"),
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
    top = 10.0 if what == 0 else 2.0
    shares = [relative(runs, what, durations, w) for w in WORKERS]
    for problem in shares[0]:
        for i in range(len(TARGETS)):
            line = np.minimum([s[problem][i] for s in shares], top)
            ax.plot(WORKERS, line, color=GREY, lw=0.5, alpha=0.3, zorder=1)
    for i, (target, colour, mark) in enumerate(zip(TARGETS, (BLUE, ORANGE), "os", strict=True)):
        line = np.minimum([overall(s)[i] for s in shares], top)
        ax.plot(WORKERS, line, mark + "-", color=colour, lw=2.4, label=f"regret {target:g}")
    if what == 0:
        ax.plot([*MOST], [*MOST.values()], "k*", ms=10, label="goals")
        ax.set_ylim(0.25, top * 1.05)
    else:
        ax.plot(WORKERS, 1.0 / np.array(WORKERS), "k:", lw=1.0, label="perfect speed-up")
        ax.set_ylim(0.012, top)
    ax.set(xscale="log", yscale="log", xlabel="workers", title=f"{durations} durations")
    ax.set_xticks(WORKERS, map(str, WORKERS))
    ticks = (0.3, 0.5, 1, 2, 5, 10) if what == 0 else (0.02, 0.05, 0.1, 0.2, 0.5, 1)
    ax.set_yticks(ticks, map(str, ticks))
    ax.minorticks_off()


def _utilisation_picture(runs: Sequence[Measurement], output: Output) -> None:
    here = [r for r in runs if r["durations"] == "exponential"]
    with output.picture("utilisation", 6.5, 4.2) as ax:
        for i, (seconds, colour, mark) in enumerate(
            zip(SECONDS, (ORANGE, BLUE, "#009E73"), "so^", strict=True)
        ):
            at = [[r["utilisation_at"][i] for r in here if r["workers"] == w] for w in WORKERS]
            middle, worst = [np.median(a) for a in at], [min(a) for a in at]
            ax.plot(WORKERS, middle, mark + "-", color=colour, lw=2.2, label=f"{seconds:g} s")
            ax.plot(WORKERS, worst, color=colour, lw=1.0, ls="--")
        ax.axhline(BUSY, color="black", lw=1.0, ls=":")
        ax.annotate(f"goal {BUSY}", (1, BUSY), (0, -12), textcoords="offset points", fontsize=10)
        ax.set(xscale="log", xlabel="workers", ylabel="utilisation", ylim=(0.8, 1.005))
        ax.set_title("How busy the workers are: 1 means never idle")
        ax.set_xticks(WORKERS, map(str, WORKERS))
        ax.minorticks_off()
        ax.legend(title="mean duration\n(dashed: worst run)", loc="lower left")


def _workers(number: int) -> str:
    return f"{number} workers" if number > 1 else "1 worker"


def _number(ratio: float) -> str:
    if np.isnan(ratio):
        return "–"
    return f"{ratio:.2f}" if np.isfinite(ratio) else "not"


def _count(number: float) -> str:
    return f"{number:.3g}" if np.isfinite(number) else "not"


def _line(r: Measurement) -> dict[str, object]:
    """A run as a row of the CSV file."""
    names = ("method", "problem", "dim", "instance", "budget", "workers", "durations", "told")
    hits = [hit or (None, None) for hit in r["reached"]]
    return {
        **{name: r[name] for name in names},
        **{f"evaluations_{t:g}": hit[0] for t, hit in zip(TARGETS, hits, strict=True)},
        **{f"time_{t:g}": hit[1] for t, hit in zip(TARGETS, hits, strict=True)},
        "regret": r["regret"],
        "utilisation": r["utilisation"],
        "thinking": r["thinking"],
        "slowest": r["slowest"],
    }
