"""What the package asks of a parameter, whatever its kind, and how all kinds become JSON.

A kind is one class, in a file of its own. It says what its numbers are, which axis of the unit cube
they lie on, and how values are stored, shown and written. No other module asks for the type of a
parameter, so that a new kind needs no change elsewhere; `skeletons/parameter.py` is one to copy.

In the array of a point, each value of a parameter is represented by one number. For a parameter of
numbers, it is the value; for one with options, the index of the option.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar

from ...base.checks import brief
from ...base.simple import made, option_from_json, option_to_json, plain
from ...errors import SpaceError, StudyError
from ..axes import Axis, Continuous, Discrete
from .given import equal, single
from .interval import Grid

KINDS: dict[str, type["Parameter"]] = {}
"""The kinds of parameters by name, under which a study stores them. Each registers itself when its
class is made. If two have the same name, the first one keeps it."""


class Parameter:
    """A kind of parameter: all that the rest of the package asks of one.

    A class of this kind is a frozen dataclass, and most of them need only a few of these methods.
    If it has `options` or a `grid`, its values are discrete, and most methods follow from that; if
    not, it is a range of real numbers.
    """

    flag: ClassVar[str] = ""
    """The word by which the command knows this kind; empty if it knows it by its other keys."""
    form: ClassVar[str] = ""
    """How the command's options describe this kind, for messages."""
    entry: ClassVar[tuple[str, ...]] = ()
    """The keys of an entry in a TOML file in addition to the flag, the necessary ones first."""
    needed: ClassVar[int] = 0
    """How many of these keys are necessary."""
    since: ClassVar[Mapping[str, Any]] = {}
    """Fields that were added after studies of this kind were stored, with their defaults."""

    def __init_subclass__(cls) -> None:
        KINDS.setdefault(cls.__name__, cls)

    # --- the values, and the numbers that represent them

    @property
    def options(self) -> tuple[Any, ...] | None:
        """The values, each represented by its index; None if the values are numbers."""
        return None

    @property
    def opens(self) -> tuple[dict[str, "Parameter"], ...]:
        """For each option, the parameters that exist only with it; empty if no option has any."""
        return ()

    def opening(self, opens: Sequence[Mapping[str, "Parameter"]]) -> "Parameter":
        """The same options, which open other parameters."""
        raise NotImplementedError

    @property
    def whole(self) -> bool:
        """Whether all values are whole numbers."""
        return False

    @property
    def log(self) -> bool:
        """Whether the scale is logarithmic."""
        return False

    @property
    def step(self) -> float | None:
        """The difference of neighbouring values, if it was given."""
        return None

    def grid(self) -> Grid | None:
        """The numbers that represent the values; None if these are continuous."""
        return None if self.options is None else Grid(0, 1, 1, len(self.options))

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest number that represents a value."""
        grid = self.grid()
        assert grid is not None
        return grid.value(0), grid.value(grid.count - 1)

    def number_of(self, name: str, value: Any) -> Any:
        """The number that represents a value of a point; raises a SpaceError if there is none.

        If the values are numbers, they are checked later, by `check`.
        """
        if self.options is None:
            return value
        if (i := self.index(value)) is None:
            raise SpaceError(f"{name}: expected one of {brief(self.options)}, got {brief(value)}")
        return float(i)

    def index(self, value: Any) -> int | None:
        """The index of the option of the same type that equals a value, or None."""
        same = (type(each) is type(value) and equal(each, value) for each in self.options or ())
        return next((i for i, found in enumerate(same) if found), None)

    def value_of(self, number: float) -> Any:
        """The value that a number represents."""
        if self.options is not None:
            return self.options[int(number)]
        return int(number) if self.whole else number

    def check(self, name: str, number: float, given: Any) -> None:
        """Raise a SpaceError unless a number, given as `given`, represents a value."""
        low, high = map(float, self.ends)
        if not low <= number <= high:
            raise SpaceError(f"{name}: {brief(given)} lies outside [{low}, {high}]")
        grid = self.grid()
        if grid is not None and number != (nearest := grid.value(grid.index(number))):
            raise SpaceError(f"{name}: {self.why_not(number, nearest)}")

    def why_not(self, number: float, nearest: float) -> str:
        """In words, why a number within the ends represents no value."""
        return f"expected a whole number, got {number}"

    def has(self, value: Any) -> bool:
        """Whether this is one of the values, if steps are left out of account."""
        if self.options is not None:
            return self.index(value) is not None
        number = single(value)
        low, high = self.ends
        return (
            number is not None
            and (number.is_integer() or not self.whole)
            and (low <= number <= high)
        )

    @property
    def default(self) -> float | None:
        """The number of a point that says nothing about the parameter; None: it has to."""
        return None

    @property
    def numeric(self) -> bool:
        """Whether one can calculate with every value."""
        return all(isinstance(option, (int, float)) for option in self.options or ())

    @property
    def no_number(self) -> str:
        """What it is, in words, if an array of numbers says too little about it; else empty."""
        return "" if self.options is None else f"a {type(self).__name__}"

    # --- its place in a space

    @property
    def searched(self) -> "Parameter | None":
        """The parameter that an axis of the cube is for; None if no axis is for this one."""
        return self

    @property
    def fidelity(self) -> Any:  # a Fidelity or None; that module imports this one
        """The parameter itself if it says how exact an evaluation is."""
        return None

    @property
    def fixed(self) -> Any:  # a Fixed or None
        """The parameter itself if a search has one value for it."""
        return None

    @property
    def name_needed(self) -> str:
        """Why a space without names cannot have it, and what to do; empty if it can."""
        if self.options is None:
            return ""
        return (
            f"a {type(self).__name__} needs a name, because an array cannot hold an option; give "
            f"the space as a dict, such as {{'kind': {brief(self)}}}"
        )

    def axis(self, finest: float) -> Axis:
        """The axis of the cube. On a continuous one, `finest` is the smallest step that counts."""
        grid = self.grid()
        return Continuous(finest) if grid is None else Discrete(grid.count)

    def loosened(self) -> "Parameter":
        """The same parameter without steps, and without what its options open."""
        return self

    # --- words

    def read(self, number: float) -> Any:
        """The value for a number that was read from a text, which may not be a possible one."""
        return int(number) if self.whole and number.is_integer() else number

    @property
    def range_in_words(self) -> str:
        """The ends, for a person."""
        if self.options is not None:
            return f"{str(self.options[0])[:12]} to {str(self.options[-1])[:12]}"
        low, high = self.ends
        return f"{low:g} to {high:g}"

    @property
    def ticks(self) -> list[tuple[float, str]] | None:
        """The labels at an axis of a picture; None if it has those of numbers."""
        if self.options is None:
            return None
        return [(float(i), str(option)[:20]) for i, option in enumerate(self.options)]

    def described(self) -> dict[str, Any]:
        """The parameter as the report's page takes it.

        It has either `options`, and whether they are `ordered`, or the numbers `low` and `high`,
        whether they are on a `log` scale, the `step` or None, and whether they are `whole`.
        """
        if self.options is not None:
            ordered = self.axis(0.0).ordered
            return {"options": texts_of(self.options), "ordered": ordered}
        low, high = self.ends
        step = self.step or (1 if self.whole else None)
        return {"low": low, "high": high, "log": self.log, "step": step, "whole": self.whole}

    # --- JSON

    def to_json(self, name: str) -> dict[str, Any]:
        """The parameter as a study stores it, without its name."""
        stored: dict[str, Any] = {}
        for field in fields(self):  # type: ignore[arg-type]  # each kind is a dataclass
            value = getattr(self, field.name)
            if field.name == "options":
                stored["options"] = [option_to_json(name, option) for option in value]
            elif field.name not in self.since or value != self.since[field.name]:
                stored[field.name] = plain(name, value)
        return stored

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Parameter":
        """The parameter that `to_json` stored."""
        given = dict(stored)
        if "options" in given:
            given["options"] = [option_from_json(option) for option in given["options"]]
        parameter: Parameter = made(cls, given)
        return parameter

    # --- the command

    def as_option(self, name: str) -> tuple[str, str] | None:
        """The option of the command that describes it, and its value; None if there is none."""
        if self.options is None or not all(type(o) in (str, int, float) for o in self.options):
            return None
        return "--param", f"{name}=" + ",".join(map(str, self.options))

    @classmethod
    def from_entry(cls, given: Mapping[str, Any]) -> "Parameter":
        """The parameter for the keys of `entry`, as the command has read them."""
        return cls(**given)


def texts_of(options: Sequence[Any]) -> list[str]:
    """The options as text, in Python notation if two of them would otherwise look the same."""
    texts = [str(option) for option in options]
    if len(set(texts)) < len(texts):
        return [repr(option) for option in options]
    return texts


def parameter_to_json(name: str, parameter: Parameter) -> dict[str, Any]:
    """A parameter as a study stores it."""
    kind = type(parameter)
    if KINDS.get(kind.__name__) is not kind:
        raise StudyError(
            f"{name}: a study stores a parameter under the name of its kind, and another kind is "
            f"called {kind.__name__}; rename this one"
        )
    return {"name": name, "kind": kind.__name__, **parameter.to_json(name)}


def parameters_to_json(given: Mapping[str, Parameter]) -> list[dict[str, Any]]:
    """Parameters as a study stores them."""
    return [parameter_to_json(name, parameter) for name, parameter in given.items()]


def parameter_from_json(stored: Mapping[str, Any]) -> Parameter:
    """The parameter that `parameter_to_json` stored."""
    if stored["kind"] not in KINDS:
        raise StudyError(
            f"the study uses {brief(stored['kind'])}, which this version of bamsoo does not have; "
            "update bamsoo"
        )
    rest = {key: value for key, value in stored.items() if key not in ("name", "kind")}
    return KINDS[stored["kind"]].from_json(rest)


def parameters_from_json(stored: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The parameters that `parameters_to_json` stored."""
    return {each["name"]: parameter_from_json(each) for each in stored}
