"""A proposer to copy: a step of the default to the middle between its two best points.

Copy this file to `src/bamsoo/algorithms/auto/` and add the proposer to those that take turns, in
`auto` of `loop.py` there. Nothing else has to change: the schedule knows proposers by what they do.
A test lets the default run with this file, as it is.

What must not go here:

- whose turn it is, and whether a step was worth it: the schedule decides that for all proposers in
  the same way, by their gains (`schedule.py`, `gain.py`);
- how much a point is worth, if models say it: all probabilities meet in `worth.py`;
- evaluations: a proposer returns a point, and the loop asks for it;
- a second copy of what is known: points and values are in `book.known`, and those that are out in
  `book.pending`;
- numbers without a name. What can be tuned goes into a frozen dataclass of constants above the
  class, each with its reason, and that becomes a field of `Constants` in `loop.py`.
"""

from bamsoo.algorithms.auto.schedule import Focus, Proposal
from bamsoo.algorithms.book import Book
from bamsoo.algorithms.search import LOCAL
from bamsoo.space.axes import Domain


class Middle:
    """Proposes the middle between the two best points.

    Parameters
    ----------
    domain : Domain
    book : Book
    """

    origin = LOCAL  # what results, reports and `bamsoo show` call such an evaluation

    def __init__(self, domain: Domain, book: Book) -> None:
        self._domain, self._book = domain, book

    def propose(self, focus: Focus) -> Proposal | None:
        """The middle of the two best points with the options of the focus; None with fewer.

        To return None is no failure: the next proposer has its turn.
        """
        known = self._book.known
        rows = focus.rows[known.values[focus.rows].argsort(kind="stable")[::-1][:2]]
        if len(rows) < 2:
            return None
        # The domain brings a point to the grid of its discrete axes, where there are any.
        x = self._domain.snap(known.X[rows].mean(axis=0))
        # A point that is known or pending must not be asked for again. It is proposed all the same,
        # so that it counts as a failure of this proposer, and others have their turns.
        return Proposal(x, new=not (x == [*known.X, *self._book.pending]).all(axis=1).any())

    def judge(self, step: Proposal, better: bool, row: int | None) -> None:
        """There is nothing to learn from the value of a step here.

        It comes when the value arrives, after any number of other steps; `step.note` has what the
        proposer wanted to remember until then.
        """
