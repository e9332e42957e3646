r"""An exact Gaussian process that grows by one point at a time.

Adding a point appends one row to the Cholesky factor in :math:`O(t^2)` operations, instead of
factoring the whole matrix again in :math:`O(t^3)`. The names below are used throughout:

======  ==================================================================  ========
name    meaning                                                             shape
======  ==================================================================  ========
t       number of rows: points whose values are known or pending            int
X       the points                                                          (t, D)
Z       their features in units of the length-scales, one row per axis      (D, t)
s       prior standard deviation; internally the unit of all values         float
L       Cholesky factor, :math:`K = s^2 L L^T`; stored as its transpose     (t, t)
z       whitened values, :math:`s L z = f - m`                              (t,)
V       whitened correlations, :math:`s^2 L V^T = k(X, x_{1:m})`            (m, t)
======  ==================================================================  ========

Given V, the posterior of Sec. 2 takes two operations:
:math:`\mu = m + s V z` and :math:`\sigma^2 = s^2 (1 - \sum V^2)`.

A point whose value is pending is a row like any other, since the factor does not depend on
values. Pending rows come after the known ones, and their whitened values are zero, so that they
reduce sigma and do not change mu.

Jitter: `JITTER` times the variance is added to the diagonal of K from the start, so that no
eigenvalue is lost to rounding, however close the points are to each other. If rounding still
makes a pivot smaller than the jitter, the pivot is set to the jitter, so the factorisation never
fails. (It would not be enough to raise small pivots: the factor of a few nearly coincident points
would then no longer bound sigma far away from them, and the whitened values would explode.)
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Protocol

import numpy as np
from scipy.linalg.lapack import dtrtrs

from ..base.typing import Array
from ..kernels import Kernel
from ..space.axes import Domain, cube
from .arcs import distances_of, slope_along_arc

JITTER = 1e-12
"""Added to the diagonal of K, as a share of the variance. Its square root, 1e-6, is the smallest
sigma that can be resolved, as a share of the prior deviation. A smaller value would be lost to
rounding, and a larger one would keep the GP from interpolating the values."""

_FEW = 6
"""Up to this number of right-hand sides, it is faster to solve for one at a time than for all of
them together."""

_HUGE = 1e280
"""Whitened values are limited to this size, so that their sums do not overflow."""


class Mean(Protocol):
    """What is expected before any value is known."""

    def at(self, X: Array) -> Array | float:
        """The prior mean at each row of `X`, or one number for all of them."""

    def slope(self, x: Array) -> Array | float:
        """Its gradient at a point, or one number for all axes."""


@dataclass(frozen=True)
class Constant:
    """The same mean everywhere."""

    value: float

    def at(self, X: Array) -> float:
        """The constant."""
        return self.value

    def slope(self, x: Array) -> float:
        """None."""
        return 0.0


class GP:
    """A Gaussian process with a given kernel and mean, with or without noise.

    Parameters
    ----------
    kernel : Kernel
        The covariance function.
    dim : int
        The number of coordinates of a point.
    mean : float or Mean, default 0.0
        The prior mean: a constant or a function.
    noise : float, default 0.0
        The variance of the noise in the values, which is added to the diagonal of K; 0 for a
        deterministic objective. `observe` may give a value a noise of its own instead.
    domain : Domain, optional
        The domain of the points, by default [0,1]^D. The GP sees the features of the points; see
        `Domain.features`.
    jitter : float, default 1e-12
        Added to the diagonal of K, as a share of the variance.

    Attributes
    ----------
    t : int
        The number of rows, known and pending.
    known : int
        The number of rows whose values are known. They come before the pending ones.
    keys : list
        The key of each row, by which the caller identifies it.
    """

    def __init__(
        self,
        kernel: Kernel,
        dim: int,
        mean: float | Mean = 0.0,
        noise: float = 0.0,
        domain: Domain | None = None,
        jitter: float = JITTER,
    ) -> None:
        self._jitter = jitter
        self.kernel, self.dim, self.noise = kernel, dim, noise
        self.mean: Mean = Constant(float(mean)) if isinstance(mean, (int, float)) else mean
        self._domain = cube(dim) if domain is None else domain
        self._unordered, self._arcs = self._domain.unordered, self._domain.arcs
        self._scale = 1.0 / kernel.lengths(dim)
        self._points: list[Array] = []
        self._correlation = type(kernel)(1.0)
        self._s = sqrt(kernel.variance)
        self._diagonal = 1.0 + jitter + noise / kernel.variance
        self._noises: list[float] = []
        self.t = 0
        self.known = 0
        self.keys: list[Hashable] = []
        self._values: list[float] = []
        self._order = 0  # incremented when rows are moved or removed, which makes V outdated
        self._alpha: Array | None = None
        self._Z: Array
        self._upper: Array
        self._z: Array
        self._allocate(64)

    def _allocate(self, capacity: int) -> None:
        Z, z = np.empty((len(self._scale), capacity)), np.zeros(capacity)
        # Column by column, so that a new row of L, a column of its transpose, is contiguous.
        upper = np.empty((capacity, capacity), order="F")
        if t := self.t:
            Z[:, :t], upper[:t, :t], z[:t] = self._Z[:, :t], self._upper[:t, :t], self._z[:t]
        self._Z, self._upper, self._z = Z, upper, z

    @property
    def X(self) -> Array:
        """The points, first the known ones and then the pending ones."""
        return np.array(self._points).reshape(-1, self.dim)

    def _seen(self, X: Array) -> Array:
        """The rows of `X` as the kernel sees them: features in units of the length-scales."""
        features = self._domain.features(X) if self._unordered else np.atleast_2d(X)
        return features * self._scale

    def _level(self, difference: Array) -> Array:
        """Convert differences of features to distances, along options and conditional axes.

        Both are in units of the length-scales, one row per axis. Two different options always have
        a distance of 1 before scaling. The array is changed in place.
        """
        for i in (*self._unordered, *self._arcs):
            difference[i] = self._distances(i, difference[i])
        return difference

    def _distances(self, i: int, difference: Array) -> Array:
        """The same for one axis, as a new array."""
        scale = float(self._scale[i])
        if i not in self._unordered and i not in self._arcs:
            return difference
        return distances_of(difference / scale, i in self._unordered) * scale

    @property
    def values(self) -> Array:
        """The values of the known points."""
        return np.array(self._values)

    @property
    def residuals(self) -> Array:
        """The values of the known points minus their prior means."""
        return self.values - self.mean.at(self.X[: self.known])

    def _mean_at(self, x: Array) -> float:
        """The prior mean at one point."""
        found = self.mean.at(np.reshape(x, (1, -1)))
        return found if isinstance(found, float) else float(found[0])

    @property
    def noises(self) -> Array:
        """The variance of the noise in each known value."""
        return np.array(self._noises)

    def correlations(self, X: Array, rows: int | None = None) -> Array:
        """Correlations of the m rows of `X` with the GP's first `rows` rows, shape (m, rows).

        By default with all rows of the GP.
        """
        t = self.t if rows is None else rows
        difference = self._level(self._Z[:, None, :t] - self._seen(X).T[:, :, None])
        difference *= difference
        return self._correlation.of(np.add.reduce(difference, axis=0))

    def whiten(self, K: Array) -> Array:
        """Apply L^-1 to each row of `K`, which must be C-contiguous and is overwritten."""
        if self.t == 0:
            return K
        factor, columns = self._upper[:, : self.t], K.T
        if len(K) > _FEW:
            return dtrtrs(factor, columns, trans=1, overwrite_b=1)[0].T  # type: ignore[no-any-return]
        for i in range(len(K)):
            dtrtrs(factor, columns[:, i : i + 1], trans=1, overwrite_b=1)
        return K

    def at(self, X: Array) -> "Posterior":
        """The posterior at the rows of `X`, as an object that stays current as the GP grows."""
        return Posterior(self, X)

    def posterior(self, X: Array) -> tuple[Array, Array]:
        """Posterior mu and sigma at the rows of `X`."""
        V = self.whiten(self.correlations(X))
        mu = self.mean.at(X) + self._s * (V[:, : self.known] @ self._z[: self.known])
        return mu, self._s * np.sqrt(np.maximum(1.0 - np.einsum("ij,ij->i", V, V), 0.0))

    def posterior_of_known(self, X: Array, known: int) -> tuple[Array, Array]:
        """Posterior mu and sigma at the rows of `X`, given only the first `known` values.

        The rows of known values do not change while the GP grows, so this may be called at any
        time, even while another thread adds to the GP.
        """
        if known == 0:
            return np.full(len(X), self.mean.at(X)), np.full(len(X), self._s)
        factor, z = self._upper, self._z
        V = dtrtrs(factor[:, :known], self.correlations(X, known).T, trans=1)[0]
        mu: Array = self.mean.at(X) + self._s * (z[:known] @ V)
        return mu, self._s * np.sqrt(np.maximum(1.0 - np.einsum("ij,ij->j", V, V), 0.0))

    def joint_of_known(self, X: Array, known: int) -> tuple[Array, Array]:
        """Posterior mu and covariances at the rows of `X`, given only the first `known` values."""
        seen = self._seen(X).T
        r2 = np.add.reduce(self._level(seen[:, :, None] - seen[:, None, :]) ** 2, axis=0)
        V = dtrtrs(self._upper[:, :known], self.correlations(X, known).T, trans=1)[0]
        mu: Array = self.mean.at(X) + self._s * (self._z[:known] @ V)
        return mu, self._s**2 * (self._correlation.of(r2) - V.T @ V)

    def squares(self, X: Array, axes: Sequence[int], known: int) -> Array:
        """Squared distances of the m rows of `X` from the first `known` rows along some axes.

        They are in units of the length-scales and summed over the axes; shape (m, known).
        """
        seen = self._seen(X)
        found = np.zeros((len(seen), known))
        for i in axes:
            found += self._distances(i, self._Z[i, :known] - seen[:, i, None]) ** 2
        return found

    def mean_at(self, X: Array, squares: Array) -> Array:
        """Posterior mu at the rows of `X`, given the values of some rows and the `squares` to them.

        The squares are those along all axes.
        """
        alpha = self._weights(squares.shape[1])
        return self.mean.at(X) + self._s * (self._correlation.of(squares) @ alpha)

    def _weights(self, known: int) -> Array:
        """L^-T z of the first `known` rows: mu is m + s times the correlations times this."""
        z = self._z[:known, None]
        return dtrtrs(self._upper[:known, :known], z, trans=0)[0][:, 0]  # type: ignore[no-any-return]

    def smoothed(self) -> Array:
        r"""Posterior mu at the known points, :math:`f_i - \nu_i (K^{-1}(f - m))_i`, in O(t^2)."""
        if self.known == 0:
            return self.values
        alpha = self._weights(self.known)
        with np.errstate(over="ignore"):  # the variance fitted to equal values is nearly 0
            nugget = self._jitter + np.minimum(self.noises / self.kernel.variance, _HUGE)
        return self.values - nugget * self._s * alpha

    def posterior_at(self, x: Array) -> tuple[float, float]:
        """Posterior mu and sigma at one point; sigma is at least what the jitter can resolve."""
        v = self.whiten(self.correlations(x))[0]
        mu = self._mean_at(x) + self._s * float(v[: self.known] @ self._z[: self.known])
        return mu, self._s * sqrt(max(1.0 - float(v @ v), self._jitter))

    def gradient(self, x: Array) -> tuple[float, float, Array, Array]:
        """Posterior mu, sigma (as in `posterior_at`) and their gradients at one point."""
        plain = self._seen(x).T - self._Z[:, : self.t]
        difference = self._level(plain.copy())
        r2 = (difference**2).sum(0)
        for i in self._arcs:
            difference[i] = slope_along_arc(plain[i] / self._scale[i]) * self._scale[i]
        factor = self._upper[:, : self.t]
        v = dtrtrs(factor, self._correlation.of(r2)[:, None], trans=1)[0]
        if self._alpha is None:
            z = self._z[: self.t].copy()
            z[self.known :] = 0.0
            self._alpha = dtrtrs(factor, z[:, None], trans=0)[0][:, 0]
        mu = self._mean_at(x) + self._s * float(v[: self.known, 0] @ self._z[: self.known])
        root = sqrt(max(1.0 - float(v[:, 0] @ v[:, 0]), self._jitter))
        dk = (2.0 * self._scale[:, None] * difference) * self._correlation.slope(r2)
        w = dtrtrs(factor, v, trans=0)[0][:, 0]
        d_mu = self.mean.slope(x) + self._s * (dk @ self._alpha)
        d_sigma = -self._s / root * (dk @ w)
        d_mu[self._unordered] = d_sigma[self._unordered] = 0.0
        if self._domain.conditional:
            absent = ~self._domain.exists(np.reshape(x, -1))
            d_mu[absent] = d_sigma[absent] = 0.0
        return mu, self._s * root, d_mu, d_sigma

    def expect(self, key: Hashable, x: Array) -> None:
        """Append a row for a point whose value is pending, in O(t^2)."""
        self._append(key, self.whiten(self.correlations(x))[0], x)

    def _append(self, key: Hashable, v: Array, x: Array) -> None:
        """Append a row, given v with L v = k: [[L, 0], [v', d]] is the factor of the larger K."""
        t = self.t
        if t == len(self._z):
            self._allocate(t + t // 2)
        self._Z[:, t] = self._seen(x)[0]
        self._points.append(np.array(x, dtype=float).reshape(-1))
        self._upper[:t, t] = v
        pivot = self._diagonal - float(v @ v)
        self._upper[t, t] = sqrt(max(pivot, self._jitter))
        self._z[t] = 0.0
        self.keys.append(key)
        self.t = t + 1
        self._alpha = None

    def observe(self, key: Hashable, value: float, noise: float | None = None) -> None:
        """Enter the value of a pending point.

        `noise` is the variance of this value, if it differs from that of the GP.
        """
        i = self.keys.index(key, self.known)
        if i != self.known:
            self._move_pending(i)
        i = self.known
        if noise is not None and noise != self.noise:
            self._renew_pivot(noise)
        self._noises.append(self.noise if noise is None else noise)
        away = (value - self._mean_at(self._points[i])) / self._s
        residual = away - float(self._upper[:i, i] @ self._z[:i])
        self._z[i] = min(max(residual / float(self._upper[i, i]), -_HUGE), _HUGE)
        self._values.append(value)
        self.known = i + 1
        self._alpha = None

    def _renew_pivot(self, noise: float) -> None:
        """Change the noise of the first pending row, and recompute the rows after it."""
        i = self.known
        v = self._upper[:i, i]
        pivot = 1.0 + self._jitter + noise / self.kernel.variance - float(v @ v)
        self._upper[i, i] = sqrt(max(pivot, self._jitter))
        self._order += 1
        keys, X = self.keys[i + 1 :], self.X[i + 1 :]
        self.t = i + 1
        del self.keys[self.t :]
        del self._points[self.t :]
        for key, x in zip(keys, X, strict=True):
            self.expect(key, x)

    def forget(self, key: Hashable) -> None:
        """Remove the row of a pending point, which will not get a value."""
        self._move_pending(self.keys.index(key, self.known))
        self._rebuild_pending(self.keys[self.known + 1 :], self.X[self.known + 1 :])

    def _move_pending(self, i: int) -> None:
        """Move row i, which is pending, before all other pending rows."""
        first = self.known
        order = [i - first, *(j for j in range(self.t - first) if j != i - first)]
        keys, X = self.keys[first:], self.X[first:]
        self._rebuild_pending([keys[j] for j in order], X[order])

    def _rebuild_pending(self, keys: list[Hashable], X: Array) -> None:
        self.t = self.known
        del self.keys[self.known :]
        del self._points[self.known :]
        self._order += 1
        self._alpha = None
        for key, x in zip(keys, X, strict=True):
            self.expect(key, x)


class Posterior:
    """Posterior mu and sigma at m points, kept current while the GP grows.

    An update takes O(t) operations per point for each new row. `expect` adds one of the points to
    the GP and reuses what has been computed here.

    Parameters
    ----------
    gp : GP
        The process.
    X : array
        The points, shape (m, D).
    """

    def __init__(self, gp: GP, X: Array) -> None:
        self._gp, self._X = gp, X
        self._recompute()

    def _recompute(self) -> None:
        gp = self._gp
        m, t = len(self._X), gp.t
        self._V: Array = np.empty((m, t + m))
        self._V[:, :t] = gp.whiten(gp.correlations(self._X))
        self._t, self._order = t, gp._order

    def _catch_up(self) -> None:
        """Compute one column of V, (k - V l') / d, for each row that the GP has gained."""
        gp = self._gp
        if self._order != gp._order or gp.t - self._t > len(self._V):
            self._recompute()
        while self._t < gp.t:
            s = self._t
            if s == self._V.shape[1]:
                self._recompute()
                return
            difference = gp._level(gp._seen(self._X).T - gp._Z[:, s, None])
            k = gp._correlation.of((difference**2).sum(0))
            self._V[:, s] = (k - self._V[:, :s] @ gp._upper[:s, s]) / gp._upper[s, s]
            self._t = s + 1

    def mean_std(self, i: int) -> tuple[float, float]:
        """Posterior mu and sigma at point i, given all known and pending points so far."""
        gp = self._gp
        if self._t != gp.t or self._order != gp._order:
            self._catch_up()
        v = self._V[i, : gp.t]
        mu = gp._mean_at(self._X[i]) + gp._s * float(v[: gp.known] @ gp._z[: gp.known])
        return mu, gp._s * sqrt(max(1.0 - float(v @ v), 0.0))

    def bounds(self, i: int, B: float) -> tuple[float, float]:
        """The lower and upper confidence bounds at point i, mu - B sigma and mu + B sigma."""
        mu, sigma = self.mean_std(i)
        return mu - B * sigma, mu + B * sigma

    def expect(self, key: Hashable, i: int) -> None:
        """Append a row to the GP for point i, whose value is pending."""
        if self._t != self._gp.t or self._order != self._gp._order:
            self._catch_up()
        self._gp._append(key, self._V[i, : self._t], self._X[i])
