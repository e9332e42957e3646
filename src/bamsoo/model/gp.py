r"""An exact Gaussian process, grown one row at a time.

======  ==================================================================  ========
name    meaning                                                             shape
======  ==================================================================  ========
t       rows: points known or expected                                      int
X       the points                                                          (t, D)
Z       the same in length-scales, of options their indices, one row an axis  (D, t)
s       prior deviation; inside, all is in units of it                      float
L       Cholesky factor, :math:`K = s^2 L L^T`; kept as its transpose       (t, t)
z       whitened values, :math:`s L z = f - m`                              (t,)
V       whitened correlations, :math:`s^2 L V^T = k(X, x_{1:m})`            (m, t)
======  ==================================================================  ========

With V, the posterior of Sec. 2 is one pair of operations:
:math:`\mu = m + s V z` and :math:`\sigma^2 = s^2 (1 - \sum V^2)`.

A point whose value is still out is a row like any other (the factor does not depend on
values) that stands behind the known ones and whose whitened residual is zero: it
narrows sigma and leaves mu alone.

Jitter policy: `JITTER` times the variance stands on the diagonal of K from the start, so
that no eigenvalue is lost in rounding however closely points lie, and a pivot that rounding
still brings below it is raised to it. The factor never fails. (Raising small pivots alone
is not enough: the factor of a few nearly coincident points then no longer bounds sigma far
away, and the whitened values explode.)
"""

from collections.abc import Hashable
from math import sqrt

import numpy as np
from scipy.linalg.lapack import dtrtrs

from .._typing import Array
from ..space.axes import Domain, cube
from .arcs import along_arc, slope_along_arc
from .kernels import Kernel

JITTER = 1e-12
"""On the diagonal of K, as a share of the variance: sigma is told from 0 down to 1e-6 of it."""

_FEW = 6  # right-hand sides: up to here one at a time is the faster triangular solve
_HUGE = 1e280  # whitened values are cut here, so that no sum of them overflows


class GP:
    """The posterior of a GP with a given kernel and constant mean, without noise or with.

    Parameters
    ----------
    kernel : Kernel
    dim : int
    mean : float
        Constant prior mean.
    noise : float
        Variance added to the diagonal of K; 0 for a deterministic objective. A row may have its
        own instead, which is known when its value is.
    domain : Domain, optional
        What the points are of, where not of [0,1]^D: the GP then sees their features.
    jitter : float
        On the diagonal of K, as a share of the variance.
    """

    def __init__(
        self,
        kernel: Kernel,
        dim: int,
        mean: float = 0.0,
        noise: float = 0.0,
        domain: Domain | None = None,
        jitter: float = JITTER,
    ) -> None:
        self._jitter = jitter
        self.kernel, self.dim, self.mean, self.noise = kernel, dim, mean, noise
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
        self._order = 0  # changes when rows are moved or dropped, so that V no longer fits
        self._alpha: Array | None = None
        self._Z: Array
        self._upper: Array
        self._z: Array
        self._allocate(64)

    def _allocate(self, capacity: int) -> None:
        Z, z = np.empty((len(self._scale), capacity)), np.zeros(capacity)
        upper = np.empty((capacity, capacity), order="F")  # a new row of L is one column
        if t := self.t:
            Z[:, :t], upper[:t, :t], z[:t] = self._Z[:, :t], self._upper[:t, :t], self._z[:t]
        self._Z, self._upper, self._z = Z, upper, z

    @property
    def X(self) -> Array:
        """The points, known ones first, then those expected."""
        return np.array(self._points).reshape(-1, self.dim)

    def _seen(self, X: Array) -> Array:
        """The rows of `X` as the kernel sees them: features in length-scales."""
        features = self._domain.features(X) if self._unordered else np.atleast_2d(X)
        return features * self._scale

    def _level(self, difference: Array) -> Array:
        """Differences by axis, in length-scales; any two different options are 1 apart."""
        for i in self._unordered:
            np.multiply(difference[i] != 0.0, self._scale[i], out=difference[i])
        for i in self._arcs:
            difference[i] = along_arc(difference[i] / self._scale[i]) * self._scale[i]
        return difference

    @property
    def values(self) -> Array:
        """The values of the known points."""
        return np.array(self._values)

    @property
    def noises(self) -> Array:
        """The variances of the noise in the values of the known points."""
        return np.array(self._noises)

    def correlations(self, X: Array, rows: int | None = None) -> Array:
        """Kernel between the rows of `X` and the GP's first, over its variance, shape (m, rows)."""
        t = self.t if rows is None else rows
        difference = self._level(self._Z[:, None, :t] - self._seen(X).T[:, :, None])
        difference *= difference
        return self._correlation.of(np.add.reduce(difference, axis=0))

    def whiten(self, K: Array) -> Array:
        """L^-1 applied to each row of `K` (C-contiguous, overwritten)."""
        if self.t == 0:
            return K
        factor, columns = self._upper[:, : self.t], K.T
        if len(K) > _FEW:
            return dtrtrs(factor, columns, trans=1, overwrite_b=1)[0].T  # type: ignore[no-any-return]
        for i in range(len(K)):
            dtrtrs(factor, columns[:, i : i + 1], trans=1, overwrite_b=1)
        return K

    def at(self, X: Array) -> "Posterior":
        """The posterior at the rows of `X`, which stays current as the GP grows."""
        return Posterior(self, X)

    def posterior(self, X: Array) -> tuple[Array, Array]:
        """Posterior mu and sigma at the rows of `X`."""
        V = self.whiten(self.correlations(X))
        mu = self.mean + self._s * (V[:, : self.known] @ self._z[: self.known])
        return mu, self._s * np.sqrt(np.maximum(1.0 - np.einsum("ij,ij->i", V, V), 0.0))

    def posterior_of_known(self, X: Array, known: int) -> tuple[Array, Array]:
        """Posterior mu and sigma at the rows of `X`, given the first `known` values alone.

        Rows of known values stay as they are while the GP grows, so this may be asked at any
        time, also while another thread goes on with the GP.
        """
        if known == 0:
            return np.full(len(X), self.mean), np.full(len(X), self._s)
        factor, z = self._upper, self._z
        V = dtrtrs(factor[:, :known], self.correlations(X, known).T, trans=1)[0]
        mu: Array = self.mean + self._s * (z[:known] @ V)
        return mu, self._s * np.sqrt(np.maximum(1.0 - np.einsum("ij,ij->j", V, V), 0.0))

    def smoothed(self) -> Array:
        r"""Posterior mu at the known points, :math:`f_i - \nu_i (K^{-1}(f - m))_i`, in O(t^2)."""
        if self.known == 0:
            return self.values
        z = self._z[: self.known, None]
        alpha: Array = dtrtrs(self._upper[: self.known, : self.known], z, trans=0)[0][:, 0]
        nugget = self._jitter + self.noises / self.kernel.variance
        return self.values - nugget * self._s * alpha

    def posterior_at(self, x: Array) -> tuple[float, float]:
        """Posterior mu and sigma at one point; sigma is not let below what `JITTER` resolves."""
        v = self.whiten(self.correlations(x))[0]
        mu = self.mean + self._s * float(v[: self.known] @ self._z[: self.known])
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
        mu = self.mean + self._s * float(v[: self.known, 0] @ self._z[: self.known])
        root = sqrt(max(1.0 - float(v[:, 0] @ v[:, 0]), self._jitter))
        dk = (2.0 * self._scale[:, None] * difference) * self._correlation.slope(r2)
        w = dtrtrs(factor, v, trans=0)[0][:, 0]
        d_mu, d_sigma = self._s * (dk @ self._alpha), -self._s / root * (dk @ w)
        d_mu[self._unordered] = d_sigma[self._unordered] = 0.0
        if self._domain.conditional:
            absent = ~self._domain.exists(np.reshape(x, -1))
            d_mu[absent] = d_sigma[absent] = 0.0
        return mu, self._s * root, d_mu, d_sigma

    def expect(self, key: Hashable, x: Array) -> None:
        """Append a row for a point whose value is still out, in O(t^2)."""
        self._append(key, self.whiten(self.correlations(x))[0], x)

    def _append(self, key: Hashable, v: Array, x: Array) -> None:
        """[[L, 0], [v', d]] factors the bordered K, where L v = k."""
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
        """The value of an expected point has come; `noise` is its own variance, if it has one."""
        i = self.keys.index(key, self.known)
        if i != self.known:
            self._move_pending(i)
        i = self.known
        if noise is not None and noise != self.noise:
            self._renew_pivot(noise)
        self._noises.append(self.noise if noise is None else noise)
        residual = (value - self.mean) / self._s - float(self._upper[:i, i] @ self._z[:i])
        self._z[i] = min(max(residual / float(self._upper[i, i]), -_HUGE), _HUGE)
        self._values.append(value)
        self.known = i + 1
        self._alpha = None

    def _renew_pivot(self, noise: float) -> None:
        """Give the first pending row another noise; those behind it follow."""
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
        """An expected point will have no value: take its row out."""
        self._move_pending(self.keys.index(key, self.known))
        self._rebuild_pending(self.keys[self.known + 1 :], self.X[self.known + 1 :])

    def _move_pending(self, i: int) -> None:
        """Bring pending row i to stand first among the pending."""
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
    """Posterior mu and sigma at m points, kept current while the GP grows, at O(t) a new row.

    `expect(key, i)` gives the GP a row at point i from what is already computed here.
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
        """One column of V a row the GP has gained: (k - V l') / d."""
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
        """Posterior mu and sigma at point i, given all the GP knows and expects by now."""
        gp = self._gp
        if self._t != gp.t or self._order != gp._order:
            self._catch_up()
        v = self._V[i, : gp.t]
        mu = gp.mean + gp._s * float(v[: gp.known] @ gp._z[: gp.known])
        return mu, gp._s * sqrt(max(1.0 - float(v @ v), 0.0))

    def bounds(self, i: int, B: float) -> tuple[float, float]:
        """L and U at point i: mu -+ B sigma."""
        mu, sigma = self.mean_std(i)
        return mu - B * sigma, mu + B * sigma

    def expect(self, key: Hashable, i: int) -> None:
        """Append a row to the GP for point i, whose value is still out."""
        if self._t != self._gp.t or self._order != self._gp._order:
            self._catch_up()
        self._gp._append(key, self._V[i, : self._t], self._X[i])
