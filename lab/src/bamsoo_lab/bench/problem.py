"""What designs, simulators, tasks and trainings have in common: a name, a space, a budget, a truth.

The truth is part of the target: its optimum if it is known, or the values without noise.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from bamsoo.space import Parameter, Space

from .case import Box, Case, Target


@dataclass(frozen=True)
class NamedProblem(ABC):
    """A problem by name, of which there may be several instances.

    Parameters
    ----------
    name : str
    space : sequence of (low, high), or dict of name to parameter
    budget : int
        Number of evaluations.
    """

    name: str
    space: Box | Mapping[str, Parameter]
    budget: int

    @property
    def size(self) -> tuple[int, int]:
        """The number of parameters, and the budget."""
        return Space(self.space).dim, self.budget

    @abstractmethod
    def target(self, instance: int) -> Target:
        """An instance of the problem, as all methods meet it."""


Problems: TypeAlias = Callable[[], Mapping[str, NamedProblem]]
"""Problems by name; they are loaded when they are needed."""


def targets(problems: Problems) -> Callable[[Case], Target]:
    """What a suite of such problems evaluates in a case."""
    return lambda case: problems()[case.problem].target(case.instance)
