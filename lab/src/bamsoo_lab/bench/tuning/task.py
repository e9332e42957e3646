"""A tuning task: a space, a function of its parameters to minimise, and its properties."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any, Literal

import numpy as np

from bamsoo.space.parameters import Parameter

from ..case import Target
from ..named import Named
from ..problem import NamedProblem

Evaluate = Callable[..., "float | None"]
"""``evaluate(seed, **params)``: the value, or None if the evaluation fails."""

REPEATS = 12
"""Evaluations averaged for the true value of a noisy task at one point."""

TRUTH_SEED = 1_000_000
"""Seeds from here on are for true values, so that no search has seen their noise."""


@dataclass(frozen=True)
class TuningTask(NamedProblem):
    """A problem to tune.

    Parameters
    ----------
    name : str
    space : dict
        `Real`, `Int` or `Choice` by name.
    budget : int
    family : str
        The kind of model or problem; both parts have tasks of each.
    build : callable
        ``build(instance)`` returns an `Evaluate`; the instance chooses rows, folds or loads.
    noisy : bool
        Two evaluations of one point differ.
    fails : bool
        Part of the space raises an exception or returns None, by design.
    """

    space: Mapping[str, Parameter]
    family: str
    build: Callable[[int], Evaluate]
    noisy: bool = False
    fails: bool = False

    def target(self, instance: int) -> Target:
        """One instance, which counts its calls."""
        problem = TuningProblem(self, instance)
        return Target(problem, self.space, truth=problem.truth if self.noisy else None)


TASKS: Named[TuningTask] = Named("tuning task")

BUDGET = 80


def register(
    tasks: Named[TuningTask],
    budget: int,
    name: str,
    family: str,
    /,
    *tags: Literal["noisy", "fails"],
    **space: Parameter,
) -> Callable[[Callable[[int], Evaluate]], Callable[[int], Evaluate]]:
    """Add the decorated ``build(instance)`` to some tasks."""

    def add(build: Callable[[int], Evaluate]) -> Callable[[int], Evaluate]:
        noisy, fails = "noisy" in tags, "fails" in tags
        tasks.add(TuningTask(name, space, budget, family, build, noisy, fails))
        return build

    return add


task = partial(register, TASKS, BUDGET)
"""Register the decorated ``build(instance)`` as a task of the suite `tuning`."""


class TuningProblem:
    """One instance of a task, to be called with keyword arguments.

    The noise of a noisy task depends on the index of the call, so the same calls in the same order
    give the same values. If the task is known to fail, an exception is a failed evaluation;
    otherwise, it is an error of the task itself. A value that is nan or infinite is always a failed
    evaluation, because a model may diverge in a corner of a wide range.
    """

    def __init__(self, task: TuningTask, instance: int) -> None:
        self.task = task
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._evaluate = task.build(instance)
        self.calls = 0

    def __call__(self, **params: Any) -> float | None:
        self.calls += 1
        return self._value(self.calls if self.task.noisy else 0, params)

    def truth(self, **params: Any) -> float | None:
        """The value without noise: a mean over noise that no search has seen."""
        if not self.task.noisy:
            return self._value(0, params)
        found = [self._value(TRUTH_SEED + i, params) for i in range(REPEATS)]
        good = [value for value in found if value is not None]
        return float(np.mean(good)) if good else None

    def _value(self, seed: int, params: dict[str, Any]) -> float | None:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # with wide ranges, many models do not converge
            try:
                value = self._evaluate(seed, **params)
            except Exception:
                if not self.task.fails:
                    raise
                return None
        return None if value is None or not isfinite(value) else float(value)
