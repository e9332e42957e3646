"""What the algorithms that plan for a budget share."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bamsoo.algorithms import SOO, SequOOL
from bamsoo.algorithms.planning import budget_of, check_budget, largest_h_max, planned
from bamsoo.errors import SettingsError


def test_a_budget_may_be_missing_at_first_and_is_asked_for_when_it_is_needed():
    check_budget("SequOOL", None)
    assert budget_of("SequOOL", 7) == 7
    with pytest.raises(SettingsError, match=r"as in SequOOL\(budget=200\)"):
        budget_of("SequOOL", None)
    with pytest.raises(SettingsError, match="budget must be a whole number >= 1, got 0"):
        check_budget("SequOOL", 0)


def test_only_an_algorithm_that_plans_and_has_no_budget_gets_one():
    assert planned(SequOOL(), 50) == SequOOL(budget=50)
    assert planned(SequOOL(budget=20), 50) == SequOOL(budget=20)
    assert planned(SequOOL(), None) == SequOOL()
    assert planned(SOO(), 50) == SOO()


@given(st.integers(1, 5_000), st.integers(1, 9), st.integers(0, 3))
def test_the_plan_is_the_deepest_one_that_fits(budget, slope, power):
    def cost(h):
        return slope * h ** (1 + power)

    fits = [h for h in range(1, budget + 1) if cost(h) <= budget]
    assert largest_h_max(cost, budget) == max(fits, default=1)
