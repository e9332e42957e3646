"""The suites `mixint`, `noisy` and `constrained`: COCO's functions, from `coco-experiment`.

Tušar, Brockhoff and Hansen, "Mixed-integer benchmark problems for single- and bi-objective
optimization", GECCO 2019; Hansen et al., "Real-parameter black-box optimization benchmarking
2009: noisy functions definitions", INRIA report RR-6869; Dufossé, Hansen, Brockhoff, Sampaio,
Atamna and Auger, "Building scalable test problems for benchmarking constrained optimizers", 2022.
"""

from collections import Counter
from collections.abc import Callable, Collection
from functools import partial
from typing import Any

import numpy as np

from bamsoo.space import Int, Real

from ..case import Case, Target
from ..errors import require
from ..tuning.tasks import Part
from .suite import Selection, Suite, check_numbers

INSTANCES: dict[str, dict[Part, tuple[int, ...]]] = {
    "mixint": {"develop": (1, 2), "report": (11, 12)},
    "noisy": {"develop": (1, 2), "report": (11, 12)},
    "constrained": {"develop": (1,), "report": (11,)},
}
FUNCTIONS = {"mixint": range(1, 25), "noisy": range(101, 131), "constrained": range(1, 55)}
USUAL = {
    **{name: tuple(FUNCTIONS[name]) for name in ("mixint", "noisy")},
    "constrained": tuple(f for f in FUNCTIONS["constrained"] if ((f - 1) // 6 + f - 1) % 3 == 0),
}
"""Functions that are run by default.

bbob-constrained has nine functions with six numbers of constraints each. By default, a third of
these 54 is run: two numbers of constraints per function, and three functions per number.
"""

BUDGETS = {
    "mixint": {5: 100, 10: 150, 20: 200},
    "noisy": {5: 150},
    "constrained": {2: 100, 5: 100, 10: 100},
}
"""Evaluations by dimension."""

STREAM = 200
"""Evaluations between the starts of two problems in the single noise stream of COCO."""

REPEATS = 15
"""Evaluations of a function with rare outliers; its most frequent value is the exact one."""


def cases(
    suite: str,
    part: Part,
    dims: Collection[int] | None = None,
    instances: Collection[int] | None = None,
    functions: Collection[int] | None = None,
    budget: int | None = None,
) -> list[Case]:
    """The functions in each dimension on each instance; by default those of the part."""
    known, budgets = FUNCTIONS[suite], BUDGETS[suite]
    check_numbers(f"functions of {suite}", functions, known)
    check_numbers(f"dimensions of {suite}", dims, budgets)
    return [
        Case(suite, f"f{f}", dim, instance, budget or budgets[dim])
        for dim in dims or budgets
        for instance in instances or INSTANCES[suite][part]
        for f in functions or USUAL[suite]
    ]


def _problem(suite: str, index: int, dim: int, instance: int) -> Any:
    """A problem by the index of its function; opening a suite restarts COCO's noise."""
    options = f"function_indices:{index} dimensions:{dim} instance_indices:{instance}"
    return require("cocoex").Suite(suite, "", options)[0]


def _by_name(fun: Callable[[Any], float]) -> Callable[..., float]:
    return lambda **params: float(fun(np.array([*params.values()], dtype=float)))


def mixint(case: Case) -> Target:
    """A function of bbob-mixint: a fifth of the variables have 2, 4, 8 and 16 values each."""
    problem = _problem("bbob-mixint", int(case.problem[1:]), case.dim, case.instance)
    whole = problem.number_of_integer_variables
    ends = zip(problem.lower_bounds.tolist(), problem.upper_bounds.tolist(), strict=True)
    space = {
        f"x{i}": Int(int(low), int(high)) if i < whole else Real(low, high)
        for i, (low, high) in enumerate(ends)
    }
    return Target(_by_name(problem), space)


def noisy(case: Case) -> Target:
    """A function of bbob-noisy.

    COCO has a single stream of noise for all problems. It is restarted here and advanced to where
    it would be if the problems had been run in order, so that a run can be repeated. Evaluations of
    two problems of this suite must therefore not alternate.

    COCO does not give the values without noise. The functions come in groups of three, with
    Gaussian, uniform and Cauchy noise. The last are exact except for a constant and for outliers,
    so they give the true values of all three. Evaluating them advances the stream.
    """
    index = int(case.problem[1:]) - FUNCTIONS["noisy"][0]
    cauchy = index - index % 3 + 2
    exact = _problem("bbob-noisy", cauchy + 1, case.dim, case.instance)
    # what COCO adds to functions with Cauchy noise: moderate for the first six, then severe
    constant = 0.0 if index == cauchy else 10.0 if index < 6 else 1000.0

    def truth(x: Any) -> float:
        values = Counter(float(exact(x)) for _ in range(REPEATS))
        return values.most_common(1)[0][0] - constant

    problem = _problem("bbob-noisy", index + 1, case.dim, case.instance)
    for _ in range(STREAM * (index + len(FUNCTIONS["noisy"]) * case.instance)):
        problem(np.zeros(case.dim))
    space = {f"x{i}": Real(-5.0, 5.0) for i in range(case.dim)}
    return Target(_by_name(problem), space, truth=_by_name(truth))


def constrained(case: Case) -> Target:
    """A function of bbob-constrained: 1 to 54 constraints, of which some are active."""
    problem = _problem("bbob-constrained", int(case.problem[1:]), case.dim, case.instance)
    names = tuple(f"c{i}" for i in range(problem.number_of_constraints))

    def fun(x: Any) -> tuple[float, dict[str, float]]:
        return float(problem(x)), dict(zip(names, problem.constraint(x).tolist(), strict=True))

    ends = zip(problem.lower_bounds.tolist(), problem.upper_bounds.tolist(), strict=True)
    return Target(fun, list(ends), constraints=names)


def _selected(suite: str, wanted: Selection) -> list[Case]:
    part = wanted.part or "report"
    return cases(suite, part, wanted.dims, wanted.instances, wanted.functions, wanted.budget)


PEERS = ("optuna-tpe", "optuna-gp", "cma-margin", "random")

MIXINT = Suite(
    "mixint",
    "COCO's mixed-integer functions",
    6,
    partial(_selected, "mixint"),
    mixint,
    peers=PEERS,
    modules=("cocoex",),
    mixed=True,
)
NOISY = Suite(
    "noisy",
    "COCO's noisy functions",
    7,
    partial(_selected, "noisy"),
    noisy,
    peers=("bamsoo-noise", *PEERS),
    modules=("cocoex",),
    mixed=True,
)
CONSTRAINED = Suite(
    "constrained",
    "COCO's constrained functions",
    9,
    partial(_selected, "constrained"),
    constrained,
    peers=("slsqp", "cobyqa", "optuna-gp", "optuna-tpe", "random"),
    modules=("cocoex",),
    constrained=True,
)
