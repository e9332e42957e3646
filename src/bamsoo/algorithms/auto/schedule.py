"""Whose turn it is: that of the tree, or of one of the proposers outside it.

A step is an evaluation outside the tree. The tree has a guaranteed share of the evaluations, and
the proposers share the others by what each has brought recently. This module alone answers the
question whether something works, by one rule: a step is a success if its point is better than the
best point before it, by the violation of the constraints first and by the value second.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..._typing import Array
from ...space.axes import Domain
from ..book import Book
from ..search import Waiting
from .demand import Demand

Path: TypeAlias = tuple[tuple[int, float], ...]
"""Nested options, from the outside in, each as its axis and its coordinate on that axis. The empty
path stands for any options."""


class Focus(NamedTuple):
    """The options in which a step is to be taken, the points that have them, and the best one."""

    path: Path
    rows: NDArray[np.intp]
    best: int


class Step(NamedTuple):
    """A point to evaluate."""

    x: Array
    top: bool = True
    """Whether the proposer is to be judged by this step, as it is by the top of its model."""
    new: bool = True
    """Whether the point is neither known nor pending. If it is, the step counts as a failure."""
    note: Any = None
    """What the proposer wants to remember until the value arrives."""


class Proposer(Protocol):
    """Proposes steps."""

    @property
    def origin(self) -> str:
        """What the proposer is called where evaluations are shown."""

    def propose(self, focus: Focus) -> Step | None:
        """A new point with the options of the focus, or None if there is none."""

    def judge(self, step: Step, better: bool, row: int | None) -> None:
        """Learn from a step whose value has arrived, in this row, or that failed (None)."""


@dataclass(frozen=True)
class ScheduleConstants:
    """Constants of the schedule."""

    after_better: int = 3
    """The number of steps for each evaluation in the tree if the last step improved."""

    otherwise: tuple[int, int] = (1, 3)
    """The number of steps for each evaluation in the tree otherwise: first for up to `few` real
    axes without constraints, then for all other problems. In many dimensions, and along the
    boundary of a constraint, the tree needs thousands of cells to come as close as a model does."""

    few: int = 4
    """With at most this many real axes, the tree soon splits along each of them."""

    tries: int = 4
    """After this number times D + 1 steps in a row without an improvement, steps become rarer, by a
    factor of 2 for each further one. D counts the axes that climbs move along."""

    rarest: int = 5
    """Steps become rarer by a factor of at most 2 to the power of this number."""

    late: float = 1.0
    """The number of failures of each climb before a candidate, in spaces with whole numbers or
    options, where climbs know only some of the axes."""

    patient: float = 4.0
    """The same in spaces of real numbers, times D + 1: as a last resort, when steps have become
    rare. On BBOB, candidates that come earlier bring nothing in two and three dimensions, and in
    five they cost 0.009 of the area with 2, and 0.02 with 0.5."""

    explorations: int = 3
    """Where cells have drawn points, the next evaluation after a run of rejected nodes goes to the
    most promising candidate from all leaves. After this many of them, it goes to the tree's next
    node, whatever its bound."""

    falling: float = 0.5
    """The options of a choice that opens parameters are ranked by their best values, and each
    receives this share of the evaluations of the next better one. With 0 all steps would go to the
    best option; with 1 all options would receive equally many."""


class Turns:
    """When the next step of each proposer is due; the smallest number comes first.

    A step costs 1, so the proposers take turns. A climb that improves costs nothing: its model is
    right, so it goes on. Candidates, which are the last proposer, then wait until all climbs have
    failed `late` times. They do not go on themselves: the next climb starts from what they found.
    """

    def __init__(self, climbs: int, late: float) -> None:
        self._late = late
        self._due = [*[0.0] * climbs, late]

    def order(self, fill: bool) -> list[int]:
        """The proposer whose turn it is, and candidates if they `fill` in where it has no step."""
        last = len(self._due) - 1
        first = min(range(last + 1), key=lambda i: (self._due[i], i < last))
        return [first, last] if fill and first != last else [first]

    def count(self, i: int, better: bool) -> None:
        """Note whether a step improved."""
        if better and i < len(self._due) - 1:
            self._due[-1] = max(self._due[-1], self._due[i] + self._late)
        else:
            self._due[i] += 1.0


class Pending(NamedTuple):
    """A step whose value has not arrived."""

    step: Step
    by: int
    """The index of its proposer."""
    rival: int
    """The row of the best point when the step was taken. Its value is not stored, because under
    noise the estimate may have changed by the time the value of the step arrives."""
    path: Path


class Schedule:
    """Divides the evaluations among the tree and the proposers.

    Parameters
    ----------
    domain : Domain
    book : Book
    proposers : sequence of Proposer
        The last one proposes candidates from all over the space.
    demand : Demand
    constants : ScheduleConstants
    """

    def __init__(
        self,
        domain: Domain,
        book: Book,
        proposers: Sequence[Proposer],
        demand: Demand,
        constants: ScheduleConstants,
    ) -> None:
        self._domain, self._book, self._constants = domain, book, constants
        self._demand = demand
        self._proposers = proposers
        self._turns: dict[Path, Turns] = {}
        self._pending: dict[int, Pending] = {}
        self._chosen = 0  # the number of times that options were chosen
        self._in_vain = 1
        self._owed, self._in_a_row, self._explored = 0.0, 0, 0
        constrained = domain.region is not None or book.limits is not None
        many = domain.mixed or domain.dim > constants.few or constrained
        self._otherwise = constants.otherwise[many]
        self._axes = domain.dim if constrained else len(domain.continuous)
        # the centres of cells explore better than candidates do; points that are drawn do not
        self._explorations = constants.explorations if domain.mixed else 0

    # --- the tree's share

    def evaluated(self) -> None:
        """Note that a node is evaluated."""
        self._owed += 1.0
        self._in_a_row = self._explored = 0

    def rejected(self) -> None:
        """Note that a node is rejected."""
        self._in_a_row += 1

    def forces(self, patience: int) -> bool:
        """Whether the next node must be evaluated, whatever its bound."""
        return self._in_a_row >= patience and self._explored == self._explorations

    @property
    def every(self) -> float:
        """The number of evaluations in the tree per step; it grows while steps do not improve."""
        constants = self._constants
        if not self._in_vain:
            return 1.0 / constants.after_better
        late = self._in_vain - constants.tries * (self._axes + 1)
        return float(2.0 ** min(max(late, 0), constants.rarest)) / self._otherwise

    def steps(self, patience: int) -> Waiting:
        """Take the steps that are due after the evaluations in the tree so far."""
        if self._in_a_row >= patience and self._explored < self._explorations:
            self._in_a_row, self._explored = 0, self._explored + 1
            yield from self._step([len(self._proposers) - 1])
        while self._owed >= (every := self.every):
            self._owed -= every
            yield from self._step()

    # --- steps

    def _step(self, among: list[int] | None = None) -> Waiting:
        """Take one step, by the proposer whose step is due first, or by one of `among`."""
        book = self._book
        self.judge()
        focus = self._focus()
        if focus.path not in self._turns:
            constants, dim = self._constants, self._domain.dim
            late = constants.late if self._domain.mixed else constants.patient * (dim + 1)
            self._turns[focus.path] = Turns(len(self._proposers) - 1, late)
        for i in among or self._turns[focus.path].order(self._domain.mixed):
            if (step := self._proposers[i].propose(focus)) is None:
                continue
            if step.new:
                ticket = book.expect(step.x, self._proposers[i].origin)
                self._pending[ticket] = Pending(step, i, focus.best, focus.path)
                book.receive((yield step.x))
                return
            if not any(pending.by == i for pending in self._pending.values()):
                self._count(False, Pending(step, i, focus.best, focus.path), None)

    def judge(self) -> None:
        """Judge the steps whose values have arrived, or whose evaluations have failed."""
        book = self._book
        arrived = [ticket for ticket in self._pending if ticket not in book.out]
        if not arrived:
            return
        f, missed = book.believed(), book.known.missed
        for ticket in arrived:
            pending = self._pending.pop(ticket)
            row, rival = book.known.rows.get(ticket), pending.rival
            better = row is not None and (missed[row], -f[row]) < (missed[rival], -f[rival])
            self._count(better, pending, row)

    def _count(self, better: bool, pending: Pending, row: int | None) -> None:
        if not pending.path:
            if better:
                self._in_vain = 0
            elif pending.step.top:
                self._in_vain += 1
        if pending.step.top:
            self._turns[pending.path].count(pending.by, better)
        self._proposers[pending.by].judge(pending.step, better, row)

    # --- options with parameters of their own

    def _focus(self) -> Focus:
        """The options of the next step, which share the steps by rank.

        An option whose first points are poor may still contain the best point: it has parameters of
        its own, and what is known about other options says nothing about these. The best option
        receives the most steps, the next one a fixed share of that, and so on. If an option
        contains another choice, the steps within it are shared in the same way. Independent choices
        take turns.
        """
        X, domain = self._book.known.X, self._domain
        order = self._book.known.order(self._book.believed())
        best = int(order[0])
        path: Path = ()
        axes = [a for a in domain.opening if domain.conditions[a] is None]
        self._chosen += 1
        while axes:
            axis = axes[self._chosen % len(axes)]
            option = self._lacking(order, X[order, axis])
            path = (*path, (axis, option))
            order = order[X[order, axis] == option]
            there = domain.exists(X[order[0]])
            below = ((a, domain.conditions[a]) for a in domain.opening if there[a])
            axes = [a for a, condition in below if condition and condition.axis == axis]
        if all(X[best, axis] == option for axis, option in path):
            return Focus((), np.arange(len(X)), best)
        return Focus(path, np.sort(order), int(order[0]))

    def _lacking(self, order: NDArray[np.intp], places: Array) -> float:
        """The option that is the most evaluations short of its share.

        `order` are rows from the best to the worst, so options appear in this order too, and
        `places` are their options. An option whose best value stands still gives up its share, by
        the same measure as points in it have to gain more.
        """
        g = self._book.believed_g()
        deviation = float(g.std())
        options: list[float] = list(dict.fromkeys(places.tolist()))
        rows = [np.sort(order[places == option]) for option in options]
        idle = np.array([max(self._demand.doublings(g[some], deviation), 0.0) for some in rows])
        shares = self._constants.falling ** np.arange(len(options)) * 2.0 ** -(idle - idle.min())
        lacking = shares / shares.sum() * len(places) - [len(some) for some in rows]
        return options[int(lacking.argmax())]
