"""COCO's functions with whole numbers and with noise, from the package `coco-experiment`.

Tušar, Brockhoff and Hansen, "Mixed-integer benchmark problems for single- and bi-objective
optimization", GECCO 2019; Hansen et al., "Real-parameter black-box optimization benchmarking
2009: noisy functions definitions", INRIA RR-6869.
"""

from collections.abc import Collection
from typing import Any

from ....space import Int, Real
from ....space.parameters import Parameter
from ..errors import require
from .tasks import Part

INSTANCES: dict[Part, tuple[int, ...]] = {"develop": (1, 2), "report": (11, 12)}
DIMS = {"mixint": (5, 10, 20), "noisy": (5,)}
BUDGETS = {("mixint", 5): 100, ("mixint", 10): 150, ("mixint", 20): 200, ("noisy", 5): 150}
FUNCTIONS = {"mixint": range(1, 25), "noisy": range(101, 131)}


def names(suite: str, dims: Collection[int] | None = None) -> list[str]:
    """Every function in every dimension, as ``f7-5d``."""
    return [f"f{f}-{d}d" for d in dims or DIMS[suite] for f in FUNCTIONS[suite]]


def _parse(name: str) -> tuple[int, int]:
    function, _, dim = name.partition("-")
    return int(function[1:]), int(dim[:-1])


def budget(suite: str, name: str) -> int:
    """Evaluations, by the dimension."""
    return BUDGETS[suite, _parse(name)[1]]


def build(suite: str, name: str, instance: int) -> Any:
    """A problem of a suite."""
    raise NotImplementedError
