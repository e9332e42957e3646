"""The part of the unit cube that constraints known in advance allow, and how its points are found.

The constraints are numbers with bounds: a point is allowed if each number lies between its bounds.
If the centre of a tree's cell is not allowed, the cell has to be represented by another of its
points, which may be hard to find because the allowed part may be thin. The following are tried in
this order:

1. points that are spread evenly over the cell;
2. Gauss-Newton steps towards the violated bounds, from the most promising of these points;
3. a linear program, if some constraints are linear in the parameters, which can also prove that the
   cell has no allowed point;
4. bisection along the line from the cell's centre to an allowed point that is already known.

Everything is deterministic, apart from `Region.draw`, which takes a random generator.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.typing import Array

TRIES = 32
"""The number of points spread over a cell, in addition to its centre, before Gauss-Newton steps are
taken. Each costs one call of the constraints. With 32 of them, a region that fills a tenth of the
cell is missed in about one cell out of thirty."""

TRIES_AT_FIRST = 40_000
"""The same for the whole space, where it pays to try much harder, because no search can begin
without an allowed point. Every other point is moved towards a corner, because that is where sets
such as sum(x) <= 1 are in many dimensions."""

STARTS = 3
"""The number of points of a cell, in addition to its centre, from which Gauss-Newton steps are
taken. More would help with constraints that have several separate allowed parts, but each start
costs up to `_STEPS` numerical derivatives."""

_STEPS = 15
"""The largest number of Gauss-Newton steps from one point. Close to a smooth bound three or four
are enough, so steps that need more than this are unlikely to arrive at all."""

_SLOPE = 1e-6
"""The step of a numerical derivative, as a share of the cell's side. It is small enough to follow a
curved constraint, and large enough for rounding not to matter."""

_CLOSER = 0.5
"""If a step leaves at most this share of the largest violation, the slopes at its end are not
measured but estimated from those at its beginning, which saves one evaluation of the constraints
for each axis."""

_SLOW = 8
"""After more steps than this that left more than `_CLOSER`, the search from a point is given up.
With half of this number, a set that is 1e-9 thin is no longer found."""

_MARGIN = 1e-3
"""How far inside a bound the first step aims, as a share of the change of the constraint's number
over the cell. Without a margin, rounding and curvature would leave many steps just outside."""

_SHALLOWER = 0.3
"""The margin is multiplied by this after each step, because a thin set has no points that far
inside its bounds."""

_HALVINGS = 40
"""The number of bisections between an allowed point and one that is not allowed. Together they
reduce the distance by a factor of 2**40, which is close to the resolution of floats."""

_BESIDE = 1e-9
"""Bisection is given up once it is certain to end further from the cell than this, which is far
more than rounding errors. It only saves time: with 0, an end on the edge of the cell might be
missed, and with infinity every bisection is carried through, in vain for most cells."""

_PULLS = 4
"""The number of known allowed points, the nearest ones, from which bisection is tried."""

_FOLLOWED = 256
"""The number of spread points among which the starts of Gauss-Newton steps are chosen. It matters
for the whole space only, where comparing all `TRIES_AT_FIRST` would take long."""

_DRAWS = 1000
"""The number of points drawn uniformly before it is concluded that hardly any is allowed. From then
on a single one is drawn and moved to an allowed point near it."""

_HUGE = 1e300
"""Used instead of a constraint's number that is nan or infinite, so that differences are finite."""

_REMEMBERED = 500
"""The number of allowed points that are kept for bisection; the oldest is dropped first. It bounds
the time to find the nearest of them."""

_LATTICE = 4096
"""If all axes are discrete and a cell has at most this number of points, all of them are tried,
which is certain to find an allowed one if there is any."""

_COUNTED = 200_000
"""If a finite space has at most this number of points, the allowed ones are counted, so that a
search knows when it has evaluated them all. Counting calls the constraints once per point."""


class Found(NamedTuple):
    """The result of looking for an allowed point in a cell."""

    x: Array | None
    """The point, or None if none was found."""
    empty: bool = False
    """Whether it is proven that the cell has no allowed point."""


@dataclass(frozen=True)
class LinearRows:
    """Constraints that are linear in the parameters x: low <= A x <= high."""

    A: Array
    low: Array
    high: Array


@dataclass(frozen=True)
class Cube:
    """What a region needs to know about the space.

    Parameters
    ----------
    dim : int
        The number of axes.
    free : list of int
        The indices of the continuous axes, along which a point can be moved gradually.
    finest : array
        For each axis, the smallest step that changes the parameter's value.
    snap : callable
        Returns the point of the space that a point of the cube stands for.
    corners : callable
        Returns the smallest and the largest value of each parameter in the cell between two
        corners.
    lattice : callable
        Returns all points of the cell between two corners, or None if there are more than its
        third argument.
    """

    dim: int
    free: list[int]
    finest: Array
    snap: Callable[[Array], Array]
    corners: Callable[[Array, Array], tuple[Array, Array]]
    lattice: Callable[[Array, Array, int], Array | None]


class Region:
    """The allowed part of the unit cube.

    Parameters
    ----------
    values : callable
        Returns the constraints' numbers at several points of the cube, one row for each.
    low, high : array
        The bounds between which each number must lie.
    smooth : bool
        Whether any number says how far a point is from being allowed, and not just yes or no. Only
        then are Gauss-Newton steps tried.
    linear : LinearRows or None
        Those constraints that are linear in the parameters.
    cube : Cube
        The space.
    """

    def __init__(
        self,
        values: Callable[[Array], Array],
        low: Array,
        high: Array,
        smooth: bool,
        linear: LinearRows | None,
        cube: Cube,
    ) -> None:
        self._values, self._low, self._high = values, low, high
        self._limits = list(zip(low.tolist(), high.tolist(), strict=True))
        self._smooth, self._linear, self._cube = smooth, linear, cube
        self._above, self._below = np.isfinite(high), np.isfinite(low)
        self._undefined = np.where(self._above, _HUGE, -_HUGE)
        self._inside: list[Array] = []
        self._size: float | None = None
        self._drawn, self._searched = True, False
        self._ends = np.zeros(cube.dim), np.ones(cube.dim)

    # --- points

    def numbers(self, U: Array) -> Array:
        """The constraints' numbers at some points, one row for each, made finite."""
        return self._finite(self._values(U))

    def _finite(self, Y: Array) -> Array:
        Y = np.where(np.isnan(Y), self._undefined, Y)
        return _between(Y, -_HUGE, _HUGE)

    def allowed(self, u: Array) -> bool:
        """Whether the constraints allow this point."""
        y = self._values(u[None])[0].tolist()  # for few numbers, lists are faster than arrays
        return all(a <= each <= b for each, (a, b) in zip(y, self._limits, strict=True))

    def allows(self, U: Array) -> NDArray[np.bool_]:
        """Which of some points the constraints allow."""
        return self._met(self._values(U))

    def _met(self, Y: Array) -> NDArray[np.bool_]:
        return np.asarray(((self._low <= Y) & (self._high >= Y)).all(1))  # nan is neither

    def excess(self, U: Array) -> Array:
        """The constraints in the form that a solver needs: numbers that are <= 0 if met.

        There is one row for each of the points.
        """
        Y, above, below = self.numbers(U), self._above, self._below
        over, under = Y[:, above] - self._high[above], self._low[below] - Y[:, below]
        return np.concatenate([over, under], axis=1)

    @property
    def smooth(self) -> bool:
        """Whether any number of `excess` says how far a point is from being allowed."""
        return self._smooth

    # --- a point of a cell

    def find(self, low: Array, high: Array, start: Array, tries: int = TRIES) -> Found:
        """Look for an allowed point in the cell between the corners `low` and `high`.

        The result is `start` if that is allowed, and otherwise preferably a point near it. `tries`
        is the number of points spread over the cell; with 0, points already known are not used
        either, which is faster.
        """
        start = np.clip(start, 0.0, 1.0)
        here = self._values(start[None])
        if self._met(here)[0]:
            self._remember(start)
            return Found(start)
        if self._out_of_reach(low, high):
            return Found(None, True)
        every = self._cube.lattice(low, high, max(tries, _LATTICE))
        if every is not None:
            good = every[self.allows(every)]
            return self._nearest(good, start, low, high) if len(good) else Found(None, True)
        good, spread, there = self._spread(low, high, tries)
        if len(good):
            return self._nearest(good, start, low, high)
        if self._smooth:
            nearly = self._least_outside(there)
            ways = zip([start, *spread[nearly]], [*self._finite(here), *there[nearly]], strict=True)
            for u, y in ways:
                if (settled := self._settle(u, low, high, y)) is not None:
                    return self._nearest(settled[None], start, low, high)
        if self._linear is not None:
            solved = self._solve(self._linear, start, low, high)
            if solved.empty or solved.x is not None:
                return solved
        pulled = self._pull(start, low, high) if tries else None
        return Found(None) if pulled is None else self._nearest(pulled[None], start, low, high)

    def near(self, u: Array) -> Array | None:
        """An allowed point near a point of the cube, or None if none was found."""
        u = self._cube.snap(u)
        if self.allowed(u):
            return u
        settled = self._settle(u, *self._ends) if self._smooth else self._pull(u, *self._ends)
        if settled is not None:
            return self._nearest(settled[None], u, *self._ends).x
        for reach in (0.05, 0.25, 1.0):
            low, high = np.maximum(u - reach, 0.0), np.minimum(u + reach, 1.0)
            if (found := self.find(low, high, u).x) is not None:
                return found
        if self._inside or self._searched:
            return None
        self._searched = True  # a search this thorough takes long, so there is only one
        return self.find(*self._ends, u, TRIES_AT_FIRST).x

    def draw(self, rng: np.random.Generator) -> Array | None:
        """A random allowed point, or None if none was found.

        It is drawn uniformly, unless so little of the cube is allowed that this would take too many
        tries. It is then an allowed point near a uniformly drawn one.
        """
        u = self._cube.snap(rng.random(self._cube.dim))
        for _ in range(_DRAWS if self._drawn else 1):
            if self.allowed(u):
                return u
            u = self._cube.snap(rng.random(self._cube.dim))
        self._drawn = False  # hardly anything is allowed
        near = self.near(u)
        if near is None or self._smooth:
            return near
        # Points found by bisection would all lie on the boundary of the allowed part. Instead, take
        # a random point between a known allowed point and u, and come closer until it is allowed.
        start = self._inside[int(rng.integers(len(self._inside)))]
        for _ in range(_HALVINGS):
            there = self._cube.snap(start + rng.random() * (u - start))
            if self.allowed(there):
                self._remember(there)
                return there
            u = there
        return near

    def size(self, points: float) -> float:
        """The number of allowed points among the `points` of the space; inf if not countable."""
        if self._size is None:
            self._size = float("inf")
            if points <= _COUNTED:
                every = self._cube.lattice(*self._ends, _COUNTED)
                if every is not None:
                    some = np.array_split(every, -(-len(every) // _LATTICE))
                    self._size = float(sum(self.allows(U).sum() for U in some))
        return self._size

    # --- the methods that `find` combines

    def _remember(self, u: Array) -> None:
        self._inside.append(u)
        if len(self._inside) > _REMEMBERED:
            del self._inside[0]

    def _nearest(self, good: Array, start: Array, low: Array, high: Array) -> Found:
        width = np.maximum(high - low, 1e-300)
        far = (np.abs(good - start) / width).max(1)
        # Points that differ only along axes that do not exist must be equal.
        x = self._cube.snap(good[int(far.argmin())])
        self._remember(x)
        return Found(x)

    def _least_outside(self, Y: Array) -> NDArray[np.intp]:
        """The indices of the points that violate the constraints least, given their numbers."""
        if not len(Y):
            return np.empty(0, dtype=np.intp)
        beyond = Y - _between(Y, self._low, self._high)
        return np.argsort(_total(beyond), kind="stable")[:STARTS]

    def _spread(self, low: Array, high: Array, tries: int) -> tuple[Array, Array, Array]:
        """Points that are spread over a cell, as far as allowed ones have to be looked for.

        Returns the allowed ones, the first `_FOLLOWED` of all of them, and the numbers of these.
        """
        shares = _sequence(self._cube.dim, tries)
        good = spread = shares[:0]
        numbers = np.empty((0, len(self._low)))
        for begin in range(0, tries, TRIES):
            some = shares[begin : begin + TRIES].copy()
            if tries >= TRIES_AT_FIRST:
                for i in range(1, len(some), 2):
                    some[i] = _towards_corner(some[i], (begin + i) // 2)
            U = np.array([self._cube.snap(u) for u in low + (high - low) * some])
            Y = self._values(U)
            good = U[self._met(Y)]
            if len(spread) < _FOLLOWED:
                spread, numbers = np.vstack([spread, U]), np.vstack([numbers, self._finite(Y)])
            if len(good):
                break
        return good, spread, numbers

    def _settle(self, u: Array, low: Array, high: Array, y: Array | None = None) -> Array | None:
        """Take Gauss-Newton steps from a point towards the violated bounds, within the cell.

        Only continuous axes are moved along. Returns an allowed point or None. The numbers at the
        point, `y`, are computed if they are not given.
        """
        free = np.array(self._cube.free, dtype=int)
        width = high - low
        free = free[width[free] > 8.0 * self._cube.finest[free]]
        if not len(free):
            return None
        u, before, slopes, slow = u.copy(), None, np.empty((0, 0)), 0
        for step in range(_STEPS):
            if step or y is None:
                y = self.numbers(u[None])[0]
            beyond = float(np.abs(y - _between(y, self._low, self._high)).max())
            if not beyond:
                return u
            if np.abs(y).max() >= _HUGE:
                return None
            slow += before is not None and beyond > _CLOSER * before[2]
            if slow > _SLOW:
                return None
            if before is None or beyond > _CLOSER * before[2]:
                slopes = self._slopes(u, y, free, low, high)  # change per width of the cell
            else:  # the step was good, so Broyden's update of the last slopes is good enough
                moved = (u[free] - before[0]) / width[free]
                slopes = slopes + np.outer(y - before[1] - slopes @ moved, moved) / (moved @ moved)
            before = u[free].copy(), y, beyond
            # The margin shrinks, because a thin set such as |g| <= 1e-6 has no points deep inside.
            depth = _MARGIN * _SHALLOWER**step * np.abs(slopes).sum(1)
            margin = np.minimum(depth, 0.25 * (self._high - self._low))
            off = y - _between(y, self._low + margin, self._high - margin)
            missed = np.flatnonzero(off)
            moved = _least_move(slopes[missed], off[missed], (low[free] - u[free]) / width[free])
            if not np.abs(moved).max() > 1e-14:
                return None
            u[free] = _between(u[free] + width[free] * moved, low[free], high[free])
            if (u[free] == before[0]).all():
                return None
        return u if self.allowed(u) else None

    def _slopes(self, u: Array, y: Array, free: NDArray[np.intp], low: Array, high: Array) -> Array:
        """Numerical derivatives of the numbers along the free axes, per side of the cell."""
        count, width = len(free), (high - low)[free]
        steps = np.maximum(_SLOPE * width, 4.0 * self._cube.finest[free])
        steps = np.where(u[free] + steps <= high[free], steps, -steps)
        U = np.repeat(u[None], count + 1, axis=0)  # the first row stays: others share its numbers
        U[np.arange(1, count + 1), free] += steps
        moved = U[np.arange(1, count + 1), free] - u[free]
        slopes = np.ascontiguousarray((self.numbers(U)[1:] - y).T / moved * width)
        return slopes if np.isfinite(slopes).all() else np.nan_to_num(slopes)

    def _out_of_reach(self, low: Array, high: Array) -> bool:
        """Whether a single linear constraint rules out the whole cell."""
        if self._linear is None:
            return False
        rows = self._linear
        ends = self._cube.corners(low, high)
        middle, half = 0.5 * (ends[0] + ends[1]), 0.5 * (ends[1] - ends[0])
        centre, reach = rows.A @ middle, np.abs(rows.A) @ half
        rounding = 1e-9 * (np.abs(rows.A) @ np.maximum(np.abs(ends[0]), np.abs(ends[1])))
        least, most = centre - reach - rounding, centre + reach + rounding
        return bool((least > rows.high).any() or (most < rows.low).any())

    def _solve(self, rows: LinearRows, start: Array, low: Array, high: Array) -> Found:
        """Find the point of the cell that is deepest inside the linear constraints, if any is.

        This is a linear program, in which discrete parameters are treated as real numbers. That
        only adds points to the cell, so if the program is infeasible, the cell is empty.
        """
        from scipy.optimize import linprog

        ends = self._cube.corners(low, high)
        width = np.maximum(ends[1] - ends[0], 1e-300)
        A = rows.A * width  # the unknowns are coordinates in the cell, from 0 to 1
        shift = rows.A @ ends[0]
        norms = np.maximum(np.abs(A).sum(1), 1e-300)
        above, below = np.isfinite(rows.high), np.isfinite(rows.low)
        tight = np.where(
            rows.high - rows.low <= 1e-6 * norms, 0.0, 1.0
        )  # an equality has no inside, so no depth is asked of it
        matrix = np.vstack(
            [
                np.column_stack([A[above], norms[above] * tight[above]]),
                np.column_stack([-A[below], norms[below] * tight[below]]),
            ]
        )
        limit = np.concatenate([(rows.high - shift)[above], (shift - rows.low)[below]])
        sizes = np.maximum(np.abs(matrix).max(1), 1e-300)
        solved = linprog(
            np.append(np.zeros(self._cube.dim), -1.0),
            A_ub=matrix / sizes[:, None],
            b_ub=limit / sizes,
            bounds=[(0.0, 1.0)] * self._cube.dim + [(0.0, 0.5)],
        )
        if solved.status == 2:
            return Found(None, True)
        if solved.x is None:
            return Found(None)
        u = self._cube.snap(np.clip(low + (high - low) * solved.x[:-1], low, high))
        if not self.allowed(u):  # because of other constraints, discrete parameters or rounding
            settled = self._settle(u, low, high) if self._smooth else None
            if settled is None:
                return Found(None)
            u = settled
        return self._nearest(u[None], start, low, high)

    def _pull(self, start: Array, low: Array, high: Array) -> Array | None:
        """Find by bisection the last allowed point on a line from an allowed point to `start`.

        Returns None if it does not lie in the cell. The nearest few known points are tried.
        """
        if not self._inside:
            return None
        inside = np.array(self._inside)
        order = np.argsort(np.abs(inside - start).max(1), kind="stable")[:_PULLS]
        fixed = [i for i in range(self._cube.dim) if i not in self._cube.free]
        for near in inside[order]:
            near[fixed] = start[fixed]
            if not self.allowed(near):
                continue
            line = start - near
            with np.errstate(divide="ignore", invalid="ignore"):
                sides = (low - _BESIDE - near) / line, (high + _BESIDE - near) / line
            enters = np.fmax.reduce(np.minimum(*sides))  # the share at which it enters the cell
            here, there = 0.0, 1.0  # shares of the line: allowed up to here, not allowed there
            for _ in range(_HALVINGS):
                if there < enters:  # the end will not lie in the cell
                    break
                middle = 0.5 * (here + there)
                if self.allowed(near + middle * line):
                    here = middle
                else:
                    there = middle
            end: Array = near + here * line
            if (end >= low).all() and (end <= high).all():
                return end
        return None


def _between(y: Array, low: Array | float, high: Array | float) -> Array:
    """The same as `np.clip`, which takes three times as long for a few numbers."""
    between: Array = np.minimum(np.maximum(y, low), high)
    return between


@lru_cache(maxsize=8)
def _sequence(dim: int, count: int) -> Array:
    """A sequence of points that fill [0,1]^D evenly.

    Its steps are powers of a generalised golden ratio, the solution of x^(D+1) = x + 1.
    """
    ratio = 2.0
    for _ in range(40):  # a fixed-point iteration, which has converged by then
        ratio = (1.0 + ratio) ** (1.0 / (dim + 1))
    steps = ratio ** -np.arange(1, dim + 1)
    points: Array = (0.5 + np.outer(np.arange(1, count + 1), steps)) % 1.0
    return points


def _towards_corner(share: Array, number: int) -> Array:
    """Move a point towards a corner of [0,1]^D, which depends on `number`."""
    mixed = number * 0x9E3779B1 % 2**32  # a hash, so that corners and points are unrelated
    upper = (mixed >> (8 + np.arange(len(share)) % 24)) & 1 == 1
    moved: Array = np.where(upper, 1.0 - (1.0 - share) ** 3, share**3)
    return moved


def _total(beyond: Array) -> Array:
    """Each point's total violation, with every number in units of its median violation."""
    size = np.abs(beyond)
    scale = np.maximum(np.median(size, axis=0), 1e-300)
    total: Array = (size / scale).sum(1)
    return total


def _least_move(slopes: Array, off: Array, start: Array) -> Array:
    """The shortest move that reduces linear functions by `off`, within a cell of side 1.

    `start` is the lower corner of the cell relative to the point. If a move along an axis would
    leave the cell, it ends at the cell's edge, and the other axes make up for the rest.
    """
    moved = np.zeros(slopes.shape[1])
    moving = np.ones(slopes.shape[1], dtype=bool)
    for _ in range(slopes.shape[1]):
        rest = off + slopes[:, ~moving] @ moved[~moving]
        moved[moving] = np.linalg.lstsq(slopes[:, moving], -rest, rcond=1e-12)[0]
        left = moving & ((moved < start) | (moved > start + 1.0))
        if not left.any():
            break
        moved[left] = np.clip(moved[left], start[left], start[left] + 1.0)
        moving &= ~left
        if not moving.any():
            break
    return moved
