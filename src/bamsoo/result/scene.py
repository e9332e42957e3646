"""The models of a search as a small problem: the best predicted value that meets every limit.

Points are those of the unit cube. A search with tolerances or other limits solves it from several
beginnings, because the models may have several hills.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize as descend

from ..base.typing import Array
from ..space import Constraints, Space, key_of
from ..space.limit import Limit
from .measured import Numbers
from .predictor import Predictor

SPREAD = 512
"""Number of points all over the space among which a climb looks for beginnings."""

BEGINNINGS = 5
"""Number of climbs. With one, the best of several hills of a model may be missed."""

TOLERANT = 64
"""Number of promising points of which those are kept that tolerate most, before a climb begins. The
best points may all lie at a limit, where none tolerates anything."""

BISECTIONS = 30
"""Number of bisections on the way back from the end of a climb that is not allowed."""

FORBIDDEN = 1e9
"""What counts against a point that is not allowed: more than any value."""

STEPS = 60
"""Largest number of steps of a climb."""

TRIED = 8
"""Largest number of values of an axis that are all tried; of more, only the two neighbours are."""

STEP = 1e-5
"""Step of numerical slopes, as a share of an axis: far above the rounding errors of predictions
among crowded points, and far below the size of their features."""


@dataclass(frozen=True)
class Scene:
    """The models of the values and of the measured numbers, with limits and bounds.

    Parameters
    ----------
    value : Predictor
    numbers : Numbers
    limits : sequence of Limit
        Those of the study, or others.
    constraints : Constraints
        Those known in advance, of the study or others.
    low, high : array
        The bounds of each axis; they may lie outside the cube.
    tolerances : dict
        How far each of some parameters may be off, in the caller's units, by axis.
    caution : float, default 0.0
        How many deviations a prediction is taken to be worse than its mean.
    """

    value: Predictor
    numbers: Numbers
    limits: Sequence[Limit]
    constraints: Constraints
    low: Array
    high: Array
    tolerances: Mapping[int, float] = field(default_factory=dict)
    caution: float = 0.0

    @property
    def space(self) -> Space:
        """The space that was searched."""
        return self.value.space

    @cached_property
    def models(self) -> list[Predictor]:
        """The model of each limit's number."""
        self.numbers.check_whole()
        return [self.numbers.predictor(limit.name) for limit in self.limits]

    def decode(self, u: Array) -> Array:
        """A point in the caller's units; real parameters may lie beyond their ranges."""
        x = self.space.decode(np.clip(u, 0.0, 1.0))
        for i in self.space.domain.continuous:
            if not 0.0 <= u[i] <= 1.0 and x[i] == x[i]:
                x[i] = self.space.value_at(i, float(u[i]))
        return x

    def inside(self, U: Array) -> Array:
        """The nearest points within the bounds of each axis that exists there."""
        clipped = np.clip(U, self.low, self.high)
        domain = self.space.domain
        if domain.conditional:
            clipped = np.where(domain.exists(np.clip(U, 0.0, 1.0)), clipped, U)
        return np.asarray(clipped)

    @property
    def exactly(self) -> Array:
        """The one scenario in which no parameter is off."""
        return np.zeros((1, len(self.tolerances)))

    def spread(self, U: Array, scenarios: Array) -> Array:
        """All scenarios of the first point, then those of the second, and so on.

        A scenario is a row of shares: how much of its tolerance each parameter is off.
        """
        found = np.repeat(U[:, None], len(scenarios), axis=1)
        for k, (i, width) in enumerate(self.tolerances.items()):
            found[:, :, i] = self.space.moved_by(i, found[:, :, i], width * scenarios[:, k])
        return np.asarray(found.reshape(-1, U.shape[1]))

    def values(self, U: Array) -> Array:
        """How good each point is expected to be, in the units of the GP of the values."""
        mu, sigma = self.value.posterior(U)
        return np.asarray(mu - self.caution * self.value.calibration * sigma)

    def slacks(self, U: Array) -> Array:
        """How far each point is from each limit and known constraint; negative if it violates it.

        Limits are in deviations of their GP's prior, and constraints in their own units.
        """
        columns = []
        for limit, model in zip(self.limits, self.models, strict=True):
            mu, sigma = model.posterior(U)
            gap = limit.side * (model.transform(limit.bound) - mu)
            gap -= self.caution * model.calibration * sigma
            with np.errstate(over="ignore"):  # a number that is always the same
                columns.append(gap / np.sqrt(model.gp.kernel.variance))
        slack = np.array(columns).reshape(len(columns), len(U)).T
        if self.constraints.known:
            excess = np.array([self.constraints.known_excess(self.decode(u)) for u in U])
            slack = np.hstack([slack, -np.nan_to_num(excess, nan=FORBIDDEN)])
        return np.asarray(np.clip(slack, -FORBIDDEN, FORBIDDEN))

    def allowed(self, U: Array) -> NDArray[np.bool_]:
        """Whether each point meets what is known in advance, and is expected not to fail."""
        met = np.array([self.constraints.violated(self.decode(u)) is None for u in U], dtype=bool)
        return met & ~self.numbers.near_failures(np.clip(U, 0.0, 1.0))

    @property
    def forbids(self) -> bool:
        """Whether there may be points that `allowed` excludes, while all slacks are positive."""
        return self.constraints.yes_or_no or self.numbers.any_failed

    def merit(self, values: Array, slacks: Array) -> Array:
        """Values less a penalty for what is violated."""
        return np.asarray(values + 1e3 * np.minimum(slacks, 0.0).sum(1))

    def beginnings(self, scenarios: Array) -> list[Array]:
        """Promising points from which to climb: among the known ones, and all over the space.

        The worst scenario of each point counts.
        """
        from scipy.stats import qmc  # takes long to load

        domain = self.space.domain
        everywhere = [domain.snap(u) for u in qmc.Sobol(domain.dim, seed=0).random(SPREAD)]
        U = self.inside(np.vstack([self.known, everywhere]))
        U = U[met] if (met := self.allowed(U)).any() else U
        order = np.argsort(-self.merit(self.values(U), self.slacks(U)), kind="stable")
        wanted = TOLERANT if self.tolerances else BEGINNINGS
        chosen: list[Array] = []
        for i in order.tolist():
            if all(np.abs(U[i] - u).max() > 0.05 for u in chosen):
                chosen.append(U[i])
            if len(chosen) == wanted:
                break
        if self.tolerances:
            chosen.sort(key=lambda u: -self.worst(u, scenarios))
        return chosen[:BEGINNINGS]

    def climb(self, u: Array, scenarios: Array | None = None) -> Array:
        """The best point near another one, along the continuous axes; no worse than that one.

        With `scenarios`, the worst of them counts.
        """
        u = self.inside(u[None])[0]
        there = self.space.domain.exists(np.clip(u, 0.0, 1.0))
        free = [i for i in self.space.domain.continuous if there[i]]
        if not free:
            return u
        apart = self.exactly if scenarios is None else scenarios
        n = len(free)

        def around(part: Array) -> Array:
            """The point, and one a step further along each axis, each with all scenarios."""
            points = np.repeat(u[None], n + 1, axis=0)
            points[:, free] = part
            points[np.arange(1, n + 1), free] += steps(part)
            return self.spread(points, apart)

        def steps(part: Array) -> Array:
            middle = 0.5 * (self.low + self.high)[free]
            return np.asarray(np.where(part > middle, -STEP, STEP))

        def rows(y: Array, one: Array) -> tuple[Array, Array]:
            """The numbers of all scenarios at the point, and their slopes."""
            many = one.reshape(n + 1, -1)
            return many[0], ((many[1:] - many[0]) / steps(y)[:, None]).T

        last: dict[bytes, tuple[Array, Array]] = {}

        def looked(y: Array) -> tuple[Array, Array]:
            """Values minus t, then slacks: all have to be at least 0; and their slopes."""
            if (key := key_of(y)) not in last:
                points = around(y[:-1])
                value, slope = rows(y[:-1], self.values(points))
                slack, slopes = rows(y[:-1], self.slacks(points))
                last.clear()
                last[key] = (
                    np.concatenate([value - y[-1], slack]),
                    np.vstack(
                        [
                            np.hstack([slope, np.full((len(value), 1), -1.0)]),
                            np.hstack([slopes, np.zeros((len(slack), 1))]),
                        ]
                    ),
                )
            return last[key]

        low, high = self.low[free], self.high[free]
        start = float(self.values(self.spread(u[None], apart)).min())
        found = descend(
            lambda y: -y[-1], np.append(u[free], start), method="SLSQP",
            jac=lambda y: np.append(np.zeros(n), -1.0),
            bounds=[*zip(low, high, strict=True), (None, None)],
            constraints=[{"type": "ineq", "fun": lambda y: looked(y)[0],
                          "jac": lambda y: looked(y)[1]}],
            options={"maxiter": STEPS, "ftol": 1e-10},
        )  # fmt: skip
        at: Array = u.copy()
        if np.isfinite(found.x).all():
            at[free] = np.clip(found.x[:-1], low, high)
        at = self._back(at, u, apart)
        return at if self.worst(at, apart) >= self.worst(u, apart) else u

    def _back(self, end: Array, u: Array, scenarios: Array) -> Array:
        """The last allowed point on the way to the end of a climb that began at `u`."""

        def fine(at: Array) -> bool:
            return bool(self.allowed(self.spread(at[None], scenarios)).all())

        if not (self.constraints.known or self.forbids) or fine(end) or not fine(u):
            return end
        low, high = 0.0, 1.0
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if fine(u + middle * (end - u)) else (low, middle)
        return u + low * (end - u)

    @property
    def known(self) -> Array:
        """The points with a value, with what is fixed now."""
        return self.space.domain.pin(self.value.gp.X[: self.value.known])

    def best_known(self) -> Array:
        """The best of the points with a value."""
        U = self.known
        inside = (self.inside(U) == U).all(axis=1)
        U = U[inside] if inside.any() else U
        return np.asarray(U[int(self.merit(self.values(U), self.slacks(U)).argmax())])

    def worst(self, u: Array, scenarios: Array) -> float:
        """The smallest merit of a point in any scenario."""
        U = self.spread(u[None], scenarios)
        slacks = self.slacks(U)
        mark = float(self.merit(self.values(U), np.where(slacks > -1e-6, 0.0, slacks)).min())
        forbidden = self.forbids and not self.allowed(U).all()
        return mark - FORBIDDEN if forbidden else mark

    def best(self, scenarios: Array | None = None) -> Array:
        """The best points of all climbs, best first; the worst scenario of each counts."""
        apart = self.exactly if scenarios is None else scenarios
        ends = []
        for u in self.beginnings(apart):
            ends += [u, self._other_options(self.climb(u, scenarios), apart, scenarios)]
        ends = [u for u in ends if self.allowed(u[None])[0]] or ends
        marks = [self.worst(u, apart) for u in ends]
        order = np.argsort(-np.array(marks), kind="stable")
        return np.array([ends[i] for i in order])

    def _other_options(self, u: Array, apart: Array, scenarios: Array | None) -> Array:
        """A better neighbour along the axes that are not continuous, from which to climb again."""
        domain, best, found = self.space.domain, self.worst(u, apart), u
        for i, axis in domain.discrete:
            here = axis.at(float(u[i]))
            near = range(axis.count) if axis.count <= TRIED else (here - 1, here + 1)
            for j in near:
                if 0 <= j < axis.count and j != here:
                    other = u.copy()
                    other[i] = axis.centre(j)
                    mark = self.worst(other, apart)
                    inside = self.low[i] <= other[i] <= self.high[i]
                    if inside and isfinite(mark) and mark > best:
                        best, found = mark, other
        return u if found is u else self.climb(found, scenarios)
