"""Optuna's distributions as bamsoo's parameters, and the space behind define-by-run trials.

An Optuna objective may suggest some parameters only if another parameter has certain values. This
is not stored anywhere; it has to be inferred from which trials have which parameters. Trials are
grouped by the values of a parameter that all of them have. A parameter that every trial of one
group has, and no trial of another group, is taken to depend on that value.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
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
"""Up to this size, a float can represent every whole number."""

MOST_VALUES = 32
"""A parameter of whole numbers is considered as one that other parameters depend on only if it has
at most this many values."""

CallerPoint: TypeAlias = dict[str, float]
"""Numbers by name, in bamsoo's own representation."""


@dataclass(frozen=True)
class Suggested:
    """The distribution of a parameter, and the parameters that come with each of its values."""

    distribution: BaseDistribution
    brings: "dict[int, Structure]" = field(default_factory=dict)


Structure: TypeAlias = dict[str, Suggested]
"""The parameters of trials, by name."""

Key: TypeAlias = tuple[str, BaseDistribution]
TrialRow: TypeAlias = dict[Key, float]
"""The values that a trial has suggested, in bamsoo's own representation."""


def structure_of(trials: Sequence[FrozenTrial]) -> Structure:
    """The parameters of completed trials, and how their presence depends on other values.

    A parameter whose presence follows no rule that holds in all trials is left out. A trial with a
    value outside its own distribution, which somebody enqueued, says nothing about that.
    """
    done = (trial for trial in trials if trial.state == TrialState.COMPLETE)
    rows = [row for trial in done if (row := _row(trial)) is not None]
    keys = {key for row in rows for key in row}
    return _structure(rows, sorted(keys, key=lambda key: (key[0], distribution_to_json(key[1]))))


def _row(trial: FrozenTrial) -> TrialRow | None:
    """The values of a trial; None if one of them does not belong to its distribution."""
    row: TrialRow = {}
    for name, distribution in trial.distributions.items():
        if parameter(distribution) is not None:
            number = from_optuna(distribution, trial.params[name])
            if number is None:
                return None
            row[name, distribution] = number
    return row


def _latest(rows: list[TrialRow], keys: list[Key]) -> list[Key]:
    """The keys, with one distribution for each parameter whose range was changed.

    All rows have such a parameter, and no other parameter decides with which of its distributions.
    The latest one counts, and the rows get it, too.
    """
    deciding = [key for key in keys if all(key in row for row in rows) and _values(key[1])]
    kept = list(keys)
    for name in {key[0] for key in keys}:
        own = [key for key in keys if key[0] == name]
        if len(own) < 2 or not _has_one(rows, own):
            continue
        if any(_splits(rows, by, own) for by in deciding):
            continue
        latest = next(key for key in rows[-1] if key[0] == name)
        for row in rows:
            row.setdefault(latest, nan)
        kept = [key for key in kept if key not in own or key == latest]
    return kept


def _has_one(rows: list[TrialRow], keys: list[Key]) -> bool:
    """Whether each row has just one of these keys."""
    return all(sum(key in row for key in keys) == 1 for row in rows)


def _splits(rows: list[TrialRow], by: Key, keys: list[Key]) -> bool:
    """Whether each value of `by` comes with one of these keys only."""
    groups = _groups(rows, by).values()
    return all(sum(any(key in row for row in group) for key in keys) == 1 for group in groups)


def _structure(rows: list[TrialRow], keys: list[Key]) -> Structure:
    """The structure of rows that have the same values of the parameters decided on so far."""
    keys = _latest(rows, keys)
    common = [key for key in keys if all(key in row for row in rows)]
    known = [key for key in common if not any(isnan(row[key]) for row in rows)]
    deciding = [key for key in known if _values(key[1]) is not None]
    brought: dict[Key, list[Key]] = {}
    for key in keys:
        if key not in common and (by := _decided_by(rows, key, deciding)) is not None:
            brought.setdefault(by, []).append(key)
    return {
        key[0]: Suggested(key[1], _brings(rows, key, brought[key]) if key in brought else {})
        for key in common
    }


def _brings(rows: list[TrialRow], by: Key, keys: list[Key]) -> dict[int, Structure]:
    """For each value of `by`, the structure of those of the keys that come with it."""
    brings = {}
    for value, group in _groups(rows, by).items():
        if inner := _structure(group, [key for key in keys if any(key in row for row in group)]):
            brings[value] = inner
    return brings


def _decided_by(rows: list[TrialRow], key: Key, deciding: list[Key]) -> Key | None:
    """The key whose values best predict which rows have `key`; None if no value excludes it."""
    best: tuple[int, Key] | None = None
    for by in deciding:
        shares = [[key in row for row in group] for group in _groups(rows, by).values()]
        undecided = sum(len(has) for has in shares if any(has) and not all(has))
        if not all(map(any, shares)) and (best is None or undecided < best[0]):
            best = undecided, by
    return None if best is None else best[1]


def _groups(rows: list[TrialRow], key: Key) -> dict[int, list[TrialRow]]:
    groups: dict[int, list[TrialRow]] = {}
    for row in rows:
        groups.setdefault(int(row[key]), []).append(row)
    return groups


def _values(distribution: BaseDistribution) -> range | None:
    """The values of a parameter on which others may depend; None if none can."""
    if isinstance(distribution, FloatDistribution):
        return None
    known = parameter(distribution)
    grid = None if known is None else known.grid()
    if known is None or grid is None or (known.options is None and grid.count > MOST_VALUES):
        return None
    return range(grid.first, grid.first + grid.count)


# --- conversions between Optuna and bamsoo


def flat(structure: Structure) -> dict[str, BaseDistribution]:
    """The distribution of every parameter by name; the first one if a name occurs repeatedly."""
    found: dict[str, BaseDistribution] = {}
    for name, suggested in structure.items():
        found.setdefault(name, suggested.distribution)
        for inner in suggested.brings.values():
            for other, distribution in flat(inner).items():
                found.setdefault(other, distribution)
    return found


def as_structure(space: Mapping[str, BaseDistribution]) -> Structure:
    """The structure of a space whose parameters are present in all trials."""
    return {name: Suggested(distribution) for name, distribution in space.items()}


def described(structure: Structure) -> list[Any]:
    """A description that is the same for equal structures, whatever their order."""
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
    """The space for the bamsoo search."""
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


def suggested_by(structure: Structure, trial: FrozenTrial) -> tuple[CallerPoint, bool] | None:
    """The values that a trial has suggested so far, and whether they make a complete point.

    None if a value does not belong to its distribution.
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
        inner = suggested_by(suggested.brings.get(int(number), {}), trial)
        if inner is None:
            return None
        point |= inner[0]
        whole &= inner[1]
    return point, whole


def values_of(structure: Structure, point: Mapping[str, float]) -> dict[str, Any]:
    """A point in Optuna's representation."""
    values = {}
    for name, suggested in structure.items():
        values[name] = to_optuna(suggested.distribution, point[name])
        if suggested.brings:
            values |= values_of(suggested.brings.get(int(point[name]), {}), point)
    return values


def parameter(distribution: BaseDistribution) -> Parameter | None:
    """The parameter for a distribution; None if it has a single value, or too many to count."""
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
    """The first value and the step, if values are represented by an index; otherwise None.

    Options are represented by an index, and so are all numbers with equal steps, floats included.
    """
    if isinstance(distribution, CategoricalDistribution):
        return 0, 1
    assert isinstance(distribution, (FloatDistribution, IntDistribution))
    if distribution.log or distribution.step is None:
        return None
    return distribution.low, distribution.step


def to_optuna(distribution: BaseDistribution, number: float) -> Any:
    """A parameter's value in Optuna's representation."""
    counted = counting(distribution)
    if counted is not None:
        number = counted[0] + counted[1] * number
    if isinstance(distribution, FloatDistribution):
        number = min(number, distribution.high)  # rounding may put the last step beyond it
    return distribution.to_external_repr(number)


def from_optuna(distribution: BaseDistribution, value: Any) -> float | None:
    """A parameter's value in bamsoo's representation; None if the distribution lacks it."""
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
