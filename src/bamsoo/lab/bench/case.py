"""What is optimised: a case is a name that JSON can hold, a target is what it stands for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from ..._typing import Array
from ...space import Parameter, Space
from .errors import BenchError

Box: TypeAlias = Sequence[tuple[float, float]]
"""Bounds of a function of an array."""


@dataclass(frozen=True)
class Case:
    """Something to minimise with a number of evaluations.

    Parameters
    ----------
    suite : str
        Name of the suite that knows the problem.
    problem : str
        Name of the problem inside the suite.
    dim : int
        Number of parameters.
    instance : int
        Number of the box, instance or split; also the seed of the methods.
    budget : int
        Number of evaluations.
    """

    suite: str
    problem: str
    dim: int
    instance: int
    budget: int


@dataclass(frozen=True)
class Target:
    """A case that can be evaluated.

    Parameters
    ----------
    fun : callable
        Takes an array where the space is a box, and keyword arguments where it is a dict. Returns
        a number to be minimised, or None or nan for an evaluation that failed. With constraints it
        returns that number and a dict of what they measure.
    space : sequence of (low, high), or dict of name to parameter
        Parameters are (low, high) pairs, `Real`, `Int` or `Choice`.
    optimum : float, optional
        The least value. If it is known and the values are exact, a run is stored as its best
        regret so far; otherwise every value is stored and scored when runs are compared.
    truth : callable, optional
        For a noisy `fun`: what a point is really worth, or None where all attempts fail. It takes
        what `fun` takes, is called after the run, and no method sees it.
    noiseless : callable, optional
        For a `fun` whose values are exact to a few digits only: the exact value of a point, by
        which regrets are measured. It is called after every evaluation, and no method sees it.
    constraints : tuple of str
        Names of the constraints that an evaluation measures; a point is feasible where none of
        them is positive.
    """

    fun: Callable[..., Any]
    space: Box | Mapping[str, Parameter | tuple[float, float]]
    optimum: float | None = None
    truth: Callable[..., float | None] | None = None
    noiseless: Callable[..., float | None] | None = None
    constraints: tuple[str, ...] = ()

    @property
    def noisy(self) -> bool:
        """Whether two evaluations of one point differ."""
        return self.truth is not None

    @property
    def named(self) -> bool:
        """Whether the space is a dict, and `fun` takes keyword arguments."""
        return isinstance(self.space, Mapping)

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """The bounds of a box; a dict of parameters has none."""
        if isinstance(self.space, Mapping):
            raise BenchError(
                "a method for boxes was given named parameters; expected a method marked as mixed"
            )
        return [(float(low), float(high)) for low, high in self.space]

    def exact(self) -> tuple[Callable[[Array], float], float]:
        """A function of an array that neither fails nor has noise, and its least value."""
        if self.named or self.noisy or self.noiseless or self.constraints or self.optimum is None:
            raise BenchError(
                "expected a function on a box, without noise and constraints, whose optimum is "
                "known"
            )
        return cast(Callable[[Array], float], self.fun), self.optimum

    def by_name(self) -> dict[str, Any]:
        """The parameters by name, each with those that it brings along inside it.

        Those of a box are called x0, x1 and so on.
        """
        return dict(Space(self.space).given)
