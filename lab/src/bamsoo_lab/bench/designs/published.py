"""Test functions of the literature on Bayesian optimisation with constraints."""

from functools import partial
from math import asin, cos, pi, sin

from bamsoo.space import Real

from .design import DesignValue, design

published = partial(design, False)

_SIX = Real(0.0, 6.0)
_ONE = Real(0.0, 1.0)


@published("gardner-1", -2.0, {"x": 1.5 * pi, "y": 0.0}, x=_SIX, y=_SIX)
def gardner_1(x: float, y: float) -> DesignValue:
    """The first simulation of Gardner et al., "Bayesian optimization with inequality constraints".

    The unconstrained minimum is feasible.
    """
    return cos(2.0 * x) * cos(y) + sin(x), {"c": cos(x) * cos(y) - sin(x) * sin(y) - 0.5}


@published("gardner-2", asin(0.95) - 1.0, {"x": 1.5 * pi, "y": asin(0.95)}, x=_SIX, y=_SIX)
def gardner_2(x: float, y: float) -> DesignValue:
    """The second simulation of the same paper: the feasible set consists of two small regions.

    In the better region, the optimum has sin x = -1 and sin y = 0.95.
    """
    return sin(x) + y, {"c": sin(x) * sin(y) + 0.95}


@published("gramacy", 0.59978805, {"x": 0.19512269, "y": 0.40466537}, x=_ONE, y=_ONE)
def gramacy(x: float, y: float) -> DesignValue:
    """Gramacy et al., "Modeling an augmented Lagrangian for blackbox constrained optimization"."""
    return x + y, {
        "wave": 1.5 - x - 2.0 * y - 0.5 * sin(2.0 * pi * (x**2 - 2.0 * y)),
        "circle": x**2 + y**2 - 1.5,
    }
