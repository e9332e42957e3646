"""The Gaussian process that the page shows: the search's model when the study was read.

If the search has a GP, it is shown with its prior, its transform of the values and its noise. For a
search without a GP, and for one that was not replayed, a prior is fitted in the way the default
algorithm fits its own. The page gets the prior, the points and their transformed values, and
computes the posterior itself, so that it can show any two parameters through any point.
"""

from dataclasses import dataclass, fields, is_dataclass
from math import inf, sqrt
from typing import Any

import numpy as np

from ..algorithms.auto.loop import CONSTANTS
from ..base.typing import Array
from ..model.gp import GP, JITTER, Constant
from ..model.learning import spread_of
from ..model.warp import Bent, Identity, Transform, all_equal
from ..result.substitute import FEWEST, conditioned
from ..search.optimizer import Optimizer

MOST_ROWS = CONSTANTS.prior.most_rows
"""Largest number of points of the page's GP. The GP of the default algorithm never has more. Of a
larger one, the page uses this many: half of them are the best ones, the others an even sample."""

FAMILIES = {
    "Matern32": "Matérn 3/2",
    "Matern52": "Matérn 5/2",
    "Matern72": "Matérn 7/2",
    "SquaredExponential": "squared-exponential",
}
"""The kernels that the page can compute, with the names it shows."""


@dataclass(frozen=True)
class Surrogate:
    """A GP, and the transform from values (larger ones are better) to the values it sees."""

    gp: GP
    transform: Transform

    def as_data(self) -> dict[str, Any]:
        """The data from which the page computes the posterior."""
        gp = self.gp
        assert isinstance(gp.mean, Constant)  # as the page assumes
        transform: Any = self.transform  # a frozen dataclass; base.js has the inverse of each kind
        return {
            "kernel": type(gp.kernel).__name__,
            "lengths": gp.kernel.lengths(gp.dim).tolist(),
            "variance": gp.kernel.variance,
            "mean": gp.mean.value,
            "noise": gp.noise,
            "noises": gp.noises.tolist(),
            "jitter": JITTER,
            "transform": _described(transform),
            "points": gp.X[: gp.known].tolist(),
            "pending": gp.X[gp.known :].tolist(),
            "y": gp.values.tolist(),
        }

    def description(self) -> str:
        """The prior in words."""
        said = f"{FAMILIES[type(self.gp.kernel).__name__]}, one length-scale per parameter"
        if isinstance(self.transform, Bent):
            said += ", on a logarithmic scale of the distance from the best value"
        if self.gp.noise > 0.0:
            low, high = self.transform.inverse(np.array([0.0, sqrt(self.gp.noise)])).tolist()
            said += f", noise or jumps with a standard deviation of {high - low:.3g}"
        return said


def _described(transform: Any) -> dict[str, Any]:
    """A transform and those inside it as JSON, with null for inf."""
    named = {f.name: getattr(transform, f.name) for f in fields(transform)}
    described = {
        key: _described(each) if is_dataclass(each) else None if each == inf else each
        for key, each in named.items()
    }
    return {"kind": type(transform).__name__, **described}


def own(search: Optimizer, i: int = 0) -> Surrogate | None:
    """The GP of objective i of a search; None if there is none, or one that has learned nothing."""
    book = search.book
    gp = book.gps[i] if i < len(book.gps) else None
    if gp is None or gp.known < FEWEST or type(gp.kernel).__name__ not in FAMILIES:
        return None
    transform = book.transforms[i]
    if search.algorithm.learns_prior and isinstance(transform, Identity):
        return None  # the default has not learned its prior yet
    if gp.known <= MOST_ROWS:
        return Surrogate(gp, transform)
    order = np.argsort(-gp.values, kind="stable")
    thinned = GP(gp.kernel, gp.dim, gp.mean, gp.noise, search.space.domain)
    rows = spread_of(order, MOST_ROWS)
    return Surrogate(conditioned(thinned, gp.X, gp.values, rows, gp.noises), transform)


def nothing_to_learn(values: Array) -> str | None:
    """The reason why no model can be fitted to these values, or None."""
    if len(values) < FEWEST:
        return f"A model needs at least {FEWEST} values; so far there are {len(values)}."
    if all_equal(values):
        return "All values are equal, so there is nothing for a model to learn."
    return None
