"""Whose turn it is: that of the tree, or of one of the proposers outside it.

A step is an evaluation outside the tree. The tree has a guaranteed share of the evaluations, and
the proposers share the others by what each has brought recently. Whether a step was a success is
for `improvement` to say. If the caller says which gain matters to him (`tol`), no step is taken
that can hardly gain as much.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...base.typing import Array
from ...space.axes import Domain
from ..book import LITTLE_NOISE, SAME, Book
from ..search import REPEAT, Waiting
from .demand import Demand
from .improvement import Improvement
from .regime import Regime

_STILL = 7
"""A search stands still when more evaluated steps than this in a row had no real gain, and then
after twice as many each time. On noisy simulations half as many lose nothing, but on exact
functions of two parameters each repeat that shows nothing is a step less."""

Path: TypeAlias = tuple[tuple[int, float], ...]
"""Nested options, from the outside in, each as its axis and its coordinate on that axis. The empty
path stands for any options."""


class Focus(NamedTuple):
    """The options in which a step is to be taken, the points that have them, and the best one."""

    path: Path
    rows: NDArray[np.intp]
    best: int


class Branch(NamedTuple):
    """Nested options, and the points that have them, from the best to the worst."""

    path: Path
    rows: NDArray[np.intp]


class Proposal(NamedTuple):
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

    def propose(self, focus: Focus) -> Proposal | None:
        """A new point with the options of the focus, or None if there is none."""

    def judge(self, step: Proposal, better: bool, row: int | None) -> None:
        """Learn from a step whose value has arrived, in this row, or that failed (None)."""


class Fitter(Proposer, Protocol):
    """Proposes steps where evaluations return residuals."""

    @property
    def busy(self) -> bool:
        """Whether it may have a step to propose."""


@dataclass(frozen=True)
class ScheduleConstants:
    """Constants of the schedule."""

    usual: int = 3
    """The number of steps for each evaluation in the tree. Also, where cells have drawn points, the
    next evaluation after a run of rejected nodes goes to the most promising candidate from all
    leaves, and after this many of them to the tree's next node, whatever its bound."""

    slow: int = 1
    """The same where the tree soon finds another basin (`Regime.settles`), after half of the
    `tries` below were in vain. In many dimensions, and along the boundary of a constraint, the tree
    needs thousands of cells to come as close as a model does. A climb along a narrow valley
    improves by every third step or so. If the tree took over after each of the others, the area on
    BBOB would be about 0.01 smaller in two and three dimensions."""

    tries: int = 4
    """After this number times D + 1 steps in a row without an improvement, steps become rarer, by a
    factor of 2 for each further one. D counts the axes that climbs move along."""

    doubts: bool = True
    """Whether the best point is evaluated once more when the search stands still, to see whether
    values are exact, unless its neighbours have nearly its value. Noise is a usual reason why steps
    fail, and if it is not the reason, little is lost by then. In a finite space every point counts,
    and none is spent on this."""

    rarest: int = 5
    """Steps become rarer by a factor of at most 2 to the power of this number."""

    candidates: bool = True
    """Whether there are candidates. Where they come early (`Regime.early`), each climb has failed
    once before. Without that wait, the gap of a pressure vessel after 100 evaluations is 1e-6 to
    4e-2 of its optimum instead of 4e-8 to 3e-6 (`docs/ablation.md`). Elsewhere they are a last
    resort, when each climb has failed `tries` times D + 1 times and steps have become rare. On
    BBOB, candidates that come earlier bring nothing in two and three dimensions, and in five they
    cost 0.009 of the area after half as many failures, and 0.02 after an eighth."""

    attempts: int = 4
    """With several workers, a proposer that had no step this many times since the last value
    arrived is not asked again before the next one. Each attempt improves the fit of its model, so
    one is not enough: 64 workers then need 14 % more evaluations. Without a limit they need 6 %
    fewer, but the search takes five times as long."""

    falling: float = 0.5
    """The options of a choice that opens parameters are ranked by what they are expected to gain,
    and each receives this share of the evaluations of the one before it. With 0 all steps would go
    to the first option; with 1 all options would receive equally many."""


class Turns:
    """When the next step of each proposer is due; the smallest number comes first.

    A step costs 1, so the climbs take turns. A climb that improves costs nothing: its model is
    right, so it goes on. Candidates, the last proposer, come when each climb has failed `late`
    times since the last step that improved. They do not go on themselves: the next climb starts
    from what they found. If they are `costly`, a step of theirs costs as much as the number of
    their failures in a row.
    """

    def __init__(self, climbs: int, late: float, costly: bool = False) -> None:
        self._late, self._costly, self._in_a_row = late, costly, 0
        self._due = [*[0.0] * climbs, late]
        self._improved = 0  # the number of values that were known after the last success
        self.in_vain = 0
        """The number of failures in a row."""
        self.going = True
        """Until a step of those who take turns fails."""

    def order(self, fill: bool, out: Counter[int]) -> list[int]:
        """The proposer whose turn it is, and those that follow if it has no step.

        A pending step counts as one that failed, so that steps which are taken before the value of
        another is known come from all proposers. `out` has the numbers of pending steps. If there
        are any, the other climbs follow. Candidates do if they `fill` in.
        """
        last = len(self._due) - 1
        places = sorted(range(last + 1), key=lambda i: (self._due[i] + out[i], i < last))
        return [i for i in places if i == places[0] or (fill if i == last else bool(out))]

    def succeeded(self, now: int) -> None:
        """Note a success, whoever had it, when so many values are known."""
        self.in_vain, self._improved = 0, now

    def count(self, i: int, better: bool, then: int = 0) -> None:
        """Note whether a step succeeded that was taken when `then` values were known.

        If nothing was known of the last success then, a failure says nothing about the next one.
        """
        last, self.going = len(self._due) - 1, better
        self.in_vain += not better and then >= self._improved
        if i == last:
            self._in_a_row = 0 if better else self._in_a_row + 1
            self._due[last] += max(self._in_a_row, 1) if self._costly else 1
        elif better:
            self._due[last] = max(self._due[last], self._due[i] + self._late)
        else:
            self._due[i] += 1.0


class Pending(NamedTuple):
    """A step whose value has not arrived."""

    step: Proposal
    by: int
    """The index of its proposer."""
    rival: int
    """The row of the best point when the step was taken. Its value is not stored, because under
    noise the estimate may have changed by the time the value of the step arrives."""
    path: Path
    t: int
    """The number of values that were known when the step was taken."""


class Schedule:
    """Divides the evaluations among the tree and the proposers.

    Parameters
    ----------
    domain : Domain
    book : Book
    leader : Proposer
        Whoever's turn it is, this one is asked first, unless the last step of another improved. It
        proposes steps only while it knows what is best, and they do not count for the turns.
    climbs : sequence of Proposer
        Those who take turns.
    candidates : Proposer
        Proposes points from all over the space.
    fit : Fitter
        Takes the place of all others if evaluations return residuals.
    promise : callable
        The most that a point of each branch is expected to gain.
    demand : Demand
        Which gains count as next to nothing, and which points can gain what matters.
    constants : ScheduleConstants
    """

    def __init__(
        self,
        domain: Domain,
        book: Book,
        leader: Proposer,
        climbs: Sequence[Proposer],
        candidates: Proposer,
        promise: Callable[[Sequence[Branch]], Array],
        fit: Fitter,
        demand: Demand,
        constants: ScheduleConstants,
    ) -> None:
        self._domain, self._book, self._constants = domain, book, constants
        self._demand = demand
        self._proposers, self._promise = [*climbs, candidates, leader], promise
        self._candidates, self._leader = len(climbs), len(climbs) + 1
        self._fit = fit
        self._fitting: dict[int, Proposal] = {}  # pending steps of fits
        self._improvement = Improvement(book)
        self._still = 0  # steps in a row without a real gain
        self._pending: dict[int, Pending] = {}
        self._news = 0, 0
        self._without: Counter[tuple[Path, int]] = Counter()  # attempts since the last news
        self._chosen = 0  # the number of times that options were chosen
        self._owed, self._in_a_row, self._explored = 0.0, 0, 0
        self._regime = regime = Regime.of(domain, book)
        self._turns: dict[Path, Turns] = {(): self._new_turns()}
        self._otherwise = constants.slow if regime.settles else constants.usual
        self._axes = domain.dim if regime.constrained else len(domain.continuous)
        # the centres of cells explore better than candidates do; points that are drawn do not
        explores = regime.draws and constants.candidates
        self._explorations = constants.usual if explores else 0

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
        tries = constants.tries * (self._axes + 1)
        in_vain = self._turns[()].in_vain
        if 2 * in_vain <= tries:
            return 1.0 / constants.usual
        late = min(max(in_vain - tries, 0), constants.rarest)
        return float(2.0**late) / self._otherwise

    def steps(self, patience: int) -> Waiting:
        """Take the steps that are due after the evaluations in the tree so far."""
        if self._in_a_row >= patience and self._explored < self._explorations:
            self._in_a_row, self._explored = 0, self._explored + 1
            yield from self.step([self._candidates])
        if self._book.known.R.shape[1]:
            yield from self._fits()
            return
        while self._owed >= (every := self.every):
            self._owed -= every
            yield from self.step()

    # --- steps

    def _fits(self) -> Waiting:
        """Take the steps of a fit: several in a row, until it needs points from elsewhere."""
        self._judge_fits()
        while self._fit.busy:
            step = self._fit.propose(self._focus())
            if step is None:
                return
            self._fitting[self._book.expect(step.x, self._fit.origin)] = step
            self._book.receive((yield step.x))
            self._judge_fits()

    def _judge_fits(self) -> None:
        for ticket in [each for each in self._fitting if each not in self._book.out]:
            step, row = self._fitting.pop(ticket), self._book.known.rows.get(ticket)
            self._fit.judge(step, False, row)

    def step(self, among: list[int] | None = None) -> Waiting:
        """Take one step, by the leader, or whoever's step is due first, or by one of `among`."""
        book = self._book
        self.judge()
        focus = self._focus()
        if not focus.path and self._doubts(focus.best):
            yield from book.check(focus.best)
            return
        if not focus.path and self._lucky(focus.best):
            yield from book.evaluate_point(book.known.X[focus.best].copy(), REPEAT)
            return
        out = Counter(p.by for p in self._pending.values() if p.path == focus.path)
        if self._news != (news := (book.t, len(book.known.failed))):
            self._news = news
            self._without.clear()
        if focus.path not in self._turns:
            self._turns[focus.path] = self._new_turns()
        for i in among or self._order(focus, out):
            if out and self._without[focus.path, i] >= self._constants.attempts:
                continue
            step = self._proposers[i].propose(focus)
            if step is None:
                self._without[focus.path, i] += 1
                continue
            taken = Pending(step, i, focus.best, focus.path, book.t)
            if step.new and self._demand.can_gain(step.x):
                self._pending[book.expect(step.x, self._proposers[i].origin)] = taken
                book.receive((yield step.x))
                return
            if not any(pending.by == i for pending in self._pending.values()):
                self._count(False, taken, None)

    def _order(self, focus: Focus, out: Counter[int]) -> list[int]:
        """Whose turn it is, and who follows if they have no step.

        The leader comes first, unless the last step of another improved. On a plateau, where climbs
        have nothing to climb, candidates take every turn.
        """
        turns = self._turns[focus.path]
        order = turns.order(self._regime.mixed, out)
        if self._constants.candidates and self._is_flat(focus):
            order = [self._candidates]
        return order if turns.going else [self._leader, *order]

    def _is_flat(self, focus: Focus) -> bool:
        """Whether most of the D + 1 points around the best one have exactly its value."""
        known, best = self._book.known, focus.best
        rows = focus.rows[focus.rows != best]
        if self._book.noisy or len(rows) < 2:
            return False
        apart = ((known.X[rows] - known.X[best]) ** 2).sum(axis=1)
        near = rows[np.argsort(apart, kind="stable")[: self._domain.dim + 1]]
        return bool(2 * (known.F[near, 0] == known.F[best, 0]).sum() > len(near))

    def _new_turns(self) -> Turns:
        constants, regime = self._constants, self._regime
        late = 1.0 if regime.early else float(constants.tries * (regime.dim + 1))
        late = late if constants.candidates else inf
        return Turns(self._candidates, late, regime.costly)

    def _doubts(self, best: int) -> bool:
        """Whether it is time to see whether the best value is exact.

        It is not if the points around the best one have values close to its own: then the steps
        bring nothing because the search has converged, or because it is on a plateau.
        """
        book, domain, known = self._book, self._domain, self._book.known
        if book.noisy or not book.may_check or not book.affords(domain):
            return False
        stands_still = self._still > _STILL * (1 << book.checks)
        if not self._constants.doubts or not stands_still or not known.feasible[best]:
            return False
        apart = ((known.X - known.X[best]) ** 2).sum(axis=1)
        near = known.g[np.argsort(apart, kind="stable")[1 : domain.dim + 2]]
        return book.differ(float(np.median(near)), float(known.g[best]))

    def _lucky(self, best: int) -> bool:
        """Whether the best point may owe its rank to the noise, and is to be evaluated once more.

        The best of many values is often a lucky one: a controller that crashes now and then would
        be recommended for the one time that it did not. A third value would leave fewer evaluations
        for the search, and the result is about as good. In a small finite space, points are
        repeated after all of them have been evaluated.
        """
        book, known = self._book, self._book.known
        gp, x = book.gp, known.X[best]
        if not book.noisy or not book.affords(self._domain) or gp is None or not gp.known:
            return False
        if float(np.median(gp.noises)) <= LITTLE_NOISE * gp.kernel.variance:
            return False
        asked = np.vstack([known.X, *known.failed, book.pending])
        return int((asked == x).all(axis=1).sum()) == 1

    def judge(self) -> None:
        """Judge the steps whose values have arrived, or whose evaluations have failed."""
        book = self._book
        for ticket in [each for each in self._pending if each not in book.out]:
            pending, row = self._pending.pop(ticket), book.known.rows.get(ticket)
            gain = self._improvement.gain(row, pending.rival)
            if gain >= SAME:
                self._still = 0
            elif pending.by != self._leader:  # it relies on values that were found to be exact
                self._still += 1
            self._count(gain > 0.0, pending, row)

    def _count(self, better: bool, pending: Pending, row: int | None) -> None:
        turns = self._turns[pending.path]
        if better:
            turns.succeeded(self._book.t)
        if pending.step.top:
            turns.count(pending.by, better, pending.t)
        self._proposers[pending.by].judge(pending.step, better, row)

    # --- options with parameters of their own

    def _focus(self) -> Focus:
        """The options of the next step, which share the steps by what they may gain.

        An option whose first points are poor may still contain the best point: it has parameters of
        its own, and what is known about other options says nothing about these. And an option whose
        best point is known to many digits has nothing more to give. So the option that is expected
        to gain the most receives the most steps, the next one a fixed share of that, and so on. If
        an option contains another choice, the steps within it are shared in the same way.
        Independent choices take turns.
        """
        X, domain = self._book.known.X, self._domain
        order = self._book.known.order(self._book.beliefs.values())
        best = int(order[0])
        path: Path = ()
        axes = [a for a in domain.opening if domain.conditions[a] is None]
        self._chosen += 1
        while axes:
            axis = axes[self._chosen % len(axes)]
            option = self._lacking(order, path, axis)
            path = (*path, (axis, option))
            order = order[X[order, axis] == option]
            there = domain.exists(X[order[0]])
            below = ((a, domain.conditions[a]) for a in domain.opening if there[a])
            axes = [a for a, condition in below if condition and condition.axis == axis]
        if all(X[best, axis] == option for axis, option in path):
            return Focus((), np.arange(len(X)), best)
        return Focus(path, np.sort(order), int(order[0]))

    def _lacking(self, order: NDArray[np.intp], path: Path, axis: int) -> float:
        """The option on this axis that is the most evaluations short of its share.

        `order` are the rows with the options of the path, from the best to the worst.
        """
        places = self._book.known.X[order, axis]
        options: list[float] = list(dict.fromkeys(places.tolist()))
        branches = [Branch((*path, (axis, each)), order[places == each]) for each in options]
        if len(branches) == 1:
            return options[0]
        ranks = np.argsort(np.argsort(-self._promise(branches), kind="stable"))
        shares = self._constants.falling**ranks
        lacking = shares / shares.sum() * len(places) - [len(each.rows) for each in branches]
        return options[int(lacking.argmax())]
