"""What trials cost, in parts of a full evaluation."""

import pytest

from bamsoo import Fidelity
from bamsoo.errors import TrialError
from bamsoo.record.costs import PARTS, Costs
from bamsoo.record.events import Reported
from bamsoo.record.objectives import ORDINARY
from bamsoo.record.trials import Trial
from bamsoo.space import Point, Space

SPACE = Space([(0.0, 1.0)])


def trial(number, space=SPACE, point=(0.5,)):
    return Trial(number, Point.given(space, list(point)))


def test_without_steps_a_trial_costs_one_whatever_its_point():
    out = {0: trial(0)}
    costs = Costs(SPACE, ORDINARY, None, out)
    assert costs.free(3, {0: 0}) == 2
    costs.end(out.pop(0))
    assert (costs.cost, costs.shown, costs.free(3, {})) == (1.0, None, 2)
    assert costs.steps_of(0) is None


def test_with_steps_a_trial_costs_those_that_it_took():
    out = {0: trial(0), 1: trial(1), 2: trial(2)}
    costs = Costs(SPACE, ORDINARY, 10, out)
    for step in (1, 2, 5):
        costs.report(Reported(0, step, (1.0 / step,)))
    assert costs.cost == costs.shown == 0.5
    assert (costs.steps_of(0), costs.steps_of(1), costs.reported(0)) == (5, 10, {"value": 0.2})
    assert costs.free(3, {0: 5}, [1]) == 30 - 5 - 5 - 10
    costs.end(out.pop(0))
    costs.end(out.pop(1))  # it reported nothing, and took all its steps
    assert costs.taken == 15
    before = costs.until_now()
    costs.report(Reported(2, 1, (3.0,)))
    assert before() == {0: [1.0, 0.5, 0.2]}
    costs.take_back(trial(0))
    assert costs.taken == 11 and list(costs.curves) == [2]


def test_steps_are_reported_once_in_order_and_of_pending_trials():
    costs = Costs(SPACE, ORDINARY, 3, {0: trial(0)})
    costs.report(Reported(0, 0, (1.0,)))
    costs.report(Reported(0, 1, (1.0,)))
    costs.check(trial(0), 0)  # it begins again
    with pytest.raises(TrialError, match="reports step 1 after step 1"):
        costs.check(trial(0), 1)
    with pytest.raises(TrialError, match="has 3 steps"):
        costs.check(trial(0), 3)
    with pytest.raises(TrialError, match="is not pending"):
        costs.report(Reported(4, 1, (1.0,)))


def test_with_a_fidelity_a_trial_costs_its_share_of_one_at_the_top():
    space = Space({"x": (0.0, 1.0), "rows": Fidelity(1, 8)})
    low, top = (trial(i, space, (0.5, rows)) for i, rows in enumerate((2.0, 8.0)))
    costs = Costs(space, ORDINARY, None, {})
    costs.end(low)
    assert costs.unit == PARTS and costs.cost == pytest.approx(0.25)
    costs.end(top)
    assert costs.cost == pytest.approx(1.25)
    assert costs.all_levels > PARTS
