r"""Estimates of the values without noise at points some of which were measured repeatedly.

What a GP does not explain, it takes for noise, including the narrow features of a rugged function.
Repeats tell the two apart, because only noise differs between two values of one point. So here

.. math:: y = s(x) + r(x) + \varepsilon,

where s has the GP's prior, r is independent at different points, and :math:`\varepsilon` is noise.
The variances of r and of :math:`\varepsilon` sum to the noise of the GP, so that values at
different points are as likely as before.
"""

import numpy as np

from ..base.typing import Array
from ..space import key_of
from .conditioned import Factor
from .gp import GP

_ROUNDING = 1e-8
"""Counts as noise, as a share of the variance, so that K can be factored."""


class Repeats:
    """The posterior of s + r.

    Parameters
    ----------
    gp : GP
    known : int
        The number of its rows to use.
    learned : bool
        Whether the GP's noise was learned. Otherwise it is what the caller says, and r is 0.

    Attributes
    ----------
    X : array
        The points, each of them once.
    noise : float
        The variance of the noise in a value that has none of its own.
    """

    def __init__(self, gp: GP, known: int, learned: bool) -> None:
        self.gp, self.known = gp, known
        self.X, self._first, group = np.unique(
            gp.X[:known], axis=0, return_index=True, return_inverse=True
        )
        group, values = group.reshape(-1), gp.values[:known]
        self.noise, repeated = gp.noise, known - len(self.X)
        if learned and gp.noise and repeated:
            with np.errstate(over="ignore"):
                apart = values - (np.bincount(group, values) / np.bincount(group))[group]
                squares = min(float((apart**2).sum()) / gp.noise, 1e300)
            self.noise *= _share(squares, repeated)
        self._rough, noises = gp.noise - self.noise, gp.noises[:known]
        noises -= self._rough * (noises >= gp.noise)  # less if a value has its own
        noises += _ROUNDING * gp.kernel.variance
        self._noises = 1.0 / np.bincount(group, 1.0 / noises)  # of the mean of a point's values
        means = np.bincount(group, values * (self._noises[group] / noises))
        factor = Factor.of(self._prior(self.X) + np.diag(self._noises))
        assert factor is not None  # there is enough noise on the diagonal
        self._inverse = factor.solve(np.eye(len(self.X)))
        own = gp.mean.at(self.X)
        largest = max(float(np.abs(means).max()), float(np.abs(own).max()))
        self._size = max(largest, 1e-300)  # sums may overflow
        self._alpha = self._inverse @ (means / self._size - own / self._size)

    def _prior(self, U: Array) -> Array:
        """The prior covariances of s + r between the rows of `U` and the points."""
        K: Array = self.gp.kernel.variance * self.gp.correlations(U, self.known)[:, self._first]
        if self._rough:
            where = {key_of(x): i for i, x in enumerate(self.X)}
            for i, u in enumerate(np.ascontiguousarray(U)):
                if (j := where.get(key_of(u))) is not None:
                    K[i, j] += self._rough
        return K

    def posterior(self, U: Array) -> tuple[Array, Array]:
        """Mean and deviation at the rows of `U`."""
        K = self._prior(U)
        variance = self.gp.kernel.variance + self._rough
        variances = variance - np.einsum("ij,ij->i", K @ self._inverse, K)
        with np.errstate(over="ignore"):
            prior = self.gp.mean.at(U) / self._size
            mean = np.nan_to_num((prior + K @ self._alpha) * self._size)
        return mean, np.sqrt(np.maximum(variances, 0.0))

    def best(self, among: Array) -> tuple[int, float]:
        """The index of the best of some points, by mean - deviation, and an estimate of its value.

        The best of many estimates is often a lucky one. If the noise were drawn again, other points
        would be chosen, which are less good by these values. The mean of this loss, by the
        probabilities that each point would be ahead of the best one, is subtracted.
        """
        from scipy.special import ndtr  # takes long to load

        mean, deviation = self.posterior(self.X[among])
        size = self._size + float(deviation.max())
        low = mean / size - deviation / size
        best = int(low.argmax())
        loss = low[best] - low
        weights = self._prior(self.X[among]) @ self._inverse  # of the values in the means
        luck = np.sqrt((weights - weights[best]) ** 2 @ self._noises) / size
        ahead = ndtr(-loss / np.maximum(luck, 1e-10 * loss + 1e-300))
        return int(among[best]), float(mean[best] - ahead @ loss / ahead.sum() * size)


def _share(squares: float, count: int) -> float:
    """The expected share of noise in what the GP takes for noise.

    Its deviation is from 1 % to 100 % of the GP's, and all are equally likely in advance. `squares`
    is the sum of the squared differences between values and the means of their points, in units of
    the GP's noise, with `count` degrees of freedom.
    """
    deviation = np.linspace(0.01, 1.0, 100)
    log_chance = -count * np.log(deviation) - 0.5 * squares / deviation**2
    chance = np.exp(log_chance - log_chance.max())
    return float(chance @ deviation**2 / chance.sum())
