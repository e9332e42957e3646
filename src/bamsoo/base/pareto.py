"""Fronts and hypervolumes, for values of which larger ones are better.

A point dominates another one if it is at least as good in every objective and better in one. The
front consists of the points that no other point dominates. Its hypervolume is the volume of what it
dominates, down to a reference point. Everything here is exact, in any number of objectives; the
time is meant for up to four.
"""

from math import inf, isfinite
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .typing import Array


def non_dominated(Y: Array) -> NDArray[np.bool_]:
    """Whether each row of `Y` is not dominated by another one; equal rows do not dominate."""
    on_front = np.ones(len(Y), dtype=bool)
    # the sum falls from a point to those that it dominates, so only earlier rows can dominate
    with np.errstate(over="ignore"):
        order = np.lexsort((*Y.T[::-1], Y.sum(1)))[::-1]
    kept, count = np.empty_like(Y), 0
    for i in order.tolist():
        on_front[i] = not dominates(kept[:count], Y[i]).any()
        if on_front[i]:
            kept[count] = Y[i]
            count += 1
    return on_front


def dominates(one: Array, other: Array) -> NDArray[np.bool_]:
    """Whether each row of one dominates the other, or that of the other."""
    return np.asarray((one >= other).all(-1) & (one > other).any(-1))


def hypervolume(Y: Array, reference: Array) -> float:
    """The volume that the rows of `Y` dominate above the reference point; inf if it overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        volume = _hypervolume(Y, reference)
        if isfinite(volume):
            return volume
        # A side or a slab has overflowed, and inf times 0 is nan. In other units none does.
        powers = np.frexp(np.abs(np.vstack([Y, reference])).max(0))[1] + 1
        units = np.exp2(-powers.astype(float))
        return float(np.ldexp(_hypervolume(Y * units, reference * units), int(powers.sum())))


def _hypervolume(Y: Array, reference: Array) -> float:
    Y = Y[(reference < Y).all(1)]
    if not len(Y):
        return 0.0
    if Y.shape[1] == 1:
        return float(Y.max() - reference[0])
    if Y.shape[1] == 2:
        Y = Y[np.lexsort((Y[:, 1], Y[:, 0]))[::-1]]
        height = np.maximum.accumulate(Y[:, 1])
        below = np.append(Y[1:, 0], reference[0])
        return float(((Y[:, 0] - below) * (height - reference[1])).sum())
    total, last = 0.0, Y[:, -1]
    levels = np.unique(last)[::-1]
    for top, bottom in zip(levels, [*levels[1:], reference[-1]], strict=True):
        total += float(top - bottom) * _hypervolume(Y[last >= top, :-1], reference[:-1])
    return total


def boxes(Y: Array, reference: Array) -> tuple[Array, Array]:
    """Disjoint boxes that fill what the rows of `Y` do not dominate above the reference point.

    Returns their lower and upper corners. Upper coordinates may be inf.
    """
    Y = Y[(reference < Y).all(1)]
    found = _boxes(Y[non_dominated(Y)], reference.tolist())
    both = np.array(found).reshape(len(found), 2, len(reference))
    return both[:, 0], both[:, 1]


def more_volume(Y: Array, low: Array, high: Array) -> Array:
    """What each row of `Y` alone would add to the hypervolume, given the `boxes` of the front."""
    total = np.ones((len(Y), len(low)))
    for j in range(Y.shape[1]):
        total *= np.maximum(np.minimum(Y[:, j, None], high[:, j]) - low[:, j], 0.0)
    return np.asarray(total.sum(1))


Corners: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]


def _boxes(Y: Array, reference: list[float]) -> list[Corners]:
    if len(reference) == 2:
        order = np.lexsort((Y[:, 1], Y[:, 0]))[::-1]
        right, above = inf, reference[1]
        strips: list[Corners] = []
        for x, y in Y[order].tolist():
            if y > above:
                strips.append(((x, above), (right, inf)))
                right, above = x, y
        return [*strips, ((reference[0], above), (right, inf))]
    # From the top down, one more point begins to dominate at each level of the last objective. A
    # box of the other objectives that does not change from one slab to the next is one box.
    last = Y[:, -1]
    levels = [inf, *np.unique(last)[::-1].tolist(), reference[-1]]
    done: list[Corners] = []
    begun: dict[Corners, float] = {}
    for k in range(len(levels) - 1):
        slab = _boxes(Y[last >= levels[k], :-1], reference[:-1])
        present = set(slab)
        for box in [each for each in begun if each not in present]:
            (low, high), top = box, begun.pop(box)
            done.append(((*low, levels[k]), (*high, top)))
        for box in slab:
            begun.setdefault(box, levels[k])
    for (low, high), top in begun.items():
        done.append(((*low, reference[-1]), (*high, top)))
    return done


def growth(Y: Array, reference: Array) -> Array:
    """The hypervolume of the first rows of `Y`, for each number of rows; nan rows add nothing."""
    volumes, front = np.zeros(len(Y)), np.empty((0, Y.shape[1]))
    for i, y in enumerate(Y):
        volumes[i] = volumes[i - 1] if i else 0.0
        if (longer := joined(front, y)) is not None:
            front = longer
            volumes[i] = hypervolume(front, reference)
    return volumes


def joined(front: Array, y: Array) -> Array | None:
    """A front with one more point; None if the point is dominated, is there already, or is nan."""
    if not np.isfinite(y).all() or (front >= y).all(1).any():
        return None
    return np.vstack([front[~(front <= y).all(1)], y])


BEYOND = 0.1
"""A reference point is this share of the range of each objective beyond the worst value. With 0,
the points at the ends of a front would have no share of its hypervolume; with a large share, they
would have most of it."""


def reference_of(Y: Array) -> Array:
    """The worst value of each objective in `Y`, moved out by `BEYOND` of the range of its values.

    An objective whose values are all equal is moved out by that share of their size, or of 1.
    """
    low, high = Y.min(0), Y.max(0)
    with np.errstate(over="ignore"):
        away = np.where(high > low, high - low, np.where(low == 0.0, 1.0, np.abs(low)))
        reference: Array = np.maximum(low - BEYOND * away, -np.finfo(float).max)
    return reference


def compromise(Y: Array) -> int:
    """The row of a front that dominates the most, above the worst values of the front itself.

    What a row dominates *alone* would not do: among rows that are nearly equal, that is next to
    nothing for each of them, so an end of the front would be chosen. If every row is at an end, a
    reference beyond the worst values decides.
    """
    best = Y.max(0)
    inside, more = (scaled(Y, each, best).prod(axis=1) for each in (Y.min(0), reference_of(Y)))
    return int(np.lexsort((-more, -inside))[0])


FURTHEST = 1e60
"""The largest scaled value; the product of four of them is still a float."""


def scaled(Y: Array, reference: Array, top: Array) -> Array:
    """The rows of `Y` in units of the way from the reference point, which becomes 0, to `top`.

    Hypervolumes of scaled values do not overflow, whatever the size of the values.
    """
    way = np.maximum(0.5 * top - 0.5 * reference, 1e-300)  # halves, whose difference is a float
    with np.errstate(over="ignore"):
        return np.asarray(np.clip((0.5 * Y - 0.5 * reference) / way, -FURTHEST, FURTHEST))
