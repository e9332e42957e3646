"""The suite `inexact`: BBOB with values that are exact to only a few digits, as in simulations.

Every value is multiplied by 1 + s z, where s is 1e-8, 1e-6 or 1e-4 and z is normal. No method is
told about it. Regrets are those of the exact values, so they can be compared with those of `bbob`,
whose cases are part of this suite.
"""

import zlib
from collections.abc import Iterable

import numpy as np

from bamsoo.base.typing import Array

from ..case import Case, Target
from . import bbob
from .suite import Selection, Suite, check_numbers

LEVELS = ("1e-8", "1e-6", "1e-4")
"""Standard deviations of the relative noise, as they appear in the names of problems."""

EXACT = "0"
"""The level of the cases of `bbob`."""

INSTANCES = (21,)
"""Instances reported, in every dimension."""


def cases(
    dim: int,
    levels: Iterable[str] = LEVELS,
    instances: Iterable[int] = INSTANCES,
    functions: Iterable[int] = bbob.FUNCTIONS,
    budget: int | None = None,
) -> list[Case]:
    """The functions in one dimension at some levels; f8 with noise of 1e-6 is called f8@1e-6."""
    exact = bbob.cases(dim, instances, functions, budget)
    return [
        Case("inexact", f"{case.problem}@{level}", dim, case.instance, case.budget)
        for level in levels
        for case in exact
    ]


def level(case: Case) -> str:
    """Which of `LEVELS` a case has, or `EXACT`."""
    return case.problem.partition("@")[2] or EXACT


def target(case: Case) -> Target:
    """A function of BBOB with noise that depends on the case and the index of the evaluation."""
    function, _, scale = case.problem.partition("@")
    exact = bbob.target(Case("bbob", function, case.dim, case.instance, case.budget))
    name = zlib.crc32(case.problem.encode())
    rng = np.random.default_rng([name, case.dim, case.instance])

    def fun(x: Array) -> float | None:
        value = exact.fun(x)
        return None if value is None else value * (1.0 + float(scale) * rng.standard_normal())

    return Target(fun, exact.space, exact.optimum, noiseless=exact.fun)


def _selected(wanted: Selection) -> list[Case]:
    check_numbers("functions of BBOB", wanted.functions, bbob.FUNCTIONS)
    functions, instances = wanted.functions or bbob.FUNCTIONS, wanted.instances or INSTANCES
    found: list[Case] = []
    for dim in wanted.dims or bbob.DIMS:
        found += bbob.cases(dim, instances, functions, wanted.budget)
        found += cases(dim, LEVELS, instances, functions, wanted.budget)
    return found


PEERS = (
    *("slsqp", "cobyqa", "bobyqa", "optuna-gp", "optuna-tpe", "ngopt", "lq-cma", "cma"),
    *("direct", "random"),
)

SUITE = Suite(
    "inexact",
    "BBOB with inexact values",
    8,
    _selected,
    target,
    peers=PEERS,
    modules=("ioh",),
)
