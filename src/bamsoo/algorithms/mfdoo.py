r"""MFDOO (Sen, Kandasamy and Shakkottai, 2018): DOO with cheap versions of the function.

"The paper" in this module is that one. Like DOO, it has to know how smooth the function is:
:math:`f(x^*) - f(x) \le \nu\rho^h` for the points of the cell of depth h that holds x^*. It also
has to know how far a cheap version may be off: :math:`|f_z(x) - f(x)| \le \zeta(z)`.
"""

from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from ..base.checks import check_between
from ..space.axes import Domain
from ..space.point import key_of
from .algorithm import Algorithm
from .attempts import Climbs
from .book import Book, leftovers
from .search import PROMOTED, Search, Waiting
from .tree import Status, Tree


@dataclass(frozen=True)
class MFDOO(Algorithm):
    """Settings of MFDOO.

    Parameters
    ----------
    nu, rho : float, default 1.0 and 0.95
        A value in a cell of depth h that holds the best point is below the best value by at most
        nu rho^h, in the units of the values.
    bias : float, default 1.0
        The largest difference of the cheapest version from the top, in the units of the values. The
        bound zeta(z) falls linearly from there to 0 at the top, on the scale of the `Fidelity`.
    k : int, default 2
        The number of children of a node, K in the paper.
    budget : int, optional
        The number of full evaluations to plan for; `minimize` fills in its own budget. The last one
        is for the best point at the top. When it has been used up, the budget is doubled.
    """

    takes_fidelity: ClassVar[bool] = True
    plans: ClassVar[bool] = True

    nu: float = 1.0
    rho: float = 0.95
    bias: float = 1.0
    k: int = 2
    budget: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_between("MFDOO", "nu", self.nu, 0.0)
        check_between("MFDOO", "rho", self.rho, 0.0, 1.0)
        check_between("MFDOO", "bias", self.bias, 0.0)

    def start(self, domain: Domain, rng: np.random.Generator, book: Book) -> Search:
        return mfdoo(self, float(self.own_budget()), Tree(domain, self.k), book)


def mfdoo(settings: MFDOO, Lambda: float, tree: Tree, book: Book) -> Search:
    """MFDOO: expand the leaf with the highest b = f_z(x_{h,j}) + nu rho^h + zeta(z), z = z_h.

    z_h is the cheapest level with zeta(z) <= nu rho^h. Without a fidelity there is one level, the
    top. The lower bounds f_z - zeta decide which point is evaluated at the top in the end.
    """
    book.begin(tree)
    fidelity = book.fidelity
    levels = [None] if fidelity is None else list(fidelity.levels)
    costs = [1.0] if fidelity is None else [fidelity.cost_of(z) for z in fidelity.levels]
    zeta = [0.0] if fidelity is None else [
        settings.bias * (1.0 - fidelity.place(z)) for z in fidelity.levels
    ]  # fmt: skip
    top = len(levels) - 1
    at_top: set[bytes] = set()
    spent = book.spent
    climbs = Climbs(len(levels))  # not in the paper: points may fail at a level only

    def diameter(h: int) -> float:
        return float(settings.nu * settings.rho**h)

    def z(node: int) -> int:
        within = diameter(tree.depth[node])
        return next(i for i in climbs.usable(node) if zeta[i] <= within)  # that of the top is 0

    def upper_bound(leaf: int) -> float:
        return tree.g[leaf] + diameter(tree.depth[leaf]) + zeta[z(leaf)]

    def best_below_top() -> int | None:
        """The node with the highest lower bound that was not evaluated at the top."""
        found, highest = None, -inf
        for node in range(len(tree)):
            i = z(node)
            low = tree.g[node] - zeta[i]
            below = i < top and tree.status_of(node) == Status.EVALUATED
            if below and low > highest and key_of(tree.centre(node)) not in at_top:
                found, highest = node, low
        return found

    def ask_at(i: int, node: int) -> None:
        nonlocal spent
        book.level = levels[i]
        spent += costs[i]
        if i == top:
            at_top.add(key_of(tree.centre(node)))

    def judge(node: int) -> Waiting:
        ask_at(top, node)
        yield from book.evaluate_point(tree.centre(node), PROMOTED)

    def query(node: int) -> Waiting:
        nonlocal Lambda
        i = z(node)
        if i < top and spent + costs[i] + costs[top] > Lambda:  # the last evaluation is at the top
            Lambda *= 2.0
            if (best := best_below_top()) is not None:
                yield from judge(best)
            elif not at_top:  # nothing has a value yet
                i = top
        ask_at(i, node)
        climbs.expect(node, i)
        yield from book.evaluate(node)

    def rise() -> Waiting:
        while (node := climbs.fallen(tree)) is not None:
            yield from query(node)

    yield from query(0)
    yield from rise()
    while leaves := tree.cuttable():
        leaf = max(leaves, key=upper_bound)
        for child in tree.split(leaf):
            # the middle child of an odd k has its parent's point, but may need a better version
            if tree.is_new(child) or z(child) > z(leaf):
                yield from query(child)
        yield from rise()
        book.n += 1
    while (best := best_below_top()) is not None:  # the cells of a finite space are used up
        yield from judge(best)
    return (yield from leftovers(tree, book))
