"""What is true of a search at one moment: the record that its book writes, and the parts read."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from typing import TypeAlias

import numpy as np

from ..base.typing import Array
from ..model.gp import GP
from ..model.warp import Identity, Transform
from ..record.residuals import SumOfSquares
from ..space.parameters import Fidelity
from .known import Known
from .limits import Limits
from .search import TREE, Outcome
from .tree import Tree

Requested: TypeAlias = tuple[Array, int | None]
"""A pending point, and its node if it has one."""


@dataclass(eq=False)
class Arrival:
    """A value that is being entered, or a failure."""

    outcome: Outcome
    key: int
    """The key of its point in the GPs."""
    node: int | None
    g: tuple[float, ...]
    """The values in the units of the GPs; empty if the evaluation failed."""
    repeated: int | None = None
    """The row of an earlier value of this point, from which this one differs."""
    row: int | None = None
    better: bool = False
    """Whether it is the best feasible value so far, as it was measured."""
    first: bool = False
    """Whether it is the first feasible one."""


@dataclass
class Facts:
    """The evaluations of a search, its tree and its models; `t`, `n` and `f_plus` are the paper's.

    `transform` is a strictly increasing function. It maps values to the units that f_plus, the
    tree's g and the GP share; the paper's algorithms use the identity. With several objectives
    there is a GP and a transform for each, and `gp` and `transform` are those of the first.
    """

    given: list[Outcome] = field(default_factory=list)
    """Values from before the search began, which `begin` enters."""
    n: int = 1
    f_plus: float = -inf
    asked: int = 0
    origin: str = TREE
    """The part of the search that asked for the latest point."""
    fidelity: Fidelity | None = None
    """How exact evaluations may be, if the space says so."""
    spent: float = 0.0
    """With a fidelity, what the trials from before the search began cost, in full evaluations."""
    level: float | None = None
    """The value of the fidelity for the latest point; None if the search does not choose it."""
    rejected: int = 0
    tree: Tree | None = None
    gps: Sequence[GP] = ()
    noisy: bool = False
    tol: float | None = None
    """The smallest gain that matters to the caller, in units of the values as they arrive."""
    squares: SumOfSquares = field(default_factory=SumOfSquares)
    """In a fit, how residuals become one value, after their weights."""
    transforms: Sequence[Transform] = ()
    limits: Limits | None = None
    known: Known = field(default_factory=Known)
    out: dict[int, Requested] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.limits is not None:
            self.known = self.limits.known
        self.transforms = self.transforms or [Identity()] * self.known.objectives

    @property
    def several(self) -> bool:
        """Whether there are several objectives."""
        return self.known.objectives > 1

    @property
    def gp(self) -> GP | None:
        """The GP of the first objective; None in a search without a model."""
        return self.gps[0] if self.gps else None

    @property
    def transform(self) -> Transform:
        """The transform of the first objective."""
        return self.transforms[0]

    @property
    def t(self) -> int:
        """The number of evaluations whose values are known."""
        return self.known.t

    @property
    def pending(self) -> Array:
        """The points that were asked for and whose values have not arrived."""
        points = [x for x, _ in self.out.values()]
        return np.array(points) if points else self.known.X[:0]
