"""The suite `paper`: the paper's functions, in boxes cut at random around an optimum."""

import zlib
from collections.abc import Iterable

import numpy as np

from bamsoo import problems

from ..case import Case, Target
from . import bbob
from .suite import Selection, Suite

NAMES = tuple(problem.name for problem in problems.PAPER)
BUDGET, BOXES = 100, tuple(range(10))
CUT = 0.3
"""Each end of a side moves towards the optimum by up to this share of the distance."""


def cases(boxes: Iterable[int] = BOXES, budget: int = BUDGET) -> list[Case]:
    """The five functions in each box."""
    return [
        Case("paper", problem.name, problem.dim, box, budget)
        for box in boxes
        for problem in problems.PAPER
    ]


def cut_box(problem: problems.Problem, box: int) -> list[tuple[float, float]]:
    """Box number `box`, around one of the optima; it is the same for all methods."""
    rng = np.random.default_rng([box, zlib.crc32(problem.name.encode())])
    at = problem.optimizers[rng.integers(len(problem.optimizers))]
    low, high = np.array(problem.bounds).T
    low = low + rng.uniform(0.0, CUT, problem.dim) * (at - low)
    high = high - rng.uniform(0.0, CUT, problem.dim) * (high - at)
    return [(float(a), float(b)) for a, b in zip(low, high, strict=True)]


def target(case: Case) -> Target:
    """A function in its box."""
    problem = problems.ALL[case.problem]
    return Target(problem, cut_box(problem, case.instance), problem.optimum)


def _selected(wanted: Selection) -> list[Case]:
    return cases(wanted.boxes or BOXES, wanted.budget or BUDGET)


PEERS = tuple(name for name in bbob.PEERS if name != "turbo")
"""The peers of BBOB except TuRBO, which is meant for more dimensions."""

SUITE = Suite(
    "paper", "The paper's functions", 1, _selected, target, peers=PEERS, instances="Boxes"
)
