"""Functions shared by the algorithms that plan for a budget of evaluations."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..checks import check_whole
from ..errors import SettingsError
from .algorithm import Algorithm


def check_budget(name: str, budget: Any) -> None:
    """Raise an error unless `budget` is a whole number, or None if it is to be filled in later."""
    if budget is not None:
        check_whole(name, "budget", budget)


def budget_of(name: str, budget: int | None) -> int:
    """The budget; raises an error that says how to set it if there is none."""
    if budget is None:
        raise SettingsError(
            f"{name} plans for a budget of evaluations, but none was given; set it, as in "
            f"{name}(budget=200), or call minimize, which fills in its own"
        )
    return budget


def planned(algorithm: Algorithm, budget: int | None) -> Algorithm:
    """The algorithm with this budget, if it plans for one and has none of its own."""
    if budget is None or not algorithm.plans or algorithm.budget is not None:
        return algorithm
    filled: Algorithm = replace(algorithm, budget=budget)  # type: ignore[type-var]
    return filled


def largest_h_max(cost: Callable[[int], int], budget: int) -> int:
    """The largest h_max whose plan costs at most the budget, or 1 if there is none.

    `cost` must never decrease as h_max grows.
    """
    low, high = 1, 2
    while cost(high) <= budget:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if cost(middle) <= budget else (low, middle)
    return low
