"""The suite `conditional`: options that bring along parameters of their own."""

from collections.abc import Collection

from ....space import Space
from ..case import Case, Target
from ..conditional.tasks import SPLIT, find
from ..errors import BenchError
from ..tuning.task import TuningProblem
from ..tuning.tasks import INSTANCES, Part
from .suite import Selection, Suite

BUDGET = 50


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
                f"{name!r} is not a conditional task of the part {part!r}; expected some of "
                f"{', '.join(SPLIT[part])}"
            )
    chosen = [find(name) for name in SPLIT[part] if not tasks or name in tasks]
    return [
        Case("conditional", task.name, Space(task.space).dim, instance, budget)
        for instance in instances or INSTANCES[part]
        for task in chosen
    ]


def target(case: Case) -> Target:
    """One instance of a task."""
    task = find(case.problem)
    return Target(TuningProblem(task, case.instance), task.space)


def _selected(wanted: Selection) -> list[Case]:
    part = wanted.part or "report"
    return cases(part, wanted.instances, wanted.tasks, wanted.budget or BUDGET)


SUITE = Suite(
    "conditional",
    "Conditional spaces",
    11,
    _selected,
    target,
    peers=("optuna-tpe-group", "smac", "random"),
    modules=("sklearn",),
    mixed=True,
    conditional=True,
    seconds=0.05,
)
