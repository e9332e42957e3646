"""The suite `bbob`: the 24 noiseless functions of BBOB, from the package ioh."""

from collections.abc import Iterable
from typing import Any

from ..case import Case, Target
from ..errors import require
from .suite import Selection, Suite, check_numbers

FUNCTIONS = tuple(range(1, 25))
DIMS = (2, 3, 5, 10, 20)
"""Dimensions reported."""

INSTANCES = (21, 22, 23)
"""Instances reported, in every dimension; settings are chosen on 1 to 7, which are not shown."""

PEERS = (
    *("slsqp", "cobyqa", "bobyqa", "botorch", "hebo", "turbo", "optuna-gp", "smac", "skopt"),
    *("optuna-tpe", "ngopt", "lq-cma", "cma", "direct", "random", "paper-bamsoo", "soo"),
)
"""Methods for functions on boxes without noise."""


def default_budget(dim: int) -> int:
    """50 evaluations per dimension, and 20 from ten dimensions on."""
    return 50 * dim if dim < 10 else 20 * dim


def cases(
    dim: int,
    instances: Iterable[int] | None = None,
    functions: Iterable[int] = FUNCTIONS,
    budget: int | None = None,
) -> list[Case]:
    """The functions in one dimension on each instance; by default those reported."""
    chosen = INSTANCES if instances is None else tuple(instances)
    n = default_budget(dim) if budget is None else budget
    return [Case("bbob", f"f{f}", dim, instance, n) for instance in chosen for f in functions]


def target(case: Case) -> Target:
    """A function of BBOB."""
    ioh: Any = require("ioh")
    number = int(case.problem.removeprefix("f"))
    problem = ioh.get_problem(number, case.instance, case.dim, ioh.ProblemClass.BBOB)
    return Target(lambda x: float(problem(x)), [(-5.0, 5.0)] * case.dim, float(problem.optimum.y))


def _selected(wanted: Selection) -> list[Case]:
    check_numbers("functions of BBOB", wanted.functions, FUNCTIONS)
    return [
        case
        for dim in wanted.dims or DIMS
        for case in cases(dim, wanted.instances, wanted.functions or FUNCTIONS, wanted.budget)
    ]


SUITE = Suite("bbob", "BBOB", 2, _selected, target, peers=PEERS, modules=("ioh",))
