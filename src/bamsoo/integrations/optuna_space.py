"""Optuna's distributions as our parameters, and the space behind trials that are defined by run.

An Optuna objective may suggest some parameters only where another has certain values. No trial says
so; it shows in which trials have which parameters. Trials are grouped by the values of a parameter
that all of them have: what every trial of one group has, and no trial of another, comes with that
value.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
    distribution_to_json,
)
from optuna.trial import FrozenTrial, TrialState

from ..space import Choice, Int, Parameter, Real

LARGEST = 2**52
"""Whole numbers that a float can tell apart."""

MOST_VALUES = 32
"""A whole number with more values is not looked at as what other parameters depend on."""

Point: TypeAlias = dict[str, float]
"""Numbers by name, as our space has them."""


@dataclass(frozen=True)
class Suggested:
    """A parameter as it is suggested, and the parameters that come with each of its values."""

    distribution: BaseDistribution
    brings: "dict[int, Structure]" = field(default_factory=dict)


Structure: TypeAlias = dict[str, Suggested]
"""The parameters of trials by name."""

Key: TypeAlias = tuple[str, BaseDistribution]
Row: TypeAlias = dict[Key, float]
"""What a trial has suggested, in our numbers."""


def structure_of(trials: Sequence[FrozenTrial]) -> Structure:
    """Which parameters completed trials have, and on which values of others that depends.

    A parameter for which no such rule holds in all trials is left out.
    """
    rows = [_row(trial) for trial in trials if trial.state == TrialState.COMPLETE]
    keys = {key for row in rows for key in row}
    return _structure(rows, sorted(keys, key=lambda key: (key[0], distribution_to_json(key[1]))))


def _row(trial: FrozenTrial) -> Row:
    row: Row = {}
    for name, distribution in trial.distributions.items():
        if parameter(distribution) is not None:
            number = from_optuna(distribution, trial.params[name])
            if number is not None:
                row[name, distribution] = number
    return row


def _structure(rows: list[Row], keys: list[Key]) -> Structure:
    """Of rows that agree on all that these keys may depend on."""
    common = [key for key in keys if all(key in row for row in rows)]
    deciding = [key for key in common if _values(key[1]) is not None]
    brought: dict[Key, list[Key]] = {}
    for key in keys:
        if key not in common and (by := _decided_by(rows, key, deciding)) is not None:
            brought.setdefault(by, []).append(key)
    return {
        key[0]: Suggested(key[1], _brings(rows, key, brought[key]) if key in brought else {})
        for key in common
    }


def _brings(rows: list[Row], by: Key, keys: list[Key]) -> dict[int, Structure]:
    """What comes with each value of `by`, of these keys."""
    brings = {}
    for value, group in _groups(rows, by).items():
        if inner := _structure(group, [key for key in keys if any(key in row for row in group)]):
            brings[value] = inner
    return brings


def _decided_by(rows: list[Row], key: Key, deciding: list[Key]) -> Key | None:
    """The key whose values tell best which rows have `key`; None where no value rules it out."""
    best: tuple[int, Key] | None = None
    for by in deciding:
        shares = [[key in row for row in group] for group in _groups(rows, by).values()]
        undecided = sum(len(has) for has in shares if any(has) and not all(has))
        if not all(map(any, shares)) and (best is None or undecided < best[0]):
            best = undecided, by
    return None if best is None else best[1]


def _groups(rows: list[Row], key: Key) -> dict[int, list[Row]]:
    groups: dict[int, list[Row]] = {}
    for row in rows:
        groups.setdefault(int(row[key]), []).append(row)
    return groups


def _values(distribution: BaseDistribution) -> range | None:
    """The numbers of a parameter that others may depend on; None where it is no such one."""
    if isinstance(distribution, FloatDistribution):
        return None
    known = parameter(distribution)
    if isinstance(known, Choice):
        return range(len(known.options))
    if isinstance(known, Int) and known.high - known.low < MOST_VALUES:
        return range(known.low, known.high + 1)
    return None


# --- what a structure is to Optuna and to us


def flat(structure: Structure) -> dict[str, BaseDistribution]:
    """Every parameter's distribution by name; of several under one name, the first."""
    found: dict[str, BaseDistribution] = {}
    for name, suggested in structure.items():
        found.setdefault(name, suggested.distribution)
        for inner in suggested.brings.values():
            for other, distribution in flat(inner).items():
                found.setdefault(other, distribution)
    return found


def as_structure(space: Mapping[str, BaseDistribution]) -> Structure:
    """A space whose parameters all trials have."""
    return {name: Suggested(distribution) for name, distribution in space.items()}


def described(structure: Structure) -> list[Any]:
    """The same for equal structures, whatever order they were found in."""
    return [
        (name, distribution_to_json(structure[name].distribution))
        if not structure[name].brings
        else (
            name,
            distribution_to_json(structure[name].distribution),
            [(v, described(s)) for v, s in sorted(structure[name].brings.items())],
        )
        for name in sorted(structure)
    ]


def as_space(structure: Structure) -> dict[str, Parameter]:
    """The space that our search is given."""
    space: dict[str, Parameter] = {}
    for name, suggested in structure.items():
        known = parameter(suggested.distribution)
        if suggested.brings:
            values = _values(suggested.distribution)
            assert values is not None
            known = Choice({v: as_space(suggested.brings.get(v, {})) for v in values})
        assert known is not None
        space[name] = known
    return space


def numbers_of(structure: Structure, trial: FrozenTrial) -> tuple[Point, bool] | None:
    """What a trial has suggested so far, and whether that is a whole point.

    None where a value is none of its distribution's.
    """
    point, whole = {}, True
    for name, suggested in structure.items():
        if name not in trial.params:
            whole = False
            continue
        number = from_optuna(suggested.distribution, trial.params[name])
        if number is None:
            return None
        point[name] = number
        inner = numbers_of(suggested.brings.get(int(number), {}), trial)
        if inner is None:
            return None
        point |= inner[0]
        whole &= inner[1]
    return point, whole


def values_of(structure: Structure, point: Mapping[str, float]) -> dict[str, Any]:
    """A point as Optuna has it."""
    values = {}
    for name, suggested in structure.items():
        values[name] = to_optuna(suggested.distribution, point[name])
        if suggested.brings:
            values |= values_of(suggested.brings.get(int(point[name]), {}), point)
    return values


def parameter(distribution: BaseDistribution) -> Parameter | None:
    """What a distribution is to us; None where there is nothing to search, or no end to it."""
    if distribution.single():
        return None
    if isinstance(distribution, CategoricalDistribution):
        return Choice(range(len(distribution.choices)))
    assert isinstance(distribution, (FloatDistribution, IntDistribution))
    low, high, counted = distribution.low, distribution.high, counting(distribution)
    if counted is not None:
        last = round((high - low) / counted[1])
        return Int(0, last) if last <= LARGEST else None
    if isinstance(distribution, FloatDistribution):
        return Real(low, high, log=distribution.log)
    return Int(int(low), int(high), log=True) if high <= LARGEST else None


def counting(distribution: BaseDistribution) -> tuple[float, float] | None:
    """The first value and the step, where values are counted; None where they stand for themselves.

    Options are counted, and so is whatever goes in equal steps, floats too.
    """
    if isinstance(distribution, CategoricalDistribution):
        return 0, 1
    assert isinstance(distribution, (FloatDistribution, IntDistribution))
    if distribution.log or distribution.step is None:
        return None
    return distribution.low, distribution.step


def to_optuna(distribution: BaseDistribution, number: float) -> Any:
    """A parameter's value as Optuna has it."""
    counted = counting(distribution)
    if counted is not None:
        number = counted[0] + counted[1] * number
    if isinstance(distribution, FloatDistribution):
        number = min(number, distribution.high)  # the last step may be rounded beyond it
    return distribution.to_external_repr(number)


def from_optuna(distribution: BaseDistribution, value: Any) -> float | None:
    """A parameter's value as our space has it; None where it is none of the distribution's."""
    try:
        number = distribution.to_internal_repr(value)
    except ValueError:
        return None
    if not distribution._contains(number):
        return None
    counted = counting(distribution)
    if counted is not None:
        return round((number - counted[0]) / counted[1])
    return int(number) if isinstance(distribution, IntDistribution) else number
