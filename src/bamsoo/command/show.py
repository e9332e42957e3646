"""The command `bamsoo show`: a study as a table in the terminal."""

import json
import sys
from collections.abc import Sequence
from math import inf
from typing import Any, NamedTuple

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from ..base.checks import count, readable
from ..errors import StudyError
from ..record.ledger import on_the_front
from ..record.trials import extra_names
from ..result.result import Result
from ..run.command import that_exist
from ..search.optimizer import Optimizer
from ..space import Point, Space
from ..study import Record, Study
from ..study.address import parse
from ..study.backends import is_written
from ..study.optuna_study import OptunaStudy, open_to_read
from .options import name_option, replay_option, study_argument, visible
from .plan import as_dict
from .table import as_python


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
@name_option
def show(study: str, rows: int, replay: bool, as_json: bool, name: str | None) -> None:
    """Show the best trials and the failures of STUDY. The study may be running.

    STUDY may also be a study of Optuna, as in bamsoo report.
    """
    with open_to_read(study, name) as stored:
        view = _view(stored, study, replay)
    if view.warning is not None:
        click.echo(f"bamsoo: {view.warning}", err=True)
    if as_json:
        _print_json(view)
        return
    _print_summary(view)
    _print_trials(view, rows)
    _print_failures(view.trials)


class View(NamedTuple):
    """What is shown of a study, read while it is open."""

    address: str
    stored: Study | OptunaStudy
    result: Result
    trials: list[Record]
    believed: list[float | None] | None
    """Under noise, the search's own estimate for each trial."""
    running: bool
    warning: str | None

    @property
    def budget(self) -> Any:
        """The budget as the study has it, which may be anything; None without one."""
        note = self.stored.note
        return note.get("budget") if isinstance(note, dict) else None

    @property
    def in_parts(self) -> bool:
        """Whether evaluations differ in what they cost, so that the budget counts full ones."""
        result = self.result
        return bool(result.nstopped or result.curves or self.stored.space.fidelity)


def _view(stored: Study | OptunaStudy, address: str, replay: bool) -> View:
    search, warning = _replayed(stored, replay)
    result, trials = stored.result if search is None else search.result, stored.trials
    believed = None
    if search is not None and not result.objectives.several:
        means = {e.point: e.value for e in search._believed()}
        believed = [means.get(Point.given(stored.space, t.params)) for t in trials]
    running = isinstance(stored, Study) and is_written(address)
    return View(address, stored, result, trials, believed, running, warning)


def _print_json(view: View) -> None:
    known = as_dict(view.result, parse(view.address).shown)
    del known["rejected"]  # only a replay would know it
    known["message"] = _message(view)
    json.dump(known, sys.stdout, default=as_python)
    click.echo()


def _print_summary(view: View) -> None:
    """Print what the study is, how far it is, and its best point."""
    stored, result = view.stored, view.result
    space, settings = stored.space, stored.settings
    click.echo(
        f"{visible(parse(view.address).shown)}: {_aims(stored, result)}, "
        f"{settings['algorithm']['class']}, seed {settings['seed']}; {_progress(view)}"
    )
    if space.fixed:
        fixed = ", ".join(f"{visible(space.names[i])}={f.value!r}" for i, f in space.fixed.items())
        click.echo(f"fixed: {fixed}")
    for earlier in stored.ledger.imports.values():
        click.echo(f"from {visible(earlier.source)}: {visible(str(earlier))}")
    if result.success:
        at = ", ".join(
            f"{visible(name)}={readable(value)}" for name, value in result.params.items()
        )
        click.echo(f"{_best(result)} at {at}")
    elif result.nfev:
        click.echo(result.nothing)


def _aims(stored: Study | OptunaStudy, result: Result) -> str:
    if result.objectives.several:
        return ", ".join(f"{visible(n)} ({way})" for n, way in result.objectives.ways.items())
    return str(stored.settings["direction"])


def _progress(view: View) -> str:
    """How many evaluations are done, failed, infeasible and pending, in words."""
    result = view.result
    budget = "" if view.budget is None else f" of {visible(str(view.budget)[:40])}"
    done = f"{result.nfev}{budget} evaluations"
    if view.in_parts:
        done = f"{result.cost:.4g}{budget} full evaluations in {count(result.nfev, 'trial')}"
    constrained = any(t.feasible is not None for t in view.trials)
    infeasible = f"{result.ninfeasible} infeasible, " if constrained else ""
    pending = sum(t.state == "out" for t in view.trials)
    return f"{done}, {result.nfailed} failed, {infeasible}{pending} pending"


def _best(result: Result) -> str:
    if not result.objectives.several:
        return f"best {result.shown_fun}"
    values = ", ".join(f"{visible(n)} {readable(v)}" for n, v in result.fun.items())
    return f"{on_the_front(result.front)}; a compromise is {values}"


def _print_trials(view: View, rows: int) -> None:
    """Print the table of the best trials."""
    trials, believed = view.trials, view.believed
    order = _order(trials, believed, view.result)[:rows]
    measured = view.stored.constraints.measured
    columns = _columns([trials[i] for i in order], view.stored.space, view.result, measured)
    if believed is not None:
        cells = ["" if (mean := believed[i]) is None else f"{mean:.8g}" for i in order]
        place = next(i for i, each in enumerate(columns) if each.name == "value")
        columns.insert(place, Column("estimate", cells))
    if order:
        _print_table(Console(highlight=False), columns)
    if len(order) < len(trials):
        click.echo(
            f"{len(order)} of {len(trials)} trials, best first; --rows {len(trials)} shows all"
        )


def _print_failures(trials: list[Record]) -> None:
    """Print the errors of the last trials that failed."""
    for t in [t for t in trials if t.state == "failed"][-5:]:
        error = visible(" ".join((t.error or "").split()))
        click.echo(f"trial {_number(t)} failed: {error or 'the reason is not known'}")


def _replayed(study: Study | OptunaStudy, replay: bool) -> tuple[Optimizer | None, str | None]:
    """Under noise, the replayed search, or a warning that the values are shown as told."""
    if not study.noise or not isinstance(study, Study):
        return None, None
    as_told = "the values are noisy, and the best one is chosen from the values as told"
    if not replay:
        return None, f"{as_told} (--no-replay)"
    try:
        return study.replay(), None
    except StudyError as error:
        return None, f"{as_told}: {error}"


def _message(view: View) -> str:
    """How far the run of a study is, as its file says it."""
    result, budget = view.result, view.budget
    if view.running or result.message != "in progress":
        return result.message
    done, what = (result.cost, "full evaluation") if view.in_parts else (result.nfev, "evaluation")
    if type(budget) is int and done >= budget:
        return f"the budget of {count(budget, what)} is spent"
    of = f" of {budget}" if type(budget) is int else ""
    return f"{done:.6g}{of} {what}s are done, and no run is writing to the study"


class Column(NamedTuple):
    """A column of the table."""

    name: str
    cells: list[str]
    optional: bool = False
    """Whether it is left out if the table is too wide."""

    @property
    def width(self) -> int:
        return max(map(len, [self.name, *self.cells]))


def _order(trials: list[Record], believed: list[float | None] | None, result: Result) -> list[int]:
    """The indices of the trials, best first; with several objectives, the front comes first."""
    if result.objectives.several:
        front = {e.number if e.number is not None else e.point for e in result.front}
        keys = [
            t.number if t.number is not None else Point.given(result.space, t.params)
            for t in trials
        ]
        return sorted(range(len(trials)), key=lambda i: (keys[i] not in front, i))
    turn = result.objectives.sense.turn
    values = [t.value for t in trials] if believed is None else believed

    def place(i: int) -> tuple[bool, float]:
        value = values[i]
        no_result = trials[i].feasible is False or trials[i].state == "cheap"
        return no_result, inf if value is None else -turn(value)

    return sorted(range(len(trials)), key=place)


def _column_of_extra(trials: list[Record], name: str, is_taken: bool) -> Column:
    """Numbers that were recorded; `is_taken` says whether another column has their name."""
    cells = [_short(that_exist(t.extras).get(name)) for t in trials]
    return Column(f"extra:{name}" if is_taken else name, cells, optional=True)


def _columns_of_values(trials: list[Record], names: Sequence[str]) -> list[Column]:
    """The values of each objective, and those after the last step of trials that have no value."""
    columns = []
    for name in names:
        numbers = [(t.values or {}).get(name) for t in trials]
        columns.append(Column(name, ["" if v is None else f"{v:.8g}" for v in numbers]))
    if any(t.state in ("stopped", "out") and t.reported is not None for t in trials):
        steps = ["" if t.steps is None else str(t.steps) for t in trials]
        columns.append(Column("steps", steps, optional=True))
        for name in names:
            last = [_short((t.reported or {}).get(name)) for t in trials]
            columns.append(Column(f"last {name}", last, optional=True))
    return columns


def _columns(
    trials: list[Record], space: Space, result: Result, measured: Sequence[str]
) -> list[Column]:
    """All columns that have anything in them."""
    params = [space.columns(t.params) for t in trials]
    taken = {*space.names, "trial", "value", "estimate", "state", "seconds", *measured}
    columns = [Column("trial", [_number(t) for t in trials])]
    columns += [Column(n, [_short(each.get(n)) for each in params], True) for n in space.names]
    columns += _columns_of_values(trials, result.objectives.names)
    columns += [Column(n, [_short((t.measured or {}).get(n)) for t in trials]) for n in measured]
    columns += [_column_of_extra(trials, name, name in taken) for name in extra_names(trials)]
    took = ["" if t.seconds is None else f"{t.seconds:.3g}" for t in trials]
    columns += [Column("state", [_state(t) for t in trials]), Column("seconds", took, True)]
    return [each for each in columns if any(each.cells) or each.name in result.objectives.names]


def _print_table(console: Console, columns: list[Column]) -> None:
    """Print the table; columns that do not fit into a terminal are named below it instead."""
    left: list[str] = []
    if console.is_terminal:
        while sum(each.width + 3 for each in columns) + 1 > console.width:
            last = next((i for i in range(len(columns) - 1, -1, -1) if columns[i].optional), None)
            if last is None:
                break
            left.insert(0, columns.pop(last).name)
    table = Table()
    for each in columns:
        table.add_column(escape(visible(each.name)), no_wrap=True, min_width=each.width)
    for cells in zip(*(each.cells for each in columns), strict=True):
        table.add_row(*(Text(visible(cell)) for cell in cells))
    wide = sum(each.width + 3 for each in columns) + 1
    console.print(table, width=max(console.width, wide), crop=False, no_wrap=True)
    if left:
        hidden = ", ".join(map(visible, left))
        console.out(f"not shown, because the terminal is too narrow: {hidden}", highlight=False)


def _state(t: Record) -> str:
    state = "infeasible" if t.feasible is False and t.state == "done" else t.state
    state = "pending" if t.state == "out" else state
    return f"{state} (retried)" if t.retried else state


def _short(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _number(t: Record) -> str:
    return "-" if t.number is None else str(t.number)
