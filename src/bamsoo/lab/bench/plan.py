"""Which runs the peers are compared on, the most telling first: the slow ones run a stated part."""

from collections.abc import Collection, Sequence

from ..jobs.task import Task
from .case import Case
from .runs import case_of, task
from .suites import bbob, coco, paper, tuning
from .tuning.tasks import Part

HALF = tuple(range(1, 25, 2))
"""Every second BBOB function, for the slowest peers."""


def bbob_all() -> list[Case]:
    """All of BBOB that is reported."""
    return [case for dim in bbob.INSTANCES for case in bbob.cases(dim)]


def peers() -> list[Task]:
    """Every run of every peer, in the order in which they are worth having."""
    tasks: list[Task] = []

    def add(methods: Sequence[str], cases: Sequence[Case]) -> None:
        tasks.extend(task(method, case) for method in methods for case in cases)

    quick = ("direct", "cma", "random", "optuna-tpe")
    add(quick, bbob_all())
    add(quick, paper.cases())
    for dim in (2, 5, 3, 10):
        for method in ("optuna-gp", "botorch"):
            add([method], bbob.cases(dim, [14]))
    add(["optuna-gp"], paper.cases())
    add(["botorch"], paper.cases(range(3)))
    add(["smac", "skopt"], paper.cases([0]))
    add(["skopt", "smac"], bbob.cases(2, [14], HALF))
    for instance in (15, 16):
        for dim in (2, 3):
            add(["optuna-gp", "botorch"], bbob.cases(dim, [instance]))
    add(["botorch"], paper.cases(range(3, 10)))
    for instance in (15, 16):
        add(["optuna-gp", "botorch"], bbob.cases(5, [instance]))
    parts: tuple[Part, ...] = ("develop", "report")
    mixed = ("random", "optuna-tpe", "cma-margin")
    for part in parts:
        add(mixed, tuning.cases(part))
        add(mixed, coco.cases("mixint", part))
        add(mixed, coco.cases("noisy", part))
    for method in ("optuna-gp", "smac"):
        for part in parts:
            add([method], tuning.cases(part))
    return tasks


def chosen(methods: Collection[str], cases: Collection[Case]) -> list[Task]:
    """The plan's runs of some methods on some cases; all cases where the plan has none."""
    wanted = [
        t for t in peers() if t.settings["method"] in methods and case_of(t.settings) in cases
    ]
    planned = {t.settings["method"] for t in wanted}
    return wanted + [task(m, case) for m in methods if m not in planned for case in cases]
