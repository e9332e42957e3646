"""The book of a search: a record of the points it asked for and the values it received."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf, nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.typing import Array
from ..model.gp import GP, Posterior
from ..model.warp import Transform
from ..space.axes import Domain
from ..space.point import key_of, numbers_of
from .beliefs import Beliefs
from .estimates import Estimate, Estimates
from .facts import Arrival, Facts
from .grades import Grades
from .search import MODEL, REPEAT, TREE, Outcome, Search, Waiting
from .tree import Status, Tree

_REPEAT_WIDTH = 2.0
"""When points of a finite space are repeated under noise, the next one is that with the largest
mean + this * sigma. With 2, a point is repeated as long as it may still be the best within a usual
95 % interval; a larger number would spread repetitions over more points."""

LITTLE_NOISE = 1e-4
"""Points are not repeated if the variance of the noise is at most this share of the GP's variance:
averaging such noise would not change even the second digit of a value."""

SAME = 1e-3
"""Two values of one point count as the same if they differ by less than this share of the standard
deviation of all values, in the units of f_plus. Parallel sums and solvers with random starts differ
in their last digits, and this much more would not disturb a search. A gain of less is no gain."""

SPARSE = 10
"""In a finite space, known points are evaluated again as long as fewer than one in this number has
been evaluated. Then hardly any run can evaluate all of them."""

ALL_MET = "every point of the space has been evaluated"
"""The reason why a search of a finite space ends."""

NONE_ALLOWED = "no point was found that the constraints allow"
"""The reason why a search ends before its first evaluation."""

NO_MORE_ALLOWED = "no more points were found that the constraints allow"
"""The reason why a search ends that has failed too often to find another allowed point."""


class Unequal(NamedTuple):
    """Two values of one point that differ."""

    objective: int
    first: float
    second: float


@dataclass
class Book(Facts):
    """What writes the facts of a search: the points it asks for, and the values it receives.

    If evaluations measure constraints, f_plus is the best feasible value, and a node's g is its
    grade (see `limits`). A point that violates a constraint known in advance, but was told anyway,
    is entered into the GP and does not count for f_plus.

    If values are noisy, the book uses the GP's posterior means instead of the values (`beliefs`,
    `grades`). This holds from the start if the GP has noise, and otherwise from the first value
    that comes with a variance, or from the `check` that found that the same point may have
    different values.

    With several objectives there is no best value, so f_plus has no meaning, and the search itself
    grades the nodes. A search that evaluates points repeatedly keeps an `Estimate` of each.
    """

    may_check: bool = True
    """Whether a point may be evaluated again for that. Those with steps or a fidelity are long,
    and they are not repeated to look for noise."""
    checks: int = 0
    """How many times a point has been evaluated again, to see whether values are exact."""
    unequal: Unequal | None = None
    """The two values of that point, if they differ."""
    _repeating: dict[int, int] = field(default_factory=dict)  # the rows that tickets repeat
    _met: set[bytes] = field(default_factory=set)  # known and pending points that are not nodes

    def __post_init__(self) -> None:
        super().__post_init__()
        self.estimates = Estimates()
        self.beliefs = Beliefs(self)
        self.grades = Grades(self, self.beliefs)

    @property
    def latest(self) -> int:
        """The ticket of the point that was asked for last."""
        return self.asked - 1

    def is_new(self, x: Array, least: Array) -> bool:
        """Whether some coordinate differs by more than `least` from each point asked for so far."""
        taken = np.vstack([self.known.X, *self.known.failed, *(x for x, _ in self.out.values())])
        return bool((np.abs(taken - x) > least).any(axis=1).all())

    def ranked(self) -> NDArray[np.intp]:
        """The rows, best first: by violation, then by the number of points that dominate them."""
        if not self.several:
            return self.known.order(self.beliefs.values())
        F = self.beliefs.columns()
        beaten = np.array([int((row <= F).all(1).sum() - (row == F).all(1).sum()) for row in F])
        return np.lexsort((beaten, self.known.missed))

    def asks_again(self, ticket: int) -> bool:
        """Whether a point is to be evaluated even if its value is known.

        Under noise, a step outside the tree may repeat a point, and so does a `check`. The tree
        never asks for the same point twice.
        """
        repeats = self.noisy and ticket in self.out and self.out[ticket][1] is None
        return repeats or ticket in self._repeating

    def begin(
        self,
        tree: Tree | None = None,
        gp: GP | Sequence[GP] | None = None,
        noisy: bool | None = None,
    ) -> None:
        """Attach the tree and the GP of the search, and enter the values known before it began.

        With several objectives, `gp` is a list with one for each. `noisy` says whether values are
        treated as noisy; by default they are if the GP has noise.
        """
        self.tree = tree
        self.gps = [gp] if isinstance(gp, GP) else [] if gp is None else list(gp)
        self.noisy = any(each.noise > 0.0 for each in self.gps) if noisy is None else noisy
        if self.limits is not None:
            self.limits.noisy = self.noisy
        given, self.given = self.given, []
        self.receive(given)

    def expect(self, x: Array, origin: str = MODEL) -> int:
        """Count a point that is not a node as pending; return the ticket for its value."""
        self._met.add(key_of(x))
        ticket = self._ask(x, None, origin)
        for gp in self.gps:
            gp.expect(ticket, x)
        return ticket

    def evaluate_point(self, x: Array, origin: str = MODEL) -> Waiting:
        """Ask for a point that is not a node, and enter the values that arrive."""
        self.expect(x, origin)
        self.receive((yield x))

    def affords(self, domain: Domain) -> bool:
        """Whether an evaluation may be spent on a point that is known.

        In a finite space of which a good part can be evaluated, each of them is better spent on
        another point.
        """
        return self.t * SPARSE < domain.combinations

    def check(self, row: int) -> Waiting:
        """Evaluate a known point again. If its value differs, values are noisy from then on."""
        x = self.known.X[row].copy()
        self.checks += 1
        self._repeating[self.expect(x, REPEAT)] = row
        self.receive((yield x))

    def adopt(self, ticket: int, x: Array) -> Array:
        """Replace a pending point by one that equals it up to rounding.

        Returns the point that is now pending. The centre of a node is not replaced.
        """
        own, node = self.out[ticket]
        if node is not None:
            return own
        self._met.add(key_of(x))
        self.out[ticket] = (x, None)
        for gp in self.gps:
            gp.forget(ticket)
            gp.expect(ticket, x)
        return x

    def met_all(self, domain: Domain) -> bool:
        """Whether each point of a finite domain is known or pending, in a search without a tree."""
        if domain.region is None or domain.size == inf:
            return len(self._met) >= domain.size
        return sum(domain.allowed(numbers_of(x)) for x in self._met) >= domain.size

    def has_met(self, x: Array) -> bool:
        """Whether a point is known or pending, in a search without a tree."""
        return key_of(x) in self._met

    def evaluate(
        self, node: int, placeholder: float = -inf, posterior: Posterior | None = None, i: int = 0
    ) -> Waiting:
        """Ask for a node's centre; until its value arrives, its g is the placeholder.

        `posterior` may hold the centre as its point i, which saves computing it again.
        """
        tree = self.tree
        assert tree is not None
        if tree.status_of(node) == Status.BARRED:
            return
        x = tree.centre(node)
        if self.grades.reuses(node, x):
            return
        ticket = self._ask(x, node)
        if posterior is not None:
            posterior.expect(ticket, i)
        else:
            for gp in self.gps:
                gp.expect(ticket, x)
        self.receive((yield x))
        if ticket in self.out:
            tree.set(node, placeholder, Status.PENDING)

    def reject(self, node: int, g: float) -> None:
        """Reject a node: it gets its bound as g instead of an evaluation."""
        assert self.tree is not None
        self.rejected += 1
        self.tree.set(node, g, Status.REJECTED)

    def sample(self, node: int, estimate: Estimate) -> Waiting:
        """Ask for one more evaluation of a node's centre; the node's g is the mean of them all."""
        ticket = self._ask(estimate.x, node)
        self.estimates.expect(ticket, estimate)
        self.receive((yield estimate.x))

    def _ask(self, x: Array, node: int | None, origin: str = TREE) -> int:
        ticket = self.asked
        self.asked += 1
        self.origin = origin
        self.out[ticket] = (x, node)
        return ticket

    def receive(self, outcomes: Sequence[Outcome]) -> None:
        """Enter outcomes. Each arrives once, and those who derive something from it are told."""
        for outcome in outcomes:
            arrival = self._claimed(outcome)
            if arrival is not None:
                self._enter(arrival)
                self._tell_tree(arrival)
                self._tell_gps(arrival)
                if arrival.row is not None:
                    self._tell_limits(arrival)
                    if self.beliefs.tell(arrival):
                        self.grades.renew()
                    self.grades.tell(arrival)

    def _claimed(self, outcome: Outcome) -> Arrival | None:
        """The request that an outcome answers.

        None if nothing is to be entered: a point that nobody asked for failed, or a `check` did or
        found the same value again, or a noisy value was entered before for another request. It is
        one measurement, and would count as two.
        """
        ticket, x, values, final = outcome.ticket, outcome.x, outcome.values, outcome.final
        pairs = zip(self.transforms, values, strict=bool(values))
        g = tuple(transform(value) for transform, value in pairs)
        if ticket is None:
            self._met.add(key_of(x))
            if not values:
                return None
            key = -1 - self.known.t
            for gp in self.gps:
                gp.expect(key, x)
            return Arrival(outcome, key, None, g)
        repeated = self._repeating.pop(ticket, None)
        _, node = self.out.pop(ticket)
        if outcome.shared and self.noisy and values:
            if node is not None:
                self.grades.share(node, self.known.nearest(x))
            for gp in self.gps:
                gp.forget(ticket)
            return None
        if repeated is not None:
            found = (
                self._compared(repeated, values) if values and final and not self.noisy else None
            )
            if found is None:
                for gp in self.gps:
                    gp.forget(ticket)
                return None
            self.unequal = found
        return Arrival(outcome, ticket, node, g, repeated)

    def _enter(self, arrival: Arrival) -> None:
        """Enter a value, or a failure, into the records."""
        known, outcome = self.known, arrival.outcome
        x, variances = outcome.x, outcome.variances
        if arrival.g:
            was_met = known.met
            i = arrival.row = known.add(arrival.key, arrival.g, arrival.node, outcome)
            if variances and (any(variances) or self.noisy or not outcome.final):
                known.variances[i] = variances
            arrival.better = arrival.g[0] > self.f_plus and bool(known.feasible[i])
            arrival.first = known.met and not was_met
            if arrival.better:
                self.f_plus = arrival.g[0]
        else:
            known.failed.append(x)
        self.grades.enter(x, arrival.row)

    def _tell_tree(self, arrival: Arrival) -> None:
        """Give a node its value, or the mean of its values.

        A failed node ranks behind all others of its depth: it neither attracts the search nor
        stops it, and its cell is split when nothing else is left at that depth.
        """
        if arrival.node is None:
            return
        assert self.tree is not None
        g, values = arrival.g[0] if arrival.g else -inf, arrival.outcome.values
        failed = not values
        estimate = self.estimates.enter(arrival.key, values[0] if values else nan)
        if estimate is not None:
            g, failed = estimate.mean, not estimate.count
        self.tree.set(arrival.node, g, Status.FAILED if failed else Status.EVALUATED)

    def _tell_gps(self, arrival: Arrival) -> None:
        """Enter a value into the GPs.

        In a search without a tree only the GP can keep the search away from a failure, so there it
        counts as the worst value known.
        """
        key, g = arrival.key, arrival.g
        for j, gp in enumerate(self.gps):
            if arrival.row is None:
                if self.tree is not None or gp.known == 0:
                    gp.forget(key)
                else:
                    gp.observe(key, float(gp.values.min()))
            elif arrival.repeated is not None:
                gap = g[j] - float(self.known.G[arrival.repeated, j])
                gp.observe(key, g[j], 0.5 * gap * gap)  # until the noise is learned
            else:
                gp.observe(key, g[j], self.beliefs.noise_of(arrival.row, j))

    def _tell_limits(self, arrival: Arrival) -> None:
        """Enter the measurements into the models of the constraints."""
        if self.limits is not None and arrival.row is not None:
            self.limits.observe(arrival.key, arrival.row)

    def differ(self, g: float, other: float, objective: int = 0) -> bool:
        """Whether two values, in the units of the GP, differ by more than rounding may do."""
        return abs(g - other) > SAME * float(self.known.G[:, objective].std())

    def _compared(self, row: int, values: tuple[float, ...]) -> Unequal | None:
        """How the values of an evaluation differ from those of an earlier one of its point."""
        pairs = zip(self.known.F[row].tolist(), values, strict=True)
        for j, (first, second) in enumerate(pairs):
            transform = self.transforms[j]
            if self.differ(transform(second), transform(first), j):
                return Unequal(j, first, second)
        return None

    def learn_limits(self, width: float) -> None:
        """Fit the models of measured constraints again if it is time, and update the bounds.

        `width` is the factor of sigma until the next call.
        """
        self.grades.width = width
        if self.limits is not None and self.limits.update():
            self.grades.rebound()

    def move(self, transforms: Sequence[Transform], gps: Sequence[GP], rows: Sequence[int]) -> None:
        """Switch to another transform and GP of each objective.

        These rows are entered into the GPs, and every g is updated.
        """
        known = self.known
        self.transforms, self.gps = transforms, gps
        for j, (transform, gp) in enumerate(zip(transforms, gps, strict=True)):
            known.G[:, j] = [transform(value) for value in known.F[:, j].tolist()]
            for i in rows:
                gp.expect(known.keys[i], known.X[i])
                gp.observe(known.keys[i], float(known.G[i, j]), self.beliefs.noise_of(i, j))
        if self.noisy:
            self.beliefs.renew(rows)
        else:
            self.f_plus = float(self.beliefs.g()[known.feasible].max(initial=-inf))
        self.grades.renew()
        for ticket, (x, _) in self.out.items():
            for gp in gps:
                gp.expect(ticket, x)


def leftovers(tree: Tree, book: Book) -> Search:
    """When no cell is left to split, evaluate the nodes that were rejected, best bound first.

    Under noise, points of a finite space are then evaluated again, best bound first, as long as
    there is noise to average.
    """
    rejected = [node for node in range(len(tree)) if tree.status_of(node) == Status.REJECTED]
    for node in sorted(rejected, key=lambda node: -tree.g[node]):
        if tree.status_of(node) == Status.REJECTED:  # it may have shared a centre evaluated above
            yield from book.evaluate(node, tree.g[node])
    if tree.domain.region is not None and not tree.any_allowed:
        return NONE_ALLOWED
    while tree.domain.finite and book.noisy and (x := _to_repeat(book)) is not None:
        yield from book.evaluate_point(x, REPEAT)
    if tree.domain.finite:
        return ALL_MET
    if tree.gave_up:
        return NO_MORE_ALLOWED
    return "every cell is as small as floating-point numbers allow"


def _to_repeat(book: Book) -> Array | None:
    """The known point with the best upper bound; None if the noise is too small to matter.

    Before anything is known about the noise, it is the point that was asked for least often.
    """
    gp = book.gp
    if gp is None:
        return None
    if not gp.noises.any():
        asked = [*book.known.X, *book.pending]
        if not asked:
            return None
        X, counts = np.unique(np.array(asked), axis=0, return_counts=True)
        return np.asarray(X[int(counts.argmin())])
    if float(gp.noises.max()) <= LITTLE_NOISE * gp.kernel.variance:
        return None
    X = np.unique(gp.X[: gp.known], axis=0)
    mu, sigma = gp.posterior(X)
    return np.asarray(X[int((mu + _REPEAT_WIDTH * sigma).argmax())])
