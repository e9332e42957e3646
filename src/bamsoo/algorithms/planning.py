"""What the searches share that plan for a budget of evaluations."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..checks import check_whole
from ..errors import SettingsError
from .algorithm import Algorithm


def check_budget(name: str, budget: Any) -> None:
    """Refuse what is neither a whole number of evaluations nor None, for one still to be given."""
    if budget is not None:
        check_whole(name, "budget", budget)


def budget_of(name: str, budget: int | None) -> int:
    """The budget, or one sentence on where it comes from."""
    if budget is None:
        raise SettingsError(
            f"{name} plans for a budget of evaluations, and none was given; set it, as in "
            f"{name}(budget=200), or call minimize, which has one"
        )
    return budget


def planned(algorithm: Algorithm, budget: int | None) -> Algorithm:
    """The algorithm with this budget, where it plans for one and has none of its own."""
    if budget is None or getattr(algorithm, "budget", 0) is not None:
        return algorithm
    filled: Algorithm = replace(algorithm, budget=budget)  # type: ignore[type-var]
    return filled


def largest_h_max(cost: Callable[[int], int], budget: int) -> int:
    """The largest h_max whose plan costs at most the budget, and at least 1.

    `cost` never falls as h_max grows.
    """
    low, high = 1, 2
    while cost(high) <= budget:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if cost(middle) <= budget else (low, middle)
    return low
