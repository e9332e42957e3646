r"""A model of all residuals of a fit over the whole space, to find other basins.

The sum of squares of residuals that oscillate has many basins, and its own model sees a plain with
narrow pits. The residuals themselves are smooth, and a Gaussian process that sees them knows after
far fewer points where their squares may add up to little. All residuals share one kernel, and so
one factorisation. Given the means and variances of independent columns, the sum of their squares
has the mean :math:`\sum_j \mu_j^2 + \sigma_j^2` and the variance
:math:`\sum_j 2 \sigma_j^4 + 4 \mu_j^2 \sigma_j^2`.
"""

from math import log

import numpy as np

from ...base.typing import Array
from ...model.conditioned import Factor

_LARGEST = 30.0  # residuals this many times larger than in the best quarter of points are cut off
_HUGE = 1e150  # the squares of larger residuals, and the sums of these, would overflow
_NUGGET = 1e-8  # of the variance
_TYPICAL, _SPREAD = (
    0.3,
    1.0,
)  # a priori, each log length is normal around that of a third of a range
_FACTORS = (2.0, 1.4, 1.2)  # by which lengths are changed, one sweep over all axes each
_MOST = 50  # columns: those directions in which the residuals vary most


class Survey:
    """The model.

    Parameters
    ----------
    X : array
        Points of the cube, one per row.
    R : array
        Their residuals; nan for missing data.
    lengths : array, optional
        Length-scales to begin with.
    learns : bool, default True
        Whether to look for more likely ones.
    """

    def __init__(
        self, X: Array, R: Array, lengths: Array | None = None, learns: bool = True
    ) -> None:
        lengths = np.full(X.shape[1], _TYPICAL) if lengths is None else lengths
        R = np.nan_to_num(R)
        sizes = np.abs(R).max(1, initial=0.0)
        limit = max(_LARGEST * float(np.quantile(sizes, 0.25)), 1e-150)
        R = np.clip(R, -limit, limit) / limit
        self._unit, self._mean = limit, R.mean(0)
        Y = R - self._mean
        squares, vectors = np.linalg.eigh(Y @ Y.T)
        kept = (squares > 1e-10 * max(float(squares[-1]), 1e-300)) & (
            np.arange(len(squares)) >= len(squares) - _MOST
        )
        sizes = np.sqrt(squares[kept])
        self._Y = vectors[:, kept] * sizes
        self._origin = (vectors[:, kept].T @ (Y @ self._mean)) / sizes
        self._rest = max(float(self._mean @ self._mean - self._origin @ self._origin), 0.0)
        total = max(float(squares.clip(0.0).sum()), 1e-300)
        self._columns = total**2 / max(float((squares**2).sum()), 1e-300)
        self._X, self._gram = X, self._Y @ self._Y.T
        self.lengths, value = lengths, self._likelihood(lengths)
        for factor in _FACTORS if learns else ():
            for j in range(len(lengths)):
                for change in (factor, 1.0 / factor):
                    other = self.lengths.copy()
                    other[j] *= change
                    if (found := self._likelihood(other)) > value:
                        self.lengths, value = other, found
        self._factor = Factor.with_nugget(self._covariance(self.lengths), (0.0,))
        self._A = self._factor.solve(self._Y)
        self._variances = np.maximum((self._A * self._Y).sum(0) / len(X), 1e-300)

    def _correlations(self, X: Array, lengths: Array) -> Array:
        A, B = X / lengths, self._X / lengths
        squares = (A**2).sum(1)[:, None] + (B**2).sum(1) - 2.0 * A @ B.T
        return np.asarray(np.exp(-0.5 * np.maximum(squares, 0.0)))

    def _covariance(self, lengths: Array) -> Array:
        K = self._correlations(self._X, lengths)
        K.flat[:: len(K) + 1] += _NUGGET
        return K

    def _likelihood(self, lengths: Array) -> float:
        factor = Factor.of(self._covariance(lengths))
        if factor is None:
            return -np.inf
        left = max(float(np.trace(factor.solve(self._gram))), 1e-300)
        value = -0.5 * len(self._X) * log(left) - factor.log_root
        prior = 0.5 * float(((np.log(lengths / _TYPICAL) / _SPREAD) ** 2).sum())
        return self._columns * value - prior

    def sums(self, X: Array) -> tuple[Array, Array]:
        """The mean and the deviation of the sum of squares at each row of `X`."""
        k = self._correlations(X, self.lengths)
        mu = self._origin + k @ self._A
        unknown = np.maximum(1.0 + _NUGGET - self._factor.explained(k), 1e-12)
        sigma2 = unknown[:, None] * self._variances
        mean = (mu**2 + sigma2).sum(1) + self._rest
        unit = min(self._unit, _HUGE) ** 2
        return mean * unit, unit * np.sqrt((2.0 * sigma2**2 + 4.0 * mu**2 * sigma2).sum(1))
