"""What a fit says about its parameters: standard deviations, correlations, and the band of a model.

All of it comes from a linear model of the residuals at the best point, made of the points around it
(`algorithms.auto.residuals`), so it costs no evaluation. The variance of the errors is the sum of
squares divided by the number of residuals minus that of the parameters. With a loss, the sum is
that of the squared pulls of the residuals, divided by the square of their mean slope (Huber, Robust
Statistics, section 7.6).
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..algorithms.auto.residuals import ResidualModel
from ..base.typing import Array
from ..record.residuals import SumOfSquares
from ..record.trials import Evaluation

_POINTS = 100  # of the linear model under noise, the nearest ones
_UNKNOWN = 0.5  # a slope is unknown if its variance is this share of what it is before any point
_LEAST = 1e-9  # singular values below this share of the largest one are rounding errors
_ALIKE = 0.95  # two parameters with a larger correlation can hardly be told apart
_PART = 0.3  # entries of a unit vector below this are no part of a combination of parameters


class Fitted:
    """The linear model at the best point of a fit.

    Parameters
    ----------
    evaluations : sequence of Evaluation
    best : Evaluation
    """

    def __init__(self, evaluations: Sequence[Evaluation], best: Evaluation) -> None:
        self._best, self._space = best, best.point.space
        self._evaluations = evaluations
        self._squares = best.objectives.squares or SumOfSquares()
        domain = self._space.domain
        there = domain.exists(self._space.encode(best.x))
        self._axes = [i for i in domain.continuous if there[i]]

    @property
    def names(self) -> list[str]:
        """The names of the parameters, in the order of `covariance`."""
        return [slot.label for slot in self._space.slots]

    @property
    def residuals(self) -> Array:
        """The residuals at the best point, as they were returned; nan for missing data."""
        return np.array(self._best.residuals)

    @cached_property
    def _roots(self) -> Array:
        """The roots of the weights."""
        return self._squares.weighted(np.ones(len(self.residuals)))

    @cached_property
    def slopes(self) -> Array:
        """The derivative of each residual by each real parameter, in the caller's units.

        There is one row per residual and one column per parameter. It is nan for a parameter that
        is not a real number, and everywhere if too few points are known around the best one.
        """
        space, axes = self._space, self._axes
        slopes = np.full((len(self.residuals), len(self._best.x)), np.nan)
        told = [e for e in self._evaluations if e.residuals and not e.cheap]
        X = np.array([space.encode(each.x) for each in told])
        here = space.encode(self._best.x)
        rest = [i for i in range(len(here)) if i not in axes]
        offsets = X[:, axes] - here[axes]
        apart = np.abs(offsets).max(1, initial=0.0)
        rows = np.flatnonzero((X[:, rest] == here[rest]).all(1) & (apart > 0.0))
        if not axes or len(rows) < len(axes):
            return slopes
        rows = rows[np.argsort(apart[rows], kind="stable")]
        units = np.where(self._roots > 0.0, self._roots, 1.0)
        r, most = self.residuals * units, len(self.residuals)
        terms = (len(axes) + 1) * (len(axes) + 2) // 2
        for count in (terms, max(terms, _POINTS)):  # far points help only if there is noise
            near = rows[:count]
            R = np.array([told[i].residuals for i in near]) * units
            model = ResidualModel(offsets[near], R, r, True, most=most)
            if not model.constant:
                break
        if np.linalg.eigvalsh(model.unknown(np.empty((0, len(axes)))))[-1] <= _UNKNOWN:
            slopes[:, axes] = (model.slopes / self._stretch(here)[:, None] / units).T
        slopes[np.isnan(self.residuals)] = 0.0
        return slopes

    def _stretch(self, here: Array) -> Array:
        """The derivative of each real parameter by its coordinate in the cube."""
        found = []
        for axis in self._axes:
            ends = np.array([here, here])
            ends[:, axis] = np.clip([here[axis] - 1e-6, here[axis] + 1e-6], 0.0, 1.0)
            low, high = (self._space.decode(end) for end in ends)
            found.append((high[axis] - low[axis]) / (ends[1, axis] - ends[0, axis]))
        return np.array(found)

    @cached_property
    def _ranges(self) -> Array:
        """The range of each parameter; nan for one that is not a real number."""
        here, found = self._space.encode(self._best.x), np.full(len(self._best.x), np.nan)
        for axis in self._axes:
            ends = np.array([here, here])
            ends[:, axis] = 0.0, 1.0
            low, high = (self._space.decode(end) for end in ends)
            found[axis] = high[axis] - low[axis]
        return found

    @cached_property
    def covariance(self) -> Array:
        """The covariance matrix of the parameters; nan for those that are not real numbers."""
        axes = self._axes
        found = np.full((len(self._best.x), len(self._best.x)), np.nan)
        J = (self._roots[:, None] * self.slopes)[:, axes]
        counted = ~np.isnan(self.residuals) & (self._roots > 0.0)
        free = int(counted.sum()) - len(axes)
        if free <= 0 or not axes or np.isnan(J).any():
            return found
        pulls, slope = (each[counted] for each in self._squares.pull(self.residuals))
        if slope.mean() <= 0.0:  # nearly all of them are outliers
            return found
        ranges = self._ranges[axes]
        _, values, directions = np.linalg.svd(J * ranges, full_matrices=False)
        if not values[0] > 0.0:  # no parameter makes a difference
            found[axes, axes] = np.inf
            return found
        # all numbers are relative to the largest slope, because squares of huge ones would overflow
        relative = np.maximum(values / values[0], _LEAST)
        inverse = directions.T / relative**2 @ directions * ranges * ranges[:, None]
        variance = float(((pulls / values[0]) ** 2).sum()) / free / float(slope.mean()) ** 2
        found[np.ix_(axes, axes)] = variance * inverse
        return found

    @cached_property
    def deviations(self) -> Array:
        """The standard deviation of each parameter."""
        with np.errstate(invalid="ignore"):
            return np.asarray(np.sqrt(self.covariance.diagonal()))

    @cached_property
    def correlations(self) -> Array:
        """The correlations of the parameters."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.covariance / np.outer(self.deviations, self.deviations))

    @cached_property
    def band(self) -> Array:
        """The standard deviation of each fitted value that comes from those of the parameters."""
        J, C = self.slopes[:, self._axes], self.covariance[np.ix_(self._axes, self._axes)]
        with np.errstate(invalid="ignore"):
            band = np.sqrt(np.einsum("ij,jk,ik->i", J, C, J))
        return np.where(np.isnan(self.residuals), np.nan, band)

    @cached_property
    def largest(self) -> NDArray[np.intp]:
        """The residuals that cost most, the most costly first."""
        return np.argsort(-self.costs, kind="stable")

    @property
    def costs(self) -> Array:
        """What each residual adds to the sum, with weights and loss; 0 for missing data."""
        return np.nan_to_num(self._squares.seen(self.residuals) ** 2)

    @property
    def remarks(self) -> list[str]:
        """What the data do not say, in sentences."""
        names, found = self.names, list[str]()
        if np.isnan(self.deviations[self._axes]).any():
            if self._best.residuals and (~np.isnan(self.residuals)).sum() <= len(self._axes):
                found.append(
                    "There are no more residuals than parameters, so nothing can be said about "
                    "the errors of the parameters."
                )
            return found
        for i in self._axes:
            if self.deviations[i] > self._ranges[i]:
                found.append(
                    f"These data hardly determine {names[i]}: its standard deviation is "
                    "larger than its range."
                )
        for group in self._alike():
            alike = [names[i] for i in group]
            told = f"{', '.join(alike[:-1])} and {alike[-1]} can hardly be told apart by these data"
            if len(group) == 2:
                same = self.correlations[group[0], group[1]]
                found.append(f"{told}: their correlation is {same:.3f}.")
            else:
                found.append(f"{told}: these determine combinations of them much better than each.")
        return found

    def _alike(self) -> list[list[int]]:
        """The parameters that cannot be told apart, in groups of which all can be.

        An eigenvector of the correlations with a small eigenvalue is a combination of parameters
        that is known much better than they are.
        """
        groups = list[set[int]]()
        if not np.isfinite(self.deviations[self._axes]).all():
            return []
        values, vectors = np.linalg.eigh(self.correlations[np.ix_(self._axes, self._axes)])
        for vector in vectors.T[values < 1.0 - _ALIKE]:
            group = {self._axes[j] for j in np.flatnonzero(np.abs(vector) > _PART).tolist()}
            for other in [each for each in groups if each & group]:
                groups.remove(other)
                group |= other
            groups.append(group)
        return sorted(sorted(group) for group in groups)
