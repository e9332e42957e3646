"""The suite `fits`: models with data, and the problems of Moré and Wild.

Settings were chosen on every second problem of Moré and Wild and on the first instances of the
others; the other problems and instances are reported.
"""

from functools import cache

import numpy as np
from scipy.optimize import least_squares

from bamsoo.base.typing import Array

from ..case import Case, Target
from ..errors import BenchError
from ..fits import curves, more_wild
from ..fits.problem import FitProblem, Kind
from ..tuning.tasks import Part
from .suite import Selection, Suite

INSTANCES: dict[Part, tuple[int, ...]] = {"develop": (1, 2, 3), "report": (11, 12, 13)}
"""Of the fits with data. The problems of Moré and Wild have one each, numbered 0."""

BUDGET, PER_AXIS = 100, 15
"""Evaluations of a fit with data, and those of a problem of Moré and Wild divided by D + 1."""

KINDS: dict[str, Kind] = {**more_wild.KINDS, **curves.KINDS}


def problems(part: Part) -> list[tuple[str, int]]:
    """The names and instances of a part."""
    of_both = list(more_wild.KINDS)
    abstract = [(name, 0) for name in of_both[part == "report" :: 2]]
    return abstract + [(name, i) for i in INSTANCES[part] for name in curves.KINDS]


def cases(wanted: Selection) -> list[Case]:
    """The fits of a part."""
    found = problems(wanted.part or "report")
    known = {name for name, _ in found}
    for name in wanted.tasks or ():
        if name not in known:
            raise BenchError(
                f"this part of the suite 'fits' has no task {name!r}; expected some of "
                f"{', '.join(sorted(known))}"
            )
    return [
        Case("fits", name, KINDS[name].dim, i, wanted.budget or budget(name))
        for name, i in found
        if not wanted.tasks or name in wanted.tasks
        if i in (wanted.instances or (i,))
    ]


def budget(name: str) -> int:
    """The number of evaluations of a fit."""
    return BUDGET if name in curves.KINDS else PER_AXIS * (KINDS[name].dim + 1)


@cache
def fit(name: str, instance: int) -> FitProblem:
    """A fit with its data."""
    return KINDS[name].build(instance)


@cache
def optimum(name: str, instance: int) -> float:
    """The smallest sum of squares that is known."""
    if name in more_wild.OPTIMA:
        return more_wild.OPTIMA[name]
    each = fit(name, instance)
    assert each.near is not None
    low, high = np.array(each.box).T
    start = np.clip(each.near, low + 1e-9, high - 1e-9)
    exact = {"ftol": 1e-15, "xtol": 1e-15, "gtol": 1e-15}
    found = least_squares(each.residuals, start, bounds=(low, high), x_scale=high - low, **exact)
    return float(2.0 * found.cost)


def target(case: Case) -> Target:
    """A fit."""
    each = fit(case.problem, case.instance)

    def residuals(x: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray(np.nan_to_num(each.residuals(x), nan=1e20, posinf=1e20, neginf=-1e20))

    return Target(residuals, each.box, optimum(case.problem, case.instance), fit=True)


def takes(method: str, case: Case) -> bool:
    """Whether a method is run; Optuna's GP, which is slow, on one instance of fits with data."""
    return method != "optuna-gp" or case.instance in (1, 11)


SUITE = Suite(
    "fits",
    "Fits to data",
    17,
    cases,
    target,
    peers=("bamsoo-sum", "dfo-ls", "least-squares", "bobyqa", "optuna-gp"),
    about="Problems and instances on which no setting was chosen.",
    seconds=1e-3,
    takes=takes,
)
