"""Where each parameter may lie so that the value stays close and every constraint is met."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.checks import readable
from ..base.typing import Array
from ..space import Space
from .predictor import Requirement

FINE = 201
"""Number of points along a parameter at which `range_of` looks, or the number of its values if that
is smaller."""

FINER = 33
"""Number of points between two of these at which it looks for an end of a continuous range."""

SURE = 0.9
"""A point belongs to a range if the model is as sure of it. With 0.5, half of the ends would not
hold; with 0.99, ranges end far before the models expect the value to be too bad."""


class Range(NamedTuple):
    """Where a point stays good enough along one parameter.

    A parameter with options has `options`, any other one has `low` and `high`.
    """

    low: float | int | None
    high: float | int | None
    options: tuple[Any, ...] | None
    sure: float
    """The smallest probability, by the models and over the whole range, that a point is."""

    def __repr__(self) -> str:
        known = {name: each for name, each in self._asdict().items() if each is not None}
        return f"Range({', '.join(f'{name}={readable(each)}' for name, each in known.items())})"


class Requirements(NamedTuple):
    """What the points of a range have to meet."""

    demands: Sequence[Requirement]
    """Of the value and of the measured constraints."""
    allows: Callable[[list[Array]], NDArray[np.bool_]]
    """Whether each point meets every constraint that is known in advance."""
    known: bool
    """Whether the best point is known to be good enough, since there is no noise."""

    def along(self, best: Array, i: int, points: list[Array]) -> "Requirements":
        """Without the demands on numbers that do not depend on parameter i."""
        if not self.known or any(_elsewhere(best, x, i) for x in points):
            return self
        kept = [each for each in self.demands if not each.model.ignores(i, best, points)]
        return self._replace(demands=kept)

    def chance(self, points: list[Array]) -> Array:
        """The probability that each point is good enough."""
        found = self.allows(points).astype(float)
        for each in self.demands:
            found *= each.chance(points)
        return found


def _elsewhere(one: Array, other: Array, i: int) -> bool:
    """Whether two points differ in another parameter than i."""
    return not np.array_equal(np.delete(one, i), np.delete(other, i), equal_nan=True)


def range_of(space: Space, standing: Requirements, best: Array, i: int) -> Range:
    """The range of parameter i around the best point in which points are good enough.

    The other parameters are as in the best point, except that those that another option opens have
    the middle of their ranges.
    """
    parameter = space.slots[i].parameter
    grid, here = _along(space, best, i)
    points = _moved(space, best, i, grid)
    standing = standing.along(best, i, points)
    sure = standing.chance(points)
    if standing.known:
        sure[here] = 1.0
    near = sure >= SURE
    near[here] = True
    if parameter.options is not None:
        options = tuple(map(parameter.value_of, grid[near].tolist()))
        return Range(None, None, options, float(sure[near].min()))
    left = here - int(np.argmin([*near[here::-1], False])) + 1
    right = here + int(np.argmin([*near[here:], False])) - 1
    least = float(sure[left : right + 1].min())
    low, high = float(grid[left]), float(grid[right])
    if i in space.domain.continuous:
        low, at_low = _end(space, standing, best, i, grid, left, left - 1)
        high, at_high = _end(space, standing, best, i, grid, right, right + 1)
        least = min(least, at_low, at_high)
    return Range(parameter.value_of(low), parameter.value_of(high), None, least)


def _moved(space: Space, best: Array, i: int, values: Array) -> list[Array]:
    """The best point with other values of parameter i."""
    X = np.repeat(best[None], len(values), axis=0)
    X[:, i] = values
    return [space.completed(x) for x in X]


def _along(space: Space, best: Array, i: int) -> tuple[Array, int]:
    """Values of parameter i, evenly spaced on its scale, and the index of the best point's."""
    axis = dict(space.domain.discrete).get(i)
    if axis is not None and axis.count <= FINE:
        places = np.array([axis.centre(j) for j in range(axis.count)])
    else:
        places = np.linspace(0.0, 1.0, FINE)
    U = np.repeat(space.encode(best)[None], len(places), axis=0)
    U[:, i] = places
    values = np.unique([*(space.decode_all(u)[i] for u in U), best[i]])
    return values, int(np.searchsorted(values, best[i]))


def _end(
    space: Space, standing: Requirements, best: Array, i: int, grid: Array, inside: int, beyond: int
) -> tuple[float, float]:
    """The last value between two of the grid up to which points are good enough."""
    if not 0 <= beyond < len(grid):
        return float(grid[inside]), 1.0
    between = np.linspace(grid[inside], grid[beyond], FINER + 2)[1:-1]
    sure = standing.chance(_moved(space, best, i, between))
    last = int(np.argmin([*(sure >= SURE), False])) - 1
    if last < 0:
        return float(grid[inside]), 1.0
    return float(between[last]), float(sure[: last + 1].min())
