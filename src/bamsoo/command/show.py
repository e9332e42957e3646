"""The command `bamsoo show`: a study as a table in the terminal."""

import json
import sys
from math import inf

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from ..study import Record, Study
from .plan import as_dict


@click.command("show")
@click.argument("study", type=click.Path(dir_okay=False))
@click.option(
    "--rows", type=click.IntRange(min=0), default=20, show_default=True, help="The best so many."
)
@click.option("--json", "as_json", is_flag=True, help="The best as JSON, and no table.")
def show(study: str, rows: int, as_json: bool) -> None:
    """Show the best trials of STUDY, and its failures; also while a run is writing it."""
    with Study.open(study, readonly=True) as stored:
        result, trials, settings = stored.result, stored.trials, stored.settings
        note, names = stored.note, stored.space.names
    if as_json:
        known = as_dict(result, study)
        del known["rejected"]  # only a replay would tell
        json.dump(known, sys.stdout)
        click.echo()
        return
    console = Console(highlight=False)
    out = [t for t in trials if t.state == "out"]
    budget = f" of {note['budget']}" if isinstance(note, dict) and "budget" in note else ""
    console.print(
        f"{study}: {settings['direction']}, {settings['algorithm']['class']}, "
        f"seed {settings['seed']}; {result.nfev}{budget} evaluations, "
        f"{result.nfailed} failed, {len(out)} out",
        markup=False,
        soft_wrap=True,
    )
    if result.success:
        at = ", ".join(f"{name}={value!r}" for name, value in result.params.items())
        console.print(f"best {result.fun!r} at {at}", markup=False, soft_wrap=True)
    table = Table("trial", *map(escape, names), "value", "state", "seconds")
    sign = 1.0 if settings["direction"] == "minimize" else -1.0
    best = sorted(trials, key=lambda t: inf if t.value is None else sign * t.value)
    for t in best[:rows]:
        table.add_row(*(Text(cell) for cell in _cells(t)))
    if best[:rows]:
        console.print(table)
    failures = [t for t in trials if t.state == "failed"]
    for t in failures[-5:]:
        error = " ".join((t.error or "").split())
        console.print(f"trial {_number(t)} failed: {error}", markup=False, soft_wrap=True)


def _cells(t: Record) -> list[str]:
    took = "" if t.asked_at is None or t.told_at is None else f"{t.told_at - t.asked_at:.3g}"
    values = [f"{v:.6g}" if isinstance(v, float) else str(v) for v in t.params.values()]
    return [_number(t), *values, "" if t.value is None else f"{t.value:.8g}", t.state, took]


def _number(t: Record) -> str:
    return "-" if t.number is None else str(t.number)
