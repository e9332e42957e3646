"""The suite `simulators`: what engineers control, lay out and design, in packages of others."""

from importlib.util import find_spec

from bamsoo.space import Choice

from ..case import Case
from ..problem import targets
from ..simulators import SIMULATORS
from ..tuning.tasks import INSTANCES, Part
from .suite import Selection, Suite, named_cases


def cases(wanted: Selection) -> list[Case]:
    """Every simulator, with the parameters that the instances of a part give it."""
    parts: tuple[Part, ...] = "develop", "report"
    return named_cases(
        "simulators",
        wanted,
        dict.fromkeys(parts, tuple(SIMULATORS)),
        INSTANCES,
        lambda name: SIMULATORS[name].size,
    )


def takes(method: str, case: Case) -> bool:
    """Whether a method can be run on a simulator, and is worth it there."""
    each = SIMULATORS[case.problem]
    limited = bool(each.constraints) or each.known is not None
    options = [p for p in each.space.values() if isinstance(p, Choice)]
    if method in ("slsqp", "cobyqa"):  # they need slopes
        return each.family in ("known constraints", "measured constraints", "many optima")
    if method == "cma-margin":
        return not limited and not any(p.opens for p in options)
    if method == "optuna-tpe-group":
        return any(p.opens for p in options)
    if method == "bamsoo-noise":
        return each.noisy
    return True


def available(case: Case) -> bool:
    """Whether the package that the simulator needs is installed."""
    return find_spec(SIMULATORS[case.problem].package) is not None


SUITE = Suite(
    "simulators",
    "Simulators",
    14,
    cases,
    targets(lambda: SIMULATORS),
    peers=(
        *("bamsoo-noise", "optuna-tpe", "optuna-tpe-group", "optuna-gp", "cma-margin"),
        *("slsqp", "cobyqa", "random"),
    ),
    at=(20, 40, 100),
    seconds=0.01,
    takes=takes,
    available=available,
)
