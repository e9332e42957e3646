"""The evaluations outside the tree in a search with constraints.

This module takes the place of `steps` there. It decides when a step is taken and whether the small
constrained problem around the best point (`constrained`) or a candidate from all over the space
(`near`) provides its point, and judges each step when its value arrives.
"""

from math import inf
from typing import NamedTuple

import numpy as np

from ..._typing import Array
from ..search import Waiting
from .constrained import Constrained, Known, Proposal
from .turns import Context, Turns

_RULED_OUT = 1e6
"""The violation of a point that the caller told although a known constraint rules it out. It is
larger than any measured violation."""


class Out(NamedTuple):
    """A pending step: violation and value of the best point before it, and what proposed it."""

    best: tuple[float, float]
    proposal: Proposal | None


class ConstrainedSteps:
    """Takes one step at a time, to the solution of a small problem around the best point.

    If some axes are options, which that problem keeps fixed, candidates near the best points take
    turns with it. The kind of step that has improved more often recently comes first.
    """

    def __init__(self, context: Context) -> None:
        self._context, self._domain, self._book = context, context.domain, context.book
        domain, constants, limits = context.domain, context.constants, context.book.limits
        count = 0 if limits is None else limits.count
        self._local = Constrained(domain, count, constants.constrained, context.rng)
        self._near = context.near() if domain.unordered else None
        self._turns = Turns(constants.near)
        self._waiting: dict[int, Out] = {}
        self._in_vain = 0
        self._tries = constants.constrained.patience * (domain.dim + 1)

    @property
    def every(self) -> float:
        """The number of evaluations in the tree per step; it grows while steps do not improve."""
        per_tree = self._context.constants.constrained.per_tree
        return self._context.pause(self._in_vain, self._tries) / per_tree

    def target(self) -> float:
        """The value that a cell must be able to reach besides f_plus: none."""
        return -inf

    def step(self) -> Waiting:
        """Evaluate one more point, if there is one that is worth it."""
        book = self._book
        known = self._known()
        self._judge(known)
        if not len(known.X):
            return
        out = np.array([x for x, _ in book.out.values()]).reshape(-1, self._domain.dim)
        out = np.vstack([out, np.array(book.failed).reshape(-1, self._domain.dim)])
        x: Array | None = None
        proposal: Proposal | None = None
        if self._near is None or self._turns.local:
            proposal = self._local.propose(known, out, self._lengths())
            x = None if proposal is None else proposal.x
        if x is None and self._near is not None:
            x = self._candidate(known, out)
        if x is None:  # there was no step to count, but it may be the other kind's turn
            self._turns.count("near", better=False)
            return
        self._waiting[book.expect(x)] = Out(_best(known), proposal)
        book.receive((yield x))

    def _known(self) -> Known:
        book = self._book
        X = np.array([x for _, x, _, _ in book.records]).reshape(-1, self._domain.dim)
        f = -book.believed()
        ruled_out = np.where(book.feasible(), 0.0, _RULED_OUT)
        if book.limits is None:
            return Known(X, f, np.empty((len(X), 0)), ruled_out)
        missed = book.limits.violation(book.limits.C)
        return Known(X, f, book.limits.C, np.where(missed > 0.0, missed, ruled_out))

    def _lengths(self) -> Array:
        """For each axis, the shortest length-scale of any of the models."""
        limits = self._book.limits
        lengths = [self._context.prior.lengths, *([] if limits is None else limits.lengths)]
        return np.asarray(np.min(lengths, axis=0))

    def _candidate(self, known: Known, out: Array) -> Array | None:
        """The candidate near the best points that the global models rank first."""
        assert self._near is not None
        taken = {p.tobytes() for p in known.X} | {p.tobytes() for p in out}
        place = np.empty(len(known.f))
        place[np.lexsort((known.f, known.missed))] = -np.arange(len(known.f))
        book, gp, failures = self._book, self._context.prior.gp, self._context.failures
        return self._near.propose(
            known.X, place, taken, gp, book.f_plus, failures, again=book.noisy, limits=book.limits
        )

    def _judge(self, known: Known) -> None:
        """Judge the steps whose values have arrived, or whose evaluations have failed."""
        rows = {key: i for i, (key, _, _, _) in enumerate(self._book.records)}
        for ticket in [ticket for ticket in self._waiting if ticket not in self._book.out]:
            best, proposal = self._waiting.pop(ticket)
            row = rows.get(ticket)
            better = row is not None and (known.missed[row], known.f[row]) < best
            self._count(better, proposal)
            if proposal is not None and row is not None:
                self._local.learn(proposal, known.C[row])

    def _count(self, better: bool, proposal: Proposal | None) -> None:
        self._in_vain = 0 if better else self._in_vain + 1
        self._turns.count("near" if proposal is None else "local", better)
        if proposal is not None:
            self._local.count(better, proposal.view)


def _best(known: Known) -> tuple[float, float]:
    best = np.lexsort((known.f, known.missed))[0]
    return float(known.missed[best]), float(known.f[best])
