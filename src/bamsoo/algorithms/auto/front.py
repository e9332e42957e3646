"""The default search with several objectives: the paper's rule lifted to vectors.

As with one objective, a tree proposes and the bounds of Gaussian processes decide. There is one GP
for each objective. The optimistic values of a cell are a vector, and the cell is worth an
evaluation only if no point of the front dominates this vector, up to a small tolerance. At each
depth, the leaf is split whose parts promise the most hypervolume by their bounds. Between
evaluations in the tree, steps go to the candidate with the largest expected improvement of the
hypervolume. docs/objectives.md explains the rules and what they keep of the paper's argument.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ...base.pareto import non_dominated
from ...base.typing import Array
from ...space.axes import Domain
from ..book import SAME, Book
from ..search import CANDIDATE, Waiting
from ..tree import Status, Tree
from .candidates import Candidates
from .design import design
from .failures import Failures
from .gain import Gain
from .prior import Prior
from .worth import Width, Worth

_LARGEST = np.finfo(float).max / 4
"""Larger values count as this one on a front, so that the range down to the reference is finite."""


@dataclass(frozen=True)
class FrontConstants:
    """Constants of the search with several objectives."""

    steps: int = 6
    """The number of steps for each evaluation in the tree. On 16 development problems with two
    seeds, the share of the hypervolume after 25 and 50 evaluations was .714 and .859 with 3, and
    .701 and .850 with 6. With a first design of two points more than there are axes it was .687 and
    .852 with 3, .718 and .865 with 6, and .710 and .841 with 12. So neither matters much. Also,
    after this many steps that followed runs of rejected nodes, the next node is evaluated whatever
    its bounds, so that overconfident models cannot keep the tree from growing."""

    tolerance: float = 0.01
    """A cell is rejected if a point of the front, moved by this share of the front's range, is at
    least as good as the cell's optimistic values in every objective."""

    patience: int = 20
    """After this many rejected nodes in a row, a step is taken, because most of the tree is settled
    then, and bounding more nodes costs more time than it is worth."""

    beyond: float = 0.5
    """The reference is this share of the front's range beyond its worst values. Points count that
    make the front longer by as much. With 0.1, a front that begins in a corner stays there; with 1,
    its ends attract too many steps."""

    typical: float = 0.25
    """The reference is at least as bad as this quantile of all values of an objective, because a
    front that has just begun may be tiny. With 0.5, a front that begins in a corner leaves it
    later: on nine development problems, those with the smallest shares among them, .557 and .780 of
    the hypervolume instead of .590 and .798. Other problems lose a little by it."""

    doubts: float = 3.0
    """One point is evaluated again, to see whether values are exact, if the values of an objective
    are likelier with noise than without it by a factor of e to the power of this number. With 5 %
    of noise, the logarithm of this factor grew past 3 within 36 evaluations in each of 8
    development problems, and to 13 or more within 60; without noise it was below 0 from the 12th
    evaluation on in 7 of them."""

    sure: int = 20
    """The number of values from which this is asked. With fewer, the factor says little."""

    climbs: int = 3
    """The number of candidates, those with the largest expected improvement, from which a climb
    starts."""

    iterations: int = 15
    """The largest number of iterations of a climb; its top need not be exact."""

    radii: tuple[float, float] = (0.002, 0.2)
    """The shortest and the longest reach of a short step along each axis; it begins with the
    longest, within which a climb from any other candidate stays, too: nothing is optimised over the
    whole space. With several objectives of many orders of magnitude, the global models cannot tell
    how near to the front a better point is. Without short steps, 0.02 and 0.07 of the hypervolume
    are lost after 50 and after 100 evaluations of the development problems."""


class Front:
    """The parts of the search and what they share.

    Parameters
    ----------
    domain, tree, book, rng
        Those of the search.
    prior : Prior
    failures : Failures
    candidates : Candidates
        Draws the points that steps choose from.
    width : Width
    patience : int
        As in `Auto`, but at most that of the constants.
    local : bool
        As in `Auto`.
    constants : FrontConstants
    """

    posterior = None

    def __init__(
        self,
        domain: Domain,
        tree: Tree,
        book: Book,
        rng: np.random.Generator,
        prior: Prior,
        failures: Failures,
        candidates: Candidates,
        width: Width,
        patience: int,
        local: bool,
        constants: FrontConstants,
    ) -> None:
        self._domain, self._tree, self._book, self._rng = domain, tree, book, rng
        self._prior, self._failures, self._candidates = prior, failures, candidates
        self._acquisition = Worth(book, failures)
        self.width, self._local, self._constants = width, local, constants
        self._patience = min(patience, constants.patience)
        self._owed = self._in_a_row = self._forced = 0
        self._below: dict[int, Array] = {}  # the centres of the parts of each leaf
        self._promised: dict[int, float] = {}
        self._at = -1, -1, -1
        self._gained: Gain | None = None
        self._radius, self._stalled = constants.radii[1], False
        self._looked = 0  # the number of fits when it was last asked whether values look noisy

    def design(self) -> Iterable[Array]:
        """A Latin hypercube."""
        return design(self._domain, self._rng, self._domain.most_axes)

    def begin(self) -> None:
        """Refit the priors if it is time, and grade the leaves."""
        self._refit()
        if self._prior.ready:
            self._grade()

    def split(self, children: range) -> None:
        """Nothing: each child is judged by what is known when it is its turn."""

    def judge(self, i: int, child: int) -> tuple[bool, float]:
        """Whether a child is worth an evaluation, and its grade until leaves are graded again."""
        worth = not self._prior.ready or self._worth(self._tree.centre(child))
        return worth or self._forced >= self._constants.steps, 0.0

    def evaluated(self) -> None:
        """Note that a node is evaluated."""
        self._in_a_row = self._forced = 0
        self._owed += self._constants.steps

    def rejected(self) -> None:
        """Note that a node is rejected."""
        self._in_a_row += 1

    def steps(self) -> Waiting:
        """Take the steps that are due."""
        if self._in_a_row >= self._patience:
            self._in_a_row, self._forced, self._owed = 0, self._forced + 1, self._owed + 1
        while self._local and self._owed and self._prior.ready:
            self._owed -= 1
            yield from self._step()
            self._refit()

    # --- what is known

    def _refit(self) -> None:
        """Refit the priors if it is time."""
        book = self._book
        book.learn_limits(self.width.now)
        self._prior.update()

    def _gain(self) -> Gain | None:
        """What can be added to the front; None if no point is feasible.

        Pending points count as if their values were those that are expected.
        """
        book = self._book
        now = book.t, book.asked, self._prior.fits
        if now != self._at:
            self._at, self._gained, self._promised = now, self._new_gain(), {}
        return self._gained

    def _new_gain(self) -> Gain | None:
        book, known = self._book, self._book.known
        F = book.beliefs.columns()[known.feasible]
        if not len(F):
            return None
        if len(out := book.pending):
            mu, _ = self._acquisition.posterior(out)
            columns = zip(book.transforms, mu.T, strict=True)
            F = np.vstack([F, np.stack([each.inverse(column) for each, column in columns], 1)])
        F = F.clip(-_LARGEST, _LARGEST)
        front = F[non_dominated(F)]
        return Gain(front, self._reference(front, F), book.transforms)

    def _reference(self, front: Array, F: Array) -> Array:
        """The worst values of the front, moved out by a share of its range, or a typical value.

        A front that has just begun may be tiny. The reference is then a quantile of all values, so
        that points count that make it longer.
        """
        worst = np.minimum(front.min(0), np.quantile(F, self._constants.typical, axis=0))
        with np.errstate(over="ignore"):
            range_ = front.max(0) - worst
            range_ = np.where(range_ > 0.0, range_, np.maximum(np.abs(worst), 1.0))
            away = worst - self._constants.beyond * range_
        return np.asarray(np.maximum(away, -np.finfo(float).max))

    # --- the tree

    def _optimistic(self, X: Array) -> Array:
        mu, sigma = self._acquisition.posterior(X)
        return mu + self.width.now * self._prior.calibrations * sigma

    def _worth(self, x: Array) -> bool:
        """Whether the front does not dominate the optimistic values at a point."""
        if not self._book.grades.ahead(x[None]).can_meet(0):
            return False
        gain = self._gain()
        if gain is None:
            return True
        return bool(gain.of(self._optimistic(x[None]), self._constants.tolerance)[0] > 0.0)

    def _grade(self) -> None:
        """Grade each leaf by the largest hypervolume that the bounds of its parts promise."""
        tree, gain, book = self._tree, self._gain(), self._book
        new = [node for node in tree.leaves() if node not in self._promised]
        new = [n for n in new if tree.status_of(n) not in (Status.BARRED, Status.NEW)]
        if not new:
            return
        for node in new:
            if node not in self._below:
                self._below[node] = tree.centres_below(node, 1)
        counts = [len(self._below[node]) for node in new]
        X = np.concatenate([self._below[node] for node in new])
        promise = np.zeros(len(X)) if gain is None else gain.of(self._optimistic(X))
        if book.limits is not None and book.limits.ready:
            missed = book.known.violation(book.limits.bounds(X, self.width.now)[0])
            promise = np.where(missed > 0.0, -missed, promise)
        best = np.maximum.reduceat(promise, np.cumsum([0, *counts[:-1]]))
        for node, g in zip(new, best.tolist(), strict=True):
            self._promised[node] = g
            tree.set(node, g, tree.status_of(node))

    # --- steps

    def _step(self) -> Waiting:
        """Evaluate the candidate with the largest expected improvement.

        It is one from all over the space, or after such a step that brought nothing, one near a
        point of the front.
        """
        if (row := self._doubted()) is not None:
            yield from self._book.check(row)
            return
        gain, before = self._gain(), self._book.t
        centre = self._parent() if self._stalled and gain is not None else None
        X = self._drawn() if centre is None else self._around(centre)
        if not len(X):
            self._stalled = False
            return
        worth = self._expected(gain, X)
        order = np.argsort(-worth, kind="stable")
        if gain is not None and self._domain.continuous:
            starts = X[order[: self._constants.climbs]]
            climbed = np.array([self._climb(gain, x, centre) for x in starts])
            climbed = climbed[self._domain.allows(climbed)]
            X = np.vstack([climbed, X[order]])
            order = np.argsort(-self._expected(gain, X), kind="stable")
        least = 4.0 * self._domain.finest  # closer points may be equal after rounding
        again = self._book.noisy
        for i in order.tolist():
            if again or self._book.is_new(X[i], least):
                yield from self._book.evaluate_point(X[i], CANDIDATE)
                self._judge(gain, before, short=centre is not None)
                return

    def _doubted(self) -> int | None:
        """A point of the front that is evaluated again, because values look noisy; None if not.

        Exact values may be likelier with noise, too, for example if an objective is steep in one
        place and flat in another, so only a second value decides. The question is asked after each
        fit, and after each point that was evaluated again once there are four times as many values.
        """
        book, prior, domain = self._book, self._prior, self._domain
        if book.noisy or self._looked == prior.fits or not book.affords(domain):
            return None
        if book.t < self._constants.sure * 4**book.checks or not book.known.met:
            return None
        self._looked = prior.fits
        looks = prior.evidence_of_noise() > self._constants.doubts
        return int(book.ranked()[0]) if looks else None

    def _judge(self, gain: Gain | None, before: int, short: bool) -> None:
        """Adapt the reach of short steps, or decide whether one is next.

        A step brought something if a row since `before` adds more to the front as it was then than
        `SAME` times the volume between the reference and the best values. After one that brought
        nothing, the next one is a short step from a point of the front.
        """
        known, (least, most) = self._book.known, self._constants.radii
        new = known.F[before:][known.feasible[before:]]
        useful = gain is None or bool((gain.of_values(new) > SAME).any())
        if short:
            radius = self._radius * (2.0 if useful else 0.5**0.5)
            self._radius = min(max(radius, least), most)
        self._stalled = not (short or useful)

    def _parent(self) -> Array | None:
        """A point of the front from which a short step is taken; None if no axis is continuous."""
        if not self._domain.continuous:
            return None
        X, F = self._book.known.X, self._book.beliefs.columns()
        rows = np.flatnonzero(self._book.known.feasible)
        rows = rows[non_dominated(F[rows])]
        return np.asarray(X[rows[self._rng.integers(len(rows))]])

    def _around(self, centre: Array) -> Array:
        """Points that differ from this one along half of its continuous axes, or two of them."""
        free, rng = self._free(centre), self._rng
        X = np.repeat(centre[None], self._candidates.total, axis=0)
        moved = rng.random((len(X), len(free))) < max(0.5, 2.0 / max(len(free), 1))
        step = rng.uniform(-self._radius, self._radius, moved.shape)
        X[:, free] = np.clip(X[:, free] + step * moved, 0.0, 1.0)
        return np.asarray(X[self._domain.allows(X)])

    def _free(self, x: Array) -> list[int]:
        """The continuous axes that exist at a point."""
        there = self._domain.exists(x)
        return [i for i in self._domain.continuous if there[i]]

    def _drawn(self) -> Array:
        """Candidates: neighbours of good points, mixtures of them, and points in leaves."""
        book = self._book
        F = book.beliefs.columns()[book.known.feasible]
        front = int(non_dominated(F).sum()) if len(F) else 0
        found = self._candidates.around(self._domain.pin(book.known.X[book.ranked()]), front)
        found = found[self._domain.allows(found)]
        failing = self._failures.expects(found)
        return found if failing.all() else np.asarray(found[~failing])

    def _expected(self, gain: Gain | None, X: Array) -> Array:
        """The expected improvement at each point, times the probability that it counts."""
        worth = self._acquisition.of(X, gain, self._prior.calibrations)
        return worth * self._acquisition.meets(X)

    def _climb(self, gain: Gain, x: Array, centre: Array | None) -> Array:
        """Climb from a candidate along its real axes, in a box around it.

        For a short step, the box is that of its candidates.
        """
        from scipy.optimize import minimize

        free = self._free(x)
        if not free:
            return x
        longest = self._constants.radii[1]
        middle, reach = (x, longest) if centre is None else (centre, self._radius)
        low, high = np.maximum(middle[free] - reach, 0.0), np.minimum(middle[free] + reach, 1.0)

        def below(z: Array) -> tuple[float, Array]:
            points = np.repeat(x[None], len(free) + 1, axis=0)
            points[:, free] = z
            steps = np.where(z > 0.5, -1e-6, 1e-6)
            points[np.arange(1, len(free) + 1), free] += steps
            logs = np.log(np.maximum(self._expected(gain, points), 1e-300))
            return -float(logs[0]), -(logs[1:] - logs[0]) / steps

        found = minimize(
            below, x[free], jac=True, method="L-BFGS-B", bounds=list(zip(low, high, strict=True)),
            options={"maxiter": self._constants.iterations},
        )  # fmt: skip
        top = x.copy()
        top[free] = np.clip(found.x, low, high)
        return top
