"""The suite `parallel`: cases of `paper` and `bbob` that are run with many workers."""

from collections.abc import Iterable

from ..case import Case
from . import bbob, paper
from .suite import Selection, Suite

WORKERS = (1, 2, 4, 8, 16, 64)
BOXES, INSTANCES = tuple(range(100, 106)), (1, 2, 3)
"""Boxes and instances that no other suite reports on."""

FUNCTIONS, DIM = (1, 6, 8, 15, 20, 21), 3
"""The BBOB sample: a sphere, a kink, a valley, and three with many optima."""

BUDGET, ROUNDS = 200, 8
"""Evaluations per run, and the minimum per worker."""

PEER_BUDGET = 60
PEER_CASES = tuple(
    Case("paper", name, dim, box, PEER_BUDGET)
    for name, dim in (("branin", 2), ("hartmann3", 3), ("hartmann6", 6))
    for box in (100, 101)
)
"""The part of the cases that slow peers run, and ours for comparison."""


def budget(workers: int) -> int:
    """Evaluations per run."""
    return max(BUDGET, ROUNDS * workers)


def cases(workers: int) -> list[Case]:
    """The paper's functions in boxes, and the BBOB sample."""
    n = budget(workers)
    return [*paper.cases(BOXES, n), *bbob.cases(DIM, INSTANCES, FUNCTIONS, n)]


def _numbers(some: Iterable[int]) -> str:
    return ", ".join(map(str, some))


def _all(wanted: Selection) -> list[Case]:
    return [case for workers in WORKERS for case in cases(workers)]


SUITE = Suite(
    "parallel",
    "Many workers",
    4,
    _all,
    peers=("botorch", "optuna-gp"),
    modules=("ioh",),
    about=f"Boxes {_numbers(BOXES)} of the paper's functions; BBOB functions "
    f"{_numbers(FUNCTIONS)} in {DIM}-D, instances {_numbers(INSTANCES)}.",
    fixed=True,
)
