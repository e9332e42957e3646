"""The search for one best value: the paper's rule, and steps that a schedule takes."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ...base.typing import Array
from ...model.gp import Posterior
from ...space.axes import Domain
from ..book import Book
from ..grades import Ahead
from ..search import Waiting
from ..tree import Tree
from .climb import Shared
from .demand import Demand
from .design import design
from .prior import Prior
from .regime import Regime
from .schedule import Schedule
from .worth import Width


@dataclass(frozen=True)
class LoopConstants:
    """Constants of the main loop."""

    work: int = 10_000
    """At most work / (t (1 + m)) nodes are rejected in a row, where t is the number of evaluations
    so far and m that of measured constraints, each of which has a model of its own. The bounds of a
    node cost more as both grow, and a run of rejections must not cost more than an evaluation is
    worth."""

    drawn_width: float = 0.5
    """Where cells draw their points (`Regime.draws`), the width of the bounds is multiplied by
    this: the search explores even if the tree does less of it."""

    design: int = 2
    """If constraints are measured, the first design has at least this many points more than there
    are axes. The models of constraints need points that differ along every axis."""


class One:
    """The paper's rule: a cell is worth an evaluation if its upper bound reaches the best value.

    Parameters
    ----------
    domain, tree, book, rng, prior
        Those of the search.
    demand : Demand
    schedule : Schedule
    shared : Shared
        What climbs share.
    width : Width
    patience : int
        As in `Auto`.
    local : bool
        As in `Auto`.
    constants : LoopConstants
    """

    posterior: Posterior
    _ahead: Ahead

    def __init__(
        self,
        domain: Domain,
        tree: Tree,
        book: Book,
        rng: np.random.Generator,
        prior: Prior,
        demand: Demand,
        schedule: Schedule,
        shared: Shared,
        width: Width,
        patience: int,
        local: bool,
        constants: LoopConstants,
    ) -> None:
        self._domain, self._tree, self._book, self._rng = domain, tree, book, rng
        self._regime = Regime.of(domain, book)
        self._prior, self._demand, self._schedule, self._shared = prior, demand, schedule, shared
        self.width, self._local, self._constants = width, local, constants
        self._longest = self._patience = patience
        self.evaluated, self.rejected = schedule.evaluated, schedule.rejected

    def design(self) -> Iterable[Array]:
        """A Latin hypercube where there are whole numbers, options or measured constraints."""
        regime = self._regime
        if not regime.designs:
            return []
        least = regime.dim + self._constants.design if regime.measured else 0
        return design(self._domain, self._rng, least)

    def begin(self) -> None:
        """Refit the priors if it is time, and decide what cells must be able to reach."""
        book, prior, demand = self._book, self._prior, self._demand
        width = float(prior.calibrations[0]) * self.width.now
        book.learn_limits(width)
        if prior.update():
            book.grades.width = float(prior.calibrations[0]) * self.width.now
            book.grades.rebound()
        self._shared.rough = prior.rough
        rows = max(book.t, 1) * (1 + book.known.count)
        self._patience = min(self._longest, max(self._constants.work // rows, 1))
        # centres of cells lie apart, so they need no demand to leave a plateau; drawn points do
        drawn = self._regime.draws and self._local and prior.ready
        self._goal = demand.goal() if drawn else demand.least

    def split(self, children: range) -> None:
        """Look at the children of a leaf."""
        centres = self._tree.centres(children)
        self.posterior = self._book.gps[0].at(centres)
        self._ahead, self._dull = self._book.grades.ahead(centres), self._demand.is_dull(centres)

    def judge(self, i: int, child: int) -> tuple[bool, float]:
        """Whether a child is worth an evaluation, and its grade without one."""
        lcb, ucb = self.posterior.bounds(i, float(self._prior.calibrations[0]) * self.width.now)
        able = ucb >= max(self._goal, self._book.f_plus) and self._ahead.can_meet(i)
        worth = (able and not self._dull[i]) or not self._prior.ready
        return worth or self._schedule.forces(self._patience), self._ahead.grade(i, lcb)

    def steps(self) -> Waiting:
        """Take the steps that are due."""
        if self._local and (self._prior.ready or self._book.known.R.shape[1]):
            yield from self._schedule.steps(self._patience)
