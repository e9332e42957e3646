r"""Steps near the best point under constraints: an optimum usually lies on one of them.

Around the incumbent, the best feasible point or else the one that misses the constraints least, the
objective and every measured constraint get a smooth model through the nearest points: a cubic
radial basis function with a linear trend, whose coefficients all come from one factorisation. The
step goes to the solution of a small problem, the models' minimum under the models' constraints
inside a trust region. Constraints that are known in advance enter as they are. As in COBYQA and
SACOBRA, nothing is measured along single axes: each evaluation serves all models at once.

The models see a number y as asinh(y / size): linear near the boundary of a constraint, which is
where it matters, and logarithmic where the constraint is missed by far.

A model errs by a little, and a point that misses a constraint by a little is not feasible. So the
step keeps a margin from each constraint, as large as the error of the model's last prediction.

Whole numbers are first taken for real ones; the solution is then rounded either way, and the real
parameters are adjusted to each rounding. Options stay those of the incumbent.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from ..._typing import Array
from ...space.axes import Domain, Options, Steps
from .constants import ConstrainedConstants


class View:
    """How many of the points a model is made of, and how far its steps may go."""

    def __init__(self, count: int, narrowest: float, constants: ConstrainedConstants) -> None:
        self.count, self._narrowest, self._constants = count, narrowest, constants
        self.radius = constants.radius

    def judge(self, better: bool) -> None:
        """Trust the model farther or less far; from the least radius begin again."""
        constants = self._constants
        self.radius *= constants.widen if better else constants.narrow
        if self.radius < self._narrowest:
            self.radius = constants.radius
        self.radius = min(self.radius, 1.0)


@dataclass(frozen=True)
class Known:
    """What is known of the points: rows of `X` in the unit cube.

    `f` is to be minimised, `C` to be <= 0, and `missed` says how badly in all each row misses the
    constraints.
    """

    X: Array
    f: Array
    C: Array
    missed: Array


class Proposal(NamedTuple):
    """A point, the view that it comes from, and what the models predict of each constraint."""

    x: Array
    view: View
    predicted: Array
    sizes: Array


class Constrained:
    """Proposes points near the best one, time after time.

    Parameters
    ----------
    domain : Domain
    count : int
        Measured constraints.
    constants : ConstrainedConstants
    rng : Generator
    """

    def __init__(
        self, domain: Domain, count: int, constants: ConstrainedConstants, rng: np.random.Generator
    ) -> None:
        self._domain, self._constants, self._rng = domain, constants, rng
        self._axes = [i for i, axis in enumerate(domain.axes) if not isinstance(axis, Options)]
        self._fixed = [i for i in range(domain.dim) if i not in self._axes]
        dim = len(self._axes)
        counts = (int(constants.close * (dim + 1)), int(constants.wide * (dim + 1) * (dim + 2)))
        self._views = [
            View(count, narrowest, constants)
            for count, narrowest in zip(counts, constants.narrowest, strict=True)
        ]
        self.view = self._views[0]
        self._margins: Array = np.zeros(count)

    def count(self, better: bool, view: View) -> None:
        """Note whether a step of a view was better than all before it."""
        view.judge(better)
        if not better and view is self.view:
            following = self._views.index(view) + 1
            self.view = self._views[following % len(self._views)]

    def learn(self, proposal: Proposal, measured: Array) -> None:
        """Set the margins by how far off the predictions were."""
        if len(measured) and np.isfinite(measured).all():
            error = np.arcsinh(measured / proposal.sizes) - proposal.predicted
            self._margins = np.minimum(np.abs(error), self._constants.widest)

    def propose(self, known: Known, out: Array, lengths: Array) -> Proposal | None:
        """The solution of the small problem; None where there are too few points.

        `out` are the points whose values have not come. `lengths` are the axes' length-scales, of
        whichever function changes fastest along each: the trust region is as much longer along
        some axes than along others.
        """
        axes, view, constants = self._axes, self.view, self._constants
        best = np.lexsort((known.f, known.missed))[0]
        here = known.X[best]
        alike = np.flatnonzero((known.X[:, self._fixed] == here[self._fixed]).all(axis=1))
        if not axes or len(alike) < len(axes) + 2:
            return None
        scales = np.clip(lengths[axes] / lengths[axes].max(), constants.flattest, 1.0)
        reach = (np.abs(known.X[alike][:, axes] - here[axes]) / scales).max(axis=1)
        near = alike[np.argsort(reach, kind="stable")[: view.count]]
        Z = known.X[near][:, axes]
        centre = here[axes]
        sizes = np.array([_size(column) for column in known.C[near].T])
        Y = np.column_stack(
            [
                _bent(known.f[near] - known.f[best], _size(known.f[near] - known.f[best])),
                *(_bent(c, size) for c, size in zip(known.C[near].T, sizes, strict=True)),
            ]
        )
        models = Cubic(Z, Y, centre, scales)
        whole = [j for j, i in enumerate(axes) if isinstance(self._domain.axes[i], Steps)]
        width = view.radius * scales
        for j in whole:
            axis = self._domain.axes[axes[j]]
            assert isinstance(axis, Steps)
            width[j] = max(width[j], 1.01 / axis.count)  # at least to the next one
        low, high = np.maximum(centre - width, 0.0), np.minimum(centre + width, 1.0)
        problem = Problem(models, self._margins, self._exactly(here), low, high)
        taken = np.vstack([known.X, out])
        found: list[tuple[float, Array]] = []
        for start in self._starts(Z, known.missed[near], known.f[near], centre, low, high):
            z = problem.solve(start, constants)
            for settled in self._settled(problem, z, whole):
                x = self._allowed(here, settled)
                if x is not None and self._is_new(x, taken):
                    found.append((problem.merit(x[axes], constants.penalty), x))
        if found:
            x = min(found, key=lambda each: each[0])[1]
        else:
            spread = self._between(here, low, high, taken)
            if spread is None:
                return None
            x = spread
        return Proposal(x, view, models.values(x[axes])[1:], sizes)

    def _starts(
        self, Z: Array, missed: Array, f: Array, centre: Array, low: Array, high: Array
    ) -> list[Array]:
        """The incumbent, the best other points in the trust region, and one drawn from it."""
        order = np.lexsort((f, missed))
        inside = [Z[i] for i in order if ((Z[i] >= low) & (Z[i] <= high)).all()]
        drawn = low + (high - low) * self._rng.random(len(low))
        return [centre, *inside[1 : self._constants.starts], drawn]

    def _exactly(self, here: Array) -> Callable[[Array], Array] | None:
        """The constraints known in advance, as numbers <= 0, along the axes that move."""
        region = self._domain.region
        if region is None or not region.smooth:
            return None

        def excess(z: Array) -> Array:
            x = here.copy()
            x[self._axes] = z
            return region.excess(x)

        return excess

    def _settled(self, problem: "Problem", z: Array, whole: list[int]) -> list[Array]:
        """The solution with whole numbers rounded either way, and the rest adjusted."""
        if not whole:
            return [z]
        choices: list[list[float]] = []
        for j in whole:
            axis = self._domain.axes[self._axes[j]]
            assert isinstance(axis, Steps)
            at = axis.at(float(z[j]))
            side = 1 if z[j] > axis.centre(at) else -1
            both = [axis.centre(i) for i in (at, at + side) if 0 <= i < axis.count]
            choices.append(both if len(choices) < self._constants.rounded else both[:1])
        found = []
        for values in product(*choices):
            rounded = z.copy()
            rounded[whole] = values
            found.append(problem.solve(rounded, self._constants, whole))
        return found

    def _allowed(self, here: Array, z: Array) -> Array | None:
        """The point of the space, or one as near to it as known constraints allow."""
        x = here.copy()
        x[self._axes] = np.clip(z, 0.0, 1.0)
        x = self._domain.snap(x)
        region = self._domain.region
        if region is None or region.allowed(x):
            return x
        reach = self._constants.reach
        low, high = np.maximum(x - reach, 0.0), np.minimum(x + reach, 1.0)
        for i, axis in enumerate(self._domain.axes):
            if isinstance(axis, Steps):
                at = axis.at(float(x[i]))
                low[i], high[i] = axis.edge(at), axis.edge(at + 1)
        return region.find(low, high, x, self._constants.tries).x

    def _is_new(self, x: Array, taken: Array) -> bool:
        apart = np.abs(taken - x)
        least = np.maximum(4.0 * self._domain.finest, self._constants.same * self.view.radius)
        return bool((apart > least).any(axis=1).all())

    def _between(self, here: Array, low: Array, high: Array, taken: Array) -> Array | None:
        """Where the solution is known already: a point of the trust region far from all others."""
        best, x = 0.0, None
        for _ in range(self._constants.spread):
            drawn = here.copy()
            drawn[self._axes] = low + (high - low) * self._rng.random(len(low))
            drawn = self._domain.snap(drawn)
            if self._domain.allowed(drawn):
                apart = float(np.abs(taken - drawn).max(axis=1).min())
                if apart > best:
                    best, x = apart, drawn
        return x


class Cubic:
    r"""Cubic radial basis functions with a linear trend through points, one a column of values.

    :math:`s(z) = \sum_i \lambda_i |z - z_i|^3 + b + c^T z`, in units in which the points reach 1.
    """

    def __init__(self, Z: Array, Y: Array, centre: Array, scales: Array) -> None:
        self._centre = centre
        self._unit = scales * max(float((np.abs(Z - centre) / scales).max()), 1e-12)
        self._Z = (Z - centre) / self._unit
        count, dim = self._Z.shape
        apart = self._Z[:, None] - self._Z[None]
        r = np.sqrt((apart**2).sum(-1))
        trend = np.column_stack([np.ones(count), self._Z])
        system = np.zeros((count + dim + 1, count + dim + 1))
        system[:count, :count] = r**3
        system[:count, count:], system[count:, :count] = trend, trend.T
        sides = np.vstack([Y, np.zeros((dim + 1, Y.shape[1]))])
        # least squares: points may be too few, or lie in a plane
        solved = np.linalg.lstsq(system, sides, rcond=1e-13)[0]
        self._lambda, self._b, self._c = solved[:count], solved[count], solved[count + 1 :]

    def values(self, z: Array) -> Array:
        """Every function's value at a point."""
        z = (z - self._centre) / self._unit
        r = np.sqrt(((z - self._Z) ** 2).sum(1))
        found: Array = r**3 @ self._lambda + self._b + z @ self._c
        return found

    def slopes(self, z: Array) -> Array:
        """Every function's gradient at a point, one row each."""
        z = (z - self._centre) / self._unit
        apart = z - self._Z
        r = np.sqrt((apart**2).sum(1))
        found: Array = ((3.0 * r)[:, None] * apart).T @ self._lambda + self._c
        return found.T / self._unit


class Problem:
    """The models' minimum under their constraints, and those known exactly, in a box."""

    def __init__(
        self,
        models: Cubic,
        margins: Array,
        exactly: Callable[[Array], Array] | None,
        low: Array,
        high: Array,
    ) -> None:
        self._models, self._margins, self._exactly = models, margins, exactly
        self._low, self._high = low, high

    def _limits(self, z: Array) -> Array:
        """What must be >= 0."""
        limits = -(self._models.values(z)[1:] + self._margins)
        if self._exactly is None:
            return limits
        return np.concatenate([limits, -_calm(self._exactly(z))])

    def _limit_slopes(self, z: Array) -> Array:
        slopes = -self._models.slopes(z)[1:]
        if self._exactly is None:
            return slopes
        here = _calm(self._exactly(z))
        exact = np.empty((len(here), len(z)))
        for j in range(len(z)):
            step = 1e-7 if z[j] < 0.5 else -1e-7
            there = z.copy()
            there[j] += step
            exact[:, j] = -(_calm(self._exactly(there)) - here) / step
        return np.vstack([slopes, exact])

    def merit(self, z: Array, penalty: float) -> float:
        """How good a point is by the models: their value, and what it misses."""
        missed = np.maximum(-self._limits(z), 0.0)
        return float(self._models.values(z)[0] + penalty * missed.sum())

    def solve(self, start: Array, constants: ConstrainedConstants, fixed: list[int] = []) -> Array:  # noqa: B006 (never changed)
        """From a point to the solution, by sequential quadratic programming."""
        from scipy.optimize import minimize

        low, high = self._low.copy(), self._high.copy()
        start = np.clip(start, low, high)
        low[fixed] = high[fixed] = start[fixed]
        found = minimize(
            lambda z: float(self._models.values(z)[0]),
            start,
            jac=lambda z: self._models.slopes(z)[0],
            bounds=list(zip(low, high, strict=True)),
            constraints={"type": "ineq", "fun": self._limits, "jac": self._limit_slopes},
            method="SLSQP",
            options={"maxiter": constants.steps, "ftol": 1e-10},
        )
        z: Array = np.clip(found.x, low, high)
        if not np.isfinite(z).all():
            return start
        if (self._limits(z) >= -constants.slack).all():
            return z
        return self._least_missed(z, low, high, constants)

    def _least_missed(
        self, start: Array, low: Array, high: Array, constants: ConstrainedConstants
    ) -> Array:
        """Where nothing in the box meets all constraints: miss the worst of them by least."""
        from scipy.optimize import minimize

        dim = len(start)
        worst = max(float(-self._limits(start).min(initial=0.0)), 0.0)

        def limits(both: Array) -> Array:
            eased: Array = self._limits(both[:dim]) + both[dim]
            return eased

        def slopes(both: Array) -> Array:
            rows = self._limit_slopes(both[:dim])
            return np.hstack([rows, np.ones((len(rows), 1))])

        def value(both: Array) -> float:
            return float(self._models.values(both[:dim])[0] + constants.penalty * both[dim])

        found = minimize(
            value,
            np.append(start, worst),
            jac=lambda both: np.append(self._models.slopes(both[:dim])[0], constants.penalty),
            bounds=[*zip(low, high, strict=True), (0.0, 2.0 * worst + 1.0)],
            constraints={"type": "ineq", "fun": limits, "jac": slopes},
            method="SLSQP",
            options={"maxiter": constants.steps, "ftol": 1e-10},
        )
        z: Array = np.clip(found.x[:dim], low, high)
        return z if np.isfinite(z).all() else start


def _size(values: Array) -> float:
    """The typical size of numbers; those that are not finite do not count."""
    sizes = np.abs(values[np.isfinite(values) & (values != 0.0)])
    return max(float(np.median(sizes)), 1e-300) if len(sizes) else 1.0


def _bent(values: Array, size: float) -> Array:
    """Linear near 0 and logarithmic beyond `size`; what is not a number counts as the largest."""
    bent = np.arcsinh(values / size)
    finite = np.isfinite(bent)
    worst = float(bent[finite].max(initial=1.0))
    return np.asarray(np.where(finite, bent, max(worst, 1.0)))


def _calm(values: Array) -> Array:
    """Numbers that a solver can take."""
    return np.clip(values, -1e10, 1e10)
