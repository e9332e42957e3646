"""The prior of the default algorithm: when it is refitted, and what has to change with it.

The paper takes the prior as known. The default learns it from the values that have arrived, again
and again as they become more (`bamsoo.model.prior`). A new prior may come with a new transform of
the values, so all numbers in the tree and the book then have to move to the new units together.
"""

from dataclasses import replace
from math import nan

import numpy as np

from ...base.typing import Array
from ...kernels import Matern52
from ...model.gp import GP
from ...model.learning import Learning, representative, spread_of
from ...model.prior import LearnedPrior, PriorConstants, learn_prior
from ...model.warp import deviation
from ..book import Book
from ..tree import Tree
from .regime import Regime

_TIED = 1e-6
"""A value counts as equal to the best one if it is within this share of the standard deviation."""

_MOST_TIES = 2
"""With more values equal to the best than this, an objective is not seen on a logarithmic scale."""


class Prior:
    """One GP for each objective, refitted when the number of values has grown by a quarter.

    All numbers that the search compares (g, f_plus and the values of the GPs) are in the same
    transformed units, and `update` converts them all at once. Each objective has a transform and
    hyper-parameters of its own, learned from the same points.

    Values without noise may still jump from point to point, as a cross-validated score does. A GP
    that had to explain every jump would see no trend. So in spaces with whole numbers or options a
    second prior is fitted in which the jumps are noise, and the more likely of the two is used. In
    spaces of real numbers it would often take the local optima of rugged functions for noise.

    Parameters
    ----------
    tree : Tree
    book : Book
    warp : bool
        Whether the GPs may see values on a logarithmic scale. They never do if a variance of the
        noise is given, since it is a variance of the values and not of their logarithms.
    noise : float or "learn"
        0 if values are exact.
    constants, learning
        The constants of the priors, and of each fit.
    """

    def __init__(
        self,
        tree: Tree,
        book: Book,
        warp: bool,
        noise: float | str,
        constants: PriorConstants,
        learning: Learning,
    ) -> None:
        self._domain, self._book, self._noise = tree.domain, book, noise
        self._warp = warp and (not noise or noise == "learn")
        self._constants, self._learning = constants, learning
        self._next = constants.growth
        self._regime = Regime.of(tree.domain, book)
        self._typical: Array = np.full(tree.dim, learning.typical)
        # where the next fit begins, for each objective without and with jumps that are noise
        self._starts: dict[tuple[int, bool], tuple[Array, float]] = {}
        self._scores: dict[tuple[int, bool], float] = {}  # of the last fits, in the same order
        kernel, count = Matern52(self._typical), book.known.objectives
        self.gps = [GP(kernel, tree.dim, domain=tree.domain) for _ in range(count)]
        self.calibrations: Array = np.ones(count)
        self.fits = 0
        self.rough = False  # whether jumps are more likely noise than a part of the function

    @property
    def ready(self) -> bool:
        """Whether the prior has been learned."""
        return self.fits > 0

    def update(self) -> bool:
        """Refit the prior if it is time; whether it was."""
        book, constants = self._book, self._constants
        if book.unequal is not None and not self._noise:
            self._noise, self._next = "learn", book.t
        if book.t < self._next:
            return False
        self._next = book.t + max(min(book.t, constants.rows) // constants.growth, 1)
        book.known.factors[:] = nan
        found = [self._learn(j) for j in range(len(self.gps))]
        self.calibrations = np.array([each.calibration for each in found])
        self.gps = [each.gp(self._domain) for each in found]
        self.fits += 1
        transforms = [each.transform for each in found]
        book.move(transforms, self.gps, spread_of(book.ranked(), constants.rows))
        return True

    def evidence_of_noise(self) -> float:
        """How much likelier the values of some objective are with noise than without.

        It is the largest logarithm of the ratio of the two likelihoods at the last fit.
        """
        for j in range(len(self.gps)):
            if (j, True) not in self._scores:
                self._fitted(j, rough=True)
        return max(self._scores[j, True] - self._scores[j, False] for j in range(len(self.gps)))

    def _learn(self, j: int) -> LearnedPrior:
        """The prior of an objective."""
        self._scores.pop((j, True), None)
        learned, some = self._fitted(j, rough=False)
        if self._regime.jumps:
            jumping = None if self._book.noisy else self._fitted(j, rough=True)[0]
            self.rough = jumping is None or jumping.score > learned.score
            learned = jumping if self.rough and jumping is not None else learned
        if learned.factors is not None and not self._book.several:
            self._book.known.factors[some] = learned.factors
        return learned

    def _fitted(self, j: int, rough: bool) -> tuple[LearnedPrior, list[int]]:
        """A prior of an objective, and the rows that it was learned from.

        If it is `rough`, jumps are noise. The next fit of its kind starts from its length-scales.
        """
        book, known = self._book, self._book.known
        values = known.F[:, j]
        some = representative(known.X, values, self._learning)
        if book.noisy:  # points close together are what separates noise from the function
            order = np.argsort(-book.beliefs.columns()[:, j], kind="stable")
            some = spread_of(order, self._learning.most)
        given = not np.isnan(known.variances[known.final]).all()
        warp = self._warp and not given
        if book.several:
            # Where an objective ends at a face of the space, many points have its best value. Their
            # logarithms would seem likely however badly they fit the rest, so none are taken.
            least = float(values.max()) - _TIED * deviation(values)
            warp = warp and int((values >= least).sum()) <= _MOST_TIES

        start = self._starts.get((j, rough), (self._typical, self._learning.typical_noise))
        learned = learn_prior(
            self._domain,
            known.X[some],
            values[some],
            [start, (self._typical, None)],
            warp=warp,
            noise="learn" if rough else self._noise,
            variances=known.variances[some, j],
            constants=replace(self._constants, tails=None) if rough else self._constants,
            learning=self._learning,
        )
        self._starts[j, rough] = learned.fit.kernel.lengths(len(start[0])), learned.fit.nugget
        self._scores[j, rough] = learned.score
        return learned, some
