"""The residuals of a fit: columns of files, and measurements that are subtracted."""

import csv
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import nan
from pathlib import Path
from typing import Any

from ..base.checks import brief, is_finite
from ..errors import EvaluationError, SettingsError
from ..record.residuals import Vector, as_vector
from .evaluation import separated

_MISSING = ("", "na", "n/a", "null", "none", "-", "nan")
"""Cells, in lower case, that are missing data."""


def column_of(path: Path, column: str = "") -> list[float]:
    """A column of a CSV file; without a name, that of a file with a single column."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if row and not row[0].startswith("#")]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SettingsError(f"{path}: cannot be read: {error}") from error
    if not column:
        if any(len(row) != 1 for row in rows):
            raise SettingsError(
                f"{path}: has several columns; name one of them, as in --data {path.name}:COLUMN"
            )
        headed = bool(rows) and not _is_cell(rows[0][0])
        return [as_measurement(row[0], path) for row in rows[headed:]]
    head = [name.strip() for name in rows[0]] if rows else []
    if column not in head:
        raise SettingsError(f"{path}: has no column {column!r}, only {head}")
    place = head.index(column)
    return [as_measurement(row[place] if place < len(row) else "", path) for row in rows[1:]]


def _is_cell(text: str) -> bool:
    with suppress(ValueError):
        float(text)
        return True
    return text.strip().lower() in _MISSING


def as_measurement(text: str, where: object) -> float:
    """The number in a cell of a table; nan for missing data."""
    if text.strip().lower() in _MISSING:
        return nan
    try:
        return float(text)
    except ValueError:
        raise EvaluationError(
            f"{brief(text)} in {brief(str(where).strip())} is not a number"
        ) from None


def read_data(given: str) -> list[float | None]:
    """The measurements that `--data` names, as FILE or FILE:COLUMN; None for missing data."""
    file, _, column = given.rpartition(":")
    if Path(given).exists() or not file:
        file, column = given, ""
    try:
        numbers = column_of(Path(file), column)
    except EvaluationError as error:
        raise SettingsError(str(error)) from None
    if not numbers:
        raise SettingsError(f"{file}: has no measurements")
    return [each if is_finite(each) else None for each in numbers]


def minus(fun: Callable[..., Any], data: Sequence[float | None]) -> Callable[..., Any]:
    """The function, whose numbers are compared with measurements."""

    def compared(*point: Any, **params: Any) -> Any:
        value, beside = separated(fun(*point, **params))
        if value is not None:
            value = without(as_vector(value), data)
        return value if beside is None else (value, beside)

    return compared


def without(numbers: Vector, data: Sequence[float | None]) -> Vector:
    """What remains of numbers without the measurements, of which None is missing data."""
    if len(numbers) != len(data):
        raise EvaluationError(
            f"there are {len(numbers)} numbers, but {len(data)} measurements; expected a number "
            "for each measurement"
        )
    pairs = zip(numbers, data, strict=True)
    return Vector(nan if there is None else number - there for number, there in pairs)
