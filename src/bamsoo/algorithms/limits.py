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

from .._typing import Array
from ..model.gp import GP
from ..model.learning import LEARNING, spread_of
from ..model.prior import learn_prior
from ..model.warp import Centred, Transform
from ..space.axes import Domain


@dataclass(frozen=True)
class LimitConstants:
    """Constants of the models of measured constraints."""

    first_fit: int = 4
    """Number of measurements before the first fit; fewer say nothing about length-scales."""

    growth: int = 4
    """The prior is fitted again when the number of measurements has grown by a factor of
    1 + 1/growth. With 4, the time spent on fits stays a small share of the search; with a larger
    number, fits are more frequent and the priors more up to date."""

    rows: int = 300
    """Largest number of points in a constraint's GP: those nearest to the boundary, and a sample
    of the others. The cost of the GP grows with the cube of this number."""

    bends: tuple[float, ...] = (1.0, 0.1)
    """Sizes at which a transform changes from linear to logarithmic, in units of the median size
    of the measurements. The fit chooses among them and no bend at all."""

    undefined: float = 3.0
    """The violation that a measurement of nan counts as, unless a larger one has been measured, in
    the units of `violation`, where the median size counts as asinh(1)."""


CONSTANTS = LimitConstants()


_SMALLEST, _LARGEST = 1e-300, 1e300  # a violation, however small, is not 0, and none is infinite


class Limits:
    """The measured constraints of a search, and their models.

    Parameters
    ----------
    domain : Domain
    count : int
        The number of constraints.
    constants : LimitConstants, optional
    """

    def __init__(self, domain: Domain, count: int, constants: LimitConstants = CONSTANTS) -> None:
        self._domain, self.count, self._constants = domain, count, constants
        self._X: list[Array] = []
        self._C: list[Array] = []
        self._at: dict[int, int] = {}  # indices into the two lists above, by record key
        self._next = constants.first_fit
        self._models: list[Model] = []
        self._lengths = [np.full(domain.dim, LEARNING.typical) for _ in range(count)]
        self._scales: Array | None = None
        self.met = False
        """Whether any point is feasible."""
        self.noisy = False
        """Whether the measurements are treated as noisy."""

    @property
    def ready(self) -> bool:
        """Whether the models have been fitted."""
        return bool(self._models)

    @property
    def C(self) -> Array:
        """The measurements, one row per record."""
        return np.array(self._C).reshape(-1, self.count)

    # --- measurements

    def add(self, key: int, x: Array, measured: tuple[float, ...], allowed: bool) -> bool:
        """Enter what an evaluation measured; return whether its point is feasible."""
        c = np.array(measured, dtype=float)
        if len(c) != self.count:  # a point that was told without measurements
            c = np.full(self.count, np.nan)
        self._at[key] = len(self._C)
        self._X.append(x)
        self._C.append(c)
        self._scales = None
        for model, number in zip(self._models, c.tolist(), strict=False):
            model.observe(key, x, number)
        feasible = allowed and bool((c <= 0.0).all())
        self.met = self.met or feasible
        return feasible

    def missed(self, key: int) -> float:
        """The total violation of a record; 0 if it meets all constraints."""
        return float(self.violation(self._C[self._at[key]][None])[0])

    def all_missed(self) -> dict[int, float]:
        """The total violation of every record, by key."""
        return dict(zip(self._at, self.violation(self.C).tolist(), strict=True))

    def violation(self, C: Array) -> Array:
        """The total violation of each row of measurements, each constraint on its own scale."""
        sizes = np.where(np.isfinite(C), self._sizes(C), self._worst())
        sizes = np.where(-inf == C, 0.0, sizes)
        total: Array = sizes.sum(1)
        return total

    def _sizes(self, C: Array) -> Array:
        """The violation of each constraint; the quotient of two floats may over- or underflow."""
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            over = np.maximum(C, 0.0) / self.scales
        return np.where(C > 0.0, np.arcsinh(np.clip(over, _SMALLEST, _LARGEST)), 0.0)

    def _worst(self) -> Array:
        """The violations that stand for measurements that are not finite."""
        C = self.C
        worst = self._sizes(np.where(np.isfinite(C), C, 0.0).max(0, initial=0.0))
        return np.asarray(np.maximum(worst, self._constants.undefined))

    @property
    def scales(self) -> Array:
        """The median size of each constraint's measurements."""
        if self._scales is None:
            scales = np.ones(self.count)
            for j in range(self.count):
                sizes = [abs(float(c[j])) for c in self._C if isfinite(c[j]) and c[j] != 0.0]
                scales[j] = np.median(sizes) if sizes else 1.0
            self._scales = np.maximum(scales, 1e-300)
        return self._scales

    def grade(self, missed: float, g: float, f_plus: float, rho: float) -> float:
        """The grade of a node with the value g and the total violation `missed`."""
        if missed == 0.0 and self.met:
            return g
        return min(g, f_plus) - rho * missed if self.met else -missed

    # --- the models

    def update(self) -> bool:
        """Fit the priors again if it is time; return whether they were."""
        constants = self._constants
        if len(self._C) < self._next:
            return False
        self._next = len(self._C) + max(2, len(self._C) // constants.growth)
        X, C = np.array(self._X), self.C
        keys = list(self._at)
        self._models = []
        for j in range(self.count):
            good = np.flatnonzero(np.isfinite(C[:, j]))
            self._models.append(self._learn(j, keys, X, C[:, j], good.tolist()))
        return True

    def _learn(self, j: int, keys: list[int], X: Array, c: Array, good: list[int]) -> "Model":
        """The model of one constraint."""
        if len(good) < 2:
            return Model(None, Centred(1.0, 1.0), 1.0)
        scale = float(self.scales[j])
        near = np.array(good)[np.argsort(np.abs(c[good]), kind="stable")]
        some = spread_of(near, min(LEARNING.most, self._constants.rows))
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
        model = Model(learned.gp(self._domain), learned.transform, learned.calibration)
        for i in spread_of(near, self._constants.rows):
            model.observe(keys[i], X[i], float(c[i]))
        return model

    @property
    def lengths(self) -> list[Array]:
        """The length-scales that each constraint's model has learned."""
        return self._lengths

    def bounds(self, X: Array, width: float) -> tuple[Array, Array]:
        """Lower and upper confidence bounds of each constraint at rows of X, in its own units."""
        low, high = np.empty((len(X), self.count)), np.empty((len(X), self.count))
        for j, model in enumerate(self._models):
            mu, sigma = model.posterior(X)
            reach = width * model.calibration * sigma
            low[:, j], high[:, j] = model.numbers(mu - reach), model.numbers(mu + reach)
        return low, high

    def possible(self, x: Array, width: float) -> bool:
        """Whether every constraint may be met at a point, by its optimistic bound."""
        if not self._models:
            return True
        for model in self._models:
            mu, sigma = model.posterior(x[None])
            if float(mu[0] - width * model.calibration * sigma[0]) > 0.0:
                return False
        return True

    def probability(self, X: Array) -> Array:
        """The probability that all constraints are met at each row of X, if independent."""
        from scipy.special import ndtr

        p = np.ones(len(X))
        for model in self._models:
            mu, sigma = model.posterior(X)
            p *= ndtr(-mu / np.maximum(sigma * model.calibration, 1e-12))
        return p

    @property
    def models(self) -> list["Model"]:
        """One model for each constraint; empty before the first fit."""
        return self._models


class Model:
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
