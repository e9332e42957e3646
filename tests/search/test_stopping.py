"""The rule that stops evaluations, and the levels of a fidelity."""

from math import inf

import numpy as np
import pytest

from bamsoo import Fidelity
from bamsoo.search.stopping import WHOLE, Levels, Stopping
from bamsoo.space import Point, Space
from bamsoo.space.axes import cube

STEPS = 20
X = np.array([0.5])


def curve(level, taken):
    """A curve that falls to `level`, to be maximised; its steps and its values."""
    steps = list(range(1, taken + 1))
    return steps, [-level - 1.0 / step for step in steps]


def with_curves():
    rule = Stopping(STEPS, cube(1))
    for i, level in enumerate((0.0, 0.5, 1.0, 2.0)):
        rule.add(np.array([0.2 * i]), STEPS, *curve(level, STEPS))
    return rule


def verdicts(rule, level, best, number=9):
    """The verdict after each step."""
    steps, values = curve(level, STEPS - 1)
    return [rule.verdict(number, X, steps[:n], values[:n], best) for n in range(1, STEPS)]


def test_nothing_is_stopped_before_there_is_a_value_to_beat_or_a_curve():
    assert not any(v.stop for v in verdicts(Stopping(STEPS, cube(1)), 5.0, 0.0))
    assert not any(v.stop for v in verdicts(with_curves(), 5.0, -inf))


def test_a_curve_far_below_the_best_is_stopped_and_one_above_it_is_not():
    assert any(v.stop for v in verdicts(with_curves(), 3.0, -0.05))
    assert not any(v.stop for v in verdicts(with_curves(), -1.0, -0.05))


def test_with_several_objectives_a_curve_is_stopped_only_if_the_front_dominates_it():
    rule = Stopping(STEPS, cube(1), objectives=2)
    for i, level in enumerate((0.0, 0.5, 1.0, 2.0)):
        steps, values = curve(level, STEPS)
        rule.add(np.array([0.2 * i]), STEPS, steps, [(v, -v) for v in values])
    steps, values = curve(3.0, STEPS - 1)
    rows = [(v, -v) for v in values]

    def stopped(front):
        return any(rule.verdict(9, X, steps[:n], rows[:n], front).stop for n in range(1, STEPS))

    assert not stopped([(-0.05, 0.05), (-2.0, 2.0)])  # it ends at about (-3, 3)
    assert stopped([(-0.05, 0.05), (-2.0, 4.0)])
    assert not stopped([])


def test_the_belief_about_a_stopped_curve_is_near_its_end():
    stopped = next(v for v in verdicts(with_curves(), 3.0, -0.05) if v.stop)
    assert stopped.belief.means[0] == pytest.approx(-3.05, abs=0.5)
    assert stopped.belief.variances[0] > 0.0


def test_decisions_are_made_after_few_of_the_steps():
    rule = Stopping(1000, cube(1))
    rule.add(X, 1000, [1, 10, 1000], [-1.0, -0.5, 0.0])
    steps, values = list(range(1, 1000)), [-9.0] * 999
    judged = [n for n in steps if rule.verdict(1, X, steps[:n], values[:n], 0.0).margin < inf]
    assert len({*judged, 1000}) == 14  # nothing is left to decide after the last one


def test_a_share_of_the_steps_goes_to_evaluations_that_cannot_win():
    rule = with_curves()
    spared = [v.spared for v in verdicts(rule, 3.0, -0.05)]
    assert not any(spared[:-5])  # 4 curves of 20 steps leave 4 steps to spare
    for _ in range(20):
        rule.add(X, STEPS, *curve(3.0, STEPS))
    verdict = next(v for v in verdicts(rule, 3.0, -0.05) if v.margin < 0.0)
    assert verdict.spared
    assert not verdict.stop
    rule.spare(9, 5)
    assert not any(v.stop for v in verdicts(rule, 3.0, -0.05))


def test_a_step_without_a_value_counts_as_the_worst():
    rule = with_curves()
    nan = rule.belief(X, [1, 2, 3], [-1.0, float("nan"), float("nan")])
    assert nan.means[0] <= -1.5


def at(x):
    return Point.given(Space({"x": (0, 1), "rows": Fidelity(1, 64)}), {"x": x})


def test_the_first_point_climbs_all_levels_and_every_tenth_after_it():
    fidelity = Fidelity(1, 64)
    levels = Levels(fidelity, cube(1))
    assert fidelity.levels == (1, 4, 16, 64)
    for index in (0, WHOLE):
        found, level = [], None
        while level != 64:
            level = levels.above(level, at(0.5), index)
            found.append(level)
        assert found == [1, 4, 16, 64]
        assert levels.wins(at(0.5), index, inf)


def test_a_poor_point_stays_at_its_level():
    levels = Levels(Fidelity(1, 64), cube(1))
    for i, value in enumerate((0.0, -1.0, -2.0, -3.0)):
        point = at(i / 4)
        for level in (1, 4, 16, 64):
            levels.enter(point, level, value)
        levels.end(point)
    poor, good = at(0.4), at(0.6)
    levels.enter(poor, 1, -9.0)
    assert not levels.wins(poor, 3, 0.0)
    assert levels.belief(poor).means[0] < -2.0
    levels.enter(good, 1, 5.0)
    assert levels.wins(good, 3, 0.0)


@pytest.mark.parametrize(
    ("steps", "look", "looks"),
    [(1, 1, 0), (3, 1, 0), (4, 2, 2), (9, 3, 3), (52, 7, 7), (1000, 31, 32)],
)
def test_the_first_evaluations_together_cost_at_most_one_full_one(steps, look, looks):
    rule = Stopping(steps, cube(1))
    assert (rule.look, rule.looks) == (look, looks)
    assert look * looks <= steps
