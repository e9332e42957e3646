"""The prior of the default algorithm: when it is refitted, and what has to change with it.

The paper takes the prior as known. The default learns it from the values that have arrived, again
and again as they become more (`bamsoo.model.prior`). A new prior may come with a new transform of
the values, so all numbers in the tree and the book then have to move to the new units together.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import nan

import numpy as np

from ..._typing import Array
from ...model.gp import GP
from ...model.kernels import Matern52
from ...model.learning import representative, spread_of
from ...model.prior import LearnedPrior, PriorConstants, learn_prior
from ..book import Book
from ..tree import Tree
from .constants import Constants


class Prior:
    """A GP on transformed values, refitted when the number of values has grown by a quarter.

    All numbers that the search compares (g, f_plus and the values of the GP) are in the same
    transformed units, and `update` converts them all at once.

    Values without noise may still jump from point to point, as a cross-validated score does. A GP
    that had to explain every jump would see no trend. So if `rough` is true, a second prior is
    fitted in which the jumps are noise, and the more likely of the two is used.
    """

    def __init__(
        self,
        tree: Tree,
        book: Book,
        warp: bool,
        noise: float | str,
        constants: Constants,
        rough: bool = False,
    ) -> None:
        self._tree, self._book, self._noise = tree, book, noise
        self._warp = warp and (not noise or noise == "learn")
        self._constants = constants
        self._next = constants.loop.first_fit
        learning = constants.learning
        self._typical: Array = np.full(tree.dim, learning.typical)
        self._lengths, self._nugget = self._typical, learning.typical_noise
        self._jumps = (self._typical, learning.typical_noise) if rough else None
        self.gp = GP(Matern52(self._lengths), tree.dim, domain=tree.domain)
        self.ready = False
        self.calibration = 1.0

    @property
    def lengths(self) -> Array:
        """The length-scales of the latest fit without jumps."""
        return self._lengths

    def update(self, width: float) -> None:
        """Refit the prior if it is time, and then update every bound.

        `width` is the factor of sigma in the bounds, before calibration.
        """
        book, tree, constants = self._book, self._tree, self._constants
        book.learn_limits(width * self.calibration)
        if book.t < self._next:
            return
        loop, learning = constants.loop, constants.learning
        gap = max(loop.shortest_gap, book.t // loop.growth)
        self._next = book.t + min(gap, loop.longest_gap)
        X, raw = book.known.X, book.known.values
        order = np.argsort(-book.believed(), kind="stable")
        some = representative(X, raw, learning)
        if book.noisy:  # points close together are what separates noise from the function
            some = spread_of(order, learning.most)
        learned = self._learn(X[some], raw[some], some)
        self.calibration = learned.calibration
        self.gp = learned.gp(tree.domain)
        self.ready = True
        book.known.factors[:] = nan
        if learned.factors is not None:
            book.known.factors[some] = learned.factors
        book.move(learned.transform, self.gp, spread_of(order, loop.rows))
        book.width = width * self.calibration
        book.rebound()

    def _learn(self, X: Array, values: Array, rows: Sequence[int]) -> LearnedPrior:
        """The prior learned from these rows of the book; the next fit starts from its lengths."""
        book, domain, constants = self._book, self._tree.domain, self._constants
        own = book.known.variances
        given = not np.isnan(own).all()

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
                variances=own[rows] if given else None,
                constants=constants,
                learning=self._constants.learning,
            )

        smooth = learn((self._lengths, self._nugget), self._noise, constants.prior)
        self._lengths, self._nugget = smooth.fit.kernel.lengths(domain.dim), smooth.fit.nugget
        if self._jumps is None or book.noisy:
            return smooth
        rough = learn(self._jumps, "learn", replace(constants.prior, tails=None))
        self._jumps = rough.fit.kernel.lengths(domain.dim), rough.fit.nugget
        return rough if rough.score > smooth.score else smooth
