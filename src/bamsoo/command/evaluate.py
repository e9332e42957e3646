"""The command `bamsoo evaluate`: evaluate given points, without a search."""

import csv
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import zip_longest
from math import isfinite
from pathlib import Path
from typing import Any

import click

from ..base.defaults import DIRECTION
from ..errors import SettingsError, SpaceError
from ..run.cells import Cells, is_empty
from ..run.command import UnusedError
from ..space import Choice, Int, Point, Real, Space
from ..study import Study
from ..study.backends import exists
from . import parameters, target
from .minimize import WithCommand
from .options import json_option
from .plan import execute
from .settings import Plan, all_options, chosen

OTHERS = ("budget", "x0", "given", "fill", "stalled", "gap", "goal")
"""Settings of a search that a list of points has no use for."""


@click.command("evaluate", cls=WithCommand)
@click.argument("target_", metavar="[TARGET]", required=False)
@click.option(
    "--points",
    required=True,
    type=click.Path(exists=True, dir_okay=False),
    help="A CSV file with one row per point and one column per parameter.",
)
@partial(all_options, leave_out=OTHERS)
@json_option
@click.pass_context
def evaluate(
    ctx: click.Context, /, target_: str | None, points: str, as_json: bool, **options: Any
) -> None:
    """Evaluate the points of a table, such as a parameter study or a list of designs.

    TARGET, the command after -- and the options are those of bamsoo minimize. Without --param, the
    range of a parameter is that of its column. Points that the study has already are not evaluated
    again, so the same command continues after an interrupt; bamsoo minimize --study continues with
    a search. --ignore NAME leaves a column out that is not a parameter, such as a comment.

    \b
    bamsoo evaluate --points designs.csv --study run.db --workers 4 --objective cost \\
        -- ./simulate {x} {y}
    """  # noqa: D301 (click reads the \\b)
    settings = chosen(options, {})
    given: Any = parameters.parse_space(options["space"])
    fixed = parameters.with_fixed({}, settings["fix"] or ())
    rows = _read(points, settings.pop("ignore"))
    study, known = settings["study"], 0
    if study is not None and exists(study):
        with Study.open(study, readonly=True) as opened:
            if fixed and not given and opened.space.named:
                given = dict(opened.space.given)
            space = Space({**given, **fixed}) if given else opened.space
            way = (
                "" if given else f"; bamsoo fork {study} NEW --param makes a study of other ranges"
            )
            table = _points(points, rows, space, way)
            known = len(opened.ledger.trials)
            new = [p for p in table if opened.ledger.is_new(Point.given(space, p))]
    else:
        given = _ranges(points, rows, {**given, **fixed})
        new = _points(points, rows, Space(given))
    settings |= {
        "target": target.parse_target(target_, ctx.meta["command"]),
        "directory": str(Path.cwd()),
        "space": given or None,
        "direction": "maximize" if settings["direction"] else DIRECTION,
        "replay": not options["replay"],
        "x0": tuple(new),
        "budget": known + len(new),
    }
    try:
        code = execute(Plan(**settings), as_json)
    except UnusedError as error:
        way = f"if the column is not a parameter, give --ignore {error.name}"
        raise SettingsError(f"{error}; {way}") from None
    ctx.exit(code)


def _cells(path: str) -> tuple[list[str], list[dict[str, str]]]:
    """The names of the columns of a table, and its rows as texts, without comments."""
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            lines = [line for line in file if not line.startswith("#")]
        separator = next((each for each in ",;\t" if each in "".join(lines[:1])), ",")
        head, *cells = [*csv.reader(lines, delimiter=separator, skipinitialspace=True)] or [[]]
        names = [name.strip() for name in head]
        rows = [
            dict(zip_longest(names, map(str.strip, row)))
            for row in cells
            if any(map(str.strip, row))
        ]
        return names, rows
    except (OSError, ValueError, csv.Error) as error:
        raise SettingsError(f"{path}: cannot be read as a table: {error}") from error


def _read(path: str, ignore: Sequence[str]) -> list[dict[str, str]]:
    """The rows of a table, as texts, without some of the columns."""
    names, rows = _cells(path)
    if not rows:
        raise SettingsError(f"{path}: has no points; expected a line with the names of the columns")
    ragged = next((i for i, row in enumerate(rows, 1) if None in row or None in row.values()), None)
    if ragged is not None:
        raise SettingsError(f"{path}: row {ragged} does not have one cell per column")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise SettingsError(f"{path}: two columns are called {twice}; rename one of them")
    for name in ignore:
        if name not in rows[0]:
            raise SettingsError(f"{path}: has no column {name!r} to ignore, only {list(rows[0])}")
    return [{name: cell for name, cell in row.items() if name not in ignore} for row in rows]


def _points(
    path: str, rows: Sequence[Mapping[str, str]], space: Space, otherwise: str = ""
) -> list[dict[str, Any]]:
    """The points of a table, each once; `otherwise` is the way out for one that does not fit."""
    cells, found = Cells(space), dict[Point, dict[str, Any]]()
    fixed = {space.names[i] for i in space.fixed}
    for i, row in enumerate(rows, 1):
        try:
            point, lacking = cells.point(row)
        except SpaceError as error:
            raise SettingsError(f"{path}: row {i}: {error}{otherwise}") from None
        if lacking := [name for name in lacking if name not in fixed]:
            raise SettingsError(f"{path}: row {i} has no value of {lacking[0]}")
        found[Point.given(space, point)] = point
    return list(found.values())


def _ranges(
    path: str, rows: Sequence[Mapping[str, str]], given: Mapping[str, Any]
) -> dict[str, Any]:
    """A parameter for each column: the given one, or the range of its values."""
    found = {
        name: given[name] if name in given else _range(path, name, [row[name] for row in rows])
        for name in rows[0]
    }
    return {**found, **given}


def _range(path: str, name: str, cells: Sequence[str]) -> Real | Int | Choice:
    if any(map(is_empty, cells)):
        raise SettingsError(f"{path}: a cell of {name} is empty; give --param {name}:LOW:HIGH")
    options = list(dict.fromkeys(parameters.as_option(cell.strip()) for cell in cells))
    if any(isinstance(option, str) for option in options):
        try:
            numbers = [float(cell) for cell in cells]
        except ValueError:
            return Choice(options)
    else:
        numbers = [float(option) for option in options]
    if not all(map(isfinite, numbers)):
        cell = next(cell for cell in cells if not isfinite(float(cell)))
        raise SettingsError(f"{path}: a cell of {name} is {cell}, which is no value")
    low, high = min(numbers), max(numbers)
    if low == high:
        raise SettingsError(
            f"{path}: all rows have {name}={cells[0]}; give its range, as --param {name}:LOW:HIGH, "
            f"or --fix {name}={cells[0]} if it stays like this"
        )
    if all(isinstance(option, int) for option in options):
        return Int(int(low), int(high))
    return Real(low, high)
