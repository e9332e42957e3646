r"""Constraints that every evaluation measures; one is met if its number is <= 0.

Each constraint has a Gaussian process of its own over the evaluated points, with a prior learned
from its numbers, because constraints differ in scale and smoothness from the objective and from
each other. The numbers are transformed before the GP sees them, linearly around 0 and
logarithmically far from it, because what matters is where a constraint changes from met to
violated.

The paper's rule still holds (Algorithm 3, line 12): a node is worth an evaluation if its optimistic
value can beat the best one. In addition, every constraint must be met by its optimistic bound:
:math:`U_N(x) \ge f^+` and :math:`L_N^j(x) \le 0` for each constraint j.

A node with a total violation `v` is graded :math:`\min(f, f^+) - \rho v`. That is never better
than the best feasible value, and only a little worse if the node is nearly feasible, since its cell
is then likely to contain the boundary on which the optimum lies. Before any point is feasible, the
grade is :math:`-v` alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, isfinite, log

import numpy as np

from ..base.typing import Array
from ..model.gp import GP
from ..model.learning import LEARNING, spread_of
from ..model.prior import learn_prior
from ..model.warp import Centred, Transform
from ..space.axes import Domain
from .known import Known


@dataclass(frozen=True)
class LimitConstants:
    """Constants of the models of measured constraints."""

    first_fit: int = 4
    """Number of measurements before the first fit; fewer say nothing about length-scales."""

    growth: int = 4
    """The prior is fitted again when the number of measurements has grown by a factor of
    1 + 1/growth. With 4, the time spent on fits stays a small share of the search; with a larger
    number, fits are more frequent and the priors more up to date."""

    rows: int = 100
    """Largest number of points in a constraint's GP: those nearest to the boundary, and a sample
    of the others. The cost of the GP grows with the cube of this number."""

    bends: tuple[float, ...] = (1.0, 0.1)
    """Sizes at which a transform changes from linear to logarithmic, in units of the median size
    of the measurements. The fit chooses among them and no bend at all."""


CONSTANTS = LimitConstants()


class Limits:
    """The measured constraints of a search, and their models.

    Parameters
    ----------
    domain : Domain
    known : Known
        What the search knows; it has one column for each constraint.
    constants : LimitConstants, optional
    """

    def __init__(self, domain: Domain, known: Known, constants: LimitConstants = CONSTANTS) -> None:
        self._domain, self.known, self._constants = domain, known, constants
        self.count = count = known.count
        self._next = constants.first_fit
        self._models: list[LimitModel] = []
        self._lengths = [np.full(domain.dim, LEARNING.typical) for _ in range(count)]
        self.noisy = False
        """Whether the measurements are treated as noisy."""

    @property
    def ready(self) -> bool:
        """Whether the models have been fitted."""
        return bool(self._models)

    def observe(self, key: int, row: int) -> None:
        """Enter the measurements of a row of `known` into the models."""
        c = self.known.C[row].tolist()
        for model, number in zip(self._models, c, strict=False):
            model.observe(key, self.known.X[row], number)

    def update(self) -> bool:
        """Fit the priors again if it is time; return whether they were."""
        t = self.known.t
        if t < self._next:
            return False
        self._next = t + max(2, t // self._constants.growth)
        self._models = [self._learn(j) for j in range(self.count)]
        return True

    def _learn(self, j: int) -> "LimitModel":
        """The model of one constraint."""
        X, c = self.known.X, self.known.C[:, j]
        good = np.flatnonzero(np.isfinite(c))
        if len(good) < 2:
            return LimitModel(None, Centred(1.0, 1.0), 1.0)
        scale = float(self.known.scales[j])
        near = good[np.argsort(np.abs(c[good]), kind="stable")]
        some = spread_of(near, self._constants.rows)
        typical = np.full(self._domain.dim, LEARNING.typical)
        learned = learn_prior(
            self._domain,
            X[some],
            c[some],
            [(self._lengths[j], None), (typical, None)],
            noise="learn" if self.noisy else 0.0,
            transforms=lambda values: centred(values, scale, self._constants.bends),
        )
        self._lengths[j] = learned.fit.kernel.lengths(self._domain.dim)
        model = LimitModel(learned.gp(self._domain), learned.transform, learned.calibration)
        for i in spread_of(near, self._constants.rows):
            model.observe(self.known.keys[i], X[i], float(c[i]))
        return model

    def bounds(self, X: Array, width: float) -> tuple[Array, Array]:
        """Lower and upper confidence bounds of each constraint at rows of X, in its own units."""
        low, high = np.empty((len(X), self.count)), np.empty((len(X), self.count))
        for j, model in enumerate(self._models):
            mu, sigma = model.posterior(X)
            reach = width * model.calibration * sigma
            low[:, j], high[:, j] = model.numbers(mu - reach), model.numbers(mu + reach)
        return low, high

    def probability(self, X: Array) -> Array:
        """The probability that all constraints are met at each row of X, if independent."""
        from scipy.special import ndtr

        p = np.ones(len(X))
        for model in self._models:
            mu, sigma = model.posterior(X)
            p *= ndtr(-mu / np.maximum(sigma * model.calibration, 1e-12))
        return p

    @property
    def models(self) -> list["LimitModel"]:
        """One model for each constraint; empty before the first fit."""
        return self._models


class LimitModel:
    """A GP of one constraint's transformed measurements; None if there are too few for a GP.

    The transform maps 0 to 0, so that the sign still says whether the constraint is met.
    """

    def __init__(self, gp: GP | None, transform: Transform, calibration: float) -> None:
        self.gp, self.transform, self.calibration = gp, transform, calibration

    def observe(self, key: int, x: Array, number: float) -> None:
        """Enter a measurement, unless it is not finite and so says nothing about other points."""
        if self.gp is not None and isfinite(number):
            self.gp.expect(key, x)
            self.gp.observe(key, self.transform(number))

    def posterior(self, X: Array) -> tuple[Array, Array]:
        """Mean and deviation at the rows of X, in transformed units."""
        if self.gp is None:
            return np.zeros(len(X)), np.ones(len(X))
        return self.gp.posterior(X)

    def numbers(self, g: Array) -> Array:
        """Convert from transformed units to the constraint's own."""
        return self.transform.inverse(g)


def centred(
    values: Array, scale: float, bends: tuple[float, ...]
) -> Iterator[tuple[Transform, float]]:
    """Transforms that map 0 to 0, first a linear one, then those with a bend.

    Each comes with the sum of the logarithms of its slopes at the values.
    """
    sizes = values / scale
    spread = max(float(np.sqrt(np.mean(sizes**2))), 1e-300)
    yield Centred(scale * spread, inf), -len(values) * log(spread)
    for bend in bends:
        bent = np.arcsinh(sizes / bend)
        size = max(float(np.sqrt(np.mean(bent**2))), 1e-300)
        slopes = -0.5 * float(np.log1p((sizes / bend) ** 2).sum())
        yield Centred(scale * bend, size), slopes - len(values) * log(bend * size)
