"""The function as a method sees it: counted, timed, and noted at a few marks."""

from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any, Protocol

from ....space.parameters import Parameter
from ..measure import Spent

MARKS = (10, 20, 25, 40, 50, 80, 100, 150, 200)
"""Evaluations after which the true value of the best point so far is noted."""

Params = dict[str, Any]


class Target(Protocol):
    """What is minimised: a call returns a value, or None where the evaluation failed."""

    @property
    def space(self) -> dict[str, Parameter]:
        """Parameters by name."""

    @property
    def noisy(self) -> bool:
        """Whether two evaluations of one point differ."""

    def __call__(self, **params: Any) -> float | None: ...

    def truth(self, params: Params) -> float | None:
        """The value without noise."""


class Objective:
    """Calls a target at most `budget` times.

    Parameters
    ----------
    target : Target
    budget, seed : int

    Attributes
    ----------
    recommend : callable, optional
        Set by a method that recommends another point than the best one it was told.
    sample : int
        How many of the first points are kept with their true values, where there is noise: set
        by random search, whose points are what the others are measured against.
    """

    def __init__(self, target: Target, budget: int, seed: int) -> None:
        self.space, self.noisy = target.space, target.noisy
        self.budget, self.seed = budget, seed
        self.recommend: Callable[[], Params | None] | None = None
        self.sample = 0
        self._target = target
        self._values: list[float | None] = []
        self._first: list[Params] = []
        self._best: tuple[float, Params] | None = None
        self._marks: dict[int, Params | None] = {}
        self._cpu = self._evaluating = 0.0
        self._start()

    @property
    def count(self) -> int:
        """Evaluations so far."""
        return len(self._values)

    @property
    def left(self) -> int:
        """Evaluations not yet used."""
        return self.budget - self.count

    def _start(self) -> None:
        self._since = process_time()

    def __call__(self, params: Params) -> float | None:
        """Evaluate a point; None: the evaluation failed."""
        self._cpu += process_time() - self._since
        if self.left <= 0:
            raise Spent
        self._mark()  # here, and not after the evaluation: by now the method has learned of it
        began = perf_counter()
        value = self._target(**params)
        self._evaluating += perf_counter() - began
        self._values.append(value)
        if self.noisy and len(self._first) < self.sample:
            self._first.append(dict(params))
        if value is not None and (self._best is None or value < self._best[0]):
            self._best = value, dict(params)
        self._start()
        return value

    def _mark(self, last: bool = False) -> None:
        if (self.count not in MARKS and not last) or self.count in self._marks:
            return
        best = None if self._best is None else self._best[1]
        if self.noisy and self.recommend is not None:
            best = self.recommend() or best
        self._marks[self.count] = best

    def notes(self) -> dict[str, Any]:
        """What the run is remembered by: values as told, true values at the marks, seconds.

        True values are found here, at the end: on the way they would disturb the noise.
        """
        self._mark(last=True)
        marks: list[tuple[int, float | None]] = []
        for count, params in self._marks.items():
            if self.noisy and params is not None:
                marks.append((count, self._target.truth(params)))
            else:
                good = [value for value in self._values[:count] if value is not None]
                marks.append((count, min(good, default=None)))
        found = {
            "values": [_short(value) for value in self._values],
            "marks": [[count, _short(value)] for count, value in marks],
            "overhead": round(self._cpu, 4),
            "evaluating": round(self._evaluating, 3),
        }
        if self._first:
            found["sample"] = [_short(self._target.truth(params)) for params in self._first]
        return found


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.12g}")
