"""The suite `conditional`: options that bring along parameters of their own."""

from bamsoo.space import Space

from ..case import Case, Target
from ..conditional.tasks import SPLIT, tasks
from ..tuning.task import TuningProblem
from ..tuning.tasks import INSTANCES
from .suite import Selection, Suite, named_cases

BUDGET = 50


def cases(wanted: Selection) -> list[Case]:
    """The tasks of one part."""
    return named_cases(
        "conditional", wanted, SPLIT, INSTANCES, BUDGET, lambda name: Space(tasks()[name].space).dim
    )


def target(case: Case) -> Target:
    """One instance of a task."""
    task = tasks()[case.problem]
    return Target(TuningProblem(task, case.instance), task.space)


SUITE = Suite(
    "conditional",
    "Conditional spaces",
    11,
    cases,
    target,
    peers=("optuna-tpe-group", "smac", "random"),
    modules=("sklearn",),
    mixed=True,
    conditional=True,
    seconds=0.05,
)
