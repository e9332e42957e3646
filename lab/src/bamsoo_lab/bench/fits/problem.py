"""A fit: the vector of residuals of a model, and the box of its parameters."""

from collections.abc import Callable
from dataclasses import dataclass

from bamsoo.base.typing import Array

from ..case import Box


@dataclass(frozen=True)
class FitProblem:
    """A model with data.

    Parameters
    ----------
    residuals : callable
        The vector of residuals at a point of the box.
    box : sequence of (low, high)
    near : array, optional
        A point from which a local search finds the best fit: the parameters that made the data.
    """

    residuals: Callable[[Array], Array]
    box: Box
    near: Array | None = None


@dataclass(frozen=True)
class Kind:
    """A kind of fit.

    Parameters
    ----------
    build : callable
        The fit of an instance, which decides its data.
    dim : int
    basins : bool
        Whether local searches from most starts end in another basin than that of the best fit.
    """

    build: Callable[[int], FitProblem]
    dim: int
    basins: bool = False
