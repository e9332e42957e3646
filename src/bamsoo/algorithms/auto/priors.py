"""The priors of a search with several objectives: one for each, all refitted together."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..._typing import Array
from ...kernels import Matern52
from ...model.gp import GP
from ...model.learning import Learning, representative, spread_of
from ...model.prior import LearnedPrior, PriorConstants, learn_prior
from ..book import Book
from ..tree import Tree
from .prior import RefitConstants

_TIED = 1e-6
"""A value counts as equal to the best one if it is within this share of the standard deviation."""

_MOST_TIES = 2
"""With more values equal to the best than this, an objective is not seen on a logarithmic scale."""


class Priors:
    """One GP for each objective, with its own transform and hyper-parameters, on the same points.

    They are refitted when the number of values has grown by a quarter, as the prior of a search
    with one objective is. As there, in spaces with whole numbers or options a second prior is
    fitted in which jumps are noise, and the more likely of the two is used.

    Parameters
    ----------
    tree : Tree
    book : Book
    warp : bool
        Whether the GPs may see values on a logarithmic scale.
    noise : float or "learn"
        0 if values are exact.
    refit, constants, learning
        The constants of when to refit, of the priors, and of each fit.
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
        self._tree, self._book, self._warp, self._noise = tree, book, warp, noise
        self._refit, self._constants, self._learning = refit, constants, learning
        self._next = refit.first_fit
        self._typical: Array = np.full(tree.dim, learning.typical)
        count = book.known.objectives
        start = self._typical, learning.typical_noise
        self._starts = {(j, rough): start for j in range(count) for rough in (False, True)}
        self.gps = [GP(Matern52(self._typical), tree.dim, domain=tree.domain) for _ in range(count)]
        self.fits = 0
        self.calibrations: Array = np.ones(count)

    @property
    def ready(self) -> bool:
        """Whether the priors have been learned."""
        return self.fits > 0

    def update(self, order: NDArray[np.intp]) -> bool:
        """Refit the priors if it is time; `order` lists the rows of the book, the best first."""
        book, refit = self._book, self._refit
        if book.t < self._next:
            return False
        gap = max(refit.shortest_gap, book.t // refit.growth)
        self._next = book.t + min(gap, refit.longest_gap)
        found = [self._learn(j) for j in range(len(self.gps))]
        self.calibrations = np.array([each.calibration for each in found])
        self.gps = [each.gp(self._tree.domain) for each in found]
        self.fits += 1
        transforms = [each.transform for each in found]
        book.move(transforms, self.gps, spread_of(order, refit.rows))
        return True

    def _learn(self, j: int) -> LearnedPrior:
        X, values = self._book.known.X, self._book.known.F[:, j]
        some = representative(X, values, self._learning)
        if self._book.noisy:  # points close together are what separates noise from the function
            some = spread_of(np.argsort(-values, kind="stable"), self._learning.most)

        # Where an objective ends at a face of the space, many points have its best value. Their
        # logarithms would seem likely however badly they fit the rest, so none are taken.
        best, tied = float(values.max()), _TIED * float(values.std())
        warp = self._warp and int((values >= best - tied).sum()) <= _MOST_TIES

        def learn(rough: bool) -> LearnedPrior:
            learned = learn_prior(
                self._tree.domain,
                X[some],
                values[some],
                [self._starts[j, rough], (self._typical, None)],
                warp=warp,
                noise="learn" if rough else self._noise,
                constants=self._constants if not rough else replace(self._constants, tails=None),
                learning=self._learning,
            )
            self._starts[j, rough] = learned.fit.kernel.lengths(self._tree.dim), learned.fit.nugget
            return learned

        smooth = learn(False)
        if self._book.noisy or not self._tree.domain.mixed:
            return smooth
        rough = learn(True)
        return rough if rough.score > smooth.score else smooth
