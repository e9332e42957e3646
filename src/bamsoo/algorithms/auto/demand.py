"""How much a point must be able to gain to be worth an evaluation, while the search stands still.

On a plateau, and along an axis without influence, a point next to the best always looks as good as
the best, and evaluating it teaches nothing. So while the best value does not improve, a point is
worth an evaluation only if it may be better by a share of the values' standard deviation. The share
grows until the search goes where little is known. If the caller says which gain matters to him
(`tol`), a point that cannot gain as much is never worth one.
"""

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from ...base.typing import Array
from ...space.axes import Domain
from ..book import Book
from .improvement import Improvement


@dataclass(frozen=True)
class DemandConstants:
    """Constants of what a point must be able to gain while the best value does not improve."""

    free: int = 5
    """The number of evaluations without a real gain (`improvement`) before one is required. That is
    about one in the tree and the steps that follow it. On a plateau with rounding errors,
    or along an axis with next to no influence, every few steps gain less than a real gain."""

    doubling: float = 4.0
    """The number of further evaluations without a real gain after which the upper limit of the
    required share doubles."""

    small: float = 0.01
    """The smallest gain that can be required, as a share of the standard deviation. The largest is
    a whole one: the best value is rarely more than two standard deviations above the mean, so
    hardly anything but unknown regions is left then."""

    flat: tuple[float, float] = (3, 0.3)
    """At least this many points, and this share of all of them, must have the value of the best
    one for it to be a plateau."""

    width: float = 2.0
    """The number of deviations by which a value may exceed its mean where the caller says which
    gain matters. With more, points are evaluated that hardly ever gain as much; with fewer, the
    search stops polishing before it knows that nothing is left."""


class Demand:
    """What a point must be able to reach to be worth an evaluation.

    Parameters
    ----------
    book : Book
    rng : Generator
        Draws the required share, between the smallest one and a limit that grows with the time
        since the last gain. Small shares stay possible, so steps near the best never end.
    constants : DemandConstants
    """

    def __init__(
        self, domain: Domain, book: Book, rng: np.random.Generator, constants: DemandConstants
    ) -> None:
        self._domain, self._book, self._rng, self._constants = domain, book, rng, constants
        self._improvement = Improvement(book)
        self._plateau: NDArray[np.bool_] | None = None
        self._seen = 0  # the number of values when the plateau was last looked for

    def goal(self, rows: NDArray[np.intp] | None = None) -> float:
        """The value to reach, in the model's units: the best of these rows, or more.

        It is -inf if none of them is feasible.
        """
        heights = self._improvement.heights(rows)
        if not len(heights):
            return -inf
        # under noise, the best value is uncertain, and more of it may be luck
        wanted = 0.0 if self._book.noisy else self.wanted(heights)
        return max(float(heights.max()) + wanted, self.least)

    @property
    def least(self) -> float:
        """The value from which on a gain matters to the caller, in the model's units.

        It is -inf if any gain does, and while no point is feasible.
        """
        book = self._book
        if book.tol is None or not (feasible := book.known.feasible).any():
            return -inf
        return float(book.transform(float(book.beliefs.values()[feasible].max()) + book.tol))

    def is_dull(self, X: Array) -> NDArray[np.bool_]:
        """Whether each row of X is expected to have the very value of the best point.

        That is so if a good part of all points have this value, and the known point that is nearest
        to the row is one of them. Options that differ count as far as two ends of an axis.
        """
        book = self._book
        if self._seen != book.t:
            self._seen, self._plateau = book.t, self._tied()
        if self._plateau is None:
            return np.zeros(len(X), dtype=bool)
        apart = (X[:, None] - book.known.X) ** 2
        for i in self._domain.unordered:
            apart[..., i] = apart[..., i] > 0.0
        return np.asarray(self._plateau[apart.sum(2).argmin(1)])

    def _tied(self) -> NDArray[np.bool_] | None:
        """The rows with the value of the best one; None if they are few, or all.

        With several objectives there is no best value.
        """
        if self._book.several:
            return None
        known = self._book.known
        best = int(known.order(self._book.beliefs.values())[0])
        tied: NDArray[np.bool_] = known.values == known.values[best]
        count = int(tied.sum())
        few = count < self._constants.flat[0] or count < self._constants.flat[1] * known.t
        return None if few or count == known.t else tied

    def can_gain(self, x: Array) -> bool:
        """Whether a point may gain what matters to the caller."""
        if self.is_dull(x[None])[0]:
            return False
        if (least := self.least) == -inf:
            return True
        mu, sigma = self._book.gps[0].posterior(x[None])
        return bool(mu[0] + self._constants.width * sigma[0] >= least)

    def wanted(self, values: Array) -> float:
        """How much better than the best value a point must be able to be; 0 while it improves.

        `values` are to be maximised, in the order in which they arrived. They are in the model's
        units, so that slow progress on a logarithmic scale counts as progress.
        """
        constants = self._constants
        doublings = (self._improvement.quiet(values) - constants.free) / constants.doubling
        if doublings < 0.0:
            return 0.0
        least = np.log(constants.small)
        share = np.exp(self._rng.uniform(least, min(least + doublings * np.log(2.0), 0.0)))
        return float(share * values.std())
