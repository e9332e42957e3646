"""The tables of the report, as data that is printed, and written as Markdown and as CSV."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from ..paper.output import table as markdown
from . import reference
from .case import Case
from .methods import ALL
from .runs import Measurement
from .score import (
    TIE,
    Duel,
    Methods,
    Runs,
    by_function,
    by_problem,
    duel,
    hindsight,
    interval,
    log_regret,
    moments,
    outcome,
    scores,
)
from .suites import ALL as SUITES
from .suites import inexact as suite
from .suites.paper import NAMES

HINDSIGHT = "the best peer per function, in hindsight"
"""A row that no single method reaches: on every function, the peer that did best there."""

LOSSES = 3
"""How many problems are listed as the largest losses."""


@dataclass(frozen=True)
class Table:
    """Rows under a title, with a note on how to read them."""

    name: str
    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def show(self, console: Console) -> None:
        """Print the table."""
        console.print(self.title, style="bold", highlight=False)
        shown = RichTable(box=SIMPLE_HEAD)
        for i, head in enumerate(self.header):
            figures = all(re.match(r"[-–\d]|$", row[i]) for row in self.rows)
            shown.add_column(head, justify="right" if figures else "left")
        for row in self.rows:
            shown.add_row(*(escape(cell.replace("**", "")) for cell in row))
        console.print(shown)
        if self.note:
            console.print(self.note + "\n", highlight=False)

    def markdown(self) -> str:
        """The table as Markdown."""
        return "\n\n".join(
            part
            for part in (f"**{self.title}**", markdown(self.header, self.rows), self.note)
            if part
        )


def ordered(methods: Iterable[str]) -> list[str]:
    """Sort names of methods into the order that tables show them in."""
    return [name for name in ALL if name in set(methods)]


def paper(methods: Methods) -> Table:
    """Median log10 regret by function, halfway through the budget and at its end."""
    budget = max(case.budget for runs in methods.values() for case in runs)
    half = budget // 2
    rows = []
    for name in ordered(methods):
        runs, cells, counts = methods[name], [], []
        for problem in NAMES:
            counts.append(sum(case.problem == problem for case in runs))
            if not counts[-1]:
                cells.append("–")
                continue
            logs = log_regret(runs, problem)
            at = np.median(logs[:, [half - 1, budget - 1]], axis=0)
            cells.append(f"{at[0]:.1f} / {at[1]:.1f}")
        boxes = (
            f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
        )
        rows.append([ALL[name].label, boxes, *cells])
    return Table(
        "regret",
        f"log10 of the regret after {half} / {budget} evaluations, median over boxes "
        "(lower is better)",
        ["method", "boxes", *(problem.capitalize() for problem in NAMES)],
        rows,
        "“boxes”: the number of boxes that a method was run on. “–”: not run.",
    )


def runs_in_words(cases: Sequence[Case]) -> str:
    """How many functions and instances, as tables print it."""
    functions, instances = {c.problem for c in cases}, {c.instance for c in cases}
    if len(cases) == len(functions) * len(instances):
        return f"{len(functions)} × {len(instances)}"
    return f"{len(functions)} ({len(cases)} runs)"


def area(methods: Methods, dim: int, title: str = "BBOB") -> Table:
    """Area under the curve of each method, and ours on the runs that both have."""
    ours = methods["bamsoo"]
    cases = [case for case in ours if case.dim == dim]
    whole = float(np.mean(list(by_function(ours, cases).values())))
    rows = [[ALL["bamsoo"].label, runs_in_words(cases), f"{whole:.3f}", "", "", ""]]
    for name in ordered(methods):
        against = None if name == "bamsoo" else duel(ours, methods[name], dim)
        if against is None:
            continue
        rows.append(_versus(ALL[name].label, against))
    peers = {name: methods[name] for name in ordered(methods) if not ALL[name].ours}
    if (best := hindsight(ours, peers, dim)) is not None:
        rows.append(_versus(HINDSIGHT, best))
    known = duel(ours, reference.runs(cases), dim)
    if known is not None:
        label, _, *cells = _versus(reference.LABEL, known)
        rows.append([label, f"{len(known.theirs)} (expected times)", *cells])
    budget = max(case.budget for case in cases)
    return Table(
        f"area-{dim}d",
        f"{title}, D = {dim}, {budget} evaluations: area under the curve",
        [
            "method",
            "functions × instances",
            "area, higher is better",
            "bamsoo on the same runs",
            "bamsoo / method",
            "bamsoo wins / losses / ties",
        ],
        rows,
        "" if known is None else reference.CAVEAT,
    )


def _versus(label: str, against: Duel) -> list[str]:
    """A row of `area`."""
    (mine, theirs), (won, lost, tied) = against.areas, against.outcome
    return [
        label,
        runs_in_words(against.cases),
        f"{theirs:.3f}",
        f"{mine:.3f}",
        f"{against.ratio:.2f}",
        f"{won} / {lost} / {tied}",
    ]


def inexact(methods: Methods, dim: int) -> Table:
    """Area under the curve at every level of noise, and the ratio of ours to it."""
    levels = (suite.EXACT, *suite.LEVELS)
    names = ordered(methods)
    ours = _by_level(methods.get("bamsoo", {}))
    rows = []
    for name in names:
        here, cells = _by_level(methods[name]), []
        for level in levels:
            against = duel(ours[level], here[level], dim)
            if against is None:
                cells.append("–")
                continue
            area, ratio = f"{against.areas[1]:.3f}", f"{against.ratio:.2f}"
            cells.append(area if name == "bamsoo" else f"{area} ({ratio})")
        if any(cell != "–" for cell in cells):
            cases = [c for level in levels for c in here[level] if c.dim == dim]
            rows.append([ALL[name].label, f"{len(cases)}", *cells])
    rivals = {name: _by_level(methods[name]) for name in names if not ALL[name].ours}
    chosen = [
        hindsight(ours[level], {name: here[level] for name, here in rivals.items()}, dim)
        for level in levels
    ]
    if any(chosen):
        cells = ["–" if d is None else f"{d.areas[1]:.3f} ({d.ratio:.2f})" for d in chosen]
        rows.append([HINDSIGHT, "", *cells])
    return Table(
        f"area-{dim}d",
        f"BBOB with relative noise, D = {dim}: area under the curve (in parentheses: bamsoo's area "
        "on the same runs divided by it)",
        ["method", "runs", "exact values", *(f"noise of {level}" for level in suite.LEVELS)],
        rows,
    )


def _by_level(runs: Runs) -> dict[str, Runs]:
    found: dict[str, Runs] = {level: {} for level in (suite.EXACT, *suite.LEVELS)}
    for case, run in runs.items():
        found[suite.level(case)][case] = run
    return found


def marks(methods: Methods) -> list[int]:
    """The numbers of evaluations at which the suite gives scores, up to the smallest budget.

    In a suite whose budgets differ, these are hundredths of the budget.
    """
    cases = [case for runs in methods.values() for case in runs]
    least = min(len(moments(case)) for case in cases)
    return sorted({*(at for at in SUITES[cases[0].suite].at if at < least), least})


def after(methods: Methods) -> list[str]:
    """The `marks` as headings of columns."""
    suite = next(case.suite for runs in methods.values() for case in runs)
    sign = " %" if SUITES[suite].relative else ""
    return [f"after {t}{sign}" for t in marks(methods)]


def mean_scores(methods: Methods) -> Table:
    """Mean score of each method at each of `marks`, and its worst problem at the end."""
    found, at = scores(methods), marks(methods)
    rows = []
    for name in ordered(methods):
        if not found[name]:
            continue
        means = [by_problem(found[name], t) for t in at]
        cells = []
        for problems in means:
            low, high = interval([*problems.values()])
            cells.append(f"{np.mean([*problems.values()]):.3f} ({low:.2f} to {high:.2f})")
        worst = min(means[-1], key=lambda problem: means[-1][problem])
        low_end = f"{means[-1][worst]:.2f} ({worst})"
        rows.append([ALL[name].label, f"{len(found[name])}", *cells, low_end])
    return Table(
        "scores",
        "Mean score: 0 is the median of random points, 1 the best value that any method found "
        "(higher is better)",
        ["method", "runs", *after(methods), f"worst problem {after(methods)[-1]}"],
        rows,
        "Each cell is the mean over the problems after that many evaluations, or that share of the "
        "budget, with its 95 % bootstrap interval. Scores below -1 count as -1.",
    )


def score_duels(methods: Methods, ours: str = "bamsoo") -> Table:
    """Wins, losses and ties of one method by score, on the runs that both have."""
    found, at = scores(methods), marks(methods)
    rows = []
    for name in ordered(methods):
        common = [case for case in found[ours] if case in found[name]]
        if name == ours or not common:
            continue
        cells = []
        for t in at:
            mine, theirs = (
                np.array([found[m][case][t - 1] for case in common]) for m in (ours, name)
            )
            gain = float(np.mean(mine - theirs))
            cells.append(" / ".join(map(str, outcome(mine, theirs))) + f" ({gain:+.3f})")
        problems = [
            by_problem({case: found[m][case] for case in common}, at[-1]) for m in (ours, name)
        ]
        losses = {p: score - problems[0][p] for p, score in problems[1].items()}
        worst = sorted(losses, key=lambda p: -losses[p])[:LOSSES]
        listed = ", ".join(f"{losses[p]:.2f} ({p})" for p in worst if losses[p] > TIE)
        slower = np.median([methods[name][c]["cpu"] / methods[ours][c]["cpu"] for c in common])
        rows.append([ALL[name].label, f"{len(common)}", *cells, listed or "–", f"{slower:.2g}"])
    return Table(
        "duels",
        f"Wins / losses / ties of {ALL[ours].label} by score (and its mean lead in score), on the "
        "runs that both methods have",
        [
            *("against", "runs", *after(methods)),
            *(f"largest losses {after(methods)[-1]}", f"time / that of {ALL[ours].label}"),
        ],
        rows,
        f"“Largest losses” lists the problems on which {ALL[ours].label} trails most, and by how "
        "much. “Time” compares the processor time between evaluations, as the median over these "
        "runs.",
    )


def problem_scores(methods: Methods) -> Table:
    """The score of every method on every problem at the end."""
    found, end = scores(methods), marks(methods)[-1]
    columns = {name: by_problem(found[name], end) for name in ordered(methods)}
    problems = sorted({problem for column in columns.values() for problem in column})
    rows = [
        [problem, *(f"{c[problem]:.2f}" if problem in c else "–" for c in columns.values())]
        for problem in problems
    ]
    labels = [ALL[name].label for name in columns]
    title = "Score by problem at the end of the budget (higher is better)"
    if not SUITES[next(iter(methods["random"])).suite].relative:
        title = f"Score by problem after {end} evaluations (higher is better)"
    return Table("problems", title, ["problem", *labels], rows)


def score_families(methods: Methods, families: Mapping[str, Callable[[Case], bool]]) -> Table:
    """Mean score of each method at each of `marks`, for each kind of problem."""
    found, at = scores(methods), marks(methods)
    rows = []
    for name in (name for name in ordered(methods) if found[name]):
        cells = []
        for belongs in families.values():
            some = {case: score for case, score in found[name].items() if belongs(case)}
            means = [np.mean([*by_problem(some, t).values()]) for t in at] if some else []
            cells.append(" / ".join(f"{mean:.2f}" for mean in means) or "–")
        rows.append([ALL[name].label, *cells])
    return Table(
        "families",
        f"Score by kind of problem after {', '.join(map(str, at[:-1]))} and {at[-1]} evaluations "
        "(higher is better)",
        ["method", *families],
        rows,
    )


def stopped(methods: Methods) -> Table:
    """How many evaluations were started and finished."""
    rows = []
    for name in ordered(methods):
        runs = methods[name].values()
        started, finished = (
            float(np.mean([count(run) for run in runs]))
            for count in (lambda run: run["evaluations"], lambda run: len(run["values"]))
        )
        rows.append([ALL[name].label, f"{started:.1f}", f"{finished:.1f}"])
    return Table(
        "stopped",
        "Evaluations per run that were started, and those that were finished",
        ["method", "started", "finished"],
        rows,
    )


def overhead(methods: Methods) -> Table:
    """The time that the methods themselves take, by dimension."""
    dims = sorted({case.dim for runs in methods.values() for case in runs})
    rows = []
    for name in ordered(methods):
        cells = []
        for dim in dims:
            here = [r for case, r in methods[name].items() if case.dim == dim]
            if here:
                seconds = float(np.median([r["cpu"] for r in here]))
                slowest = max(r["slowest_cpu"] for r in here)
                cells.append(f"{brief(seconds)} ({brief(slowest)})")
            else:
                cells.append("–")
        rows.append([ALL[name].label, *cells])
    return Table(
        "overhead",
        "Median overhead per run (in parentheses: slowest suggestion in any run), in seconds of "
        "processor time",
        ["method", *(f"D = {dim}" for dim in dims)],
        rows,
        "Measured on one thread, without the time of the evaluations themselves. The peers were "
        "timed when their runs were stored, not together with bamsoo.",
    )


def slowest(ours: Runs) -> Table:
    """The longest time that a suggestion took, by function and dimension."""
    dims = sorted({case.dim for case in ours})
    functions = sorted({case.problem for case in ours}, key=lambda name: int(name[1:]))
    rows = [
        [f, *(_worst(r for c, r in ours.items() if (c.problem, c.dim) == (f, dim)) for dim in dims)]
        for f in functions
    ]
    return Table(
        "slowest",
        "bamsoo's slowest suggestion by function, maximum over instances, in seconds of processor "
        "time",
        ["function", *(f"D = {dim}" for dim in dims)],
        rows,
    )


def _worst(records: Iterable[Measurement]) -> str:
    seconds = [r["slowest_cpu"] for r in records]
    return f"{max(seconds):.2f}" if seconds else "–"


def brief(seconds: float) -> str:
    """A time in seconds, with as many digits as matter."""
    digits = 3 if seconds < 0.1 else 2 if seconds < 10 else 0
    return f"{seconds:.{digits}f}"


def versions(methods: Methods) -> Table:
    """The versions of the packages that made the runs."""
    rows = []
    for name in ordered(methods):
        found: dict[str, set[str]] = {}
        for run in methods[name].values():
            for package, number in run["versions"].items():
                found.setdefault(package, set()).add(number)
            if "source" in run:
                found.setdefault("source", set()).add(run["source"])
        text = ", ".join(f"{package} {' or '.join(sorted(n))}" for package, n in found.items())
        rows.append([ALL[name].label, f"{len(methods[name])}", text])
    return Table("versions", "Versions", ["method", "runs", "made with"], rows)
