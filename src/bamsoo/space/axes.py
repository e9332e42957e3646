"""The axes of the unit cube as the searches see them: how each may be cut, and what lies on it.

A continuous axis is cut anywhere. A discrete one carries `count` values, each in the middle
of an interval of its own: whole numbers in order, cut between two of them, or options without
order, cut all at once.
"""

from dataclasses import dataclass
from functools import cached_property
from math import exp, floor, inf, log, prod
from typing import TypeAlias

import numpy as np

from .._typing import Array


@dataclass(frozen=True)
class Continuous:
    """An axis of real numbers; steps below `finest` make no difference to the objective."""

    finest: float = 2.0**-52


@dataclass(frozen=True)
class Steps:
    """An axis of `count` whole numbers in order; with `first`, from there on a log scale."""

    count: int
    first: int | None = None

    def edge(self, i: int) -> float:
        """Where value i begins, and value i - 1 ends."""
        if self.first is None:
            return i / self.count
        if i in (0, self.count):
            return float(i > 0)
        start, width = self._scale()
        return (log(self.first - 0.5 + i) - start) / width

    def at(self, u: float) -> int:
        """The value whose interval holds u."""
        if self.first is None:
            i = floor(u * self.count)
        else:
            start, width = self._scale()
            i = floor(exp(start + u * width) - (self.first - 0.5))
        return min(max(i, 0), self.count - 1)

    def boundary(self, u: float) -> int:
        """The i whose edge is nearest to u."""
        i = self.at(u)
        return min((i, i + 1), key=lambda j: abs(self.edge(j) - u))

    def centre(self, i: int) -> float:
        """Where value i is."""
        return 0.5 * (self.edge(i) + self.edge(i + 1))

    def _scale(self) -> tuple[float, float]:
        assert self.first is not None
        start = log(self.first - 0.5)
        return start, log(self.first - 0.5 + self.count) - start


@dataclass(frozen=True)
class Options(Steps):
    """An axis of `count` values without order."""


Axis: TypeAlias = Continuous | Steps


@dataclass(frozen=True)
class Domain:
    """What a search may know of the space: its axes."""

    axes: tuple[Axis, ...]

    @property
    def dim(self) -> int:
        """D, the number of axes."""
        return len(self.axes)

    @property
    def finest(self) -> Array:
        """For each axis, the smallest step that still makes a difference."""
        return np.array([a.finest if isinstance(a, Continuous) else 0.0 for a in self.axes])

    @property
    def continuous(self) -> list[int]:
        """The axes that are continuous."""
        return [i for i, axis in enumerate(self.axes) if isinstance(axis, Continuous)]

    @property
    def mixed(self) -> bool:
        """Whether any axis is one of whole numbers or options."""
        return len(self.continuous) < self.dim

    @property
    def finite(self) -> bool:
        """Whether there are finitely many points."""
        return not self.continuous

    @cached_property
    def size(self) -> float:
        """How many points there are."""
        counts = [axis.count for axis in self.axes if isinstance(axis, Steps)]
        return prod(counts) if self.finite else inf

    def snap(self, x: Array) -> Array:
        """The point of the domain that x stands for."""
        x = x.copy()
        for i, axis in enumerate(self.axes):
            if isinstance(axis, Steps):
                x[i] = axis.centre(axis.at(float(x[i])))
        return x

    @property
    def unordered(self) -> list[int]:
        """The axes of options, on which any two different values are equally far apart."""
        return [i for i, axis in enumerate(self.axes) if isinstance(axis, Options)]

    def features(self, X: Array) -> Array:
        """What the GP sees of the rows of X: places on the axes, and of an option its index."""
        X = np.array(X, dtype=float, ndmin=2)
        for i, axis in enumerate(self.axes):
            if isinstance(axis, Options):
                X[:, i] = np.minimum(np.floor(X[:, i] * axis.count), axis.count - 1)
        return X


def cube(dim: int) -> Domain:
    """[0,1]^D."""
    return Domain((Continuous(),) * dim)
