"""The axes of the unit cube as the searches see them: how each may be cut, and what lies on it.

A continuous axis is cut anywhere. A discrete one carries `count` values, each in the middle
of an interval of its own: whole numbers in order, cut between two of them, or options without
order, cut all at once.

An axis may have a condition: it exists only where an axis of options before it has one of certain
options. Where it does not exist, a point has the middle of the axis there, always the same number,
so that two points that differ in nothing that exists are one and the same point.
"""

from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import exp, floor, inf, log, prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._typing import Array
from .region import Region

Mask: TypeAlias = NDArray[np.bool_]

ABSENT = -10.0
"""The feature of a point on an axis that does not exist there; others lie in [0, 1], or are the
indices of options."""


@dataclass(frozen=True)
class Continuous:
    """An axis of real numbers; steps below `finest` make no difference to the objective."""

    finest: float = 2.0**-52

    @property
    def middle(self) -> float:
        """The centre of the uncut axis."""
        return 0.5


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

    @property
    def middle(self) -> float:
        """The value in the middle of the uncut axis."""
        return self.centre((self.count - 1) // 2)

    def _scale(self) -> tuple[float, float]:
        assert self.first is not None
        start = log(self.first - 0.5)
        return start, log(self.first - 0.5 + self.count) - start


@dataclass(frozen=True)
class Options(Steps):
    """An axis of `count` values without order."""

    @property
    def middle(self) -> float:
        """The first option: none is in the middle."""
        return self.centre(0)


Axis: TypeAlias = Continuous | Steps


@dataclass(frozen=True)
class Condition:
    """An axis with this condition exists where `axis` exists and has one of `options`."""

    axis: int
    """An axis of options, which comes before the one that has the condition."""
    options: frozenset[int]


@dataclass(frozen=True)
class Domain:
    """What a search may know of the space: its axes.

    Parameters
    ----------
    axes : tuple of Axis
    conditions : tuple of Condition or None
        One for each axis; empty where every axis exists everywhere.
    region : Region, optional
        What constraints that are known in advance allow; None: everything.
    """

    axes: tuple[Axis, ...]
    conditions: tuple[Condition | None, ...] = ()
    region: Region | None = field(default=None, compare=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Without the region: the caller's constraints are functions, which seldom pickle."""
        return {**self.__dict__, "region": None}

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
        """How many points there are; of those that are allowed, where they can be counted."""
        if not self.finite:
            return inf
        points = prod(self._points_on(i) for i in range(self.dim) if not self._condition(i))
        return points if self.region is None else self.region.size(points)

    def _points_on(self, i: int) -> int:
        """How many values an axis has, each with every point of the axes that it brings along."""
        axis = self.axes[i]
        assert isinstance(axis, Steps)
        below = self._below(i)
        if not below:
            return axis.count
        return sum(
            prod(self._points_on(j) for j in below if option in self._options(j))
            for option in range(axis.count)
        )

    def allowed(self, x: Array) -> bool:
        """Whether the constraints that are known in advance allow a point."""
        return self.region is None or self.region.allowed(x)

    def near(self, x: Array) -> Array | None:
        """The point of the domain that x stands for, or an allowed one near it, if it is found."""
        return self.snap(x) if self.region is None else self.region.near(x)

    def draw(self, rng: np.random.Generator) -> Array | None:
        """An allowed point drawn at random, uniformly where that takes few tries."""
        return self.snap(rng.random(self.dim)) if self.region is None else self.region.draw(rng)

    def lattice(self, low: Array, high: Array, most: int) -> Array | None:
        """All points of a cell, where every axis is discrete and there are at most so many."""
        places: list[list[float]] = []
        for axis, a, b in zip(self.axes, low.tolist(), high.tolist(), strict=True):
            if isinstance(axis, Continuous):
                return None
            places.append([axis.centre(i) for i in range(axis.boundary(a), axis.boundary(b))])
            if prod(map(len, places)) > most:
                return None
        every = np.array(list(product(*places))).reshape(-1, self.dim)
        # points that differ along axes that do not exist are one and the same
        return np.unique(self.canonical(every), axis=0) if self.conditional else every

    def snap(self, x: Array) -> Array:
        """The point of the domain that x stands for."""
        x = x.copy()
        for i, axis in enumerate(self.axes):
            if isinstance(axis, Steps):
                x[i] = axis.centre(axis.at(float(x[i])))
        return self.canonical(x)

    # --- conditions

    @property
    def conditional(self) -> bool:
        """Whether some axes exist only under conditions."""
        return any(self.conditions)

    def _condition(self, i: int) -> Condition | None:
        return self.conditions[i] if self.conditions else None

    def _options(self, i: int) -> frozenset[int]:
        condition = self._condition(i)
        return frozenset() if condition is None else condition.options

    @cached_property
    def opening(self) -> list[int]:
        """The axes of options that others depend on."""
        return sorted({condition.axis for condition in self.conditions if condition})

    @cached_property
    def middle(self) -> Array:
        """The middle of every axis: what a point has on an axis that does not exist there."""
        return np.array([axis.middle for axis in self.axes])

    @cached_property
    def most_axes(self) -> int:
        """How many axes exist together, at most."""
        return sum(self._axes_with(i) for i in range(self.dim) if not self._condition(i))

    def _axes_with(self, i: int) -> int:
        """An axis and those that it brings along, at most."""
        below = self._below(i)
        if not below:
            return 1
        options = {option for j in below for option in self._options(j)}
        return 1 + max(
            sum(self._axes_with(j) for j in below if option in self._options(j))
            for option in options
        )

    def _below(self, i: int) -> list[int]:
        return [j for j in range(self.dim) if (c := self._condition(j)) and c.axis == i]

    def exists(self, X: Array) -> Mask:
        """Which axes exist at each row of X, or at one point; the same shape."""
        there: Mask = np.ones(np.shape(X), dtype=bool)
        for i, a, fits in self._tables:
            option = np.minimum(X[..., a] * len(fits), len(fits) - 1).astype(int)
            there[..., i] = there[..., a] & fits[option]
        return there

    @cached_property
    def _tables(self) -> list[tuple[int, int, Mask]]:
        """For each axis with a condition, the axis it depends on, and which of its options fit."""
        tables = []
        for i, condition in enumerate(self.conditions):
            if condition is not None:
                axis = self.axes[condition.axis]
                assert isinstance(axis, Options)
                fits = np.isin(np.arange(axis.count), sorted(condition.options))
                tables.append((i, condition.axis, fits))
        return tables

    def canonical(self, X: Array) -> Array:
        """The rows of X, or one point, with the middle of every axis that does not exist there."""
        return np.where(self.exists(X), X, self.middle) if self.conditional else X

    def exists_throughout(self, low: Array, high: Array) -> list[bool]:
        """For each axis, whether it exists everywhere in the box between these corners."""
        there = [True] * self.dim
        for i, a, fits in self._tables:
            there[i] = there[a] and bool(fits[self._held(a, low, high)].all())
        return there

    def exists_somewhere(self, low: Array, high: Array) -> list[bool]:
        """For each axis, whether it exists anywhere in the box between these corners."""
        there = [True] * self.dim
        for i, a, fits in self._tables:
            there[i] = there[a] and bool(fits[self._held(a, low, high)].any())
        return there

    def _held(self, a: int, low: Array, high: Array) -> slice:
        """The options of an axis that a box holds."""
        axis = self.axes[a]
        assert isinstance(axis, Options)
        return slice(axis.boundary(float(low[a])), axis.boundary(float(high[a])))

    @property
    def unordered(self) -> list[int]:
        """The axes of options, on which any two different values are equally far apart."""
        return [i for i, axis in enumerate(self.axes) if isinstance(axis, Options)]

    def features(self, X: Array) -> Array:
        """What the GP sees of the rows of X: places on the axes, and of an option its index.

        Of an axis that does not exist at a point it sees `ABSENT`.
        """
        X = np.array(X, dtype=float, ndmin=2)
        if self.conditional:
            X = np.where(self.exists(X), X, ABSENT)
        for i, axis in enumerate(self.axes):
            if isinstance(axis, Options):
                option = np.minimum(np.floor(X[:, i] * axis.count), axis.count - 1)
                X[:, i] = np.where(X[:, i] == ABSENT, ABSENT, option)
        return X

    @property
    def arcs(self) -> list[int]:
        """The axes of numbers that exist only under conditions; see `model.arcs`."""
        return [i for i, c in enumerate(self.conditions) if c and i not in self.unordered]


def cube(dim: int) -> Domain:
    """[0,1]^D."""
    return Domain((Continuous(),) * dim)
