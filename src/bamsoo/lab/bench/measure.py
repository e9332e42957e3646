"""A target that counts, times and keeps what was found: what a run is measured by."""

from math import inf, isfinite, nan
from time import perf_counter, process_time
from typing import Any

import numpy as np

from ..._typing import Array
from ...space import Space
from .case import Target

MARKS = {
    *(1, 2, 5, 10, 20, 30, 50, 70, 100, 150, 200, 250, 300, 500, 700),
    *(1000, 1500, 2000, 3000, 4000, 5000),
}
"""Evaluations after which the overhead so far is noted."""

EARLY = 300
"""The slowest suggestion is also noted up to here."""


class Spent(Exception):  # noqa: N818 -- not an error: how a method without a limit is stopped
    """The budget is used up."""


class MeasuredObjective:
    """Calls a target at most `budget` times and takes notes.

    Overhead is the time between evaluations, from `start` to the end of the last one: wall
    clock, and processor time of this process over all its threads.

    Call it with an array where the target is a box, and with keyword arguments where it has named
    parameters. An evaluation that fails returns nan.

    Attributes
    ----------
    target : Target
    space : sequence of (low, high), or dict of name to parameter
    dim, budget, seed : int
    count : int
        Evaluations so far, failed ones included.
    """

    def __init__(self, target: Target, budget: int, seed: int) -> None:
        self.target, self.space, self.budget, self.seed = target, target.space, budget, seed
        self.dim = len(target.space)
        self.count, self._worst = 0, -inf
        self.wall = self.cpu = 0.0
        self.slowest = self.slowest_cpu = self.slowest_early = 0.0
        self.steps: list[tuple[int, float]] = []
        self.values: list[float | None] = []
        self.truths: list[float | None] = []
        self.marks: list[tuple[int, float]] = []
        self._regret = target.optimum is not None and target.truth is None
        self._cube = Space(target.space)

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
        """The largest value so far, or 0 before the first.

        This is what to tell a method that does not know failures, in place of nan.
        """
        return self._worst if isfinite(self._worst) else 0.0

    def start(self) -> None:
        """Overhead counts from here."""
        self._wall, self._cpu = perf_counter(), process_time()

    def __call__(self, *point: Any, **params: Any) -> float:
        if self.left <= 0:
            raise Spent
        self._add_overhead()
        if not self.target.named:
            point = (np.asarray(point[0], dtype=float),)
        found = self.target.fun(*point, **params)
        value = nan if found is None or not isfinite(found) else float(found)
        self.count += 1
        self._note(value, point, params)
        if self.count in MARKS or self.count == self.budget:
            self.marks.append((self.count, round(self.cpu, 5)))
        self.start()
        return value

    def _add_overhead(self) -> None:
        wall, cpu = perf_counter() - self._wall, process_time() - self._cpu
        self.wall += wall
        self.cpu += cpu
        if self.count:  # before the first evaluation a method sets itself up
            self.slowest, self.slowest_cpu = max(self.slowest, wall), max(self.slowest_cpu, cpu)
            if self.count < EARLY:
                self.slowest_early = self.slowest

    def _note(self, value: float, point: tuple[Any, ...], params: dict[str, Any]) -> None:
        failed = not isfinite(value)
        self.values.append(None if failed else value)
        if self.target.truth is not None:
            truth = None if failed else float(self.target.truth(*point, **params))
            self.truths.append(truth)
        if failed:
            return
        self._worst = max(self._worst, value)
        if self._regret and self.target.optimum is not None:
            regret = float(f"{max(value - self.target.optimum, 0.0):.4g}")
            if not self.steps or regret < self.steps[-1][1]:
                self.steps.append((self.count, regret))

    def unit(self, u: Array) -> float:
        """The same as a function on the unit cube, for methods that expect equal scales."""
        u = np.clip(u, 0.0, 1.0)
        if self.target.named:
            return self(**self._cube.params(self._cube.decode(u)))
        low, high = np.array(self.bounds).T
        return self(low + (high - low) * u)

    def at(self, params: dict[str, Any]) -> float:
        """The same for parameters by name, as `Target.by_name` has them, of a box too."""
        return self(**params) if self.target.named else self(list(params.values()))

    def notes(self) -> dict[str, Any]:
        """What the run is remembered by; a method that stopped early keeps its last value."""
        found: dict[str, Any] = {"steps": self.steps}
        if not self._regret:
            found = {"values": self.values}
            if self.truths:
                found["truths"] = self.truths
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
