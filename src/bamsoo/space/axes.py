"""The axes of the unit cube as the searches see them: what lies on each, and how it may be split.

A continuous axis can be split anywhere. A discrete axis has `count` values, each in the middle of
its own interval. They are either whole numbers, which are ordered, so that the axis is split
between two of them, or options, which have no order, so that the axis is split into all of them at
once.

An axis may have a condition: it then exists only at points that have one of certain options on an
earlier axis. At all other points its coordinate is the middle of the axis. This makes points equal
if they differ only along axes that do not exist.
"""

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise, product
from math import exp, floor, inf, log, prod
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..base.typing import Array
from .region import Region

Mask: TypeAlias = NDArray[np.bool_]

ABSENT = -10.0
"""The feature of a point along an axis that does not exist there. Other features are coordinates in
[0, 1] or indices of options. This one is no index, and it is so far from every coordinate that
`model.arcs` recognises it by the difference."""


Parts: TypeAlias = tuple[list[float], list[float]]
"""The edges of the parts into which a side of a cell is split, and the centre of each part."""


@dataclass(frozen=True)
class Axis:
    """An axis of the unit cube: what a search may ask of one."""

    ordered: ClassVar[bool] = True
    """Whether values that are near each other on the axis are more alike than others."""

    def middle_of(self, low: float, high: float) -> float:
        """The centre of a part of the axis: the middle value, the lower one if there are two."""
        raise NotImplementedError

    def split(self, low: float, centre: float, high: float, k: int) -> Parts | None:
        """The parts into which a side of a cell is split, k if possible; None if it cannot be."""
        raise NotImplementedError


@dataclass(frozen=True)
class Continuous(Axis):
    """An axis of real numbers.

    Parameters
    ----------
    finest : float, default 2**-52
        The smallest step along the axis that changes the parameter's value.
    """

    finest: float = 2.0**-52

    def middle_of(self, low: float, high: float) -> float:
        """The centre of a part of the axis."""
        return 0.5 * (low + high)

    def split(self, low: float, centre: float, high: float, k: int) -> Parts | None:
        """The k equal parts of a side; if there is a central one, it keeps the cell's centre."""
        if (high - low) / k < self.finest:
            return None
        edges = [low + (high - low) * j / k for j in range(k)] + [high]
        centres = [0.5 * (p + q) for p, q in pairwise(edges)]
        if k % 2:
            centres[k // 2] = centre
        return edges, centres


@dataclass(frozen=True)
class Discrete(Axis):
    """An axis of `count` ordered values, represented by the indices 0 to count - 1.

    Parameters
    ----------
    count : int
        The number of values.
    first : int, optional
        If given, the values are the whole numbers from here on, and the axis has a log scale. By
        default all intervals have the same length.
    """

    count: int
    first: int | None = None

    def edge(self, i: int) -> float:
        """The coordinate where the interval of value i begins and that of value i - 1 ends."""
        if self.first is None:
            return i / self.count
        if i in (0, self.count):
            return float(i > 0)
        start, width = self._scale()
        return (log(self.first - 0.5 + i) - start) / width

    def at(self, u: float) -> int:
        """The index of the value whose interval contains u."""
        if self.first is None:
            i = floor(u * self.count)
        else:
            start, width = self._scale()
            i = floor(exp(start + u * width) - (self.first - 0.5))
        return min(max(i, 0), self.count - 1)

    def boundary(self, u: float) -> int:
        """The i for which `edge(i)` is nearest to u."""
        i = self.at(u)
        return min((i, i + 1), key=lambda j: abs(self.edge(j) - u))

    def centre(self, i: int) -> float:
        """The coordinate of value i: the middle of its interval."""
        return 0.5 * (self.edge(i) + self.edge(i + 1))

    def middle_of(self, low: float, high: float) -> float:
        """The coordinate of the value in the middle, the lower one if there are two."""
        return self.centre(self._representative(self.boundary(low), self.boundary(high)))

    def split(self, low: float, centre: float, high: float, k: int) -> Parts | None:
        """The parts of a side with similar widths, cut between values."""
        first, last = self.boundary(low), self.boundary(high)
        if last - first < 2:
            return None
        cuts = self._cuts(first, last, self._number_of_parts(last - first, k))
        centres = [self.centre(self._representative(p, q)) for p, q in pairwise(cuts)]
        return [self.edge(i) for i in cuts], centres

    def _number_of_parts(self, values: int, k: int) -> int:
        return min(k, values)

    def _representative(self, first: int, last: int) -> int:
        return (first + last - 1) // 2

    def _cuts(self, first: int, last: int, parts: int) -> list[int]:
        """Indices of the edges that divide the values first..last-1 into parts."""
        low, high = self.edge(first), self.edge(last)
        cuts = [first]
        for j in range(1, parts):
            nearest = self.boundary(low + (high - low) * j / parts)
            cuts.append(min(max(nearest, cuts[-1] + 1), last - (parts - j)))
        return [*cuts, last]

    def _scale(self) -> tuple[float, float]:
        assert self.first is not None
        start = log(self.first - 0.5)
        return start, log(self.first - 0.5 + self.count) - start


@dataclass(frozen=True)
class Options(Discrete):
    """An axis of `count` options, which have no order: it is split into all of them at once."""

    ordered: ClassVar[bool] = False

    def _number_of_parts(self, values: int, k: int) -> int:
        return values

    def _representative(self, first: int, last: int) -> int:
        return first  # no option is in the middle


@dataclass(frozen=True)
class Pinned(Options):
    """An axis on which a search has one place, though values may be known at others.

    Parameters
    ----------
    count : int, default 1
        The number of places for a search, which is 1.
    place : float, default 0.5
        The coordinate of that place.
    options : int, default 0
        The number of options that the axis had before it was fixed; 0 for one of numbers.
    """

    count: int = 1
    place: float = 0.5
    options: int = 0

    def centre(self, i: int) -> float:
        """The coordinate of the one place."""
        return self.place


@dataclass(frozen=True)
class Condition:
    """When an axis exists: at points where `axis` exists and has one of `options`."""

    axis: int
    """The index of an axis of options. It is smaller than that of the axis with the condition."""
    options: frozenset[int]
    """Indices of options on that axis."""


@dataclass(frozen=True)
class Domain:
    """The search space as a search sees it: the axes of the unit cube.

    Parameters
    ----------
    axes : tuple of Axis
        The axes, in the order of a point's coordinates.
    conditions : tuple of Condition or None, default ()
        One entry per axis, None for an axis that exists everywhere; empty if all of them do.
    region : Region, optional
        The points that constraints known in advance allow. By default all points are allowed.
    """

    axes: tuple[Axis, ...]
    conditions: tuple[Condition | None, ...] = ()
    region: Region | None = field(default=None, compare=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the region: it holds the caller's functions, which often cannot be pickled."""
        return {**self.__dict__, "region": None}

    @property
    def dim(self) -> int:
        """D, the number of axes."""
        return len(self.axes)

    @property
    def finest(self) -> Array:
        """For each axis, the smallest step that changes the value; 0 for a discrete axis."""
        return np.array([a.finest if isinstance(a, Continuous) else 0.0 for a in self.axes])

    @property
    def continuous(self) -> list[int]:
        """The indices of the continuous axes."""
        return [i for i, axis in enumerate(self.axes) if isinstance(axis, Continuous)]

    @property
    def mixed(self) -> bool:
        """Whether any axis is discrete."""
        return len(self.continuous) < self.dim

    @property
    def finite(self) -> bool:
        """Whether the number of points is finite."""
        return not self.continuous

    @cached_property
    def combinations(self) -> float:
        """The number of points, whether they are allowed or not."""
        if not self.finite:
            return inf
        return prod(self._points_on(i) for i in range(self.dim) if not self._condition(i))

    @cached_property
    def size(self) -> float:
        """The number of points; with a region, of allowed points, or inf if too many to count."""
        points = self.combinations
        return points if points == inf or self.region is None else self.region.size(int(points))

    def _points_on(self, i: int) -> int:
        """The number of combinations of values on an axis and on the axes that depend on it."""
        axis = self.axes[i]
        assert isinstance(axis, Discrete)
        below = self._below(i)
        if not below:
            return axis.count
        return sum(
            prod(self._points_on(j) for j in below if option in self._options(j))
            for option in range(axis.count)
        )

    def allowed(self, x: Array) -> bool:
        """Whether a point meets the constraints that are known in advance."""
        return self.region is None or self.region.allowed(x)

    def allows(self, X: Array) -> Mask:
        """Which rows of X meet the constraints that are known in advance."""
        everywhere: Mask = np.ones(len(X), dtype=bool)
        return everywhere if self.region is None else self.region.allows(X)

    def near(self, x: Array) -> Array | None:
        """The point that x stands for, or an allowed point near it; None if none was found."""
        return self.snap(x) if self.region is None else self.region.near(x)

    def draw(self, rng: np.random.Generator) -> Array | None:
        """A random allowed point, or None if none was found.

        It is drawn uniformly unless the allowed part is so small that this takes too many tries.
        """
        return self.snap(rng.random(self.dim)) if self.region is None else self.region.draw(rng)

    def lattice(self, low: Array, high: Array, most: int) -> Array | None:
        """All points of a cell; None if an axis is continuous or there are more than `most`."""
        if not self.finite:
            return None
        places: list[list[float]] = []
        for (_, axis), a, b in zip(self.discrete, low.tolist(), high.tolist(), strict=True):
            places.append([axis.centre(i) for i in range(axis.boundary(a), axis.boundary(b))])
            if prod(map(len, places)) > most:
                return None
        every = np.array(list(product(*places))).reshape(-1, self.dim)
        # points that differ only along axes that do not exist are equal
        return np.unique(self.canonical(every), axis=0) if self.conditional else every

    def pin(self, X: Array) -> Array:
        """X, rows or a single point, with the place of a search on each axis that has only one.

        Earlier evaluations may be at others, and what is made of them must not be.
        """
        pinned = [i for i, axis in enumerate(self.axes) if isinstance(axis, Pinned)]
        if not pinned:
            return X
        X = X.copy()
        X[..., pinned] = self.middle[pinned]
        return self.canonical(X)

    def snap(self, x: Array) -> Array:
        """The point of the domain that x stands for.

        Coordinates along discrete axes are moved to the value whose interval contains them, and
        those along axes that do not exist to the middle.
        """
        if not self.discrete:
            return x.copy()
        point = x.tolist()  # a list is faster than an array for single numbers
        for i, axis in self.discrete:
            point[i] = axis.centre(axis.at(point[i]))
        return self.canonical(np.array(point))

    @cached_property
    def discrete(self) -> list[tuple[int, Discrete]]:
        """The discrete axes, each with its index."""
        return [(i, axis) for i, axis in enumerate(self.axes) if isinstance(axis, Discrete)]

    # --- conditions

    @cached_property
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
        """The indices of the axes of options that other axes depend on."""
        return sorted({condition.axis for condition in self.conditions if condition})

    @cached_property
    def middle(self) -> Array:
        """The middle of each axis, which is a point's coordinate where the axis does not exist."""
        return np.array([axis.middle_of(0.0, 1.0) for axis in self.axes])

    @cached_property
    def most_axes(self) -> int:
        """The largest number of axes that exist at the same point."""
        return sum(self._axes_with(i) for i in range(self.dim) if not self._condition(i))

    def _axes_with(self, i: int) -> int:
        """The largest number of axes that exist together: this one and those that depend on it."""
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
        """Which axes exist at each row of X, or at a single point, as a mask of the same shape."""
        if X.ndim == 1:  # most calls are for one point, and numpy takes long for a single number
            x, here = X.tolist(), [True] * self.dim
            for i, a, fits in self._tables:
                here[i] = here[a] and bool(fits[int(min(x[a] * len(fits), len(fits) - 1))])
            return np.array(here)
        there: Mask = np.ones(np.shape(X), dtype=bool)
        for i, a, fits in self._tables:
            option = np.minimum(X[..., a] * len(fits), len(fits) - 1).astype(int)
            there[..., i] = there[..., a] & fits[option]
        return there

    @cached_property
    def _tables(self) -> list[tuple[int, int, Mask]]:
        """For each axis with a condition: its index, the axis it depends on, which options fit."""
        tables = []
        for i, condition in enumerate(self.conditions):
            if condition is not None:
                axis = self.axes[condition.axis]
                assert isinstance(axis, Options)
                fits = np.isin(np.arange(axis.count), sorted(condition.options))
                tables.append((i, condition.axis, fits))
        return tables

    def canonical(self, X: Array) -> Array:
        """X, rows or a single point, with the middle of each axis where that does not exist."""
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
        """The indices of an axis's options that lie in a box."""
        axis = self.axes[a]
        assert isinstance(axis, Options)
        return slice(axis.boundary(float(low[a])), axis.boundary(float(high[a])))

    @property
    def unordered(self) -> list[int]:
        """The indices of the axes of options, on which all distances between values are equal."""
        return [i for i in range(self.dim) if self._options_on(i)]

    def _options_on(self, i: int) -> int:
        """The number of options on an axis at which values may be known; 0 for one of numbers."""
        axis = self.axes[i]
        if isinstance(axis, Pinned):
            return axis.options
        return axis.count if isinstance(axis, Options) else 0

    def features(self, X: Array) -> Array:
        """The rows of X as the GP sees them.

        An option is represented by its index, an axis that does not exist at a point by `ABSENT`,
        and everything else by its coordinate.
        """
        X = np.array(X, dtype=float, ndmin=2)
        if self.conditional:
            X = np.where(self.exists(X), X, ABSENT)
        for i in range(self.dim):
            if count := self._options_on(i):
                option = np.minimum(np.floor(X[:, i] * count), count - 1)
                X[:, i] = np.where(X[:, i] == ABSENT, ABSENT, option)
        return X

    @property
    def arcs(self) -> list[int]:
        """The indices of the axes of numbers that have a condition; see `model.arcs`."""
        return [i for i, c in enumerate(self.conditions) if c and i not in self.unordered]


def cube(dim: int) -> Domain:
    """The domain [0,1]^D: continuous axes, without conditions or constraints."""
    return Domain((Continuous(),) * dim)
