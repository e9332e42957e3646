"""The command `bamsoo show`: a study as a table in the terminal."""

import json
import sys
from collections.abc import Sequence
from math import inf

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from ..errors import StudyError
from ..ledger import extra_names
from ..optimizer import Optimizer
from ..space import Space
from ..study import Record, Study
from ..study.backends import shown as without_password
from .options import replay_option, study_argument
from .plan import as_dict
from .table import as_python
from .text import visible


@click.command("show")
@study_argument
@click.option(
    "--rows",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="The number of trials to show, best first.",
)
@replay_option(
    "If values are noisy, replay the search for its own estimates (the default), or use the "
    "values as told."
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print the best trial as JSON instead of a table."
)
def show(study: str, rows: int, replay: bool, as_json: bool) -> None:
    """Show the best trials and the failures of STUDY. The study may be running."""
    with Study.open(study, readonly=True) as stored:
        result, trials, settings = stored.result, stored.trials, stored.settings
        note, space = stored.note, stored.space
        search, warning = _replayed(stored, replay)
        believed = None
        if search is not None:
            result = search.result
            means = {e.x.tobytes(): e.value for e in search._believed()}
            believed = [means.get(stored.space.point(t.params).tobytes()) for t in trials]
    if warning is not None:
        click.echo(f"bamsoo: {warning}", err=True)
    if as_json:
        known = as_dict(result, without_password(study))
        del known["rejected"]  # only a replay would know it
        json.dump(known, sys.stdout, default=as_python)
        click.echo()
        return
    console = Console(highlight=False)
    out = [t for t in trials if t.state == "out"]
    constrained = any(t.feasible is not None for t in trials)
    infeasible = f"{result.ninfeasible} infeasible, " if constrained else ""
    budget = ""
    if isinstance(note, dict) and "budget" in note:
        budget = f" of {visible(str(note['budget'])[:40])}"
    console.print(
        f"{visible(without_password(study))}: {settings['direction']}, "
        f"{settings['algorithm']['class']}, seed {settings['seed']}; "
        f"{result.nfev}{budget} evaluations, {result.nfailed} failed, "
        f"{infeasible}{len(out)} pending",
        markup=False,
        soft_wrap=True,
    )
    if constrained and not result.success:
        console.print(result.nothing, markup=False, soft_wrap=True)
    if result.success:
        at = ", ".join(f"{visible(name)}={value!r}" for name, value in result.params.items())
        console.print(f"best {result.fun!r} at {at}", markup=False, soft_wrap=True)
    columns = ["value"] if believed is None else ["estimate", "value"]
    heads = (escape(visible(name)) for name in space.names)
    extras = extra_names(trials)
    taken = {*space.names, "trial", *columns, "state", "seconds"}
    more = (escape(visible(f"extra:{name}" if name in taken else name)) for name in extras)
    table = Table("trial", *heads, *columns, *more, "state", "seconds")
    sign = 1.0 if settings["direction"] == "minimize" else -1.0
    compared = [t.value for t in trials] if believed is None else believed
    order = sorted(
        range(len(trials)),
        key=lambda i: (trials[i].feasible is False, _place(compared[i], sign)),
    )
    for i in order[:rows]:
        shown = [trials[i].value] if believed is None else [believed[i], trials[i].value]
        table.add_row(*(Text(visible(cell)) for cell in _cells(trials[i], shown, space, extras)))
    if order[:rows]:
        console.print(table)
    failures = [t for t in trials if t.state == "failed"]
    for t in failures[-5:]:
        error = visible(" ".join((t.error or "").split()))
        console.print(f"trial {_number(t)} failed: {error}", markup=False, soft_wrap=True)


def _replayed(study: Study, replay: bool) -> tuple[Optimizer | None, str | None]:
    """Under noise, the replayed search, or a warning that the values are shown as told."""
    if not study.noise:
        return None, None
    as_told = "the values are noisy, and the best one is chosen from the values as told"
    if not replay:
        return None, f"{as_told} (--no-replay)"
    try:
        return study.replay(), None
    except StudyError as error:
        return None, f"{as_told}: {error}"


def _place(value: float | None, sign: float) -> float:
    return inf if value is None else sign * value


def _cells(t: Record, shown: list[float | None], space: Space, extras: Sequence[str]) -> list[str]:
    took = "" if t.asked_at is None or t.told_at is None else f"{t.told_at - t.asked_at:.3g}"
    existing = space.columns(t.params)
    texts = {k: _short(v) for k, v in existing.items()}
    params = [texts.get(name, "") for name in space.names]
    values = ["" if value is None else f"{value:.8g}" for value in shown]
    state = "infeasible" if t.feasible is False and t.state == "done" else t.state
    state = "pending" if state == "out" else state
    more = ["" if (each := t.extras.get(name)) is None else _short(each) for name in extras]
    return [_number(t), *params, *values, *more, state, took]


def _short(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _number(t: Record) -> str:
    return "-" if t.number is None else str(t.number)
