"""Local solvers, started again and again until the budget is spent.

The first start is the centre of the box, the others are uniform points. The solvers have their
own defaults; the objective stops the last of them exactly at the budget.
"""

from collections.abc import Callable

import numpy as np

from ...._typing import Array
from ..measure import MeasuredObjective


def slsqp(f: MeasuredObjective) -> None:
    """SLSQP of scipy; the evaluations of its finite differences count like all others."""
    _scipy(f, "SLSQP")


def cobyqa(f: MeasuredObjective) -> None:
    """COBYQA of scipy."""
    _scipy(f, "COBYQA")


def _scipy(f: MeasuredObjective, method: str) -> None:
    from scipy.optimize import minimize

    def solve(start: Array) -> None:
        minimize(f, start, method=method, bounds=f.bounds)

    _restarted(f, solve)


def bobyqa(f: MeasuredObjective) -> None:
    """Py-BOBYQA, scaled within the bounds as its manual advises."""
    import pybobyqa

    low, high = np.array(f.bounds).T

    def solve(start: Array) -> None:
        pybobyqa.solve(f, start, bounds=(low, high), scaling_within_bounds=True, do_logging=False)

    _restarted(f, solve)


def _restarted(f: MeasuredObjective, solve: Callable[[Array], None]) -> None:
    rng = np.random.default_rng(f.seed)
    low, high = np.array(f.bounds).T
    start = (low + high) / 2
    while f.left:
        solve(start)
        start = rng.uniform(low, high)
