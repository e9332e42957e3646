"""The suite `simulators`: what engineers control, lay out and design, in packages of others."""

from typing import Any

from bamsoo.space import Choice, Space

from ..case import Case, Target
from ..errors import require
from ..simulators import SIMULATORS
from ..tuning.task import TuningProblem, TuningTask
from ..tuning.tasks import INSTANCES, Part
from .suite import Selection, Suite, named_cases

BUDGET = 100


def cases(wanted: Selection) -> list[Case]:
    """Every simulator, with the parameters that the instances of a part give it."""
    parts: tuple[Part, ...] = "develop", "report"
    return named_cases(
        "simulators",
        wanted,
        dict.fromkeys(parts, tuple(SIMULATORS)),
        INSTANCES,
        BUDGET,
        lambda name: Space(SIMULATORS[name].space).dim,
    )


def target(case: Case) -> Target:
    """One instance of a simulator."""
    each = SIMULATORS[case.problem]
    require(each.package)
    known = None if each.known is None else each.known(case.instance)
    if each.constraints:
        evaluate = each.build(case.instance)

        def fun(**params: Any) -> Any:
            return evaluate(0, **params)

        return Target(fun, each.space, constraints=each.constraints, known=known)
    task = TuningTask(
        each.name, each.kind, dict(each.space), each.build, noisy=each.noisy, fails=each.fails
    )
    problem = TuningProblem(task, case.instance)
    return Target(problem, each.space, truth=problem.truth if each.noisy else None, known=known)


def takes(method: str, case: Case) -> bool:
    """Whether a method can be run on a simulator, and is worth it there."""
    each = SIMULATORS[case.problem]
    limited = bool(each.constraints) or each.known is not None
    options = [p for p in each.space.values() if isinstance(p, Choice)]
    if method in ("slsqp", "cobyqa"):  # they need slopes
        return each.kind in ("known constraints", "measured constraints", "many optima")
    if method == "cma-margin":
        return not limited and not any(p.opens for p in options)
    if method == "optuna-tpe-group":
        return any(p.opens for p in options)
    if method == "bamsoo-noise":
        return each.noisy
    return True


SUITE = Suite(
    "simulators",
    "Simulators",
    14,
    cases,
    target,
    peers=(
        *("bamsoo-noise", "optuna-tpe", "optuna-tpe-group", "optuna-gp", "cma-margin"),
        *("slsqp", "cobyqa", "random"),
    ),
    at=(20, 40, 100),
    seconds=0.01,
    takes=takes,
)
