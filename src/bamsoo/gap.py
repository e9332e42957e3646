r"""How much may still be gained: the largest upper bound of the model minus the best value.

The paper bounds the objective at the centre of a cell by :math:`U = \mu + B_N \sigma`. What is left
to gain concerns whole cells, so here the bound of a cell is the largest U anywhere in it, and the
bound of the space is the largest over all leaves, which cover it. It is found numerically: U is
computed at the centre of every leaf and at some other points inside, and climbs start from the
largest of them. The result is therefore an estimate from below of the largest U. How often the true
optimum lies within the gap is measured in ``lab/benchmarks/gap.py`` (docs/gap.md).

Sigma is multiplied by the paper's :math:`B_N`. The default algorithm rules out nodes with half of
that (`Auto.width`), because its other steps explore as well, but a gap computed with half of it
would be exceeded too often. Its learned prior may also be overconfident, so for a learned prior
:math:`B_N` is multiplied by the root mean square of the leave-one-out errors in units of their
sigma, if that is more than 1.
"""

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize as climb_down
from scipy.stats import qmc

from ._typing import Array
from .algorithms.search import B
from .algorithms.tree import Status, Tree
from .blas import one_thread
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

_SLOPE = 1e-7  # step of a numerical gradient, as a share of an axis
_WIDEST = 4.0  # cap on the leave-one-out ratio, as in the prior of the default algorithm


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
    """

    predictor: Predictor
    tree: Tree | None
    eta: float
    learned: bool
    exact: bool

    @cached_property
    def width(self) -> float:
        """The factor of sigma; N counts the nodes of the tree, as in Algorithm 3."""
        N = self.predictor.known if self.tree is None else len(self.tree)
        ratio = leave_one_out_ratio(self.predictor) if self.learned else 1.0
        return ratio * B(max(N, 1), self.eta)

    def upper(self, U: Array) -> Array:
        """The upper bounds at points of the unit cube, in the GP's own units."""
        mu, sigma = self.predictor.posterior(U)
        if self.exact:
            sigma = np.hypot(sigma, sqrt(self.predictor.gp.noise))
        return mu + self.width * sigma

    def gain(self, best: float, at: Array) -> float:
        """By how much the bounds at these points exceed the best value, in the caller's units."""
        top = self.predictor.values(np.array([self.upper(at).max()]))[0]
        return max(float(top) - best, 0.0)

    @cached_property
    def top(self) -> Array:
        """The point of the unit cube with the largest bound, as a row."""
        points = self._candidates()
        bounds = self.upper(points)
        largest = np.argsort(-bounds, kind="stable")[:CLIMBS]
        climbed = np.array([self._climb(points[i]) for i in largest])
        points = np.concatenate([points[largest[:1]], climbed])
        return points[[int(self.upper(points).argmax())]]

    def _candidates(self) -> Array:
        """The centre of every leaf, and some other points inside it."""
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
        """Climb from a point along the continuous axes, within the space."""
        domain = self.predictor.space.domain
        there = domain.exists(u)
        free = [i for i in domain.continuous if there[i]]
        if not free:
            return u

        def below(part: Array) -> tuple[float, Array]:
            points = np.repeat(u[None], len(free) + 1, axis=0)
            points[:, free] = part
            steps = np.where(part > 0.5, -_SLOPE, _SLOPE)  # away from the nearer bound
            points[np.arange(1, len(free) + 1), free] += steps
            bounds = self.upper(points)
            return -float(bounds[0]), -(bounds[1:] - bounds[0]) / steps

        found = climb_down(
            below, u[free], jac=True, method="L-BFGS-B", bounds=[(0.0, 1.0)] * len(free),
            options={"maxiter": STEPS},
        )  # fmt: skip
        at: Array = u.copy()
        at[free] = np.clip(found.x, 0.0, 1.0)
        return at


def leave_one_out_ratio(predictor: Predictor) -> float:
    r"""Root mean square of the leave-one-out errors in units of their sigma, from 1 to 4.

    With :math:`\alpha = K^{-1}(y - m)` the error at point i is :math:`\alpha_i / K^{-1}_{ii}` and
    its variance :math:`1 / K^{-1}_{ii}`.
    """
    gp, known = predictor.gp, predictor.known
    K = gp.kernel.variance * gp.correlations(gp.X[:known], known)
    rounding = 1e-8 * gp.kernel.variance  # counts as noise here
    K.flat[:: known + 1] += gp.noises[:known] + rounding
    with one_thread():
        try:
            inverse = cho_solve(cho_factor(K, lower=True), np.eye(known))
        except np.linalg.LinAlgError:
            return 1.0
        alpha = inverse @ (gp.values[:known] - gp.mean)
    ratio = float(np.mean(alpha**2 / np.maximum(np.diag(inverse), 1e-300)))
    return sqrt(min(max(ratio, 1.0), _WIDEST**2))
