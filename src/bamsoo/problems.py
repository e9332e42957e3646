"""The paper's test functions, each with its bounds, its optimum and where that is attained.

Each is in the form used in the literature, to be minimised, except `sines`, the function in the
paper's figure of the search tree, which is to be maximised. The optima are roots of the gradient,
found with 50-digit arithmetic and rounded to double precision.
"""

from collections.abc import Callable, Sequence
from math import pi, sin

import numpy as np

from .base.typing import Array
from .errors import SpaceError


class Problem:
    """A function with a known optimum, callable on its own domain.

    Attributes
    ----------
    name : str
    bounds : list of (low, high)
    dim : int
    optimum : float
        The best value.
    optimizers : ndarray, shape (m, dim)
        Every point that attains it.
    direction : {"minimize", "maximize"}
    """

    def __init__(
        self,
        name: str,
        fun: Callable[[Array], float],
        bounds: Sequence[tuple[float, float]],
        optimum: float,
        optimizers: Sequence[Sequence[float]],
        direction: str = "minimize",
    ) -> None:
        self.name, self._fun, self.direction = name, fun, direction
        self.bounds = [(float(low), float(high)) for low, high in bounds]
        self.dim = len(self.bounds)
        self.optimum = optimum
        self.optimizers: Array = np.array(optimizers, dtype=float)

    def __call__(self, x: Sequence[float] | Array) -> float:
        point = np.asarray(x, dtype=float)
        if point.shape != (self.dim,):
            raise SpaceError(f"{self.name}: expected {self.dim} numbers, got shape {point.shape}")
        return self._fun(point)

    def __repr__(self) -> str:
        return f"<problem {self.name}: {self.direction} in {self.dim}-D>"


def _branin(x: Array) -> float:
    a, b = float(x[0]), float(x[1])
    bowl = b - 5.1 / (4.0 * pi**2) * a * a + 5.0 / pi * a - 6.0
    return float(bowl * bowl + 10.0 * (1.0 - 1.0 / (8.0 * pi)) * np.cos(a) + 10.0)


def _rosenbrock(x: Array) -> float:
    a, b = float(x[0]), float(x[1])
    return 100.0 * (b - a * a) ** 2 + (a - 1.0) ** 2


_HEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
_SHARPNESS_3 = np.array([[3.0, 10, 30], [0.1, 10, 35], [3.0, 10, 30], [0.1, 10, 35]])
_CENTRES_3 = 1e-4 * np.array(
    [[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]]
)
_SHARPNESS_6 = np.array(
    [
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ]
)
_CENTRES_6 = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)


def _hartmann3(x: Array) -> float:
    return float(-_HEIGHTS @ np.exp(-(_SHARPNESS_3 * (x - _CENTRES_3) ** 2).sum(1)))


def _hartmann6(x: Array) -> float:
    return float(-_HEIGHTS @ np.exp(-(_SHARPNESS_6 * (x - _CENTRES_6) ** 2).sum(1)))


_FOXHOLES = np.array(
    [
        [4, 4, 4, 4],
        [1, 1, 1, 1],
        [8, 8, 8, 8],
        [6, 6, 6, 6],
        [3, 7, 3, 7],
        [2, 9, 2, 9],
        [5, 5, 3, 3],
        [8, 1, 8, 1],
        [6, 2, 6, 2],
        [7, 3.6, 7, 3.6],
    ]
)
_WIDTHS = np.array([0.1, 0.2, 0.2, 0.4, 0.4, 0.6, 0.3, 0.7, 0.5, 0.5])


def _shekel(x: Array) -> float:
    return float(-(1.0 / (_WIDTHS + ((x - _FOXHOLES) ** 2).sum(1))).sum())


def _sines(x: Array) -> float:
    return 0.5 * sin(15.0 * float(x[0])) * sin(27.0 * float(x[0]))


branin = Problem(
    "branin",
    _branin,
    [(-5, 10), (0, 15)],
    5.0 / (4.0 * pi),
    [(-pi, 12.275), (pi, 2.275), (3.0 * pi, 2.475)],
)
rosenbrock = Problem("rosenbrock", _rosenbrock, [(-5, 10)] * 2, 0.0, [(1, 1)])
hartmann3 = Problem(
    "hartmann3",
    _hartmann3,
    [(0, 1)] * 3,
    -3.8627797873326625,
    [(0.11458887665506896, 0.55564889461693, 0.8525469846866774)],
)
hartmann6 = Problem(
    "hartmann6",
    _hartmann6,
    [(0, 1)] * 6,
    -3.322368011415515,
    [
        (
            0.20168951100670543,
            0.15001069182345797,
            0.476873974221897,
            0.2753324304940561,
            0.31165161660011326,
            0.6573005340656203,
        )
    ],
)
shekel = Problem(
    "shekel",
    _shekel,
    [(0, 10)] * 4,
    -10.536409816692043,
    [(4.000746531592046, 4.000592934138532, 3.9996633980403224, 3.9995098005868077)],
)
sines = Problem("sines", _sines, [(0, 1)], 0.5, [(pi / 6.0,)], direction="maximize")

PAPER = (branin, rosenbrock, hartmann3, hartmann6, shekel)
"""The five functions of the paper's experiments (Sec. 6), in the order of its Table 1."""

ALL = {p.name: p for p in (*PAPER, sines)}
"""Every problem by name."""

__all__ = [
    "ALL",
    "PAPER",
    "Problem",
    "branin",
    "hartmann3",
    "hartmann6",
    "rosenbrock",
    "shekel",
    "sines",
]
