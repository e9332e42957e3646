"""The suite `yahpo`: surrogates of real training runs, whose data the user provides (`..yahpo`).

The number of epochs, or the share of the rows that a model is trained on, is always the largest.
"""

from collections.abc import Callable
from random import Random
from typing import Any

from ..case import Case, Target
from ..tuning.tasks import Part
from ..yahpo import SCENARIOS, TaskSurrogate, available, scenario_of, split
from .suite import Selection, Suite, named_cases

BUDGET = 100

INSTANCES: dict[Part, tuple[int, ...]] = {"develop": (0, 1), "report": (10,)}
"""Seeds of the searches."""

LOSSES = {
    "lcbench": ("val_accuracy", -1.0),
    "rbv2_xgboost": ("acc", -1.0),
    "rbv2_rpart": ("acc", -1.0),
    "iaml_glmnet": ("mmce", 1.0),
}
"""The result of each scenario that is minimised, and its sign: -1 for a score."""

SLOW = {"lcbench": 7, "rbv2_xgboost": 6, "rbv2_rpart": 6, "iaml_glmnet": 1}
"""How many tasks of each scenario slow peers run; lcbench has only seven."""

FAMILIES: dict[str, Callable[[Case], bool]] = {
    "neural networks (lcbench)": lambda case: scenario_of(case.problem) == "lcbench",
    "XGBoost": lambda case: scenario_of(case.problem) == "rbv2_xgboost",
    "decision trees": lambda case: scenario_of(case.problem) == "rbv2_rpart",
    "elastic nets": lambda case: scenario_of(case.problem) == "iaml_glmnet",
}
"""The kinds of tasks, by the name that tables give them."""


def cases(wanted: Selection) -> list[Case]:
    """The tasks of one part."""
    return named_cases(
        "yahpo",
        wanted,
        split(),
        INSTANCES,
        lambda name: (SCENARIOS[scenario_of(name)].dim, BUDGET),
    )


def slow_cases() -> list[Case]:
    """The cases of slow peers: tasks drawn before the first run, the scenarios by turns.

    However many of them have been run, all scenarios are among them.
    """
    draw, names = Random(0), split()["report"]
    drawn = [
        draw.sample([name for name in names if scenario_of(name) == scenario], number)
        for scenario, number in SLOW.items()
    ]
    order = [some[i] for i in range(max(SLOW.values())) for some in drawn if i < len(some)]
    (seed,) = INSTANCES["report"]
    found = {case.problem: case for case in cases(Selection(instances=(seed,)))}
    return [found[name] for name in order]


def target(case: Case) -> Target:
    """A task; the instance is only the seed of the search."""
    surrogate = TaskSurrogate(case.problem)
    loss, sign = LOSSES[scenario_of(case.problem)]

    def fun(**params: Any) -> float:
        return sign * surrogate(params)[loss]

    return Target(fun, surrogate.space)


def takes(method: str, case: Case) -> bool:
    """Whether a method is run: two know no conditions, and one is the plain TPE without them."""
    conditional = scenario_of(case.problem) == "rbv2_xgboost"
    if method in ("cma-margin", "hebo"):
        return not conditional
    return conditional or method != "optuna-tpe-group"


SUITE = Suite(
    "yahpo",
    "Surrogates of training runs",
    4,
    cases,
    target,
    peers=("hebo", "optuna-gp", "smac", "optuna-tpe-group", "optuna-tpe", "cma-margin", "random"),
    modules=("onnxruntime",),
    instances="Seed",
    mixed=True,
    at=(20, 40, 100),
    takes=takes,
    available=lambda case: available(),
)
