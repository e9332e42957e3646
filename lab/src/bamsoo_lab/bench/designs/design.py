"""A constrained problem with a known optimum."""

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil, floor
from typing import Any, TypeAlias

import numpy as np

from bamsoo.space import Int, Parameter, Real

from ..case import Target
from ..named import Named
from ..problem import NamedProblem

DesignValue: TypeAlias = tuple[float, dict[str, float]]
"""The value to be minimised, and the constraints by name; feasible if none is positive."""

CUT = 0.3
"""In a cut box, each end moves towards the optimum by up to this share of the distance."""


@dataclass(frozen=True)
class Design(NamedProblem):
    """A constrained problem, whose instances are boxes.

    Parameters
    ----------
    name : str
    space : dict
        `Real`, `Int` or `Choice` by name.
    budget : int
    evaluate : callable
        Takes the parameters by name and returns an `DesignValue`.
    optimum : float
        The smallest value of a feasible point, to six digits or more.
    optimizer : dict
        A point that has this value.
    engineering : bool
        Whether it is an engineering design; otherwise a published test function.
    """

    space: Mapping[str, Parameter]
    evaluate: Callable[..., DesignValue]
    optimum: float
    optimizer: Mapping[str, Any]
    engineering: bool

    @property
    def constraints(self) -> tuple[str, ...]:
        """Names of the constraints."""
        return tuple(self.evaluate(**self.optimizer)[1])

    def target(self, instance: int) -> Target:
        """The problem in a box, or in its whole space for 0."""
        space = self.cut_space(instance)
        return Target(self.evaluate, space, self.optimum, constraints=self.constraints)

    def cut_space(self, box: int) -> dict[str, Parameter]:
        """The space in box number `box`, which is smaller and has the same optimum.

        Box 0 is the whole space.
        """
        rng = np.random.default_rng([box, zlib.crc32(self.name.encode())])
        shares = [rng.uniform(0.0, CUT if box else 0.0, 2) for _ in self.space]
        return {
            name: _cut(parameter, self.optimizer[name], *share)
            for (name, parameter), share in zip(self.space.items(), shares, strict=True)
        }


def _cut(parameter: Parameter, at: Any, lower: float, upper: float) -> Parameter:
    """A parameter with its ends moved towards the value `at`; options are unchanged."""
    if parameter.options is not None:
        return parameter
    low, high = parameter.ends
    low, high = low + lower * (at - low), high - upper * (high - at)
    if parameter.whole:
        return Int(floor(low), ceil(high), log=parameter.log)
    return Real(low, high, log=parameter.log)


DESIGNS: Named[Design] = Named("design")

BUDGET = 100


def design(
    engineering: bool,
    name: str,
    optimum: float,
    optimizer: Mapping[str, Any],
    /,
    **space: Parameter,
) -> Callable[[Callable[..., DesignValue]], Callable[..., DesignValue]]:
    """Register the decorated function as a problem."""

    def register(evaluate: Callable[..., DesignValue]) -> Callable[..., DesignValue]:
        DESIGNS.add(Design(name, space, BUDGET, evaluate, optimum, optimizer, engineering))
        return evaluate

    return register
