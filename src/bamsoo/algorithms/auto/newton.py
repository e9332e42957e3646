"""The steps of a fit: those of Gauss and Newton, by models of all residuals (`residuals`).

A climb begins with a step along each axis whose slope is unknown. From then on its steps go to the
minimum of the sum of squares of the models, within a trust region and the same fences as those of
other climbs. If a step brings nothing, and the slope is not well known in some direction, the next
one goes there. If the step that is due is pending at another worker, one half as long is tried, in
case the first is too long.
"""

from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...base.typing import Array
from .climb import Climb, Fence, Place, TrustRegion
from .residuals import ResidualModel
from .schedule import Proposal

_FINEST = 1e-3
"""With constraints, points within a share of the region count as the same (`ClimbConstants.known`).
If the top brings nothing, it is looked for again in smaller regions, down to this one."""


@dataclass(frozen=True)
class NewtonConstants:
    """Constants of the steps of a fit."""

    probe: float = 0.15
    """The length of the first step along each axis, as a share of its range."""

    radius: float = 0.25
    """The first radius of the trust region, as a share of each range."""

    good: float = 0.7
    """A step that gains this share of what was expected widens the region to twice its length."""

    poor: float = 0.1
    """A step that gains less than this share of what was expected halves the region."""

    points: int = 60
    """The largest number of points of the model. A full quadratic function in ten dimensions has 66
    coefficients, and more points are farther away."""

    vague: float = 0.3
    """The slope is not well known in a direction if its variance there is more than this share of
    what it is before anything is known."""

    little: float = 1e-7
    """A climb ends if it expects to gain less than this share of its sum of squares."""

    shortest: float = 1e-7
    """A climb ends if its next step is shorter than this share of each range."""

    crawl: tuple[float, int] = (0.2, 1)
    """A climb crawls if the second number times D + 1 steps have not gained the first one, as a
    share of its sum of squares."""

    still: float = 1e-2
    """A climb that crawls stands still if it has gained less than this share of its sum of squares
    since it was last asked. It is then interrupted even if nothing less is expected elsewhere,
    because a model that has seen few places is too sure of the others."""


@dataclass
class Ascent:
    """A climb in progress."""

    best: int
    """The row of its best point."""
    radius: float
    """That of its trust region."""
    climbing: bool = False
    """Whether it has taken its first steps along the axes."""
    failed: int = 0
    """The number of steps in a row without a gain."""
    gained: float = 0.0
    """What the last step gained that was meant to."""
    mark: float = -inf
    """Its best value when it last did not crawl."""
    since: float = 0.0
    """The number of its steps since then. A step that was taken while others were pending counts
    less, because it could not learn from them."""
    asked: float = -inf
    """Its best value when it was last asked whether it stands still."""
    scales: Array | None = None
    """Those of the axes in its last model."""
    over: bool = False
    """Whether nothing is left to gain."""


class Foreseen(NamedTuple):
    """What was expected of a step."""

    ascent: Ascent
    gain: float
    """Of the sum of squares; 0 if the step only measures."""
    length: float
    """Along the longest axis."""
    radius: float
    """That of the region when the step was taken."""
    origin: int
    """The row of the best point then; with several workers, a better one may be known since."""
    out: int
    """The number of points that were pending then."""


class Newton(Climb):
    """Proposes the steps of climbs; its other arguments are those of `Climb`.

    Parameters
    ----------
    newton : NewtonConstants
    """

    def __init__(self, *given: Any, newton: NewtonConstants) -> None:
        super().__init__(*given)
        self._newton = newton

    def begin(self, row: int) -> Ascent:
        """A climb that begins at a known point."""
        return Ascent(row, self._newton.radius)

    def _down(
        self, model: ResidualModel, place: Place, radius: float, fences: list[Fence]
    ) -> tuple[Array, float, bool]:
        """The lowest point in the trust region, how much is gained there, and whether it counts.

        Under constraints, smaller regions are tried as long as it does not.
        """
        here, axes = place.here, place.axes
        value = model.value(np.zeros(len(axes)))
        least = max(self._newton.little * value, self._book.tol or 0.0)
        while True:
            x, _, new = self._top(model, place, radius, fences)
            x = self._toward_success(x, here)
            gain = value - model.value(x[axes] - here[axes])
            gains = new and gain >= least
            if gains or not self._regime.constrained or radius <= _FINEST:
                return x, gain, gains
            radius *= 0.1

    def step(self, ascent: Ascent) -> Proposal | None:
        """The next step of a climb; None if it is over, or has to wait for values.

        The top in all axes, rounded, need not be the top among points with its whole numbers. So at
        the end, those stay as they are, and the others take their own steps.
        """
        there = self._domain.exists(self._book.known.X[ascent.best])
        axes = [i for i in self._ordered if there[i]]
        found = self._step_along(ascent, axes)
        real = [i for i in axes if i in self._domain.continuous]
        if ascent.over and 0 < len(real) < len(axes):
            ascent.over = False
            found = self._step_along(ascent, real)
        return found

    def _step_along(self, ascent: Ascent, axes: list[int]) -> Proposal | None:
        """The next step along some of the axes."""
        known, domain, book, newton = self._book.known, self._domain, self._book, self._newton
        here = known.X[ascent.best]
        rest = [i for i in range(domain.dim) if i not in axes]

        def alike(X: Array) -> NDArray[np.bool_]:
            return np.asarray((X[:, rest] == here[rest]).all(axis=1))

        offsets, R = known.X[:, axes] - here[axes], known.R
        apart = np.sqrt((offsets**2).sum(1))
        rows = np.flatnonzero(alike(known.X) & (apart > 0.0) & seen(R))
        terms = (len(axes) + 1) * (len(axes) + 2) // 2
        most = max(min(terms, newton.points), len(axes) + 1)
        near = rows[np.argsort(apart[rows], kind="stable")[:most]]
        scales = np.ones(domain.dim) if ascent.scales is None else ascent.scales.copy()
        best = R[ascent.best]
        model = ResidualModel(
            offsets[near], R[near], best, book.noisy, scales=scales[axes], squares=book.squares
        )
        scales[axes] = model.scales
        ascent.scales = scales
        place = Place(here, axes, near)
        out = book.pending[alike(book.pending)][:, axes] - here[axes]
        if not ascent.climbing:
            if (x := self._along(model, place, out)) is not None:
                return self._measuring(ascent, x)
            ascent.climbing = True
        if ascent.failed % 2 and (x := self._toward_vague(model, place, ascent, out)) is not None:
            return self._measuring(ascent, x)
        failed = np.array(known.failed).reshape(-1, domain.dim)
        region = TrustRegion(self._constants, domain.dim, book.noisy)
        fences, _ = self._fences(model, place, failed[alike(failed)][:, axes], region)
        x, gain, gains = self._down(model, place, ascent.radius, fences)
        length, same = self._length(x - here, axes, out)
        if same:
            other = self._toward_vague(model, place, ascent, out)
            if other is not None:
                return self._measuring(ascent, other)
            x, gain, gains = self._down(model, place, 0.5 * length, fences)  # if it is too long
            length, same = self._length(x - here, axes, out)
            if same:
                return None
        if not gains or length < newton.shortest:
            ascent.over = not len(out)
            return None
        return self._proposed(ascent, x, gain, length)

    def _length(self, step: Array, axes: list[int], out: Array) -> tuple[float, bool]:
        """The length of a step, and whether it is the same as that to a pending point."""
        length = float(np.abs(step[axes]).max(initial=0.0))
        apart = np.abs(out - step[axes]).max(1, initial=0.0)
        return length, bool((apart < self._constants.same * length).any())

    def _proposed(self, ascent: Ascent, x: Array, gain: float, length: float) -> Proposal:
        out = len(self._book.pending)
        note = Foreseen(ascent, gain, length, ascent.radius, ascent.best, out)
        return Proposal(x, top=False, note=note)

    def _measuring(self, ascent: Ascent, x: Array) -> Proposal:
        return self._proposed(ascent, x, 0.0, 0.0)

    def _along(self, model: ResidualModel, place: Place, out: Array) -> Array | None:
        """A step along the axis whose slope is known least; None if all are well known."""
        vague, probe = model.unknown(out).diagonal(), self._newton.probe
        for j in np.argsort(-vague, kind="stable").tolist():
            if vague[j] <= self._newton.vague:
                break
            at = float(place.here[place.axes[j]])
            for side in (probe, -probe) if at <= 0.5 else (-probe, probe):
                z = place.here[place.axes].copy()
                z[j] = at + side
                x = self._domain.near(np.clip(place.put(z), 0.0, 1.0))
                if x is not None and self._is_new(x, place, 0.0):
                    return x
        return None

    def _toward_vague(
        self, model: ResidualModel, place: Place, ascent: Ascent, out: Array
    ) -> Array | None:
        """A step in the direction in which the slope is known least; None if it is well known."""
        variances, directions = np.linalg.eigh(model.unknown(out))
        if not len(variances) or variances[-1] <= self._newton.vague:
            return None
        direction = directions[:, -1] / model.scales
        direction *= ascent.radius / np.abs(direction).max()
        centre = place.here[place.axes]
        ends = [np.clip(centre + side * direction, 0.0, 1.0) for side in (1.0, -1.0)]
        end = max(ends, key=lambda end: model.height(end - centre))
        x = self._domain.near(place.put(end))
        return x if x is not None and self._is_new(x, place, 0.0) else None

    def judge(self, step: Proposal, better: bool, row: int | None) -> None:
        """Adapt the trust region of the climb that took a step."""
        (ascent, gain, length, radius, origin, out), newton = step.note, self._newton
        known, f = self._book.known, self._book.beliefs.values()
        better, gained = False, 0.0
        if row is not None and seen(known.R[row]):
            gained = float(f[row] - f[origin])
            ahead = known.order(f, np.array([row, ascent.best]))[0] == row
            better = bool(ahead) and f[row] != f[ascent.best]
        if gain > 0.0:
            share = gained / gain
            if self._regime.constrained:  # values alone say little if some points are not feasible
                share = float(better)
            if share > newton.good:
                ascent.radius = min(max(ascent.radius, 2.0 * length), 1.0)
            elif share < newton.poor:
                ascent.radius = min(ascent.radius, 0.5 * min(length, radius))
            ascent.gained = max(gained, 0.0)
        if ascent.climbing:
            ascent.failed = 0 if better else ascent.failed + 1
        if better and row is not None:
            ascent.best = row
        value = float(f[ascent.best])
        ascent.since += 1.0 / (1 + out)
        if not value <= (1.0 - newton.crawl[0]) * ascent.mark:
            ascent.mark, ascent.since = value, 0

    def crawls(self, ascent: Ascent) -> bool:
        """Whether a climb has gained little for a while."""
        return ascent.since > self._newton.crawl[1] * (self._domain.dim + 1)

    def stands_still(self, ascent: Ascent) -> bool:
        """Whether a climb has gained hardly anything since this was last asked."""
        value = float(self._book.beliefs.values()[ascent.best])
        before, ascent.asked = ascent.asked, value
        return not value > (1.0 - self._newton.still) * before


def seen(R: Array) -> NDArray[np.bool_]:
    """Which evaluations gave residuals."""
    return np.asarray(~np.isnan(R).all(-1))
