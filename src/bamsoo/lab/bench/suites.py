"""What is optimised: the paper's functions on boxes cut at random, and BBOB."""

import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import problems
from ..._typing import Array
from .errors import require

PAPER = tuple(
    p.name
    for p in (
        problems.branin,
        problems.rosenbrock,
        problems.hartmann3,
        problems.hartmann6,
        problems.shekel,
    )
)
PAPER_BUDGET, BOXES = 100, tuple(range(10))
CUT = 0.3
"""Each end of a side moves up to this share of its way to the optimum."""

FUNCTIONS = tuple(range(1, 25))
INSTANCES = {2: (14, 15, 16), 3: (14, 15, 16), 5: (14, 15, 16), 10: (14,)}
"""Instances reported, by dimension; 1 to 5 are for choosing settings and are not shown."""


@dataclass(frozen=True)
class Case:
    """A function to minimise with a number of evaluations, named so that JSON can hold it.

    Parameters
    ----------
    suite : {"paper", "bbob", "overhead"}
        The last are BBOB's functions too, in runs that are timed alone.
    problem : str
        A name of `bamsoo.problems`, or ``f1`` to ``f24``.
    dim : int
    instance : int
        Number of the box, or of the BBOB instance.
    budget : int
    """

    suite: str
    problem: str
    dim: int
    instance: int
    budget: int


@dataclass(frozen=True)
class Target:
    """A case that can be evaluated."""

    fun: Callable[[Array], float]
    bounds: list[tuple[float, float]]
    optimum: float


def paper(boxes: Iterable[int] = BOXES, budget: int = PAPER_BUDGET) -> list[Case]:
    """The five functions on each box."""
    return [
        Case("paper", name, problems.ALL[name].dim, box, budget) for box in boxes for name in PAPER
    ]


def bbob_budget(dim: int) -> int:
    """Evaluations on BBOB: 50 a dimension, 200 in ten dimensions and above."""
    return 50 * dim if dim < 10 else 200


def bbob(
    dim: int,
    instances: Iterable[int] | None = None,
    functions: Iterable[int] = FUNCTIONS,
    budget: int | None = None,
) -> list[Case]:
    """The functions in one dimension on each instance; by default those reported."""
    chosen = INSTANCES.get(dim, INSTANCES[5]) if instances is None else tuple(instances)
    n = bbob_budget(dim) if budget is None else budget
    return [Case("bbob", f"f{f}", dim, instance, n) for instance in chosen for f in functions]


def target(case: Case) -> Target:
    """The function, its box and its least value there."""
    return _paper_target(case) if case.suite == "paper" else _bbob_target(case)


def cut_box(problem: problems.Problem, box: int) -> list[tuple[float, float]]:
    """Box number `box`: the same for everybody, around one of the optima."""
    rng = np.random.default_rng([box, zlib.crc32(problem.name.encode())])
    at = problem.optimizers[rng.integers(len(problem.optimizers))]
    low, high = np.array(problem.bounds).T
    low = low + rng.uniform(0.0, CUT, problem.dim) * (at - low)
    high = high - rng.uniform(0.0, CUT, problem.dim) * (high - at)
    return [(float(a), float(b)) for a, b in zip(low, high, strict=True)]


def _paper_target(case: Case) -> Target:
    problem = problems.ALL[case.problem]
    return Target(problem, cut_box(problem, case.instance), problem.optimum)


def _bbob_target(case: Case) -> Target:
    ioh: Any = require("ioh")
    number = int(case.problem.removeprefix("f"))
    problem = ioh.get_problem(number, case.instance, case.dim, ioh.ProblemClass.BBOB)
    return Target(lambda x: float(problem(x)), [(-5.0, 5.0)] * case.dim, float(problem.optimum.y))
