"""Where to put material: a loaded plate, and a pattern that should be smooth and fit a mask."""

from collections.abc import Callable

import numpy as np

from bamsoo.base.typing import Array

from ..case import Box
from .problem import Value, sizes


def stiffness() -> Array:
    """The stiffness of a square of unit size in plane stress, with Young's modulus 1, bilinear.

    The order of the corners is that of Sigmund's "A 99 line topology optimization code" (2001).
    """
    nu = 0.3
    k = np.array(
        [
            *(0.5 - nu / 6, 0.125 + nu / 8, -0.25 - nu / 12, -0.125 + 3 * nu / 8),
            *(-0.25 + nu / 12, -0.125 - nu / 8, nu / 6, 0.125 - 3 * nu / 8),
        ]
    )
    places = [
        *([0, 1, 2, 3, 4, 5, 6, 7], [1, 0, 7, 6, 5, 4, 3, 2], [2, 7, 0, 5, 6, 3, 4, 1]),
        *([3, 6, 5, 0, 7, 2, 1, 4], [4, 5, 6, 7, 0, 1, 2, 3], [5, 4, 3, 2, 1, 0, 7, 6]),
        *([6, 3, 4, 1, 2, 7, 0, 5], [7, 2, 1, 4, 3, 6, 5, 0]),
    ]
    found: Array = k[np.array(places)] / (1.0 - nu**2)
    return found


@sizes(
    "topology",
    plate_5x3=("develop", 160, [5, 3, 0.0]),
    plate_6x4=("report", 240, [6, 4, 1.0]),
)
def plate(columns: int, rows: int, load: float) -> tuple[Box, Callable[[], Value]]:
    """The density of each part of a plate that is held on the left and loaded on the right.

    The value is how far the load sinks, compared with a solid plate, and the weight. Each part is
    four elements, and half the density has an eighth of the stiffness (SIMP).
    """

    def build() -> Value:
        from scipy.linalg import solve

        wide, high = 2 * columns, 2 * rows
        corner = np.arange((wide + 1) * (high + 1)).reshape(wide + 1, high + 1)
        first = corner[:-1, 1:].ravel()  # lower left, then against the clock
        corners = np.stack([first, first + high + 1, first + high, first - 1], axis=1)
        degrees = np.stack([2 * corners, 2 * corners + 1], axis=2).reshape(-1, 8)
        element, size = stiffness(), 2 * corner.size
        force = np.zeros(size)
        force[2 * corner[-1, round(load * high)] + 1] = 1.0
        held = 2 * (high + 1)  # the left edge
        places = (degrees[:, :, None] * size + degrees[:, None, :]).ravel()

        def sinks(density: Array) -> float:
            fine = np.repeat(np.repeat(density.reshape(columns, rows), 2, axis=0), 2, axis=1)
            modulus = 1e-3 + fine.ravel() ** 3
            terms = (modulus[:, None, None] * element).ravel()
            K = np.bincount(places, terms, size**2).reshape(size, size)
            moved = solve(K[held:, held:], force[held:], assume_a="pos", check_finite=False)
            return float(moved @ force[held:])

        solid = sinks(np.ones(columns * rows))
        return lambda x: sinks(x) / solid + 6.0 * float(x.mean())

    return [(0.0, 1.0)] * (columns * rows), build


@sizes(
    "topology",
    mosaic_5=("develop", 200, [5, 0.7, 1.1]),
    mosaic_3=("report", 100, [3, 1.3, 0.4]),
)
def mosaic(side: int, across: float, down: float) -> tuple[Box, Callable[[], Value]]:
    """A square pattern: how many cells differ from a mask, and how rough it is.

    The first part is piecewise constant. The form is that of the topology problems in the package
    nevergrad, with another mask.
    """

    def build() -> Value:
        from scipy.ndimage import gaussian_filter

        i, j = np.indices((side, side))
        mask = np.where(np.sin(across * i + down * j + 0.5) < 0.0, 0.75, -0.75)

        def value(x: Array) -> float:
            pattern = x.reshape(side, side)
            wrong = (np.abs(pattern - mask) > 0.3).mean()
            rough = np.linalg.norm(pattern - gaussian_filter(pattern, 3.0)) / side
            return float(5.0 * wrong + 3.0 * rough)

        return value

    return [(-1.0, 1.0)] * side**2, build
