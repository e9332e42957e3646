"""The suite `objectives`: problems with two and three objectives, all of them minimised.

COCO's bbob-biobj (Tušar, Brockhoff, Hansen and Auger, "COCO: the bi-objective black box
optimization benchmarking (bbob-biobj) test suite", 2016), test functions and engineering designs
given by formulas (`..objectives`), and surrogates of tuning tasks, whose data the user provides
(`..yahpo`).
"""

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from bamsoo.space import Real

from ..case import Case, Target
from ..errors import BenchError, require
from ..objectives import PROBLEMS
from ..objectives.problem import BUDGET
from ..tuning.tasks import Part
from ..yahpo import SCENARIOS, TASKS, TaskSurrogate
from ..yahpo import available as has_surrogates
from .suite import Selection, Suite

INSTANCES: dict[Part, tuple[int, ...]] = {"develop": (1,), "report": (11,)}
"""Seeds of the searches; on bbob-biobj, they are also the numbers of the instances."""

DIMS = (2, 5, 10)
FUNCTIONS: dict[Part, range] = {"develop": range(5, 56, 8), "report": range(1, 56, 8)}
"""Dimensions and functions of bbob-biobj: every eighth of its 55 pairs of functions."""

BIOBJ = "biobj-f"

FIRST = 3
"""How many tasks of each scenario of the surrogates are run."""

RESULTS = {
    "lcbench": ("val_cross_entropy", "time"),
    "rbv2_xgboost": ("logloss", "timetrain"),
    "rbv2_rpart": ("logloss", "timetrain"),
}
"""The objectives of a tuning task: the loss on validation data, and the seconds of the training."""

FAMILIES: dict[str, Callable[[Case], bool]] = {
    **{
        f"bbob-biobj, D = {dim}": lambda case, dim=dim: (  # type: ignore[misc]
            case.problem.startswith(BIOBJ) and case.dim == dim
        )
        for dim in DIMS
    },
    "ZDT and DTLZ": lambda case: case.problem.startswith(("zdt", "dtlz")),
    "engineering designs": lambda case: (
        case.problem in PROBLEMS and not case.problem.startswith(("zdt", "dtlz"))
    ),
    "tuning tasks": lambda case: case.problem.startswith(tuple(RESULTS)),
}
"""The kinds of problems, by the name that tables give them."""


def cases(wanted: Selection) -> list[Case]:
    """The problems of one part, on each of its instances."""
    part = wanted.part or "report"
    found = [(f"{BIOBJ}{f}", dim) for dim in DIMS for f in FUNCTIONS[part]]
    found += [(p.name, p.size[0]) for p in PROBLEMS.values() if p.part == part]
    found += [
        (f"{scenario}-{task}", SCENARIOS[scenario].dim)
        for scenario in RESULTS
        for task in TASKS[part][scenario][:FIRST]
    ]
    names = [name for name, _ in found]
    for name in wanted.tasks or ():
        if name not in names:
            raise BenchError(
                f"the part {part!r} of the suite 'objectives' has no problem {name!r}; expected "
                f"some of {', '.join(dict.fromkeys(names))}"
            )
    return [
        Case("objectives", name, dim, instance, wanted.budget or BUDGET)
        for instance in wanted.instances or INSTANCES[part]
        for name, dim in found
        if (not wanted.tasks or name in wanted.tasks) and (not wanted.dims or dim in wanted.dims)
    ]


def available(case: Case) -> bool:
    """Whether the case can be run here: a tuning task needs its data."""
    return case.problem in PROBLEMS or case.problem.startswith(BIOBJ) or has_surrogates()


def same(case: Case) -> Hashable:
    """Equal for two cases that have the same front: except on bbob-biobj, instances are seeds."""
    instance = case.instance if case.problem.startswith(BIOBJ) else None
    return case.problem, case.dim, instance


def target(case: Case) -> Target:
    """The problem of a case."""
    if case.problem in PROBLEMS:
        return PROBLEMS[case.problem].target(case.instance)
    if case.problem.startswith(BIOBJ):
        return _biobj(case)
    return _tuning(case.problem)


def _biobj(case: Case) -> Target:
    number = case.problem.removeprefix(BIOBJ)
    options = f"function_indices:{number} dimensions:{case.dim} instance_indices:{case.instance}"
    problem = require("cocoex").Suite("bbob-biobj", "instances: 1-15", options)[0]
    ends = zip(problem.lower_bounds.tolist(), problem.upper_bounds.tolist(), strict=True)
    space = {f"x{i}": Real(low, high) for i, (low, high) in enumerate(ends)}

    def fun(**params: float) -> list[float]:
        values: list[float] = problem(np.array([*params.values()])).tolist()
        return values

    return Target(fun, space, objectives=("f1", "f2"))


def _tuning(name: str) -> Target:
    surrogate = TaskSurrogate(name)
    results = RESULTS[name.partition("-")[0]]

    def fun(**params: Any) -> list[float]:
        found = surrogate(params)
        return [found[name] for name in results]

    return Target(fun, surrogate.space, objectives=("loss", "seconds"))


SUITE = Suite(
    "objectives",
    "Several objectives",
    12,
    cases,
    target,
    peers=("botorch-nehvi", "optuna-gp", "optuna-tpe", "optuna-nsga2", "pymoo", "random", "mosoo"),
    modules=("cocoex",),
    instances="Seeds, and instances of bbob-biobj",
    mixed=True,
    several=True,
    available=available,
)
