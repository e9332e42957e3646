"""The suite `tuning`: real tasks with mixed parameters, some of them noisy, some that fail."""

from ..case import Case, Target
from ..tuning.task import TuningProblem
from ..tuning.tasks import INSTANCES, SPLIT, tasks
from .suite import Selection, Suite, named_cases

BUDGET = 80


def cases(wanted: Selection) -> list[Case]:
    """The tasks of one part."""
    return named_cases(
        "tuning", wanted, SPLIT, INSTANCES, BUDGET, lambda name: len(tasks()[name].space)
    )


def target(case: Case) -> Target:
    """One instance of a task."""
    task = tasks()[case.problem]
    problem = TuningProblem(task, case.instance)
    return Target(problem, task.space, truth=problem.truth if task.noisy else None)


SUITE = Suite(
    "tuning",
    "Tuning",
    5,
    cases,
    target,
    peers=("optuna-tpe", "optuna-gp", "cma-margin", "smac", "random"),
    modules=("sklearn",),
    mixed=True,
    seconds=0.05,
)
