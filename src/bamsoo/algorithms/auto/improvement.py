"""What results are worth: the one rule by which the search knows whether something works.

A result is compared with the best one before it: by the violation of the constraints first, and by
the value second. It is a success if it is better, however little, because a climb that is right
gains less with each step towards an optimum, and must go on. If the caller says which gain matters
to him (`tol`), smaller ones are none. A gain is real if it is more than `SAME` deviations of the
values. Without real gains, the search demands more of points (`demand`), and it sees whether values
are exact (`schedule`).
"""

from math import inf

import numpy as np
from numpy.typing import NDArray

from ...base.typing import Array
from ..book import SAME, Book


class Improvement:
    """What results were worth to a search.

    Parameters
    ----------
    book : Book
    """

    def __init__(self, book: Book) -> None:
        self._book = book

    def gain(self, row: int | None, rival: int) -> float:
        """What the result in a row gained over another, in deviations of the values; 0 if nothing.

        It is inf if the constraints are met better. None stands for a failure. A gain that is less
        than what the caller wants is none.
        """
        if row is None:
            return 0.0
        book, missed = self._book, self._book.known.missed
        if missed[row] != missed[rival]:
            return inf if missed[row] < missed[rival] else 0.0
        f, g = book.beliefs.values(), book.beliefs.g()
        gain = float(f[row]) - float(f[rival])
        if gain <= 0.0 or (book.tol is not None and gain < book.tol):
            return 0.0
        # the model's units may round a gain away, or the deviation
        return max(float(g[row] - g[rival]), 5e-324) / max(float(g.std()), 5e-324)

    def heights(self, rows: NDArray[np.intp] | None = None) -> Array:
        """The values of these rows, in the model's units, or none if no point is feasible.

        An infeasible point has the worst of them.
        """
        g, feasible = self._book.beliefs.g(), self._book.known.feasible
        if rows is not None:
            g, feasible = g[rows], feasible[rows]
        return np.where(feasible, g, g.min()) if feasible.any() else g[:0]

    def quiet(self, heights: Array) -> int:
        """The number of values since the last real gain, given all of them as they arrived."""
        if not len(heights):
            return 0
        best = np.maximum.accumulate(heights)
        return len(best) - 1 - int(np.argmax(best >= best[-1] - SAME * float(heights.std())))
