"""Decides which option receives the next step, if options have parameters of their own.

An option whose first points are poor may still contain the best point: it has parameters of its
own, and what is known about other options says nothing about these. So the options share the steps
by rank. The best option receives the most, the next one a fixed share of that, and so on. If an
option contains another choice, the steps within it are shared in the same way.
"""

from typing import NamedTuple, TypeAlias

import numpy as np

from ..._typing import Array
from ...space.axes import Domain, Mask
from .constants import BranchConstants

Path: TypeAlias = tuple[tuple[int, float], ...]
"""Nested options, from the outside in, each as its axis and its coordinate on that axis. The empty
path stands for any options."""


class Branch(NamedTuple):
    """The options in which a step is to be taken, and which of the points have these options."""

    path: Path
    rows: Mask


class Branches:
    """Shares the steps among the options; independent choices take turns.

    Parameters
    ----------
    domain : Domain
    constants : BranchConstants
    """

    def __init__(self, domain: Domain, constants: BranchConstants) -> None:
        self._domain, self._constants = domain, constants
        self._turns = 0

    def next(self, X: Array, f: Array) -> Branch | None:
        """The options of the next step, or None for those of the best point.

        `X` and `f` are the evaluated points and their values.
        """
        if not self._domain.conditional:
            return None
        self._turns += 1
        rows: Mask = np.ones(len(X), dtype=bool)
        path: Path = ()
        axes = [a for a in self._domain.opening if self._domain.conditions[a] is None]
        while axes:
            axis = axes[self._turns % len(axes)]
            option = self._lacking(X[rows, axis], f[rows])
            path = (*path, (axis, option))
            rows = rows & (X[:, axis] == option)
            there = self._domain.exists(X[rows][0])
            axes = [a for a in self._domain.opening if there[a] and self._below(a) == axis]
        best = X[int(f.argmax())]
        return None if all(best[axis] == option for axis, option in path) else Branch(path, rows)

    def _below(self, axis: int) -> int | None:
        condition = self._domain.conditions[axis]
        return None if condition is None else condition.axis

    def _lacking(self, places: Array, f: Array) -> float:
        """The option that is the most evaluations short of its share."""
        options, counts = np.unique(places, return_counts=True)
        tops = np.array([f[places == option].max() for option in options])
        ranks = np.argsort(np.argsort(-tops, kind="stable"), kind="stable")
        shares = self._constants.falling ** ranks.astype(float)
        lacking = shares / shares.sum() * counts.sum() - counts
        return float(options[int(lacking.argmax())])
