"""The suite `steps`: evaluations that may be stopped before their last step.

Surrogates of neural networks with 52 epochs, whose data the user provides (`..yahpo`), and
trainings and simulations that run here (`..trainings`). Budgets count full evaluations, and only
values of finished evaluations are scored.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..case import Case, Target
from ..trainings import TRAININGS
from ..tuning.tasks import INSTANCES, Part
from ..yahpo import TaskSurrogate
from ..yahpo import available as has_surrogates
from .suite import Selection, Suite, named_cases

BUDGET = 20

EPOCHS = 52

TASKS: dict[Part, tuple[str, ...]] = {
    "develop": ("189905", "168331", "167168", "167149", "189873", "126029", "167190"),
    "report": ("189354", "168868", "167200", "167201", "189866", "189908", "167181"),
}
"""Tasks of lcbench."""

DIMENSION = 7
"""Number of parameters of lcbench, whose tasks are listed even without their data."""

FAMILIES: dict[str, Callable[[Case], bool]] = {
    "lcbench": lambda case: case.problem not in TRAININGS,
    "trainings": lambda case: case.problem in TRAININGS and not TRAININGS[case.problem].crosses,
    "curves that cross": lambda case: case.problem in TRAININGS and TRAININGS[case.problem].crosses,
}
"""The kinds of problems, by the name that tables give them."""


def names(part: Part) -> tuple[str, ...]:
    """The problems of a part."""
    own = (training.name for training in TRAININGS.values() if training.part == part)
    return *(f"lcbench-{task}" for task in TASKS[part]), *own


def cases(wanted: Selection) -> list[Case]:
    """The problems of one part."""
    parts: tuple[Part, ...] = "develop", "report"
    return named_cases(
        "steps",
        wanted,
        {part: names(part) for part in parts},
        INSTANCES,
        BUDGET,
        lambda name: len(TRAININGS[name].space) if name in TRAININGS else DIMENSION,
    )


def available(case: Case) -> bool:
    """Whether the case can be run here: a surrogate needs its data."""
    return case.problem in TRAININGS or has_surrogates()


def target(case: Case) -> Target:
    """The problem of a case; on lcbench, the instance is only the seed of the search."""
    if case.problem in TRAININGS:
        training = TRAININGS[case.problem]
        return Target(training.build(case.instance), training.space, steps=training.steps)
    surrogate = TaskSurrogate(case.problem)

    def fun(**params: Any) -> Iterator[float]:
        losses = -surrogate.predict(params, epoch=np.arange(1.0, EPOCHS + 1.0))["val_accuracy"]
        yield from losses.tolist()

    return Target(fun, surrogate.space, steps=EPOCHS)


SUITE = Suite(
    "steps",
    "Evaluations that are stopped",
    13,
    cases,
    target,
    peers=(
        *("bamsoo-whole", "tpe-asha", "tpe-hyperband", "tpe-median"),
        *("random-asha", "random-hyperband", "random-median", "optuna-tpe", "random"),
    ),
    modules=("sklearn",),
    instances="Seeds, and instances of the trainings",
    mixed=True,
    stepped=True,
    at=(5, 10, 20),
    available=available,
)
