"""Estimates of points that a search evaluates repeatedly, because values are noisy."""

from dataclasses import dataclass
from math import inf, isnan

from ..base.typing import Array


@dataclass(eq=False)
class Estimate:
    """The evaluations of one point, for searches that evaluate a point repeatedly under noise."""

    x: Array
    count: int = 0  # number of values that have arrived
    mean: float = -inf  # of these values
    failed: int = 0  # number of failed evaluations
    out: int = 0  # number of pending evaluations

    @property
    def asked(self) -> int:
        """The number of evaluations that were asked for, including failed and pending ones."""
        return self.count + self.failed + self.out

    def add(self, value: float) -> None:
        """Enter the value of a pending evaluation; nan if it failed."""
        self.out -= 1
        if isnan(value):
            self.failed += 1
            return
        self.count += 1
        if self.count == 1:
            self.mean = value
        else:  # a sum could overflow; this way the mean of equal values is exactly that value
            self.mean += value / self.count - self.mean / self.count


class Estimates:
    """All estimates of a search, and which of them it recommends.

    It recommends the finalist with the highest mean. Until the search names its finalists, they
    are the points with the largest number of values.
    """

    def __init__(self) -> None:
        self.finalists: list[Estimate] = []
        self._all: list[Estimate] = []
        self._out_to: dict[int, Estimate] = {}

    def expect(self, ticket: int, estimate: Estimate) -> None:
        """Note that one more value has been asked for."""
        self._out_to[ticket] = estimate
        if estimate.asked == 0:
            self._all.append(estimate)
        estimate.out += 1

    def enter(self, ticket: int, value: float) -> Estimate | None:
        """The estimate to which a value belongs, with that value; nan if the evaluation failed."""
        if (estimate := self._out_to.pop(ticket, None)) is not None:
            estimate.add(value)
        return estimate

    def recommended(self) -> Estimate | None:
        """The point recommended so far, in a search that evaluates points repeatedly."""
        valued = [each for each in self.finalists if each.count]
        if not valued:
            valued = [each for each in self._all if each.count]
            most = max((each.count for each in valued), default=0)
            valued = [each for each in valued if each.count == most]
        return max(valued, key=lambda each: each.mean, default=None)
