"""The suite `conditional`: options that bring along parameters of their own."""

from ..case import Case
from ..conditional.tasks import SPLIT, tasks
from ..problem import targets
from ..tuning.tasks import INSTANCES
from .suite import Selection, Suite, named_cases


def cases(wanted: Selection) -> list[Case]:
    """The tasks of one part."""
    return named_cases("conditional", wanted, SPLIT, INSTANCES, lambda name: tasks()[name].size)


SUITE = Suite(
    "conditional",
    "Conditional spaces",
    11,
    cases,
    targets(tasks),
    peers=("optuna-tpe-group", "smac", "random"),
    modules=("sklearn",),
    mixed=True,
    conditional=True,
    seconds=0.05,
)
