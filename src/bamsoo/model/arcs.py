r"""Distances along axes that exist only under conditions.

The axis is bent into half a circle of radius :math:`\rho = 1/\pi`, which has the axis's length, and
a point at which the axis does not exist is put into the centre of the circle. Two points that both
have the axis are then :math:`2\rho \sin(|u - v| / 2\rho)` apart along it, as the crow flies, which
is about :math:`|u - v|` where they are close; two that both lack it are no distance apart; and
where one has it and the other does not, they are :math:`\rho` apart, wherever on the axis the one
is. So the distance between points with different options counts the axes that both have, and adds
a constant for these options, which is learned with the length-scales.

These are distances in a Euclidean space, so that any kernel of them is positive semi-definite. (The
construction is that of the arc kernel; Hutter and Osborne, "A Kernel for Hierarchical Parameter
Spaces", 2013.)
"""

from math import pi

import numpy as np

from .._typing import Array

RADIUS = 1.0 / pi

_FAR = 2.0  # places on an axis differ by 1 at most, from one that is absent by more than this


def along_arc(difference: Array) -> Array:
    """Distances, with their signs, from differences of features; see `Domain.features`."""
    chord = 2.0 * RADIUS * np.sin(difference / (2.0 * RADIUS))
    return np.where(np.abs(difference) > _FAR, RADIUS, chord)


def slope_along_arc(difference: Array) -> Array:
    """The derivatives of half the squared distances by the differences."""
    slope = RADIUS * np.sin(difference / RADIUS)
    return np.where(np.abs(difference) > _FAR, 0.0, slope)
