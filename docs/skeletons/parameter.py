"""A kind of parameter to copy: options that have an order.

Copy this file to `src/bamsoo/space/parameters/`, import it in the `__init__.py` there, and rename
the class. Nothing else has to change: a test takes this file, as it is, through a run, a study, a
report and an export. `parameter.py` in that folder has all methods, with what they mean.

What must not go here: what a search does with the parameter (that is the business of the axis, in
`space/axes.py`), and anything that opens files or draws. Nor may another module ask whether a
parameter is of this kind. If one has to treat it differently, add a method to `Parameter`, whose
default is right for all other kinds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from bamsoo.errors import SpaceError
from bamsoo.space.axes import Axis, Discrete
from bamsoo.space.parameters import Parameter


@dataclass(frozen=True)  # frozen, since points and studies rely on it; the fields are its settings
class Ordinal(Parameter):
    """One of several options, of which neighbours are alike.

    Parameters
    ----------
    options : sequence
        The values, in order.
    """

    # How the command knows the kind: an entry of a TOML file with the flag and these keys.
    flag: ClassVar[str] = "ordinal"
    entry: ClassVar[tuple[str, ...]] = ("choices",)
    needed: ClassVar[int] = 1

    # A kind with `options` has discrete values, each represented by its index. A kind of numbers
    # has `ends` instead, and a `grid()` if its values are discrete.
    options: tuple[Any, ...] = ()

    def __init__(self, options: Sequence[Any]) -> None:
        # All checks are made here: every parameter that exists is valid. The message has one
        # sentence, with what was given and what was expected.
        if isinstance(options, str) or len(options) < 2:
            raise SpaceError(f"Ordinal: expected a list of two options or more, got {options!r}")
        object.__setattr__(self, "options", tuple(options))

    def axis(self, finest: float) -> Axis:
        """Ordered values: a search splits them in the middle, and neighbours are alike."""
        return Discrete(len(self.options))

    @classmethod
    def from_entry(cls, given: Any) -> Parameter:
        """The parameter for what the command has read."""
        return cls(given["choices"])

    # JSON, tables, labels, the page and `bamsoo fork` follow from `options` and the fields.
