"""Trials as rows of a table: written as CSV, JSON or parquet, and read from CSV."""

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..errors import BamsooError, SettingsError, SpaceError
from ..ledger import extra_names
from ..run.optimize import Known
from ..space import Choice, Constraints, Int, Space
from ..study import Record

OURS = ("trial", "state", "value", "variance", "feasible", "error", "asked_at", "told_at")

FORMULA = re.compile(r'(?:^|;)\s*["=+\-@\uff1d\uff0b\uff0d\uff20]')
"""A spreadsheet takes a text that begins with one of these signs, or with their wide forms, for a
formula, and runs it. Some programs end a cell at a semicolon, even inside quotes, so the text after
one counts too. A quote marks a text that is written as a JSON string."""


def column(name: str) -> str:
    """The column of a parameter: its name, with a prefix if it could be mistaken for another."""
    text = cell(name)
    other = text != name or name in OURS or name.startswith(("param:", "constraint:", "extra:"))
    return f"param:{text}" if other else name


def header(
    trials: Sequence[Record], names: Iterable[str], constraints: Constraints | None = None
) -> list[str]:
    """The columns of a table of trials; there is one for variances if any trial has one."""
    value = ["value"] if all(t.variance is None for t in trials) else ["value", "variance"]
    limits = []
    if constraints:
        limits = [*map(limit_column, constraints.measured), "feasible"]
    last = (*map(extra_column, extra_names(trials)), "error", "asked_at", "told_at")
    return ["trial", "state", *map(column, names), *value, *limits, *last]


def limit_column(name: str) -> str:
    """The column of a measured constraint."""
    return f"constraint:{cell(name)}"


def extra_column(name: str) -> str:
    """The column of an extra of the evaluations."""
    return f"extra:{cell(name)}"


def cell(text: str) -> str:
    """A text as a cell of a table.

    It is written unchanged unless that would lose information or be harmful: with spaces at its
    ends, with line breaks or other control characters, or with a first character that makes it a
    formula. Then it is written as a JSON string, with quotes and without semicolons.
    """
    harmless = text.isprintable() and text == text.strip() and text != ""
    return text if harmless and not FORMULA.search(text) else _quoted(text)


def _quoted(text: str) -> str:
    return json.dumps(text).replace(";", "\\u003b")


def option_cells(options: Sequence[Any]) -> list[str]:
    """The cells of a `Choice`'s options, all different: the string "1" is not the number 1."""
    others = [option for option in options if not isinstance(option, str)]
    plain = Counter(_plain(option) for option in others)
    taken = {*plain, *map(repr, others)}
    cells = []
    for option in options:
        if isinstance(option, str):
            cells.append(_quoted(option) if option in taken else cell(option))
        else:
            text = _plain(option)
            cells.append(text if plain[text] == 1 else repr(option))
    return cells


def _plain(option: Any) -> str:
    return "" if option is None else str(option)


class Cells:
    """Conversion between the values of one space and their text in cells.

    Parameters
    ----------
    space : Space
    """

    def __init__(self, space: Space) -> None:
        self._space = space
        self._written: dict[str, dict[tuple[type, Any], str]] = {}
        self._read: dict[str, dict[str, Any]] = {}
        for name, parameter in space.parameters.items():
            if isinstance(parameter, Choice):
                options, cells = parameter.options, option_cells(parameter.options)
                self._written[name] = {
                    (type(option), option): text
                    for option, text in zip(options, cells, strict=True)
                }
                as_they_are = {_plain(option): option for option in reversed(options)}
                self._read[name] = as_they_are | dict(zip(cells, options, strict=True))

    def write(self, name: str, value: Any) -> Any:
        """A parameter's value as a cell; a number stays a number."""
        if name in self._written:
            return self._written[name][type(value), value]
        return value

    def read(self, name: str, text: str) -> Any:
        """The value of a cell; a text that is not an option is returned unchanged."""
        if name in self._read:
            known = self._read[name]
            return known.get(text, known.get(text.strip(), text))  # people may type extra spaces
        try:
            number = float(text)
        except ValueError:
            raise SpaceError(f"{name} must be a number, got {text!r}") from None
        whole = isinstance(self._space.parameters[name], Int) and number.is_integer()
        return int(number) if whole else number

    def point(self, texts: Mapping[str, str | None]) -> dict[str, Any]:
        """The point with these values, given by label or by name.

        A parameter that does not exist with the options of the point has no text, or an empty one.
        """
        point: dict[str, Any] = {}
        used = []
        for slot in self._space.existing(point):
            key = slot.label if slot.label in texts else slot.name
            if key in texts:
                point[slot.name] = self.read(slot.label, texts[key] or "")
                used.append(key)
        rest = {name: text for name, text in texts.items() if name not in used and text}
        by_name = {slot.label: slot.name for slot in self._space.slots}
        for name, text in rest.items():  # invalid ones, about which `Space.point` raises an error
            point.setdefault(by_name.get(name, name), text)
        self._space.point(point)
        return point


def rows(trials: Iterable[Record]) -> list[dict[str, Any]]:
    """Each trial as a flat row of unconverted values."""
    return [
        {
            "trial": t.number,
            "state": t.state,
            **{column(name): value for name, value in t.params.items()},
            "value": t.value,
            **({} if t.variance is None else {"variance": t.variance}),
            **{limit_column(name): number for name, number in (t.measured or {}).items()},
            **({} if t.feasible is None else {"feasible": t.feasible}),
            **{extra_column(name): value for name, value in t.extras.items()},
            "error": t.error,
            "asked_at": t.asked_at,
            "told_at": t.told_at,
        }
        for t in trials
    ]


def write_csv(
    trials: Sequence[Record], space: Space, to: IO[str], constraints: Constraints | None = None
) -> None:
    """Write CSV with a header; floats are written as the shortest text that reads back the same."""
    cells = Cells(space)
    columns = header(trials, space.names, constraints)
    writer = csv.DictWriter(to, columns, lineterminator="\n")
    writer.writeheader()
    for t in trials:
        params = space.columns(t.params)
        written = {name: cells.write(name, value) for name, value in params.items()}
        error = None if t.error is None else cell(t.error)
        extras = {n: cell(v) if isinstance(v, str) else v for n, v in t.extras.items()}
        writer.writerows(rows([t._replace(params=written, error=error, extras=extras)]))


def write_json(trials: Iterable[Record], to: IO[str]) -> None:
    """Write a JSON list of objects."""
    named = [
        {
            ("trial" if k == "number" else "constraints" if k == "measured" else k): v
            for k, v in t._asdict().items()
            if (v is not None or k not in ("measured", "feasible")) and (v or k != "extras")
        }
        for t in trials
    ]
    to.write(json.dumps(named, indent=1, default=as_python) + "\n")


def as_python(value: Any) -> Any:
    """A numpy scalar, which may be an option, as a number or string for JSON."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is not JSON")


def write_parquet(
    trials: Sequence[Record], space: Space, to: IO[bytes], constraints: Constraints | None = None
) -> None:
    """Write parquet, if pyarrow is installed; options of mixed types become text, as in CSV."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise SettingsError("parquet needs pyarrow: pip install pyarrow, or use csv") from None
    cells = Cells(space)
    params = [space.columns(t.params) for t in trials]
    for name, parameter in space.parameters.items():
        if isinstance(parameter, Choice) and len({type(v) for v in parameter.options}) > 1:
            for each in params:
                if name in each:
                    each[name] = cells.write(name, each[name])
    flat = rows(t._replace(params=each) for t, each in zip(trials, params, strict=True))
    names = header(trials, space.names, constraints)
    columns = {name: [row.get(name) for row in flat] for name in names}
    for name in map(extra_column, extra_names(trials)):
        if len({type(each) for each in columns[name] if each is not None}) > 1:
            columns[name] = [None if each is None else str(each) for each in columns[name]]
    try:
        pyarrow.parquet.write_table(pyarrow.table(columns), to)
    except pyarrow.ArrowException as error:
        raise SettingsError(f"the table cannot be written as parquet: {error}") from error


def read_csv(path: Path, space: Space, measured: Sequence[str] = ()) -> list[Known]:
    """Read points and values from a CSV file; a row without a value is a failed evaluation.

    It needs one column per parameter, one called value, and one called ``constraint:NAME`` for each
    of `measured`. Other columns are ignored.
    """
    cells = Cells(space)
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            found = reader.fieldnames or []
            for slot in space.slots:
                if column(slot.label) not in found and column(slot.name) not in found:
                    raise SettingsError(
                        f"{path}: has no column {column(slot.label)!r}, only {list(found)}"
                    )
            for wanted in ("value", *map(limit_column, measured)):
                if wanted not in found:
                    raise SettingsError(f"{path}: has no column {wanted!r}, only {list(found)}")
            return [
                _read_row(f"{path}, line {reader.line_num}", row, space, cells, measured)
                for row in reader
                if row.get("state") != "out"
            ]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SettingsError(f"{path}: cannot be read: {error}") from error


def _read_row(
    where: str,
    row: dict[str, str | None],
    space: Space,
    cells: Cells,
    measured: Sequence[str],
) -> Known:
    try:
        names = {name for slot in space.slots for name in (slot.label, slot.name)}
        params = cells.point({name: row[column(name)] for name in names if column(name) in row})
        text = (row["value"] or "").strip()
        value = float(text) if text else None
        limits = {name: float(row[limit_column(name)] or "nan") for name in measured}
    except BamsooError as error:
        raise SettingsError(f"{where}: {error}") from None
    except ValueError as error:
        raise SettingsError(f"{where}: expected a number: {error}") from None
    finite = value is not None and isfinite(value)
    return params, value if finite else None, (limits or None) if finite else None
