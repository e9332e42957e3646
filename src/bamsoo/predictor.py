"""Predictions of a search's Gaussian process at one moment, in the caller's own units."""

from typing import Any

import numpy as np

from ._typing import Array
from .blas import one_thread
from .model.gp import GP
from .model.kernels import Kernel
from .model.warp import Transform
from .space import Space

BLOCK = 1000
"""Number of points whose posterior is computed at once. A larger block needs more memory and is
no faster."""


class Predictor:
    """The GP of a search as it was after its first `known` values.

    The rows of known values in a GP never change, so this object holds the GP itself and the
    number of rows: it costs nothing to make and does not change while the search goes on. A pickle
    holds the points and values instead.

    Parameters
    ----------
    space : Space
    sign : float
        1 if larger values are better, else -1: the GP sees values to be maximised.
    gp : GP
    transform : Transform
        Maps objective values to the values that the GP sees.
    """

    def __init__(self, space: Space, sign: float, gp: GP, transform: Transform) -> None:
        self.space, self._sign, self._transform = space, sign, transform
        self._gp: GP | None = gp
        self.known = gp.known
        """The number of values it is conditioned on."""
        self._stored: tuple[Kernel, float, float, Array, Array, Array] | None = None

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        if (gp := self._gp) is not None:
            X, values = gp.X[: self.known], gp.values[: self.known]
            noises = gp.noises[: self.known]
            state["_stored"] = gp.kernel, gp.mean, gp.noise, X, values, noises
        state["_gp"] = None
        return state

    @property
    def gp(self) -> GP:
        """The GP; it is conditioned again if this object comes from a pickle."""
        if self._gp is None:
            assert self._stored is not None
            kernel, mean, noise, X, *columns = self._stored
            gp = GP(kernel, self.space.dim, mean, noise, self.space.domain)
            with one_thread():
                for key, (x, *told) in enumerate(zip(X, *columns, strict=True)):
                    gp.expect(key, x)
                    gp.observe(key, *map(float, told))
            self._gp = gp
        return self._gp

    def posterior(self, U: Array) -> tuple[Array, Array]:
        """Mean and deviation at points of the unit cube, in the GP's own units."""
        blocks = [U[i : i + BLOCK] for i in range(0, len(U), BLOCK)]
        with one_thread():
            both = [self.gp.posterior_of_known(block, self.known) for block in blocks]
        if not both:
            return np.empty(0), np.empty(0)
        return np.concatenate([mu for mu, _ in both]), np.concatenate([s for _, s in both])

    def predict(self, points: Any) -> tuple[Array, Array]:
        """Mean and deviation at the caller's points, in the caller's units.

        If the transform is a logarithm, the GP's distribution of a value is not normal. The two
        numbers are then its median and half the distance between its 16 % and 84 % quantiles,
        which for a normal distribution are the mean and the deviation.
        """
        U = np.array([self.space.encode(x) for x in self.space.points(points)])
        mu, sigma = self.posterior(U.reshape(-1, self.space.dim))
        low, high = self.values(mu - sigma), self.values(mu + sigma)
        return self._sign * self.values(mu), 0.5 * high - 0.5 * low

    def values(self, g: Array) -> Array:
        """Convert from the GP's units to values, of which larger ones are better."""
        return self._transform.inverse(g)

    def importance(self, samples: int = 512) -> Array:
        """For each parameter, the share of the variance of the model's mean that involves it.

        These are the total Sobol' indices of the transformed values over the whole space,
        estimated by the formula of Jansen (1999) from `samples` pairs of points. A joint effect of
        several parameters counts for each of them, so the shares may sum to more than 1.
        """
        from scipy.stats import qmc

        dim, domain = self.space.dim, self.space.domain
        pairs = qmc.Sobol(2 * dim, seed=0).random(samples)
        A, other = pairs[:, :dim], pairs[:, dim:]
        mixed = np.repeat(A[None], dim, axis=0)
        for i in range(dim):
            mixed[i, :, i] = other[:, i]
        U = np.array([domain.snap(u) for u in np.concatenate([A, *mixed])])
        mu = self.posterior(U)[0].reshape(dim + 1, samples)
        variance = float(mu[0].var())
        if variance == 0.0:
            return np.zeros(dim)
        shares: Array = 0.5 * ((mu[0] - mu[1:]) ** 2).mean(axis=1) / variance
        return np.minimum(shares, 1.0)
