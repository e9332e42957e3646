"""Options that have no order, each of which may open parameters of its own."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from ...base.checks import brief
from ...base.simple import made, option_from_json, option_to_json
from ...errors import SpaceError
from ..axes import Axis, Options
from .given import equal
from .parameter import Parameter, parameters_from_json, parameters_to_json
from .reading import as_parameters


@dataclass(frozen=True, repr=False)
class Choice(Parameter):
    """One of several options that have no order.

    Parameters
    ----------
    options : sequence or dict
        The values that the objective may receive: distinct strings, numbers or other objects. The
        points that a search asks for depend on the order in which the options are listed, so a set
        is refused. If this is a dict, it maps each option to the parameters that exist only with
        that option: a dict of name -> parameter, or None if there are none. These parameters may
        be choices with parameters of their own.

    Examples
    --------
    >>> from bamsoo import Choice, Int, Real
    >>> model = Choice({"svm": {"C": Real(1e-3, 1e3, log=True)}, "forest": {"depth": Int(1, 20)}})
    >>> model.options
    ('svm', 'forest')
    """

    form: ClassVar[str] = "NAME=a,b,c"
    entry: ClassVar[tuple[str, ...]] = ("choices",)
    needed: ClassVar[int] = 1

    options: tuple[Any, ...] = ()
    opens: tuple[dict[str, Parameter], ...] = field(default=(), hash=False)
    """For each option, the parameters that exist only with it; empty if no option has any."""

    def __init__(self, options: Sequence[Any] | Mapping[Any, Any]) -> None:
        if isinstance(options, (str, bytes)) or not isinstance(options, Iterable):
            raise SpaceError(f"Choice: expected a list of options, got {brief(options)}")
        if isinstance(options, (set, frozenset)):
            raise SpaceError(
                "Choice: a set has no order, so equal searches could ask for different points, "
                f"got {brief(options)}; give a list, such as sorted(options)"
            )
        object.__setattr__(self, "options", tuple(options))
        if not self.options:
            raise SpaceError("Choice: expected at least one option, got none")
        for option in _repeated(self.options):
            raise SpaceError(f"Choice: the option {brief(option)} is listed twice; leave one out")
        opens: tuple[dict[str, Parameter], ...] = ()
        if isinstance(options, Mapping):
            opens = tuple(_opened(option, given) for option, given in options.items())
        object.__setattr__(self, "opens", opens if any(opens) else ())

    @cached_property
    def _places(self) -> dict[Any, int]:
        """The index of each option that has a hash, by its type and itself."""
        places = {}
        for i, option in enumerate(self.options):
            with suppress(Exception):
                places[type(option), option] = i
        return places

    def index(self, value: Any) -> int | None:
        """The index of the option of the same type that equals a value, or None."""
        with suppress(Exception):  # a value without a hash
            return self._places[type(value), value]
        return super().index(value)

    def opening(self, opens: Sequence[Mapping[str, Parameter]]) -> "Choice":
        """The same options, which open other parameters."""
        return Choice(dict(zip(self.options, opens, strict=True)))

    def axis(self, finest: float) -> Axis:
        """Options, into all of which the axis is split at once."""
        return Options(len(self.options))

    def loosened(self) -> "Choice":
        """The same options, of which none opens parameters."""
        return Choice(self.options) if self.opens else self

    def to_json(self, name: str) -> dict[str, Any]:
        """The options, and what they open, as a study stores them."""
        stored = {"options": [option_to_json(name, option) for option in self.options]}
        if self.opens:
            stored["opens"] = [parameters_to_json(opened) for opened in self.opens]
        return stored

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Parameter:
        """The choice that `to_json` stored."""
        rest = {key: value for key, value in stored.items() if key != "opens"}
        options: Any = [option_from_json(option) for option in rest.get("options", ())]
        if "opens" in stored:
            opened = [parameters_from_json(each) for each in stored["opens"]]
            options = dict(zip(options, opened, strict=True))
        choice: Parameter = made(cls, {**rest, "options": options})
        return choice

    def as_option(self, name: str) -> tuple[str, str] | None:
        """The option of the command that describes it; None if its options open parameters."""
        return None if self.opens else super().as_option(name)

    @classmethod
    def from_entry(cls, given: Mapping[str, Any]) -> Parameter:
        """The choice between the `choices` of an entry."""
        return cls(given["choices"])

    def __repr__(self) -> str:
        if not self.opens:
            return f"Choice(options={self.options!r})"
        return f"Choice({dict(zip(self.options, self.opens, strict=True))!r})"


def _repeated(options: tuple[Any, ...]) -> Iterator[Any]:
    """The options that equal an earlier one."""
    seen: set[Any] = set()
    rest: list[Any] = []  # without a hash, or not equal to themselves: compared one by one
    for option in options:
        known = any(equal(option, other) for other in rest)
        try:
            if option != option:
                raise TypeError
            known = known or option in seen
            seen.add(option)
        except Exception:
            known = known or any(equal(option, other) for other in seen)
            rest.append(option)
        if known:
            yield option


def _opened(option: Any, given: Any) -> dict[str, Parameter]:
    """Check the parameters that exist only with an option, and return them."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise SpaceError(
            f"Choice: the option {brief(option)} must map to a dict of parameters or to None, got "
            f"{brief(given)}"
        )
    opened = as_parameters(given)
    for name, each in opened.items():
        if each.fidelity is not None:
            raise SpaceError(
                f"{name}: a Fidelity applies to every evaluation, so it cannot exist only with the "
                f"option {brief(option)}; move it out of the Choice"
            )
    return opened
