"""Smooth models of measured constraints around the best point.

Each is a cubic radial basis function with a linear trend, through the points nearest to the best
one. The coefficients of all models come from one factorisation.

The models see a number y as y / size or as asinh(y / size), whichever predicts better at points
that are left out. The second scale is linear near the boundary of a constraint, where precision
matters, and logarithmic where the constraint is violated by far.
"""

from typing import NamedTuple

import numpy as np

from ...base.typing import Array

_LEAST = 1e-13  # of the system's eigenvalues, as a share of the largest; others count as 0
_LARGEST = 100.0  # of a logarithm, so that its exponential and the products of two are finite


class ValueScale(NamedTuple):
    """How the values of a function are seen: in units of their typical size, perhaps as logarithms.

    The logarithmic scale is linear near 0.
    """

    size: float
    bent: bool

    def __call__(self, value: float) -> float:
        """A value on this scale."""
        return float(np.arcsinh(value / self.size) if self.bent else value / self.size)


class Cubic:
    r"""Cubic radial basis functions with a linear trend, one for each column of values.

    :math:`s(z) = \sum_i \lambda_i |z - z_i|^3 + b + c^T z`, where z is measured from the centre, in
    units in which the largest coordinate of any point is 1.
    """

    def __init__(self, Z: Array, Y: Array, centre: Array, scales: Array) -> None:
        self._centre = centre
        self._unit = scales * max(float((np.abs(Z - centre) / scales).max()), 1e-12)
        self._Z = (Z - centre) / self._unit
        count, dim = self._Z.shape
        apart = self._Z[:, None] - self._Z[None]
        r = np.sqrt((apart**2).sum(-1))
        trend = np.column_stack([np.ones(count), self._Z])
        system = np.zeros((count + dim + 1, count + dim + 1))
        system[:count, :count] = r**3
        system[:count, count:], system[count:, :count] = trend, trend.T
        sides = np.vstack([Y, np.zeros((dim + 1, Y.shape[1]))])
        # the pseudo-inverse, since there may be too few points, or all may lie in a plane
        values, vectors = np.linalg.eigh(system)
        kept = np.abs(values) > _LEAST * np.abs(values).max()
        inverse = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
        solved = inverse @ sides
        self._lambda, self._b, self._c = solved[:count], solved[count], solved[count + 1 :]
        self._diagonal, self._Y = inverse.diagonal()[:count], Y

    def left_out(self) -> Array:
        """The predictions at each point by models that do not know that point's values."""
        own = np.where(self._diagonal == 0.0, 1.0, self._diagonal)
        found: Array = self._Y - self._lambda / own[:, None]
        return found

    def keep(self, columns: Array) -> None:
        """Drop all functions but these."""
        self._lambda, self._b, self._c = (
            self._lambda[:, columns], self._b[columns], self._c[:, columns]
        )  # fmt: skip

    def values(self, z: Array) -> Array:
        """The value of each function at a point."""
        z = (z - self._centre) / self._unit
        r = np.sqrt(((z - self._Z) ** 2).sum(1))
        found: Array = r**3 @ self._lambda + self._b + z @ self._c
        return found

    def derivatives(self, z: Array, weights: Array) -> tuple[Array, Array, Array]:
        """The value and the gradient of each function at a point, and a sum of Hessians.

        There is one row per gradient. The Hessians are multiplied by the weights.
        """
        z = (z - self._centre) / self._unit
        apart = z - self._Z
        r = np.sqrt(np.einsum("ij,ij->i", apart, apart))
        values = r**3 @ self._lambda + self._b + z @ self._c
        slopes = 3.0 * (self._lambda.T * r) @ apart + self._c.T
        curved = 3.0 * (self._lambda @ weights)
        hessian = (apart.T * (curved / np.maximum(r, 1e-300))) @ apart
        hessian.flat[:: len(z) + 1] += curved @ r
        return values, slopes / self._unit, hessian / (self._unit * self._unit[:, None])


def fitted(
    Z: Array, values: list[Array], centre: Array, scales: Array
) -> tuple[Cubic, list[ValueScale]]:
    """Models of several functions, and the scale on which each of them is modelled.

    A logarithmic scale tames constraints that grow steeply, but bends those that are linear. So
    each function has the scale on which it is predicted better at points left out. Errors are
    compared in logarithmic units, in which they count most where a constraint is nearly met.
    """
    sizes = [_size(each) for each in values]
    bent = np.column_stack([_bent(v, size) for v, size in zip(values, sizes, strict=True)])
    plain = np.sinh(np.minimum(bent, _LARGEST))
    models = Cubic(Z, np.hstack([bent, plain]), centre, scales)
    of_bent, of_plain = np.hsplit(models.left_out(), 2)
    errors = [np.median(np.abs(y - bent), axis=0) for y in (of_bent, np.arcsinh(of_plain))]
    linear = errors[1] < errors[0]
    models.keep(np.arange(len(sizes)) + len(sizes) * linear)
    return models, [
        ValueScale(size, not straight) for size, straight in zip(sizes, linear, strict=True)
    ]


def _size(values: Array) -> float:
    """The median size of the numbers, without those that are 0 or not finite."""
    sizes = np.abs(values[np.isfinite(values) & (values != 0.0)])
    return max(float(np.median(sizes)), 1e-300) if len(sizes) else 1.0


def _bent(values: Array, size: float) -> Array:
    """The values, linear near 0 and logarithmic beyond `size`.

    One that is not finite counts as the largest of the others, and as 1 at least.
    """
    bent = np.arcsinh(values / size)
    finite = np.isfinite(bent)
    worst = float(bent[finite].max(initial=1.0))
    return np.asarray(np.where(finite, bent, max(worst, 1.0)))
