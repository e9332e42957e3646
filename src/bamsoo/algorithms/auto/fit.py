"""Fits of models to data: from one basin to the next, by climbs that see each residual.

Where evaluations return residuals, this takes the place of the other steps outside the tree. The
first climb (`newton`) begins at the best point known. When nothing is left to gain, or when it
stands still, or crawls and there may be less elsewhere, the tree and scouts look for other basins:
scouts go where the residuals of the whole space are expected to add up to the least (`survey`),
away from the bottoms that are known, because no climb may begin there. The next climb
begins at the best of the points that have no better one nearby, and is given up when it seems that
it cannot win. After that, a climb that crawled goes on.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

import numpy as np

from ...base.typing import Array
from ...space.axes import Domain
from ..book import Book
from ..search import LOCAL
from .failures import Failures
from .newton import Ascent, Foreseen, Newton, seen
from .schedule import Focus, Proposal
from .survey import Survey

_KEPT = 10  # candidates of each round, and for the start of a climb
_OTHER = 1e-12  # coordinates of different options or whole numbers differ by more
_SPREADS = (0.1, 0.1, 0.03, 0.03, 0.01)  # of the points that are drawn around these, in each round


@dataclass(frozen=True)
class FitConstants:
    """Constants of fits."""

    rest: int = 2
    """After a climb, this number times D + 1 points are evaluated elsewhere before the next."""

    scouts: int = 2
    """The number of scouts for each node that the tree evaluates meanwhile."""

    lost: float = 5.0
    """A climb other than the first is given up if this many gains as large as its last one would
    not make it the best."""

    apart: float = 0.5
    """A climb may begin at a point if no better one is closer than this times n^(-1/D), the typical
    distance of n points."""

    optimism: float = 1.0
    """Scouts go to the smallest mean of the sum of squares minus this times its deviation."""

    drawn: int = 1000
    """The number of points that are drawn to find it."""

    growth: float = 1.1
    """The lengths of the survey are learned again when there are this many times as many values."""

    most: int = 100
    """The largest number of points, the best ones, that the survey is made of."""


class Fits:
    """Proposes steps where evaluations return residuals.

    Parameters
    ----------
    domain : Domain
    book : Book
    failures : Failures
    rng : Generator
    newton : Newton
        Takes the steps of climbs.
    constants : FitConstants
    """

    origin = LOCAL

    def __init__(
        self,
        domain: Domain,
        book: Book,
        failures: Failures,
        rng: np.random.Generator,
        newton: Newton,
        constants: FitConstants,
    ) -> None:
        self._domain, self._book, self._failures, self._rng = domain, book, failures, rng
        self._newton, self._constants = newton, constants
        self._ascent: Ascent | None = None
        self._crawling: Ascent | None = None  # goes on after the next climb
        self._first: Ascent | None = None
        self._own: set[int] = set()  # rows of climbs
        self._bottoms: set[int] = set()  # the best rows of those that ended
        self._rested = 0  # the number of other rows at the end of the last climb
        self._scouted = 0  # the number of scouts since then
        self._in_vain = 0, 0  # the numbers of values and failures when no scout was found
        self._lengths: Array | None = None
        self._learned = 0  # the number of values when they were learned

    @property
    def busy(self) -> bool:
        """Whether a climb is under way, or it is time for the next one or for a scout."""
        if not self._book.known.R.shape[1]:
            return False
        if self._ascent is None and self._rests <= 0:
            self._begin()
        return self._ascent is not None or self._scouting

    @property
    def _others(self) -> int:
        """The number of rows that do not belong to climbs."""
        return self._book.t - len(self._own)

    @property
    def _near(self) -> float:
        """How far from a better point another climb may begin."""
        return float(self._constants.apart * max(self._others, 1) ** (-1.0 / self._domain.dim))

    @property
    def _rests(self) -> int:
        """How many points are to be evaluated elsewhere before the next climb."""
        if self._first is None:
            return 0
        return self._rested + self._constants.rest * (self._domain.dim + 1) - self._others

    @property
    def _scouting(self) -> bool:
        """Whether a scout is due."""
        nodes = self._others - self._rested - self._scouted
        return self._rests > 0 and self._scouted < self._constants.scouts * (nodes + 1)

    def _begin(self) -> None:
        """Begin a climb at the best point that has no better one nearby."""
        known, first = self._book.known, self._first is None
        order = known.order(self._book.beliefs.values())
        free = seen(known.R[order]) & ~np.isin(order, list(self._own))
        for place in np.flatnonzero(free)[:_KEPT].tolist():
            row = int(order[place])
            apart = np.abs(known.X[order[:place]] - known.X[row]).max(1)
            if first or not (apart < self._near).any():
                self._ascent = self._newton.begin(row)
                self._first = self._first or self._ascent
                self._own.add(row)
                return
        if self._crawling is not None and not self._less_elsewhere(self._crawling):
            self._go_on()
            return
        self._rested, self._scouted = self._others, 0

    def _go_on(self) -> None:
        """Go on with the climb that crawled."""
        self._ascent, self._crawling = self._crawling, None
        assert self._ascent is not None
        self._ascent.since = 0

    def _end(self) -> None:
        """End the climb. One that crawled before it goes on now, and otherwise after the next."""
        ended, self._ascent = self._ascent, None
        assert ended is not None
        self._bottoms.add(ended.best)
        if self._crawling is not None and self._crawling is not ended:
            self._go_on()
            return
        best = int(self._book.known.order(self._book.beliefs.values())[0])
        self._crawling = None if ended.over or ended.best != best else ended
        self._rested, self._scouted = self._others, 0

    def propose(self, focus: Focus) -> Proposal | None:
        """The next step; None if it has to wait for values."""
        while (ascent := self._ascent) is not None:
            step = self._newton.step(ascent)
            if step is not None or not ascent.over:
                return step
            self._end()
        return self._scout()

    def _scout(self) -> Proposal | None:
        """The point where the residuals are expected to add up to the least."""
        domain, news = self._domain, (self._book.t, len(self._book.known.failed))
        if not self._scouting or self._in_vain == news:
            return None
        X, _ = self._promising(self._bottoms)
        ahead = self._book.grades.ahead(X)
        for i, x in enumerate(X):
            new = self._book.is_new(x, 4.0 * domain.finest) and domain.allowed(x)
            if new and ahead.can_meet(i) and not self._failures.expects(x[None])[0]:
                self._scouted += 1
                return Proposal(x, top=False)
        self._in_vain = news
        return None

    def _promising(self, bottoms: Iterable[int]) -> tuple[Array, Array]:
        """The points where the residuals may add up to the least, and what they may add up to.

        They are away from these rows, the bottoms of basins, where no other climb may begin. Points
        with other options or whole numbers are elsewhere, however close they are.
        """
        known, domain, constants = self._book.known, self._domain, self._constants
        taken, reach = known.X[[*bottoms]], np.full(domain.dim, _OTHER)
        reach[[*domain.continuous]] = self._near
        rows = np.flatnonzero(seen(known.R))
        if len(rows) < 2:
            return np.empty((0, domain.dim)), np.empty(0)
        rows = np.sort(known.order(self._book.beliefs.values(), rows)[: constants.most])
        F = domain.features(known.X[rows])
        learns = known.t >= constants.growth * self._learned
        survey = Survey(F, self._book.squares.seen(known.R[rows]), self._lengths, learns)
        self._lengths = survey.lengths
        self._learned = known.t if learns else self._learned

        def best_of(X: Array) -> tuple[Array, Array]:
            X = np.array([domain.snap(x) for x in X]) if domain.mixed else X
            X = X[np.all(np.any(np.abs(X[:, None] - taken) >= reach, axis=2), axis=1)]
            if not len(X):
                return X, np.empty(0)
            mean, deviation = survey.sums(domain.features(X))
            least = mean - constants.optimism * deviation
            order = np.argsort(least, kind="stable")
            if domain.region is not None:
                allowed = (i for i in order.tolist() if domain.allowed(X[i]))
                order = np.array([*islice(allowed, _KEPT)], dtype=int)
            order = order[:_KEPT]
            return np.asarray(X[order]), np.asarray(least[order])

        draws = self._rng.random((constants.drawn, domain.dim))
        X, least = best_of(draws)
        for spread in _SPREADS if len(X) else ():
            around = X[:, None] + spread * self._rng.standard_normal((len(X), _KEPT, domain.dim))
            around = np.clip(around, 0.0, 1.0).reshape(-1, domain.dim)
            X, least = best_of(np.vstack([X, around]))
        return X, least

    def _less_elsewhere(self, ascent: Ascent) -> bool:
        """Whether residuals may add up to less away from a climb."""
        _, least = self._promising({*self._bottoms, ascent.best})
        return bool((least < -self._book.beliefs.values()[ascent.best]).any())

    def judge(self, step: Proposal, better: bool, row: int | None) -> None:
        """Adapt the climb, and end it if it crawls or cannot win."""
        if step.note is None:  # a scout
            return
        if row is not None:
            self._own.add(row)
        self._newton.judge(step, better, row)
        ascent: Ascent = step.note.ascent
        if ascent is not self._ascent:
            return
        if ascent is not self._first and self._cannot_win(step):
            self._end()
        elif self._newton.crawls(ascent):
            if self._newton.stands_still(ascent) or self._less_elsewhere(ascent):
                self._end()
            else:
                ascent.since = 0

    def _cannot_win(self, step: Proposal) -> bool:
        """Whether gains as large as the last one would not make a climb the best."""
        note: Foreseen = step.note
        f = self._book.beliefs.values()
        best = int(self._book.known.order(f)[0])
        behind = float(f[best] - f[note.ascent.best])
        return note.gain > 0.0 and self._constants.lost * note.ascent.gained < behind
