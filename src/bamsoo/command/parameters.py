"""Parameters as they are written on a command line or in a TOML file."""

import re
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

from ..base.checks import brief
from ..errors import SettingsError, SpaceError
from ..run.cells import Cells
from ..space import Choice, Fixed, Parameter, Real, Space
from ..space.parameters import KINDS

FORMS = sorted((kind.form for kind in KINDS.values() if kind.form), key=len, reverse=True)
FORM = f"{', '.join(FORMS[:-1])} or {FORMS[-1]}"

NUMBER = r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?"
RANGE = re.compile(rf"{NUMBER}:{NUMBER}(:log|:int|:step={NUMBER})*")
"""A range where options are expected, which is probably a typing error."""


def parse_space(texts: Iterable[str]) -> dict[str, Any]:
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
        fixed[name] = number_or_text(text)
    if not fixed:
        return space
    if not isinstance(space, Mapping):
        raise SettingsError("--fix needs parameters with names; give them with --param")
    return {**space, **fixed}


def number_or_text(text: str) -> str | int | float:
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
    if not equals or ":" in name:
        return _range(text)
    _check_name(text, name)
    if RANGE.fullmatch(options):
        raise SettingsError(
            f"--param {text}: this looks like a range; write {name}:{options} for a range, or "
            f"{name}=a,b,c for options"
        )
    return name, _made(text, lambda: Choice([as_option(each) for each in options.split(",")]))


def _range(text: str) -> tuple[str, Parameter]:
    """The name and the range in NAME:LOW:HIGH and so on."""
    name, *rest = text.split(":")
    _check_name(text, name)
    flags = [flag.partition("=")[0] for flag in rest[2:]]
    steps = [flag.removeprefix("step=") for flag in rest[2:] if flag.startswith("step=")]
    entry: dict[str, Any] = {flag: True for flag in flags if flag != "step"}
    wrong = len(rest) < 2 or len(set(flags)) < len(flags) or flags.count("step") != len(steps)
    if wrong or not _fits(dict.fromkeys((*flags, "low", "high"), True)):
        raise SettingsError(f"--param {text}: expected {FORM}")
    try:
        low, high, *step = (float(each) for each in (*rest[:2], *steps))
    except ValueError:
        raise SettingsError(f"--param {text}: LOW, HIGH and S must be numbers") from None
    if low == high and set(flags) <= {"log", "int", "step"}:
        return name, _made(text, lambda: Fixed(int(low) if "int" in flags else low))
    entry |= {"low": low, "high": high} | ({"step": step[0]} if step else {})
    return name, _made(text, lambda: _parameter(entry))


def parse_fill(given: Iterable[str | Mapping[str, Any]], space: Space) -> dict[str, Any]:
    """The values of several `--fill` options, each NAME=VALUE, or of tables of a TOML file."""
    cells, filled = Cells(space), fill_texts(given)
    for name, text in filled.items():
        if isinstance(text, str) and name in space.parameters:
            try:
                filled[name] = cells.read(name, text)
            except SpaceError as error:
                raise SettingsError(f"--fill {name}={text}: {error}") from None
    return filled


def fill_texts(given: Iterable[str | Mapping[str, Any]]) -> dict[str, Any]:
    """What several `--fill` options say, as text, and tables of a TOML file."""
    texts: dict[str, Any] = {}
    for each in given:
        if isinstance(each, Mapping):
            texts |= each
            continue
        name, equals, text = each.partition("=")
        if not equals:
            raise SettingsError(f"--fill {each}: expected NAME=VALUE")
        texts[name] = text
    return texts


def parse_point(text: str, space: Space) -> dict[str, Any]:
    """A point, from NAME=VALUE,NAME=VALUE and so on."""
    texts = {}
    names = space.own_names
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
    if isinstance(entry.get("choices"), Mapping):
        options = {
            option: _from_entries(f"{name}.choices.{option}", opened)
            for option, opened in entry["choices"].items()
        }
        entry = {**entry, "choices": options}
    if not _fits(entry):
        raise SettingsError(f"{name}: expected {form}, got {brief(dict(entry))}")
    return _made(name, lambda: _parameter(entry))


def _kind(entry: Mapping[str, Any]) -> type[Parameter]:
    """The kind of parameter that an entry is for: the one that it names, or that has its keys."""
    named = (kind for kind in KINDS.values() if kind.flag and entry.get(kind.flag, False))
    by_keys = (k for k in KINDS.values() if not k.flag and k.entry and k.entry[0] in entry)
    return next(named, None) or next(by_keys, Real)


def _fits(entry: Mapping[str, Any]) -> bool:
    """Whether an entry has the keys that its kind needs, and no others."""
    kind = _kind(entry)
    flags = {each.flag for each in KINDS.values() if entry.get(each.flag) is False}
    return {*kind.entry[: kind.needed]} <= entry.keys() - flags <= {*kind.entry, kind.flag} - {""}


def _parameter(entry: Mapping[str, Any]) -> Parameter:
    """The parameter of an entry that fits its kind."""
    kind = _kind(entry)
    return kind.from_entry({key: entry[key] for key in kind.entry if key in entry})


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
