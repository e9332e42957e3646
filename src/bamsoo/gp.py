r"""An exact Gaussian process, grown one row at a time.

======  ==================================================================  ========
name    meaning                                                             shape
======  ==================================================================  ========
t       rows: points known or expected                                      int
X       the points                                                          (t, D)
Z       the same in length-scales, one row a dimension                      (D, t)
L       Cholesky factor, :math:`K = L L^T`; kept as its transpose           (t, t)
z       whitened values, :math:`L z = f - m`                                (t,)
V       whitened covariances, :math:`L V^T = k(X, x_{1:m})`                 (m, t)
======  ==================================================================  ========

With V, the posterior of Sec. 2 is one pair of operations:
:math:`\mu = m + V z` and :math:`\sigma^2 = \kappa(x,x) - \sum V^2`.

A point whose value is still out is a row like any other (the factor does not depend on
values) that stands behind the known ones and whose whitened residual is zero: it
narrows sigma and leaves mu alone.

Jitter policy: nothing is added to the diagonal of K. Where a new pivot
:math:`d^2 = \kappa(x,x) - \|v\|^2` falls below `PIVOT` times the variance, because the
point nearly coincides with what is known, it is raised to that. The factor never fails.
"""

from collections.abc import Hashable
from math import sqrt

import numpy as np
from scipy.linalg.lapack import dtrtrs

from ._typing import Array
from .kernels import Kernel

PIVOT = 1e-12
"""Smallest pivot, as a share of the prior variance: sigma is told from 0 down to 1e-6 of it."""

_FEW = 6  # right-hand sides: up to here one at a time is the faster triangular solve
_HUGE = 1e300  # whitened values are cut here, so that no sum of them overflows


class GP:
    """The posterior of a GP with a given kernel and constant mean, without noise or with.

    Parameters
    ----------
    kernel : Kernel
    dim : int
    mean : float
        Constant prior mean.
    noise : float
        Variance added to the diagonal of K; 0 for a deterministic objective.
    """

    def __init__(self, kernel: Kernel, dim: int, mean: float = 0.0, noise: float = 0.0) -> None:
        self.kernel, self.dim, self.mean, self.noise = kernel, dim, mean, noise
        self._scale = 1.0 / kernel.lengths(dim)
        self._floor = PIVOT * kernel.variance
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
        Z, z = np.empty((self.dim, capacity)), np.zeros(capacity)
        upper = np.empty((capacity, capacity), order="F")  # a new row of L is one column
        if t := self.t:
            Z[:, :t], upper[:t, :t], z[:t] = self._Z[:, :t], self._upper[:t, :t], self._z[:t]
        self._Z, self._upper, self._z = Z, upper, z

    @property
    def X(self) -> Array:
        """The points, known ones first, then those expected."""
        return self._Z[:, : self.t].T / self._scale

    @property
    def values(self) -> Array:
        """The values of the known points."""
        return np.array(self._values)

    def covariances(self, X: Array) -> Array:
        """Kernel between the rows of `X` and the GP's, shape (m, t)."""
        difference = self._Z[:, None, : self.t] - (np.atleast_2d(X) * self._scale).T[:, :, None]
        difference *= difference
        return self.kernel.of(np.add.reduce(difference, axis=0))

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
        """Mu and sigma at the rows of `X`."""
        V = self.whiten(self.covariances(X))
        variance = self.kernel.variance - np.einsum("ij,ij->i", V, V)
        return self.mean + V[:, : self.known] @ self._z[: self.known], np.sqrt(
            np.maximum(variance, 0.0)
        )

    def posterior_at(self, x: Array) -> tuple[float, float]:
        """Mu and sigma at one point; sigma is never below what `PIVOT` lets it be told from."""
        v = self.whiten(self.covariances(x))[0]
        mu = self.mean + float(v[: self.known] @ self._z[: self.known])
        return mu, sqrt(max(self.kernel.variance - float(v @ v), self._floor))

    def gradient(self, x: Array) -> tuple[float, float, Array, Array]:
        """mu, sigma (as in `posterior_at`) and their gradients at one point."""
        Z = self._Z[:, : self.t]
        difference = (x * self._scale)[:, None] - Z
        r2 = (difference**2).sum(0)
        factor = self._upper[:, : self.t]
        v = dtrtrs(factor, self.kernel.of(r2)[:, None], trans=1)[0]
        if self._alpha is None:
            z = self._z[: self.t].copy()
            z[self.known :] = 0.0
            self._alpha = dtrtrs(factor, z[:, None], trans=0)[0][:, 0]
        mu = self.mean + float(v[: self.known, 0] @ self._z[: self.known])
        sigma = sqrt(max(self.kernel.variance - float(v[:, 0] @ v[:, 0]), self._floor))
        dk = (2.0 * self._scale[:, None] * difference) * self.kernel.slope(r2)
        w = dtrtrs(factor, v, trans=0)[0][:, 0]
        return mu, sigma, dk @ self._alpha, -(dk @ w) / sigma

    def expect(self, key: Hashable, x: Array) -> None:
        """Append a row for a point whose value is still out, in O(t^2)."""
        self._append(key, self.whiten(self.covariances(x))[0], x)

    def _append(self, key: Hashable, v: Array, x: Array) -> None:
        """[[L, 0], [v', d]] factors the bordered K, where L v = k."""
        t = self.t
        if t == len(self._z):
            self._allocate(t + t // 2)
        self._Z[:, t] = x * self._scale
        self._upper[:t, t] = v
        pivot = self.kernel.variance + self.noise - float(v @ v)
        self._upper[t, t] = sqrt(max(pivot, self._floor))
        self._z[t] = 0.0
        self.keys.append(key)
        self.t = t + 1
        self._alpha = None

    def observe(self, key: Hashable, value: float) -> None:
        """The value of an expected point has come."""
        i = self.keys.index(key, self.known)
        if i != self.known:
            self._move_pending(i)
        i = self.known
        residual = value - self.mean - float(self._upper[:i, i] @ self._z[:i])
        self._z[i] = min(max(residual / float(self._upper[i, i]), -_HUGE), _HUGE)
        self._values.append(value)
        self.known = i + 1
        self._alpha = None

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
        self._order += 1
        self._alpha = None
        for key, x in zip(keys, X, strict=True):
            self.expect(key, x)


class Posterior:
    """mu and sigma at m points, kept current while the GP grows, at O(t) a new row.

    `expect(key, i)` gives the GP a row at point i from what is already computed here.
    """

    def __init__(self, gp: GP, X: Array) -> None:
        self._gp, self._X = gp, X
        self._recompute()

    def _recompute(self) -> None:
        gp = self._gp
        m, t = len(self._X), gp.t
        self._V: Array = np.empty((m, t + m))
        self._V[:, :t] = gp.whiten(gp.covariances(self._X))
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
            points = (self._X * gp._scale).T
            k = gp.kernel.of(((points - gp._Z[:, s, None]) ** 2).sum(0))
            self._V[:, s] = (k - self._V[:, :s] @ gp._upper[:s, s]) / gp._upper[s, s]
            self._t = s + 1

    def mean_std(self, i: int) -> tuple[float, float]:
        """Mu and sigma at point i, given all the GP knows and expects by now."""
        gp = self._gp
        if self._t != gp.t or self._order != gp._order:
            self._catch_up()
        v = self._V[i, : gp.t]
        mu = gp.mean + float(v[: gp.known] @ gp._z[: gp.known])
        return mu, sqrt(max(gp.kernel.variance - float(v @ v), 0.0))

    def bounds(self, i: int, B: float) -> tuple[float, float]:
        """L and U at point i: mu -+ B sigma."""
        mu, sigma = self.mean_std(i)
        return mu - B * sigma, mu + B * sigma

    def expect(self, key: Hashable, i: int) -> None:
        """Append a row to the GP for point i, whose value is still out."""
        if self._t != self._gp.t or self._order != self._gp._order:
            self._catch_up()
        self._gp._append(key, self._V[i, : self._t], self._X[i])
