"""Models of everything that evaluations measured besides their values, in the caller's own units.

A measured number has a Gaussian process of its own, which is fitted when it is first asked for. The
search has models of its constraints too, but only of the points that matter to it.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..algorithms.limits import CONSTANTS as LIMITS
from ..algorithms.limits import centred
from ..base.blas import one_thread
from ..base.checks import brief
from ..base.sense import MAXIMISED
from ..base.typing import Array
from ..errors import ModelError, SettingsError
from ..model.learning import LEARNING, spread_of
from ..model.prior import CONSTANTS as PRIOR
from ..model.prior import learn_prior
from ..model.warp import Shifted
from ..record.trials import Evaluation, Record, extra_names
from ..space import Constraints, Space
from .predictor import Predictor, Requirement
from .ranges import Requirements

FEWEST = 4
"""Smallest number of measurements for a model, as in the search."""


class Numbers:
    """The numbers of some evaluations by name, each with a model of its own.

    Parameters
    ----------
    space : Space
    constraints : Constraints
        Their measured names come first in `Evaluation.measured`.
    told : sequence of Evaluation or Record
        They may be of a study of another program.
    noisy : bool
        Whether the numbers are treated as noisy.
    """

    def __init__(
        self,
        space: Space,
        constraints: Constraints,
        told: Sequence[Evaluation | Record],
        noisy: bool,
    ) -> None:
        self._space, self.told = space, told
        self.constraints, self.noisy = constraints, noisy
        self._models: dict[str, Predictor] = {}

    def __getstate__(self) -> dict[str, Any]:
        """A pickle holds no models, and none of the constraints that are Python functions."""
        kept = self.constraints.without_functions()
        return {**self.__dict__, "constraints": kept, "_models": {}}

    @property
    def demands(self) -> list[Requirement]:
        """What the measured constraints demand, with a model of each."""
        self.check_whole()
        return [
            Requirement(self.predictor(each.name), each.bound, -each.side)
            for each in self.constraints.limits
        ]

    def check_whole(self) -> None:
        """Raise an error if a constraint that is known in advance was lost."""
        if (lost := self.constraints.forgotten) is not None:
            raise ModelError(
                f"the constraint {lost} is a Python function, which study files and pickles of "
                "results do not contain; open the study with the same constraints="
            )

    def standing(self, value: Predictor, best: float, within: float) -> Requirements:
        """That a value is at most `within` worse than the best one, and every constraint is met.

        `value` is the model of the values.
        """
        close = Requirement(value, best - value.sense.turn(within), value.sense.turn(1.0))
        return Requirements([close, *self.demands], self.expected, not self.noisy)

    def expected(self, points: Sequence[Array]) -> NDArray[np.bool_]:
        """Whether each point is allowed, and nearer to a success than to a failed evaluation."""
        U = np.array([self._space.encode(x) for x in points])
        return np.asarray(self.allows(points) & ~self.near_failures(U))

    @cached_property
    def _ended(self) -> tuple[Array, NDArray[np.bool_]]:
        """The features of all evaluations that have ended, and whether each failed."""
        told = [each for each in self.told if each.state != "out"]
        failed = np.array([each.state == "failed" for each in told], dtype=bool)
        if not failed.any():  # the features take long, and nobody needs them
            return np.empty((0, 0)), failed
        U = np.array([self._space.encode(self._space.point(each.params)) for each in told])
        return self._space.domain.features(U), failed

    @property
    def any_failed(self) -> bool:
        """Whether an evaluation has failed."""
        return bool(self._ended[1].any())

    def near_failures(self, U: Array) -> NDArray[np.bool_]:
        """Whether each point of the cube is nearer to a failed evaluation than to a success."""
        known, failed = self._ended
        if not failed.any():
            return np.zeros(len(U), dtype=bool)
        gaps = (((known - one) ** 2).sum(axis=1) for one in self._space.domain.features(U))
        near = [gap[failed].min() < gap[~failed].min(initial=np.inf) for gap in gaps]
        return np.array(near, dtype=bool)

    def near_best(self, value: Predictor, U: Array) -> Array:
        """The best of some points of the cube, the share `NEAR` of those that meet every limit.

        It goes by the models; `value` is that of the values.
        """
        missed = np.zeros(len(U))
        for limit in self.constraints.limits:
            try:
                model = self.predictor(limit.name)
            except ModelError:  # too few measurements
                continue
            excess = limit.side * (model.posterior(U)[0] - model.transform(limit.bound))
            missed += np.maximum(excess, 0.0) / np.sqrt(model.gp.kernel.variance)
        if self.constraints.known and self.constraints.forgotten is None:
            missed[~self.allows([self._space.decode(u) for u in U])] = np.inf
        kept = max(int(NEAR * (missed == 0.0).sum()), min(FEW, int(NEAR * len(U))), 1)
        return np.asarray(U[np.lexsort([-value.posterior(U)[0], missed])[:kept]])

    def allows(self, points: Sequence[Array]) -> NDArray[np.bool_]:
        """Whether each point meets every constraint that is known in advance."""
        return np.array([self.constraints.violated(x) is None for x in points], dtype=bool)

    @property
    def names(self) -> list[str]:
        """The measured constraints, and the extras that are numbers."""
        extras = [name for name in extra_names(self.told) if np.isfinite(self.column(name)).any()]
        return [*self.constraints.measured, *extras]

    def column(self, name: str) -> Array:
        """The number of each evaluation; nan if there is none, and below the top of a fidelity."""
        cells = (None if row.state == "cheap" else self._cell(row, name) for row in self.told)
        numbers = [float(c) if isinstance(c, (bool, int, float)) else np.nan for c in cells]
        return np.array(numbers, dtype=float)

    def _cell(self, row: Evaluation | Record, name: str) -> Any:
        measured = row.measured
        if isinstance(measured, tuple):
            measured = dict(zip(self.constraints.measured, measured, strict=False))
        return row.extras.get(name) if name not in (measured or {}) else (measured or {})[name]

    def predictor(self, name: str) -> Predictor:
        """The model of a number, in its own sense."""
        if name not in self._models:
            self._models[name] = self._learned(name)
        return self._models[name]

    def _learned(self, name: str) -> Predictor:
        if name not in (names := self.names):
            raise SettingsError(
                f"there is no measured number called {brief(name)}; those that have a model are "
                f"{', '.join(map(repr, names)) or 'none'}"
            )
        column = self.column(name)
        rows = np.flatnonzero(np.isfinite(column)).tolist()
        if len(rows) < FEWEST:
            raise ModelError(
                f"a model of {name!r} needs at least {FEWEST} measurements; so far there are "
                f"{len(rows)}"
            )
        bounds = [each.bound for each in self.constraints.limits if each.name == name]
        told = [self.told[i] for i in rows]
        points = [r.x if isinstance(r, Evaluation) else self._space.point(r.params) for r in told]
        X = np.array([self._space.encode(x) for x in points])
        return learned(self._space, X, column[rows], bounds[0] if bounds else None, self.noisy)


NEAR = 0.1
"""Share of the space that counts as near the best. With a much smaller one, few points are left to
estimate shares from; with a larger one, the worst regions decide again."""

FEW = 50
"""Where fewer points meet all constraints, those that nearly do count as near the best, too: the
distribution of so few along a parameter is not known."""

CELL = 0.05
"""A prior is learned from one point of each cube of this side. Most points of a long search may lie
within rounding errors of a limit; a prior that has to explain those becomes one of a jump. On the
designs and quadratic problems of `lab/benchmarks/answers.py`, this halves the median error of
predictions. With 0.02 or 0.1 it is about the same."""

FEWEST_APART = 8
"""With fewer cubes than this, or than two for each parameter, all points count."""


def _apart(X: Array) -> NDArray[np.intp]:
    """The index of one point of each cube of side `CELL`."""
    return np.unique(np.floor(X / CELL), axis=0, return_index=True)[1]


def _typical(sizes: Array) -> float:
    """The median of the sizes that are not 0; 0 if there are none."""
    there = sizes[sizes > 0.0]
    return max(float(np.median(there)), 1e-300) if len(there) else 0.0


def learned(space: Space, X: Array, numbers: Array, bound: float | None, noisy: bool) -> Predictor:
    """The model of numbers measured at points of the unit cube.

    It is precise around the bound, if there is one, and otherwise around the median.
    """
    domain = space.domain
    origin = float(np.median(numbers)) if bound is None else bound
    near = numbers - origin
    order = np.argsort(np.abs(near), kind="stable")
    apart = order[np.isin(order, _apart(X))]
    if len(apart) < max(FEWEST_APART, 2 * domain.dim):
        apart = order
    scale = _typical(np.abs(near[apart])) or _typical(np.abs(near)) or 1.0
    some = spread_of(apart, LEARNING.most)
    typical = np.full(domain.dim, LEARNING.typical)
    with one_thread():
        found = learn_prior(
            domain, X[some], near[some], [(typical, None)],
            noise="learn" if noisy else 0.0,
            transforms=lambda values: centred(values, scale, LIMITS.bends),
        )  # fmt: skip
        gp = found.gp(domain)
        for i in spread_of(order, PRIOR.rows):
            gp.expect(i, X[i])
            gp.observe(i, found.transform(float(near[i])))
    return Predictor(space, MAXIMISED, gp, Shifted(found.transform, origin))
