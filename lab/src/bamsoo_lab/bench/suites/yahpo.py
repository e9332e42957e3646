"""The suite `yahpo`: surrogates of real training runs, whose data the user provides (`..yahpo`).

The number of epochs, or the share of the rows that a model is trained on, is always the largest.
"""

from typing import Any

from bamsoo.space import Space

from ..case import Case, Target
from ..tuning.tasks import INSTANCES
from ..yahpo import TaskSurrogate, space, split
from .suite import Selection, Suite, named_cases

BUDGET = 100

LOSSES = {
    "lcbench": ("val_accuracy", -1.0),
    "rbv2_xgboost": ("acc", -1.0),
    "rbv2_rpart": ("acc", -1.0),
    "iaml_glmnet": ("mmce", 1.0),
}
"""The result of each scenario that is minimised, and its sign: -1 for a score."""


def cases(wanted: Selection) -> list[Case]:
    """The tasks of one part."""
    return named_cases(
        "yahpo", wanted, split(), INSTANCES, BUDGET, lambda name: Space(space(_scenario(name))).dim
    )


def _scenario(problem: str) -> str:
    return problem.partition("-")[0]


def target(case: Case) -> Target:
    """A task; the instance is only the seed of the search."""
    surrogate = TaskSurrogate(case.problem)
    loss, sign = LOSSES[_scenario(case.problem)]

    def fun(**params: Any) -> float:
        return sign * surrogate(params)[loss]

    return Target(fun, surrogate.space)


SUITE = Suite(
    "yahpo",
    "Surrogates of training runs",
    4,
    cases,
    target,
    peers=("optuna-tpe", "optuna-tpe-group", "optuna-gp", "smac", "random"),
    modules=("onnxruntime",),
    instances="Seeds",
    mixed=True,
)
