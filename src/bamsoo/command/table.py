"""Trials as rows of a table: written as CSV, JSON or parquet."""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import IO, Any, TypeAlias

import numpy as np

from ..errors import SettingsError
from ..record.objectives import ORDINARY, Objectives
from ..record.trials import extra_names
from ..run.cells import (
    Cells,
    cell,
    column,
    extra_column,
    last_column,
    limit_column,
    objective_cell,
)
from ..space import Constraints, Space
from ..study import Record

Aims: TypeAlias = Mapping[str, str] | None
"""The column of each of several objectives, by name; None if there is only one."""


def header(
    trials: Sequence[Record],
    names: Iterable[str],
    constraints: Constraints | None = None,
    aims: Aims = None,
) -> list[str]:
    """The columns of a table of trials; some are there only if any trial has something in them."""
    if aims is not None:
        value = list(aims.values())
    else:
        value = ["value"] if all(t.variance is None for t in trials) else ["value", "variance"]
    limits = []
    if constraints:
        limits = [*map(limit_column, constraints.measured), "feasible"]
    steps = dict.fromkeys(name for t in trials for name in _last(t))
    last = (*map(extra_column, extra_names(trials)), "origin", "error", "asked_at", "told_at")
    return ["trial", "state", *map(column, names), *value, *steps, *limits, *last]


def _last(t: Record) -> dict[str, Any]:
    """The last step of a trial that reports its steps, and the value after it."""
    if t.reported is None:
        return {}
    return {last_column("step"): t.steps} | {last_column(n): v for n, v in t.reported.items()}


def columns_of(objectives: Objectives, space: Space) -> Aims:
    """The column of each of several objectives, by name; None if there is only one."""
    if not objectives.several:
        return None
    return {name: objective_cell(name, space) for name in objectives.names}


def rows(trials: Iterable[Record], aims: Aims = None) -> list[dict[str, Any]]:
    """Each trial as a flat row of unconverted values."""
    return [
        {
            "trial": t.number,
            "state": t.state,
            **{column(name): value for name, value in t.params.items()},
            **({"value": t.value} if aims is None else {}),
            **{aim: (t.values or {}).get(name) for name, aim in (aims or {}).items()},
            **({} if t.variance is None else {"variance": t.variance}),
            **_last(t),
            **{limit_column(name): number for name, number in (t.measured or {}).items()},
            **({} if t.feasible is None else {"feasible": t.feasible}),
            **{extra_column(name): value for name, value in t.extras.items()},
            "origin": t.origin,
            "error": t.error,
            "asked_at": t.asked_at,
            "told_at": t.told_at,
        }
        for t in trials
    ]


def write_csv(
    trials: Sequence[Record],
    space: Space,
    to: IO[str],
    constraints: Constraints | None = None,
    objectives: Objectives = ORDINARY,
) -> None:
    """Write CSV with a header; floats are written as the shortest text that reads back the same."""
    cells, aims = Cells(space), columns_of(objectives, space)
    columns = header(trials, space.names, constraints, aims)
    writer = csv.DictWriter(to, columns, lineterminator="\n")
    writer.writeheader()
    for t in trials:
        params = space.columns(t.params)
        written = {name: cells.write(name, value) for name, value in params.items()}
        error = None if t.error is None else cell(t.error)
        extras = {n: cell(v) if isinstance(v, str) else v for n, v in t.extras.items()}
        writer.writerows(rows([t._replace(params=written, error=error, extras=extras)], aims))


def write_json(trials: Iterable[Record], to: IO[str]) -> None:
    """Write a JSON list of objects; JSON has no nan and no inf, which become null."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: plain(each) for name, each in value.items()}
        if isinstance(value, (list, tuple)):
            return [plain(each) for each in value]
        return None if isinstance(value, float) and not isfinite(value) else value

    named = [
        {
            ("trial" if k == "number" else "constraints" if k == "measured" else k): plain(v)
            for k, v in t._asdict().items()
            if (v is not None or k not in ("measured", "feasible", "took", "reported"))
            and (v or k not in ("extras", "curve"))
        }
        for t in trials
    ]
    to.write(json.dumps(named, indent=1, default=as_python) + "\n")


def as_python(value: Any) -> Any:
    """A numpy scalar, which may be an option, as a number or string for JSON."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is not JSON")


def _of_one_type(cells: list[Any]) -> list[Any]:
    """Cells as text if their types differ."""
    if len({type(each) for each in cells if each is not None}) < 2:
        return cells
    return [None if each is None else str(each) for each in cells]


def write_parquet(
    trials: Sequence[Record],
    space: Space,
    to: IO[bytes],
    constraints: Constraints | None = None,
    objectives: Objectives = ORDINARY,
) -> None:
    """Write parquet, if pyarrow is installed; options of mixed types become text, as in CSV."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise SettingsError("parquet needs pyarrow: pip install pyarrow, or use csv") from None
    cells = Cells(space)
    mixed = {
        name
        for name, parameter in space.parameters.items()
        if len({type(option) for option in parameter.options or ()}) > 1
    }
    params = [
        {name: cells.write(name, v) if name in mixed else v for name, v in of_trial.items()}
        for of_trial in (space.columns(t.params) for t in trials)
    ]
    aims = columns_of(objectives, space)
    flat = rows((t._replace(params=each) for t, each in zip(trials, params, strict=True)), aims)
    names = header(trials, space.names, constraints, aims)
    columns = {name: [row.get(name) for row in flat] for name in names}
    for name in map(extra_column, extra_names(trials)):
        columns[name] = _of_one_type(columns[name])
    try:
        pyarrow.parquet.write_table(pyarrow.table(columns), to)
    except pyarrow.ArrowException as error:
        raise SettingsError(f"the table cannot be written as parquet: {error}") from error
