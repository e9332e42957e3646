"""The first points of a search, and options that none of its points has."""

import numpy as np

from ...base.typing import Array
from ...space.axes import Domain
from ..book import Book
from ..tree import Tree

_MOST_OPTIONS = 12  # a parameter with hundreds of options would use up the budget with its design


def untried(tree: Tree, parent: int, child: int, book: Book) -> bool:
    """Whether the split that made a cell left it with options that no evaluated point has.

    Only options on which other axes depend count. The model knows nothing about axes that exist at
    no evaluated point, so its bounds must not decide whether such a cell is evaluated.
    """
    for a in tree.domain.opening:
        low, high = float(tree.low[child, a]), float(tree.high[child, a])
        if (low, high) != (float(tree.low[parent, a]), float(tree.high[parent, a])):
            tried = book.known.X
            there = tree.domain.exists(tried)[:, a]
            return not bool((there & (low <= tried[:, a]) & (tried[:, a] <= high)).any())
    return False


def design(domain: Domain, rng: np.random.Generator, least: int = 0) -> Array:
    """The points of a Latin hypercube: along each axis, one point in each of n equal parts.

    There are half as many points as axes, and two more: climbs and candidates then begin early
    enough to learn along which axes values change. With conditions there are as many points as axes
    that exist together, so that each option with parameters has some. There are more if a parameter
    has more options (up to 12) or if `least` is larger. An axis that exists only with some options
    is divided among the points that have these options. Options on which other axes depend take
    turns. A point that violates a known constraint is replaced by an allowed one near it, or left
    out if none is found.
    """
    options = {i: axis for i, axis in domain.discrete if not axis.ordered}
    usual = domain.most_axes if domain.conditional else domain.dim // 2 + 2
    count = max([least, usual, *(min(axis.count, _MOST_OPTIONS) for axis in options.values())])
    strata = np.array([rng.permutation(count) for _ in range(domain.dim)]).T
    inside = rng.random(strata.shape)
    points: Array = (strata + inside) / count
    for i in range(domain.dim if domain.conditional else 0):
        have = np.flatnonzero(domain.exists(points)[:, i])
        ranks = strata[have, i].argsort().argsort()
        points[have, i] = (ranks + inside[have, i]) / max(len(have), 1)
        if i in domain.opening and len(have) >= (axis := options[i]).count:
            points[have, i] = [axis.centre(rank % axis.count) for rank in ranks.tolist()]
    found = [x for x in map(domain.near, points) if x is not None]
    return np.array(found).reshape(-1, domain.dim)
