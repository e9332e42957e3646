"""Trials as rows: to CSV and back, JSON, parquet."""

import csv
import json
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import IO, Any

from ..errors import BamsooError, SettingsError
from ..space import Choice, Int, Space
from ..study import Record

OURS = ("trial", "state", "value", "error", "asked_at", "told_at")


def column(name: str) -> str:
    """The column of a parameter: its name, marked where that is one of ours."""
    return f"param:{name}" if name in OURS else name


def rows(trials: Sequence[Record]) -> list[dict[str, Any]]:
    """Each trial as a flat row."""
    return [
        {
            "trial": t.number,
            "state": t.state,
            **{column(name): value for name, value in t.params.items()},
            "value": t.value,
            "error": t.error,
            "asked_at": t.asked_at,
            "told_at": t.told_at,
        }
        for t in trials
    ]


def header(names: Sequence[str]) -> list[str]:
    """The columns of `rows`."""
    return ["trial", "state", *map(column, names), "value", "error", "asked_at", "told_at"]


def write_csv(trials: Sequence[Record], names: Sequence[str], to: IO[str]) -> None:
    """CSV with a header; floats as the shortest text that reads back the same."""
    writer = csv.DictWriter(to, header(names), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows(trials))


def write_json(trials: Sequence[Record], to: IO[str]) -> None:
    """A list of objects."""
    named = [{("trial" if k == "number" else k): v for k, v in t._asdict().items()} for t in trials]
    to.write(json.dumps(named, indent=1) + "\n")


def write_parquet(trials: Sequence[Record], names: Sequence[str], path: Path) -> None:
    """Parquet, where pyarrow is installed; options of mixed kinds become text."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise SettingsError("parquet needs pyarrow: pip install pyarrow, or use csv") from None
    flat = rows(trials)
    columns = {}
    for name in header(names):
        values = [row[name] for row in flat]
        if len({type(v) for v in values if v is not None}) > 1:
            values = [None if v is None else str(v) for v in values]
        columns[name] = values
    pyarrow.parquet.write_table(pyarrow.table(columns), path)


def read_csv(path: Path, space: Space) -> list[tuple[dict[str, Any], float | None]]:
    """Points and values of a CSV file; a row without a value is a failed evaluation.

    Needs a column a parameter and one called value; others are passed over.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            found = reader.fieldnames or []
            for wanted in [*map(column, space.names), "value"]:
                if wanted not in found:
                    raise SettingsError(f"{path}: has no column {wanted!r}, only {list(found)}")
            return [
                _read_row(f"{path}, line {reader.line_num}", row, space)
                for row in reader
                if row.get("state") != "out"
            ]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SettingsError(f"{path}: cannot be read: {error}") from error


def _read_row(
    where: str, row: dict[str, str | None], space: Space
) -> tuple[dict[str, Any], float | None]:
    try:
        params = {
            name: _read(row[column(name)] or "", parameter)
            for name, parameter in space.parameters.items()
        }
        space.point(params)
        text = (row["value"] or "").strip()
        value = float(text) if text else None
    except BamsooError as error:
        raise SettingsError(f"{where}: {error}") from None
    except ValueError as error:
        raise SettingsError(f"{where}: a number was expected: {error}") from None
    return params, value if value is None or isfinite(value) else None


def _read(text: str, parameter: Any) -> Any:
    text = text.strip()
    if isinstance(parameter, Choice):
        by_text = {"" if option is None else str(option): option for option in parameter.options}
        return by_text.get(text, text)
    number = float(text)
    return int(number) if isinstance(parameter, Int) and number.is_integer() else number
