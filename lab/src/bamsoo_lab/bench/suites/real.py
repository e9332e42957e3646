"""The suite `real`: deterministic problems of engineers and scientists, with real parameters.

Instances are copies of a problem whose axes are permuted and mirrored. Budgets differ, so scores
are given after shares of them.
"""

from importlib.util import find_spec

from ..case import Case
from ..problem import targets
from ..real import REAL, by_part
from ..tuning.tasks import Part
from .suite import Selection, Suite, named_cases

COPIES: dict[Part, tuple[int, ...]] = {"develop": (0, 1, 2), "report": (10, 11, 12)}
"""Numbers of the copies of each part; they also seed the searches."""


def cases(wanted: Selection) -> list[Case]:
    """The problems of one part, each in several copies."""
    return named_cases("real", wanted, by_part(), COPIES, lambda name: REAL[name].size)


def available(case: Case) -> bool:
    """Whether the packages that the problem needs are installed."""
    return all(find_spec(package) is not None for package in REAL[case.problem].packages)


SUITE = Suite(
    "real",
    "Real problems",
    15,
    cases,
    targets(lambda: REAL),
    peers=(*("cobyqa", "slsqp", "optuna-gp", "smac", "optuna-tpe", "cma", "ngopt", "random"),),
    instances="Copies with permuted and mirrored axes:",
    at=(33, 66, 100),
    relative=True,
    seconds=0.01,
    available=available,
)
