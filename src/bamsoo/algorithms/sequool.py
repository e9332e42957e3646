"""SequOOL, and StroquOOL for noisy values (Bartlett, Gabillon and Valko, 2019).

"The paper" in this module is that one.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from ..space.axes import Domain
from ..space.point import key_of
from .algorithm import Algorithm
from .book import Book, leftovers
from .estimates import Estimate
from .search import Search, Waiting
from .tree import Status, Tree


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

    def start(self, domain: Domain, rng: np.random.Generator, book: Book) -> Search:
        h_max = self.h_max
        if h_max is None:
            h_max = largest_h_max(lambda h_max: plan_cost(h_max, self.k), self.own_budget())
        return sequool(h_max, Tree(domain, self.k), book)


def plan_cost(h_max: int, k: int) -> int:
    """The evaluations of a whole plan, which opens at most floor(h_max / h) cells at depth h."""
    new = k - k % 2  # evaluations per opening: for an odd k, the middle child's value is known
    evaluations, cells = k, k
    for h in range(1, h_max + 1):
        openings = min(h_max // h, cells)
        evaluations, cells = evaluations + openings * new, openings * k
    return evaluations


def largest_h_max(cost: Callable[[int], int], budget: int) -> int:
    """The largest h_max whose plan costs at most the budget, or 1 if there is none.

    `cost` must never decrease as h_max grows.
    """
    low, high = 1, 2
    while cost(high) <= budget:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if cost(middle) <= budget else (low, middle)
    return low


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


@dataclass(frozen=True)
class StroquOOL(SequOOL):
    """Settings of StroquOOL, which are those of `SequOOL`.

    With an odd k, the middle child shares the evaluations of its parent. The paper's bound on
    h_max is floor(n / 2(1 + 1 + 1/2 + ... + 1/n)^2) here.
    """

    repeats: ClassVar[bool] = True

    def start(self, domain: Domain, rng: np.random.Generator, book: Book) -> Search:
        h_max = self.h_max
        if h_max is None:
            h_max = largest_h_max(lambda h_max: noisy_plan_cost(h_max, self.k), self.own_budget())
        return stroquool(h_max, Tree(domain, self.k), book)


def noisy_plan_cost(h_max: int, k: int) -> int:
    """The largest number of evaluations that a whole plan may take."""
    new = k - k % 2  # children to evaluate: for an odd k, the middle one shares its parent's centre
    evaluations, cells = k * h_max, k
    for h in range(1, h_max + 1):
        openings = min(h_max // h, cells)
        evaluations += new * sum(h_max // (h * m) for m in range(1, openings + 1))
        cells = openings * k
    return evaluations + h_max.bit_length() * h_max  # p_max + 1 = floor(log2(h_max)) + 1


def stroquool(h_max: int, tree: Tree, book: Book) -> Search:
    """StroquOOL. To open a cell m times means to evaluate each of its children m times.

    The paper's T(c), the number of evaluations of a cell, is `asked` of its estimate, and
    f_hat(c) is their mean.
    """
    book.begin(tree)
    estimates: dict[bytes, Estimate] = {}  # by point, because cells with the same centre share one
    children: dict[int, range] = {}
    cells: defaultdict[int, list[int]] = defaultdict(list)  # by depth

    def of(cell: int) -> Estimate:
        x = tree.centre(cell)
        return estimates.setdefault(key_of(x), Estimate(x))

    def barred(cell: int) -> bool:
        return tree.status_of(cell) == Status.BARRED

    def rank(cell: int) -> tuple[bool, float]:
        return not barred(cell), of(cell).mean

    def open_cell(cell: int, times: int) -> Waiting:
        if cell not in children:
            children[cell] = tree.split(cell)
            cells[tree.depth[cell] + 1] += children[cell]
            book.n += 1
        for child in children[cell]:
            # evaluations from an earlier plan count
            while of(child).asked < times and not barred(child):
                yield from book.sample(child, of(child))

    while True:
        before = book.asked, book.n
        yield from open_cell(0, h_max)
        for h in range(1, h_max + 1):  # exploration
            if not cells[h]:
                break
            opened: set[int] = set()
            for m in range(1, h_max // h + 1):
                times = h_max // (h * m)
                unopened = [c for c in cells[h] if c not in opened]
                ready = [c for c in unopened if barred(c) or of(c).asked >= times]
                if ready:
                    best = max(ready, key=rank)
                    opened.add(best)
                    yield from open_cell(best, times)
        finalists: list[tuple[int, Estimate]] = []
        for p in range(h_max.bit_length()):  # cross-validation, p from 0 to floor(log2(h_max))
            ready = [c for h in sorted(cells) for c in cells[h] if of(c).asked >= 2**p]
            best = max(ready or [0], key=rank)  # only the root, if the space has a single point
            if not barred(best):
                finalists.append((best, Estimate(tree.centre(best))))
        book.estimates.finalists = [estimate for _, estimate in finalists]
        for _ in range(h_max):
            for cell, estimate in finalists:
                yield from book.sample(cell, estimate)
        if tree.gave_up or before == (book.asked, book.n):
            return (yield from leftovers(tree, book))
        h_max *= 2
