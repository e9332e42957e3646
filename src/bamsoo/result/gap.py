r"""How much may still be gained: the largest upper bound of the model minus the best value.

The bound of a cell is the largest :math:`U = \mu + B_N \sigma` anywhere in it, and the bound of the
space is the largest over all leaves, which cover it. It is found numerically, so it is an estimate
from below. For a learned prior, the factor of sigma is larger, and the gap may be unknown, which is
said by inf. docs/gap.md explains both, and shows how often the optimum lies within the gap.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize as climb_down
from scipy.special import ndtr, stdtrit

from ..algorithms.search import B
from ..algorithms.tree import Status, Tree
from ..base.pareto import boxes, hypervolume, more_volume, non_dominated, scaled
from ..base.typing import Array
from ..model.warp import all_equal, at_limit, deviation
from ..space import Constraints
from .predictor import Predictor

INSIDE = 2
"""Number of points inside each leaf in addition to its centre. With more, the largest bound is
found more reliably; each one adds the cost of evaluating all leaves once."""

WITHOUT_TREE = 1024
"""Number of points spread over the space for a search that keeps no tree."""

CLIMBS = 8
"""Number of points, those with the largest bounds, from which a climb starts."""

STEPS = 40
"""Largest number of steps of a climb: enough to reach the top of a smooth hill."""

_BACK = 12  # if the end of a climb is not allowed, points on the way back, each half as far

_TOLERANCE = 1e-6  # of the bound of a constraint, in units of its prior's deviation

_SLOPE = 1e-7  # step of a numerical gradient, as a share of an axis


@dataclass(frozen=True)
class Bounds:
    """The upper bounds of a search at one moment.

    Parameters
    ----------
    predictor : Predictor
    tree : Tree, optional
        The cells. Without a tree, the largest bound is searched for over the whole space.
    eta : float
        The bounds hold together with probability 1 - eta, if the prior is right.
    learned : bool
        Whether the prior was learned from the values.
    exact : bool
        Whether values have no noise: what the GP takes for noise is then a part of the function,
        the jumps that it does not explain, and may be gained too.
    limits : sequence of Bounds, default ()
        Those of the measured constraints, whose numbers are to be at most 0.
    constraints : Constraints, optional
        The constraints that are known in advance.
    """

    predictor: Predictor
    tree: Tree | None
    eta: float
    learned: bool
    exact: bool
    limits: Sequence["Bounds"] = ()
    constraints: Constraints | None = None

    def __getstate__(self) -> dict[str, Any]:
        """A pickle holds none of the constraints that are Python functions."""
        kept = self.constraints and self.constraints.without_functions()
        return {**self.__dict__, "constraints": kept}

    @cached_property
    def degenerate(self) -> bool:
        """Whether the values say nothing about the prior that was learned from them.

        The variance that fits t values best is so large that no value is further than sqrt(t)
        deviations from the mean. A value that is further away came after the fit.
        """
        gp, known = self.predictor.gp, self.predictor.known
        if not self.learned:
            return False
        if known < gp.dim + 2:  # a length-scale per parameter, a mean and a variance
            return True
        if not self.exact and gp.noise >= (1.0 - 1e-6) * gp.kernel.variance:  # its upper limit
            return True
        with np.errstate(over="ignore"):
            away = np.abs(gp.residuals[:known]) / sqrt(known)
            outside = away > (1.0 + 1e-6) * np.sqrt(gp.kernel.variance + gp.noises[:known])
        if outside.any() or all_equal(self._values) or at_limit(self.predictor.transform):
            return True
        # With length-scales near their limit, the matrix of the covariances may be so close to
        # singular that the posterior misses the values.
        best = int(gp.values[:known].argmax())
        return self.exact and float(self.upper(gp.X[[best]])[0]) < gp.values[best]

    @cached_property
    def _values(self) -> Array:
        return self.predictor.values(self.predictor.gp.values[: self.predictor.known])

    @cached_property
    def _B(self) -> float:
        """The paper's factor; N counts the nodes of the tree, as in Algorithm 3."""
        N = self.predictor.known if self.tree is None else len(self.tree)
        return B(max(N, 1), self.eta)

    @cached_property
    def width(self) -> float:
        """The factor of sigma.

        If the variance of a normal distribution is estimated from t values and their mean, its
        quantiles are those of Student's t distribution with t - 1 degrees of freedom.
        """
        if not self.learned:
            return self._B
        quantile = -float(stdtrit(self.predictor.known - 1, ndtr(-self._B)))
        return quantile * self.predictor.calibration

    def upper(self, U: Array) -> Array:
        """The upper bounds at points of the unit cube, in the GP's own units."""
        mu, reach = self._band(U)
        return mu + reach

    def lower(self, U: Array) -> Array:
        """The lower bounds at points of the unit cube, in the GP's own units."""
        mu, reach = self._band(U)
        return mu - reach

    def _band(self, U: Array) -> tuple[Array, Array]:
        mu, sigma = self.predictor.posterior(U)
        if self.exact:
            sigma = np.hypot(sigma, sqrt(self.predictor.gp.noise))
        return mu, self.width * sigma

    def violations(self, U: Array) -> Array:
        """The lower bound of each measured constraint, one column per constraint.

        They are in units of its prior's deviation; those of a model that says nothing are left out.
        """
        models = [each for each in self.limits if not each.degenerate]
        columns = [each.lower(U) / sqrt(each.predictor.gp.kernel.variance) for each in models]
        return np.array(columns).reshape(len(models), len(U)).T

    def possible(self, U: Array) -> NDArray[np.bool_]:
        """Whether each point may meet every constraint, by the bounds of the measured ones."""
        met = np.atleast_1d((self.violations(U) <= _TOLERANCE).all(axis=1))
        if self.constraints is not None and self.constraints.known:
            decode, violated = self.predictor.space.decode, self.constraints.violated
            for i in np.flatnonzero(met).tolist():
                met[i] = violated(decode(U[i])) is None
        return met

    def gain(self, best: float, at: Array) -> float:
        """By how much the bounds at these points exceed the best value, in the caller's units.

        It is inf if a learned model leaves more to gain than the standard deviation of the values:
        it then says less than looking at the values does.
        """
        top = self.predictor.values(np.array([self.upper(at).max()]))[0]
        gain = max(float(top) - best, 0.0)
        return inf if self.learned and gain > deviation(self._values) else gain

    @cached_property
    def top(self) -> Array:
        """The point with the largest bound among those that may be feasible, as a row."""
        points = self.everywhere()
        bounds = self.upper(points)
        largest = np.argsort(-bounds, kind="stable")[:CLIMBS]
        climbed = np.array([self._climb(points[i]) for i in largest])
        points = np.concatenate([points[largest[:1]], climbed])
        return points[[int(self.upper(points).argmax())]]

    def everywhere(self) -> Array:
        """Points all over the space at which every constraint may be met.

        The known points are among them, because the feasible part of a leaf may be small. If none
        of them may be feasible, all are returned.
        """
        points = self._all_over()
        if not self.limits and (self.constraints is None or not self.constraints.known):
            return points
        gp, known = self.predictor.gp, self.predictor.known
        known_at = self.predictor.space.domain.pin(gp.X[:known])
        points = np.concatenate([points, known_at])
        possible = self.possible(points)
        return points[possible] if possible.any() else points

    def _all_over(self) -> Array:
        """The centre of every leaf, and some other points inside it."""
        from scipy.stats import qmc  # takes long to load

        domain = self.predictor.space.domain
        if self.tree is None:
            return np.array(
                [domain.snap(u) for u in qmc.Sobol(domain.dim, seed=0).random(WITHOUT_TREE)]
            )
        # all nodes without children: also cells too small to be split, which the search ignores
        leaves = np.setdiff1d(np.arange(len(self.tree)), self.tree.parent)
        leaves = leaves[self.tree.status[leaves] != Status.BARRED]  # nothing there is allowed
        low = np.clip(self.tree.low[leaves], 0.0, 1.0)
        high = np.clip(self.tree.high[leaves], 0.0, 1.0)
        shares = qmc.Halton(domain.dim, seed=0).random(INSIDE * len(leaves))
        inside = [low + part * (high - low) for part in np.split(shares, INSIDE)]
        points = np.concatenate([self.tree.x[leaves], *inside])
        return points if self.tree.uniform else np.array([domain.snap(u) for u in points])

    def _climb(self, u: Array) -> Array:
        """Climb from a point along the continuous axes, to another one that may be feasible."""
        domain = self.predictor.space.domain
        there = domain.exists(u)
        free = [i for i in domain.continuous if there[i]]
        if not free:
            return u

        def around(part: Array) -> tuple[Array, Array]:
            """A point and one further along each axis, and how far it is further."""
            points = np.repeat(u[None], len(free) + 1, axis=0)
            points[:, free] = part
            steps = np.where(part > 0.5, -_SLOPE, _SLOPE)  # away from the nearer bound
            points[np.arange(1, len(free) + 1), free] += steps
            return points, steps

        def below(part: Array) -> tuple[float, Array]:
            points, steps = around(part)
            bounds = self.upper(points)
            return -float(bounds[0]), -(bounds[1:] - bounds[0]) / steps

        def slopes(part: Array) -> Array:
            points, steps = around(part)
            bounds = self.violations(points)
            return np.asarray(-(bounds[1:] - bounds[0]).T / steps)

        met = {"type": "ineq", "jac": slopes,
               "fun": lambda part: -self.violations(around(part)[0][:1])[0]}  # fmt: skip
        limited = bool(self.limits)
        found = climb_down(
            below, u[free], jac=True, method="SLSQP" if limited else "L-BFGS-B",
            bounds=[(0.0, 1.0)] * len(free), constraints=[met] if limited else (),
            options={"maxiter": STEPS},
        )  # fmt: skip
        if not np.isfinite(found.x).all():
            return u
        at = np.repeat(u[None], _BACK, axis=0)  # from the end of the climb back to its beginning
        end = np.clip(found.x, 0.0, 1.0)
        at[:, free] = end + (1.0 - 2.0 ** -np.arange(_BACK)[:, None]) * (u[free] - end)
        if limited or (self.constraints is not None and self.constraints.known):
            at = at[self.possible(at)]
        first: Array = at[0] if len(at) else u
        return first


MOST_ON_FRONT = 100
"""The largest number of optimistic vectors whose joint hypervolume is computed; of more, every
second, third and so on is used. In four objectives, the time grows with the cube of it."""


def left_to_gain(
    bounds: Sequence[Bounds], known_at: Array, front: Array, reference: Array
) -> tuple[float, Array]:
    """With several objectives, the hypervolume that the bounds leave, as a share of the front's.

    It is that of the front and of the vectors of upper bounds at all leaves together, minus that of
    the front. Leaves need not contain points close to the front, which may lie on a face of the
    space, so its own points (`known_at`) and those half-way between neighbours are added. The
    second part is the point that could add the most, as a row. The share is inf if the model of any
    objective says nothing, or leaves more to gain than the standard deviation of its values, and if
    the bounds together leave more than has been reached.
    """
    domain = bounds[0].predictor.space.domain
    between = [domain.snap(0.5 * (a + b)) for a, b in pairwise(known_at)]
    points = np.vstack([bounds[0].everywhere(), known_at, *between])
    upper = np.stack([each.predictor.values(each.upper(points)) for each in bounds], axis=1)
    Y, known = (scaled(each, reference, front.max(0)) for each in (upper, front))
    zero = np.zeros(Y.shape[1])
    top = points[[int(more_volume(Y, *boxes(known, zero)).argmax())]]
    tops = front.max(0).tolist()
    gains = [each.gain(best, points) for each, best in zip(bounds, tops, strict=True)]
    if any(each.degenerate for each in bounds) or inf in gains:
        return inf, top
    best = Y[non_dominated(Y)]
    best = best[:: -(-len(best) // MOST_ON_FRONT)]
    reached = hypervolume(known, zero)
    share = hypervolume(np.vstack([known, best]), zero) / max(reached, 1e-300) - 1.0
    return share if share <= 1.0 else inf, top
