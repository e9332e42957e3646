"""What the trials of a search have reported, and what they cost, in parts of a full evaluation."""

from collections.abc import Callable, Collection, Mapping
from math import nan
from typing import Any

from ..errors import TrialError
from ..space import Point, Space
from .events import Reported
from .objectives import Objectives
from .trials import Curve, Trial

PARTS = 2**60
"""The parts of an evaluation at the top of a fidelity in which costs are counted. Whole numbers add
up without rounding, so a budget is never exceeded."""


class Costs:
    """The steps and the costs of trials.

    Parameters
    ----------
    space : Space
    objectives : Objectives
    steps : int or None
        The number of steps of a full evaluation, if trials report their steps.
    out : mapping
        The pending trials, by number, as they are now.
    """

    def __init__(
        self, space: Space, objectives: Objectives, steps: int | None, out: Mapping[int, Trial]
    ) -> None:
        self._fidelity, self._objectives, self._out = space.fidelity, objectives, out
        self.steps = steps
        self.unit = steps or (1 if space.fidelity is None else PARTS)
        """The number of parts of a full evaluation in which the budget is counted: its steps, or
        parts that are so small that the costs of a fidelity are multiples of them."""
        self.taken = 0
        """What all trials together have cost, in parts of a full evaluation."""
        self.curves: dict[int, Curve] = {}
        """What each trial has reported, by number."""

    @property
    def cost(self) -> float:
        """What all trials together have cost, in full evaluations."""
        return self.taken / self.unit

    @property
    def shown(self) -> float | None:
        """The same, if it may differ from the number of trials."""
        return self.cost if self.unit > 1 else None

    def size(self, point: Point) -> int:
        """What a finished evaluation of this point costs, in parts of a full one."""
        fidelity = self._fidelity
        if fidelity is None:
            return self.unit
        return max(round(self.unit * fidelity.cost_of(point.level)), 1)

    @property
    def all_levels(self) -> float:
        """What a point costs at all levels of the fidelity together, in parts of a full one."""
        fidelity = self._fidelity
        return self.unit * sum(map(fidelity.cost_of, fidelity.levels)) if fidelity else self.unit

    def free(
        self, budget: float, running: Mapping[int, int], elsewhere: Collection[int] = ()
    ) -> float:
        """What is left of the budget, without what pending trials may yet cost, in parts.

        `running` has the number of steps so far of each trial that is being evaluated here. Those
        that are being evaluated `elsewhere` have taken the steps that they have reported. The parts
        are those of `unit`.
        """
        steps = {n: self.curves[n].taken if n in self.curves else 0 for n in elsewhere}
        steps |= running
        out = ((self._out[n].point, taken) for n, taken in steps.items() if n in self._out)
        pending = sum(self.size(point) - taken for point, taken in out)
        return budget * self.unit - self.taken - pending

    def check(self, trial: Trial, step: int) -> None:
        """Raise an error unless this pending trial can have reached this step now."""
        assert self.steps is not None
        curve = self.curves.get(trial.number)
        if curve is None or step <= curve.first:  # it begins, or begins again
            curve = Curve(step)
        said = f"trial {trial.number} reports step {step}"
        if curve.counted(step) > self.steps:
            raise TrialError(f"{said}, but an evaluation has {self.steps} steps")
        if curve.counted(step) <= curve.taken:
            raise TrialError(
                f"{said} after step {curve.taken - (curve.first == 0)}; report each step once, "
                "in order"
            )

    def report(self, event: Reported) -> None:
        """Enter a step of a pending trial."""
        number = event.number
        if self.steps is None or number not in self._out:
            raise TrialError(f"trial {number} reports a step, but is not pending")
        self.check(self._out[number], event.step)
        curve = self.curves.get(number)
        if curve is None or event.step <= curve.first:
            curve = self.curves[number] = Curve(event.step)
        step = curve.counted(event.step)
        self.taken += step - curve.taken
        curve.steps.append(step)
        curve.values.append(event.values or (nan,) * len(self._objectives))

    def end(self, trial: Trial) -> None:
        """Count a trial that has ended; if it reported nothing, it took all its steps."""
        if trial.number not in self.curves:
            self.taken += self.size(trial.point)

    def take_back(self, trial: Trial) -> None:
        """Forget what a trial has cost and reported."""
        curve = self.curves.pop(trial.number, None)
        self.taken -= self.size(trial.point) if curve is None else curve.taken

    def steps_of(self, number: int | None) -> int | None:
        """The number of steps that a trial has taken since it last began, if it takes steps."""
        if self.steps is None or number is None:
            return None
        curve = self.curves.get(number)
        return self.steps if curve is None else curve.taken

    def curve_of(self, number: int | None) -> tuple[tuple[float, ...], ...]:
        """The steps of a trial, each with the values after it."""
        if number is None or (curve := self.curves.get(number)) is None:
            return ()
        both = zip(curve.steps, curve.values, strict=True)
        return tuple((float(step), *values) for step, values in both)

    def reported(self, number: int | None) -> dict[str, float] | None:
        """The values that a trial reported last, by objective."""
        if number is None or (curve := self.curves.get(number)) is None:
            return None
        return self._objectives.by_name(curve.values[-1])

    def until_now(self) -> Callable[[], dict[int, list[Any]]]:
        """A function that returns the values after each step of the trials, as they are now.

        With several objectives, those of a step are a tuple. Only the curves of pending trials can
        still change, so only those are copied at once.
        """
        number, curves = len(self.curves), self.curves
        pending = {n: curves[n].values.copy() for n in self._out if n in curves}
        several = self._objectives.several

        def shown(values: list[tuple[float, ...]]) -> list[Any]:
            return values.copy() if several else [value for (value,) in values]

        return lambda: {
            n: shown(pending.get(n, curve.values)) for n, curve in list(curves.items())[:number]
        }
