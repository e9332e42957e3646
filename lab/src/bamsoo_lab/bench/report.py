"""How the runs of each suite are measured and written up."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from ..paper.output import Output
from . import comparison, fitting, fronts, goals, overhead, pictures, tables
from . import constrained as limits
from .comparison import Comparison
from .methods import OURS
from .parallel import pages as parallel
from .runs import Measurement, case_of, trace
from .score import Methods, auc, by_method
from .suites import steps, yahpo
from .tables import Table

Written = tuple[list[Table], dict[str, str]]
"""Tables, and the captions of pictures by the picture's name."""


@dataclass(frozen=True)
class Report:
    """How a suite is written up.

    Parameters
    ----------
    write : callable
        Writes files and pictures; returns tables and captions.
    measure : callable
        Makes or reads the runs.
    """

    write: Callable[[Comparison, Sequence[Measurement], Output], Written]
    measure: Callable[[Comparison, Path, int, Console], list[Measurement]] = comparison.measure


def paper(asked: Comparison, runs: Sequence[Measurement], output: Output) -> Written:
    """Regret by function."""
    methods = by_method(runs)
    _list_runs(asked, runs, output)
    shown = [tables.paper(methods)]
    if asked.usual:
        shown.append(goals.table(goals.paper(methods["bamsoo"])))
    shown.append(tables.versions(methods))
    pictures.regret(methods, output)
    return shown, {"regret": "Regret against evaluations: median and quartiles over the boxes"}


def bbob(asked: Comparison, runs: Sequence[Measurement], output: Output) -> Written:
    """Area under the curve, and the goals."""
    shown, drawn = areas(asked, runs, output)
    if asked.usual:
        methods = by_method(runs)
        peers = [name for name in methods if name not in OURS]
        shown.insert(-1, goals.table(goals.bbob(methods, peers)))
    return shown, drawn


def areas(asked: Comparison, runs: Sequence[Measurement], output: Output) -> Written:
    """Area under the curve of targets, by dimension and function."""
    methods = by_method(runs)
    _list_runs(asked, runs, output)
    dims = sorted({case.dim for case in asked.cases})
    shown = [tables.area(methods, dim, asked.suite.title) for dim in dims]
    shown += [tables.overhead(methods), tables.slowest(methods["bamsoo"])]
    shown.append(tables.versions(methods))
    captions = {
        "solved": "Share of (function, target) pairs reached against evaluations, on the runs "
        "that all methods shown have in common",
        "functions": "Area under the curve by function, bamsoo's minus the peer's: above zero, "
        "bamsoo is ahead",
        "overhead": "Cumulative overhead against evaluations: medians of the processor time on one "
        "thread",
    }
    draw: dict[str, Callable[[Methods, Output], bool]] = {
        "solved": pictures.curves,
        "functions": pictures.bars,
        "overhead": pictures.overhead,
    }
    drawn = [name for name, picture in draw.items() if picture(methods, output)]
    return shown, {name: captions[name] for name in drawn}


def inexact(asked: Comparison, runs: Sequence[Measurement], output: Output) -> Written:
    """Area under the curve at every level of noise, by dimension."""
    methods = by_method(runs)
    _list_runs(asked, runs, output)
    dims = sorted({case.dim for case in asked.cases})
    return [*(tables.inexact(methods, dim) for dim in dims), tables.versions(methods)], {}


SCORE_GOALS: dict[str, Callable[[Methods], list[goals.GoalRow]]] = {
    "tuning": goals.tuning,
    "conditional": goals.conditional,
    "steps": goals.steps,
    "yahpo": goals.yahpo,
    "simulators": goals.simulators,
}
"""Goals of suites that are written up by scores, by suite."""


def scores(asked: Comparison, runs: Sequence[Measurement], output: Output) -> Written:
    """Scores between random points and the best value that any method found."""
    _list_runs(asked, runs, output)
    methods = by_method(runs)
    shown, drawn = _scores(methods, asked.suite.name, output)
    if asked.suite.stepped:
        shown[1:1] = [tables.score_families(methods, steps.FAMILIES), tables.stopped(methods)]
    if asked.suite.name == "yahpo":
        shown.insert(1, tables.score_families(methods, yahpo.FAMILIES))
    rows = SCORE_GOALS.get(asked.suite.name)
    if asked.usual and rows is not None:
        shown.append(goals.table(rows(methods)))
    return [*shown, tables.overhead(methods), tables.versions(methods)], drawn


def scores_by_dimension(asked: Comparison, runs: Sequence[Measurement], output: Output) -> Written:
    """The same for each dimension separately, because budgets differ."""
    _list_runs(asked, runs, output)
    name, methods = asked.suite.name, by_method(runs)
    shown, drawn = list[Table](), dict[str, str]()
    for dim in sorted({case.dim for case in asked.cases}):
        here = by_method(run for run in runs if run["dim"] == dim)
        some, pictured = _scores(here, name, output, dim)
        if "bamsoo-noise" in here:
            learned = tables.score_duels(here, "bamsoo-noise")
            some.append(replace(learned, name=f"duels-noise-{dim}"))
        if asked.usual:
            rows = goals.mixint(here) if name == "mixint" else goals.noisy(here)
            some.append(replace(goals.table(rows), name=f"goals-{dim}", title=f"Goals, D = {dim}"))
        shown, drawn = shown + some, drawn | pictured
    return [*shown, tables.overhead(methods), tables.versions(methods)], drawn


def constrained(asked: Comparison, runs: Sequence[Measurement], output: Output) -> Written:
    """Wins by the best feasible value, for each dimension."""
    _list_runs(asked, runs, output)
    methods = by_method(runs)
    shown = limits.duels_by_dimension(methods)
    pictures.outcomes(shown, output, "constrained-outcomes")
    if asked.usual:
        shown.append(goals.table(limits.coco_goals(methods)))
    return [*shown, tables.versions(methods)], {"constrained-outcomes": OUTCOMES}


def designs(asked: Comparison, runs: Sequence[Measurement], output: Output) -> Written:
    """Gaps to the known optima, and wins by the best feasible value."""
    _list_runs(asked, runs, output)
    methods = by_method(runs)
    shown = [limits.gaps(methods), limits.duels(methods)]
    pictures.outcomes(shown[1:], output, "designs-outcomes")
    if asked.usual:
        shown.append(goals.table(limits.design_goals(methods)))
    return [*shown, tables.versions(methods)], {"designs-outcomes": OUTCOMES}


OUTCOMES = (
    "Runs that bamsoo won, tied and lost against each peer by the best feasible value, at the end "
    "of the budget"
)


def objectives(asked: Comparison, runs: Sequence[Measurement], output: Output) -> Written:
    """Shares of the hypervolume, wins by them, and the goals."""
    methods = by_method(runs)
    found = fronts.shares(methods)
    output.csv(
        "objectives-runs",
        ["method", "problem", "dim", "instance", "seed"]
        + [f"share_{t}" for t in fronts.marks(methods)]
        + ["cpu"],
        (
            [run["method"], *(run[name] for name in ("problem", "dim", "instance", "seed"))]
            + [f"{found[run['method']][case_of(run)][t - 1]:.6g}" for t in fronts.marks(methods)]
            + [run["cpu"]]
            for run in runs
        ),
    )
    shown = [fronts.means(methods, found), fronts.duels(methods, found)]
    shown += [fronts.by_family(methods, found), fronts.by_problem(methods, found)]
    if asked.usual:
        shown.append(goals.table(fronts.goals(methods, found)))
    shown += [fronts.overhead(methods), tables.versions(methods)]
    fronts.picture(methods, found, output, "objectives-shares")
    caption = "Mean share of the hypervolume against evaluations"
    return shown, {"objectives-shares": f"{caption}: all problems, and those that all methods have"}


def fits(asked: Comparison, runs: Sequence[Measurement], output: Output) -> Written:
    """Evaluations that fits need, and the goals."""
    _list_runs(asked, runs, output)
    methods = by_method(runs)
    shown = [fitting.table(methods), fitting.problems(methods)]
    if asked.usual:
        shown.append(goals.table(fitting.goals(methods)))
    fitting.profile(methods, output, "fits-solved")
    caption = (
        "Share of the fits that are solved, by evaluations (higher is better); one evaluation "
        "gives all residuals"
    )
    return [*shown, tables.overhead(methods), tables.versions(methods)], {"fits-solved": caption}


def _scores(methods: Methods, suite: str, output: Output, dim: int | None = None) -> Written:
    suffix, where = ("", "") if dim is None else (f"-{dim}", f", D = {dim}")
    shown = [tables.mean_scores(methods), tables.score_duels(methods)]
    if dim is not None:
        shown = [
            replace(table, name=f"{table.name}{suffix}", title=f"{table.title}{where}")
            for table in shown
        ]
    else:
        shown.append(tables.problem_scores(methods))
    name = f"{suite}-scores{suffix}"
    pictures.mean_scores(methods, output, name)
    caption = (
        f"Mean score against evaluations{where} (higher is better), on all runs, and on the runs "
        "of the slow method that comes closest; noisy problems are scored at a few evaluations "
        "only, where all curves step"
    )
    return shown, {name: caption}


REPORTS = {
    "paper": Report(paper),
    "bbob": Report(bbob),
    "overhead": Report(overhead.write, overhead.measure),
    "parallel": Report(parallel.write, parallel.measure),
    "mixint": Report(scores_by_dimension),
    "noisy": Report(scores_by_dimension),
    "inexact": Report(inexact),
    "constrained": Report(constrained),
    "designs": Report(designs),
    "objectives": Report(objectives),
    "fits": Report(fits),
}
"""By suite."""

SCORES = Report(scores)
"""For all other suites. The optima of their problems are not known, so their runs store values."""


def _list_runs(asked: Comparison, runs: Sequence[Measurement], output: Output) -> None:
    lines = [_line(run) for run in runs]
    output.csv(f"{asked.suite.name}-runs", list(lines[0]), (list(line.values()) for line in lines))


def _line(run: Measurement) -> dict[str, object]:
    """A run as a row of the CSV file."""
    best = trace(run)
    names = ("suite", "method", "problem", "dim", "instance", "seed", "budget", "evaluations")
    times = ("cpu", "wall", "slowest", "slowest_cpu")
    half, end = best[(len(best) - 1) // 2], best[-1]
    regrets = {"area": auc(best), "regret_half": half, "regret": end}
    return {
        **{name: run[name] for name in names},
        **(regrets if "steps" in run else {"best_half": half, "best": end}),
        **{name: run[name] for name in times},
        "ended": run.get("ended", ""),
    }
