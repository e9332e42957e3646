"""What an evaluation of a point is worth: the one place in which all models are put together.

It is the improvement that the models expect, times the probability that the evaluation succeeds
and, apart from that, the probability that the measured constraints are met. Under noise it is less
where nothing but the noise is unknown. All this holds for one objective and for several; what is an
improvement is for a `Goal` to say.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ...base.typing import Array
from ..book import Book
from ..search import B
from .failures import Failures
from .gain import excess


class Goal(Protocol):
    """What is to be improved."""

    def expected(self, mu: Array, sigma: Array) -> Array:
        """The expected improvement at points whose posteriors are the rows of `mu` and `sigma`."""


@dataclass(frozen=True)
class Above:
    """More than a value of a single objective, in the units of its GP."""

    value: float

    def expected(self, mu: Array, sigma: Array) -> Array:
        """Expected improvement.

        If it underflows everywhere, the result ranks the points by their distance from the value in
        sigmas instead.
        """
        least = np.maximum(sigma[:, 0], 1e-12)
        u = (mu[:, 0] - self.value) / least
        gain: Array = least * excess(u)
        if not gain.max() > 1e-200:
            return np.asarray(np.exp(u - u.max()))
        return gain


@dataclass
class Width:
    """The factor of sigma in the bounds: a share of B_N, since the union bound behind it is loose.

    Parameters
    ----------
    share, eta : float
    N : int
        The number of nodes, rejected ones too.
    """

    share: float
    eta: float
    N: int = 1

    @property
    def now(self) -> float:
        """The factor for the present number of nodes."""
        return self.share * B(self.N, self.eta)


class Worth:
    """What evaluations of points are worth.

    Parameters
    ----------
    book : Book
    failures : Failures
    """

    def __init__(self, book: Book, failures: Failures) -> None:
        self._book, self._failures = book, failures

    @property
    def noises(self) -> list[float]:
        """The variance of the noise in each objective, in the GP's units; 0 if it is exact."""
        if not self._book.noisy:
            return [0.0] * len(self._book.gps)
        return [float(np.median(gp.noises)) if gp.known else 0.0 for gp in self._book.gps]

    def posterior(self, X: Array) -> tuple[Array, Array]:
        """The mean and deviation of each objective at the rows of X, in the GPs' units."""
        both = [gp.posterior(X) for gp in self._book.gps]
        return np.stack([mu for mu, _ in both], 1), np.stack([sigma for _, sigma in both], 1)

    def of(
        self, X: Array, goal: Goal | None, calibrations: Array | float = 1.0, again: bool = True
    ) -> Array:
        """What each row of X is worth if it meets the constraints.

        Parameters
        ----------
        X : array
        goal : Goal, optional
            Without one, any point is an improvement, because none is feasible yet.
        calibrations : array, optional
            Factors of the deviations.
        again : bool
            Whether a point is worth less where only the noise is unknown.
        """
        worth = self._failures.success(X)
        mu, sigma = self.posterior(X)
        sigma = sigma * calibrations
        if goal is not None:
            worth = worth * goal.expected(mu, sigma)
        for j, noise in enumerate(self.noises if again else ()):
            if noise > 0.0:
                worth = worth * (1.0 - np.sqrt(noise / (noise + sigma[:, j] ** 2)))
        return worth

    def meets(self, X: Array) -> Array:
        """The probability that each row of X meets the measured constraints."""
        limits = self._book.limits
        return np.ones(len(X)) if limits is None else limits.probability(X)
