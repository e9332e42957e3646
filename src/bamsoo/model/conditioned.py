r"""The linear algebra of Gaussian processes: a covariance matrix, factored once.

Whatever a process is over, the points of a space, those around an optimum, or the steps of curves,
all that it says of known values follows from the Cholesky factor of their covariance matrix. `GP`
is the form that grows row by row; this is the form for values that are all known.

=====  =============================================================  ======
name   meaning                                                        shape
=====  =============================================================  ======
K      covariance of the values, with their noise                     (n, n)
L      its Cholesky factor, :math:`K = L L^T`                         (n, n)
r      the values minus their prior means                             (n,)
k      covariance of other points with the values, one point per row  (m, n)
=====  =============================================================  ======
"""

from functools import cached_property
from math import sqrt

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs, dtrtrs

from ..base.typing import Array


class Factor:
    """The Cholesky factor of a covariance matrix.

    Parameters
    ----------
    L : array
        The factor. LAPACK's routines for lower and upper triangles round differently.
    lower : bool, default True
        Whether it is L, and not its transpose.
    """

    def __init__(self, L: Array, lower: bool = True) -> None:
        self.L, self._lower = L, lower

    @classmethod
    def of(cls, K: Array, lower: bool = True, overwrite: bool = False) -> "Factor | None":
        """The factor of `K`; None if it is singular for all that rounding leaves of it.

        With `overwrite`, it may take the place of K, and the other triangle has no meaning.
        """
        L, info = dpotrf(K, lower=lower, clean=not overwrite, overwrite_a=overwrite)
        return None if info else cls(L, lower)

    @classmethod
    def with_nugget(cls, K: Array, nuggets: tuple[float, ...], lower: bool = True) -> "Factor":
        """The factor with the first of the nuggets that makes it possible.

        A nugget is a share of the diagonal that is added to it; K is overwritten.
        """
        diagonal, found = K.diagonal().copy(), None
        for nugget in nuggets:
            K.flat[:: len(K) + 1] = diagonal * (1.0 + nugget)
            if (found := cls.of(K, lower)) is not None:
                return found
        return cls(dpotrf(K, lower=lower)[0], lower)  # as far as it goes

    @property
    def log_root(self) -> float:
        """Half the logarithm of the determinant of K."""
        return float(np.log(self.L.diagonal()).sum())

    def solve(self, B: Array) -> Array:
        """:math:`K^{-1} B`."""
        return dpotrs(self.L, B, lower=self._lower)[0]  # type: ignore[no-any-return]

    def whiten(self, B: Array) -> Array:
        """:math:`L^{-1} B`; the sum of the squares of a column of this for k is what is known."""
        return dtrtrs(self.L, B, lower=self._lower, trans=not self._lower)[0]  # type: ignore[no-any-return]

    def explained(self, k: Array) -> Array:
        """How much of the variance at other points the values explain."""
        return np.asarray((self.whiten(k.T) ** 2).sum(0))

    def triangle(self) -> Array:
        """The lower triangle of the inverse of K. It takes the place of the factor."""
        return dpotri(self.L, lower=1, overwrite_c=1)[0]  # type: ignore[no-any-return]

    @cached_property
    def inverse(self) -> Array:
        """The inverse of K."""
        found: Array = dpotri(self.L, lower=1)[0]
        found.flat[:: len(found) + 1] *= 0.5
        found += found.T
        return found


class Conditioned:
    """A Gaussian process, given some values.

    Parameters
    ----------
    factor : Factor
        That of the covariance of the values.
    r : array
        The values minus their prior means.
    """

    def __init__(self, factor: Factor, r: Array) -> None:
        self.factor, self.r = factor, r

    @cached_property
    def alpha(self) -> Array:
        r""":math:`\alpha = K^{-1} r`. The posterior mean is :math:`k \alpha` above the prior's."""
        return np.asarray(self.factor.inverse @ self.r)

    @property
    def precisions(self) -> Array:
        """The precision of each value, given all others: 1 / variance."""
        return np.asarray(np.diag(self.factor.inverse))

    @property
    def evidence(self) -> float:
        """The logarithm of the density of the values, up to a constant."""
        return -(0.5 * float(self.r @ self.alpha) + self.factor.log_root)

    def slopes(self, terms: Array) -> Array:
        """The slopes of the evidence along matrices that are added to K, one per row."""
        M = 0.5 * (self.factor.inverse - np.outer(self.alpha, self.alpha))
        return np.asarray(-np.tensordot(terms, M, 2))

    def error_ratio(self, widest: float) -> float:
        r"""The root mean square of leave-one-out errors, in sigmas, limited to [1, `widest`].

        The error at point i is :math:`\alpha_i / K^{-1}_{ii}`, and its variance
        :math:`1 / K^{-1}_{ii}`.
        """
        precisions = np.maximum(self.precisions, 1e-300)
        return sqrt(min(max(float(np.mean(self.alpha**2 / precisions)), 1.0), widest**2))


def stacked(K: Array, B: Array) -> tuple[Array, Array]:
    """For each of a stack of matrices, :math:`L^{-1} B` and half the logarithm of the determinant.

    The solutions need no routine for triangles, because the matrices are small.
    """
    L = np.linalg.cholesky(K)
    return np.linalg.solve(L, B), np.log(np.diagonal(L, axis1=1, axis2=2)).sum(1)


def drawn(mean: Array, covariance: Array, noise: Array) -> Array:
    """Draws from a normal distribution, one per row of `noise`; the covariance may be singular."""
    w, V = np.linalg.eigh(covariance)
    root = V * np.sqrt(np.maximum(w, 0.0))
    return np.asarray(mean + noise @ root.T)
