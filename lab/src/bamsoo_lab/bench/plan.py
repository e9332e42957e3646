"""The runs of the peers, the most informative first; slow peers have only a part of them."""

from collections.abc import Collection, Sequence

from ..jobs.task import Task
from . import suites
from .case import Case
from .runs import case_of, task
from .suites import (
    bbob,
    coco,
    conditional,
    designs,
    fits,
    inexact,
    objectives,
    paper,
    real,
    simulators,
    steps,
    systems,
    tuning,
    yahpo,
)
from .suites.suite import Selection
from .tuning.tasks import INSTANCES

HALF = tuple(range(1, 25, 2))
"""Every second BBOB function, for the slowest peers."""

FIRST = (21,)
"""The instance of BBOB that slow peers run first."""

LOCAL = ("slsqp", "cobyqa", "bobyqa")
CONSTRAINED = ("random", "slsqp", "cobyqa", "optuna-tpe")
"""Peers that run everything with constraints; Optuna's GP runs only a part."""

FEW = tuple(f for f in coco.USUAL["constrained"] if f % 6 in (1, 2, 3))
"""Functions of COCO's constrained suite with at most nine constraints."""

QUICK = ("direct", "random", "cma", "lq-cma", "ngopt", "optuna-tpe")
"""Peers that run everything."""


STOPPING = (
    *("random", "optuna-tpe", "random-asha", "random-hyperband", "random-median"),
    *("tpe-asha", "tpe-hyperband", "tpe-median", "smac-budgets", "dehb"),
)
"""Peers of the suite `steps`: two of whole evaluations, and those that stop some."""

SEVERAL = ("random", "optuna-tpe", "optuna-nsga2", "pymoo")
"""Peers that run everything with several objectives; the first two also what is developed on."""

TUNERS = ("random", "optuna-tpe", "cma-margin", "optuna-tpe-group")
"""Peers that run all surrogates of training runs; Optuna's GP and SMAC run only a part."""

SIMULATED = ("random", "optuna-tpe", "optuna-tpe-group", "cma-margin", "slsqp", "cobyqa")
"""Peers that run every simulator they can; Optuna's GP runs one instance of each."""

ENGINEERS = ("random", "cobyqa", "slsqp", "optuna-tpe", "cma")
"""Peers that run all real problems; NGOpt, Optuna's GP and SMAC run as many as time allows."""

FITTERS = ("dfo-ls", "least-squares", "bobyqa")
"""Peers that run all fits; Optuna's GP runs one instance of those with data."""

THIRD = 3
"""With several objectives, Optuna's GP runs a third of the cases, and BoTorch a third of these."""


def _unusual() -> list[Case]:
    """Functions of COCO's constrained suite that are not among the usual ones."""
    others = [f for f in coco.FUNCTIONS["constrained"] if f not in coco.USUAL["constrained"]]
    return coco.cases("constrained", "report", functions=others)


def bbob_all() -> list[Case]:
    """All cases of BBOB that are reported."""
    return [case for dim in bbob.DIMS for case in bbob.cases(dim)]


def peers() -> list[Task]:
    """Every run of every peer, the most informative first."""
    tasks: list[Task] = []

    def add(methods: Sequence[str], cases: Sequence[Case]) -> None:
        tasks.extend(task(m, case) for m in methods for case in cases if _takes(m, case))

    for dim in (5, 2, 10, 20, 3):
        add(LOCAL, bbob.cases(dim))
    add(QUICK, bbob_all())
    for dim in (5, 2, 10, 20, 3):
        add((*LOCAL, *QUICK), inexact.cases(dim))
    add((*LOCAL, *QUICK), paper.cases())
    for dim in (2, 3, 5):
        add(["optuna-gp"], bbob.cases(dim, FIRST))
    add(["botorch"], bbob.cases(2, FIRST))
    add(["turbo"], bbob.cases(10, FIRST))
    add(["botorch"], bbob.cases(3, FIRST))
    add(["hebo"], bbob.cases(2, FIRST))
    add(["optuna-gp"], bbob.cases(10, FIRST))
    add(["turbo"], bbob.cases(20, FIRST))
    add(["botorch"], bbob.cases(5, FIRST))
    for dim in (2, 5):
        add(["optuna-gp"], inexact.cases(dim, ["1e-6"]))
    add(["optuna-gp"], paper.cases())
    add(["botorch"], paper.cases(range(3)))
    add(["botorch"], bbob.cases(10, FIRST))
    add(["smac", "skopt"], paper.cases([0]))
    add(["skopt", "smac"], bbob.cases(2, FIRST, HALF))
    for instance in (22, 23):
        for dim in (2, 3):
            add(["optuna-gp", "botorch"], bbob.cases(dim, [instance]))
    add(["botorch"], paper.cases(range(3, 10)))
    for instance in (22, 23):
        add(["optuna-gp", "botorch"], bbob.cases(5, [instance]))
    develop, report = Selection(part="develop"), Selection(part="report")
    mixed = ("random", "optuna-tpe", "cma-margin")
    for part in (develop, report):
        add(mixed, tuning.cases(part))
        add(mixed, coco.MIXINT.cases(part))
        add(mixed, coco.NOISY.cases(part))
    for method in ("optuna-gp", "smac"):
        for part in (develop, report):
            add([method], tuning.cases(part))
    for part in (develop, report):
        add(CONSTRAINED, designs.cases(part))
        add(CONSTRAINED, coco.CONSTRAINED.cases(part))
    add(CONSTRAINED, _unusual())
    add(["optuna-gp"], designs.cases(Selection(instances=designs.INSTANCES["report"][:1])))
    add(["optuna-gp"], coco.cases("constrained", "report", [2], functions=FEW))
    for part in (develop, report):
        add(["random", "optuna-tpe-group"], conditional.cases(part))
    for part in (report, develop):
        add(["smac"], conditional.cases(part))
    add(SEVERAL, objectives.cases(report))
    add(SEVERAL[:2], objectives.cases(develop))
    several = objectives.cases(report)
    add(["optuna-gp"], several[::THIRD])
    add(["botorch-nehvi"], several[:: THIRD**2])
    for part in (report, develop):
        add(STOPPING, steps.cases(part))
    add(TUNERS, yahpo.cases(report))
    add(["optuna-gp", "smac", "hebo"], yahpo.slow_cases())
    for part in (develop, report):
        add(SIMULATED, simulators.cases(part))
    add(["optuna-gp"], simulators.cases(Selection(instances=INSTANCES["report"][:1])))
    for part in (develop, report):
        add(ENGINEERS, real.cases(part))
    for part in (develop, report):
        add(["ngopt", "optuna-gp", "smac"], real.cases(part))
    for part in (develop, report):
        add([*TUNERS, "smac"], systems.cases(part))
    for part in (report, develop):
        add(FITTERS, fits.cases(part))
        add(["optuna-gp"], fits.cases(part))
    return tasks


def chosen(methods: Collection[str], cases: Collection[Case]) -> list[Task]:
    """The planned runs of some methods on some cases; all these cases if none are planned."""
    wanted = [
        t for t in peers() if t.settings["method"] in methods and case_of(t.settings) in cases
    ]
    planned = {t.settings["method"] for t in wanted}
    others = [m for m in methods if m not in planned]
    return wanted + [task(m, case) for m in others for case in cases if _takes(m, case)]


def _takes(method: str, case: Case) -> bool:
    return suites.ALL[case.suite].takes(method, case)
