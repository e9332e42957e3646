r"""Distances along axes that exist only at some points, because they have a condition.

Such an axis is bent into half a circle of radius :math:`\rho = 1/\pi`, which keeps its length, and
points at which it does not exist are placed at the centre of the circle. The distance between two
points along the axis is then the following:

- If the axis exists at both, it is the length of the chord between their coordinates u and v,
  :math:`2\rho \sin(|u - v| / 2\rho)`, which is about :math:`|u - v|` if they are close.
- If it exists at neither, the distance is 0.
- If it exists at one of them only, the distance is :math:`\rho`, whatever the coordinate.

The distance between points with different options therefore depends on their coordinates along
shared axes only, and on a constant for the other axes, which is learned with the length-scales.

All of these are distances in a Euclidean space, so the kernels, which are functions of the
distance, stay positive semi-definite. The construction is the arc kernel of Hutter and Osborne, "A
Kernel for Hierarchical Parameter Spaces", 2013.
"""

from collections.abc import Sequence
from math import pi

import numpy as np

from ..base.typing import Array

RADIUS = 1.0 / pi
"""The radius of the half circle, chosen so that its arc has length 1."""

_FAR = 2.0
"""A larger difference of two features means that the axis exists at one of the points only. Two
coordinates differ by at most 1, and a coordinate differs from `ABSENT` by at least 10."""


def along_arc(difference: Array) -> Array:
    """Convert differences of features (see `Domain.features`) to signed distances."""
    chord = 2.0 * RADIUS * np.sin(difference / (2.0 * RADIUS))
    return np.where(np.abs(difference) > _FAR, RADIUS, chord)


def slope_along_arc(difference: Array) -> Array:
    """The derivatives of half the squared distances with respect to the differences."""
    slope = RADIUS * np.sin(difference / RADIUS)
    return np.where(np.abs(difference) > _FAR, 0.0, slope)


def distances_of(difference: Array, options: bool) -> Array:
    """Convert differences of features along an axis of options, or along an arc, to distances.

    Two different options always have the distance 1.
    """
    return (difference != 0.0).astype(float) if options else along_arc(difference)


def squared(X: Array, Y: Array, options: Sequence[int], arcs: Sequence[int]) -> Array:
    """The squared distances between the features of rows of `X` and `Y`, with the axis first."""
    difference = np.moveaxis(X - Y, -1, 0).copy()
    for axis in (*options, *arcs):
        difference[axis] = distances_of(difference[axis], axis in options)
    found: Array = difference**2
    return found
