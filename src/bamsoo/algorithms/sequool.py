"""SequOOL (Bartlett, Gabillon and Valko, 2019): the deterministic algorithm of that paper.

"The paper" in this module is that one.
"""

from collections import defaultdict
from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from ..checks import MOST_CHILDREN, check_whole
from ..space.axes import Domain
from .algorithm import Algorithm
from .book import Book, leftovers
from .planning import budget_of, check_budget, largest_h_max
from .search import Search, Waiting
from .tree import Tree


@dataclass(frozen=True)
class SequOOL(Algorithm):
    """Settings of SequOOL.

    Parameters
    ----------
    k : int, default 3
        The number of children of a node, K in the paper. With an odd k, the middle child costs no
        evaluation.
    h_max : int, optional
        The largest depth at which cells are opened. By default, as deep as the budget allows; the
        paper's bound, floor(n / (1 + 1/2 + ... + 1/n)) for n openings, is never larger.
    budget : int, optional
        The number of evaluations to plan for; `minimize` fills in its own budget. When it has been
        used up, h_max is doubled and the evaluations so far are kept.
    """

    plans: ClassVar[bool] = True

    k: int = 3
    h_max: int | None = None
    budget: int | None = None

    def __post_init__(self) -> None:
        check_whole("SequOOL", "k", self.k, 2, MOST_CHILDREN)
        check_budget("SequOOL", self.budget)
        if self.h_max is not None:
            check_whole("SequOOL", "h_max", self.h_max)

    def start(self, domain: Domain, rng: np.random.Generator, book: Book, sign: float) -> Search:
        """Begin a search."""
        h_max = self.h_max
        if h_max is None:
            budget = budget_of("SequOOL", self.budget)
            h_max = largest_h_max(lambda h_max: plan_cost(h_max, self.k), budget)
        return sequool(h_max, Tree(domain, self.k), book)


def plan_cost(h_max: int, k: int) -> int:
    """The evaluations of a whole plan, which opens at most floor(h_max / h) cells at depth h."""
    new = k - k % 2  # evaluations per opening: for an odd k, the middle child's value is known
    evaluations, cells = k, k
    for h in range(1, h_max + 1):
        openings = min(h_max // h, cells)
        evaluations, cells = evaluations + openings * new, openings * k
    return evaluations


def sequool(h_max: int, tree: Tree, book: Book) -> Search:
    """SequOOL: depth by depth, open the floor(h_max / h) cells with the largest f.

    To open a cell means to evaluate f at each of its children.
    """
    book.begin(tree)
    opened: defaultdict[int, list[int]] = defaultdict(list)  # by depth

    def open_cell(cell: int) -> Waiting:
        opened[tree.depth[cell]].append(cell)
        for child in tree.split(cell):
            if tree.is_new(child):
                yield from book.evaluate(child)
        book.n += 1

    yield from open_cell(0)
    if tree.deepest == 0:  # a space of one point
        yield from book.evaluate(0)
    while True:
        for h in range(1, h_max + 1):
            while h <= tree.deepest and (cell := tree.best_leaf(h)) is not None:
                # every cell with a larger f counts, including those opened by an earlier plan
                if sum(tree.g[other] >= tree.g[cell] for other in opened[h]) >= h_max // h:
                    break
                yield from open_cell(cell)
            if h >= tree.deepest:
                break
        if not any(True for _ in tree.sweep(inf)):
            return (yield from leftovers(tree, book))
        h_max *= 2
