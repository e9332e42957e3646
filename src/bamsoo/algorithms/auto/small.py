"""The solver of the small problems of climbs: sequential quadratic programming.

The functions are models, whose second derivatives are known. So each step minimises the quadratic
approximation of the Lagrangian, with its curvature made positive, subject to linear approximations
of the constraints (Nocedal and Wright, Numerical Optimization, chapter 18). A few steps are enough,
while a method that learns the curvature from gradients needs dozens.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...base.typing import Array

_MOST = 50  # steps; nearly all problems need fewer than ten
_HALVINGS = 10  # of a step that does not improve; even shorter ones are within rounding errors
_FLAT = 1e-8  # the smallest curvature that a step relies on, as a share of the largest or of 1
_GAIN = 1e-10  # the smallest gain that is worth a step; costs are about 1
_ZERO = 1e-10  # the size of a number of about 1 that is 0 but for rounding errors


class Derivatives(NamedTuple):
    """A small problem at one point: a cost to minimise, and numbers that must be >= 0."""

    cost: float
    gradient: Array
    curvature: Array
    """The Hessian of the cost minus those of the numbers, each times its multiplier."""
    room: Array
    """The numbers that must be >= 0."""
    rows: Array
    """Their gradients."""

    @property
    def worst(self) -> float:
        """The worst violation."""
        return max(-float(self.room.min(initial=0.0)), 0.0)

    def merit(self, penalty: float) -> float:
        """The cost plus the price of the worst violation."""
        return self.cost + price(self.worst, penalty)


def price(violation: float, penalty: float) -> float:
    """The penalty times the violation, and half its square, as quadratic programming needs it."""
    return violation * (penalty + 0.5 * violation)


def solved(
    problem: Callable[[Array, Array], Derivatives],
    start: Array,
    low: Array,
    high: Array,
    count: int,
    penalty: float,
) -> Array:
    """A local solution in the box between `low` and `high`.

    If the constraints contradict each other, the worst violation costs `penalty` times its size.

    Parameters
    ----------
    problem : callable
        Returns the problem at a point, given the multipliers of the numbers.
    start, low, high : array
    count : int
        How many numbers must be >= 0.
    penalty : float
    """
    z = np.clip(start, low, high)
    free = np.flatnonzero(high > low)
    low, high = low[free], high[free]
    unit = high - low  # steps are shares of it, so that the scales of the axes do not matter
    here = problem(z, np.zeros(count))
    before, weight = (z, here), 0.0
    for _ in range(_MOST if len(free) else 0):
        move, change, left, multipliers = quadratic_step(
            here.gradient[free] * unit,
            here.curvature[free[:, None], free] * unit * unit[:, None],
            here.rows[:, free] * unit,
            here.room,
            (low - z[free]) / unit,
            (high - z[free]) / unit,
            penalty,
        )
        # No more than the multipliers need, or steps along a curved constraint become too short.
        weight = penalty if left > 0.0 else max(0.5 * weight, 2.0 * float(multipliers.sum()))
        if not here.merit(weight) - here.cost - price(left, weight) - change > _GAIN:
            break
        # A step along a curved constraint may violate it a little, and only the next one corrects
        # this. So a step has to improve on one of the last two points.
        most = max(before[1].merit(weight), here.merit(weight))
        for _ in range(_HALVINGS):
            x = z.copy()
            x[free] = np.clip(z[free] + unit * move, low, high)
            there = problem(x, multipliers)
            if there.merit(weight) < most:
                break
            move = 0.5 * move
        else:
            break
        before, z, here = (z, here), x, there
    weight = max(weight, penalty)
    return z if here.merit(weight) <= before[1].merit(weight) else before[0]


def quadratic_step(
    gradient: Array,
    curvature: Array,
    rows: Array,
    room: Array,
    low: Array,
    high: Array,
    penalty: float,
) -> tuple[Array, float, float, Array]:
    """Minimise a quadratic function between `low` and `high`, subject to room + rows @ move >= 0.

    If that is impossible, the worst violation has its price. Returns the move, the change of the
    function, the worst violation that is left, and the multipliers of the rows.

    In coordinates y in which the curvature is 1 and the minimum without constraints is 0, the
    solution is the shortest y that meets the constraints, P y >= q.
    """
    values, axes = np.linalg.eigh(curvature)
    curved = np.abs(values)
    T: Array = axes / np.sqrt(np.maximum(curved, _FLAT * max(float(curved.max()), 1.0)))
    slope = T.T @ gradient
    free, count = -T @ slope, len(rows)
    if (free >= low).all() and (free <= high).all() and (rows @ free >= -room).all():
        return free, -0.5 * float(slope @ slope), 0.0, np.zeros(count)
    P = np.vstack([rows @ T, T, -T])
    q = np.concatenate([-room - rows @ free, low - free, free - high])
    y, multipliers = shortest(P, q)
    left = 0.0
    if y is None:  # with one more coordinate, the worst violation plus the penalty
        P = np.column_stack([P, np.arange(len(P)) < count])
        P = np.vstack([P, np.arange(len(T) + 1) == len(T)])
        q = np.append(q, penalty)
        q[:count] += penalty
        y, multipliers = shortest(P, q)
        if y is None:
            return np.zeros(len(T)), 0.0, 0.0, np.zeros(count)
        y, left = y[:-1], float(y[-1]) - penalty
    change = 0.5 * float(y @ y - slope @ slope)
    return free + T @ y, change, left, multipliers[:count]


def shortest(P: Array, q: Array) -> tuple[Array | None, Array]:
    """The shortest y with P y >= q, or None if there is none, and the multipliers of the rows.

    This is a problem of least squares over numbers >= 0 (Lawson and Hanson, Solving Least Squares
    Problems, chapter 23). It is scaled so that y has at least the length 1.
    """
    from scipy.optimize import nnls

    norms = np.sqrt(np.einsum("ij,ij->i", P, P))
    norms = np.maximum(norms, _ZERO * float(norms.max()))
    apart = q / norms
    size = float(apart.max())
    E = np.vstack([(P / norms[:, None]).T, apart / size])
    goal = np.zeros(len(E))
    goal[-1] = 1.0
    try:
        weights = nnls(E, goal)[0]
    except RuntimeError:  # too many steps
        return None, np.zeros(len(P))
    rest = E @ weights - goal
    if -rest[-1] < _ZERO:
        return None, np.zeros(len(P))
    return rest[:-1] / -rest[-1] * size, weights / norms * (size / -rest[-1])
