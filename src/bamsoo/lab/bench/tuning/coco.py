"""COCO's functions of whole numbers and with noise, from the package `coco-experiment`.

Tušar, Brockhoff and Hansen, "Mixed-integer benchmark problems for single- and bi-objective
optimization", GECCO 2019; Hansen et al., "Real-parameter black-box optimization benchmarking
2009: noisy functions definitions", INRIA report RR-6869.
"""

from collections import Counter
from collections.abc import Collection
from typing import Any

import numpy as np

from ....space import Int, Real
from ....space.parameters import Parameter
from ..errors import require
from .objective import Target
from .tasks import Part

INSTANCES: dict[Part, tuple[int, ...]] = {"develop": (1, 2), "report": (11, 12)}
FUNCTIONS = {"mixint": range(1, 25), "noisy": range(101, 131)}
BUDGETS = {"mixint": {5: 100, 10: 150, 20: 200}, "noisy": {5: 150}}
"""Evaluations by suite and dimension."""

STREAM = 200
"""Evaluations between the starts of two problems in COCO's one stream of noise."""

REPEATS = 15
"""Evaluations of a function with rare outliers, among which the quiet value comes up often."""


def names(suite: str, dims: Collection[int] | None = None) -> list[str]:
    """Every function in every dimension, as ``f7-5d``."""
    return [f"f{f}-{d}d" for d in dims or BUDGETS[suite] for f in FUNCTIONS[suite]]


def budget(suite: str, name: str) -> int:
    """Evaluations, by the dimension."""
    return BUDGETS[suite][_parse(name)[1]]


def build(suite: str, name: str, instance: int) -> Target:
    """A problem of a suite."""
    function, dim = _parse(name)
    return (Mixed if suite == "mixint" else Noisy)(function, dim, instance)


def _parse(name: str) -> tuple[int, int]:
    function, _, dim = name.partition("-")
    return int(function[1:]), int(dim[:-1])


def _problem(suite: str, index: int, dim: int, instance: int) -> Any:
    """A problem by the index of its function; opening a suite starts COCO's noise anew."""
    options = f"function_indices:{index} dimensions:{dim} instance_indices:{instance}"
    return require("cocoex").Suite(suite, "", options)[0]


class Mixed:
    """A function of bbob-mixint: a fifth of the variables have 2, 4, 8 and 16 values each."""

    noisy = False

    def __init__(self, function: int, dim: int, instance: int) -> None:
        self._problem = _problem("bbob-mixint", function, dim, instance)
        whole = self._problem.number_of_integer_variables
        ends = zip(self._problem.lower_bounds, self._problem.upper_bounds, strict=True)
        self.space: dict[str, Parameter] = {
            f"x{i}": Int(int(low), int(high)) if i < whole else Real(low, high)
            for i, (low, high) in enumerate(ends)
        }

    def __call__(self, **params: float) -> float:
        return float(self._problem(np.array([*params.values()], dtype=float)))

    def truth(self, params: dict[str, float]) -> float:
        """The value itself."""
        return self(**params)


class Noisy:
    """A function of bbob-noisy.

    COCO has one stream of noise for all problems, which it does not show. It is started anew
    here and moved on to where it would be had the problems been run in order, so that a run
    can be repeated. The functions come in threes with Gaussian, uniform and Cauchy noise. The
    last are exact but for a constant and for outliers, which gives the value without noise of
    all three; ask for it after the run, because that moves the stream too.
    """

    noisy = True

    def __init__(self, function: int, dim: int, instance: int) -> None:
        index = function - FUNCTIONS["noisy"][0]
        exact = index - index % 3 + 2
        self._exact = _problem("bbob-noisy", exact + 1, dim, instance)
        # Moderate noise (the first six functions) is a hundredth of the severe one.
        shift = 10.0 if index < 6 else 1000.0
        self._shift = 0.0 if index == exact else shift
        self._problem = _problem("bbob-noisy", index + 1, dim, instance)
        for _ in range(STREAM * (index + len(FUNCTIONS["noisy"]) * instance)):
            self._problem(np.zeros(dim))
        self.space: dict[str, Parameter] = {f"x{i}": Real(-5.0, 5.0) for i in range(dim)}

    def __call__(self, **params: float) -> float:
        return float(self._problem(np.array([*params.values()])))

    def truth(self, params: dict[str, float]) -> float:
        """The value without noise."""
        x = np.array([*params.values()])
        quiet = Counter(float(self._exact(x)) for _ in range(REPEATS)).most_common(1)[0][0]
        return quiet - self._shift
