"""What `Steps` and `ConstrainedSteps` share: their view of the search, and whose turn it is.

Both classes decide on the evaluations outside the tree, the first without and the second with
constraints.
"""

from typing import NamedTuple

import numpy as np

from ...space.axes import Domain
from ..book import Book
from ..tree import Tree
from .constants import Constants, NearConstants
from .failures import Failures
from .near import Near
from .prior import Prior


class Context(NamedTuple):
    """The parts of the search that the steps use."""

    domain: Domain
    tree: Tree
    book: Book
    prior: Prior
    failures: Failures
    rng: np.random.Generator
    constants: Constants

    def near(self) -> Near:
        """A new source of candidates near the best points and in the leaves."""
        return Near(self.domain, self.tree, self.rng, self.constants.near)

    def pause(self, in_vain: int, tries: int) -> float:
        """The factor by which steps are rarer after `in_vain` of them without an improvement.

        It is 1 for the first `tries` of them, and doubles with each further one up to a limit.
        """
        return float(2.0 ** min(max(in_vain - tries, 0), self.constants.local.rarest))


class Turns:
    """Decides whose turn it is: that of the kind of step that has improved more often recently.

    The two kinds are steps of the local model and steps to candidates near the best points.
    """

    def __init__(self, constants: NearConstants) -> None:
        self._constants = constants
        self._worth = {"local": 1.0, "near": constants.worth}

    @property
    def local(self) -> bool:
        """Whether the local model is tried before the candidates near the best points."""
        return self._worth["local"] >= self._worth["near"]

    def count(self, kind: str, better: bool) -> None:
        """Note whether a step of this kind improved on the best value before it."""
        constants = self._constants
        worth = constants.memory * self._worth[kind] + (1.0 - constants.memory) * better
        self._worth[kind] = max(worth, constants.least)
