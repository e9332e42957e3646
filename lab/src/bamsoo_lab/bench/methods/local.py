"""Local solvers, restarted until the budget is spent.

The first start is the centre of the box, the others are uniform random points. The solvers have
their default settings; the objective stops the last run exactly at the budget.

Targets with constraints or named parameters are scaled to the unit cube, because the scales of
their parameters differ. Constraints that are known in advance are not evaluations. Integers and
options are rounded before a point is evaluated.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from bamsoo.base.typing import Array

from ..case import Box
from ..measure import MeasuredObjective


def slsqp(f: MeasuredObjective) -> None:
    """SLSQP of scipy; the evaluations for finite differences count like all others."""
    _scipy(f, "SLSQP")


def cobyqa(f: MeasuredObjective) -> None:
    """COBYQA of scipy."""
    _scipy(f, "COBYQA")


def _scipy(f: MeasuredObjective, method: str) -> None:
    from scipy.optimize import NonlinearConstraint, minimize

    if not (f.target.limited or f.target.named):
        _restarted(f, f.bounds, lambda start: minimize(f, start, method=method, bounds=f.bounds))
        return
    once = EvaluatedOnce(f)
    # SLSQP gets the constraints in its own form, to which scipy would convert the other one
    limits: Any = {"type": "ineq", "fun": lambda u: -once.constraints(u)}
    if method == "COBYQA":
        limits = NonlinearConstraint(once.constraints, -np.inf, 0.0)
    if not f.target.limited:
        limits = ()
    cube = [(0.0, 1.0)] * f.dim

    def solve(start: Array) -> None:
        minimize(once.value, start, method=method, bounds=cube, constraints=limits)

    _restarted(f, cube, solve)


class EvaluatedOnce:
    """Value and constraints on the unit cube, for solvers that ask for them separately.

    A point that was evaluated before is looked up. Finite differences of the value and of the
    constraints need the same points, which therefore count only once.
    """

    def __init__(self, f: MeasuredObjective) -> None:
        self._objective = f
        self._found: dict[tuple[Any, ...], tuple[float, Array]] = {}

    def value(self, u: Array) -> float:
        """The objective at a point of the unit cube."""
        return self._at(u)[0]

    def constraints(self, u: Array) -> Array:
        """The constraints at a point of the unit cube, measured ones first."""
        f = self._objective
        if f.target.known is None:
            return self._at(u)[1]
        measured = self._at(u)[1] if f.target.constraints else np.empty(0)
        return np.array([*measured, *f.known(**f.params(u))])

    def _at(self, u: Array) -> tuple[float, Array]:
        params = self._objective.params(u)
        key = tuple(params.values())
        if key not in self._found:
            (value,), measured = self._objective.observe_at(params)
            self._found[key] = value, np.array([*measured.values()])
        return self._found[key]


def bobyqa(f: MeasuredObjective) -> None:
    """Py-BOBYQA, scaled within the bounds as its manual recommends."""
    import pybobyqa

    low, high = np.array(f.bounds).T

    def solve(start: Array) -> None:
        pybobyqa.solve(f, start, bounds=(low, high), scaling_within_bounds=True, do_logging=False)

    _restarted(f, f.bounds, solve)


def dfo_ls(f: MeasuredObjective) -> None:
    """DFO-LS, which sees the residuals, scaled within the bounds as its manual recommends."""
    import dfols

    low, high = np.array(f.bounds).T
    more = {"scaling_within_bounds": True, "do_logging": False, "maxfun": f.budget}

    def solve(start: Array) -> None:
        dfols.solve(f.residuals, start, bounds=(low, high), **more)

    _restarted(f, f.bounds, solve)


def least_squares(f: MeasuredObjective) -> None:
    """Scipy's least_squares, which sees the residuals; its differences count like all others."""
    from scipy.optimize import least_squares

    low, high = np.array(f.bounds).T

    def solve(start: Array) -> None:
        least_squares(f.residuals, start, bounds=(low, high), x_scale=high - low)

    _restarted(f, f.bounds, solve)


def _restarted(f: MeasuredObjective, bounds: Box, solve: Callable[[Array], object]) -> None:
    rng = np.random.default_rng(f.seed)
    low, high = np.array(bounds).T
    start = (low + high) / 2
    while f.left:
        solve(start)
        start = rng.uniform(low, high)
