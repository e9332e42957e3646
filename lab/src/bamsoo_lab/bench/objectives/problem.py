"""A problem with several objectives, all of which are to be minimised."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from bamsoo.space import Int, Real

from ..named import Named
from ..tuning.tasks import Part

Values: TypeAlias = dict[str, float]
"""The objectives by name."""

Limits: TypeAlias = dict[str, float]
"""The constraints by name; a point is feasible if none is positive."""


@dataclass(frozen=True)
class FrontProblem:
    """A problem with several objectives.

    Parameters
    ----------
    name : str
    part : {"develop", "report"}
    objectives, constraints : tuple of str
    space : dict
        `Real` or `Int` by name.
    evaluate : callable
        Takes the parameters by name and returns `Values`, or `Values` and `Limits` if there are
        constraints.
    """

    name: str
    part: Part
    objectives: tuple[str, ...]
    constraints: tuple[str, ...]
    space: Mapping[str, Real | Int]
    evaluate: Callable[..., Any]

    def __call__(self, **params: Any) -> Any:
        """The objectives as a list; with constraints, that and the constraints by name."""
        if not self.constraints:
            return [*self.evaluate(**params).values()]
        values, limits = self.evaluate(**params)
        return [*values.values()], limits


PROBLEMS: Named[FrontProblem] = Named("problem")


def problem(
    name: str, part: Part, /, **space: Real | Int
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function as a problem; its names are read from one evaluation."""

    def register(evaluate: Callable[..., Any]) -> Callable[..., Any]:
        found = evaluate(**{key: _middle(parameter) for key, parameter in space.items()})
        values, limits = found if isinstance(found, tuple) else (found, {})
        PROBLEMS.add(FrontProblem(name, part, tuple(values), tuple(limits), space, evaluate))
        return evaluate

    return register


def _middle(parameter: Real | Int) -> float:
    middle = (parameter.low + parameter.high) / 2
    return round(middle) if isinstance(parameter, Int) else middle
