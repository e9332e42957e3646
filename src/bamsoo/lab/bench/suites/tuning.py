"""The suite `tuning`: real tasks with mixed parameters, some of them noisy, some that fail."""

from collections.abc import Collection

from ..case import Case, Target
from ..errors import BenchError
from ..tuning.task import TuningProblem
from ..tuning.tasks import INSTANCES, SPLIT, Part, find
from .suite import Selection, Suite

BUDGET = 80


def cases(
    part: Part,
    instances: Collection[int] | None = None,
    tasks: Collection[str] | None = None,
    budget: int = BUDGET,
) -> list[Case]:
    """The tasks of one part on each instance; by default those of the part."""
    for name in tasks or ():
        if name not in SPLIT[part]:
            raise BenchError(
                f"{name!r} is not a task of the part {part!r}; expected some of "
                f"{', '.join(SPLIT[part])}"
            )
    chosen = [find(name) for name in SPLIT[part] if not tasks or name in tasks]
    return [
        Case("tuning", task.name, len(task.space), instance, budget)
        for instance in instances or INSTANCES[part]
        for task in chosen
    ]


def target(case: Case) -> Target:
    """One instance of a task."""
    task = find(case.problem)
    problem = TuningProblem(task, case.instance)
    return Target(problem, task.space, truth=problem.truth if task.noisy else None)


def _selected(wanted: Selection) -> list[Case]:
    part = wanted.part or "report"
    return cases(part, wanted.instances, wanted.tasks, wanted.budget or BUDGET)


SUITE = Suite(
    "tuning",
    "Tuning",
    5,
    _selected,
    target,
    peers=("optuna-tpe", "optuna-gp", "cma-margin", "smac", "random"),
    modules=("sklearn",),
    mixed=True,
    seconds=0.05,
)
