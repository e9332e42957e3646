"""The suite `designs`: engineering designs and test functions with constraints and known optima.

Settings are chosen in boxes that are cut at random around the optimum. Reported runs search the
whole space, with several seeds.
"""

from collections.abc import Collection

from ..case import Case, Target
from ..designs import DESIGNS, find
from ..errors import BenchError
from ..tuning.tasks import Part
from .suite import Selection, Suite

BUDGET = 100

INSTANCES: dict[Part, tuple[int, ...]] = {"develop": (1, 2, 3), "report": (11, 12, 13, 14, 15)}
"""Seeds of the searches; in the part `develop`, they are also the numbers of the boxes."""


def cases(
    part: Part,
    instances: Collection[int] | None = None,
    tasks: Collection[str] | None = None,
    budget: int = BUDGET,
) -> list[Case]:
    """The problems on each instance; by default those of the part."""
    unknown = [name for name in tasks or () if name not in DESIGNS]
    if unknown:
        raise BenchError(
            f"no design is called {unknown[0]!r}; expected some of {', '.join(DESIGNS)}"
        )
    return [
        Case("designs", name, len(design.space), instance, budget)
        for instance in instances or INSTANCES[part]
        for name, design in DESIGNS.items()
        if not tasks or name in tasks
    ]


def target(case: Case) -> Target:
    """A problem in its whole space, or in one of the boxes of the part `develop`."""
    design = find(case.problem)
    box = case.instance if case.instance in INSTANCES["develop"] else 0
    return Target(
        design.evaluate, design.cut_space(box), design.optimum, constraints=design.constraints
    )


def _selected(wanted: Selection) -> list[Case]:
    return cases(wanted.part or "report", wanted.instances, wanted.tasks, wanted.budget or BUDGET)


SUITE = Suite(
    "designs",
    "Engineering designs with constraints",
    10,
    _selected,
    target,
    peers=("slsqp", "cobyqa", "optuna-gp", "optuna-tpe", "random"),
    instances="Seeds",
    constrained=True,
)
