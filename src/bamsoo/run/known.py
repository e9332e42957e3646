"""Evaluations from earlier work: pairs, a data frame, a CSV file or another study.

A point of a table or a study may not fit the space of this run, which may have other ranges. It is
then left out and counted. A pair was written for this run, so one that does not fit is an error.
"""

import csv
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import isfinite, isnan
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from ..base.checks import brief, is_finite
from ..errors import SettingsError, SpaceError
from ..record.headings import OURS
from ..record.objectives import ORDINARY, Objectives
from ..record.residuals import Vector
from ..record.trials import Record
from ..space import Constraints, Space
from ..space.constraints import as_simple
from .cells import Cells, column, extra_column, is_empty, limit_column, objective_cell
from .earlier import Earlier, EarlierValue, ReadRow, Terms, UnfinishedError, fitting
from .evaluation import separated

FORM = (
    "known must be a list of (point, value) pairs, a data frame, a CSV file, or a study or its path"
)

UNFINISHED = {"out", "stopped", "RUNNING", "WAITING", "PRUNED"}
"""States of rows that hold no final value: of bamsoo's own tables, and of Optuna's."""

RESULTS = {"value", "variance", "error", ""}
"""The columns of any table that are no parameters. One without a name is a data frame's index."""

TABLES = (
    {*OURS, "seconds"},
    {"number", "state", "datetime_start", "datetime_complete", "duration"},
)
"""More such columns, in bamsoo's own tables and in Optuna's, which have the first two. In any other
table, a column called `duration` or `steps` may be what the values depend on."""

RESULT = ("constraint:", "extra:", "objective:", "last:", "values_", "user_attrs_", "system_attrs_",
          "Unnamed: ")  # fmt: skip
"""How the names of more such columns begin; the last is what pandas calls an index it reads."""

EXTRA = ("extra:", "user_attrs_")
"""How the columns of extras begin."""

CHEAP = "it was evaluated cheaply, at a low value of a fidelity that this space does not have"


def sources_of(known: Any) -> dict[str, Any]:
    """The sources in the argument `known` of a run, each with a name for messages."""
    if known is None:
        return {}
    given = list(known) if isinstance(known, Iterator) else known
    several = isinstance(given, (list, tuple)) and any(map(_is_source, given))
    return {f"known[{i}]": each for i, each in enumerate(given)} if several else {"known": given}


def _is_source(given: Any) -> bool:
    """Whether this is a source of its own and not a pair, or a list of them."""
    if isinstance(given, (str, PathLike)) or hasattr(given, "space") or is_optunas(given):
        return True
    return as_table(given) is not None


def as_known(
    constraints: Constraints,
    known: Any,
    objectives: Objectives = ORDINARY,
    terms: Terms | None = None,
    value: str | None = None,
    steps: int | None = None,
    name: str = "known",
) -> Earlier:
    """Check a source of the argument `known` of a run with these constraints, and read it.

    `value` is the column of the values in a CSV file that has it, `steps` the number of steps of a
    full evaluation of this run, and `name` what messages call a source that has no name itself.
    """
    from ..study import Study

    terms = Terms(constraints.space) if terms is None else terms
    if known is None:
        return Earlier([])
    if isinstance(known, Study):
        return from_study(constraints, known, objectives, terms, steps)
    if isinstance(known, (str, PathLike)):
        return _from_path(constraints, fspath(known), objectives, terms, value, steps)
    if is_optunas(known):
        from ..study.optuna_study import OptunaStudy

        study = OptunaStudy(known, known.study_name)
        return from_study(constraints, study, objectives, terms, steps)
    if (table := as_table(known)) is not None:
        return from_rows(constraints, name, *table, "value", objectives, terms)
    if isinstance(known, Mapping) or not hasattr(known, "__iter__"):
        raise SettingsError(f"{FORM}, got {brief(known)}")
    return _from_pairs(known, objectives, terms, name)


def _from_pairs(known: Iterable[Any], objectives: Objectives, terms: Terms, name: str) -> Earlier:
    kept, filled, ignored = list[EarlierValue](), dict[str, Any](), dict[str, None]()
    there = dict[str, None]()
    for pair in known:
        try:
            point, value = pair
        except (TypeError, ValueError):
            raise SettingsError(f"{FORM}, but one item of the list is {brief(pair)}") from None
        said, beside = separated(value)
        if isinstance(point, Mapping):
            given, (point, _) = point, terms.completed(point)
            there |= dict.fromkeys(given)
            new = [each for each in terms.fill if each in point and each not in given]
            filled |= {each: as_simple(each, terms.fill[each]) for each in new}
            ignored |= dict.fromkeys(each for each in terms.ignore if each in given)
            more = {each: v for each, v in point.items() if each not in terms.names}
            terms.refuse_more(name, more)
        else:
            there |= dict.fromkeys(terms.names)
        values, vector = objectives.told(said)
        kept.append(EarlierValue(terms.space.point(point), vector or _plain(values), beside))
    said = name if filled or ignored else None  # of pairs, only what is assumed is worth saying
    return Earlier(kept, source=said, filled=filled, ignored=(*ignored,), there=(*there,))


def _plain(values: Sequence[float]) -> Any:
    """The value of a search with one objective, or those of all; None if there are none."""
    return values[0] if len(values) == 1 else tuple(values) or None


def _from_path(
    constraints: Constraints,
    path: str,
    objectives: Objectives,
    terms: Terms,
    value: str | None,
    steps: int | None,
) -> Earlier:
    from ..study.address import FileAddress, parse
    from ..study.optuna_study import open_to_read

    address = parse(path)
    if isinstance(address, FileAddress) and not address.path.is_file():
        form = "--import takes a CSV file or a study" if terms.flags else FORM
        raise SettingsError(f"{form}, but there is no file {brief(address.shown)}")
    if is_table(path):
        return read_csv(Path(path), constraints, value, objectives, terms)
    with open_to_read(path) as study:
        return from_study(constraints, study, objectives, terms, steps)


def is_optunas(known: Any) -> bool:
    """Whether something is a study object of Optuna, which is not imported for that."""
    return hasattr(known, "get_trials") and hasattr(known, "study_name")


def is_table(path: str) -> bool:
    """Whether a path is that of a CSV file, by its name."""
    return Path(path).suffix.lower() in (".csv", ".txt")


def from_study(
    constraints: Constraints,
    study: Any,
    objectives: Objectives,
    terms: Terms,
    steps: int | None = None,
) -> Earlier:
    """The evaluations of another study, in the space of this run."""
    names, there, trials = terms.names, sorted(study.space.own_names), study.trials
    wanted, limits = _aims(study, objectives), constraints.measured
    fidelity = study.space.names[-1] if study.space.fidelity is not None else None
    aims = study.objectives.names
    same = list(wanted) == list(aims)
    before = getattr(study, "steps", None)  # Optuna has no such setting

    def read(record: Record) -> ReadRow:
        if steps is not None and before not in (None, steps):
            record = _after(record, steps, before, aims if same and not limits else ())
        if record.state in UNFINISHED:
            raise UnfinishedError
        point, lacking = terms.completed(record.params)
        others = {name: value for name, value in point.items() if name not in names}
        if others.pop(fidelity or "", None) is not None and record.state == "cheap":
            raise SettingsError(CHEAP)  # all others are at the top
        known = EarlierValue(
            {name: value for name, value in point.items() if name in names},
            _value(record, wanted, objectives),
            _beside(record, limits, wanted),
            record.variance if same else None,
            record.error,
            record.curve if same else (),
        )
        return ReadRow(known, lacking, others)

    rows = ((str(study.path), partial(read, each)) for each in trials)
    found = fitting(constraints, terms, str(study.path), rows, there)
    recorded = dict.fromkeys(name for record in trials for name in _numbers(record))
    return found._replace(there=(*there, *recorded))


def _after(record: Record, steps: int, before: int, values: Sequence[str]) -> Record:
    """An evaluation of full length `before` as it was after fewer steps, which are all steps now.

    That is known if it has reported these values then; nothing else is known of that moment.
    """
    then = {int(step): numbers for step, *numbers in record.curve}.get(steps, [])
    if then and values and all(map(isfinite, then)):
        curve = tuple(each for each in record.curve if each[0] <= steps)
        return record._replace(
            values=dict(zip(values, then, strict=True)), curve=curve, state="finished", error=None,
            measured=None, extras={}, variance=None,
        )  # fmt: skip
    if record.values:
        raise SettingsError(f"its value is that after {before} steps, and there are {steps} now")
    return record


def _value(record: Record, wanted: Sequence[str], objectives: Objectives) -> Any:
    """The value of an evaluation of a study; of a fit, its residuals."""
    if not record.values or objectives.squares is None:
        return _plain([_said(record, name) for name in wanted] if record.values else [])
    if not record.residuals:
        raise SettingsError("it has no residuals")
    return Vector(record.residuals)


def _said(record: Record, name: str) -> float:
    """What an evaluation said by a name: a value, or a number that was recorded with it."""
    number = _numbers(record).get(name)
    if number is None or not is_finite(number):
        raise SettingsError(f"it has no number {name!r}, which is an objective now")
    return float(number)


def _numbers(record: Record) -> dict[str, Any]:
    return {**record.extras, **(record.measured or {}), **(record.values or {})}


def _aims(study: Any, objectives: Objectives) -> Sequence[str]:
    """The names in a study of the objectives of this run; they may be recorded numbers there."""
    theirs: Sequence[str] = study.objectives.names
    if not objectives.named and len(theirs) > 1:
        raise SettingsError(
            f"{study.path}: has the objectives {', '.join(theirs)}; name one of them in objectives="
        )
    said = {*theirs}.union(*(_numbers(record) for record in study.trials if record.values))
    missing = [name for name in objectives.names if name not in said]
    unnamed = not (objectives.named and study.objectives.named)
    if missing and len(objectives) == len(theirs) == 1 and unnamed:
        return theirs
    if missing and any(record.values for record in study.trials):
        only = ", ".join(map(repr, sorted(said)))
        raise SettingsError(f"{study.path}: has no objective {missing[0]!r}, only {only}")
    return objectives.names


def _beside(record: Record, limits: Sequence[str], aims: Sequence[str]) -> dict[str, Any]:
    """Everything that an evaluation said besides the values of these objectives.

    A number that was recorded may be a constraint of this run, and the other way round.
    """
    values = record.values or {}
    said = {**values, **record.extras, **(record.measured or {})}
    return {
        name: v
        for name, v in said.items()
        if (name not in aims or (name in values and name in record.extras))
        and (record.values or name not in limits)
    }


def read_csv(
    path: Path,
    constraints: Constraints,
    value: str | None = None,
    objectives: Objectives = ORDINARY,
    terms: Terms | None = None,
) -> Earlier:
    """Read points and values from a CSV file; a row without a value is a failed evaluation.

    It needs one column per parameter, one for the value, which is called `value` or ``value``, and
    one called ``constraint:NAME`` or NAME for each measured constraint. An objective with a name
    has a column of this name, and one of several has no other. Columns called ``extra:NAME`` are
    kept.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            found = list(reader.fieldnames or [])
            numbered = ((f"line {reader.line_num}", row) for row in reader)
            named = value if value is not None and (value in found or "value" not in found) else ""
            named = named or "value"
            terms = Terms(constraints.space) if terms is None else terms
            return from_rows(constraints, str(path), found, numbered, named, objectives, terms)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SettingsError(f"{path}: cannot be read: {error}") from error


def as_points(space: Space, given: Any) -> Any:
    """The points in the rows of a data frame; anything else is returned unchanged."""
    if given is None or (table := as_table(given, "x0")) is None:
        return given
    cells, points = Cells(space), list[Any]()
    for where, row in table[1]:
        try:
            point, lacking = cells.point(row) if space.named else ([*row.values()], [])
        except SpaceError as error:
            raise SpaceError(f"x0, {where}: {error}") from None
        fixed = {slot.name for slot in space.slots if slot.parameter.fixed is not None}
        if lacking := [name for name in lacking if name not in fixed]:
            raise SettingsError(f"x0, {where}: has no value of {lacking[0]}")
        points.append(point)
    return points


def as_table(
    frame: Any, argument: str = "known"
) -> tuple[list[Any], Iterable[tuple[str, dict[str, Any]]]] | None:
    """The columns and the rows of a data frame of any library; None if it is no data frame."""
    if hasattr(frame, "itertuples") and hasattr(frame, "columns"):  # pandas and those like it
        named = any(each is not None for each in getattr(frame.index, "names", ()))
        frame = frame.reset_index() if named else frame  # it says as much as a column
        return list(frame.columns), _pandas_rows(frame)
    if hasattr(frame, "iter_rows") and hasattr(frame, "columns"):  # polars
        return list(frame.columns), _numbered(frame.iter_rows(named=True))
    if hasattr(frame, "to_pylist") and hasattr(frame, "column_names"):  # pyarrow
        return list(frame.column_names), _numbered(frame.to_pylist())
    if hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "__dataframe__"):
        how = "frame.to_pandas()"
    elif hasattr(frame, "collect") and hasattr(type(frame), "columns"):
        how = "frame.collect()"
    else:
        return None
    raise SettingsError(
        f"{argument} takes data frames of pandas, polars and pyarrow, got {brief(frame)}; convert "
        f"it, for example with {how}"
    )


def _numbered(rows: Iterable[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, row in enumerate(rows):
        absent = (name for name, cell in row.items() if isinstance(cell, float) and isnan(cell))
        yield f"row {number}", {**row, **dict.fromkeys(absent)}


def _pandas_rows(frame: Any) -> Iterator[tuple[str, dict[str, Any]]]:
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
    value: str,
    objectives: Objectives,
    terms: Terms,
) -> Earlier:
    """The evaluations in the rows of a table, each with a name for error messages."""
    if objectives.squares is not None:
        raise SettingsError(
            f"{source}: a table has no residuals, which a fit needs; give a study, or a list of "
            "(point, residuals) pairs"
        )
    table = EarlierTable(constraints, source, found, value, objectives, terms)
    read = ((f"{source}, {where}", partial(table.read, cells)) for where, cells in rows)
    return fitting(constraints, terms, source, read, [str(name) for name in found], "column")


def _columns_of_parameters(
    space: Space, source: str, found: Sequence[Any], terms: Terms
) -> dict[str, str]:
    """The column of each parameter that has one, by its label or its name."""
    columns: dict[str, str] = {}
    for slot in space.slots:
        label = parameter_column(slot.label, found)
        there = label or parameter_column(slot.name, found)
        if there is not None:
            columns[slot.label if label else slot.name] = there
        elif slot.condition is None and not (
            slot.name in terms.fill or slot.parameter.fidelity is not None
        ):
            terms.refuse_less(source, [column(slot.label)], "column", str(list(found)))
    return columns


def _check_each_once(source: str, found: Sequence[Any], used: Collection[str]) -> None:
    """Raise an error unless a table has each of these columns, and has it once."""
    for wanted in used:
        if wanted not in found:
            raise SettingsError(f"{source}: has no column {wanted!r}, only {list(found)}")
        if list(found).count(wanted) > 1:
            raise SettingsError(f"{source}: has several columns {wanted!r}; leave one of them")


class EarlierTable:
    """The columns of a table of earlier evaluations, and what each is for."""

    def __init__(
        self,
        constraints: Constraints,
        source: str,
        found: Sequence[Any],
        value: str,
        objectives: Objectives,
        terms: Terms,
    ) -> None:
        space, names = constraints.space, {*map(str, found)}
        kinds = [each for each in TABLES if {"state", *each & {"trial", "number"}} <= names]
        results = RESULTS.union(*kinds)
        self._limits, self._terms, self._cells = constraints.measured, terms, Cells(space)
        self._of = _columns_of_parameters(space, source, found, terms)
        self._aims = [value]
        if objectives.named:
            usual = None if objectives.several else value
            self._aims = [_aim_column(name, found, space, usual) for name in objectives.names]
        taken = {*self._of.values(), *results}
        self._limit_columns = {name: _limit_column(name, found, taken) for name in self._limits}
        used = (*self._aims, *self._limit_columns.values(), *self._of.values())
        _check_each_once(source, found, used)
        recorded = any(name.startswith((*EXTRA, "constraint:")) for name in self._aims)
        self._own = {"error"} if recorded else {"error", "variance"}  # that of another number
        self._own -= {*used}  # not of a parameter of that name
        self._extras = _extra_columns(found, used)
        results |= {*used, *terms.ignore}
        self._others = [
            name for name in map(str, found) if name not in results and not name.startswith(RESULT)
        ]
        self._fidelities = {s.name for s in space.slots if s.parameter.fidelity is not None}
        self.state = "state" if kinds and "state" not in self._of.values() else ""
        """The column of states; one of another kind of table, or of a parameter, is not ours."""

    def read(self, row: Mapping[str, Any]) -> ReadRow:
        """The evaluation in a row."""
        if row.get(self.state) in UNFINISHED:
            raise UnfinishedError
        if row.get(self.state) == "cheap" and not self._fidelities & self._of.keys():
            raise SettingsError(CHEAP)
        texts = {name: row[there] for name, there in self._of.items()}
        point, lacking = self._cells.point(texts, self._terms.fill)
        others = {name: v for name in self._others if (v := _simple(row[name])) is not None}
        return ReadRow(self._evaluation(point, row), lacking, others)

    def _evaluation(self, point: dict[str, Any], row: Mapping[str, Any]) -> EarlierValue:
        numbers = [number for name in self._aims if (number := _number(row[name])) is not None]
        extras = {name: _simple(row[there]) for name, there in self._extras.items()}
        beside: dict[str, Any] = {name: v for name, v in extras.items() if v is not None}
        own = {name: row.get(name) for name in self._own}
        if len(numbers) < len(self._aims) or not all(map(isfinite, numbers)):
            error = own.get("error")
            return EarlierValue(
                point, None, beside, error=error if isinstance(error, str) else None
            )
        beside |= {name: _number(row[there]) for name, there in self._limit_columns.items()}
        return EarlierValue(point, _plain(numbers), beside or None, _number(own.get("variance")))


def parameter_column(name: str, found: Sequence[Any]) -> str | None:
    """The column of a parameter, in bamsoo's own tables or in those of Optuna."""
    return next((each for each in (column(name), name, f"params_{name}") if each in found), None)


def _aim_column(name: str, found: Sequence[Any], space: Space, usual: str | None) -> str:
    """The column of an objective, or of a number that was recorded under its name."""
    own = objective_cell(name, space)
    ways = (own, extra_column(name), limit_column(name), usual or own)
    return next((each for each in ways if each in found), own)


def _limit_column(name: str, found: Sequence[Any], taken: Collection[str]) -> str:
    """The column of a measured constraint, or of a number that was recorded under its name."""
    plain = [name] if name not in taken else []
    ways = (limit_column(name), extra_column(name), *plain)
    return next((each for each in ways if each in found), ways[0])


def _extra_columns(found: Sequence[Any], used: Collection[str]) -> dict[str, str]:
    """The columns of numbers that were recorded, by name, which are not used for anything else."""
    extras = {
        name.removeprefix(prefix): name
        for name in map(str, found)
        for prefix in (*EXTRA, "constraint:")
        if name.startswith(prefix) and name not in used
    }
    if "value" in found and "value" not in used:  # of an objective that this run does not have
        extras["value"] = "value"
    return extras


def _number(cell: Any) -> float | None:
    if is_empty(cell):
        return None
    try:
        return float(cell)
    except (TypeError, ValueError):
        raise SettingsError(f"expected a number, got {brief(cell)}") from None


def _simple(cell: Any) -> Any:
    """A cell of an extra: a number if it reads as one, and None if it is empty."""
    if is_empty(cell):
        return None
    if isinstance(cell, str):
        try:
            return float(cell)
        except ValueError:
            return cell
    return cell if isinstance(cell, (int, float, bool)) else str(cell)
