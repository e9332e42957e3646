"""A point of a space, and what makes two points the same.

Nothing else in the package turns points into bytes or back.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..base.typing import Array
from .space import Space


def key_of(x: Array) -> bytes:
    """What identifies the point of an array: two points are the same if their keys are."""
    return x.tobytes()


def numbers_of(key: bytes) -> Array:
    """The numbers of a point, which cannot be written to."""
    return np.frombuffer(key)


@dataclass(frozen=True)
class Point:
    """A point of a space.

    It is made once, where a search names it or a caller gives it, and carried by trials and
    evaluations. Two are equal if their numbers are, bit for bit.
    """

    key: bytes = field(repr=False)
    space: Space = field(repr=False, compare=False)

    @classmethod
    def of(cls, space: Space, x: Array) -> "Point":
        """The point with these numbers, which are known to be possible."""
        return cls(key_of(x), space)

    @classmethod
    def given(cls, space: Space, point: Any) -> "Point":
        """The point that a caller gave as an array or a dict; raises a SpaceError if it is none."""
        return cls(key_of(space.point(point)), space)

    @classmethod
    def decoded(cls, space: Space, unit: Array) -> "Point":
        """The point that a point of the cube stands for, at the top of the fidelity."""
        return cls(key_of(space.decode(unit)), space)

    def __hash__(self) -> int:
        return hash(self.key)  # points are looked up often; this is the quickest

    def __repr__(self) -> str:
        return f"Point({self.params})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Point, (self.key, self.space)  # without what can be computed again

    @cached_property
    def x(self) -> Array:
        """Its numbers in the caller's units, which cannot be written to."""
        return numbers_of(self.key)

    @cached_property
    def unit(self) -> Array:
        """The point of the cube that it is, whatever its fidelity; it cannot be written to."""
        unit = self.space.encode(self.x)
        unit.flags.writeable = False
        return unit

    @property
    def params(self) -> dict[str, Any]:
        """Values by name (x0, x1, ... where the space has no names)."""
        return self.space.params(self.x)

    # --- the fidelity, which is the last number

    @property
    def level(self) -> float:
        """The value of the fidelity."""
        return float(self.x[-1])

    def at(self, level: float) -> "Point":
        """The same point at another level of the fidelity."""
        return Point.of(self.space, np.append(self.x[:-1], level))

    @property
    def at_top(self) -> "Point":
        """The point at the top of the fidelity; the point itself if it has none."""
        fidelity = self.space.fidelity
        return self if fidelity is None or self.level == fidelity.high else self.at(fidelity.high)
