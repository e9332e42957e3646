"""Predictions of a search's Gaussian process at one moment, in the caller's own units."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..base.blas import one_thread
from ..base.sense import Sense
from ..base.typing import Array
from ..errors import ModelError
from ..kernels import Kernel
from ..model.conditioned import Conditioned, Factor, drawn
from ..model.gp import GP, Mean
from ..model.learning import LEARNING
from ..model.prior import CONSTANTS as PRIOR
from ..model.repeats import Repeats
from ..model.warp import Transform, all_equal
from ..record.objectives import Objectives
from ..space import Space

BLOCK = 1000
"""Number of points whose posterior is computed at once. A larger block needs more memory and is
no faster."""

WORK = 4_000_000
"""Number of correlations that `Predictor.importance` computes, unless that gives fewer than 256 or
more than 8192 points per parameter. It then takes a tenth of a second, and is exact to one or two
hundredths if the model's mean has no narrow peaks."""


class Predictor:
    """The GP of a search as it was after its first `known` values.

    The rows of known values in a GP never change, so this object holds the GP itself and the
    number of rows: it costs nothing to make and does not change while the search goes on. A pickle
    holds the points and values instead.

    Parameters
    ----------
    space : Space
    sense : Sense
        What the caller takes for better; the GP sees values to be maximised.
    gp : GP
    transform : Transform
        Maps objective values to the values that the GP sees.
    learned : bool, optional
        Under noise, whether it was learned.
    """

    def __init__(
        self,
        space: Space,
        sense: Sense,
        gp: GP,
        transform: Transform,
        learned: bool | None = None,
    ) -> None:
        self.space, self.transform, self.sense, self._learned = space, transform, sense, learned
        self._gp: GP | None = gp
        self._repeats: Repeats | None = None
        self.known = gp.known
        """The number of values it is conditioned on."""
        self._stored: tuple[Kernel, Mean, float, Array, Array, Array] | None = None

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        if (gp := self._gp) is not None:
            X, values = gp.X[: self.known], gp.values[: self.known]
            noises = gp.noises[: self.known]
            state["_stored"] = gp.kernel, gp.mean, gp.noise, X, values, noises
        state["_gp"] = state["_repeats"] = None
        return state

    @property
    def gp(self) -> GP:
        """The GP; it is conditioned again if this object comes from a pickle."""
        if self._gp is None:
            assert self._stored is not None
            kernel, mean, noise, X, *columns = self._stored
            gp = GP(kernel, self.space.domain.dim, mean, noise, self.space.domain)
            with one_thread():
                for key, (x, *told) in enumerate(zip(X, *columns, strict=True)):
                    gp.expect(key, x)
                    gp.observe(key, *map(float, told))
            self._gp = gp
        return self._gp

    def posterior(self, U: Array) -> tuple[Array, Array]:
        """Mean and deviation at points of the unit cube, in the GP's own units."""
        return _by_blocks(lambda block: self.gp.posterior_of_known(block, self.known), U)

    def draws(self, U: Array, count: int, seed: int) -> Array:
        """Numbers at points of the unit cube, drawn together from the posterior, one draw per row.

        Deviations are multiplied by `calibration`.
        """
        with one_thread():
            mu, covariance = self.gp.joint_of_known(U, self.known)
        noise = np.random.default_rng(seed).standard_normal((count, len(U)))
        return self.in_callers_units(drawn(mu, covariance, self.calibration * noise))

    def predict(self, points: Any) -> tuple[Array, Array]:
        """Mean and deviation at the caller's points, in the caller's units.

        If the transform is a logarithm, the GP's distribution of a value is not normal. The two
        numbers are then its median and half the distance between its 16 % and 84 % quantiles,
        which for a normal distribution are the mean and the deviation.
        """
        mu, sigma = self._without_noise(points)
        low, high = self.values(mu - sigma), self.values(mu + sigma)
        return self.in_callers_units(mu), 0.5 * high - 0.5 * low

    def chance(self, points: Any, threshold: float, side: float) -> Array:
        """The probability that the number at each of the caller's points is beyond a threshold.

        That is at least the threshold if `side` is 1, and at most the threshold if it is -1. A
        deviation is multiplied by `calibration`.
        """
        from scipy.special import ndtr  # takes long to load

        mu, sigma = self._without_noise(points)
        beyond = side * self.sense.turn(mu - self.transform(self.sense.turn(threshold)))
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            chance = ndtr(beyond / (self.calibration * sigma))
        return np.where(sigma > 0.0, chance, beyond >= 0.0)

    def ignores(self, i: int, best: Any, points: Any) -> bool:
        """Whether, for all that is known, moving along axis i to these points changes nothing.

        The length-scale is then as long as can be, and the predicted changes are within their
        error. Both are needed: a linear function has long length-scales too, and where nothing was
        measured every error is large.
        """
        if self.gp.kernel.lengths(self.gp.dim)[i] < 0.99 * LEARNING.lengths[1]:
            return False
        mu, sigma = self._without_noise([best, *points])
        return bool((np.abs(mu - mu[0]) <= 2.0 * self.calibration * sigma).all())

    def _without_noise(self, points: Any) -> tuple[Array, Array]:
        """Mean and deviation of the number itself at the caller's points, in the GP's units."""
        U = np.array([self.space.encode(x) for x in self.space.points(points)])
        U = U.reshape(-1, self.space.domain.dim)
        if self._learned is None:
            return self.posterior(U)
        if self._repeats is None:
            with one_thread():
                self._repeats = Repeats(self.gp, self.known, self._learned)
        return _by_blocks(self._repeats.posterior, U)

    @cached_property
    def calibration(self) -> float:
        """Root mean square of the leave-one-out errors in units of their sigma, from 1 to 4.

        A learned prior may be overconfident; by this factor its deviations are too small.
        """
        gp, known = self.gp, self.known
        K = gp.kernel.variance * gp.correlations(gp.X[:known], known)
        rounding = 1e-8 * gp.kernel.variance  # counts as noise here
        K.flat[:: known + 1] += gp.noises[:known] + rounding
        with one_thread():
            if (factor := Factor.of(K)) is None:
                return 1.0
            return Conditioned(factor, gp.residuals[:known]).error_ratio(PRIOR.widest)

    def values(self, g: Array) -> Array:
        """Convert from the GP's units to values, of which larger ones are better."""
        return self.transform.inverse(g)

    def in_callers_units(self, g: Array) -> Array:
        """Convert from the GP's units to values in the caller's own sense."""
        return np.asarray(self.sense.turn(self.values(g)))

    def importance(self, near: Callable[[Array], Array] | None = None) -> Array:
        """For each parameter, the share of the variance of the predicted mean that involves it.

        These are the total Sobol' indices of `predict` over the whole space, whose points are
        uniform on the scale of each parameter. A joint effect of several parameters counts for each
        of them, so the shares may sum to more than 1. A parameter that exists only with certain
        options has no effect elsewhere, so its share is that of the whole space, not of the part in
        which it exists. What changes when an option opens other parameters counts for the option.

        The share of a parameter is 1 - r, where r is the correlation of the predictions at two
        points that differ in this parameter alone (Glen and Isaacs, 2012). Unlike other estimates,
        it cannot exceed 1 because a few points decide the variance.

        Parameters
        ----------
        near : callable, optional
            Returns the good ones of some points of the cube, to consider their surroundings instead
            of the whole space: each parameter is distributed as it is among them.
        """
        from scipy.stats import qmc  # takes long to load

        gp, dim, domain = self.gp, self.space.domain.dim, self.space.domain
        most = WORK // (dim * self.known)
        pairs = qmc.Sobol(2 * dim, seed=0).random_base2(min(max(most.bit_length() - 1, 8), 13))
        again = [(dim + i, axis) for i, axis in domain.discrete]
        for i, axis in (*domain.discrete, *again):
            if axis.count <= len(pairs):  # else nearly continuous
                edges = [axis.edge(j) for j in range(1, axis.count)]
                centres = np.array([axis.centre(j) for j in range(axis.count)])
                pairs[:, i] = centres[np.searchsorted(edges, pairs[:, i], side="right")]
        if near is not None:
            good = near(pairs[:, :dim])
            for i in range(dim):
                sizes = np.floor(pairs[:, [i, dim + i]] * len(good)).astype(int)
                pairs[:, [i, dim + i]] = np.sort(good[:, i])[np.minimum(sizes, len(good) - 1)]
        one, other = pairs[:, :dim], pairs[:, dim:]
        exist, shares = domain.exists(one), np.zeros(dim)
        with one_thread():
            squares = gp.squares(one, range(dim), self.known)
            first = self.values(gp.mean_at(one, squares))
            for i in range(dim):
                moved = one.copy()
                moved[:, i] = other[:, i]
                opened = (domain.exists(moved) != exist).any(axis=0)
                axes = np.union1d(np.flatnonzero(opened), [i]).tolist()
                apart = squares - gp.squares(one, axes, self.known)
                apart += gp.squares(moved, axes, self.known)
                second = self.values(gp.mean_at(moved, np.maximum(apart, 0.0)))
                shares[i] = _unlike(first, second)
        return shares


class Requirement(NamedTuple):
    """That a number be at least a threshold, or at most."""

    model: Predictor
    threshold: float
    side: float
    """1 for at least, -1 for at most."""

    def chance(self, points: Any) -> Array:
        """The probability that it is met at each of the caller's points."""
        return self.model.chance(points, self.threshold, self.side)


def _by_blocks(of: Callable[[Array], tuple[Array, Array]], U: Array) -> tuple[Array, Array]:
    """The means and deviations at the rows of `U`, in blocks."""
    blocks = [U[i : i + BLOCK] for i in range(0, len(U), BLOCK)]
    with one_thread():
        both = [of(block) for block in blocks]
    if not both:
        return np.empty(0), np.empty(0)
    return np.concatenate([mu for mu, _ in both]), np.concatenate([s for _, s in both])


def predictions(
    objectives: Objectives, predictors: Sequence[Predictor], why: str, points: Any
) -> Any:
    """The mean and deviation at each point; with several objectives, a dict with both by name.

    Raises a ModelError that says `why` if there is no model.
    """
    if not predictors:
        raise ModelError(why)
    if not objectives.several:
        return predictors[0].predict(points)
    models = zip(objectives.names, predictors, strict=True)
    return {name: predictor.predict(points) for name, predictor in models}


def _unlike(a: Array, b: Array) -> float:
    """1 minus the correlation of two samples of one distribution, from 0 to 1."""
    both = np.concatenate([a, b])
    if all_equal(both):
        return 0.0
    size = float(np.abs(both).max())  # the square of a value may overflow
    change = float(((a / size - b / size) ** 2).mean())
    return min(0.5 * change / float((both / size).var()), 1.0)
