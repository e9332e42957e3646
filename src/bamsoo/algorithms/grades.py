"""The grades of nodes: what the tree compares, if constraints are measured or values are noisy.

Without either, a node's g is its value. Under noise it is the posterior mean at its own point, as
it was when its value arrived, or when all grades were last brought up to date. With measured
constraints it is the grade that `limits` describes. With several objectives the search itself
grades the nodes.
"""

from math import inf

import numpy as np
from numpy.typing import NDArray

from ..base.typing import Array
from ..model.warp import Identity, deviation
from ..space.point import key_of
from .beliefs import BLOCK, Beliefs
from .facts import Arrival, Facts
from .tree import Status


class Ahead:
    """The bounds of the measured constraints at some points, kept current as values arrive.

    Parameters
    ----------
    facts : Facts
    grades : Grades
    X : array
        The points, one per row.
    """

    def __init__(self, facts: Facts, grades: "Grades", X: Array) -> None:
        self._facts, self._grades, self._X, self._t = facts, grades, X, -1
        self._possible: NDArray[np.bool_] = np.ones(len(X), dtype=bool)
        self._missed = np.zeros(len(X))

    def can_meet(self, i: int) -> bool:
        """Whether every constraint may be met at a point, by its optimistic bound."""
        self._update()
        return bool(self._possible[i])

    def grade(self, i: int, lcb: float) -> float:
        """The pessimistic grade of a point whose value has the lower bound `lcb`."""
        facts = self._facts
        if facts.limits is None:
            return lcb
        self._update()
        missed = float(self._missed[i])
        return min(lcb, facts.f_plus) - self._grades.rho * missed if facts.known.met else -missed

    def _update(self) -> None:
        facts = self._facts
        if facts.limits is None or not facts.limits.ready or self._t == facts.t:
            return
        low, high = facts.limits.bounds(self._X, self._grades.width)
        self._possible = np.asarray((low <= 0.0).all(axis=1))
        self._missed = facts.known.violation(high)
        self._t = facts.t


class Grades:
    """The grades of the nodes of one search.

    With discrete axes, several nodes may have the same centre. One of them is evaluated, and the
    others reuse its value.

    Parameters
    ----------
    facts : Facts
    beliefs : Beliefs
    """

    def __init__(self, facts: Facts, beliefs: Beliefs) -> None:
        self._facts, self._beliefs = facts, beliefs
        self.width = 0.0
        """The factor of sigma when the search last bounded a node, for nodes without a value."""
        self._row_at: dict[bytes, int | None] = {}  # of each known point; None if it failed
        self._again: dict[int, int | None] = {}  # of each node that reused the value of another
        self._next = 0  # number of values at which all grades are next brought up to date

    def enter(self, x: Array, row: int | None) -> None:
        """Note the row of a point, or that its evaluation failed, for nodes with this centre."""
        if self._facts.tree is not None and not self._facts.tree.uniform:
            self._row_at[key_of(x)] = row

    def reuses(self, node: int, x: Array) -> bool:
        """Whether the value at the centre of a node is known; the node is graded by it then."""
        facts = self._facts
        assert facts.tree is not None
        if facts.tree.uniform or facts.level is not None:
            return False
        if (key := key_of(x)) not in self._row_at:
            return False
        self.share(node, self._row_at[key])
        return True

    def share(self, node: int, row: int | None) -> None:
        """Grade a node by the value of another one; None if that failed."""
        self._again[node] = row
        self._grade_again([node])

    def tell(self, arrival: Arrival) -> None:
        """Grade the node of a value, and the others if that changes their grades."""
        facts = self._facts
        node, i, tree = arrival.node, arrival.row, facts.tree
        if tree is None or i is None or facts.several:
            return
        if facts.limits is not None and (arrival.better or facts.t >= self._next):
            self.renew()
        elif node is not None and (facts.noisy or facts.limits is not None):
            g = float(facts.known.means[i]) if facts.noisy else arrival.g[0]
            tree.set(node, self._graded(i, g), Status.EVALUATED)
        if facts.limits is not None and arrival.first:
            self.rebound()

    def _graded(self, i: int, g: float) -> float:
        """The grade of a node whose value, in the units of f_plus, is g."""
        facts = self._facts
        if facts.limits is None or (facts.known.met and facts.known.feasible[i]):
            return g
        missed = float(facts.known.missed[i])
        return min(g, facts.f_plus) - self.rho * missed if facts.known.met else -missed

    @property
    def rho(self) -> float:
        """The cost of missing a constraint by its median size: the spread of the values."""
        if not isinstance(self._facts.transform, Identity):
            return 1.0  # transformed values are standardised
        values = self._facts.known.values
        return max(deviation(values), 1e-12 * max(float(np.abs(values).max()), 1e-300))

    def renew(self) -> None:
        """Recompute all grades, which depend on f_plus and on the constraints' scales."""
        facts = self._facts
        if facts.tree is None or facts.several:
            return
        self._next = facts.t + facts.t // 4 + 1
        g = self._beliefs.g()
        if facts.limits is not None:
            missed, met = facts.known.missed, facts.known.met
            graded = np.minimum(g, facts.f_plus) - self.rho * missed if met else -missed
            g = np.where(facts.known.feasible & met, g, graded)
        for node, each in zip(facts.known.nodes.tolist(), g.tolist(), strict=True):
            if node >= 0:
                facts.tree.set(node, each, Status.EVALUATED)
        self._grade_again(list(self._again))

    def _grade_again(self, nodes: list[int]) -> None:
        """Grade nodes that reuse the value of another node with the same centre."""
        facts = self._facts
        assert facts.tree is not None
        for node in nodes:
            if (i := self._again[node]) is None:
                facts.tree.set(node, -inf, Status.FAILED)
                continue
            g = float(self._beliefs.g()[i])
            facts.tree.set(node, self._graded(i, g), Status.EVALUATED)

    def rows_of_nodes(self) -> dict[int, int]:
        """The row of each node that has a value, also of one that shares the point of another."""
        facts = self._facts
        assert facts.tree is not None
        found = {node: i for i, node in enumerate(facts.known.nodes.tolist()) if node >= 0}
        found |= {node: i for node, i in self._again.items() if i is not None}
        for node in list(found):
            while (heir := facts.tree.heir(node)) >= 0:
                found[heir] = found[node]
                node = heir
        return found

    def ahead(self, X: Array) -> Ahead:
        """What the models of the measured constraints say about the rows of X."""
        return Ahead(self._facts, self, X)

    def rebound(self) -> None:
        """Recompute the bounds of the leaves that have no value, if there is a GP."""
        facts = self._facts
        tree, gp = facts.tree, facts.gp
        if tree is None or gp is None or facts.several:
            return
        bounded = [
            node
            for node in tree.leaves()
            if tree.status_of(node) in (Status.REJECTED, Status.PENDING, Status.FAILED)
        ]
        for i in range(0, len(bounded), BLOCK):
            some = bounded[i : i + BLOCK]
            mu, sigma = gp.posterior(tree.x[some])
            ahead, lcb = self.ahead(tree.x[some]), (mu - self.width * sigma).tolist()
            for j, node in enumerate(some):
                tree.set(node, ahead.grade(j, lcb[j]), tree.status_of(node))
