"""Whether values look as if they were measured with noise, though nobody has said so.

The closer two points are, the less the values of a function differ. Noise makes values differ
however close their points are. A search that closes in on a point gives many pairs of neighbours at
distances of several orders of magnitude, so the rank correlation between distance and difference
tells the two apart, whatever the scale of the values and however long the tails of the noise.
"""

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from .._typing import Array
from ..space.axes import Domain

MOST = 1000
"""Values that are looked at, the latest ones: the cost grows with the square."""

FEWEST = 25
"""Pairs of neighbours below which nothing is said."""

CHANCE = 2.33
"""Deviations of a rank correlation between unrelated numbers: it is larger in 1 of 100 cases."""

SMALLEST = 0.01
"""Noise is heavy where close neighbours differ by this share of the middle half of all values."""

CLOSE = 0.02
"""One pair in ten must be closer than this share of the spacing that as many points have on a grid.
Else the search has closed in on nothing, and a rugged function looks like noise from afar."""

TIES = 0.05
"""With a larger share of neighbours that have the same value, it is a function with steps."""


def looks_noisy(domain: Domain, X: Array, values: Array) -> bool:
    """Whether the values of close neighbours differ as much as noise would make them.

    Pairs of neighbours differ along real axes alone. Of all pairs the closer half is looked at, and
    it must show no relation between how far points are apart and how much their values differ.

    Parameters
    ----------
    domain : Domain
    X, values : array
        Points of the unit cube, and what was measured there.
    """
    X, values = X[-MOST:], values[-MOST:]
    if len(values) < FEWEST or not domain.continuous:
        return False
    first, second, distances = _neighbours(domain, X)
    closest = np.argsort(distances, kind="stable")[: max(len(distances) // 2, FEWEST)]
    if len(closest) < FEWEST:
        return False
    size = max(float(np.abs(values).max()), 1e-300)
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
    """Each point with the one nearest to it along real axes: their indices, and how far apart."""
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
    """Spearman's: the correlation of the ranks."""
    ranks = [np.argsort(np.argsort(each, kind="stable"), kind="stable") for each in (a, b)]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])
