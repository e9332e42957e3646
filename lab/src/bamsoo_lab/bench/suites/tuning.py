"""The suite `tuning`: real tasks with mixed parameters, some of them noisy, some that fail."""

from ..case import Case
from ..problem import targets
from ..tuning.tasks import INSTANCES, SPLIT, tasks
from .suite import Selection, Suite, named_cases


def cases(wanted: Selection) -> list[Case]:
    """The tasks of one part."""
    return named_cases("tuning", wanted, SPLIT, INSTANCES, lambda name: tasks()[name].size)


SUITE = Suite(
    "tuning",
    "Tuning",
    5,
    cases,
    targets(tasks),
    peers=("optuna-tpe", "optuna-gp", "cma-margin", "smac", "random"),
    modules=("sklearn",),
    mixed=True,
    seconds=0.05,
)
