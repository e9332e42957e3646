"""Parameters as they are written on a command line or in a TOML file."""

import re
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

from ..base.checks import brief
from ..errors import SettingsError, SpaceError
from ..run.cells import Cells
from ..space import Choice, Fidelity, Fixed, Int, Parameter, Real, Space

FORM = "NAME:LOW:HIGH[:log][:int][:step=S], NAME:LOW:HIGH[:log]:fidelity or NAME=a,b,c"

NUMBER = r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?"
RANGE = re.compile(rf"{NUMBER}:{NUMBER}(:log|:int|:step={NUMBER})*")
"""A range where options are expected, which is probably a typing error."""


def parse(texts: Iterable[str]) -> dict[str, Any]:
    """The space described by several `--param` options."""
    space: dict[str, Any] = {}
    for text in texts:
        name, parameter = parse_one(text)
        if name in space:
            raise SettingsError(f"--param {text}: {name} is listed twice; leave one out")
        space[name] = parameter
    return space


def with_fixed(space: Any, given: Iterable[str | Mapping[str, Any]]) -> Any:
    """A space with the parameters of several `--fix` options, each NAME=VALUE, or of tables."""
    fixed: dict[str, Any] = {}
    for each in given:
        if isinstance(each, Mapping):
            fixed |= each
            continue
        name, equals, text = each.partition("=")
        if not equals or not name.isidentifier():
            raise SettingsError(f"--fix {each}: expected NAME=VALUE")
        fixed[name] = as_value(text)
    if not fixed:
        return space
    if not isinstance(space, Mapping):
        raise SettingsError("--fix needs parameters with names; give them with --param")
    return {**space, **fixed}


def as_value(text: str) -> str | int | float:
    """A value as a number if it can be read as one, else as text."""
    for kind in (int, float):
        try:
            if isfinite(number := kind(text)):
                return number
        except (ValueError, OverflowError):
            continue
    return text


def parse_one(text: str) -> tuple[str, Parameter]:
    """A parameter's name and range, from one of the forms in `FORM`."""
    name, equals, options = text.partition("=")
    if equals and ":" not in name:
        _check_name(text, name)
        if RANGE.fullmatch(options):
            raise SettingsError(
                f"--param {text}: this looks like a range; write {name}:{options} for a range, or "
                f"{name}=a,b,c for options"
            )
        return name, _made(text, lambda: Choice([as_option(each) for each in options.split(",")]))
    name, *rest = text.split(":")
    _check_name(text, name)
    flags = [flag.partition("=")[0] for flag in rest[2:]]
    steps = [flag.removeprefix("step=") for flag in rest[2:] if flag.startswith("step=")]
    known = {"log", "int", *(["step"] if steps else [])}
    if "fidelity" in flags:
        known = {"log", "fidelity"}
    if len(rest) < 2 or not set(flags) <= known or len(set(flags)) < len(flags):
        raise SettingsError(f"--param {text}: expected {FORM}")
    try:
        low, high, *step = (float(each) for each in (*rest[:2], *steps))
    except ValueError:
        raise SettingsError(f"--param {text}: LOW, HIGH and S must be numbers") from None
    if "fidelity" in flags:
        return name, _fidelity(text, low, high, "log" in flags)
    if low == high:
        return name, _made(text, lambda: Fixed(int(low) if "int" in flags else low))
    entry = {"low": low, "high": high, "log": "log" in flags, "int": "int" in flags}
    return name, _number(text, entry | ({"step": step[0]} if step else {}))


def parse_fill(given: Iterable[str | Mapping[str, Any]], space: Space) -> dict[str, Any]:
    """The values of several `--fill` options, each NAME=VALUE, or of tables of a TOML file."""
    cells, filled = Cells(space), dict[str, Any]()
    for each in given:
        if isinstance(each, Mapping):
            filled |= each
            continue
        name, equals, text = each.partition("=")
        if not equals:
            raise SettingsError(f"--fill {each}: expected NAME=VALUE")
        try:
            filled[name] = cells.read(name, text) if name in space.parameters else text
        except SpaceError as error:
            raise SettingsError(f"--fill {each}: {error}") from None
    return filled


def parse_point(text: str, space: Space) -> dict[str, Any]:
    """A point, from NAME=VALUE,NAME=VALUE and so on."""
    texts = {}
    names = list(dict.fromkeys(slot.name for slot in space.slots))
    for each in text.split(","):
        name, equals, value = each.partition("=")
        name = name.strip()
        if not equals:
            raise SettingsError(f"--x0 {text}: expected NAME=VALUE,NAME=VALUE, got {each!r}")
        if name not in names:
            raise SettingsError(
                f"--x0 {text}: unknown parameter {name!r}; expected some of {', '.join(names)}"
            )
        texts[name] = value
    try:
        point, _ = Cells(space).point(texts)
        space.point(point)
        return point
    except SpaceError as error:
        raise SettingsError(f"--x0 {text}: {error}") from None


def from_table(table: Any) -> dict[str, Any]:
    """The space of a TOML file: one table per parameter, with low and high or with choices.

    Choices are a list, or a table that maps each choice to the parameters it opens.
    """
    return _from_entries("params", table)


def _from_entries(where: str, table: Any) -> dict[str, Any]:
    if not isinstance(table, Mapping):
        raise SettingsError(f"{where}: expected one table per parameter, got {brief(table)}")
    return {name: _from_entry(f"{where}.{name}", entry) for name, entry in table.items()}


def _from_entry(name: str, entry: Any) -> Any:
    form = (
        "{low = …, high = …, log = …, int = …, step = …}, {low = …, high = …, log = …, "
        "fidelity = true}, {choices = […]}, {choices = {…}} or a plain value"
    )
    if isinstance(entry, (int, float, str)):
        return _made(name, lambda: Fixed(entry))
    if not isinstance(entry, Mapping):
        raise SettingsError(f"{name}: expected {form}, got {brief(entry)}")
    keys = set(entry)
    if keys == {"choices"} and isinstance(entry["choices"], Mapping):
        options = {
            option: _from_entries(f"{name}.choices.{option}", opened)
            for option, opened in entry["choices"].items()
        }
        return _made(name, lambda: Choice(options))
    if keys == {"choices"}:
        return _made(name, lambda: Choice(entry["choices"]))
    if entry.get("fidelity") is True and {"low", "high"} <= keys <= {
        "low",
        "high",
        "log",
        "fidelity",
    }:
        return _fidelity(name, entry["low"], entry["high"], bool(entry.get("log")))
    if not {"low", "high"} <= keys <= {"low", "high", "log", "int", "step"}:
        raise SettingsError(f"{name}: expected {form}, got {brief(dict(entry))}")
    return _number(name, entry)


def _fidelity(text: str, low: Any, high: Any, log: bool) -> Any:
    """A fidelity; if both ends are whole, its values are whole numbers."""
    if all(isinstance(end, (int, float)) and end % 1 == 0 for end in (low, high)):
        low, high = int(low), int(high)
    return _made(text, lambda: Fidelity(low, high, log))


def _number(text: str, entry: Mapping[str, Any]) -> Any:
    low, high, log = entry["low"], entry["high"], bool(entry.get("log"))
    if not entry.get("int"):
        return _made(text, lambda: Real(low, high, log=log, step=entry.get("step")))
    return _made(text, lambda: Int(low, high, log=log, step=entry.get("step")))


def _check_name(text: str, name: str) -> None:
    if not name.isidentifier():
        raise SettingsError(f"--param {text}: the name must be a single word; expected {FORM}")


def _made(text: str, make: Any) -> Any:
    try:
        return make()
    except SpaceError as error:
        raise SpaceError(f"{text}: {error}") from None


def as_option(text: str) -> str | int | float:
    """An option as a number if that number is printed exactly as it was written, else as text."""
    for kind in (int, float):
        try:
            if str(kind(text)) == text and text not in ("nan", "inf", "-inf"):
                return kind(text)
        except ValueError:
            continue
    return text
