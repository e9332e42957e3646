"""What a simulator is: a space, the function to minimise, and the package that computes it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeAlias

from bamsoo.space import Parameter

from ..case import Target
from ..errors import require
from ..named import Named
from ..tuning.task import TuningTask

Simulate: TypeAlias = Callable[..., Any]
"""``evaluate(seed, **params)``: a value as in `Target.fun`; only noise depends on the seed."""

KnownRule: TypeAlias = Callable[..., list[float]]
"""``rule(**params)``: numbers that must not be positive, known before an evaluation."""


@dataclass(frozen=True)
class Simulator(TuningTask):
    """A task that may need a package and have constraints; its family is what is difficult.

    Parameters
    ----------
    package : str
        The module that it needs.
    constraints : tuple of str
        Names of the constraints that an evaluation measures.
    known : callable, optional
        ``known(instance)`` returns the constraints that are known in advance.
    """

    package: str = ""
    constraints: tuple[str, ...] = ()
    known: Callable[[int], KnownRule] | None = None

    def target(self, instance: int) -> Target:
        """One instance, with its constraints."""
        require(self.package)
        known = None if self.known is None else self.known(instance)
        if not self.constraints:
            return replace(super().target(instance), known=known)
        return Target(
            partial(self.build(instance), 0), self.space, constraints=self.constraints, known=known
        )


SIMULATORS: Named[Simulator] = Named("simulator")

BUDGET = 100


def simulator(
    name: str,
    kind: str,
    package: str,
    /,
    *tags: Literal["noisy", "fails"],
    space: Mapping[str, Parameter],
    constraints: tuple[str, ...] = (),
    known: Callable[[int], KnownRule] | None = None,
) -> Callable[[Callable[[int], Simulate]], Callable[[int], Simulate]]:
    """Register the decorated ``build(instance)``."""

    def add(build: Callable[[int], Simulate]) -> Callable[[int], Simulate]:
        SIMULATORS.add(
            Simulator(
                *(name, space, BUDGET, kind, build),
                noisy="noisy" in tags,
                fails="fails" in tags,
                package=package,
                constraints=constraints,
                known=known,
            )
        )
        return build

    return add
