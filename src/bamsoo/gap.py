r"""How much may still be gained: the largest upper bound of the model, less the best value.

The paper bounds the objective at a cell's point by :math:`U = \mu + B_N \sigma`. What is left to
gain is a question about whole cells, so the bound of a cell here is the largest U anywhere in it,
and the gap is the largest of these over all leaves, which cover the space. It is found numerically:
U is computed at the point of every leaf and at others inside it, and the search climbs from the
largest of them. So it is an estimate from below of the largest U. How often it holds is measured
(``benchmarks/gap.py``, docs/gap.md).

What multiplies sigma is the paper's :math:`B_N`. The default rejects nodes by half of it
(`Auto.width`), because its other steps explore as well, but what half of it promises holds too
seldom. Its learned prior may be too sure of itself, so there :math:`B_N` is also multiplied by the
root mean square of the leave-one-out errors in units of their sigma, where that is more than 1.
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
"""Points inside each leaf besides its own. More find the largest bound more surely, and each costs
as much again as the tree's own points."""

WITHOUT_TREE = 1024
"""Points over the space where the search keeps no tree."""

CLIMBS = 8
"""Of the largest bounds, how many are climbed from."""

STEPS = 40
"""Steps of a climb: as many as bring the bound to its top in a smooth valley."""

_SLOPE = 1e-7  # step of a numerical gradient, as a share of an axis
_WIDEST = 4.0  # leave-one-out errors count as at most so many sigma, as in the default's own prior


@dataclass(frozen=True)
class Bounds:
    """The upper bounds of a search at one moment.

    Parameters
    ----------
    predictor : Predictor
    tree : Tree, optional
        The cells; where there is none, the bounds are looked for over the whole space.
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
        """What multiplies sigma; N counts the nodes of the tree, as in Algorithm 3."""
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
        """What the bounds at these points promise beyond the best value, in the caller's units."""
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
        """Points of every leaf, and some inside each."""
        domain = self.predictor.space.domain
        if self.tree is None:
            return np.array(
                [domain.snap(u) for u in qmc.Sobol(domain.dim, seed=0).random(WITHOUT_TREE)]
            )
        # also the cells that are too small to be cut, which the search has no use for any more
        leaves = np.setdiff1d(np.arange(len(self.tree)), self.tree.parent)
        leaves = leaves[self.tree.status[leaves] != Status.BARRED]  # nothing there is allowed
        low = np.clip(self.tree.low[leaves], 0.0, 1.0)
        high = np.clip(self.tree.high[leaves], 0.0, 1.0)
        shares = qmc.Halton(domain.dim, seed=0).random(INSIDE * len(leaves))
        inside = [low + part * (high - low) for part in np.split(shares, INSIDE)]
        points = np.concatenate([self.tree.x[leaves], *inside])
        return points if self.tree.uniform else np.array([domain.snap(u) for u in points])

    def _climb(self, u: Array) -> Array:
        """Uphill from a point along the continuous axes, within the space."""
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
