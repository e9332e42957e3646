"""An objective that counts, times and keeps the best regret: what a run is measured by."""

from time import perf_counter, process_time
from typing import Any

import numpy as np

from ..._typing import Array
from .suites import Target

MARKS = {
    *(1, 2, 5, 10, 20, 30, 50, 70, 100, 150, 200, 250, 300, 500, 700),
    *(1000, 1500, 2000, 3000, 4000, 5000),
}
"""Evaluations after which the overhead so far is noted."""

EARLY = 300
"""The slowest suggestion is also noted up to here."""


class Spent(Exception):  # noqa: N818 -- not an error: how a method without a limit is stopped
    """The budget is used up."""


class Objective:
    """Calls the target at most `budget` times and takes notes.

    Overhead is the time between evaluations, from `start` to the end of the last one: wall
    clock, and processor time of this process over all its threads.
    """

    def __init__(self, target: Target, budget: int, seed: int) -> None:
        self.bounds, self.budget, self.seed = target.bounds, budget, seed
        self.dim = len(target.bounds)
        self._target = target
        self.count = 0
        self.steps: list[tuple[int, float]] = []
        self.marks: list[tuple[int, float]] = []
        self.wall = self.cpu = 0.0
        self.slowest = self.slowest_cpu = self.slowest_early = 0.0

    @property
    def left(self) -> int:
        """Evaluations not yet used."""
        return self.budget - self.count

    def start(self) -> None:
        """Overhead counts from here."""
        self._wall, self._cpu = perf_counter(), process_time()

    def __call__(self, x: Array) -> float:
        if self.left <= 0:
            raise Spent
        wall, cpu = perf_counter() - self._wall, process_time() - self._cpu
        self.wall += wall
        self.cpu += cpu
        if self.count:  # before the first evaluation a method sets itself up
            self.slowest, self.slowest_cpu = max(self.slowest, wall), max(self.slowest_cpu, cpu)
            if self.count < EARLY:
                self.slowest_early = self.slowest
        value = self._target.fun(np.asarray(x, dtype=float))
        self.count += 1
        regret = float(f"{max(value - self._target.optimum, 0.0):.4g}")
        if not self.steps or regret < self.steps[-1][1]:
            self.steps.append((self.count, regret))
        if self.count in MARKS or self.count == self.budget:
            self.marks.append((self.count, round(self.cpu, 5)))
        self.start()
        return value

    def unit(self, u: Array) -> float:
        """The same on the unit cube, for methods that expect equal scales."""
        low, high = np.array(self.bounds).T
        return self(low + (high - low) * np.clip(u, 0.0, 1.0))

    def notes(self) -> dict[str, Any]:
        """What the run is remembered by; a method that stopped early keeps its last regret."""
        return {
            "steps": self.steps,
            "evaluations": self.count,
            "wall": round(self.wall, 5),
            "cpu": round(self.cpu, 5),
            "marks": self.marks,
            "slowest": round(self.slowest, 5),
            "slowest_early": round(self.slowest_early, 5),
            "slowest_cpu": round(self.slowest_cpu, 5),
        }
