"""What fixed parameters were in earlier evaluations, so that the model can learn from those."""

import csv
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from math import isfinite
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from ..errors import SettingsError, SpaceError
from ..space import Choice, Fixed, Parameter, Real, Space, SpaceLike, single
from .known import as_table, is_optunas, is_table, parameter_column


def with_history(space: SpaceLike, sources: Iterable[Any]) -> SpaceLike:
    """The space, in which fixed parameters have the values that the sources have for them.

    A source is what `known=` takes, or a dict of values that others lack, as `fill=`. One that
    cannot be read says nothing here; reading it later says what is wrong with it.
    """
    if not isinstance(space, Mapping):
        return space
    made = Space(space)
    if not any(fixed.was is None for fixed in made.fixed.values()):
        return space
    read = [_Source(source) for source in sources]
    return _remembered(made.given, read)


def _remembered(given: Mapping[str, Parameter], sources: list["_Source"]) -> dict[str, Parameter]:
    found: dict[str, Parameter] = {}
    for name, parameter in given.items():
        found[name] = parameter
        fixed = parameter.fixed
        if parameter.opens:
            opens = [_remembered(opened, sources) for opened in parameter.opens]
            found[name] = parameter.opening(opens)
        elif fixed is not None and fixed.was is None:
            was = [each for source in sources for each in source.said(name)]
            found[name] = _among(fixed.value, was)
    return found


def _measured(value: Any) -> float | None:
    """A value that is a number and no name; None if it is not."""
    return None if isinstance(value, (str, bool)) else single(value)


def _among(value: Any, was: list[Parameter]) -> Fixed:
    """The fixed parameter, among the values of what it was."""
    ranges = [each for each in was if each.options is None]
    ends = [float(end) for each in ranges for end in each.ends]
    options = [option for each in was for option in each.options or ()]
    numbers = [*map(_measured, (value, *options)), *ends]
    every = [each for each in numbers if each is not None]
    if len(every) == len(numbers):
        low, high = min(every), max(every)
        log = bool(ranges) and low > 0 and all(each.log for each in ranges)
        return Fixed(value) if low == high else Fixed(value, Real(low, high, log=log))
    distinct = _distinct([value, *options, *ends])
    return Fixed(value) if len(distinct.options) == 1 else Fixed(value, distinct)


def _distinct(values: list[Any]) -> Choice:
    """A choice between values, each of which is an option once."""
    found = Choice(values[:1])
    for option in values[1:]:
        if found.index(option) is None:
            with suppress(SpaceError):  # it equals another one, as True equals 1
                found = Choice([*found.options, option])
    return found


class _Source:
    """A source of earlier evaluations, of which only the values of parameters are of interest."""

    def __init__(self, source: Any) -> None:
        self._parameters: dict[str, list[Parameter]] = {}
        self._rows: list[Mapping[str, Any]] = []
        table = None
        with suppress(SettingsError):
            table = as_table(source)
        if table is not None:
            self._rows = [row for _, row in table[1]]
        elif hasattr(source, "space"):
            self._of_study(source.space)
        elif is_optunas(source):
            from ..study.optuna_study import OptunaStudy

            with suppress(Exception):
                self._of_study(OptunaStudy(source, source.study_name).space)
        elif isinstance(source, (str, PathLike)):
            self._of_path(fspath(source))
        elif isinstance(source, Mapping):
            self._rows = [source]
        elif isinstance(source, (list, tuple)):
            pairs = (pair for pair in source if isinstance(pair, (list, tuple)) and len(pair) == 2)
            self._rows = [point for point, _ in pairs if isinstance(point, Mapping)]

    def _of_study(self, space: Space) -> None:
        for slot in space.slots:
            fixed = slot.parameter.fixed
            was = slot.parameter if fixed is None else fixed.was or Choice([fixed.value])
            self._parameters.setdefault(slot.name, []).append(was)

    def _of_path(self, path: str) -> None:
        from ..study.optuna_study import open_to_read

        with suppress(Exception):
            if is_table(path):
                with Path(path).open(newline="", encoding="utf-8-sig") as file:
                    self._rows = list(csv.DictReader(file))
                return
            with open_to_read(path) as study:
                self._of_study(study.space)

    def said(self, name: str) -> Iterator[Parameter]:
        """What a parameter was; nothing if the source does not have it."""
        yield from self._parameters.get(name, [])
        there = parameter_column(name, list(self._rows[0])) if self._rows else None
        if there is None:
            return
        values = [row[there] for row in self._rows if row.get(there) not in (None, "")]
        numbers = [number for each in values if (number := _as_number(each)) is not None]
        if values and len(numbers) == len(values):
            yield Choice(list(dict.fromkeys(numbers)))
        elif values:
            yield Choice(list(dict.fromkeys(map(str, values))))


def _as_number(cell: Any) -> float | None:
    with suppress(TypeError, ValueError):
        number = None if isinstance(cell, bool) else float(cell)
        return number if number is not None and isfinite(number) else None
    return None
