"""A prior learned from the untransformed values by empirical Bayes, at intervals."""

from math import isfinite

import numpy as np

from ..kernels import Matern52
from ..model.gp import GP
from ..model.learning import representative
from ..model.prior import learn_prior
from ..model.warp import Identity, Linear
from .book import Book
from .tree import Tree

START = Matern52(0.25, variance=1e100)
"""The prior until there are values to learn from: so vague that its bounds reject nothing."""


class EmpiricalPrior:
    """A Matérn 5/2 kernel and a constant mean, refitted when the number of values grows by a fifth.

    Values stay in their own units, so that they can be compared with bounds that were written into
    the tree under an earlier prior.
    """

    def __init__(self, tree: Tree, book: Book) -> None:
        self._tree, self._book = tree, book
        self._lengths = START.lengths(tree.dim)
        self._next = 2

    def update(self) -> GP | None:
        """Fit the prior to all values if it is time, and return the new GP of the book, or None."""
        book, domain = self._book, self._tree.domain
        if book.t < self._next:
            return None
        self._next = book.t + max(1, book.t // 5)
        X, values = book.known.X, book.known.values
        if values.min() == values.max():
            return None  # equal values say nothing about a prior
        some = representative(X, values)
        starts = [(self._lengths, None), (START.lengths(domain.dim), None)]
        learned = learn_prior(domain, X[some], values[some], starts, warp=False)
        assert isinstance(learned.transform, Linear)
        unit = learned.transform.size * learned.transform.scale  # one deviation of the values
        variance = learned.fit.kernel.variance * unit * unit
        if not (isfinite(variance) and variance > 0.0):
            return None  # values too large or too small for a kernel in their units
        self._lengths = learned.fit.kernel.lengths(domain.dim)
        mean = float(learned.transform.inverse(np.array([learned.fit.mean]))[0])
        gp = GP(Matern52(self._lengths, variance), domain.dim, mean, domain=domain)
        book.move([Identity()], [gp], range(book.t))
        return gp
