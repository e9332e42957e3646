"""From parameters that bring along others to a flat list of axes with conditions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ..checks import brief
from ..errors import SpaceError
from .axes import Condition
from .parameters import Choice, Parameter, equal

Found: TypeAlias = tuple[str, Parameter, Condition | None]
"""A parameter's name, the parameter, and when it exists."""


@dataclass(frozen=True)
class Slot:
    """One parameter of a space, as one entry of a point's array."""

    label: str
    """Unlike any other's: the name, or where several parameters have it, the name and when."""
    name: str
    parameter: Parameter
    condition: Condition | None
    when: str
    """The condition in words, such as "model='svm'"; empty where it always exists."""


def flatten(parameters: Mapping[str, Parameter]) -> list[Slot]:
    """Every parameter, each before those that it brings along.

    A parameter that several options of one choice bring along, with the same name and the same
    range, is one parameter that exists with any of them.
    """
    found: list[Found] = []
    for name, parameter in parameters.items():
        _add(found, name, parameter, None)
    _refuse_clashes(found)
    often = {name for i, (name, *_) in enumerate(found) if any(name == n for n, *_ in found[:i])}
    slots: list[Slot] = []
    for name, parameter, condition in found:
        when = ""
        if condition is not None:
            choice = slots[condition.axis]
            assert isinstance(choice.parameter, Choice)
            options = [repr(choice.parameter.options[o]) for o in sorted(condition.options)]
            when = f"{choice.label}={' or '.join(options)}"
        label = f"{name} ({when})" if name in often and when else name
        slots.append(Slot(label, name, parameter, condition, when))
    labels = [slot.label for slot in slots]
    for label in labels:
        if labels.count(label) > 1:
            raise SpaceError(f"{label}: two parameters have this name; rename one of them")
    return slots


def _add(found: list[Found], name: str, parameter: Parameter, condition: Condition | None) -> None:
    here = len(found)
    found.append((name, parameter, condition))
    if not isinstance(parameter, Choice):
        return
    merged: list[tuple[str, Parameter, list[int]]] = []
    for option, opened in enumerate(parameter.opens):
        for inner, each in opened.items():
            same = (m for m in merged if m[0] == inner and equal(m[1], each))
            if (known := next(same, None)) is not None:
                known[2].append(option)
            else:
                merged.append((inner, each, [option]))
    for inner, each, options in merged:
        _add(found, inner, each, Condition(here, frozenset(options)))


def _refuse_clashes(found: list[Found]) -> None:
    """Two parameters of one name must never exist together."""
    for i, (name, _, condition) in enumerate(found):
        for other, _, before in found[:i]:
            if other == name and not _exclusive(
                dict(_chain(found, condition)), dict(_chain(found, before))
            ):
                raise SpaceError(
                    f"{brief(name)} is the name of two parameters that can exist together; rename "
                    "one of them"
                )


def _chain(found: list[Found], condition: Condition | None) -> Iterable[tuple[int, frozenset[int]]]:
    """All that must hold for a parameter to exist: options by axis."""
    while condition is not None:
        yield condition.axis, condition.options
        condition = found[condition.axis][2]


def _exclusive(one: dict[int, frozenset[int]], other: dict[int, frozenset[int]]) -> bool:
    return any(axis in other and not options & other[axis] for axis, options in one.items())
