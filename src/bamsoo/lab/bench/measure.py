"""A target that counts, times and keeps what was found: what a run is measured by."""

from collections.abc import Callable
from math import inf, isfinite, nan
from time import perf_counter, process_time
from typing import Any, TypeAlias

import numpy as np

from ..._typing import Array
from ...space import Space
from .case import Target

MARKS = {
    *(1, 2, 5, 10, 20, 30, 50, 70, 100, 150, 200, 250, 300, 500, 700),
    *(1000, 1500, 2000, 3000, 4000, 5000),
}
"""Evaluations after which the overhead so far is noted."""

RECOMMENDED = (10, 20, 40, 80, 100, 150, 200)
"""Evaluations of a noisy target after which the true value of the best point is noted."""

LARGE = 1e6
"""Told for a failure before anything has succeeded, to methods that do not know failures."""

EARLY = 300
"""The slowest suggestion is also noted up to here."""

FEASIBLE = 1e-6
"""A point whose constraints are exceeded by no more than this in total counts as feasible.

It is the accuracy to which SLSQP meets constraints by default. Without it, a local solver that has
converged to an active constraint from outside would count as having found nothing.
"""


class Spent(Exception):  # noqa: N818 -- not an error: how a method without a limit is stopped
    """The budget is used up."""


Point: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]
"""What a target is called with: an array, or parameters by name."""


class MeasuredObjective:
    """Calls a target at most `budget` times and takes notes.

    Overhead is the time between evaluations, from `start` to the end of the last one: wall
    clock, and processor time of this process over all its threads.

    Call it with an array where the target is a box, and with keyword arguments where it has named
    parameters. An evaluation that fails returns nan. Where the target has constraints, `evaluate`
    returns what they measure too.

    Attributes
    ----------
    target : Target
    space : sequence of (low, high), or dict of name to parameter
    dim, budget, seed : int
    count : int
        Evaluations so far, failed ones included.
    recommend : callable, optional
        Set by a method that, under noise, may recommend another point than the best it was told.
    broken : Exception, optional
        What the target itself raised, which is no fault of the method.
    sample : int
        Set by random search: under noise, the true values of so many first points are kept,
        because scores are measured from random points.
    """

    def __init__(self, target: Target, budget: int, seed: int) -> None:
        self.target, self.space, self.budget, self.seed = target, target.space, budget, seed
        self.count, self._worst = 0, -inf
        self.wall = self.cpu = 0.0
        self.slowest = self.slowest_cpu = self.slowest_early = 0.0
        self.steps: list[tuple[int, float]] = []
        self.values: list[float | None] = []
        self.violations: list[float | None] = []
        self.recommend: Callable[[], Point | None] | None = None
        self.sample = 0
        self.broken: Exception | None = None
        self.marks: list[tuple[int, float]] = []
        self._best: tuple[float, Point] | None = None
        self._first: list[Point] = []
        self._recommended: dict[int, Point | None] = {}
        self._regret = target.optimum is not None and not (target.noisy or target.constraints)
        self._cube = Space(target.space)
        self.dim = self._cube.dim

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """The bounds of a box."""
        return self.target.bounds

    @property
    def left(self) -> int:
        """Evaluations not yet used."""
        return self.budget - self.count

    @property
    def worst(self) -> float:
        """The largest value so far; before the first, a number larger than values usually are.

        This is what to tell a method that does not know failures, in place of nan.
        """
        return self._worst if isfinite(self._worst) else LARGE

    def start(self) -> None:
        """Overhead counts from here."""
        self._wall, self._cpu = perf_counter(), process_time()

    def __call__(self, *point: Any, **params: Any) -> float:
        return self.evaluate(*point, **params)[0]

    def evaluate(self, *point: Any, **params: Any) -> tuple[float, dict[str, float]]:
        """The value, and what the constraints measure; both are one evaluation."""
        if self.left <= 0:
            raise Spent
        self._add_overhead()
        self._note_best()  # now, and not after an evaluation: the method has learned of it by now
        if not self.target.named:
            point = (np.asarray(point[0], dtype=float),)
        try:
            found = self.target.fun(*point, **params)
        except Exception as error:
            self.broken = error
            raise
        measured: dict[str, float] = {}
        if self.target.constraints:
            found, measured = found
        value = nan if found is None or not isfinite(found) else float(found)
        self.count += 1
        self._note(value, (point, params))
        if self.target.constraints:
            self._note_violation(measured)
        if self._regret and isfinite(value):
            exact = self.target.noiseless
            self._note_regret(value if exact is None else exact(*point, **params))
        if self.count in MARKS or self.count == self.budget:
            self.marks.append((self.count, round(self.cpu, 5)))
        self.start()
        return value, measured

    def _add_overhead(self) -> None:
        wall, cpu = perf_counter() - self._wall, process_time() - self._cpu
        self.wall += wall
        self.cpu += cpu
        if self.count:  # before the first evaluation a method sets itself up
            self.slowest, self.slowest_cpu = max(self.slowest, wall), max(self.slowest_cpu, cpu)
            if self.count < EARLY:
                self.slowest_early = self.slowest

    def _note(self, value: float, point: Point) -> None:
        failed = not isfinite(value)
        self.values.append(None if failed else float(f"{value:.10g}"))
        if len(self._first) < self.sample:
            self._first.append(point)
        if failed:
            return
        self._worst = max(self._worst, value)
        if self._best is None or value < self._best[0]:
            self._best = value, point

    def _note_violation(self, measured: dict[str, float]) -> None:
        """Note by how much the constraints are exceeded in total; None where one is no number."""
        total = sum(max(measured[name], 0.0) for name in self.target.constraints)
        self.violations.append(float(f"{total:.4g}") if isfinite(total) else None)

    def _note_regret(self, value: float | None) -> None:
        if value is not None and self.target.optimum is not None:
            regret = float(f"{max(value - self.target.optimum, 0.0):.4g}")
            if not self.steps or regret < self.steps[-1][1]:
                self.steps.append((self.count, regret))

    def _note_best(self, end: bool = False) -> None:
        """Remember the best point so far, where its true value will be wanted."""
        if self.target.noisy and (end or self.count in RECOMMENDED):
            best = None if self._best is None else self._best[1]
            if self.recommend is not None:
                best = self.recommend() or best
            self._recommended.setdefault(self.count, best)

    def _worth(self, point: Point | None) -> float | None:
        if point is None or self.target.truth is None:
            return None
        worth = self.target.truth(*point[0], **point[1])
        return None if worth is None else float(f"{worth:.10g}")

    def unit(self, u: Array) -> float:
        """The same as a function on the unit cube, for methods that expect equal scales."""
        u = np.clip(u, 0.0, 1.0)
        if self.target.named:
            return self(**self.params(u))
        low, high = np.array(self.bounds).T
        return self(low + (high - low) * u)

    def params(self, u: Array) -> dict[str, Any]:
        """The parameters by name at a point of the unit cube; whole numbers are rounded."""
        return self._cube.params(self._cube.decode(np.clip(u, 0.0, 1.0)))

    def at(self, params: dict[str, Any]) -> float:
        """The same for parameters by name, as `Target.by_name` has them, of a box too."""
        return self(**params) if self.target.named else self(list(params.values()))

    def evaluate_at(self, params: dict[str, Any]) -> tuple[float, dict[str, float]]:
        """`evaluate` for parameters by name, of a box too."""
        return self.evaluate(**params) if self.target.named else self.evaluate([*params.values()])

    def notes(self) -> dict[str, Any]:
        """What the run is remembered by; a method that stopped early keeps its last value."""
        self._note_best(end=True)
        found: dict[str, Any] = {"steps": self.steps}
        if not self._regret:
            found = {"values": self.values}
            if self.target.constraints:
                found["violations"] = self.violations
            if self.target.noisy:  # asked for at the end, so that it does not disturb the noise
                best = self._recommended.items()
                found["recommended"] = [[count, self._worth(point)] for count, point in best]
                if self._first:
                    found["sample"] = [self._worth(point) for point in self._first]
            if self.target.optimum is not None:
                found["optimum"] = self.target.optimum
        return found | {
            "evaluations": self.count,
            "wall": round(self.wall, 5),
            "cpu": round(self.cpu, 5),
            "marks": self.marks,
            "slowest": round(self.slowest, 5),
            "slowest_early": round(self.slowest_early, 5),
            "slowest_cpu": round(self.slowest_cpu, 5),
        }
