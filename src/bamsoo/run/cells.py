"""The text of points in tables: the names of columns, and the cells below them."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ..errors import SpaceError
from ..record.headings import heading, objective_heading
from ..space import Space

FORMULA = re.compile(r'(?:^|;)\s*["=+\-@\uff1d\uff0b\uff0d\uff20]')
"""A spreadsheet takes a text that begins with one of these signs, or with their wide forms, for a
formula, and runs it. Some programs end a cell at a semicolon, even inside quotes, so the text after
one counts too. A quote marks a text that is written as a JSON string."""


def column(name: str) -> str:
    """The column of a parameter: its name, with a prefix if it could be mistaken for another."""
    text = cell(name)
    return heading(name) if text == name else f"param:{text}"


def limit_column(name: str) -> str:
    """The column of a measured constraint."""
    return f"constraint:{cell(name)}"


def objective_cell(name: str, space: Space) -> str:
    """The column of one of several objectives: its name, with a prefix if that is taken."""
    text = cell(name)
    taken = {column(slot.label) for slot in space.slots}
    return objective_heading(name, taken) if text == name else f"objective:{text}"


def last_column(name: str) -> str:
    """The column of what a trial last reported: its "step", and the value of each objective."""
    return f"last:{cell(name)}"


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


def is_empty(text: Any) -> bool:
    """Whether a cell is empty."""
    return text is None or (isinstance(text, str) and not text.strip())


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
    """Conversion between the values of one space and their text in cells."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._written: dict[str, dict[tuple[type, Any], str]] = {}
        self._read: dict[str, dict[str, Any]] = {}
        for name, parameter in space.parameters.items():
            if (options := parameter.options) is not None:
                cells = option_cells(options)
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

    def read(self, name: str, text: Any) -> Any:
        """The value of a cell, a text or a number; what is not an option is returned unchanged."""
        parameter = self._space.parameters[name]
        if name in self._read:
            if not isinstance(text, str) and parameter.index(text) is not None:
                return text
            known, text = self._read[name], str(text)
            return known.get(text, known.get(text.strip(), text))  # people may type extra spaces
        try:
            number = float(text)
        except (TypeError, ValueError):
            raise SpaceError(f"{name} must be a number, got {text!r}") from None
        return parameter.read(number)

    def point(
        self, texts: Mapping[str, Any], fill: Mapping[str, Any] = MappingProxyType({})
    ) -> tuple[dict[str, Any], list[str]]:
        """The point with these cells, given by label or by name, and what it has no cell for.

        A parameter that does not exist with the options of the point has no cell, or an empty one.
        One that exists and has neither gets the value of its name in `fill`, if there is one.
        """
        point: dict[str, Any] = {}
        used, lacking = [], []
        for slot in self._space.existing(point):
            key = slot.label if slot.label in texts else slot.name
            text = texts.get(key)
            if slot.name in fill and is_empty(text):
                point[slot.name] = fill[slot.name]
            elif key in texts:
                point[slot.name] = self.read(slot.label, "" if text is None else text)
            elif slot.parameter.fidelity is None:
                lacking.append(slot.name)
            used.append(key)
        others = ((name, text) for name, text in texts.items() if name not in used)
        rest = {name: text for name, text in others if not is_empty(text)}
        by_name = {slot.label: slot.name for slot in self._space.slots}
        for name, text in rest.items():  # invalid ones, about which `Space.point` raises an error
            point.setdefault(by_name.get(name, name), text)
        if not lacking:
            self._space.point(point)
        return point, lacking
