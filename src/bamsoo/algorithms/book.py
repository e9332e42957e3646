"""The book a search keeps of what it asked for and what came back."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf, isnan, nan
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._typing import Array
from ..model.gp import GP, Posterior
from ..model.warp import Identity, Transform
from ..space.axes import Domain
from .limits import Limits
from .search import Outcome, Search, Waiting
from .tree import Status, Tree

Asked: TypeAlias = tuple[Array, int | None]
"""A point that is out, and its node if it has one."""

Record: TypeAlias = tuple[int, Array, float, int | None]
"""A value as it came in, before any transform: its key in the GP, point, value, node."""

_BLOCK = 1000  # points whose posterior means are computed at once

_REPEAT_WIDTH = 2.0
"""Sigmas of the upper bounds by which points of a finite space are chosen to be repeated."""

_LITTLE_NOISE = 1e-4
"""Noise of a smaller share of the GP's variance is not worth an evaluation: it would change the
second digit of no value."""


ALL_MET = "every point of the space has been evaluated"
"""Why a search of a finite space ends."""

NONE_ALLOWED = "no point was found that the constraints allow"
"""Why a search ends before its first evaluation."""

NO_MORE_ALLOWED = "no more points were found that the constraints allow"
"""Why a search ends that has cut all that is allowed as small as floating-point numbers are."""


@dataclass(eq=False)
class Estimate:
    """The evaluations of one point, for searches that evaluate a point again under noise."""

    x: Array
    count: int = 0  # values that have come in
    mean: float = -inf  # of these values
    failed: int = 0
    out: int = 0

    @property
    def asked(self) -> int:
        """Evaluations asked for, whatever came of them."""
        return self.count + self.failed + self.out

    def add(self, value: float) -> None:
        """Enter an evaluation that was out."""
        self.out -= 1
        if isnan(value):
            self.failed += 1
            return
        self.count += 1
        if self.count == 1:
            self.mean = value
        else:  # no sum, which may overflow; the mean of equal values is that value
            self.mean += value / self.count - self.mean / self.count


@dataclass
class Book:
    """Evaluations asked for and come in; `t`, `n` and `f_plus` are the paper's.

    `transform`, strictly increasing, takes values into the units that f_plus, the tree's g
    and the GP share; the paper's algorithms leave them as they are.

    Where evaluations measure constraints, f_plus is the best feasible value, and a node's g is its
    grade (see `limits`). A point that violates a known constraint, and was told all the same, is
    one more that the GP knows of and f_plus is not of.

    Where values have noise, the book believes the GP's posterior means and not the values: f_plus
    is the best of them over the points evaluated, and a node's g is its own, as of the moment its
    value came in or of the last `move`. That is so from the start where the GP has noise, and else
    from the first value that comes with a variance.

    A search that evaluates points again keeps an `Estimate` of each. What it recommends is the
    candidate with the highest mean; until it names candidates, every point that has the most
    values is one.
    """

    known: list[Outcome] = field(default_factory=list)
    n: int = 1
    f_plus: float = -inf
    asked: int = 0
    rejected: int = 0
    tree: Tree | None = None
    gp: GP | None = None
    noisy: bool = False
    transform: Transform = field(default_factory=Identity)
    limits: Limits | None = None
    width: float = 0.0
    """What multiplied sigma when the search last looked at a node; for grades of rejected ones."""
    records: list[Record] = field(default_factory=list)
    failed: list[Array] = field(default_factory=list)
    out: dict[int, Asked] = field(default_factory=dict)
    candidates: list[Estimate] = field(default_factory=list)
    _estimates: list[Estimate] = field(default_factory=list)
    _out_to: dict[int, Estimate] = field(default_factory=dict)  # where a ticket's value goes
    _infeasible: dict[int, None] = field(default_factory=dict)  # keys of records
    variances: dict[int, float] = field(default_factory=dict)
    """Of the values that came with one, by the record's key, in the units of the values."""
    factors: dict[int, float] = field(default_factory=dict)
    """Of outliers, by the record's key: how many times the GP's noise they have."""
    _means: dict[int, float] = field(default_factory=dict)  # under noise, by the record's key
    # where axes are discrete: values by point, and nodes whose centre was known before them
    _value_at: dict[bytes, tuple[float, int]] = field(default_factory=dict)  # and the record's key
    _again: list[tuple[int, float, int]] = field(default_factory=list)
    _regrade_at: int = 0  # how many records there are when grades are next brought up to date
    _met: set[bytes] = field(default_factory=set)  # points asked for that are no nodes, and told

    @property
    def t(self) -> int:
        """Function evaluations whose values are known."""
        return len(self.records)

    @property
    def latest(self) -> int:
        """The ticket of the point that was asked for last."""
        return self.asked - 1

    def believed(self) -> Array:
        """The values of the records; under noise, what the GP believes them to be."""
        if not self.noisy:
            return np.array([value for _, _, value, _ in self.records])
        means = np.array([self._means[key] for key, _, _, _ in self.records])
        return self.transform.inverse(means)

    def seen(self) -> tuple[Array, Array]:
        """The values as the GP sees them, and the variances of their noise."""
        assert self.gp is not None
        values = np.array([self.transform(value) for _, _, value, _ in self.records])
        own = [self._noise_of(key, value) for key, _, value, _ in self.records]
        return values, np.array([self.gp.noise if each is None else each for each in own])

    def own_variances(self) -> Array | None:
        """The variance that each record's value came with, nan where none; None: none has one."""
        if not self.variances:
            return None
        return np.array([self.variances.get(key, nan) for key, _, _, _ in self.records])

    def _noise_of(self, key: int, value: float) -> float | None:
        """The variance of a record's noise, as the GP sees it; None: that of the GP."""
        if (own := self.variances.get(key)) is not None:
            return self.transform.variance(own, value)
        factor = self.factors.get(key)
        return None if factor is None or self.gp is None else factor * self.gp.noise

    def asks_again(self, ticket: int) -> bool:
        """Whether a point is to be evaluated though its value is known.

        Under noise a step may repeat a point. The tree never asks for the same point twice.
        """
        return self.noisy and ticket in self.out and self.out[ticket][1] is None

    def begin(
        self, tree: Tree | None = None, gp: GP | None = None, noisy: bool | None = None
    ) -> None:
        """Attach what the search grows, and enter what was known before it.

        `noisy`: whether values are taken for measurements with noise; by default, whether the GP
        has any.
        """
        self.tree, self.gp = tree, gp
        self.noisy = (gp is not None and gp.noise > 0.0) if noisy is None else noisy
        if self.limits is not None:
            self.limits.noisy = self.noisy
        known, self.known = self.known, []
        self.receive(known)

    def expect(self, x: Array) -> int:
        """Count a point that is no node as out; the ticket under which its value will come."""
        self._met.add(x.tobytes())
        ticket = self._ask(x, None)
        if self.gp is not None:
            self.gp.expect(ticket, x)
        return ticket

    def evaluate_point(self, x: Array) -> Waiting:
        """Ask for a point that is no node; wait for what comes in."""
        self.expect(x)
        self.receive((yield x))

    def adopt(self, ticket: int, x: Array) -> Array:
        """Put a point that agrees to rounding in the place of one that was asked for.

        Returns the point that is now out; the centre of a node stays where it is.
        """
        own, node = self.out[ticket]
        if node is not None:
            return own
        self._met.add(x.tobytes())
        self.out[ticket] = (x, None)
        if self.gp is not None:
            self.gp.forget(ticket)
            self.gp.expect(ticket, x)
        return x

    def met_all(self, domain: Domain) -> bool:
        """Whether every point of a finite domain is known or out, in a search without a tree."""
        if domain.region is None or domain.size == inf:
            return len(self._met) >= domain.size
        return sum(domain.allowed(np.frombuffer(x)) for x in self._met) >= domain.size

    def has_met(self, x: Array) -> bool:
        """Whether a point is known or out, in a search without a tree."""
        return x.tobytes() in self._met

    def evaluate(
        self, node: int, placeholder: float = -inf, posterior: Posterior | None = None, i: int = 0
    ) -> Waiting:
        """Ask for a node's centre; until its value comes its g is the place-holder.

        `posterior` may hold the centre as its point i, to save computing it anew.
        """
        tree = self.tree
        assert tree is not None
        if tree.status_of(node) == Status.BARRED:
            return
        x = tree.centre(node)
        if not tree.uniform and (known := self._value_at.get(x.tobytes())) is not None:
            value, key = known
            self._again.append((node, value, key))
            self._enter(node, value)
            if self.noisy and not isnan(value):
                self._believe_at([node])
            if self.limits is not None and not isnan(value):
                tree.set(node, self._graded(key, tree.g[node]), Status.EVALUATED)
            return
        ticket = self._ask(x, node)
        if posterior is not None:
            posterior.expect(ticket, i)
        elif self.gp is not None:
            self.gp.expect(ticket, x)
        self.receive((yield x))
        if ticket in self.out:
            tree.set(node, placeholder, Status.PENDING)

    def reject(self, node: int, g: float) -> None:
        """Give a node its bound instead of an evaluation."""
        assert self.tree is not None
        self.rejected += 1
        self.tree.set(node, g, Status.REJECTED)

    def sample(self, node: int, estimate: Estimate) -> Waiting:
        """Ask for one more evaluation of a node's centre; the node's g is the mean."""
        ticket = self._ask(estimate.x, node)
        self._out_to[ticket] = estimate
        if estimate.asked == 0:
            self._estimates.append(estimate)
        estimate.out += 1
        self.receive((yield estimate.x))

    def recommended(self) -> Estimate | None:
        """The point that a search which evaluates points again recommends so far."""
        valued = [each for each in self.candidates if each.count]
        if not valued:
            valued = [each for each in self._estimates if each.count]
            most = max((each.count for each in valued), default=0)
            valued = [each for each in valued if each.count == most]
        return max(valued, key=lambda each: each.mean, default=None)

    def _ask(self, x: Array, node: int | None) -> int:
        ticket = self.asked
        self.asked += 1
        self.out[ticket] = (x, node)
        return ticket

    def receive(self, outcomes: Sequence[Outcome]) -> None:
        """Enter values: into the records, the tree, the GP and f_plus.

        A failed node goes behind all others of its depth: it neither attracts the search
        nor stops it, and its cell is cut when nothing else is left there. Searches
        without a tree have only the GP to keep them away: there a failure counts as the
        worst value known.
        """
        tree, gp = self.tree, self.gp
        for ticket, x, value, measured, allowed, variance in outcomes:
            failed, node = isnan(value), None
            if ticket is not None:
                key, (_, node) = ticket, self.out.pop(ticket)
            elif failed:
                self._met.add(x.tobytes())
                continue
            else:
                self._met.add(x.tobytes())
                key = -1 - len(self.records)
                if gp is not None:
                    gp.expect(key, x)
            if tree is not None and not tree.uniform:
                self._value_at[x.tobytes()] = value, key
            if ticket in self._out_to:
                estimate = self._out_to.pop(ticket)
                estimate.add(value)
                assert tree is not None and node is not None
                status = Status.EVALUATED if estimate.count else Status.FAILED
                tree.set(node, estimate.mean, status)
            elif node is not None:
                self._enter(node, value)
            if failed:
                self.failed.append(x)
                if gp is not None:
                    if tree is not None or gp.known == 0:
                        gp.forget(key)
                    else:
                        gp.observe(key, float(gp.values.min()))
                continue
            self.records.append((key, x, value, node))
            first = self._judge(key, x, measured, allowed)
            if variance or (variance is not None and self.noisy):
                self.variances[key] = variance
            g = self.transform(value)
            better = g > self.f_plus and key not in self._infeasible
            if better:
                self.f_plus = g
            if gp is not None:
                gp.observe(key, g, self._noise_of(key, value))
                if variance and not self.noisy:
                    self.noisy = True
                    if self.limits is not None:
                        self.limits.noisy = True
                    self._believe_all([i for i, r in enumerate(self.records) if r[0] in gp.keys])
            if self.noisy:  # one by one: the same however values come in together
                self._believe()
                if node is not None and tree is not None:
                    tree.set(node, self._graded(key, self._means[key]), Status.EVALUATED)
            if self.limits is not None and tree is not None:
                if better or self.t >= self._regrade_at:
                    self._regrade()
                elif node is not None and not self.noisy:
                    tree.set(node, self._graded(key, g), Status.EVALUATED)
                if first:
                    self.rebound()

    # --- constraints

    def feasible(self) -> NDArray[np.bool_]:
        """Whether each record's point is feasible."""
        return np.array([key not in self._infeasible for key, _, _, _ in self.records], dtype=bool)

    def _judge(self, key: int, x: Array, measured: tuple[float, ...], allowed: bool) -> bool:
        """Note whether a record is feasible; whether it is the first that is."""
        if self.limits is None:
            if not allowed:
                self._infeasible[key] = None
            return False
        before = self.limits.met
        if not self.limits.add(key, x, measured, allowed):
            self._infeasible[key] = None
        return self.limits.met and not before

    def _graded(self, key: int, g: float) -> float:
        """What a node is worth whose value, in the units of f_plus, is g."""
        if self.limits is None or (self.limits.met and key not in self._infeasible):
            return g
        return self.limits.grade(self.limits.missed(key), g, self.f_plus, self._rho)

    @property
    def _rho(self) -> float:
        """What a constraint missed by its median size costs: the spread of the values."""
        if not isinstance(self.transform, Identity):
            return 1.0  # of standardised ones
        values = np.array([value for _, _, value, _ in self.records])
        size = max(float(np.abs(values).max()), 1e-300)
        return max(float((values / size).std()) * size, 1e-12 * size)

    def _regrade(self) -> None:
        """All grades: those of nodes that miss a constraint depend on f_plus and on the scales."""
        tree, limits = self.tree, self.limits
        assert tree is not None
        assert limits is not None
        rho, missed = self._rho, limits.all_missed()
        self._regrade_at = self.t + self.t // 4 + 1
        nodes = [(key, value, node) for key, _, value, node in self.records if node is not None]
        for key, value, node in [*nodes, *((k, v, n) for n, v, k in self._again if not isnan(v))]:
            g = self._means[key] if self.noisy else self.transform(value)
            if key in self._infeasible or not limits.met:
                g = limits.grade(missed[key], g, self.f_plus, rho)
            tree.set(node, g, Status.EVALUATED)

    def learn_limits(self, width: float) -> None:
        """Learn the models of measured constraints anew if it is time, and what follows from them.

        `width` multiplies sigma until the next time.
        """
        self.width = width
        if self.limits is not None and self.limits.update():
            self.rebound()

    def can_meet(self, x: Array) -> bool:
        """Whether every measured constraint can be met at a point, optimistically."""
        return self.limits is None or self.limits.possible(x, self.width)

    def bound(self, lcb: Array, X: Array) -> Array:
        """The grades of points whose values are bounded from below by `lcb`, pessimistically."""
        if self.limits is None:
            return lcb
        if not self.limits.ready:
            return lcb if self.limits.met else np.zeros(len(lcb))
        missed = self.limits.violation(self.limits.bounds(X, self.width)[1])
        if not self.limits.met:
            return np.asarray(-missed)
        return np.asarray(np.minimum(lcb, self.f_plus) - self._rho * missed)

    def bound_at(self, lcb: float, x: Array) -> float:
        """The same for one point."""
        return lcb if self.limits is None else float(self.bound(np.array([lcb]), x[None])[0])

    def rebound(self) -> None:
        """New bounds for the leaves that have no value, where there is a GP to bound them."""
        tree, gp = self.tree, self.gp
        if tree is None or gp is None:
            return
        bounded = [
            node
            for node in tree.leaves()
            if tree.status_of(node) in (Status.REJECTED, Status.PENDING, Status.FAILED)
        ]
        for i in range(0, len(bounded), _BLOCK):
            some = bounded[i : i + _BLOCK]
            mu, sigma = gp.posterior(tree.x[some])
            bounds = self.bound(mu - self.width * sigma, tree.x[some])
            for node, g in zip(some, bounds.tolist(), strict=True):
                tree.set(node, g, tree.status_of(node))

    # --- noise

    def _believe(self) -> None:
        """Under noise: posterior means of the records in the GP, and f_plus from all of them."""
        assert self.gp is not None
        known = dict(zip(self.gp.keys, self.gp.smoothed().tolist(), strict=False))
        self._means.update((key, known[key]) for key, _, _, _ in self.records if key in known)
        means = (mean for key, mean in self._means.items() if key not in self._infeasible)
        self.f_plus = max(means, default=-inf)

    def _believe_all(self, rows: Sequence[int]) -> None:
        """Under noise, after a move: every mean, also of records that are no rows of the GP."""
        apart = sorted(set(range(self.t)) - set(rows))
        X = np.array([self.records[i][1] for i in apart])
        for i, mean in zip(apart, self._posterior_means(X), strict=True):
            self._means[self.records[i][0]] = mean
        self._believe()
        if self.tree is not None:
            for key, _, _, node in self.records:
                if node is not None:
                    self.tree.set(node, self._graded(key, self._means[key]), Status.EVALUATED)
            self._believe_at([node for node, value, _ in self._again if not isnan(value)])

    def _believe_at(self, nodes: list[int]) -> None:
        """Under noise: these nodes' g, from their posterior means."""
        assert self.tree is not None
        for node, mean in zip(nodes, self._posterior_means(self.tree.x[nodes]), strict=True):
            self.tree.set(node, mean, Status.EVALUATED)

    def _posterior_means(self, X: Array) -> list[float]:
        assert self.gp is not None
        blocks = [X[i : i + _BLOCK] for i in range(0, len(X), _BLOCK)]
        return [mean for block in blocks for mean in self.gp.posterior(block)[0].tolist()]

    def _enter(self, node: int, value: float) -> None:
        """Give a node its value, or the mark of a failure."""
        assert self.tree is not None
        if isnan(value):
            self.tree.set(node, -inf, Status.FAILED)
        else:
            self.tree.set(node, self.transform(value), Status.EVALUATED)

    def move(self, transform: Transform, gp: GP, rows: Sequence[int]) -> None:
        """Go over to another transform and an empty GP: every value anew, and these rows."""
        self.transform, self.gp, self.f_plus = transform, gp, -inf
        for i in rows:
            key, x, value, _ = self.records[i]
            gp.expect(key, x)
            gp.observe(key, transform(value), self._noise_of(key, value))
        for record, _, value, node in self.records:
            g = transform(value)
            if node is not None and self.tree is not None:
                self.tree.set(node, g, Status.EVALUATED)
            if record not in self._infeasible:
                self.f_plus = max(self.f_plus, g)
        for node, value, _ in self._again:
            self._enter(node, value)
        if self.noisy:
            self._believe_all(rows)
        if self.limits is not None and self.tree is not None:
            self._regrade()
        for ticket, (x, _) in self.out.items():
            gp.expect(ticket, x)


def leftovers(tree: Tree, book: Book) -> Search:
    """When no cell is left to cut: what was rejected is evaluated after all, best bound first.

    Under noise the points of a finite space are then evaluated again, best bound first, as long
    as there is noise to average.
    """
    rejected = [node for node in range(len(tree)) if tree.status_of(node) == Status.REJECTED]
    for node in sorted(rejected, key=lambda node: -tree.g[node]):
        if tree.status_of(node) == Status.REJECTED:  # not as another's heir by now
            yield from book.evaluate(node, tree.g[node])
    if tree.domain.region is not None and not tree.any_allowed:
        return NONE_ALLOWED
    while tree.domain.finite and book.noisy and (x := _to_repeat(book)) is not None:
        yield from book.evaluate_point(x)
    if tree.domain.finite:
        return ALL_MET
    if tree.gave_up:
        return NO_MORE_ALLOWED
    return "every cell is as small as floating-point numbers allow"


def _to_repeat(book: Book) -> Array | None:
    """The known point with the best upper bound; None where its noise does not matter."""
    gp = book.gp
    if gp is None or not gp.known:
        return None
    if float(gp.noises.max()) <= _LITTLE_NOISE * gp.kernel.variance:
        return None
    X = np.unique(gp.X[: gp.known], axis=0)
    mu, sigma = gp.posterior(X)
    return np.asarray(X[int((mu + _REPEAT_WIDTH * sigma).argmax())])
