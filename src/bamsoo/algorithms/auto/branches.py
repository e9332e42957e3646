"""Which option has the next step, where options bring along parameters of their own.

An option that looks poor at its first points may hold the best one: its parameters are its own, and
what is known about other options says nothing about them. So steps are dealt out to the options by
rank. The best option has most of them, the next one a certain share of that, and so on.
"""

from typing import NamedTuple

import numpy as np

from ..._typing import Array
from ...space.axes import Domain, Mask
from .constants import BranchConstants


class Branch(NamedTuple):
    """An option other than the best point's: its axis, its place there, and the points with it."""

    axis: int
    option: float
    rows: Mask


class Branches:
    """Deals out steps to the options of each choice in turn.

    Parameters
    ----------
    domain : Domain
    constants : BranchConstants
    """

    def __init__(self, domain: Domain, constants: BranchConstants) -> None:
        self._domain, self._constants = domain, constants
        self._turns = 0

    def next(self, X: Array, f: Array) -> Branch | None:
        """The option that has the next step; None: the best point's own.

        `X` and `f` are the points evaluated and their values.
        """
        if not self._domain.conditional:
            return None
        best = X[int(f.argmax())]
        there = self._domain.exists(best)
        axes = [a for a in self._domain.opening if there[a]]
        if not axes:
            return None
        axis = axes[self._turns % len(axes)]
        self._turns += 1
        have = self._domain.exists(X)[:, axis]
        options = np.unique(X[have, axis])
        tops = np.array([f[have & (X[:, axis] == option)].max() for option in options])
        counts = np.array([(have & (X[:, axis] == option)).sum() for option in options])
        ranks = np.argsort(np.argsort(-tops, kind="stable"), kind="stable")
        shares = self._constants.falling ** ranks.astype(float)
        lacking = shares / shares.sum() * counts.sum() - counts
        chosen = options[int(lacking.argmax())]
        if chosen == best[axis]:
            return None
        return Branch(axis, float(chosen), have & (X[:, axis] == chosen))
