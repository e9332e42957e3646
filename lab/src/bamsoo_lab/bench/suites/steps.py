"""The suite `steps`: evaluations that may be stopped before their last step, or made cheaper.

Surrogates of neural networks with 52 epochs and of XGBoost by the share of the rows that it is
trained on, whose data the user provides (`..yahpo`), and trainings and simulations that run here
(`..trainings`). Budgets count full evaluations, and only values of these are scored.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from bamsoo import Fidelity

from ..case import Case, Target
from ..trainings import BUDGET, TRAININGS
from ..tuning.tasks import INSTANCES, Part
from ..yahpo import SCENARIOS, TASKS, TaskSurrogate, scenario_of
from ..yahpo import available as has_surrogates
from .suite import Selection, Suite, named_cases

EPOCHS = 52

SIZED = "rbv2_xgboost"
"""The scenario with a training size, which is a fidelity."""

ROWS = Fidelity(0.03, 1.0, log=True)
"""The share of the rows, as the scenario has it."""

MOST = 6
"""The number of tasks of that scenario in each part: the first ones."""

FAMILIES: dict[str, Callable[[Case], bool]] = {
    "lcbench": lambda case: case.problem.startswith("lcbench"),
    "training size": lambda case: case.problem.startswith(SIZED),
    "trainings": lambda case: case.problem in TRAININGS and not TRAININGS[case.problem].crosses,
    "curves that cross": lambda case: case.problem in TRAININGS and TRAININGS[case.problem].crosses,
}
"""The kinds of problems, by the name that tables give them."""


def names(part: Part) -> tuple[str, ...]:
    """The problems of a part."""
    own = (training.name for training in TRAININGS.values() if training.part == part)
    learned = (f"lcbench-{task}" for task in TASKS[part]["lcbench"])
    return *learned, *(f"{SIZED}-{task}" for task in TASKS[part][SIZED][:MOST]), *own


def cases(wanted: Selection) -> list[Case]:
    """The problems of one part."""
    parts: tuple[Part, ...] = "develop", "report"
    return named_cases(
        "steps",
        wanted,
        {part: names(part) for part in parts},
        INSTANCES,
        lambda name: (
            TRAININGS[name].size
            if name in TRAININGS
            else (SCENARIOS[scenario_of(name)].dim, BUDGET)
        ),
    )


def available(case: Case) -> bool:
    """Whether the case can be run here: a surrogate needs its data."""
    return case.problem in TRAININGS or has_surrogates()


def target(case: Case) -> Target:
    """The problem of a case; on lcbench, the instance is only the seed of the search."""
    if case.problem in TRAININGS:
        return TRAININGS[case.problem].target(case.instance)
    surrogate = TaskSurrogate(case.problem)
    if FAMILIES["training size"](case):
        space = surrogate.space | {"trainsize": ROWS}
        return Target(partial(_loss, surrogate), space, fidelity="trainsize")

    def fun(**params: Any) -> Iterator[float]:
        losses = -surrogate.predict(params, epoch=np.arange(1.0, EPOCHS + 1.0))["val_accuracy"]
        yield from losses.tolist()

    return Target(fun, surrogate.space, steps=EPOCHS)


def _loss(surrogate: TaskSurrogate, trainsize: float, **params: Any) -> float:
    return -surrogate(params, trainsize=trainsize)["acc"]


def takes(method: str, case: Case) -> bool:
    """Whether a method can be run: the pruners of Optuna are for steps."""
    return not (FAMILIES["training size"](case) and method.startswith(("tpe-", "random-")))


SUITE = Suite(
    "steps",
    "Evaluations that are stopped",
    13,
    cases,
    target,
    peers=(
        *("bamsoo-whole", "tpe-asha", "tpe-hyperband", "tpe-median"),
        *("random-asha", "random-hyperband", "random-median", "smac-budgets", "dehb"),
        *("optuna-tpe", "random"),
    ),
    modules=("sklearn",),
    instances="Seeds, and instances of the trainings",
    mixed=True,
    stepped=True,
    at=(5, 10, 20),
    takes=takes,
    available=available,
)
