"""A problem with several objectives, all of which are to be minimised."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from bamsoo.space import Int, Real

from ..case import Target
from ..named import Named
from ..problem import NamedProblem
from ..tuning.tasks import Part

Values: TypeAlias = dict[str, float]
"""The objectives by name."""

LimitValues: TypeAlias = dict[str, float]
"""The constraints by name; a point is feasible if none is positive."""


@dataclass(frozen=True)
class FrontProblem(NamedProblem):
    """A problem with several objectives; all instances are the same.

    Parameters
    ----------
    name : str
    space : dict
        `Real` or `Int` by name.
    budget : int
    part : {"develop", "report"}
    objectives, constraints : tuple of str
    evaluate : callable
        Takes the parameters by name and returns `Values`, or `Values` and `LimitValues` if there
        are constraints.
    """

    part: Part
    objectives: tuple[str, ...]
    constraints: tuple[str, ...]
    evaluate: Callable[..., Any]

    def __call__(self, **params: Any) -> Any:
        """The objectives as a list; with constraints, that and the constraints by name."""
        if not self.constraints:
            return [*self.evaluate(**params).values()]
        values, limits = self.evaluate(**params)
        return [*values.values()], limits

    def target(self, instance: int) -> Target:
        """The problem."""
        return Target(self, self.space, constraints=self.constraints, objectives=self.objectives)


PROBLEMS: Named[FrontProblem] = Named("problem")

BUDGET = 100


def problem(
    name: str, part: Part, /, **space: Real | Int
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function as a problem; its names are read from one evaluation."""

    def register(evaluate: Callable[..., Any]) -> Callable[..., Any]:
        found = evaluate(**{key: _middle(parameter) for key, parameter in space.items()})
        values, limits = found if isinstance(found, tuple) else (found, {})
        names = tuple(values), tuple(limits)
        PROBLEMS.add(FrontProblem(name, space, BUDGET, part, *names, evaluate))
        return evaluate

    return register


def _middle(parameter: Real | Int) -> float:
    middle = (parameter.low + parameter.high) / 2
    return round(middle) if isinstance(parameter, Int) else middle
