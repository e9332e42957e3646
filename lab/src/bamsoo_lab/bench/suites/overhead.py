"""The suite `overhead`: a few functions of BBOB, on which methods are timed in turn."""

from collections.abc import Sequence

from ..case import Case
from . import bbob
from .suite import Selection, Suite, check_numbers

DIM, BUDGET, INSTANCE = 5, 100, 14
FUNCTIONS = (1, 8, 12, 15, 21)
"""A sphere, a valley, a ridge, and two with many optima."""


def cases(
    budget: int | None = None, functions: Sequence[int] | None = None, dim: int = DIM
) -> list[Case]:
    """What the methods take turns on, by default."""
    return [
        Case("overhead", f"f{f}", dim, INSTANCE, budget or BUDGET) for f in functions or FUNCTIONS
    ]


def _selected(wanted: Selection) -> list[Case]:
    check_numbers("functions of BBOB", wanted.functions, bbob.FUNCTIONS)
    return cases(wanted.budget, wanted.functions)


SUITE = Suite(
    "overhead",
    "Overhead side by side",
    3,
    _selected,
    bbob.target,
    peers=("botorch", "optuna-gp"),
    modules=("ioh",),
    about=f"Instance {INSTANCE} of BBOB functions in {DIM}-D.",
    timed=True,
)
