"""The residuals of a fit: what a command prints or writes, minus measurements from a file."""

import csv
import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from ..base.checks import brief, is_finite
from ..errors import EvaluationError, SettingsError
from ..record.residuals import Vector, as_vector
from .evaluation import separated

_MISSING = ("", "na", "n/a", "null", "none", "-", "nan")
"""Cells, in lower case, that are missing data."""


def residuals_of(text: str, name: str, cwd: str | None) -> Vector:
    """The numbers that a command printed after `NAME:`, as a JSON field, or wrote into a file.

    For a file, the name is ``FILE:COLUMN``; the file is relative to the directory `cwd`.
    """
    file, colon, column = name.rpartition(":")
    if colon:
        try:
            return Vector(column_of(Path(cwd or ".") / file, column))
        except SettingsError as error:
            raise EvaluationError(str(error)) from None
    for line in reversed(text.splitlines()):
        if line.strip().startswith("{"):
            with suppress(ValueError, RecursionError):
                fields = json.loads(line)
                if isinstance(fields, dict) and isinstance(fields.get(name), list):
                    return as_vector([nan if each is None else each for each in fields[name]])
        label = re.match(rf"\s*{re.escape(name)}\s*[:=]\s*(.*)$", line)
        if label:
            return Vector(_cell(word, line) for word in re.split(r"[\s,;]+", label[1]) if word)
    labels = dict.fromkeys(re.findall(r"^\s*([A-Za-z_]\w*)\s*[:=]", text, re.MULTILINE))
    raise EvaluationError(
        f"the residuals {name} were not printed; expected a line such as `{name}: 0.1 -0.2`, but "
        f"the lines are labelled {', '.join(labels) if labels else 'with no name'}"
    )


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
        return [_cell(row[0], path) for row in rows[headed:]]
    head = [name.strip() for name in rows[0]] if rows else []
    if column not in head:
        raise SettingsError(f"{path}: has no column {column!r}, only {head}")
    place = head.index(column)
    return [_cell(row[place] if place < len(row) else "", path) for row in rows[1:]]


def _is_cell(text: str) -> bool:
    with suppress(ValueError):
        float(text)
        return True
    return text.strip().lower() in _MISSING


def _cell(text: str, where: object) -> float:
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
    measured = np.array([nan if each is None else each for each in data])

    def compared(*point: Any, **params: Any) -> Any:
        value, beside = separated(fun(*point, **params))
        if value is None:
            return value if beside is None else (value, beside)
        numbers = np.array(as_vector(value))
        if len(numbers) != len(measured):
            raise EvaluationError(
                f"there are {len(numbers)} numbers, but --data has {len(measured)}; print one for "
                "each measurement"
            )
        residuals = Vector((numbers - measured).tolist())
        return residuals if beside is None else (residuals, beside)

    return compared
