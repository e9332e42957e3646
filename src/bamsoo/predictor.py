"""Predictions of a search's Gaussian process at one moment, in the caller's own units."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ._typing import Array
from .blas import one_thread
from .errors import ModelError
from .kernels import Kernel
from .model.gp import GP
from .model.repeats import Repeats
from .model.warp import Transform, all_equal
from .objectives import Objectives
from .space import Choice, Int, Space
from .space.axes import Steps

BLOCK = 1000
"""Number of points whose posterior is computed at once. A larger block needs more memory and is
no faster."""

WORK = 4_000_000
"""Number of correlations that `Predictor.importance` computes, unless that gives fewer than 256 or
more than 8192 points per parameter. It then takes a tenth of a second, and is exact to one or two
hundredths if the model's mean has no narrow peaks."""


FINE = 201
"""Number of points along a parameter at which `Predictor.range` looks, or the number of its values
if that is smaller. Ends between two points are interpolated."""


class Range(NamedTuple):
    """Where the value is expected to stay close to the best one, along one parameter.

    A parameter with options has `options`, any other one has `low` and `high`.
    """

    low: float | int | None
    high: float | int | None
    options: tuple[Any, ...] | None
    sure: float
    """The probability, by the model and on average over the range, that the value stays close."""


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
    learned : bool, optional
        Under noise, whether it was learned.
    """

    def __init__(
        self,
        space: Space,
        sign: float,
        gp: GP,
        transform: Transform,
        learned: bool | None = None,
    ) -> None:
        self.space, self.transform, self._sign, self._learned = space, transform, sign, learned
        self._gp: GP | None = gp
        self._repeats: Repeats | None = None
        self.known = gp.known
        """The number of values it is conditioned on."""
        self._stored: tuple[Kernel, float, float, Array, Array, Array] | None = None

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

    def predict(self, points: Any) -> tuple[Array, Array]:
        """Mean and deviation at the caller's points, in the caller's units.

        If the transform is a logarithm, the GP's distribution of a value is not normal. The two
        numbers are then its median and half the distance between its 16 % and 84 % quantiles,
        which for a normal distribution are the mean and the deviation.
        """
        U = np.array([self.space.encode(x) for x in self.space.points(points)])
        U = U.reshape(-1, self.space.domain.dim)
        if self._learned is None:
            mu, sigma = self.posterior(U)
        else:
            if self._repeats is None:
                with one_thread():
                    self._repeats = Repeats(self.gp, self.known, self._learned)
            mu, sigma = _by_blocks(self._repeats.posterior, U)
        low, high = self.values(mu - sigma), self.values(mu + sigma)
        return self._sign * self.values(mu), 0.5 * high - 0.5 * low

    def values(self, g: Array) -> Array:
        """Convert from the GP's units to values, of which larger ones are better."""
        return self.transform.inverse(g)

    def range(self, best: Array, value: float, within: float, i: int) -> Range:
        """The range of parameter i around the best point in which the mean stays close to `value`.

        The other parameters are as in the best point, except that those that another option opens
        have the middle of their ranges. The mean may be worse than `value` by `within`.
        """
        from scipy.special import ndtr  # takes long to load

        space, parameter = self.space, self.space.slots[i].parameter
        grid, here = self._along(best, i)
        X = np.repeat(best[None], len(grid), axis=0)
        X[:, i] = grid
        mean, deviation = self.predict([space.completed(x) for x in X])
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            worse = self._sign * (value - mean)
            chance = ndtr((within - worse) / deviation)
        chance = np.where(deviation > 0.0, chance, worse <= within)
        near = worse <= within
        near[here] = True
        if isinstance(parameter, Choice):
            options = tuple(parameter.options[j] for j in np.flatnonzero(near).tolist())
            return Range(None, None, options, float(chance[near].mean()))
        left = here - int(np.argmin([*near[here::-1], False])) + 1
        right = here + int(np.argmin([*near[here:], False])) - 1
        low, high = float(grid[left]), float(grid[right])
        if i in space.domain.continuous:
            low = self._between(worse, within, grid, left, left - 1)
            high = self._between(worse, within, grid, right, right + 1)
        sure = float(chance[left : right + 1].mean())
        if isinstance(parameter, Int):
            return Range(int(low), int(high), None, sure)
        return Range(low, high, None, sure)

    def _along(self, best: Array, i: int) -> tuple[Array, int]:
        """Values of parameter i, evenly spaced on its scale, and the index of the best point's."""
        space, axis = self.space, self.space.domain.axes[i]
        if isinstance(axis, Steps) and axis.count <= FINE:
            places = np.array([axis.centre(j) for j in range(axis.count)])
        else:
            places = np.linspace(0.0, 1.0, FINE)
        U = np.repeat(space.encode(best)[None], len(places), axis=0)
        U[:, i] = places
        values = np.unique([*(space.decode_all(u)[i] for u in U), best[i]])
        return values, int(np.searchsorted(values, best[i]))

    def _between(self, worse: Array, within: float, grid: Array, inside: int, beyond: int) -> float:
        """The value between two of the grid at which the mean is worse by just `within`."""
        if not 0 <= beyond < len(grid) or not worse[beyond] > worse[inside]:
            return float(grid[inside])
        share = (within - worse[inside]) / (worse[beyond] - worse[inside])
        share = min(max(float(share), 0.0), 1.0)
        return float((1.0 - share) * grid[inside] + share * grid[beyond])

    def importance(self) -> Array:
        """For each parameter, the share of the variance of the predicted mean that involves it.

        These are the total Sobol' indices of `predict` over the whole space, whose points are
        uniform on the scale of each parameter. A joint effect of several parameters counts for each
        of them, so the shares may sum to more than 1. A parameter that exists only with certain
        options has no effect elsewhere, so its share is that of the whole space, not of the part in
        which it exists. What changes when an option opens other parameters counts for the option.

        The share of a parameter is 1 - r, where r is the correlation of the predictions at two
        points that differ in this parameter alone (Glen and Isaacs, 2012). Unlike other estimates,
        it cannot exceed 1 because a few points decide the variance.
        """
        from scipy.stats import qmc  # takes long to load

        gp, dim, domain = self.gp, self.space.domain.dim, self.space.domain
        most = WORK // (dim * self.known)
        pairs = qmc.Sobol(2 * dim, seed=0).random_base2(min(max(most.bit_length() - 1, 8), 13))
        for i, axis in enumerate((*domain.axes, *domain.axes)):
            if isinstance(axis, Steps) and axis.count <= len(pairs):  # else nearly continuous
                edges = [axis.edge(j) for j in range(1, axis.count)]
                centres = np.array([axis.centre(j) for j in range(axis.count)])
                pairs[:, i] = centres[np.searchsorted(edges, pairs[:, i], side="right")]
        one, other = pairs[:, :dim], pairs[:, dim:]
        exist, shares = domain.exists(one), np.zeros(dim)
        with one_thread():
            squares = gp.squares(one, range(dim), self.known)
            first = self.values(gp.mean_at(squares))
            for i in range(dim):
                moved = one.copy()
                moved[:, i] = other[:, i]
                opened = (domain.exists(moved) != exist).any(axis=0)
                axes = np.union1d(np.flatnonzero(opened), [i]).tolist()
                apart = squares - gp.squares(one, axes, self.known)
                apart += gp.squares(moved, axes, self.known)
                second = self.values(gp.mean_at(np.maximum(apart, 0.0)))
                shares[i] = _unlike(first, second)
        return shares


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
