r"""Steps along the slope at the best point, which small differences measure.

A climb knows the slope from points around the best one. So it does not see what happens on a much
smaller scale. With many axes it does not know the curvature either, since a full quadratic needs
about D^2 / 2 points. Differences along each axis, nearly as small as rounding errors allow, show
the slope itself. They cost D evaluations, so they are taken only when climbs fail.

The direction is that of the BFGS method (Nocedal and Wright, Numerical Optimization, section 6.1),
which learns the curvature from the slopes that were measured before. Along it, parabolas find the
length of the step.

Values that are not exact have no such slope. So the first difference is followed by one that is
twice as large. If the value does not change twice as much, larger differences are tried.
"""

from dataclasses import dataclass, field
from itertools import pairwise
from math import inf
from typing import NamedTuple

import numpy as np

from ..._typing import Array
from ...space.axes import Domain
from ..book import Book
from ..search import LOCAL
from .axes import LARGEST
from .schedule import Focus, Step
from .small import quadratic_step


@dataclass(frozen=True)
class DescentConstants:
    """Constants of the steps along the slope."""

    active: bool = True
    """Whether there are such steps."""

    widths: tuple[float, ...] = (1e-8, 1e-6, 1e-4)
    """The differences that are tried, as shares of the range. The first is about the square root of
    a rounding error, the usual choice for exact values. The others are for values with errors."""

    linear: float = 0.1
    """Twice the difference has to change the value twice as much, up to this share of the change.
    Errors of the values beyond that would decide the direction."""

    enough: float = 0.2
    """Another step is taken along the same direction if a parabola expects that it adds at least
    this share to what has been gained. With 0, steps along a direction would never end."""

    first: float = 0.1
    """The length of the first step along the axis on which it is longest. A curvature is not known
    by then, and parabolas correct the length."""


class Slope(NamedTuple):
    """A point, and the slope of the negative value that was measured there."""

    x: Array
    slope: Array


class Tried(NamedTuple):
    """A step along the direction."""

    length: float
    value: float
    """The negative value there."""


@dataclass
class Around:
    """What is known around one point."""

    base: int
    x: Array
    value: float
    """The negative value of the point."""
    rows: set[int]
    """The rows of the point and of its differences; the best of them may be any."""
    asked: int = 0
    """The number of axes along which a difference was asked for."""
    told: dict[int, float] = field(default_factory=dict)
    """The negative values of the differences that have arrived, by axis."""
    waits: bool = False
    """Whether nothing can be asked for before a value arrives."""
    along: Array | None = None
    """The direction, once it is known."""
    slope: float = 0.0
    """The slope along the direction."""
    tried: list[Tried] = field(default_factory=list)


class Measure(NamedTuple):
    """What a step of this proposer is for."""

    around: Around
    """What was known when the step was taken; its value belongs nowhere else."""
    axis: int = -1
    """The axis of a difference; -1 if it is a step along the direction."""
    twice: bool = False
    """Whether the difference is twice as large as usual."""
    length: float = 0.0
    """The length of a step along the direction."""


class Descent:
    """Proposes small differences around the best point, and then steps along the slope.

    Parameters
    ----------
    domain : Domain
    book : Book
    many : bool
        Whether there are so many axes that the wide climb cannot have all the points it needs. With
        fewer, climbs do as well without differences.
    same : dict
        For the row of each difference, that of the point where the slope was measured. To climbs,
        the two are the same point.
    constants : DescentConstants
    """

    origin = LOCAL

    def __init__(
        self,
        domain: Domain,
        book: Book,
        many: bool,
        same: dict[int, int],
        constants: DescentConstants,
    ) -> None:
        self._domain, self._book, self._same, self._constants = domain, book, same, constants
        least = 4.0 * float(domain.finest.max())  # closer points may be equal after rounding
        self._widths = [width for width in constants.widths if width > least]
        simple = not domain.mixed and domain.region is None and book.limits is None
        self._on = constants.active and simple and many
        self._linear = False  # whether a difference was found to be exact
        self._slopes: list[Slope] = []
        self._around: Around | None = None
        self._done: set[int] = set()  # rows from which no step improved

    @property
    def busy(self) -> bool:
        """Whether a slope is being measured or followed."""
        return self._around is not None

    def judge(self, step: Step, better: bool, row: int | None) -> None:
        """Note a value."""
        what, around = step.note, self._around
        if row is not None and what.axis >= 0:
            self._same[row] = what.around.base
        if around is None or what.around is not around:
            return
        if row is None:
            self._give_up(around)
            return
        value = -float(self._book.known.values[row])
        if what.axis < 0:
            around.tried.append(Tried(what.length, value))
            around.waits = False
            return
        around.rows.add(row)
        if what.twice:
            around.waits = False
            self._check(around, what.axis, value)
        else:
            around.told[what.axis] = value

    def propose(self, focus: Focus) -> Step | None:
        """The next difference, or a step along the direction; None if there is nothing to do."""
        book, around = self._book, self._around
        exact = not book.noisy and book.known.final.all()
        if not self._on or not exact or np.abs(book.known.values).max() > LARGEST:
            self._around = None
            return None
        if around is not None and focus.best not in around.rows and not around.tried:
            around = self._around = None  # someone else has found a better point
        while self._widths:
            if around is None:
                if focus.best in self._done:
                    return None
                around = self._around = self._begin(focus.best)
            if around.waits:
                return None
            if around.along is None:
                if (step := self._difference(around)) is not None:
                    return step
                if len(around.told) < self._domain.dim:
                    return None
                self._turn(around)
            if (length := next_length(around, self._widths[0], self._constants.enough)) is not None:
                x = point(around, length)
                around.waits = True
                if book.is_new(x, 4.0 * self._domain.finest):
                    return Step(x, note=Measure(around, length=length))
            elif min((each.value for each in around.tried), default=inf) < around.value:
                around = None  # measure the slope at the new best point
                continue
            elif len(self._slopes) > 1:  # once more, without what earlier slopes said
                del self._slopes[:-1]
                around.along, around.tried = None, []
                continue
            self._give_up(around)
            return None
        return None

    def _begin(self, base: int) -> Around:
        known = self._book.known
        return Around(base, known.X[base].copy(), -float(known.values[base]), {base})

    def _give_up(self, around: Around) -> None:
        """Do not come back to this point."""
        self._done |= around.rows
        self._around = None

    def _difference(self, around: Around) -> Step | None:
        """The next difference, or one that is twice as large as the first that changed the value.

        None if values have to arrive before.
        """
        changed = [axis for axis, value in around.told.items() if value != around.value]
        if not self._linear and changed:
            around.waits = True
            note = Measure(around, changed[0], twice=True)
            return Step(self._moved(around, changed[0], 2.0), aside=True, note=note)
        if around.asked == self._domain.dim:
            return None
        axis = around.asked
        around.asked += 1
        note = Measure(around, axis)
        return Step(self._moved(around, axis, 1.0), aside=True, note=note)

    def _moved(self, around: Around, axis: int, times: float) -> Array:
        """The point of a difference, on the side where there is more room."""
        x, width = around.x.copy(), times * self._widths[0]
        x[axis] += width if x[axis] <= 0.5 else -width
        return x

    def _check(self, around: Around, axis: int, twice: float) -> None:
        """Check that twice the difference has changed the value twice as much."""
        once, twice = around.told[axis] - around.value, twice - around.value
        self._linear = abs(twice - 2.0 * once) <= self._constants.linear * abs(once)
        if not self._linear:
            del self._widths[0]
            self._around = self._begin(around.base) if self._widths else None

    def _turn(self, around: Around) -> None:
        """Choose the direction."""
        here, axes = around.x, range(self._domain.dim)
        moved = np.array([self._moved(around, axis, 1.0)[axis] for axis in axes])
        values = np.array([around.told[axis] for axis in axes])
        slope = (values - around.value) / (moved - here)
        if not self._slopes or self._slopes[-1].x is not here:
            self._slopes.append(Slope(here, slope))
        B = curvature(self._slopes, self._constants.first)
        size = float(np.abs(B).max())
        around.along = np.zeros(len(here))
        if slope.any() and np.isfinite(size):
            none = np.empty((0, len(here)))
            within = none, none[:, 0], -here, 1.0 - here, 0.0
            around.along = quadratic_step(slope / size, B / size, *within)[0]
        around.slope = float(around.along @ slope)


def point(around: Around, length: float) -> Array:
    """The end of a step along the direction."""
    assert around.along is not None
    return np.clip(around.x + length * around.along, 0.0, 1.0)


def next_length(around: Around, shortest: float, enough: float) -> float | None:
    """The length of the next step along the direction; None if no more is expected.

    A step that is too long is shortened by a factor of 3 to 10, and one that may be too short is
    lengthened by a factor of at most 10: beyond that, a parabola says little. A step that moves no
    coordinate by `shortest` is not taken. Once there is a gain, another step has to be expected to
    add the share `enough` to it.
    """
    if not around.slope < 0.0:
        return None
    if not around.tried:
        return 1.0
    tried = sorted(around.tried)
    k = min(range(len(tried)), key=lambda i: tried[i].value)
    t, value = tried[k]
    gained = around.value - value
    if gained > 0.0 and k < len(tried) - 1:
        to, lowest = vertex(tried[k - 1] if k else Tried(0.0, around.value), tried[k], tried[k + 1])
        return to if lowest < value - enough * gained else None
    if gained <= 0.0:
        t, value = tried[0]
    bend = (value - around.value - around.slope * t) / t**2
    to = -around.slope / (2.0 * bend) if bend > 0.0 else inf
    if gained <= 0.0:
        to = min(max(to, 0.1 * t), 0.3 * t)
        return to if np.abs(point(around, to) - around.x).max() > shortest else None
    to = min(max(to, 0.1 * t), 10.0 * t)
    moves = np.abs(point(around, to) - point(around, t)).max() > shortest
    further = to == 10.0 * t or -(around.slope + bend * to) * to > (1.0 + enough) * gained
    return to if moves and further else None


def vertex(left: Tried, middle: Tried, right: Tried) -> Tried:
    """The lowest point of the parabola through three steps, the middle of which is the lowest."""
    p, q = middle.length - left.length, right.length - middle.length
    falls, rises = (middle.value - left.value) / p, (right.value - middle.value) / q
    bend = (rises - falls) / (p + q)
    slope = (falls * q + rises * p) / (p + q)
    if bend <= 0.0:
        return middle
    return Tried(middle.length - slope / (2.0 * bend), middle.value - slope**2 / (4.0 * bend))


def curvature(slopes: list[Slope], first: float) -> Array:
    """The BFGS approximation of the Hessian at the last point.

    It begins with the smallest curvature that was seen between two points. Before there are two
    such curvatures, it begins with one that gives the step the length `first` in the directions
    in which nothing has been learned: the first slope often points in the steepest direction, and
    the others are much flatter.
    """
    every = [(b.x - a.x, b.slope - a.slope) for a, b in pairwise(slopes)]
    pairs = [(s, y) for s, y in every if float(s @ y) > 0.0]  # elsewhere it is curved the other way
    if len(pairs) > 1:
        flat = min(float(s @ y) / float(s @ s) for s, y in pairs)
    else:
        rest = slopes[-1].slope
        for s, y in pairs:
            rest = rest - y * (float(s @ rest) / float(s @ y))
        flat = float(np.abs(rest).max()) / first
    B: Array = max(flat, 1e-300) * np.eye(len(slopes[-1].x))
    for s, y in pairs:
        Bs = B @ s
        B = B - np.outer(Bs, Bs) / float(s @ Bs) + np.outer(y, y) / float(s @ y)
    return B
