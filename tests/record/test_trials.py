"""Trials, and what becomes of them."""

import pytest

from bamsoo import Fidelity
from bamsoo.record.objectives import ORDINARY, Objectives
from bamsoo.record.trials import Curve, Evaluation, Record, Trial, extra_names
from bamsoo.space import Point, Space

SPACE = Space([(0.0, 1.0)])
POINT = Point.given(SPACE, [0.25])


def test_a_trial_has_a_copy_of_its_point():
    trial = Trial(3, POINT)
    trial.x[0] = 9.0
    assert trial.params == {"x0": 0.25} and repr(trial) == "Trial(3, {'x0': 0.25})"
    with pytest.raises(AttributeError, match="value"):
        _ = trial.value


def test_the_state_says_what_became_of_an_evaluation():
    done = Evaluation(0, POINT, (1.0,), ORDINARY)
    levels = Space({"x": (0.0, 1.0), "rows": Fidelity(1, 8)})
    low = Point.given(levels, [0.25, 2.0])
    assert done.state == "done"
    assert done._replace(steps=4).state == "finished"
    assert done._replace(number=None).state == "given"
    assert done._replace(numbers=()).state == "failed"
    assert done._replace(numbers=(), stopped=True).state == "stopped"
    assert done._replace(point=low, cheap=True).state == "cheap"
    assert done._replace(point=low).state == "finished"


def test_with_several_objectives_there_are_values_by_name_only():
    both = Evaluation(0, POINT, (1.0, 2.0), Objectives(("a", "b"), (-1.0, 1.0)))
    assert both.values == {"a": 1.0, "b": 2.0}
    with pytest.raises(AttributeError, match="several"):
        _ = both.value


def test_a_curve_counts_steps_from_one_also_if_the_caller_counts_from_zero():
    assert [Curve(first).counted(4) for first in (0, 1, 3)] == [5, 4, 4]
    assert Curve(0).taken == 0


def test_extras_are_listed_as_they_first_occur():
    rows = [Evaluation(0, POINT, (), ORDINARY, extras={each: 1}) for each in ("b", "a", "b")]
    assert extra_names(rows) == ["b", "a"]


def test_a_record_knows_how_long_its_evaluation_took():
    record = Record(0, {}, 1.0, "done", None, 100.0, 130.0)
    assert record.seconds == 30.0
    assert record._replace(took=7.0).seconds == 7.0
    assert record._replace(asked_at=None).seconds is None
