r"""A Gaussian process of a study's values, for the page to look at.

Whatever the algorithm, it is the prior the default learns: Matérn 5/2, one length-scale a
parameter, by maximum a posteriori. With :math:`d \ge 0` the distance of a value from the
best, it sees :math:`y = (w(d) - \text{shift}) / \text{scale}` with :math:`w(d) = d` or
:math:`\operatorname{asinh}(d / \text{bend})`, whichever is likelier. The page gets the
prior, the points and y, and computes the posterior itself, so that any two parameters can be
looked at through any point.
"""

from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from .._typing import Array
from ..blas import one_thread
from ..model.gp import GP
from ..model.kernels import Matern52
from ..model.learning import (
    LEARNING,
    Fit,
    fit,
    representative,
)
from ..space.axes import Domain

FEWEST = 4
"""Values a model needs."""

BENDS = (None, 1.0, 0.1, 0.01)
"""Where a warp turns from linear to logarithmic, in deviations; None: nowhere."""


@dataclass(frozen=True)
class Warp:
    """Distances from the best value to what the GP sees; `bend` None is the linear one."""

    bend: float | None
    shift: float
    scale: float

    def __call__(self, distances: Array) -> Array:
        return (self._bent(distances) - self.shift) / self.scale

    def _bent(self, distances: Array) -> Array:
        return distances if self.bend is None else np.arcsinh(distances / self.bend)

    def log_slope(self, distances: Array) -> float:
        """The log of its slope, summed: what makes likelihoods of two warps comparable."""
        slopes = 0.0
        if self.bend is not None:
            slopes = -0.5 * float(np.log(distances**2 + self.bend**2).sum())
        return slopes - len(distances) * log(self.scale)

    @classmethod
    def for_values(cls, bend: float | None, distances: Array) -> "Warp":
        """The one that takes `distances` to mean 0 and deviation 1."""
        size = None if bend is None else bend * float(distances.std())
        bent = cls(size, 0.0, 1.0)(distances)
        return cls(size, float(bent.mean()), float(bent.std()))


@dataclass(frozen=True)
class Surrogate:
    """A fitted prior, and the points and warped values that it is conditioned on."""

    kernel: Matern52
    mean: float
    warp: Warp
    points: Array
    y: Array
    rows: list[int]

    def gp(self, domain: Domain) -> GP:
        """The posterior, as the page computes it."""
        noise = LEARNING.nugget * self.kernel.variance
        gp = GP(self.kernel, domain.dim, self.mean, noise, domain)
        for i, (x, y) in enumerate(zip(self.points, self.y.tolist(), strict=True)):
            gp.expect(i, x)
            gp.observe(i, y)
        return gp

    def as_data(self) -> dict[str, Any]:
        """What the page needs of it."""
        return {
            "lengths": self.kernel.lengths(self.points.shape[1]).tolist(),
            "variance": self.kernel.variance,
            "mean": self.mean,
            "nugget": LEARNING.nugget,
            "warp": {"bend": self.warp.bend, "shift": self.warp.shift, "scale": self.warp.scale},
            "points": self.points.tolist(),
            "y": self.y.tolist(),
            "rows": self.rows,
        }


def learn(domain: Domain, points: Array, distances: Array) -> Surrogate | str:
    """The likeliest model of distances from the best, at points of the unit cube.

    Or, in a sentence, why there is none.
    """
    if len(distances) < FEWEST:
        return f"A model needs at least {FEWEST} values; there are {len(distances)}."
    some = representative(points, -distances)
    X, d = points[some], distances[some]
    if not d.std() > 1e-12 * d.max():
        return "All values are equal: there is nothing for a model to learn."
    owners, seen = domain.owners, domain.features(X)
    best: tuple[float, Fit, Warp] | None = None
    with one_thread():
        for bend in BENDS:
            warp = Warp.for_values(bend, d)
            fitted = fit(Matern52, seen, warp(d), [np.full(domain.dim, 0.5)], owners)
            score = fitted.log_posterior + warp.log_slope(d)
            if best is None or score > best[0]:
                best = score, fitted, warp
    assert best is not None
    _, fitted, warp = best
    kernel = Matern52(fitted.kernel.lengths(domain.dim), fitted.kernel.variance)
    return Surrogate(kernel, fitted.mean, warp, X, warp(d), some)
