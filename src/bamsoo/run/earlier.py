"""Earlier evaluations in the space of this run: which of them fit, and what is assumed about them.

A source may say less than the space, for example because a parameter is new, or more, because a
parameter is gone. Nobody but the caller knows what that means for the values. So the caller says
which value a parameter had that a source lacks (`fill`), and which names of a source do not matter
(`ignore`). Anything else is refused.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..algorithms.book import SAME
from ..base.checks import brief, storable
from ..base.typing import Simple
from ..errors import BamsooError, SettingsError, SpaceError
from ..model.warp import deviation
from ..record.events import Imported
from ..record.said import Said
from ..search.optimizer import Optimizer
from ..space import Constraints, Point, Space
from ..space.constraints import as_simple


class EarlierValue(NamedTuple):
    """An earlier evaluation."""

    point: Any
    value: Any
    """None if it failed; with several objectives, a sequence with one number for each."""
    beside: Mapping[str, Any] | None = None
    """Measured constraints and extras, by name."""
    variance: float | None = None
    error: str | None = None
    curve: tuple[tuple[float, ...], ...] = ()
    """Its steps, each with the values after it."""


class Earlier(NamedTuple):
    """Earlier evaluations, and those that were left out."""

    known: list[EarlierValue]
    left_out: int = 0
    """How many do not fit the space, or are not finished."""
    why: str = ""
    """Why the first of them does not fit, and how many are not finished."""
    source: str | None = None
    """Where they are from; None for pairs."""
    filled: Mapping[str, Simple] = {}
    """The values that the caller gave to parameters which the source lacks."""
    ignored: tuple[str, ...] = ()
    """The names of the source that were ignored."""
    unfinished: int = 0
    """How many of those that were left out are not finished."""
    there: Sequence[str] = ()
    """The names that the source has."""

    @property
    def note(self) -> str:
        """For a message: how many were left out; empty if none were."""
        if not self.left_out:
            return ""
        count = f"{self.left_out} of {len(self.known) + self.left_out} known evaluations"
        misfit = "" if self.unfinished else "do not fit the space and "
        return f"{count} {misfit}were left out ({self.why})"

    def said(self, search: Optimizer) -> str:
        """The note, and whether values contradict each other that the search takes to be exact."""
        parts = [self.note] if self.note else []
        exact = search.algorithm.noise == 0.0 and not search.algorithm.repeats
        if exact and (pair := self._differing(search)):
            parts.append(
                f"known evaluations of one point have the values {pair[0]:.6g} and {pair[1]:.6g}; "
                'if values are noisy, give noise="learn"'
            )
        return "; ".join(parts)

    def _differing(self, search: Optimizer) -> tuple[float, float] | None:
        """Two values of one point that differ by more than rounding may do; None without.

        With several objectives they are of one of them, and in a fit they are sums of squares.
        """
        told = [(each, search.objectives.told(each.value)[0]) for each in self.known]
        told = [(each, numbers) for each, numbers in told if numbers]
        points = [Point.given(search.space, each.point) for each, _ in told]
        for column in zip(*(numbers for _, numbers in told), strict=True):
            most, first = SAME * deviation(np.array(column)), dict[Point, float]()
            for at, (each, _), value in zip(points, told, column, strict=True):
                if each.variance is None and abs(first.setdefault(at, value) - value) > most:
                    return first[at], value
        return None

    @property
    def event(self) -> Imported | None:
        """What is kept about the source; None if there is none."""
        if self.source is None:
            return None
        why = storable(self.why)
        filled = {storable(name): each for name, each in self.filled.items()}
        ignored = tuple(map(storable, self.ignored))
        return Imported(storable(self.source), len(self.known), self.left_out, why, filled, ignored)


@dataclass(frozen=True)
class Terms:
    """What the caller says about the differences between sources and the space, checked.

    Parameters
    ----------
    space : Space
    fill : dict, optional
        The value of each parameter that a source lacks.
    ignore : str or list of str, optional
        Names of a source that do not matter.
    flags : bool, default False
        Whether messages name the options of the command instead of the arguments in Python.
    """

    space: Space
    fill: Any = None
    ignore: Any = ()
    flags: bool = False

    def __post_init__(self) -> None:
        fill, ignore = self.fill, self.ignore
        fill = {} if fill is None else fill
        if not isinstance(fill, Mapping):
            raise SettingsError(
                "fill must be a dict that maps parameters to the value that earlier evaluations "
                f"had, got {brief(fill)}"
            )
        ignore = (ignore,) if isinstance(ignore, str) else () if ignore is None else ignore
        if not isinstance(ignore, Sequence) or not all(isinstance(each, str) for each in ignore):
            raise SettingsError(f"ignore must be a list of names, got {brief(ignore)}")
        for name, value in fill.items():
            self._check(name, value)
        for name in ignore:
            if name in self.names:
                raise SettingsError(
                    f"ignore: {name!r} is a parameter of the space; ignore is for names that only "
                    "the earlier evaluations have"
                )
        object.__setattr__(self, "fill", dict(fill))
        object.__setattr__(self, "ignore", tuple(ignore))

    def _check(self, name: Any, value: Any) -> None:
        """Raise an error unless a parameter of the space has this name and can have this value."""
        kinds = [slot.parameter for slot in self.space.slots if slot.name == name]
        if not kinds:
            raise SettingsError(
                f"fill: {brief(name)} is not a parameter of the space, which has "
                f"{', '.join(self.names)}"
            )
        wrong: list[str] = []
        for kind in kinds:
            try:
                if kind.options is not None:  # what an option opens may be filled, too
                    kind.number_of(name, value)
                else:
                    Space({"": (0.0, 1.0), name: kind}).point({"": 0.5, name: value})
            except SpaceError as error:
                wrong.append(str(error))
        if len(wrong) == len(kinds):
            raise SettingsError(f"fill: {wrong[0]}")

    @property
    def names(self) -> list[str]:
        """The names of the parameters of the space, conditional ones included."""
        return self.space.own_names

    def completed(self, given: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """A point with the parameters that it lacks, as far as that is known.

        Also returned are the names of the parameters that it still lacks.
        """
        point = {name: value for name, value in given.items() if name not in self.ignore}
        lacking: list[str] = []
        for slot in self.space.existing(point):
            if slot.name in point:
                continue
            if slot.name in self.fill:
                point[slot.name] = self.fill[slot.name]
            elif slot.parameter.fidelity is None:
                lacking.append(slot.name)
        return point, lacking

    def check_use(self, given: Sequence[Earlier]) -> None:
        """Raise an error if `fill` or `ignore` is about nothing in the earlier evaluations."""
        for setting, said in (("fill", self.fill), ("ignore", self.ignore)):
            if said and not given:
                raise SettingsError(
                    f"--{setting} is about the earlier evaluations of --import; give that, too"
                    if self.flags
                    else f"{setting}= is about the earlier evaluations of known=; give that, too"
                )
        there = dict.fromkeys(name for each in given for name in each.there)
        for name in self.ignore:
            if there and name not in there:
                raise SettingsError(
                    f"ignore: the earlier evaluations have no {name!r}, only {', '.join(there)}; "
                    "correct the name, or leave it out"
                )

    def refuse_less(self, source: str, lacking: Iterable[str], what: str, there: str) -> None:
        """Raise an error if evaluations lack parameters that the source never has."""
        for name in lacking:
            way = f"--fill {name}=VALUE" if self.flags else f"fill={{{name!r}: value}}"
            raise SettingsError(
                f"{source}: has no {what} {name!r}, only {there}; say which value it had there "
                f"with {way}"
            )

    def refuse_more(self, source: str, more: Mapping[str, Any]) -> None:
        """Raise an error if evaluations have something that the space does not have."""
        if not more:
            return
        names = " and ".join(map(repr, more))
        name, value = next(iter(more.items()))
        if self.flags:
            ways = f"--fix {name}={value}", " ".join(f"--ignore {each}" for each in more)
        else:
            ways = f"{{{name!r}: {brief(value)}}}", f"ignore={list(more)}"
        raise SettingsError(
            f"{source}: its evaluations also say {names}, which the space does not have; if the "
            f"values depend on it, fix it in the space, such as {ways[0]}, and if they do not, "
            f"give {ways[1]}"
        )


class ReadRow(NamedTuple):
    """An evaluation of a source, before it is known whether it fits."""

    known: EarlierValue
    lacking: Sequence[str] = ()
    """The names of the parameters that it has no value for."""
    more: Mapping[str, Any] = {}
    """What it says by names that the space does not have."""


class UnfinishedError(SettingsError):
    """An evaluation that has no final value, because it was stopped or has not ended."""


def fitting(
    constraints: Constraints,
    terms: Terms,
    source: str,
    rows: Iterable[tuple[str, Callable[[], ReadRow]]],
    there: Sequence[str],
    what: str = "parameter",
) -> Earlier:
    """Those of the evaluations whose points and measurements fit, and a count of the others.

    Each of the rows is a place for messages, and a function that reads an evaluation or raises a
    BamsooError. `there` are the names that the source has, and `what` is what messages call them.
    """
    kept: list[EarlierValue] = []
    misfits, unfinished, why, more = 0, 0, "", dict[str, Any]()
    for where, read in rows:
        short: list[str] = []
        try:
            known, lacking, others = read()
            short = [name for name in lacking if name not in there]
            if not short:
                constraints.space.point(known.point)
                if known.value is not None:
                    constraints.numbers(Said.besides(None, known.beside, constraints).constraints)
        except UnfinishedError:
            unfinished += 1
            continue
        except BamsooError as error:
            misfits, why = misfits + 1, why or f"{where}: {error}"
            continue
        terms.refuse_less(source, short, what, ", ".join(there))
        more = {**others, **more}
        kept.append(known)
    terms.refuse_more(source, more)
    tops = {s.name: s.parameter.ends[1] for s in terms.space.slots if s.parameter.fidelity}
    filled = {n: as_simple(n, v) for n, v in {**tops, **terms.fill}.items() if n not in there}
    ignored = tuple(name for name in terms.ignore if name in there)
    reasons = [why] if why else []
    if unfinished:
        reasons.append(f"{unfinished} without a final value: stopped early, or not finished")
    why = "; ".join(reasons)
    left_out = misfits + unfinished
    return Earlier(kept, left_out, why, source, filled, ignored, unfinished, (*there,))
