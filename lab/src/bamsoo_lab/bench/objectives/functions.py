"""ZDT and DTLZ, the test functions of the literature on several objectives, in six dimensions.

Zitzler, Deb and Thiele, "Comparison of multiobjective evolutionary algorithms: empirical results",
2000; Deb, Thiele, Laumanns and Zitzler, "Scalable test problems for evolutionary multiobjective
optimization", 2005. The names of variables and of g and h are those of the papers.
"""

from collections.abc import Callable
from functools import partial
from math import cos, exp, pi, sin, sqrt

import numpy as np

from bamsoo.base.typing import Array
from bamsoo.space import Real

from ..tuning.tasks import Part
from .problem import Values, problem

DIM = 6


def _register(
    name: str, part: Part, fun: Callable[[Array], list[float]], low: float = 0.0, high: float = 1.0
) -> None:
    """Add a function of an array; `low` and `high` are the bounds of all axes but the first."""

    def evaluate(**params: float) -> Values:
        values = fun(np.array([*params.values()]))
        return {f"f{i + 1}": float(value) for i, value in enumerate(values)}

    space = {"x1": Real(0.0, 1.0)} | {f"x{i + 1}": Real(low, high) for i in range(1, DIM)}
    problem(name, part, **space)(evaluate)


def _mean_g(x: Array) -> float:
    return float(1.0 + 9.0 * x[1:].mean())


def zdt1(x: Array) -> list[float]:
    """A convex front."""
    g = _mean_g(x)
    return [x[0], g * (1.0 - sqrt(x[0] / g))]


def zdt2(x: Array) -> list[float]:
    """A concave front."""
    g = _mean_g(x)
    return [x[0], g * (1.0 - (x[0] / g) ** 2)]


def zdt3(x: Array) -> list[float]:
    """A front of five pieces."""
    g = _mean_g(x)
    return [x[0], g * (1.0 - sqrt(x[0] / g) - x[0] / g * sin(10.0 * pi * x[0]))]


def zdt4(x: Array) -> list[float]:
    """Many local fronts."""
    rest = x[1:]
    g = 1.0 + 10.0 * len(rest) + float(np.sum(rest**2 - 10.0 * np.cos(4.0 * pi * rest)))
    return [x[0], g * (1.0 - sqrt(x[0] / g))]


def zdt6(x: Array) -> list[float]:
    """A concave front whose points are far apart on one side and dense on the other."""
    f1 = 1.0 - exp(-4.0 * x[0]) * sin(6.0 * pi * x[0]) ** 6
    g = 1.0 + 9.0 * float(x[1:].mean()) ** 0.25
    return [f1, g * (1.0 - (f1 / g) ** 2)]


def _waves(z: Array) -> float:
    """The g of DTLZ1 and DTLZ3, which has many local optima."""
    return 100.0 * (len(z) + float(np.sum((z - 0.5) ** 2 - np.cos(20.0 * pi * (z - 0.5)))))


def _bowl(z: Array) -> float:
    return float(np.sum((z - 0.5) ** 2))


def _sphere(angles: list[float], g: float) -> list[float]:
    """A point in the direction of these angles (shares of a right angle) at the radius 1 + g."""
    found, radius = [], 1.0 + g
    for angle in angles:
        found.append(radius * sin(angle * pi / 2.0))
        radius *= cos(angle * pi / 2.0)
    return [radius, *reversed(found)]


def dtlz1(m: int, x: Array) -> list[float]:
    """A flat front behind many local ones."""
    found, rest = [], 0.5 * (1.0 + _waves(x[m - 1 :]))
    for value in x[: m - 1]:
        found.append(rest * (1.0 - value))
        rest *= value
    return [rest, *reversed(found)]


def dtlz2(m: int, x: Array) -> list[float]:
    """A round front."""
    return _sphere([*x[: m - 1]], _bowl(x[m - 1 :]))


def dtlz3(m: int, x: Array) -> list[float]:
    """A round front behind many local ones."""
    return _sphere([*x[: m - 1]], _waves(x[m - 1 :]))


def dtlz4(m: int, x: Array) -> list[float]:
    """A round front, of which most of the space shows only an edge."""
    return _sphere([*(x[: m - 1] ** 100)], _bowl(x[m - 1 :]))


def _curve(m: int, x: Array, g: float) -> list[float]:
    first, *others = x[: m - 1]
    return _sphere([first, *((1.0 + 2.0 * g * o) / (2.0 * (1.0 + g)) for o in others)], g)


def dtlz5(m: int, x: Array) -> list[float]:
    """A front that is a curve, also with three objectives."""
    return _curve(m, x, _bowl(x[m - 1 :]))


def dtlz6(m: int, x: Array) -> list[float]:
    """The same curve, which is hard to approach."""
    return _curve(m, x, float(np.sum(x[m - 1 :] ** 0.1)))


def dtlz7(m: int, x: Array) -> list[float]:
    """A front of 2^(m - 1) pieces."""
    g = 1.0 + 9.0 * float(x[m - 1 :].mean())
    first = [float(value) for value in x[: m - 1]]
    h = m - sum(f / (1.0 + g) * (1.0 + sin(3.0 * pi * f)) for f in first)
    return [*first, (1.0 + g) * h]


for _fun in (zdt1, zdt2, zdt3):
    _register(_fun.__name__, "develop", _fun)
_register("zdt4", "report", zdt4, -5.0, 5.0)
_register("zdt6", "report", zdt6)
for _m, _functions in {2: (dtlz2,), 3: (dtlz2, dtlz5)}.items():
    for _many in _functions:
        _register(f"{_many.__name__}-{_m}", "develop", partial(_many, _m))
for _m, _functions in {2: (dtlz1, dtlz4, dtlz6, dtlz7), 3: (dtlz3, dtlz4, dtlz6, dtlz7)}.items():
    for _many in _functions:
        _register(f"{_many.__name__}-{_m}", "report", partial(_many, _m))
