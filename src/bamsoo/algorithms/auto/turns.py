"""What both kinds of steps beside the tree share: what they are made from, and whose turn it is."""

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
    """The search that steps belong to."""

    domain: Domain
    tree: Tree
    book: Book
    prior: Prior
    failures: Failures
    rng: np.random.Generator
    constants: Constants

    def near(self) -> Near:
        """Candidates near the best points and in the leaves."""
        return Near(self.domain, self.tree, self.rng, self.constants.near)

    def pause(self, in_vain: int, tries: int) -> float:
        """How many times rarer steps are after so many in vain, of which the first are free."""
        return float(2.0 ** min(max(in_vain - tries, 0), self.constants.local.rarest))


class Turns:
    """Whose turn it is: the kind of step that has been better more often recently."""

    def __init__(self, constants: NearConstants) -> None:
        self._constants = constants
        self._worth = {"local": 1.0, "near": constants.worth}

    @property
    def local(self) -> bool:
        """Whether the local model comes before the candidates near the best points."""
        return self._worth["local"] >= self._worth["near"]

    def count(self, kind: str, better: bool) -> None:
        """Note whether a step of this kind was better than all before it."""
        constants = self._constants
        worth = constants.memory * self._worth[kind] + (1.0 - constants.memory) * better
        self._worth[kind] = max(worth, constants.least)
