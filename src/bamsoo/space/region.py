"""The part of the unit cube that constraints known in advance allow, and how its points are found.

The constraints are numbers with bounds: a point is allowed where every number lies between its
own two. A cell of a tree whose centre is not allowed needs another of its points, and the allowed
part may be thin. In this order: points spread over the cell; steps of Gauss and Newton to the
bounds that are missed, from the most promising of them; where the numbers are linear in the
parameters, a linear program, which also proves that a cell holds no allowed point; and the way
from allowed points that are known already. Everything is deterministic.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import Array

TRIES = 32
"""Points spread over a cell before its constraints are followed, besides its centre. A region
that fills a tenth of the cell is then missed once in thirty cells; each costs one call of the
constraints."""

TRIES_AT_FIRST = 40_000
"""The same for the whole space, where everything depends on finding one point. Every other one of
them lies towards a corner: sets such as sum(x) <= 1 are there, in many dimensions."""

STARTS = 3
"""Points of a cell from which the constraints are followed."""

_STEPS = 15  # of Gauss and Newton; from near a smooth bound three or four are enough
_SLOPE = 1e-6  # step of a numerical derivative, as a share of a cell's side
_MARGIN = 1e-3  # how far inside a bound a step aims, as a share of the number's change in the cell
_SHALLOWER = 0.3  # that share is multiplied by this at each step
_HALVINGS = 40  # on the way from an allowed point to one that is not
_PULLS = 4  # allowed points that the way is tried from
_FOLLOWED = 256  # points that the most promising are chosen from
_DRAWS = 1000  # of a point that is drawn uniformly, until it is found that hardly any is allowed
_HUGE = 1e300  # stands for a number that is not defined, or infinite
_REMEMBERED = 500  # allowed points, of which the nearest are tried
_LATTICE = 4096  # points of a cell that are all tried, where axes are discrete
_COUNTED = 200_000  # points of a finite space that are counted


class Found(NamedTuple):
    """An allowed point of a cell, if one was found; whether it is certain that there is none."""

    x: Array | None
    empty: bool = False


@dataclass(frozen=True)
class Linear:
    """Rows that are linear in the parameters: low <= A x <= high."""

    A: Array
    low: Array
    high: Array


@dataclass(frozen=True)
class Cube:
    """What a region needs to know of the space.

    Parameters
    ----------
    dim : int
    free : list of int
        The axes of real numbers.
    finest : array
        For each axis, the smallest step that makes a difference.
    snap : callable
        The point of the space that a point of the cube stands for.
    corners : callable
        The smallest and the largest value of each parameter in a cell.
    lattice : callable
        All points of a cell, where there are no more than so many; else None.
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
        The constraints' numbers at a point of the cube.
    low, high : array
        Between which each number must lie.
    smooth : bool
        Whether the numbers can be followed, and are not only a yes or a no.
    linear : Linear, optional
        Those of the constraints that are linear in the parameters.
    cube : Cube
    """

    def __init__(
        self,
        values: Callable[[Array], Array],
        low: Array,
        high: Array,
        smooth: bool,
        linear: Linear | None,
        cube: Cube,
    ) -> None:
        self._values, self._low, self._high = values, low, high
        self._smooth, self._linear, self._cube = smooth, linear, cube
        self._undefined = np.where(np.isfinite(high), _HUGE, -_HUGE)
        self._inside: list[Array] = []
        self._size: float | None = None
        self._drawn, self._searched = True, False
        self._ends = np.zeros(cube.dim), np.ones(cube.dim)

    # --- one point

    def numbers(self, u: Array) -> Array:
        """The constraints' numbers at a point, finite."""
        y = self._values(u)
        return np.clip(np.where(np.isnan(y), self._undefined, y), -_HUGE, _HUGE)

    def outside(self, u: Array) -> Array:
        """How far each number is above (> 0) or below (< 0) what is allowed; 0 where it is not."""
        y = self.numbers(u)
        beyond: Array = y - np.clip(y, self._low, self._high)
        return beyond

    def allowed(self, u: Array) -> bool:
        """Whether the constraints allow this point."""
        y = self._values(u)
        return bool(((y >= self._low) & (y <= self._high)).all())  # nan is neither

    def excess(self, u: Array) -> Array:
        """The constraints as numbers that are <= 0 where they are met, for a solver."""
        y = self.numbers(u)
        above, below = np.isfinite(self._high), np.isfinite(self._low)
        return np.concatenate([y[above] - self._high[above], self._low[below] - y[below]])

    @property
    def smooth(self) -> bool:
        """Whether `excess` can be followed, and is not only a yes or a no."""
        return self._smooth

    # --- a point of a cell

    def find(self, low: Array, high: Array, start: Array, tries: int = TRIES) -> Found:
        """An allowed point of the cell, `start` if that is one, else preferably near it.

        Without `tries`, only the start and what its constraints lead to.
        """
        start = np.clip(start, 0.0, 1.0)
        if self.allowed(start):
            self._remember(start)
            return Found(start)
        if self._out_of_reach(low, high):
            return Found(None, True)
        every = self._cube.lattice(low, high, max(tries, _LATTICE))
        if every is not None:
            good = [u for u in every if self.allowed(u)]
            return self._nearest(good, start, low, high) if good else Found(None, True)
        good, spread = self._spread(low, high, tries)
        if good:
            return self._nearest(good, start, low, high)
        if self._smooth:
            spread = spread[:_FOLLOWED]
            beyond = np.array([self.outside(u) for u in spread])
            order = np.argsort(_total(beyond), kind="stable") if spread else np.empty(0, dtype=int)
            for u in [start, *(spread[i] for i in order[:STARTS])]:
                if (settled := self._settle(u, low, high)) is not None:
                    return self._nearest([settled], start, low, high)
        if self._linear is not None:
            solved = self._solve(self._linear, start, low, high)
            if solved.empty or solved.x is not None:
                return solved
        pulled = self._pull(start, low, high) if tries else None
        return Found(None) if pulled is None else self._nearest([pulled], start, low, high)

    def near(self, u: Array) -> Array | None:
        """An allowed point near a point of the cube, if one is found."""
        u = self._cube.snap(u)
        if self.allowed(u):
            return u
        settled = self._settle(u, *self._ends) if self._smooth else self._pull(u, *self._ends)
        if settled is not None:
            return self._nearest([settled], u, *self._ends).x
        for reach in (0.05, 0.25, 1.0):
            low, high = np.maximum(u - reach, 0.0), np.minimum(u + reach, 1.0)
            if (found := self.find(low, high, u).x) is not None:
                return found
        if self._inside or self._searched:
            return None
        self._searched = True  # once: it takes a while
        return self.find(*self._ends, u, TRIES_AT_FIRST).x

    def draw(self, rng: np.random.Generator) -> Array | None:
        """An allowed point, drawn uniformly where that takes few tries; else near one drawn so."""
        u = self._cube.snap(rng.random(self._cube.dim))
        for _ in range(_DRAWS if self._drawn else 1):
            if self.allowed(u):
                return u
            u = self._cube.snap(rng.random(self._cube.dim))
        self._drawn = False  # hardly anything is allowed
        near = self.near(u)
        if near is None or self._smooth:
            return near
        # a step from an allowed point: those at the end of the way would crowd on the boundary
        start = self._inside[int(rng.integers(len(self._inside)))]
        for _ in range(_HALVINGS):
            there = self._cube.snap(start + rng.random() * (u - start))
            if self.allowed(there):
                self._remember(there)
                return there
            u = there
        return near

    def size(self, points: float) -> float:
        """How many of so many points are allowed; inf where they are too many to count."""
        if self._size is None:
            self._size = float("inf")
            if points <= _COUNTED:
                every = self._cube.lattice(*self._ends, _COUNTED)
                if every is not None:
                    self._size = float(sum(self.allowed(u) for u in every))
        return self._size

    # --- how

    def _remember(self, u: Array) -> None:
        self._inside.append(u)
        if len(self._inside) > _REMEMBERED:
            del self._inside[0]

    def _nearest(self, good: list[Array], start: Array, low: Array, high: Array) -> Found:
        width = np.maximum(high - low, 1e-300)
        far = [float((np.abs(u - start) / width).max()) for u in good]
        x = self._cube.snap(good[far.index(min(far))])  # absent axes are not to be told apart
        self._remember(x)
        return Found(x)

    def _spread(self, low: Array, high: Array, tries: int) -> tuple[list[Array], list[Array]]:
        """The allowed ones of points that are spread over a cell, and all of them."""
        good: list[Array] = []
        spread: list[Array] = []
        for i, share in enumerate(_sequence(self._cube.dim, tries)):
            if tries >= TRIES_AT_FIRST and i % 2:
                share = _towards_corner(share, i // 2)
            u = self._cube.snap(low + (high - low) * share)
            spread.append(u)
            if self.allowed(u):
                good.append(u)
            if good and len(spread) % TRIES == 0:
                break
        return good, spread

    def _settle(self, u: Array, low: Array, high: Array) -> Array | None:
        """From a point to the bounds that are missed, within the cell, along the real axes."""
        free = np.array(self._cube.free, dtype=int)
        width = high - low
        free = free[width[free] > 8.0 * self._cube.finest[free]]
        if not len(free):
            return None
        u = u.copy()
        for step in range(_STEPS):
            y = self.numbers(u)
            if not (y - np.clip(y, self._low, self._high)).any():
                return u
            if np.abs(y).max() >= _HUGE:
                return None
            slopes = self._slopes(u, y, free, low, high)  # for one width of the cell
            # less and less far inside: a thin set, such as |g| <= 1e-6, has no such depth
            depth = _MARGIN * _SHALLOWER**step * np.abs(slopes).sum(1)
            margin = np.minimum(depth, 0.25 * (self._high - self._low))
            off = y - np.clip(y, self._low + margin, self._high - margin)
            missed = np.flatnonzero(off)
            moved = _least_move(slopes[missed], off[missed], (low[free] - u[free]) / width[free])
            if not np.abs(moved).max() > 1e-14:
                return None
            u[free] = np.clip(u[free] + width[free] * moved, low[free], high[free])
        return u if self.allowed(u) else None

    def _slopes(self, u: Array, y: Array, free: NDArray[np.intp], low: Array, high: Array) -> Array:
        """Numerical derivatives of the numbers along the free axes, per side of the cell."""
        slopes = np.empty((len(y), len(free)))
        for j, i in enumerate(free.tolist()):
            width = float(high[i] - low[i])
            step = max(_SLOPE * width, 4.0 * float(self._cube.finest[i]))
            there = u.copy()
            there[i] += step if u[i] + step <= high[i] else -step
            slopes[:, j] = (self.numbers(there) - y) / (there[i] - u[i]) * width
        return np.nan_to_num(slopes)

    def _out_of_reach(self, low: Array, high: Array) -> bool:
        """Whether a linear row alone keeps the whole cell out."""
        if self._linear is None:
            return False
        rows = self._linear
        ends = self._cube.corners(low, high)
        middle, half = 0.5 * (ends[0] + ends[1]), 0.5 * (ends[1] - ends[0])
        centre, reach = rows.A @ middle, np.abs(rows.A) @ half
        rounding = 1e-9 * (np.abs(rows.A) @ np.maximum(np.abs(ends[0]), np.abs(ends[1])))
        least, most = centre - reach - rounding, centre + reach + rounding
        return bool((least > rows.high).any() or (most < rows.low).any())

    def _solve(self, rows: Linear, start: Array, low: Array, high: Array) -> Found:
        """A linear program over the cell: the point deepest inside the rows, or that there is none.

        Discrete parameters are taken for real numbers: that can only make the cell larger.
        """
        from scipy.optimize import linprog

        ends = self._cube.corners(low, high)
        width = np.maximum(ends[1] - ends[0], 1e-300)
        A = rows.A * width  # in units of the cell: 0 <= z <= 1
        shift = rows.A @ ends[0]
        norms = np.maximum(np.abs(A).sum(1), 1e-300)
        above, below = np.isfinite(rows.high), np.isfinite(rows.low)
        tight = np.where(
            rows.high - rows.low <= 1e-6 * norms, 0.0, 1.0
        )  # equalities have no inside
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
        if not self.allowed(u):  # other constraints, or discrete parameters, or rounding
            settled = self._settle(u, low, high) if self._smooth else None
            return Found(None) if settled is None else self._nearest([settled], start, low, high)
        return self._nearest([u], start, low, high)

    def _pull(self, start: Array, low: Array, high: Array) -> Array | None:
        """The end of the allowed part of the way from an allowed point, if it is in the cell."""
        if not self._inside:
            return None
        inside = np.array(self._inside)
        order = np.argsort(np.abs(inside - start).max(1), kind="stable")[:_PULLS]
        fixed = [i for i in range(self._cube.dim) if i not in self._cube.free]
        for near in inside[order]:
            near[fixed] = start[fixed]
            if not self.allowed(near):
                continue
            here, there = 0.0, 1.0  # shares of the way: allowed, not allowed
            for _ in range(_HALVINGS):
                middle = 0.5 * (here + there)
                if self.allowed(near + middle * (start - near)):
                    here = middle
                else:
                    there = middle
            end: Array = near + here * (start - near)
            if (end >= low).all() and (end <= high).all():
                return end
        return None


def _sequence(dim: int, count: int) -> Array:
    """Points that fill [0,1]^D evenly: multiples of powers of a generalised golden ratio."""
    ratio = 2.0
    for _ in range(40):  # x^(D+1) = x + 1
        ratio = (1.0 + ratio) ** (1.0 / (dim + 1))
    steps = ratio ** -np.arange(1, dim + 1)
    points: Array = (0.5 + np.outer(np.arange(1, count + 1), steps)) % 1.0
    return points


def _towards_corner(share: Array, number: int) -> Array:
    """The point moved towards a corner of [0,1]^D, another one for each number."""
    mixed = number * 0x9E3779B1 % 2**32  # so that corners do not go with points
    upper = (mixed >> (8 + np.arange(len(share)) % 24)) & 1 == 1
    moved: Array = np.where(upper, 1.0 - (1.0 - share) ** 3, share**3)
    return moved


def _total(beyond: Array) -> Array:
    """Each point's distance from what is allowed, with every number in its own units."""
    size = np.abs(beyond)
    scale = np.maximum(np.median(size, axis=0), 1e-300)
    total: Array = (size / scale).sum(1)
    return total


def _least_move(slopes: Array, off: Array, start: Array) -> Array:
    """The shortest move that brings linear numbers back by `off`, in a cell of side 1.

    `start` is where the cell begins, seen from the point. An axis that would leave the cell goes
    to its end, and the others do the rest.
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
