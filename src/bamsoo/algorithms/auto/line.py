r"""The search along one axis of a sum of functions of one parameter each.

What each coordinate of an axis contributes to the values is known exactly (see `axes`), so this is
the maximisation of a function :math:`g(u)` on [0, 1] from points and values. There are two kinds of
moves. One goes to the top of the parabola through the best coordinate and its neighbours. The other
looks for better places elsewhere, by the expected improvement under Gaussian processes.
"""

from dataclasses import dataclass
from math import copysign, inf, log
from typing import NamedTuple

import numpy as np

from ...base.typing import Array
from ...kernels import Matern52
from ...model.conditioned import stacked
from ..book import SAME
from .gain import excess

_LENGTHS: Array = np.geomspace(0.02, 2.0, 12)
"""The length-scales of the Gaussian processes, each with and without a quadratic trend. They are
weighted by how likely they are, which with few points is safer than choosing the most likely."""

_TYPICAL = 0.3  # the median of their prior, whose logarithm has a standard deviation of 1
_TREND = 100.0  # the variance of the trend, as a multiple of that of the process around it
_APART = 0.005  # between coordinates that are closer than this, only parabolas look
_NUGGET = 1e-9  # added to the diagonals; it is a share of the variance


@dataclass(frozen=True)
class LineConstants:
    """Constants of the search along one axis."""

    farthest: float = 2.0
    """The longest step beyond the known coordinates, as a multiple of the distance between the last
    two of them. With 0.5, it takes many steps to enclose the top."""

    closest: float = 0.1
    """The shortest step, as a share of the distance to the nearest known coordinate. The top of a
    parabola is known no better than that, and a shorter step would leave the interval wide."""

    doubt: float = 0.03
    """The error that a parabola is assumed to have, as a share of how much lower the nearest
    coordinates are. Without it, an axis whose parabola has its top at a known coordinate by chance
    would never be looked at again."""

    worth: float = 0.01
    """Expected improvements elsewhere are multiplied by this before they are compared with those of
    parabolas: a Gaussian process with few points expects too much, and a parabola is soon done.
    Those below `SAME` times the standard deviation along the axis count as none."""


class Line(NamedTuple):
    """What is known along one axis."""

    u: Array
    """The coordinates, in ascending order."""
    g: Array
    """What each contributes to the value."""


class Move(NamedTuple):
    """A move along an axis."""

    to: float
    """The coordinate to evaluate."""
    gain: float
    """The improvement that is expected, or at least possible."""
    top: float
    """The coordinate that is expected to be best, which may be known."""


def near(line: Line, constants: LineConstants) -> Move | None:
    """The move to the top of the parabola around the best coordinate; None at a face of the cube.

    If the best coordinate is the first or the last of at least two, the move may go beyond it.
    """
    u, g = line
    best, last = int(g.argmax()), len(u) - 1
    here, ahead = float(u[best]), 0.0
    if best in (0, last):
        beside = float(u[1 if best == 0 else last - 1]) - here
        ahead = min(max(-constants.farthest * beside, -here), 1.0 - here)
    if last == 1:  # two coordinates define a straight line only
        fall = float(np.ptp(g))
        if ahead == 0.0:
            return Move(here + 0.5 * beside, constants.doubt * fall, here)
        return Move(here + ahead, 0.5 * fall * abs(ahead / beside), here + ahead)
    middle = min(max(best, 1), last - 1)
    others = [i for i in (middle - 1, middle, middle + 1) if i != best]
    t, h = u[others] - here, g[others] - g[best]
    # g(here + s) - g(here) = slope s + bend s^2
    bend = float((h[1] / t[1] - h[0] / t[0]) / (t[1] - t[0]))
    slope = float(h[0] / t[0]) - bend * float(t[0])
    low, high = (float(t[0]), float(t[1])) if best == middle else sorted((beside, ahead))
    top = -0.5 * slope / bend if bend < 0.0 else copysign(inf, slope)
    top = to = min(max(top, low), high)
    least = constants.closest * float(np.abs(t).min())
    if abs(top) < least:
        if best != middle and ahead == 0.0:
            return None
        to = min(max(copysign(least, top), low), high)  # the end of the axis may be closer
    gain = max(slope * to + bend * to**2, 0.0) + constants.doubt * float(np.abs(h).min())
    return Move(here + to, gain, here + top)


def far(line: Line, constants: LineConstants) -> Move | None:
    """The move with the largest expected improvement away from the best coordinate, if any."""
    u, g = line
    best = int(g.argmax())
    ends = np.concatenate([[0.0], u, [1.0]])
    gaps = np.diff(ends)
    some = gaps > _APART
    some[[best, best + 1]] = False  # there the parabola looks
    places = ends[:-1][some, None] + gaps[some, None] * np.array([0.25, 0.5, 0.75])
    faces = [face for face in (0.0, 1.0) if face not in ends[1:-1]]
    at = np.concatenate([places.reshape(-1), faces])
    rows = well_apart(line, _APART)
    scale = float(g[rows].std())
    if len(rows) < 4 or not len(at) or scale == 0.0:
        return None
    gain = improvement(u[rows], (g[rows] - g[best]) / scale, at, float(u[best]))
    most = int(gain.argmax())
    if gain[most] < SAME:
        return None
    place = float(at[most])
    return Move(place, constants.worth * scale * float(gain[most]), place)


def well_apart(line: Line, least: float) -> list[int]:
    """The coordinates without those that are within `least` of a better one."""
    found: list[int] = []
    for i in np.argsort(-line.g, kind="stable").tolist():
        if (np.abs(line.u[found] - line.u[i]) >= least).all():
            found.append(i)
    return sorted(found)


def improvement(u: Array, y: Array, at: Array, centre: float) -> Array:
    """The expected improvement over 0 at places, averaged over Gaussian processes.

    Each has a constant mean and a variance that are the most likely ones given its length-scale.
    The quadratic trend is around `centre`.
    """
    n, count = len(u), len(_LENGTHS)
    every = np.concatenate([u, at])
    r2 = (u[:, None] - every) ** 2
    K = Matern52(1.0).of(r2[None] / _LENGTHS[:, None, None] ** 2)
    z = 2.0 * (every - centre)
    trend = _TREND * (z[:n, None] * z + z[:n, None] ** 2 * z**2)
    own = _TREND * (z[n:] ** 2 + z[n:] ** 4)
    K = np.concatenate([K, K + trend])
    own = 1.0 + np.repeat([np.zeros_like(own), own], count, axis=0)
    A = K[:, :, :n] + _NUGGET * np.eye(n)
    sides = np.broadcast_to(np.stack([y, np.ones(n)], axis=1), (2 * count, n, 2))
    solved, log_roots = stacked(A, np.concatenate([sides, K[:, :, n:]], axis=2))
    values, ones, k = solved[:, :, 0], solved[:, :, 1], solved[:, :, 2:]
    mean = (values * ones).sum(1) / (ones * ones).sum(1)
    errors = values - mean[:, None] * ones
    s2 = np.maximum((errors * errors).sum(1) / n, 1e-300)
    logs = -0.5 * n * np.log(s2) - log_roots
    logs -= 0.5 * np.tile((np.log(_LENGTHS) - log(_TYPICAL)) ** 2, 2)
    weights = np.exp(logs - logs.max())
    mu = mean[:, None] + np.einsum("mn,mnq->mq", errors, k)
    sigma = np.sqrt(s2[:, None] * np.maximum(own - (k * k).sum(1), _NUGGET))
    found: Array = weights @ (sigma * excess(mu / sigma)) / weights.sum()
    return found
