"""The suite `parallel`: cases of `paper` and `bbob` that are run with many workers."""

from collections.abc import Iterable

from ..case import Case
from . import bbob, paper
from .suite import Selection, Suite

WORKERS = (1, 8, 64)
BOXES, INSTANCES = (110, 111, 112), (31, 32, 33)
"""Boxes and instances that no other suite uses; boxes 100 to 107 and instances 1 to 5 are for
development."""

FUNCTIONS = {2: 3, 6: 3, 8: 3, 14: 3, 10: 5}
"""The BBOB sample with the dimension of each function: a separable and a slanted ellipsoid, a kink,
a valley and different powers. One worker needs more than 40 evaluations for most of their
targets."""

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
    sample = [bbob.cases(dim, INSTANCES, [f], n) for f, dim in FUNCTIONS.items()]
    return [*paper.cases(BOXES, n), *(case for some in sample for case in some)]


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
    f"{', '.join(f'{f} in {dim}-D' for f, dim in FUNCTIONS.items())}, "
    f"instances {_numbers(INSTANCES)}.",
    fixed=True,
)
