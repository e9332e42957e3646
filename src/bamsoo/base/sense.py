"""Whether larger or smaller values are better, and the one place where values change their sign.

A caller minimises or maximises. Searches, models and what is derived from them always maximise.
Between the two, each value goes through `Sense.turn`, and nothing else multiplies by a sign.
"""

from typing import NamedTuple, TypeVar

import numpy as np

from .typing import Array

T = TypeVar("T", float, Array)


class Sense(NamedTuple):
    """What the caller of a search takes for better, of one value or of several in a row."""

    sign: float | tuple[float, ...]
    """1 if larger values are better, and -1 if smaller ones are; of several, one for each."""

    def turn(self, value: T) -> T:
        """A value in the caller's sense as one to be maximised, or such a one back.

        Of several senses, the last axis of an array has a value for each.
        """
        sign = np.array(self.sign) if isinstance(self.sign, tuple) else self.sign
        return sign * value  # type: ignore[return-value]  # an array if there are several signs

    def better(self, value: float, other: float) -> bool:
        """Whether a value is better than another one, both in the caller's sense."""
        return self.turn(value) > self.turn(other)


MAXIMISED = Sense(1.0)
MINIMISED = Sense(-1.0)
