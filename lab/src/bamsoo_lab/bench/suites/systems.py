"""The suite `systems`: simulations with chance whose noise is not declared, and architectures."""

from bamsoo.space import Choice

from ..case import Case
from ..problem import targets
from ..systems import SPLIT, SYSTEMS
from ..tuning.tasks import INSTANCES
from .suite import Selection, Suite, named_cases


def cases(wanted: Selection) -> list[Case]:
    """The systems of one part."""
    return named_cases("systems", wanted, SPLIT, INSTANCES, lambda name: SYSTEMS[name].size)


def takes(method: str, case: Case) -> bool:
    """Whether a method is run: noise can be declared only where there is some.

    CMA-ES knows no conditions, and grouped TPE differs from TPE only where there are some.
    """
    system = SYSTEMS[case.problem]
    conditional = any(isinstance(p, Choice) and p.opens for p in system.space.values())
    if method == "bamsoo-noise":
        return system.noisy
    if method == "cma-margin":
        return not conditional
    return conditional or method != "optuna-tpe-group"


SUITE = Suite(
    "systems",
    "Systems with chance and architectures",
    16,
    cases,
    targets(lambda: SYSTEMS),
    peers=(*("bamsoo-noise", "smac", "optuna-tpe", "optuna-tpe-group", "cma-margin", "random"),),
    mixed=True,
    at=(20, 40, 100),
    seconds=0.005,
    takes=takes,
)
