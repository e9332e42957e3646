"""What a real problem is: bounds, a budget, and a function of an array to minimise."""

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from bamsoo.base.typing import Array

from ..case import Box, Target
from ..named import Named
from ..problem import NamedProblem
from ..tuning.tasks import Part

Value: TypeAlias = Callable[[Array], float]
"""The function to minimise."""


@dataclass(frozen=True)
class RealProblem(NamedProblem):
    """A deterministic problem with real parameters, whose instances are copies.

    Parameters
    ----------
    kind : str
        Its field, for tables.
    part : str
        Whether it is for development or reported.
    build : callable
        ``build()`` returns the function to minimise.
    packages : tuple of str
        The modules that it needs.
    """

    kind: str
    part: Part
    build: Callable[[], Value]
    packages: tuple[str, ...] = ()

    def target(self, instance: int) -> Target:
        """A copy, whose axes are permuted and some of them mirrored.

        Copy 0 is the problem as it is. All copies have the same values. One run on each of several
        copies shows more than one run, because a search meets the axes in another order.
        """
        value, bounds = self.build(), np.array(self.space, dtype=float)
        if not instance:
            return Target(value, self.space)
        rng = np.random.default_rng([instance, zlib.crc32(self.name.encode())])
        order = rng.permutation(len(bounds))
        mirrored = rng.random(len(bounds)) < 0.5
        total = bounds.sum(axis=1)

        def copied(x: Array) -> float:
            original = np.empty(len(bounds))
            original[order] = x
            return value(np.where(mirrored, total - original, original))

        return Target(copied, list(map(tuple, bounds[order].tolist())))


REAL: Named[RealProblem] = Named("real problem")


def sizes(
    kind: str,
    packages: tuple[str, ...] = (),
    /,
    **each: tuple[Part, int, Sequence[object]],
) -> Callable[[Callable[..., tuple[Box, Callable[[], Value]]]], Callable[..., object]]:
    """Register the decorated function of some arguments once for each of their values.

    It returns the bounds and a function that builds the problem. Underscores in the names become
    hyphens.

    Parameters
    ----------
    kind : str
    packages : tuple of str
    **each
        By the name of a problem: its part, its budget, and the arguments.
    """

    def add(make: Callable[..., tuple[Box, Callable[[], Value]]]) -> Callable[..., object]:
        for name, (part, budget, given) in each.items():
            bounds, build = make(*given)
            name = name.replace("_", "-")
            REAL.add(RealProblem(name, bounds, budget, kind, part, build, packages))
        return make

    return add


def by_part() -> Mapping[Part, tuple[str, ...]]:
    """The names of the problems of each part."""
    parts: tuple[Part, ...] = "develop", "report"
    return {part: tuple(p.name for p in REAL.values() if p.part == part) for part in parts}
