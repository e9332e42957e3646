"""Compare searches during development: ``python -m bamsoo_lab.bench.compare --help``.

`bamsoo bench` compares the default as it is with other optimisers. This command compares the first
of any methods with each of the others; methods may be settings of your own (``module:attribute``),
changes of the default (``bamsoo(climb.wide=0.8)``) and runs of an earlier source
(``bamsoo@SOURCE``). Missing runs of ours are made. Those of other optimisers are read, and made
only with ``--run-peers``.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import click
from rich.console import Console

from ..jobs.pool import Batch, perform
from ..jobs.source import searches
from ..jobs.store import Store
from . import archive, constrained, fronts, methods, suites, tables
from .case import Case
from .comparison import check_packages
from .runs import Measurement, case_of, cut, task
from .score import Runs
from .suites import Selection
from .tuning.tasks import tasks as tuning_tasks

SUITES = (
    *("tuning", "mixint", "noisy", "constrained", "designs", "conditional", "yahpo"),
    *("objectives", "steps", "simulators", "real", "systems"),
)
"""Suites with a part for developing."""

SLOW = ("forest", "boosting")
"""Families of tuning tasks that take the most time."""


def _texts(ctx: click.Context, param: click.Parameter, value: str | None) -> list[str]:
    return [part.strip() for part in (value or "").split(",") if part.strip()]


def _numbers(ctx: click.Context, param: click.Parameter, value: str | None) -> list[int]:
    return [int(part) for part in _texts(ctx, param, value)]


@click.command()
@click.option("--suite", type=click.Choice(SUITES), default="tuning")
@click.option("--part", type=click.Choice(["develop", "report"]), default="develop")
@click.option("--methods", "names", default="bamsoo,optuna-tpe,random", callback=_texts)
@click.option("--budget", type=click.IntRange(min=2), help="Number of evaluations per run.")
@click.option("--instances", callback=_numbers, help="Instances; by default, those of the part.")
@click.option("--tasks", callback=_texts, help="Names of tasks; by default, all.")
@click.option("--dims", callback=_numbers, help="mixint, constrained: dimensions; by default, all.")
@click.option("--fast", is_flag=True, help="tuning: leave out forests and boosting.")
@click.option("--runs", "folder", type=click.Path(path_type=Path), default=Path("out/bench/runs"))
@click.option("--jobs", default=1, show_default=True, help="Processes, of one thread each.")
@click.option("--run-peers", is_flag=True, help="Also make missing runs of other optimisers.")
@click.option("--no-run", is_flag=True, help="Do not make any runs.")
@click.option("--quiet", is_flag=True, help="Do not show scores.")
@click.option("--told", is_flag=True, help="Score noisy runs by the values that they were told.")
@click.option("--by-task", is_flag=True, help="Show the score of every task.")
def main(
    suite: str,
    part: Literal["develop", "report"],
    names: list[str],
    budget: int | None,
    instances: list[int],
    tasks: list[str],
    dims: list[int],
    fast: bool,
    folder: Path,
    jobs: int,
    run_peers: bool,
    no_run: bool,
    quiet: bool,
    told: bool,
    by_task: bool,
) -> None:
    """Make the runs that are missing, and print scores, wins and losses, and the worst tasks."""
    console = Console()
    if not console.is_terminal:
        console.width = 160  # a file or a pipe has no width
    chosen = suites.ALL[suite]
    wanted = Selection(
        dims=tuple(dims) or None,
        instances=tuple(instances) or None,
        budget=budget,
        part=part,
        tasks=tuple(tasks) or None,
    )
    cases = [case for case in chosen.cases(wanted) if chosen.available(case)]
    if fast and suite == "tuning":
        cases = [case for case in cases if tuning_tasks()[case.problem].family not in SLOW]
    if not no_run:
        made = [methods.find(name) for name in names if "@" not in name]
        made = [method for method in made if method.ours or run_peers]
        todo = [task(m.name, case) for m in made for case in cases if chosen.takes(m.name, case)]
        check_packages(chosen, todo)
        perform([Batch(todo, jobs)], Store(folder), console)
    if not quiet:
        stored = [*archive.read(archive.DATA), *archive.read(folder)]
        stored = [run for run in stored if run["suite"] == suite]
        console.print(f"source {searches()}", highlight=False)
        show([_as_told(run) if told else run for run in stored], names, cases, console, by_task)


def show(
    stored: Sequence[Measurement],
    names: Sequence[str],
    cases: Sequence[Case],
    console: Console,
    by_task: bool,
) -> None:
    """Print the tables, one set per budget."""
    for some in _together(cases):
        found: dict[str, Runs] = {}
        for name in names:
            runs = found_runs(name, some, stored)
            if len(runs) < len(some):
                console.print(f"{name}: {len(runs)} of {len(some)} runs are stored")
            if runs:
                found[name] = runs
        if found and suites.ALL[some[0].suite].constrained:
            first = next(iter(found))
            constrained.duels(found, first).show(console)
            if some[0].suite == "designs":
                constrained.gaps(found, first).show(console)
            continue
        if found and suites.ALL[some[0].suite].several:
            first, share = next(iter(found)), fronts.shares(found)
            fronts.means(found, share, first).show(console)
            fronts.duels(found, share, first).show(console)
            fronts.by_family(found, share).show(console)
            if by_task:
                fronts.by_problem(found, share).show(console)
            continue
        if not found.get("random"):
            console.print("no scores without runs of random search; add random to the methods")
            continue
        tables.mean_scores(found).show(console)
        tables.score_duels(found, next(iter(found))).show(console)
        if by_task:
            tables.problem_scores(found).show(console)


def _together(cases: Sequence[Case]) -> list[list[Case]]:
    """The cases that share a table: those of one budget, or all if scores are by its share."""
    if suites.ALL[cases[0].suite].relative:
        return [[*cases]]
    budgets = sorted({case.budget for case in cases})
    return [[case for case in cases if case.budget == budget] for budget in budgets]


def found_runs(name: str, cases: Sequence[Case], stored: Sequence[Measurement]) -> Runs:
    """Stored runs of a method; longer ones are cut to the budgets of the cases."""
    plain, _, digest = name.partition("@")
    method = methods.find(plain)
    if method.ours and not digest:
        digest = searches()
    if name != plain:  # so that tables can find it
        methods.ALL[name] = replace(method, name=name, label=name)
    mine = [
        run
        for run in stored
        if run["method"] == method.name
        and run.get("algorithm", "") == method.settings
        and str(run.get("source", "")).startswith(digest)
    ]
    found: Runs = {}
    for case in cases:
        longer = [r for r in mine if case_of(r | {"budget": case.budget}) == case]
        longer = [r for r in longer if r["budget"] >= case.budget]
        if longer:
            found[case] = cut(min(longer, key=lambda r: r["budget"]), case.budget)
    return found


def _as_told(run: Measurement) -> Measurement:
    """A noisy run without its true values, so that it is scored by the values it was told."""
    return {name: part for name, part in run.items() if name not in ("recommended", "sample")}


if __name__ == "__main__":
    main()
