"""A model of where evaluations fail, learned from the failures and the successes so far.

Where a failure is expected, the search leaves out cells of the tree and ranks candidates behind all
others. The model is a Gaussian process over the indicator of success, which is 1 or 0. It has
noise, so an evaluation that fails for reasons that have nothing to do with its point does not keep
the search away from its neighbourhood.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...base.typing import Array
from ...kernels import Matern52
from ...model.gp import GP
from ...model.learning import Fit, Learning, fit, spread_of
from ...model.prior import CONSTANTS as PRIOR
from ...space.axes import Domain
from ..book import Book


@dataclass(frozen=True)
class FailureConstants:
    """Constants of the model of failures."""

    noise: float = 0.1
    """The noise in the indicator until it can be learned, as a share of its variance. It stands for
    failures that have nothing to do with the point."""

    fewest: int = 3
    """The numbers of failures and of successes that are both needed before the noise, the variance
    and the length-scales are learned, again and again as a prior is. Until then, the variance is
    that of an indicator at the threshold, and the length-scales are typical ones."""

    least: float = 0.01
    """The smallest probability of success. Where a failure is expected, the probability is
    multiplied by this as well, which ranks such points behind all others."""

    threshold: float = 0.5
    """A failure is expected where success is less probable than this."""

    sure: float = 0.8
    """If the nearest evaluation failed, a failure is expected where success is less probable than
    this. At a sharp edge, the nearest evaluation says more than a smooth model can."""

    optimism: float = 0.5
    """For cells of the tree, this many standard deviations are added to the probability of success,
    because the tree is there to explore what is unknown."""

    patience: int = 500
    """After this many cells in a row were left out because a failure is expected, one is evaluated
    all the same, so that no region is closed for ever."""


class Failures:
    """Predicts whether an evaluation succeeds."""

    def __init__(
        self, domain: Domain, book: Book, constants: FailureConstants, learning: Learning
    ) -> None:
        self._domain, self._book = domain, book
        self._constants, self._learning = constants, learning
        self._avoided = 0
        self._gp: GP | None = None
        self._seen = self._fitted = 0
        self._learned: Fit | None = None
        self._start: Array = np.full(domain.dim, learning.typical)

    @property
    def happened(self) -> bool:
        """Whether any evaluation has failed."""
        return bool(self._book.known.failed)

    def update(self) -> None:
        """Rebuild the model if there are evaluations that it does not contain yet."""
        book, constants = self._book, self._constants
        total = book.t + len(book.known.failed)
        if not self.happened or total == self._seen:
            return
        self._seen = total
        # of the successes, the latest half and an even spread of the earlier ones
        most = self._learning.most // 2
        good = spread_of(np.arange(book.t)[::-1], most)
        X = np.array([*book.known.X[good], *book.known.failed[-most:]])
        y = np.array([1.0] * len(good) + [0.0] * (len(X) - len(good)))
        kernel = Matern52(self._start, constants.threshold * (1.0 - constants.threshold))
        mean, noise = 1.0, constants.noise * kernel.variance
        if min(len(good), len(book.known.failed)) >= constants.fewest:
            if self._learned is None or total >= self._fitted + self._fitted // PRIOR.growth:
                self._fitted = total
                features, unordered = self._domain.features(X), self._domain.unordered
                starts = [np.append(self._start, constants.noise)]
                found = fit(
                    Matern52, features, y, starts, unordered, noise="learn", steps=PRIOR.steps,
                    learning=self._learning, arcs=self._domain.arcs,
                )  # fmt: skip
                self._start = found.kernel.lengths(self._domain.dim)
                self._learned = found
            kernel = Matern52(self._start, self._learned.kernel.variance)
            mean, noise = self._learned.mean, self._learned.nugget * kernel.variance
        gp = GP(kernel, self._domain.dim, mean, noise, self._domain)
        for i, (x, value) in enumerate(zip(X, y.tolist(), strict=True)):
            gp.expect(i, x)
            gp.observe(i, value)
        self._gp = gp

    def success(self, X: Array) -> Array:
        """The probability of success at each row of `X`; never 0, so that nothing is excluded."""
        if not self.happened:
            return np.ones(len(X))
        self.update()
        assert self._gp is not None
        p = np.clip(self._gp.posterior(X)[0], self._constants.least, 1.0)
        return np.where(self._expected(X, p), self._constants.least * p, p)

    def expects(self, X: Array) -> NDArray[np.bool_]:
        """Whether a failure is expected at each row of `X`."""
        return self.success(X) <= self._constants.least

    def avoids(self, x: Array) -> bool:
        """Whether to leave out a cell because its evaluation is expected to fail.

        It is given the benefit of the doubt, and only so many cells are left out in a row. As long
        as every evaluation has failed, none is: the model cannot know then where evaluations
        succeed, and the tree's own order, from coarse to fine, is the best way to find out.
        """
        if not self._book.t:
            return False
        if self.expected_at(x):
            self._avoided += 1
            if self._avoided <= self._constants.patience:
                return True
        self._avoided = 0
        return False

    def expected_at(self, x: Array) -> bool:
        """Whether an evaluation at a point is expected to fail, given the benefit of the doubt."""
        if not self.happened:
            return False
        self.update()
        assert self._gp is not None
        mu, sigma = self._gp.posterior(x[None])
        return bool(self._expected(x[None], mu + self._constants.optimism * sigma)[0])

    def _expected(self, X: Array, p: Array) -> NDArray[np.bool_]:
        """Where to expect failures, given the probabilities of success `p` at the rows of `X`.

        A failure is expected where success is improbable, and where the nearest evaluation failed
        and success is not almost certain.
        """
        assert self._gp is not None
        nearest = self._gp.correlations(X).argmax(axis=1)
        beside = self._gp.values[nearest] == 0.0
        unsure = p < self._constants.sure
        return np.asarray((p < self._constants.threshold) | (beside & unsure))
