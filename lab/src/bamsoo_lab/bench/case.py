"""What is optimised: a case names a problem, in a form that JSON can store; a target is it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from bamsoo.base.typing import Array
from bamsoo.space import Parameter, Space

from .errors import BenchError

Box: TypeAlias = Sequence[tuple[float, float]]
"""Bounds of a function of an array."""


@dataclass(frozen=True)
class Case:
    """A problem to minimise with a number of evaluations.

    Parameters
    ----------
    suite : str
        Name of the suite that knows the problem.
    problem : str
        Name of the problem inside the suite.
    dim : int
        Number of parameters.
    instance : int
        Number of the box, instance or split; also the seed for the methods.
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
        a number to be minimised, or None or nan for an evaluation that failed. With constraints, it
        returns that number and a dict of constraint values.
    space : sequence of (low, high), or dict of name to parameter
        Parameters are (low, high) pairs, `Real`, `Int` or `Choice`.
    optimum : float, optional
        The smallest value. If it is known and the values are exact, a run is stored as its best
        regret so far; otherwise every value is stored and scored when runs are compared.
    truth : callable, optional
        For a noisy `fun`: the true value of a point, or None if all attempts fail. It takes the
        same arguments as `fun`, is called after the run, and is not visible to any method.
    noiseless : callable, optional
        For a `fun` whose values are exact to only a few digits: the exact value of a point, from
        which regrets are computed. It is called after every evaluation, and is not visible to any
        method.
    constraints : tuple of str
        Names of the constraints that an evaluation measures; a point is feasible if none of them is
        positive.
    known : callable, optional
        The constraints that are known in advance: numbers that must not be positive. It takes the
        same arguments as `fun`, and calling it is not an evaluation.
    objectives : tuple of str
        Names of the objectives if there are several. `fun` then returns a list of numbers in place
        of one, and all of them are to be minimised.
    steps : int
        Number of steps of an evaluation, or 0. If there are steps, `fun` is a generator function
        that yields the value after each of them, and the budget counts full evaluations.
    fidelity : str
        The name of the parameter that is a `Fidelity`, or nothing. If there is one, `fun` takes it
        too, and the budget counts evaluations at its top, which alone are scored.
    fit : bool
        Whether `fun` returns a vector of residuals, whose sum of squares is to be minimised.
    """

    fun: Callable[..., Any]
    space: Box | Mapping[str, Parameter | tuple[float, float]]
    optimum: float | None = None
    truth: Callable[..., float | None] | None = None
    noiseless: Callable[..., float | None] | None = None
    constraints: tuple[str, ...] = ()
    known: Callable[..., Sequence[float]] | None = None
    objectives: tuple[str, ...] = ()
    steps: int = 0
    fidelity: str = ""
    fit: bool = False

    @property
    def noisy(self) -> bool:
        """Whether two evaluations of the same point may differ."""
        return self.truth is not None

    @property
    def limited(self) -> bool:
        """Whether there are constraints, measured or known in advance."""
        return bool(self.constraints) or self.known is not None

    @property
    def named(self) -> bool:
        """Whether the space is a dict, and `fun` takes keyword arguments."""
        return isinstance(self.space, Mapping)

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """The bounds of a box; a dict of parameters has none."""
        if isinstance(self.space, Mapping):
            raise BenchError(
                "a method for boxes was given named parameters; expected a method with `mixed=True`"
            )
        return [(float(low), float(high)) for low, high in self.space]

    def exact(self) -> tuple[Callable[[Array], float], float]:
        """A function of an array that neither fails nor has noise, and its smallest value."""
        more = (
            self.noisy
            or self.noiseless
            or self.limited
            or self.objectives
            or self.steps
            or self.fit
        )
        if self.named or more or self.optimum is None:
            raise BenchError(
                "expected a function on a box with one objective, without noise, constraints and "
                "steps, whose optimum is known"
            )
        return cast(Callable[[Array], float], self.fun), self.optimum

    def by_name(self) -> dict[str, Any]:
        """The parameters by name; conditional ones are inside the parameter they depend on.

        The parameters of a box are called x0, x1 and so on. A fidelity is not among them.
        """
        given = dict(Space(self.space).given)
        given.pop(self.fidelity, None)
        return given
