"""Compare methods on mixed, noisy and failing problems.

Runs of ours that are missing are made; those of other optimisers are read from the folder, and
made with ``--run-peers``. Every finished run is kept, so the same command continues after an
interruption: ``python -m bamsoo.lab.bench.tuning.compare --help``.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import click
from rich.console import Console
from rich.table import Table

from ...jobs.pool import Batch, perform
from ..errors import require
from . import score
from .methods import ALL, find, is_ours
from .runs import Ledger, Record, case_of, job, read, source
from .suites import SUITES, Case, budget, cases
from .tasks import Part
from .tasks import find as find_task

MARKS = {"tuning": (10, 20, 40, 80), "mixint": (25, 50, 100, 150, 200), "noisy": (25, 50, 100, 150)}

SLOW = ("forest", "boosting")
"""Families of tasks that take most of the time."""


def wanted(name: str, case: Case, records: Sequence[Record]) -> Record | None:
    """The longest stored run of a method on a case: ``bamsoo@SOURCE`` is one of an older source."""
    method, _, digest = name.partition("@")
    if is_ours(method) and not digest:
        digest = source(method)
    found = [
        r
        for r in records
        if r["method"] == method
        and case_of(r) == case
        and (not digest or r["source"].startswith(digest))
    ]
    return max(found, key=lambda r: r["budget"], default=None)


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


@click.command()
@click.option("--suite", type=click.Choice(SUITES), default="tuning", show_default=True)
@click.option("--part", type=click.Choice(["develop", "report"]), default="develop")
@click.option(
    "--methods",
    default="bamsoo,optuna-tpe,random",
    show_default=True,
    help=f"Any of {', '.join(ALL)}; module:attribute for settings of your own; bamsoo@SOURCE for "
    "stored runs of an older source. The first is compared with each of the others.",
)
@click.option("--budget", "limit", type=click.IntRange(min=2), help="Evaluations per run.")
@click.option("--tasks", help="Names of tasks or functions; all by default.")
@click.option("--fast", is_flag=True, help="Leave out forests and boosting: a third of the time.")
@click.option("--dims", help="mixint: dimensions; 5,10,20 by default.")
@click.option("--seeds", default="0", show_default=True, help="Numbers of the runs per instance.")
@click.option("--runs", "folder", type=click.Path(path_type=Path), default=Path("out/tuning"))
@click.option("--jobs", default=1, show_default=True, help="Processes, of one thread each.")
@click.option("--run-peers", is_flag=True, help="Make missing runs of other optimisers too.")
@click.option("--no-run", is_flag=True, help="Make no runs, only show what is stored.")
@click.option("--quiet", is_flag=True, help="Make the runs and show no scores.")
@click.option("--told", is_flag=True, help="Score noisy runs by what they were told.")
@click.option("--by-task", is_flag=True, help="Show the score of every task.")
def main(
    suite: str,
    part: str,
    methods: str,
    limit: int | None,
    tasks: str | None,
    fast: bool,
    dims: str | None,
    seeds: str,
    folder: Path,
    jobs: int,
    run_peers: bool,
    no_run: bool,
    quiet: bool,
    told: bool,
    by_task: bool,
) -> None:
    """Make the runs that are missing and print scores, wins and losses, and the worst tasks."""
    names = _split(methods)
    chosen = cases(
        suite,
        cast(Part, part),
        _split(tasks) if tasks else None,
        [int(d) for d in _split(dims)] if dims else None,
        [int(s) for s in _split(seeds)],
    )
    if fast and suite == "tuning":
        chosen = [c for c in chosen if find_task(c.problem).family not in SLOW]
    console = Console(width=None if Console().is_terminal else 140)
    if not no_run:
        made = [n for n in names if "@" not in n and (is_ours(n) or run_peers)]
        for name in made:
            for module in find(name).modules:
                require(module)
        todo = [job(n, case, limit or budget(case)) for n in made for case in chosen]
        perform([Batch(todo, jobs)], Ledger(folder), console)
    if not quiet:
        records = [score.as_told(r) if told else r for r in read(folder)]
        show(names, chosen, records, limit, console, by_task)


def show(
    names: Sequence[str],
    chosen: Sequence[Case],
    records: Sequence[Record],
    limit: int | None,
    console: Console,
    by_task: bool,
) -> None:
    """Print the tables."""
    places = {(case.problem, case.instance) for case in chosen}
    suite = chosen[0].suite
    records = [_cut(r, limit) for r in records if r["suite"] == suite and score.place(r) in places]
    runs = {
        name: [r for case in chosen if (r := wanted(name, case, records)) is not None]
        for name in names
    }
    for name, found in runs.items():
        if len(found) < len(chosen):
            console.print(f"{name}: {len(found)} of {len(chosen)} runs are stored")
    runs = {name: found for name, found in runs.items() if found}
    peers = [r for r in records if not is_ours(r["method"])]
    scale = score.scales([*peers, *(r for found in runs.values() for r in found)])
    longest = max(r["budget"] for found in runs.values() for r in found)
    marks = [m for m in MARKS[suite] if m <= longest]
    table = {
        name: {m: score.scores(found, scale, m) for m in marks} for name, found in runs.items()
    }
    first = next(iter(table))
    _means(table, marks, console)
    for other in list(table)[1:]:
        _duels(first, other, table, marks, console)
    if by_task:
        _tasks(table, marks[-1], console)


def _cut(record: Record, limit: int | None) -> Record:
    """A run as it was after so many evaluations."""
    if limit is None or record["budget"] <= limit:
        return record
    marks = [mark for mark in record["marks"] if mark[0] <= limit]
    return {**record, "budget": limit, "marks": marks, "values": record["values"][:limit]}


Scored = dict[str, dict[int, score.Scores]]


def _means(table: Scored, marks: Sequence[int], console: Console) -> None:
    shown = Table("method", "runs", *(f"after {m}" for m in marks), "worst task", title="Score")
    for name, found in table.items():
        cells = []
        for m in marks:
            values = [*score.by_problem(found[m]).values()]
            if not values:
                cells.append("")
                continue
            low, high = score.interval(values)
            cells.append(f"{sum(values) / len(values):.3f} [{low:.2f}, {high:.2f}]")
        last = score.by_problem(next(found[m] for m in reversed(marks) if found[m]))
        worst = min(last, key=lambda problem: last[problem])
        label = name if "@" in name or not is_ours(name) else f"{name}@{source(name)}"
        shown.add_row(label, str(len(found[marks[0]])), *cells, f"{worst} {last[worst]:.2f}")
    console.print(shown)


def _duels(first: str, other: str, table: Scored, marks: Sequence[int], console: Console) -> None:
    for m in marks:
        one, two = table[first][m], table[other][m]
        if not one.keys() & two.keys():
            continue
        d = score.duel(one, two)
        a, b = score.by_problem(one), score.by_problem(two)
        gaps = sorted((a[p] - b[p], p) for p in a.keys() & b.keys())
        losses = ", ".join(f"{p} {gap:+.2f}" for gap, p in gaps[:4] if gap < -score.TIE)
        console.print(
            f"{first} against {other} after {m}: {d.won} won, {d.lost} lost, {d.equal} equal, "
            f"{d.difference:+.3f}; worst: {losses or 'none lost'}",
            highlight=False,
            soft_wrap=True,
        )


def _tasks(table: Scored, mark: int, console: Console) -> None:
    shown = Table("task", *table, title=f"Score by task after {mark}")
    columns = {name: score.by_problem(found[mark]) for name, found in table.items()}
    for problem in sorted({p for column in columns.values() for p in column}):
        shown.add_row(
            problem,
            *(f"{column[problem]:.3f}" if problem in column else "" for column in columns.values()),
        )
    console.print(shown)


if __name__ == "__main__":
    main()
