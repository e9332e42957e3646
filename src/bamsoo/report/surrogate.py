"""The Gaussian process that the page shows: what the search believed when the study was read.

A search with a GP has one, with its prior, its transform of the values and its noise. For a search
without, and for one that was not replayed, a prior is learned as the default learns its own.
The page gets the prior, the points and what the GP sees of their values, and computes the posterior
itself, so that any two parameters can be looked at through any point.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import inf, sqrt
from typing import Any

import numpy as np

from .._typing import Array
from ..algorithms.auto.constants import CONSTANTS
from ..algorithms.auto.loop import Auto
from ..blas import one_thread
from ..model.gp import GP, JITTER
from ..model.learning import representative, spread_of
from ..model.prior import learn_prior
from ..model.warp import Bent, Identity, Transform
from ..optimizer import Optimizer
from ..space.axes import Domain

FEWEST = 4
"""Values a model needs."""

MOST_ROWS = CONSTANTS.loop.rows + CONSTANTS.loop.longest_gap
"""Points that the page conditions on. The default's GP never has more; of that of another search,
the best half of so many and an even spread."""

STEPS = 50
"""Steps of a fit: the default goes on from one fit to the next, this one begins from nothing."""

FAMILIES = {
    "Matern32": "Matérn 3/2",
    "Matern52": "Matérn 5/2",
    "Matern72": "Matérn 7/2",
    "SquaredExponential": "squared-exponential",
}
"""The kernels that the page can compute, as it names them."""


@dataclass(frozen=True)
class Surrogate:
    """A GP, and the transform that takes values, larger ones being better, to what it sees."""

    gp: GP
    transform: Transform

    def as_data(self) -> dict[str, Any]:
        """What the page needs of it."""
        gp = self.gp
        transform: Any = self.transform  # each is a frozen dataclass; the page knows them all
        return {
            "kernel": type(gp.kernel).__name__,
            "lengths": gp.kernel.lengths(gp.dim).tolist(),
            "variance": gp.kernel.variance,
            "mean": gp.mean,
            "noise": gp.noise,
            "noises": gp.noises.tolist(),
            "jitter": JITTER,
            "transform": {"kind": type(self.transform).__name__, **_finite(asdict(transform))},
            "points": gp.X[: gp.known].tolist(),
            "pending": gp.X[gp.known :].tolist(),
            "y": gp.values.tolist(),
        }

    def description(self) -> str:
        """The prior in words."""
        said = f"{FAMILIES[type(self.gp.kernel).__name__]}, one length-scale per parameter"
        if isinstance(self.transform, Bent):
            said += ", values seen through a logarithm of their distance from the best"
        if self.gp.noise > 0.0:
            low, high = self.transform.inverse(np.array([0.0, sqrt(self.gp.noise)])).tolist()
            said += f", noise or jumps of deviation {high - low:.3g} in a value"
        return said


def _finite(fields: dict[str, Any]) -> dict[str, Any]:
    """Fields as JSON has them: null for inf."""
    return {key: None if each == inf else each for key, each in fields.items()}


def own(search: Optimizer) -> Surrogate | None:
    """The GP of a search, where it has one that says something."""
    book = search.book
    gp = book.gp
    if gp is None or gp.known < FEWEST or type(gp.kernel).__name__ not in FAMILIES:
        return None
    if isinstance(search.algorithm, Auto) and isinstance(book.transform, Identity):
        return None  # the default has not learned its prior yet
    if gp.known <= MOST_ROWS:
        return Surrogate(gp, book.transform)
    order = np.argsort(-gp.values, kind="stable")
    thinned = GP(gp.kernel, gp.dim, gp.mean, gp.noise, search.space.domain)
    rows = spread_of(order, MOST_ROWS)
    return Surrogate(_conditioned(thinned, gp.X, gp.values, rows, gp.noises), book.transform)


def learn(domain: Domain, X: Array, values: Array, noise: float | str = 0.0) -> Surrogate:
    """As the default learns its prior: of values to be maximised, at points of the unit cube."""
    learning = CONSTANTS.learning
    order = np.argsort(-values, kind="stable")
    rows = spread_of(order, learning.most) if noise else representative(X, values, learning)
    typical = np.full(domain.dim, learning.typical)
    constants = replace(CONSTANTS.prior, steps=STEPS, noisy_steps=STEPS)
    with one_thread():
        learned = learn_prior(
            domain, X[rows], values[rows], [(typical, None)],
            warp=not noise, noise=noise, constants=constants, learning=learning,
        )  # fmt: skip
        seen = np.array([learned.transform(value) for value in values.tolist()])
        return Surrogate(_conditioned(learned.gp(domain), X, seen, rows), learned.transform)


def nothing_to_learn(values: Array) -> str | None:
    """Why these values teach nothing, if so."""
    if len(values) < FEWEST:
        return f"A model needs at least {FEWEST} values, and there are {len(values)}."
    size = float(np.abs(values).max())
    if size == 0.0 or np.ptp(values / size) <= 1e-12:
        return "All values are equal, so there is nothing for a model to learn."
    return None


def _conditioned(
    gp: GP, X: Array, values: Array, rows: Sequence[int], noises: Array | None = None
) -> GP:
    for i in rows:
        gp.expect(i, X[i])
        gp.observe(i, float(values[i]), None if noises is None else float(noises[i]))
    return gp
