r"""How much a point may add to the hypervolume of the front.

The values of a point under independent Gaussian posteriors are random. The expected improvement of
the hypervolume is an integral over what the front does not dominate, which is a union of disjoint
boxes (`bamsoo.pareto.boxes`), of the probability that the point dominates a vector z there:

.. math::
    \sum_{\text{boxes}} \prod_j \int_{l_j}^{u_j} P(y_j > z_j)\,dz_j, \qquad
    \int_a^\infty P(y > z)\,dz = \sigma\,(u\,\Phi(u) + \phi(u)), \quad u = \frac{\mu - a}{\sigma}.

It is exact in the units of the GPs. If the GP of an objective sees transformed values, volume is
still measured in the units of the values: between two neighbouring values of the front the
transform is taken as linear, and beyond the best one it continues with its slope there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from ...base.pareto import boxes, more_volume
from ...base.typing import Array
from ...model.warp import Transform

_FAR = sqrt(-2.0 * log(np.finfo(float).tiny))  # the density of this many sigmas is still a float


def excess(u: Array) -> Array:
    r"""The expected excess :math:`u\,\Phi(u) + \phi(u)` of a normal variable with mean u over 0."""
    from scipy.special import ndtr  # takes long to load

    density = np.exp(-0.5 * np.clip(u, -_FAR, _FAR) ** 2) / sqrt(2.0 * pi)
    return np.asarray(np.maximum(u * ndtr(u) + density, 0.0))


@dataclass(frozen=True)
class BoxLevels:
    """One objective of the boxes: the levels at which they begin and end."""

    levels: Array
    """In the units of the GP, in ascending order."""
    slopes: Array
    """The size of a unit of the GP in the units in which volume is measured, above each level."""
    low: NDArray[np.intp]
    """For each box, the index of the level at which it begins."""
    high: NDArray[np.intp]
    """For each box, the index of the level at which it ends; the number of levels for inf."""

    def sides(self, mu: Array, sigma: Array) -> Array:
        """The integral over the side of each box, one row per point."""
        psi = sigma[:, None] * excess((mu[:, None] - self.levels) / sigma[:, None])
        parts = psi.copy()
        parts[:, :-1] -= psi[:, 1:]
        parts *= self.slopes
        above = np.zeros((len(mu), len(self.levels) + 1))
        above[:, :-1] = np.cumsum(parts[:, ::-1], axis=1)[:, ::-1]
        return np.asarray(above[:, self.low] - above[:, self.high])


class Gain:
    """What points may add to a front.

    Parameters
    ----------
    front : array
        The values of the front, of which larger ones are better, one row per point.
    reference : array
        The point above which volume counts.
    transforms : sequence of Transform
        Of each objective, from values to the units of its GP.
    """

    def __init__(self, front: Array, reference: Array, transforms: Sequence[Transform]) -> None:
        self.reference, self._transforms = reference, transforms
        low, high = boxes(front, reference)
        self._low, self._high = low, high
        self._top = np.maximum(front.max(0, initial=-np.inf), reference)
        self._size = np.maximum(self._top - reference, 1e-300)
        self._axes = [self._axis(j, low[:, j], high[:, j]) for j in range(len(reference))]

    def _axis(self, j: int, low: Array, high: Array) -> BoxLevels:
        values = np.unique(np.concatenate([low, high[np.isfinite(high)]]))
        transform = self._transforms[j]
        levels = np.array([transform(value) for value in values.tolist()])
        # the slope beyond the best value is that of a short piece below it
        piece = max(1e-3 * float(self._size[j]), 1e-12 * abs(float(values[-1])), 1e-300)
        begin = transform(float(values[-1]) - piece)
        widths = np.append(np.diff(values), piece) / self._size[j]
        rises = np.maximum(np.append(np.diff(levels), levels[-1] - begin), 1e-12)
        # values end below inf, so that inf is sorted behind all of them
        begins, ends = np.searchsorted(values, low), np.searchsorted(values, high)
        return BoxLevels(levels, widths / rises, begins, ends)

    def expected(self, mu: Array, sigma: Array) -> Array:
        """The expected improvement at points whose posteriors are the rows of `mu` and `sigma`.

        It is a share of the volume between the reference and the best value of each objective. If
        it underflows everywhere, it is the improvement by values of five sigmas more.
        """
        parts = np.ones((len(mu), len(self._low)))
        for j, axis in enumerate(self._axes):
            parts *= axis.sides(mu[:, j], np.maximum(sigma[:, j], 1e-12))
        total = np.asarray(parts.sum(1))
        if not total.max(initial=0.0) > 1e-200:
            return self.of(mu + 5.0 * sigma) + 1e-300
        return total

    def of(self, bounds: Array, tolerance: float = 0.0) -> Array:
        """The improvement if points had these values, in the units of the GPs, for certain.

        They are first made worse by `tolerance`, a share of the range of each objective.
        """
        columns = zip(self._transforms, bounds.T, strict=True)
        Y = np.stack([transform.inverse(column) for transform, column in columns], axis=1)
        return self.of_values(Y, tolerance)

    def of_values(self, Y: Array, tolerance: float = 0.0) -> Array:
        """The same for values in their own units."""
        Y = Y / self._size - tolerance
        return more_volume(Y, self._low / self._size, self._high / self._size)
