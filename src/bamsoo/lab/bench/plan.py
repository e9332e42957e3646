"""Which runs the peers are compared on, the most telling first: the slow ones run a stated part."""

from collections.abc import Collection, Sequence

from . import suites
from .runs import Job, case_of, job
from .suites import Case

HALF = tuple(range(1, 25, 2))
"""Every second BBOB function, for the slowest peers."""


def bbob_all() -> list[Case]:
    """All of BBOB that is reported."""
    return [case for dim in suites.INSTANCES for case in suites.bbob(dim)]


def peers() -> list[Job]:
    """Every run of every peer, in the order in which they are worth having."""
    jobs: list[Job] = []

    def add(methods: Sequence[str], cases: Sequence[Case]) -> None:
        jobs.extend(job(method, case) for method in methods for case in cases)

    quick = ("direct", "cma", "random", "optuna-tpe")
    add(quick, bbob_all())
    add(quick, suites.paper())
    for dim in (2, 5, 3, 10):
        for method in ("optuna-gp", "botorch"):
            add([method], suites.bbob(dim, [14]))
    add(["optuna-gp"], suites.paper())
    add(["botorch"], suites.paper(range(3)))
    add(["smac", "skopt"], suites.paper([0]))
    add(["skopt", "smac"], suites.bbob(2, [14], HALF))
    for instance in (15, 16):
        for dim in (2, 3):
            add(["optuna-gp", "botorch"], suites.bbob(dim, [instance]))
    add(["botorch"], suites.paper(range(3, 10)))
    for instance in (15, 16):
        add(["optuna-gp", "botorch"], suites.bbob(5, [instance]))
    return jobs


def chosen(methods: Collection[str], cases: Collection[Case]) -> list[Job]:
    """The plan's runs of some methods on some cases; all of these where the plan has none."""
    wanted = [
        j for j in peers() if j.settings["method"] in methods and case_of(j.settings) in cases
    ]
    planned = {j.settings["method"] for j in wanted}
    return wanted + [job(m, case) for m in methods if m not in planned for case in cases]
