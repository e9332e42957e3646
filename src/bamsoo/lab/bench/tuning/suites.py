"""The suites of mixed, noisy and failing problems by name: which cases, and how to build them."""

from collections.abc import Collection
from dataclasses import dataclass

from ..errors import BenchError
from . import coco
from .objective import Target
from .task import Problem
from .tasks import INSTANCES, SPLIT, Part, find

SUITES = ("tuning", "mixint", "noisy")
BUDGET = 80
"""Evaluations of a tuning task."""


@dataclass(frozen=True)
class Case:
    """A problem, named so that JSON can hold it.

    Parameters
    ----------
    suite : {"tuning", "mixint", "noisy"}
    problem : str
        The name of a tuning task, or such as ``f7-5d``.
    instance : int
    seed : int
        Of the search; runs of one instance with several seeds differ in nothing else.
    """

    suite: str
    problem: str
    instance: int
    seed: int = 0


def cases(
    suite: str,
    part: Part,
    problems: Collection[str] | None = None,
    dims: Collection[int] | None = None,
    seeds: Collection[int] = (0,),
) -> list[Case]:
    """The cases of one part of a suite."""
    if suite == "tuning":
        names, instances = list(SPLIT[part]), INSTANCES[part]
    else:
        names, instances = coco.names(suite, dims), coco.INSTANCES[part]
    for name in problems or ():
        if name not in names:
            raise BenchError(
                f"{name!r} is not in the part {part!r} of the suite {suite!r}; "
                f"expected one of {', '.join(names)}"
            )
    chosen = [name for name in names if not problems or name in problems]
    return [Case(suite, name, i, seed) for seed in seeds for i in instances for name in chosen]


def budget(case: Case) -> int:
    """How many evaluations a case has."""
    return BUDGET if case.suite == "tuning" else coco.budget(case.suite, case.problem)


def build(case: Case) -> Target:
    """The function of a case."""
    if case.suite == "tuning":
        return Problem(find(case.problem), case.instance)
    return coco.build(case.suite, case.problem, case.instance)
