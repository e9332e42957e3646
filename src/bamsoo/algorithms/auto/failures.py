"""A model of where evaluations fail, learned from the failures and the successes so far.

Where a failure is expected, the search leaves out cells of the tree and ranks candidates behind all
others. The model is a Gaussian process over the indicator of success, which is 1 or 0. It has
noise, so an evaluation that fails for reasons that have nothing to do with its point does not keep
the search away from its neighbourhood.
"""

import numpy as np
from numpy.typing import NDArray

from ..._typing import Array
from ...model.gp import GP
from ...model.kernels import Matern52
from ...model.learning import Fit, fit, spread_of
from ...space.axes import Domain
from ..book import Book
from .constants import Constants


class Failures:
    """Predicts whether an evaluation succeeds.

    Parameters
    ----------
    domain : Domain
    book : Book
    constants : Constants
    """

    def __init__(self, domain: Domain, book: Book, constants: Constants) -> None:
        self._domain, self._book = domain, book
        self._constants, self._learning = constants.failures, constants.learning
        self.least = self._constants.least
        """`success` is at most this where a failure is expected."""
        self._gp: GP | None = None
        self._seen = self._fitted = 0
        self._learned: Fit | None = None
        self._start: Array = np.full(domain.dim, self._constants.length)

    @property
    def known(self) -> bool:
        """Whether any evaluation has failed."""
        return bool(self._book.known.failed)

    @property
    def patience(self) -> int:
        """How many cells may be left out in a row because a failure is expected.

        As long as every evaluation has failed, the number is small. The model cannot know then
        where evaluations succeed, and the tree's own order, from coarse to fine, is the best way
        to find out.
        """
        return self._constants.patience if self._book.t else self._constants.blind

    def update(self) -> None:
        """Rebuild the model if there are evaluations that it does not contain yet."""
        book, constants = self._book, self._constants
        total = book.t + len(book.known.failed)
        if not self.known or total == self._seen:
            return
        self._seen = total
        good = spread_of(np.arange(book.t)[::-1], constants.most)
        X = np.array([*book.known.X[good], *book.known.failed[-constants.most :]])
        y = np.array([1.0] * len(good) + [0.0] * (len(X) - len(good)))
        kernel, mean = Matern52(self._start, constants.variance), 1.0
        noise = constants.noise * constants.variance
        if min(len(good), len(book.known.failed)) >= constants.fewest:
            if self._learned is None or total >= self._fitted * constants.growth:
                self._fitted = total
                features, unordered = self._domain.features(X), self._domain.unordered
                starts = [np.append(self._start, constants.noise)]
                found = fit(
                    Matern52, features, y, starts, unordered, noise="learn", steps=constants.steps,
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
        """The probability of success at each row of `X`; never 0, so that nothing is ruled out."""
        if not self.known:
            return np.ones(len(X))
        self.update()
        assert self._gp is not None
        p = np.clip(self._gp.posterior(X)[0], self._constants.least, 1.0)
        return np.where(self._expected(X, p), self._constants.least * p, p)

    def expected_at(self, x: Array) -> bool:
        """Whether an evaluation at a point is expected to fail, given the benefit of the doubt."""
        if not self.known:
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
