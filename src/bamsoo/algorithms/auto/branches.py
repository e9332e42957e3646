"""Which option has the next step, where options bring along parameters of their own.

An option that looks poor at its first points may hold the best one: its parameters are its own, and
what is known about other options says nothing about them. So steps are dealt out to the options by
rank. The best option has most of them, the next one a certain share of that, and so on; and within
an option the same again, where it brings along another choice.
"""

from typing import NamedTuple, TypeAlias

import numpy as np

from ..._typing import Array
from ...space.axes import Domain, Mask
from .constants import BranchConstants

Path: TypeAlias = tuple[tuple[int, float], ...]
"""Options inside one another: of each, its axis and its place there. Empty: any."""


class Branch(NamedTuple):
    """Options that have a step, and which of the points have them."""

    path: Path
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
        """The options that have the next step; None: those of the best point.

        `X` and `f` are the points evaluated and their values.
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
        """The option that lacks most of its share of the evaluations."""
        options, counts = np.unique(places, return_counts=True)
        tops = np.array([f[places == option].max() for option in options])
        ranks = np.argsort(np.argsort(-tops, kind="stable"), kind="stable")
        shares = self._constants.falling ** ranks.astype(float)
        lacking = shares / shares.sum() * counts.sum() - counts
        return float(options[int(lacking.argmax())])
