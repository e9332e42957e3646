r"""Steps around the best point in problems with constraints.

An optimum under constraints usually lies on the boundary of one of them, where the tree, and a
model of the objective alone, come close only slowly. These steps take the place of those of `local`
there.

The incumbent is the best feasible point or, if there is none, the point with the smallest
violation. The objective and each measured constraint have a smooth model through the points nearest
to it: a cubic radial basis function with a linear trend. The coefficients of all models come from
one factorisation. The step goes to the solution of a small problem: minimise the model of the
objective within a trust region, subject to the models of the constraints. Constraints that are
known in advance enter the problem exactly. As in COBYQA and SACOBRA, no evaluations are spent on
differences along single axes, since each evaluation serves all models at once.

The models see a number y as y / size or as asinh(y / size), whichever predicts better at points
that are left out. The second scale is linear near the boundary of a constraint, where precision
matters, and logarithmic where the constraint is violated by far.

Models have small errors, and a point that violates a constraint by a small amount is infeasible. So
a step keeps a margin from each constraint, as large as the error of the last prediction, but within
limits.

Whole numbers are treated as real ones at first. The solution is then rounded up and down, and the
real parameters are adjusted to each rounding. Options stay as they are at the incumbent.
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
    """How many points the models are made of, and how far their steps may go."""

    def __init__(self, count: int, narrowest: float, constants: ConstrainedConstants) -> None:
        self.count, self._narrowest, self._constants = count, narrowest, constants
        self.radius = constants.radius

    def judge(self, better: bool) -> None:
        """Widen the trust region after a step that improved, and narrow it otherwise.

        Below the smallest radius it starts again from the first one.
        """
        constants = self._constants
        self.radius *= constants.widen if better else constants.narrow
        if self.radius < self._narrowest:
            self.radius = constants.radius
        self.radius = min(self.radius, 1.0)


@dataclass(frozen=True)
class Known:
    """The evaluated points, as rows of `X` in the unit cube.

    `f` holds their values, to be minimised, `C` the measured constraints, met if <= 0, and `missed`
    the total violation of each point.
    """

    X: Array
    f: Array
    C: Array
    missed: Array


_LARGEST = 100.0  # of a logarithm, so that its exponential and the products of two are finite


class ValueScale(NamedTuple):
    """How the values of a function are seen: in units of their typical size, perhaps as logarithms.

    The logarithmic scale is linear near 0.
    """

    size: float
    bent: bool

    def __call__(self, value: float) -> float:
        """A value on this scale."""
        return float(np.arcsinh(value / self.size) if self.bent else value / self.size)


class Proposal(NamedTuple):
    """A point, the view that proposed it, and the prediction and the scale of each constraint."""

    x: Array
    view: View
    predicted: Array
    scales: list[ValueScale]


class Constrained:
    """Proposes one point after another, each around the best one.

    Parameters
    ----------
    domain : Domain
    count : int
        The number of measured constraints.
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
        self._margins: Array = np.full(count, constants.margins[0])

    def count(self, better: bool, view: View) -> None:
        """Note whether a step of a view improved on the best point before it."""
        view.judge(better)
        if not better and view is self.view:
            following = self._views.index(view) + 1
            self.view = self._views[following % len(self._views)]

    def learn(self, proposal: Proposal, measured: Array) -> None:
        """Set the margins to the errors of the predictions, up to a limit."""
        if len(measured) and np.isfinite(measured).all():
            seen = [scale(c) for scale, c in zip(proposal.scales, measured.tolist(), strict=True)]
            error = np.abs(np.array(seen) - proposal.predicted)
            self._margins = np.clip(error, *self._constants.margins)

    def propose(self, known: Known, out: Array, lengths: Array) -> Proposal | None:
        """The solution of the small problem, or a point near it if that is known.

        None if there are too few points, or if no new point is found.

        Parameters
        ----------
        known : Known
            The evaluated points.
        out : array
            The points that are pending or have failed.
        lengths : array
            The shortest length-scale of any model along each axis. The sides of the trust region
            are proportional to these, within limits.
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
        values = [known.f[near] - known.f[best], *known.C[near].T]
        models, seen = fitted(Z, values, centre, scales)
        whole = [j for j, i in enumerate(axes) if isinstance(self._domain.axes[i], Steps)]
        width = view.radius * scales
        for j in whole:
            axis = self._domain.axes[axes[j]]
            assert isinstance(axis, Steps)
            width[j] = max(width[j], 1.01 / axis.count)  # reach at least the next one
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
        return Proposal(x, view, models.values(x[axes])[1:], seen[1:])

    def _starts(
        self, Z: Array, missed: Array, f: Array, centre: Array, low: Array, high: Array
    ) -> list[Array]:
        """The incumbent, the next best points in the trust region, and one drawn from it."""
        order = np.lexsort((f, missed))
        inside = [Z[i] for i in order if ((Z[i] >= low) & (Z[i] <= high)).all()]
        drawn = low + (high - low) * self._rng.random(len(low))
        return [centre, *inside[1 : self._constants.starts], drawn]

    def _exactly(self, here: Array) -> Callable[[Array], Array] | None:
        """The constraints known in advance, as a function of the axes that move; met if <= 0."""
        region = self._domain.region
        if region is None or not region.smooth:
            return None

        def excess(z: Array) -> Array:
            x = here.copy()
            x[self._axes] = z
            return region.excess(x)

        return excess

    def _settled(self, problem: "Problem", z: Array, whole: list[int]) -> list[Array]:
        """The solution with its whole numbers rounded up and down, and the rest adjusted."""
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
        """The solution as a point of the space, moved a little if a known constraint forbids it.

        None if no allowed point is found close to it.
        """
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
        """A point of the trust region far from all others, for when the solution is known."""
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
    r"""Cubic radial basis functions with a linear trend, one for each column of values.

    :math:`s(z) = \sum_i \lambda_i |z - z_i|^3 + b + c^T z`, where z is measured from the centre, in
    units in which the largest coordinate of any point is 1.
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
        # least squares, since there may be too few points, or all may lie in a plane
        solved = np.linalg.lstsq(system, sides, rcond=1e-13)[0]
        self._lambda, self._b, self._c = solved[:count], solved[count], solved[count + 1 :]
        self._system, self._Y = system, Y

    def left_out(self) -> Array:
        """The predictions at each point by models that do not know that point's values."""
        inverse = np.diag(np.linalg.pinv(self._system, rcond=1e-13))[: len(self._Z)]
        found: Array = self._Y - self._lambda / np.where(inverse == 0.0, 1.0, inverse)[:, None]
        return found

    def keep(self, columns: Array) -> None:
        """Drop all functions but these."""
        self._lambda, self._b, self._c = (
            self._lambda[:, columns], self._b[columns], self._c[:, columns]
        )  # fmt: skip

    def values(self, z: Array) -> Array:
        """The value of each function at a point."""
        z = (z - self._centre) / self._unit
        r = np.sqrt(((z - self._Z) ** 2).sum(1))
        found: Array = r**3 @ self._lambda + self._b + z @ self._c
        return found

    def slopes(self, z: Array) -> Array:
        """The gradient of each function at a point, one row per function."""
        z = (z - self._centre) / self._unit
        apart = z - self._Z
        r = np.sqrt((apart**2).sum(1))
        found: Array = ((3.0 * r)[:, None] * apart).T @ self._lambda + self._c
        return found.T / self._unit


class Problem:
    """The small problem: minimise the model of the objective in a box, subject to constraints.

    The constraints are the models of the measured ones, with their margins, and those that are
    known exactly.
    """

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
        """The constraints at a point, as numbers that must be >= 0, as the solver needs them."""
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
        """The model's value of a point plus a penalty for its violations; smaller is better."""
        missed = np.maximum(-self._limits(z), 0.0)
        return float(self._models.values(z)[0] + penalty * missed.sum())

    def solve(self, start: Array, constants: ConstrainedConstants, fixed: list[int] = []) -> Array:  # noqa: B006 (never changed)
        """Solve the problem from a start, by sequential quadratic programming.

        The axes in `fixed` keep their values. If the solver finds no point of the box that meets
        all constraints, the result is a compromise in which the worst violation is small.
        """
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
        """The best compromise in the box: the worst violation costs `penalty` times its size."""
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


def fitted(
    Z: Array, values: list[Array], centre: Array, scales: Array
) -> tuple[Cubic, list[ValueScale]]:
    """Models of several functions, and the scale on which each of them is modelled.

    A logarithmic scale tames constraints that grow steeply, but bends those that are linear. So
    each function has the scale on which it is predicted better at points left out. Errors are
    compared in logarithmic units, in which they count most where a constraint is nearly met.
    """
    sizes = [_size(each) for each in values]
    bent = np.column_stack([_bent(v, size) for v, size in zip(values, sizes, strict=True)])
    plain = np.sinh(np.minimum(bent, _LARGEST))
    models = Cubic(Z, np.hstack([bent, plain]), centre, scales)
    of_bent, of_plain = np.hsplit(models.left_out(), 2)
    errors = [np.median(np.abs(y - bent), axis=0) for y in (of_bent, np.arcsinh(of_plain))]
    linear = errors[1] < errors[0]
    models.keep(np.arange(len(sizes)) + len(sizes) * linear)
    return models, [
        ValueScale(size, not straight) for size, straight in zip(sizes, linear, strict=True)
    ]


def _size(values: Array) -> float:
    """The median size of the numbers, without those that are 0 or not finite."""
    sizes = np.abs(values[np.isfinite(values) & (values != 0.0)])
    return max(float(np.median(sizes)), 1e-300) if len(sizes) else 1.0


def _bent(values: Array, size: float) -> Array:
    """The values, linear near 0 and logarithmic beyond `size`.

    One that is not finite counts as the largest of the others, and as 1 at least.
    """
    bent = np.arcsinh(values / size)
    finite = np.isfinite(bent)
    worst = float(bent[finite].max(initial=1.0))
    return np.asarray(np.where(finite, bent, max(worst, 1.0)))


def _calm(values: Array) -> Array:
    """The numbers, cut to a range that a solver can handle."""
    return np.clip(values, -1e10, 1e10)
