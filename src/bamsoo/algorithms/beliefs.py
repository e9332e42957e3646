"""What a search believes about values: under noise, the posterior means of its GPs."""

from collections.abc import Mapping, Sequence
from math import inf, isnan

import numpy as np

from ..base.typing import Array
from ..model.gp import GP
from ..model.repeats import Repeats
from ..space.point import key_of
from .facts import Arrival, Facts

BLOCK = 1000  # number of points whose posterior means are computed at once, to limit memory


class Beliefs:
    """The values that a search goes by.

    Without noise they are the values as they arrived. With noise they are the GP's posterior means,
    and f_plus is the best of these over the evaluated points.

    Parameters
    ----------
    facts : Facts
    """

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._repeats: Repeats | None = None  # as they were when asked for last

    def values(self) -> Array:
        """The known values; under noise, the GP's posterior means instead."""
        facts = self._facts
        known, transform = facts.known, facts.transform
        return transform.inverse(known.means) if facts.noisy else known.values

    def columns(self) -> Array:
        """The believed values of all objectives, one column for each."""
        facts = self._facts
        if not facts.noisy:
            return facts.known.F
        columns = zip(facts.transforms, facts.known.M.T, strict=True)
        return np.stack([transform.inverse(means) for transform, means in columns], axis=1)

    def g(self) -> Array:
        """The believed values in the units of f_plus and of the GP."""
        facts = self._facts
        return facts.known.means if facts.noisy else facts.known.g

    def seen(self) -> tuple[Array, Array]:
        """The values as the GP sees them, and the variances of their noise."""
        facts = self._facts
        assert facts.gp is not None
        own = [self.noise_of(i, 0) for i in range(facts.t)]
        noises = [facts.gp.noise if each is None else each for each in own]
        return facts.known.g, np.array(noises)

    def noise_of(self, i: int, objective: int) -> float | None:
        """The variance of the noise of a value, in the GP's units; None for the GP's own noise."""
        facts = self._facts
        known, transform = facts.known, facts.transforms[objective]
        own, factor = float(known.variances[i, objective]), float(known.factors[i])
        if not isnan(own):
            return transform.variance(own, float(known.F[i, objective]))
        return None if isnan(factor) or facts.gp is None else factor * facts.gp.noise

    @property
    def learned(self) -> bool | None:
        """Whether the noise was learned; None if there is none, or if there are several objectives.

        Before the first fit of a prior, there is none in the GP.
        """
        facts = self._facts
        gp = facts.gp
        if not facts.noisy or facts.several or gp is None or not gp.noises.any():
            return None
        return not np.isnan(facts.known.factors).all()

    def repeats(self, gp: GP, known: int, learned: bool) -> Repeats:
        """The estimates of the first values of a GP of this search without noise."""
        found = self._repeats
        if found is None or (found.gp, found.known) != (gp, known):
            found = self._repeats = Repeats(gp, known, learned)
        return found

    def tell(self, arrival: Arrival) -> bool:
        """Update what is believed, after each value, so that batches make no difference.

        Values are noisy from the first one that comes with a variance, or that differs from
        another value of its point. Returns whether this is the first one.
        """
        facts = self._facts
        known, outcome = facts.known, arrival.outcome
        found = arrival.repeated is not None or (any(outcome.variances) and outcome.final)
        found = found and facts.gp is not None and not facts.noisy
        if found:
            facts.noisy = True
            if facts.limits is not None:
                facts.limits.noisy = True
            self.renew([known.rows[key] for key in facts.gps[0].keys if key in known.rows])
        if facts.noisy:
            self._update()
        return found

    def renew(self, rows: Sequence[int]) -> None:
        """Update every posterior mean, including those of points that are not rows of the GP."""
        facts = self._facts
        apart = sorted(set(range(facts.t)) - set(rows))
        for j, gp in enumerate(facts.gps):
            facts.known.M[apart, j] = self._posterior_means(gp, facts.known.X[apart])
        self._update()

    def _update(self) -> None:
        """Update the posterior means of the rows in the GP, and f_plus from all of them."""
        facts = self._facts
        known = facts.known
        for j, gp in enumerate(facts.gps):
            for key, mean in zip(gp.keys, gp.smoothed().tolist(), strict=False):
                if key in known.rows:
                    known.M[known.rows[key], j] = mean
        facts.f_plus = float(known.means[known.feasible].max(initial=-inf))

    def _posterior_means(self, gp: GP, X: Array) -> list[float]:
        blocks = [X[i : i + BLOCK] for i in range(0, len(X), BLOCK)]
        return [mean for block in blocks for mean in gp.posterior(block)[0].tolist()]

    def revise(self, beliefs: Mapping[bytes, tuple[tuple[float, ...], tuple[float, ...]]]) -> None:
        """Change the means and the variances of values that are not final, by their points.

        The GP and the tree see the change when the GP is next made anew (`move`).
        """
        known = self._facts.known
        for i in np.flatnonzero(~known.final).tolist():
            if (new := beliefs.get(key_of(known.X[i]))) is not None:
                known.F[i], known.variances[i] = new
