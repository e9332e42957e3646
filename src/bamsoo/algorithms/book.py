"""The book of a search: a record of the points it asked for and the values it received."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isnan, nan
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..base.typing import Array
from ..model.gp import GP, Posterior
from ..model.repeats import Repeats
from ..model.warp import Identity, Transform, deviation
from ..space.axes import Domain
from ..space.parameters import Fidelity
from ..space.point import key_of, numbers_of
from .known import Known
from .limits import Limits
from .search import MODEL, REPEAT, TREE, Outcome, Search, Waiting
from .tree import Status, Tree

Requested: TypeAlias = tuple[Array, int | None]
"""A pending point, and its node if it has one."""

_BLOCK = 1000  # number of points whose posterior means are computed at once, to limit memory

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


@dataclass(eq=False)
class Estimate:
    """The evaluations of one point, for searches that evaluate a point repeatedly under noise."""

    x: Array
    count: int = 0  # number of values that have arrived
    mean: float = -inf  # of these values
    failed: int = 0  # number of failed evaluations
    out: int = 0  # number of pending evaluations

    @property
    def asked(self) -> int:
        """The number of evaluations that were asked for, including failed and pending ones."""
        return self.count + self.failed + self.out

    def add(self, value: float) -> None:
        """Enter the value of a pending evaluation; nan if it failed."""
        self.out -= 1
        if isnan(value):
            self.failed += 1
            return
        self.count += 1
        if self.count == 1:
            self.mean = value
        else:  # a sum could overflow; this way the mean of equal values is exactly that value
            self.mean += value / self.count - self.mean / self.count


class Unequal(NamedTuple):
    """Two values of one point that differ."""

    objective: int
    first: float
    second: float


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
class Book:
    """The evaluations of a search; `t`, `n` and `f_plus` are the paper's.

    `transform` is a strictly increasing function. It maps values to the units that f_plus, the
    tree's g and the GP share; the paper's algorithms use the identity.

    If evaluations measure constraints, f_plus is the best feasible value, and a node's g is its
    grade (see `limits`). A point that violates a constraint known in advance, but was told anyway,
    is entered into the GP and does not count for f_plus.

    If values are noisy, the book uses the GP's posterior means instead of the values: f_plus is the
    best mean over the evaluated points, and a node's g is the mean at its own point, as it was when
    its value arrived or at the last `move`. This holds from the start if the GP has noise, and
    otherwise from the first value that comes with a variance, or from the `check` that found that
    the same point may have different values.

    With several objectives there is a GP and a transform for each, and `gp` and `transform` are
    those of the first. There is no best value then, so f_plus has no meaning, and the search itself
    grades the nodes.

    A search that evaluates points repeatedly keeps an `Estimate` of each. It recommends the
    candidate with the highest mean. Until it names its candidates, they are the points with the
    largest number of values.
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
    may_check: bool = True
    """Whether a point may be evaluated again for that. Those with steps or a fidelity are long,
    and they are not repeated to look for noise."""
    checks: int = 0
    """How many times a point has been evaluated again, to see whether values are exact."""
    unequal: Unequal | None = None
    """The two values of that point, if they differ."""
    transforms: Sequence[Transform] = ()
    limits: Limits | None = None
    width: float = 0.0
    """The factor of sigma when the search last bounded a node; used to grade rejected nodes."""
    known: Known = field(default_factory=Known)
    out: dict[int, Requested] = field(default_factory=dict)
    candidates: list[Estimate] = field(default_factory=list)
    _estimates: list[Estimate] = field(default_factory=list)
    _out_to: dict[int, Estimate] = field(default_factory=dict)  # the estimate of a pending ticket
    # With discrete axes, several nodes may have the same centre. The first dict holds the row of
    # each known point (None if it failed), the second that of each node that reused its value.
    _row_at: dict[bytes, int | None] = field(default_factory=dict)
    _again: dict[int, int | None] = field(default_factory=dict)
    _regrade_at: int = 0  # number of values at which all grades are next brought up to date
    _repeating: dict[int, int] = field(default_factory=dict)  # the rows that tickets repeat
    _repeats: Repeats | None = None  # as they were when asked for last
    _met: set[bytes] = field(default_factory=set)  # known and pending points that are not nodes

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
        return np.array([x for x, _ in self.out.values()]).reshape(-1, self.known.X.shape[1])

    @property
    def latest(self) -> int:
        """The ticket of the point that was asked for last."""
        return self.asked - 1

    def is_new(self, x: Array, least: Array) -> bool:
        """Whether some coordinate differs by more than `least` from each point asked for so far."""
        taken = np.vstack([self.known.X, *self.known.failed, *(x for x, _ in self.out.values())])
        return bool((np.abs(taken - x) > least).any(axis=1).all())

    def believed(self) -> Array:
        """The known values; under noise, the GP's posterior means instead."""
        return self.transform.inverse(self.known.means) if self.noisy else self.known.values

    @property
    def learned(self) -> bool | None:
        """Whether the noise was learned; None if there is none, or if there are several objectives.

        Before the first fit of a prior, there is none in the GP.
        """
        if not self.noisy or self.several or self.gp is None or not self.gp.noises.any():
            return None
        return not np.isnan(self.known.factors).all()

    def repeats(self, gp: GP, known: int, learned: bool) -> Repeats:
        """The estimates of the first values of a GP of this search without noise."""
        found = self._repeats
        if found is None or (found.gp, found.known) != (gp, known):
            found = self._repeats = Repeats(gp, known, learned)
        return found

    def believed_columns(self) -> Array:
        """The believed values of all objectives, one column for each."""
        if not self.noisy:
            return self.known.F
        columns = zip(self.transforms, self.known.M.T, strict=True)
        return np.stack([transform.inverse(means) for transform, means in columns], axis=1)

    def believed_g(self) -> Array:
        """The believed values in the units of f_plus and of the GP."""
        return self.known.means if self.noisy else self.known.g

    def ranked(self) -> NDArray[np.intp]:
        """The rows, best first: by violation, then by the number of points that dominate them."""
        if not self.several:
            return self.known.order(self.believed())
        F = self.believed_columns()
        beaten = np.array([int((row <= F).all(1).sum() - (row == F).all(1).sum()) for row in F])
        return np.lexsort((beaten, self.known.missed))

    def seen(self) -> tuple[Array, Array]:
        """The values as the GP sees them, and the variances of their noise."""
        assert self.gp is not None
        own = [self._noise_of(i, 0) for i in range(self.t)]
        noises = [self.gp.noise if each is None else each for each in own]
        return self.known.g, np.array(noises)

    def _noise_of(self, i: int, objective: int) -> float | None:
        """The variance of the noise of a value, in the GP's units; None for the GP's own noise."""
        known, transform = self.known, self.transforms[objective]
        own, factor = float(known.variances[i, objective]), float(known.factors[i])
        if not isnan(own):
            return transform.variance(own, float(known.F[i, objective]))
        return None if isnan(factor) or self.gp is None else factor * self.gp.noise

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

    def rows_of_nodes(self) -> dict[int, int]:
        """The row of each node that has a value, also of one that shares the point of another."""
        assert self.tree is not None
        found = {node: i for i, node in enumerate(self.known.nodes.tolist()) if node >= 0}
        found |= {node: i for node, i in self._again.items() if i is not None}
        for node in list(found):
            while (heir := self.tree.heir(node)) >= 0:
                found[heir] = found[node]
                node = heir
        return found

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
        if not tree.uniform and self.level is None and key_of(x) in self._row_at:
            self._again[node] = self._row_at[key_of(x)]
            self._grade_again([node])
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
        self._out_to[ticket] = estimate
        if estimate.asked == 0:
            self._estimates.append(estimate)
        estimate.out += 1
        self.receive((yield estimate.x))

    def recommended(self) -> Estimate | None:
        """The point recommended so far, in a search that evaluates points repeatedly."""
        valued = [each for each in self.candidates if each.count]
        if not valued:
            valued = [each for each in self._estimates if each.count]
            most = max((each.count for each in valued), default=0)
            valued = [each for each in valued if each.count == most]
        return max(valued, key=lambda each: each.mean, default=None)

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
                    self._tell_noise(arrival)
                    self._tell_grades(arrival)

    def _claimed(self, outcome: Outcome) -> Arrival | None:
        """The request that an outcome answers.

        None if nothing is to be entered: a point that nobody asked for failed, or a `check` did or
        found the same value again.
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
        if self.tree is not None and not self.tree.uniform:
            self._row_at[key_of(x)] = arrival.row

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
        if (estimate := self._out_to.pop(arrival.key, None)) is not None:
            estimate.add(values[0] if values else nan)
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
                gp.observe(key, g[j], self._noise_of(arrival.row, j))

    def _tell_limits(self, arrival: Arrival) -> None:
        """Enter the measurements into the models of the constraints."""
        if self.limits is not None and arrival.row is not None:
            self.limits.observe(arrival.key, arrival.row)

    def _tell_noise(self, arrival: Arrival) -> None:
        """Update what is believed, after each value, so that batches make no difference.

        Values are noisy from the first one that comes with a variance, or that differs from
        another value of its point.
        """
        known, outcome = self.known, arrival.outcome
        found = arrival.repeated is not None or (any(outcome.variances) and outcome.final)
        if self.gp is not None and found and not self.noisy:
            self.noisy = True
            if self.limits is not None:
                self.limits.noisy = True
            self._believe_all([known.rows[key] for key in self.gp.keys if key in known.rows])
        if self.noisy:
            self._believe()

    def _tell_grades(self, arrival: Arrival) -> None:
        """Grade the node of a value, and the others if that changes their grades."""
        node, i, tree = arrival.node, arrival.row, self.tree
        if tree is None or i is None or self.several:
            return
        if self.limits is not None and (arrival.better or self.t >= self._regrade_at):
            self._regrade()
        elif node is not None and (self.noisy or self.limits is not None):
            g = float(self.known.means[i]) if self.noisy else arrival.g[0]
            tree.set(node, self._graded(i, g), Status.EVALUATED)
        if self.limits is not None and arrival.first:
            self.rebound()

    def revise(self, beliefs: Mapping[bytes, tuple[tuple[float, ...], tuple[float, ...]]]) -> None:
        """Change the means and the variances of values that are not final, by their points.

        The GP and the tree see the change when the GP is next made anew (`move`).
        """
        known = self.known
        for i in np.flatnonzero(~known.final).tolist():
            if (new := beliefs.get(key_of(known.X[i]))) is not None:
                known.F[i], known.variances[i] = new

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

    # --- constraints

    def _graded(self, i: int, g: float) -> float:
        """The grade of a node whose value, in the units of f_plus, is g."""
        if self.limits is None or (self.known.met and self.known.feasible[i]):
            return g
        missed = float(self.known.missed[i])
        return min(g, self.f_plus) - self._rho * missed if self.known.met else -missed

    @property
    def _rho(self) -> float:
        """The cost of missing a constraint by its median size: the spread of the values."""
        if not isinstance(self.transform, Identity):
            return 1.0  # transformed values are standardised
        values = self.known.values
        return max(deviation(values), 1e-12 * max(float(np.abs(values).max()), 1e-300))

    def _regrade(self) -> None:
        """Recompute all grades, which depend on f_plus and on the constraints' scales."""
        assert self.tree is not None
        if self.several:
            return
        self._regrade_at = self.t + self.t // 4 + 1
        g = self.believed_g()
        if self.limits is not None:
            missed, met = self.known.missed, self.known.met
            graded = np.minimum(g, self.f_plus) - self._rho * missed if met else -missed
            g = np.where(self.known.feasible & met, g, graded)
        for node, each in zip(self.known.nodes.tolist(), g.tolist(), strict=True):
            if node >= 0:
                self.tree.set(node, each, Status.EVALUATED)
        self._grade_again(list(self._again))

    def _grade_again(self, nodes: list[int]) -> None:
        """Grade nodes that reuse the value of another node with the same centre."""
        assert self.tree is not None
        for node in nodes:
            if (i := self._again[node]) is None:
                self.tree.set(node, -inf, Status.FAILED)
                continue
            g = float(self.believed_g()[i])
            self.tree.set(node, self._graded(i, g), Status.EVALUATED)

    def learn_limits(self, width: float) -> None:
        """Fit the models of measured constraints again if it is time, and update the bounds.

        `width` is the factor of sigma until the next call.
        """
        self.width = width
        if self.limits is not None and self.limits.update():
            self.rebound()

    def ahead(self, X: Array) -> "Ahead":
        """What the models of the measured constraints say about the rows of X."""
        return Ahead(self, X)

    def rebound(self) -> None:
        """Recompute the bounds of the leaves that have no value, if there is a GP."""
        tree, gp = self.tree, self.gp
        if tree is None or gp is None or self.several:
            return
        bounded = [
            node
            for node in tree.leaves()
            if tree.status_of(node) in (Status.REJECTED, Status.PENDING, Status.FAILED)
        ]
        for i in range(0, len(bounded), _BLOCK):
            some = bounded[i : i + _BLOCK]
            mu, sigma = gp.posterior(tree.x[some])
            ahead, lcb = self.ahead(tree.x[some]), (mu - self.width * sigma).tolist()
            for j, node in enumerate(some):
                tree.set(node, ahead.grade(j, lcb[j]), tree.status_of(node))

    # --- noise

    def _believe(self) -> None:
        """Update the posterior means of the rows in the GP, and f_plus from all of them."""
        known = self.known
        for j, gp in enumerate(self.gps):
            for key, mean in zip(gp.keys, gp.smoothed().tolist(), strict=False):
                if key in known.rows:
                    known.M[known.rows[key], j] = mean
        self.f_plus = float(known.means[known.feasible].max(initial=-inf))

    def _believe_all(self, rows: Sequence[int]) -> None:
        """Update every posterior mean, including those of points that are not rows of the GP."""
        apart = sorted(set(range(self.t)) - set(rows))
        for j, gp in enumerate(self.gps):
            self.known.M[apart, j] = self._posterior_means(gp, self.known.X[apart])
        self._believe()
        if self.tree is not None:
            self._regrade()

    def _posterior_means(self, gp: GP, X: Array) -> list[float]:
        blocks = [X[i : i + _BLOCK] for i in range(0, len(X), _BLOCK)]
        return [mean for block in blocks for mean in gp.posterior(block)[0].tolist()]

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
                gp.observe(known.keys[i], float(known.G[i, j]), self._noise_of(i, j))
        if self.noisy:
            self._believe_all(rows)
        else:
            self.f_plus = float(self.believed_g()[known.feasible].max(initial=-inf))
            if self.tree is not None:
                self._regrade()
        for ticket, (x, _) in self.out.items():
            for gp in gps:
                gp.expect(ticket, x)


class Ahead:
    """The bounds of the measured constraints at some points, kept current as values arrive.

    Parameters
    ----------
    book : Book
    X : array
        The points, one per row.
    """

    def __init__(self, book: Book, X: Array) -> None:
        self._book, self._X, self._t = book, X, -1
        self._possible: NDArray[np.bool_] = np.ones(len(X), dtype=bool)
        self._missed = np.zeros(len(X))

    def can_meet(self, i: int) -> bool:
        """Whether every constraint may be met at a point, by its optimistic bound."""
        self._update()
        return bool(self._possible[i])

    def grade(self, i: int, lcb: float) -> float:
        """The pessimistic grade of a point whose value has the lower bound `lcb`."""
        book = self._book
        if book.limits is None:
            return lcb
        self._update()
        missed = float(self._missed[i])
        return min(lcb, book.f_plus) - book._rho * missed if book.known.met else -missed

    def _update(self) -> None:
        book = self._book
        if book.limits is None or not book.limits.ready or self._t == book.t:
            return
        low, high = book.limits.bounds(self._X, book.width)
        self._possible = np.asarray((low <= 0.0).all(axis=1))
        self._missed = book.known.violation(high)
        self._t = book.t


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
    """The known point with the best upper bound; None if the noise is too small to matter."""
    gp = book.gp
    if gp is None or not gp.known:
        return None
    if float(gp.noises.max()) <= LITTLE_NOISE * gp.kernel.variance:
        return None
    X = np.unique(gp.X[: gp.known], axis=0)
    mu, sigma = gp.posterior(X)
    return np.asarray(X[int((mu + _REPEAT_WIDTH * sigma).argmax())])
