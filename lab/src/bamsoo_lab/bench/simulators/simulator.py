"""What a simulator is: a space, the function to minimise, and the package that computes it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from bamsoo.space import Parameter

from ..named import Named

Evaluate: TypeAlias = Callable[..., Any]
"""``evaluate(seed, **params)``: a value as in `Target.fun`; only noise depends on the seed."""

Rule: TypeAlias = Callable[..., list[float]]
"""``rule(**params)``: numbers that must not be positive, known before an evaluation."""


@dataclass(frozen=True)
class Simulator:
    """A problem of the suite.

    Parameters
    ----------
    name : str
    kind : str
        What is difficult about it, in a few words, for tables.
    package : str
        The module that it needs.
    space : dict
    build : callable
        ``build(instance)`` returns the function to minimise.
    noisy : bool
        Two evaluations of one point differ.
    fails : bool
        In a part of the space an exception is raised, by design.
    constraints : tuple of str
        Names of the constraints that an evaluation measures.
    known : callable, optional
        ``known(instance)`` returns the constraints that are known in advance.
    """

    name: str
    kind: str
    package: str
    space: Mapping[str, Parameter]
    build: Callable[[int], Evaluate]
    noisy: bool = False
    fails: bool = False
    constraints: tuple[str, ...] = ()
    known: Callable[[int], Rule] | None = None


SIMULATORS: Named[Simulator] = Named("simulator")


def simulator(
    name: str,
    kind: str,
    package: str,
    /,
    *tags: Literal["noisy", "fails"],
    space: Mapping[str, Parameter],
    constraints: tuple[str, ...] = (),
    known: Callable[[int], Rule] | None = None,
) -> Callable[[Callable[[int], Evaluate]], Callable[[int], Evaluate]]:
    """Register the decorated ``build(instance)``."""

    def add(build: Callable[[int], Evaluate]) -> Callable[[int], Evaluate]:
        SIMULATORS.add(
            Simulator(
                *(name, kind, package, space, build),
                noisy="noisy" in tags,
                fails="fails" in tags,
                constraints=constraints,
                known=known,
            )
        )
        return build

    return add
