"""Evaluations from earlier work: pairs, a data frame, a CSV file or another study.

A point of a table or a study may not fit the space of this run, which may have other ranges. It is
then left out and counted. A pair was written for this run, so one that does not fit is an error.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple

from ..checks import brief
from ..errors import BamsooError, SettingsError
from ..ledger import Record
from ..objectives import ORDINARY, Objectives
from ..space import Constraints, Fidelity, Space
from .cells import Cells, column, limit_column, objective_column
from .evaluation import apart

FORM = (
    "known must be a list of (point, value) pairs, a data frame, a CSV file, or a study or its path"
)

UNFINISHED = {"out", "stopped", "RUNNING", "WAITING", "PRUNED"}
"""States of rows that hold no final value: of bamsoo's own tables, and of Optuna's."""

CHEAP = "it was evaluated cheaply, at a low value of a fidelity that this space does not have"


class EarlierValue(NamedTuple):
    """An earlier evaluation."""

    point: Any
    value: Any
    """None if it failed; with several objectives, a sequence with one number for each."""
    beside: Mapping[str, Any] | None = None
    """Measured constraints and extras, by name."""
    variance: float | None = None
    error: str | None = None


class Earlier(NamedTuple):
    """Earlier evaluations, and those that do not fit the space."""

    known: list[EarlierValue]
    left_out: int = 0
    why: str = ""
    """Why the first of them does not fit."""

    @property
    def note(self) -> str:
        """For a message: how many were left out; empty if none were."""
        if not self.left_out:
            return ""
        total = len(self.known) + self.left_out
        return (
            f"{self.left_out} of {total} known evaluations do not fit the space and were left out "
            f"({self.why})"
        )


def as_known(constraints: Constraints, known: Any, objectives: Objectives = ORDINARY) -> Earlier:
    """Check the argument `known` of a run with these constraints, and read what it names."""
    from ..study import Study

    if known is None:
        return Earlier([])
    if isinstance(known, Study):
        return from_study(constraints, known, objectives)
    if isinstance(known, (str, PathLike)):
        return _from_path(constraints, fspath(known), objectives)
    if hasattr(known, "columns") and hasattr(known, "itertuples"):
        names = list(known.columns)
        return from_rows(constraints, "known", names, _frame_rows(known), "value", objectives)
    if isinstance(known, Mapping) or not hasattr(known, "__iter__"):
        raise SettingsError(f"{FORM}, got {brief(known)}")
    return Earlier(list(_from_pairs(constraints.space, known, objectives)))


def _from_pairs(
    space: Space, known: Iterable[Any], objectives: Objectives
) -> Iterator[EarlierValue]:
    for pair in known:
        try:
            point, value = pair
        except (TypeError, ValueError):
            raise SettingsError(f"{FORM}, but one item of the list is {brief(pair)}") from None
        said, beside = apart(value)
        yield EarlierValue(space.point(point), _plain(objectives.values(said)), beside)


def _plain(values: Sequence[float]) -> Any:
    """The value of a search with one objective, or those of all; None if there are none."""
    return values[0] if len(values) == 1 else tuple(values) or None


def _from_path(constraints: Constraints, path: str, objectives: Objectives) -> Earlier:
    from ..study import Study

    if not ("://" in path or Path(path).is_file()):
        raise SettingsError(f"{FORM}, but there is no file {brief(path)}")
    if Path(path).suffix.lower() in (".csv", ".txt"):
        return read_csv(Path(path), constraints, objectives=objectives)
    with Study.open(path, readonly=True) as study:
        return from_study(constraints, study, objectives)


def from_study(constraints: Constraints, study: Any, objectives: Objectives) -> Earlier:
    """The evaluations of another study, in the space of this run."""
    there = {slot.name for slot in study.space.slots}
    names, limits = {slot.name for slot in constraints.space.slots}, constraints.measured
    optional = {
        slot.name for slot in constraints.space.slots if isinstance(slot.parameter, Fidelity)
    }
    if missing := sorted(names - there - optional):
        raise SettingsError(
            f"{study.path}: has no parameter {missing[0]!r}, only {', '.join(sorted(there))}"
        )
    theirs = study.objectives.names
    if objectives.several and (missing := [n for n in objectives.names if n not in theirs]):
        raise SettingsError(
            f"{study.path}: has no objective {missing[0]!r}, only {', '.join(theirs)}"
        )
    wanted = objectives.names if objectives.several else theirs[:1]
    if len(theirs) > 1 and not objectives.several:
        if objectives.names[0] not in theirs:
            raise SettingsError(
                f"{study.path}: has the objectives {', '.join(theirs)}; name one of them in "
                "objectives="
            )
        wanted = objectives.names
    fidelity = study.space.names[-1] if study.space.fidelity is not None else None

    def known(record: Record) -> EarlierValue:
        if record.state == "cheap" and fidelity not in names:
            raise SettingsError(CHEAP)
        return EarlierValue(
            {name: value for name, value in record.params.items() if name in names},
            _plain([record.values[n] for n in wanted] if record.values else []),
            _beside(record, limits),
            record.variance,
            record.error,
        )

    kept = (record for record in study.trials if record.state not in UNFINISHED)
    return _fitting(constraints, ((study.path, lambda each=each: known(each)) for each in kept))


def _beside(record: Record, limits: Sequence[str]) -> dict[str, Any]:
    """The measurements of these constraints, and the extras."""
    measured = record.measured or {}
    return {n: measured[n] for n in limits if n in measured} | {
        n: each for n, each in record.extras.items() if n not in limits
    }


def read_csv(
    path: Path,
    constraints: Constraints,
    value: str | None = None,
    objectives: Objectives = ORDINARY,
) -> Earlier:
    """Read points and values from a CSV file; a row without a value is a failed evaluation.

    It needs one column per parameter, one for the value, which is called `value` or ``value``, and
    one called ``constraint:NAME`` for each measured constraint. With several objectives, each has a
    column of its own name instead of ``value``. Other columns are ignored.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            found = list(reader.fieldnames or [])
            numbered = ((f"line {reader.line_num}", row) for row in reader)
            named = value if value is not None and (value in found or "value" not in found) else ""
            named = named or "value"
            return from_rows(constraints, str(path), found, numbered, named, objectives)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SettingsError(f"{path}: cannot be read: {error}") from error


def _frame_rows(frame: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of a data frame; what is missing in it is empty, as in a CSV file."""
    absent, names = frame.isna().to_numpy().tolist(), [str(name) for name in frame.columns]
    for number, row in enumerate(frame.itertuples(index=False, name=None)):
        cells = zip(names, row, absent[number], strict=True)
        yield f"row {number}", {name: None if gap else cell for name, cell, gap in cells}


def from_rows(
    constraints: Constraints,
    source: str,
    found: Sequence[Any],
    rows: Iterable[tuple[str, Mapping[str, Any]]],
    value: str = "value",
    objectives: Objectives = ORDINARY,
) -> Earlier:
    """The evaluations in the rows of a table, each with a name for error messages."""
    space, cells = constraints.space, Cells(constraints.space)
    columns = {}
    for slot in space.slots:
        of_label = _column(slot.label, found) or _column(slot.name, found)
        if of_label is None and isinstance(slot.parameter, Fidelity):
            continue  # then all rows are at the top
        if of_label is None:
            raise SettingsError(
                f"{source}: has no column {column(slot.label)!r}, only {list(found)}"
            )
        columns[slot.label if _column(slot.label, found) else slot.name] = of_label
    aims = [value]
    if objectives.several:
        aims = [objective_column(name, space) for name in objectives.names]
    used = (*aims, *map(limit_column, constraints.measured), *columns.values())
    for wanted in used:
        if wanted not in found:
            raise SettingsError(f"{source}: has no column {wanted!r}, only {list(found)}")
        if list(found).count(wanted) > 1:
            raise SettingsError(f"{source}: has several columns {wanted!r}; leave one of them")

    fidelities = {slot.name for slot in space.slots if isinstance(slot.parameter, Fidelity)}
    state = "" if "state" in columns.values() else "state"  # the column of a parameter is not ours

    def known(row: Mapping[str, Any]) -> EarlierValue:
        if row.get(state) == "cheap" and not fidelities & columns.keys():
            raise SettingsError(CHEAP)
        point = cells.point({name: row[there] for name, there in columns.items()})
        numbers = [number for name in aims if (number := _number(row[name])) is not None]
        if len(numbers) < len(aims) or not all(map(isfinite, numbers)):
            error = row.get("error")
            return EarlierValue(point, None, error=error if isinstance(error, str) else None)
        limits = {name: _number(row[limit_column(name)]) for name in constraints.measured}
        variance = _number(row.get("variance"))
        return EarlierValue(point, _plain(numbers), limits or None, variance)

    kept = ((where, row) for where, row in rows if row.get(state) not in UNFINISHED)
    return _fitting(
        constraints, ((f"{source}, {where}", lambda row=row: known(row)) for where, row in kept)
    )


def _column(name: str, found: Sequence[Any]) -> str | None:
    """The column of a parameter, in bamsoo's own tables or in those of Optuna."""
    return next((each for each in (column(name), name, f"params_{name}") if each in found), None)


def _number(cell: Any) -> float | None:
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return None
    try:
        return float(cell)
    except (TypeError, ValueError):
        raise SettingsError(f"expected a number, got {brief(cell)}") from None


def _fitting(constraints: Constraints, each: Iterable[tuple[str, Any]]) -> Earlier:
    """Those of the evaluations whose points and measurements fit, and a count of the others."""
    kept, left_out, why = [], 0, ""
    for where, make in each:
        try:
            known: EarlierValue = make()
            constraints.space.point(known.point)
            if known.value is not None:
                constraints.numbers(constraints.apart(known.beside).measured)
            kept.append(known)
        except BamsooError as error:
            left_out, why = left_out + 1, why or f"{where}: {error}"
    return Earlier(kept, left_out, why)
