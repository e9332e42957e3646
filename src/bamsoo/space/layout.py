"""Flattens a space with conditional parameters into a list with one entry per axis.

The options of a `Choice` may have parameters of their own, which may again be choices with
parameters. A point is a flat array, so each parameter becomes one entry of it, with the condition
under which the parameter exists.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ..base.checks import brief
from ..errors import SpaceError
from .axes import Condition
from .parameters import Parameter, equal

MOST_PARAMETERS = 1_000
"""Largest number of parameters, conditional ones included. Models compare all pairs of parameters,
so the time and memory that they take grow with its square."""

Listed: TypeAlias = tuple[str, Parameter, Condition | None]
"""A parameter's name, the parameter, and the condition under which it exists."""


@dataclass(frozen=True)
class Slot:
    """One parameter of a space, as one entry of a point's array."""

    label: str
    """A unique label: the name, or if several parameters have that name, the name with `when`."""
    name: str
    """The name that the caller gave, under which the objective receives the value."""
    parameter: Parameter
    condition: Condition | None
    """The condition under which the parameter exists; None if it always does."""
    when: str
    """The condition in words, such as "model='svm'"; empty if the parameter always exists."""


def flatten(parameters: Mapping[str, Parameter]) -> list[Slot]:
    """All parameters, each one before those that depend on it.

    Behind all others are those that are fixed and always were, and then a fidelity.

    If several options of a choice have a parameter with the same name and the same range, it
    becomes a single parameter that exists with any of these options.
    """
    found: list[Listed] = []
    cheap = [name for name, each in parameters.items() if each.fidelity is not None]
    if len(cheap) > 1:
        raise SpaceError(
            f"a space may have one Fidelity, got {' and '.join(cheap)}; make all but one of them "
            "a Real or an Int, or fix their values"
        )
    for name, parameter in sorted(parameters.items(), key=lambda each: each[0] in cheap):
        _add(found, name, parameter, None)
    _refuse_clashes(found)
    found = _with_constants_last(found)
    names = Counter(name for name, *_ in found)
    slots: list[Slot] = []
    for name, parameter, condition in found:
        when = ""
        if condition is not None:
            choice = slots[condition.axis]
            options = [repr(choice.parameter.value_of(o)) for o in sorted(condition.options)]
            when = f"{choice.label}={' or '.join(options)}"
        label = f"{name} ({when})" if names[name] > 1 and when else name
        slots.append(Slot(label, name, parameter, condition, when))
    for label, often in Counter(slot.label for slot in slots).items():
        if often > 1:
            raise SpaceError(f"{label}: two parameters have this name; rename one of them")
    return slots


def _add(found: list[Listed], name: str, parameter: Parameter, condition: Condition | None) -> None:
    here = len(found)
    found.append((name, parameter, condition))
    _check_number(len(found))
    merged: list[tuple[str, Parameter, list[int]]] = []
    for option, opened in enumerate(parameter.opens):
        for inner, each in opened.items():
            same = (m for m in merged if m[0] == inner and equal(m[1], each))
            if (known := next(same, None)) is not None:
                known[2].append(option)
            else:
                merged.append((inner, each, [option]))
                _check_number(here + len(merged))
    for inner, each, options in merged:
        _add(found, inner, each, Condition(here, frozenset(options)))


def _with_constants_last(found: list[Listed]) -> list[Listed]:
    """The parameters in the same order, except that constants and then a fidelity come last."""

    def behind(i: int) -> tuple[bool, bool]:
        parameter = found[i][1]
        return parameter.fidelity is not None, parameter.searched is None

    order = sorted(range(len(found)), key=behind)
    place = {old: new for new, old in enumerate(order)}
    moved = []
    for name, parameter, condition in (found[i] for i in order):
        if condition is not None:
            condition = Condition(place[condition.axis], condition.options)
        moved.append((name, parameter, condition))
    return moved


def _check_number(parameters: int) -> None:
    if parameters > MOST_PARAMETERS:
        raise SpaceError(f"a space may have at most {MOST_PARAMETERS} parameters, got more")


def _refuse_clashes(found: list[Listed]) -> None:
    """Raise an error if two parameters with the same name can exist at the same point."""
    for i, (name, _, condition) in enumerate(found):
        for other, _, before in found[:i]:
            if other == name and not _exclusive(
                dict(_chain(found, condition)), dict(_chain(found, before))
            ):
                raise SpaceError(
                    f"{brief(name)} is the name of two parameters that can exist together in a "
                    "point; rename one of them"
                )


def _chain(
    found: list[Listed], condition: Condition | None
) -> Iterable[tuple[int, frozenset[int]]]:
    """Everything that must hold for a parameter to exist: pairs of an axis and its options."""
    while condition is not None:
        yield condition.axis, condition.options
        condition = found[condition.axis][2]


def _exclusive(one: dict[int, frozenset[int]], other: dict[int, frozenset[int]]) -> bool:
    """Whether two sets of conditions need different options on the same axis."""
    return any(axis in other and not options & other[axis] for axis, options in one.items())
