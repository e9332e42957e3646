"""The prior of the default algorithm: when it is refitted, and what has to change with it.

The paper takes the prior as known. The default learns it from the values that have arrived, again
and again as they become more (`bamsoo.model.prior`). A new prior may come with a new transform of
the values, so all numbers in the tree and the book then have to move to the new units together.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import nan

import numpy as np

from ..._typing import Array
from ...kernels import Matern52
from ...model.gp import GP
from ...model.learning import Learning, representative, spread_of
from ...model.prior import LearnedPrior, PriorConstants, learn_prior
from ..book import Book
from ..tree import Tree


@dataclass(frozen=True)
class RefitConstants:
    """Constants of when the prior is refitted, and from how many points."""

    first_fit: int = 4
    """The number of values before the first fit. Fewer say nothing about length-scales."""

    growth: int = 4
    """The prior is refitted when the number of values has grown by a factor of 1 + 1/growth. The
    total cost of all fits is then a constant multiple of the cost of the last one."""

    shortest_gap: int = 2
    """The smallest number of evaluations between two fits, which matters early in a run."""

    longest_gap: int = 250
    """The largest number of evaluations between two fits. Each fit reduces the GP to at most `rows`
    points, so this limits how far the GP can grow, and with it the time of a suggestion."""

    rows: int = 1000
    """The largest number of points in the GP right after a fit. Bounds far from the best point need
    few of them, and the time of a suggestion grows with the square of this number."""


class Prior:
    """A GP on transformed values, refitted when the number of values has grown by a quarter.

    All numbers that the search compares (g, f_plus and the values of the GP) are in the same
    transformed units, and `update` converts them all at once.

    Values without noise may still jump from point to point, as a cross-validated score does. A GP
    that had to explain every jump would see no trend. So in spaces with whole numbers or options a
    second prior is fitted in which the jumps are noise, and the more likely of the two is used. In
    spaces of real numbers it would often take the local optima of rugged functions for noise, so
    there it is fitted only once the search has stood still among different values.
    """

    def __init__(
        self,
        tree: Tree,
        book: Book,
        warp: bool,
        noise: float | str,
        refit: RefitConstants,
        constants: PriorConstants,
        learning: Learning,
    ) -> None:
        self._tree, self._book, self._noise = tree, book, noise
        self._warp = warp and (not noise or noise == "learn")
        self._refit, self._constants, self._learning = refit, constants, learning
        self._next = refit.first_fit
        self._typical: Array = np.full(tree.dim, learning.typical)
        self._lengths, self._nugget = self._typical, learning.typical_noise
        self._jumps = self._typical, learning.typical_noise
        self.gp = GP(Matern52(self._lengths), tree.dim, domain=tree.domain)
        self.ready = False
        self.rough = False  # whether jumps are more likely noise than a part of the function
        self.calibration = 1.0

    def update(self, width: float) -> None:
        """Refit the prior if it is time, and then update every bound.

        `width` is the factor of sigma in the bounds, before calibration.
        """
        book, tree, refit = self._book, self._tree, self._refit
        book.learn_limits(width * self.calibration)
        if book.unequal is not None and not self._noise:
            self._noise, self._next = "learn", book.t
        if book.t < self._next:
            return
        gap = max(refit.shortest_gap, book.t // refit.growth)
        self._next = book.t + min(gap, refit.longest_gap)
        X, raw = book.known.X, book.known.values
        order = np.argsort(-book.believed(), kind="stable")
        some = representative(X, raw, self._learning)
        if book.noisy:  # points close together are what separates noise from the function
            some = spread_of(order, self._learning.most)
        learned = self._learn(X[some], raw[some], some)
        self.calibration = learned.calibration
        self.gp = learned.gp(tree.domain)
        self.ready = True
        book.known.factors[:] = nan
        if learned.factors is not None:
            book.known.factors[some] = learned.factors
        book.move([learned.transform], [self.gp], spread_of(order, refit.rows))
        book.width = width * self.calibration
        book.rebound()

    def _learn(self, X: Array, values: Array, rows: Sequence[int]) -> LearnedPrior:
        """The prior learned from these rows of the book; the next fit starts from its lengths."""
        book, domain = self._book, self._tree.domain
        own = book.known.variances
        given = not np.isnan(own[book.known.final]).all()
        own = own[rows]

        def learn(
            start: tuple[Array, float], noise: float | str, constants: PriorConstants
        ) -> LearnedPrior:
            return learn_prior(
                domain,
                X,
                values,
                [start, (self._typical, None)],
                warp=self._warp and not given,  # given variances are not of logarithms
                noise=noise,
                variances=None if np.isnan(own).all() else own,
                constants=constants,
                learning=self._learning,
            )

        smooth = learn((self._lengths, self._nugget), self._noise, self._constants)
        self._lengths, self._nugget = smooth.fit.kernel.lengths(domain.dim), smooth.fit.nugget
        if book.noisy or self._noise or not domain.mixed:
            return smooth
        rough = learn(self._jumps, "learn", replace(self._constants, tails=None))
        self._jumps = rough.fit.kernel.lengths(domain.dim), rough.fit.nugget
        self.rough = rough.score > smooth.score
        return rough if self.rough else smooth
