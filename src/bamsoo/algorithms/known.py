"""What a search knows: one row for each value that has arrived, in columns that grow in place."""

from functools import cached_property
from math import inf, nan

import numpy as np
from numpy.typing import NDArray

from ..base.typing import Array
from .search import Outcome

UNDEFINED = 3.0
"""The violation that a measurement of nan counts as, unless a larger one has been measured, in the
units of `violation`, where the median size counts as asinh(1)."""

FORBIDDEN = 1e6
"""The violation of a point that the caller told although a known constraint rejects it. It is
larger than any measured violation."""

_SMALLEST, _LARGEST = 1e-300, 1e300  # a violation, however small, is not 0, and none is infinite


class Known:
    """The values that have arrived, in this order, and the points whose evaluations failed.

    A search without constraints has no columns in `C`, and all its points are feasible.

    Parameters
    ----------
    count : int, default 0
        The number of constraints that an evaluation measures; one is met if its number is <= 0.
    objectives : int, default 1
        The number of objectives. Each has a column in `F`, `G` and `M`; `values`, `g` and `means`
        are the first columns of these, for searches with one objective.

    Attributes
    ----------
    t : int
        The number of values.
    met : bool
        Whether any point is feasible.
    failed : list of array
        The points whose evaluations failed.
    rows : dict
        The row of each key.
    """

    def __init__(self, count: int = 0, objectives: int = 1) -> None:
        self.t, self.count, self.met = 0, count, False
        self.objectives = objectives
        self.failed: list[Array] = []
        self.rows: dict[int, int] = {}
        self._X = np.empty((0, 0))
        self._C = np.empty((0, count))
        self._F, self._G, self._M = np.empty((3, 0, objectives))
        self._variances, self._factors = np.empty((0, objectives)), np.empty(0)
        self._feasible, self._final = np.empty((2, 0), dtype=bool)
        self._nodes = np.empty(0, dtype=int)
        self._R = np.empty((0, 0))

    @property
    def X(self) -> Array:
        """The points."""
        return self._X[: self.t]

    @property
    def F(self) -> Array:
        """The values as they arrived, before any transform, one column per objective."""
        return self._F[: self.t]

    @property
    def values(self) -> Array:
        """The values of the first objective as they arrived."""
        return self._F[: self.t, 0]

    @property
    def G(self) -> Array:
        """The values in the units of the GPs, one column per objective."""
        return self._G[: self.t]

    @property
    def g(self) -> Array:
        """The values of the first objective in the units of its GP."""
        return self._G[: self.t, 0]

    @property
    def C(self) -> Array:
        """The measured constraints; nan if a point was told without them."""
        return self._C[: self.t]

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """Whether each point meets all constraints, known in advance or measured."""
        return self._feasible[: self.t]

    @property
    def final(self) -> NDArray[np.bool_]:
        """Whether each value is that of a finished evaluation; otherwise it is a belief."""
        return self._final[: self.t]

    @property
    def R(self) -> Array:
        """In a fit, the residuals times the roots of their weights; nan where missing.

        Without a loss, their squares add up to minus the values. Without residuals it has no
        columns.
        """
        return self._R[: self.t]

    def nearest(self, x: Array) -> int:
        """The row of the point that is closest to `x`."""
        return int(np.abs(self.X - x).max(axis=1).argmin())

    @property
    def variances(self) -> Array:
        """The variance that came with each value, in squared units of the values, or nan.

        There is one column per objective.
        """
        return self._variances[: self.t]

    @property
    def factors(self) -> Array:
        """For outliers, the variance of their noise as a multiple of the GP's noise, else nan."""
        return self._factors[: self.t]

    @property
    def M(self) -> Array:
        """Under noise, the posterior means at each point, in the GPs' units; nan before that."""
        return self._M[: self.t]

    @property
    def means(self) -> Array:
        """The posterior means of the first objective."""
        return self._M[: self.t, 0]

    @property
    def nodes(self) -> NDArray[np.int_]:
        """The node that each point belongs to, or -1."""
        return self._nodes[: self.t]

    @cached_property
    def keys(self) -> list[int]:
        """The key of each row in the GP."""
        return list(self.rows)

    def add(self, key: int, g: tuple[float, ...], node: int | None, outcome: Outcome) -> int:
        """Enter a value; return its row. One that is not final is never the best."""
        i = self.t
        if i == len(self._F):
            self._grow(max(64, 2 * i), len(outcome.x))
        c = np.array(outcome.measured, dtype=float)
        self._X[i], self._F[i], self._G[i] = outcome.x, outcome.values, g
        self._C[i] = c if len(c) == self.count else nan  # told without measurements
        met = outcome.allowed and bool((self._C[i] <= 0.0).all())
        self._feasible[i], self._final[i] = met and outcome.final, outcome.final
        self._variances[i] = self._factors[i] = self._M[i] = nan
        self._nodes[i] = -1 if node is None else node
        residuals = outcome.residuals
        if residuals is not None and self._R.shape[1] == 0:
            self._R = np.full((len(self._F), len(residuals)), nan)
        self._R[i] = nan if residuals is None else residuals
        self.rows[key] = i
        self.t += 1
        self.met = self.met or bool(self._feasible[i])
        for stale in ("scales", "missed", "keys", "_worst"):
            self.__dict__.pop(stale, None)
        return i

    def _grow(self, capacity: int, dim: int) -> None:
        def larger(column: Array) -> Array:
            new = np.empty((capacity, *column.shape[1:]), dtype=column.dtype)
            new[: self.t] = column[: self.t]
            return new

        self._X = larger(self._X if self.t else np.empty((0, dim)))
        self._C, self._F = larger(self._C), larger(self._F)
        self._variances, self._factors = larger(self._variances), larger(self._factors)
        self._M, self._G = larger(self._M), larger(self._G)
        self._feasible, self._nodes = larger(self._feasible), larger(self._nodes)
        self._final = larger(self._final)
        self._R = larger(self._R)

    # --- violations

    @cached_property
    def missed(self) -> Array:
        """The total violation of each point; 0 if it is feasible."""
        found = self.violation(self.C)
        return np.where((found == 0.0) & ~self.feasible, FORBIDDEN, found)

    def violation(self, C: Array) -> Array:
        """The total violation of each row of measurements, each constraint on its own scale."""
        sizes = np.where(np.isfinite(C), self._sizes(C), self._worst)
        return np.asarray(np.where(-inf == C, 0.0, sizes).sum(1))

    @cached_property
    def scales(self) -> Array:
        """The median size of each constraint's measurements, of those that are finite and not 0."""
        sizes = [abs(c[np.isfinite(c) & (c != 0.0)]) for c in self.C.T]
        return np.array([max(float(np.median(s)), _SMALLEST) if len(s) else 1.0 for s in sizes])

    @cached_property
    def _worst(self) -> Array:
        """The violations that stand for measurements that are not finite."""
        worst = self._sizes(np.where(np.isfinite(self.C), self.C, 0.0).max(0, initial=0.0))
        return np.asarray(np.maximum(worst, UNDEFINED))

    def _sizes(self, C: Array) -> Array:
        """The violation of each constraint; the quotient of two floats may over- or underflow."""
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            over = np.maximum(C, 0.0) / self.scales
        return np.where(C > 0.0, np.arcsinh(np.clip(over, _SMALLEST, _LARGEST)), 0.0)

    def order(self, f: Array, rows: NDArray[np.intp] | None = None) -> NDArray[np.intp]:
        """The rows, best first: by violation, then by the values `f`, of which larger are better.

        The first is the incumbent. Without constraints the order is that of the values.
        """
        if rows is None:
            rows = np.arange(self.t)
        return rows[np.lexsort((-f[rows], self.missed[rows]))]
