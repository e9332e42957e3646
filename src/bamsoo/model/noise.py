"""Recognises values that look noisy although the caller has not said that they are.

The values of a function without noise differ less, the closer two points are to each other. With
noise, they differ however close the points are. A search that converges evaluates many pairs of
neighbours whose distances span several orders of magnitude, so the rank correlation between
distances and differences of values tells the two cases apart, whatever the scale of the values and
however long the tails of the noise.
"""

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from ..base.typing import Array
from ..space.axes import Domain
from .warp import size_of

MOST = 1000
"""The number of values that are examined, the latest ones. The time grows with its square."""

FEWEST = 25
"""The smallest number of pairs of neighbours from which a conclusion is drawn. With fewer, a rank
correlation says little."""

CHANCE = 2.33
"""Values count as noisy if the rank correlation is below this number of its standard deviations.
Between unrelated numbers it exceeds this in 1 of 100 cases, so that noise is rarely overlooked."""

SMALLEST = 0.01
"""Noise is ignored if the values of close neighbours typically differ by less than this share of
the interquartile range of all values: it would hardly disturb the search."""

CLOSE = 0.02
"""One pair in ten must be closer than this share of the spacing of a grid with as many points.
Otherwise the search has not converged anywhere, and at larger distances a rugged function cannot be
told from noise."""

TIES = 0.05
"""If a larger share of neighbours has equal values, the function has plateaus and is not noisy,
since two noisy values are hardly ever equal."""


def looks_noisy(domain: Domain, X: Array, values: Array) -> bool:
    """Whether the values look noisy.

    Neighbours are pairs of points that differ along continuous axes only. The values look noisy if,
    among the closer half of these pairs, the difference of two values is not related to the
    distance between their points.

    Parameters
    ----------
    domain : Domain
        The domain of the points.
    X, values : array
        Points of the unit cube and their values, in the order of evaluation.
    """
    X, values = X[-MOST:], values[-MOST:]
    if len(values) < FEWEST or not domain.continuous:
        return False
    first, second, distances = _neighbours(domain, X)
    closest = np.argsort(distances, kind="stable")[: max(len(distances) // 2, FEWEST)]
    if len(closest) < FEWEST:
        return False
    size = size_of(values)
    small = values / size
    apart = distances[closest]
    differences = np.abs(small[first[closest]] - small[second[closest]])
    low, high = np.quantile(small, [0.25, 0.75])
    if np.mean(differences == 0.0) > TIES:
        return False
    if np.quantile(apart, 0.1) > CLOSE * len(values) ** (-1.0 / len(domain.continuous)):
        return False
    if np.median(differences[: max(len(closest) // 2, 1)]) < SMALLEST * (high - low):
        return False
    return _rank_correlation(apart, differences) < CHANCE / sqrt(len(closest) - 1)


def _neighbours(domain: Domain, X: Array) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """Pair each point with the nearest one that differs from it along continuous axes only.

    Returns the indices of both points of each pair, and their distances.
    """
    rest = [i for i in range(domain.dim) if i not in domain.continuous]
    real = X[:, domain.continuous]
    pairs: dict[tuple[int, int], float] = {}
    for i in range(len(X)):
        apart = np.sqrt(((real - real[i]) ** 2).sum(axis=1))
        apart[(X[:, rest] != X[i, rest]).any(axis=1) | (apart == 0.0)] = np.inf
        nearest = int(apart.argmin())
        if np.isfinite(apart[nearest]):
            pairs[min(i, nearest), max(i, nearest)] = float(apart[nearest])
    both = np.array([*pairs], dtype=np.intp).reshape(-1, 2)
    return both[:, 0], both[:, 1], np.array([*pairs.values()])


def _rank_correlation(a: Array, b: Array) -> float:
    """Spearman's rank correlation of two arrays."""
    ranks = [np.argsort(np.argsort(each, kind="stable"), kind="stable") for each in (a, b)]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])
