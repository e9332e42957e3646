"""A target that counts and times evaluations and records results: the measurements of a run."""

from collections.abc import Callable, Iterator
from math import ceil, inf, isfinite, nan
from time import perf_counter, process_time
from typing import Any, TypeAlias

import numpy as np

from bamsoo.base.typing import Array
from bamsoo.space import Space

from .case import Target

MARKS = {
    *(1, 2, 5, 10, 20, 30, 50, 70, 100, 150, 200, 250, 300, 500, 700),
    *(1000, 1500, 2000, 3000, 4000, 5000),
}
"""Numbers of evaluations after which the cumulative overhead is recorded."""

RECOMMENDED = (10, 20, 40, 80, 100, 150, 200)
"""Numbers of evaluations of a noisy target after which the best point's true value is recorded."""

LARGE = 1e6
"""Value for a failure before anything has succeeded, for methods that cannot handle failures."""

EARLY = 300
"""The slowest suggestion among this many first evaluations is recorded separately."""

FEASIBLE = 1e-6
"""A point with a total violation of at most this counts as feasible.

It is the accuracy to which SLSQP meets constraints by default. Without this tolerance, a local
solver that has converged to an active constraint from outside would count as having found nothing.
"""


FRONT_DIGITS = 6
"""Significant digits of stored values if there are several objectives.

Hypervolumes are not compared more closely, and the stored runs of the peers stay small.
"""


class Spent(Exception):  # noqa: N818 -- not an error: it stops a method that has no limit of its own
    """The budget is used up."""


CallArguments: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]
"""The arguments of a target: an array, or parameters by name."""


class MeasuredObjective:
    """Calls a target at most `budget` times and records what happens.

    Overhead is the time between evaluations, from `start` to the end of the last one: wall-clock
    time, and processor time of this process over all its threads.

    Call it with an array if the target is a box, and with keyword arguments if it has named
    parameters. An evaluation that fails returns nan. If the target has constraints, `evaluate` also
    returns their values. A target with several objectives is evaluated by `observe`.

    If evaluations have steps, the budget counts full evaluations, `train` takes one step at a time,
    and the other methods take all steps of an evaluation. If there is a fidelity, an evaluation
    counts as what it costs; one without a value of it is at the top.

    Attributes
    ----------
    target : Target
    space : sequence of (low, high), or dict of name to parameter
    dim, budget, seed : int
    count : int
        Evaluations so far, failed and stopped ones included.
    recommend : callable, optional
        Set by a method that, under noise, may recommend a point other than the best as told.
    broken : Exception, optional
        An exception of the target itself, which is not the fault of the method.
    sample : int
        Set by random search: under noise, the true values of this many first points are stored,
        because scores are relative to random points.
    """

    def __init__(self, target: Target, budget: int, seed: int) -> None:
        self.target, self.space, self.budget, self.seed = target, target.space, budget, seed
        self.count, self._worst = 0, -inf
        self._taken, self._reached = 0, list[tuple[int, float]]()  # steps of evaluations
        self._residuals: Any = None  # of a fit, at the last point
        self._cost = 0.0  # with a fidelity, in full evaluations
        self.wall = self.cpu = 0.0
        self.slowest = self.slowest_cpu = self.slowest_early = 0.0
        self.steps: list[tuple[int, float]] = []
        self.values: list[float | list[float] | None] = []
        self.violations: list[float | None] = []
        self.recommend: Callable[[], CallArguments | None] | None = None
        self.sample = 0
        self.broken: Exception | None = None
        self.marks: list[tuple[int, float]] = []
        self._best: tuple[float, CallArguments] | None = None
        self._first: list[CallArguments] = []
        self._recommended: dict[int, CallArguments | None] = {}
        self._regret = target.optimum is not None and not (target.noisy or target.limited)
        self._cube = Space(target.space)
        self.dim = self._cube.domain.dim

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """The bounds of a box."""
        return self.target.bounds

    @property
    def left(self) -> int:
        """Full evaluations not yet used."""
        if steps := self.target.steps:
            return (self.budget * steps - self._taken) // steps
        if self.target.fidelity:
            return int(self.budget - self._cost + 1e-9)
        return self.budget - self.count

    @property
    def worst(self) -> float:
        """The largest value so far; before the first, a number larger than most values.

        A method that cannot handle failures is told this instead of nan.
        """
        return self._worst if isfinite(self._worst) else LARGE

    def start(self) -> None:
        """Start to count overhead."""
        self._wall, self._cpu = perf_counter(), process_time()

    def __call__(self, *point: Any, **params: Any) -> float:
        return self.evaluate(*point, **params)[0]

    def evaluate(self, *point: Any, **params: Any) -> tuple[float, dict[str, float]]:
        """The value of the objective and of the constraints, which are one evaluation."""
        (value,), measured = self.observe(*point, **params)
        return value, measured

    def residuals(self, x: Array) -> Array:
        """The residuals of a fit at a point, which are one evaluation."""
        self.observe(x)
        return np.asarray(self._residuals)

    def observe(self, *point: Any, **params: Any) -> tuple[list[float], dict[str, float]]:
        """The values of all objectives and of the constraints, which are one evaluation.

        If the evaluation failed, every value is nan.
        """
        level = self._level(params)
        if self._cost + level > self.budget + 1e-9 if self.target.fidelity else self.left <= 0:
            raise Spent
        if self.target.steps:
            *_, last = self.train(**params)
            return [last], {}
        self._add_overhead()
        self._note_best()  # now, and not right after the evaluation: by now the method knows it
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
        if self.target.fit:
            self._residuals = found
            found = float(found @ found)
        row = found if self.target.objectives else [found]
        failed = row is None or any(one is None or not isfinite(one) for one in row)
        size = len(self.target.objectives) or 1
        values = [nan] * size if failed else [float(one) for one in row]
        self.count += 1
        if self.target.fidelity:
            self._cost += level
        if level == 1.0:
            self._note(values, (point, params))
        if self.target.fidelity and level == 1.0 and self._is_best(values[0]):
            self._reached.append((ceil(self._cost - 1e-9), float(f"{values[0]:.10g}")))
        if self.target.limited:
            self._note_violation(measured, self.known(*point, **params))
        if self._regret and not failed:
            exact = self.target.noiseless
            self._note_regret(values[0] if exact is None else exact(*point, **params))
        if self.count in MARKS or self.count == self.budget:
            self.marks.append((self.count, round(self.cpu, 5)))
        self.start()
        return values, measured

    def _level(self, params: dict[str, Any]) -> float:
        """What an evaluation costs, in full ones; its fidelity is filled in if it is missing."""
        name = self.target.fidelity
        if not name:
            return 1.0
        fidelity = self._cube.fidelity
        assert fidelity is not None
        return fidelity.cost_of(params.setdefault(name, fidelity.high))

    def _is_best(self, value: float) -> bool:
        return self._best is not None and self._best[0] == value

    def train(self, **params: Any) -> Iterator[float]:
        """The value after each step of an evaluation; the generator may be closed at any step."""
        run, steps = self.target.fun(**params), self.target.steps
        self.count += 1
        try:
            for step in range(1, steps + 1):
                if self._taken >= self.budget * steps:
                    raise Spent
                self._add_overhead()
                try:
                    value = float(next(run))
                except Exception as error:
                    self.broken = error
                    raise
                self._taken += 1
                if step == steps:
                    self._note([value], ((), params))
                    if self._is_best(value):
                        self._reached.append((ceil(self._taken / steps), float(f"{value:.10g}")))
                self.start()
                yield value
        finally:
            run.close()

    def _add_overhead(self) -> None:
        wall, cpu = perf_counter() - self._wall, process_time() - self._cpu
        self.wall += wall
        self.cpu += cpu
        if self.count:  # the time before the first evaluation is that of setting up the method
            self.slowest, self.slowest_cpu = max(self.slowest, wall), max(self.slowest_cpu, cpu)
            if self.count < EARLY:
                self.slowest_early = self.slowest

    def _note(self, values: list[float], point: CallArguments) -> None:
        failed = not isfinite(values[0])
        several = bool(self.target.objectives)
        digits = FRONT_DIGITS if several else 10
        stored = [float(f"{value:.{digits}g}") for value in values]
        self.values.append(None if failed else stored if several else stored[0])
        if len(self._first) < self.sample:
            self._first.append(point)
        if failed or several:
            return
        self._worst = max(self._worst, values[0])
        if self._best is None or values[0] < self._best[0]:
            self._best = values[0], point

    def known(self, *point: Any, **params: Any) -> list[float]:
        """The constraints that are known in advance, without an evaluation; none if empty."""
        rule = self.target.known
        return [] if rule is None else [*rule(*point, **params)]

    def _note_violation(self, measured: dict[str, float], known: list[float]) -> None:
        """Record the total violation of the constraints; None if one of them is not a number."""
        numbers = [*(measured[name] for name in self.target.constraints), *known]
        total = sum(max(number, 0.0) for number in numbers)
        self.violations.append(float(f"{total:.4g}") if isfinite(total) else None)

    def _note_regret(self, value: float | None) -> None:
        if value is not None and self.target.optimum is not None:
            regret = float(f"{max(value - self.target.optimum, 0.0):.4g}")
            if not self.steps or regret < self.steps[-1][1]:
                self.steps.append((self.count, regret))

    def _note_best(self, end: bool = False) -> None:
        """Remember the best point so far, if its true value will be needed."""
        if self.target.noisy and (end or self.count in RECOMMENDED):
            best = None if self._best is None else self._best[1]
            if self.recommend is not None:
                best = self.recommend() or best
            self._recommended.setdefault(self.count, best)

    def _worth(self, point: CallArguments | None) -> float | None:
        if point is None or self.target.truth is None:
            return None
        worth = self.target.truth(*point[0], **point[1])
        return None if worth is None else float(f"{worth:.10g}")

    def unit(self, u: Array) -> float:
        """Evaluate a point of the unit cube, for methods that expect equal scales."""
        return self.observe_unit(u)[0][0]

    def observe_unit(self, u: Array) -> tuple[list[float], dict[str, float]]:
        """`observe` for a point of the unit cube."""
        u = np.clip(u, 0.0, 1.0)
        if self.target.named:
            return self.observe(**self.params(u))
        low, high = np.array(self.bounds).T
        return self.observe(low + (high - low) * u)

    def params(self, u: Array) -> dict[str, Any]:
        """The parameters by name at a point of the unit cube; integers are rounded."""
        return self._cube.params(self._cube.decode(np.clip(u, 0.0, 1.0)))

    def at(self, params: dict[str, Any]) -> float:
        """Evaluate parameters given by name, as in `Target.by_name`, also for a box."""
        return self(**params) if self.target.named else self(list(params.values()))

    def observe_at(self, params: dict[str, Any]) -> tuple[list[float], dict[str, float]]:
        """`observe` for parameters given by name, also for a box."""
        return self.observe(**params) if self.target.named else self.observe([*params.values()])

    def notes(self) -> dict[str, Any]:
        """The measurements of the run; if a method stopped early, its last value counts."""
        self._note_best(end=True)
        found: dict[str, Any] = {"steps": self.steps}
        if not self._regret:
            found = {"values": self.values}
            if self.target.limited:
                found["violations"] = self.violations
            if self.target.noisy:  # evaluated at the end, so that it does not change the noise
                best = self._recommended.items()
                found["recommended"] = [[count, self._worth(point)] for count, point in best]
                if self._first:
                    found["sample"] = [self._worth(point) for point in self._first]
            if self.target.steps or self.target.fidelity:  # the values are those of full ones
                found["recommended"] = self._reached
                if self.sample:
                    found["sample"] = self.values
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
