"""The suite `designs`: engineering designs and test functions with constraints and known optima.

Settings are chosen in boxes that are cut at random around the optimum. Reported runs search the
whole space, with several seeds.
"""

from ..case import Case, Target
from ..designs import DESIGNS
from ..tuning.tasks import Part
from .suite import Selection, Suite, named_cases

INSTANCES: dict[Part, tuple[int, ...]] = {"develop": (1, 2, 3), "report": (11, 12, 13, 14, 15)}
"""Seeds of the searches; in the part `develop`, they are also the numbers of the boxes."""


def cases(wanted: Selection) -> list[Case]:
    """The problems, which are the same in both parts."""
    names = dict.fromkeys(INSTANCES, DESIGNS)
    return named_cases("designs", wanted, names, INSTANCES, lambda name: DESIGNS[name].size)


def target(case: Case) -> Target:
    """A problem in its whole space, or in one of the boxes of the part `develop`."""
    box = case.instance if case.instance in INSTANCES["develop"] else 0
    return DESIGNS[case.problem].target(box)


SUITE = Suite(
    "designs",
    "Engineering designs with constraints",
    10,
    cases,
    target,
    peers=("slsqp", "cobyqa", "optuna-gp", "optuna-tpe", "random"),
    instances="Seeds",
    constrained=True,
)
