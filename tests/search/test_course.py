"""What the events of a search add up to, on searches that can be worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest

import bamsoo
from bamsoo import Fidelity
from bamsoo.algorithms import SOO
from bamsoo.errors import ExhaustedError, ReplayError
from bamsoo.record.events import Asked, Ended, Enqueued, Expected, Told
from bamsoo.search.course import Course
from bamsoo.search.unfinished import ROUNDING


def key(*x):
    return np.array(x, dtype=float).tobytes()


def setup(space=((0.0, 1.0),), direction="maximize", **more):
    return bamsoo.Optimizer(space, direction, SOO(k=2), **more)._setup


def asked(course):
    """The next point, as an event that has been applied."""
    point, claim = course.next()
    event = Asked(len(course.ledger.trials), point.key, origin=claim.origin)
    course.apply(event, claim)
    return event


def played(course, f, count):
    """Ask and tell this many times; the events."""
    events = []
    for _ in range(count):
        event = asked(course)
        told = Told(event.number, None, (f(*np.frombuffer(event.key)),))
        course.apply(told)
        events += [event, told]
    return events


def test_a_course_asks_for_the_points_that_soo_visits_on_paper():
    course = Course(setup())
    events = played(course, lambda x: x, 9)
    points = [np.frombuffer(e.key)[0] for e in events[::2]]
    assert points == [0.5, 0.25, 0.75, 0.625, 0.875, 0.125, 0.375, 0.8125, 0.9375]
    assert course.ledger.best.value == 0.9375


def test_the_events_alone_give_the_same_course_again():
    events = played(Course(setup()), lambda x: x, 9)
    again = Course(setup(), events)
    assert again.next()[0].key == played(Course(setup()), lambda x: x, 10)[-2].key
    assert again.apart == {}


def test_a_minimised_value_has_the_other_sign_inside_only():
    course = Course(setup(direction="minimize"))
    played(course, lambda x: x, 3)
    assert course.look().known.values.tolist() == [-0.5, -0.25, -0.75]
    assert course.best().value == 0.25


def test_another_point_is_taken_if_it_differs_by_rounding_only():
    first, told, second, *_ = played(Course(setup()), lambda x: x, 2)
    near = replace(second, key=key(0.25 + 0.5 * ROUNDING))
    course = Course(setup(), [first, told, near])
    assert course.apart == {1: pytest.approx(0.5 * ROUNDING)}
    far = replace(second, key=key(0.25 + 2.0 * ROUNDING))
    with pytest.raises(ReplayError, match=r"trial 1 differs: .* but the search now asks for"):
        Course(setup(), [first, told, far])


def test_coordinates_that_are_equal_do_not_count_when_another_differs_by_rounding():
    square = setup(space={"x": (0.0, 1.0), "y": (0.0, 1.0)})
    first, told, second, *_ = played(Course(square), lambda x, y: x, 2)
    x, y = np.frombuffer(second.key)
    near = replace(second, key=np.array([x + 0.5 * ROUNDING, y]).tobytes())
    assert Course(square, [first, told, near]).apart == {1: pytest.approx(0.5 * ROUNDING)}


def test_a_point_told_before_it_is_asked_for_is_not_asked_for():
    course = Course(setup())
    course.apply(Told(None, key(0.5), (0.5,)))
    assert np.frombuffer(asked(course).key) == [0.25]


def test_an_expected_point_is_pending_until_it_is_told():
    course = Course(setup())
    course.apply(Expected(key(0.25)))
    course.apply(Enqueued(0, key(0.75)))
    played_ = [np.frombuffer(asked(course).key)[0] for _ in range(2)]
    assert not {0.25, 0.75} & set(played_)
    course.apply(Told(None, key(0.25), (1.0,)))
    assert not course.ledger.expected
    assert course.ledger.best.value == 1.0


def test_a_search_with_nothing_left_has_ended_and_must_end_again():
    small = setup(space={"n": bamsoo.Int(0, 1)})
    course = Course(small)
    events = played(course, lambda n: n, 2)
    with pytest.raises(ExhaustedError, match="nothing is left to evaluate"):
        course.next()
    assert Course(small, [*events, Ended()]).ended == course.ended
    with pytest.raises(ReplayError, match="had nothing left to ask for, but now has more"):
        Course(small, [*events[:2], Ended()])


def test_of_the_events_before_the_beginning_only_the_values_count():
    events = played(Course(setup()), lambda x: x, 4)
    fresh = Course(setup(), events, begin=len(events))
    assert not fresh.started
    assert len(fresh.ledger.evaluations) == 4
    assert fresh.next()[0].key not in {e.key for e in events[::2]}


def test_a_search_with_a_fidelity_ends_when_every_point_has_been_evaluated_at_the_top():
    space = {"n": bamsoo.Int(1, 5), "level": Fidelity(1, 16)}
    opt = bamsoo.Optimizer(space)
    levels = {n: [] for n in range(1, 6)}
    with pytest.raises(ExhaustedError):
        for _ in range(100):
            trial = opt.ask()
            n, level = trial.params["n"], trial.params["level"]
            levels[n].append(level)
            opt.tell(trial, (n - 3.0) ** 2 + 1.0 / level)
    assert all(each[-1] == 16 for each in levels.values())
    origins = [e.origin for e in opt.evaluations if e.state == "finished"]
    assert len(origins) == 5
    assert "promoted" in origins  # at first, the search had left it at a lower level


def test_a_study_of_an_earlier_version_may_have_ended_with_unfinished_evaluations():
    space = {"n": bamsoo.Int(0, 2)}
    opt = bamsoo.Optimizer(space, steps=16)
    for _ in range(3):
        trial = opt.ask()
        assert next(step for step in range(1, 17) if not opt.report(trial, step, trial.x[0])) == 4
    events = [*opt._events, Ended()]
    course = Course(opt._setup, events)
    assert course.ended is not None
    point, claim = course.next()
    assert claim.origin == "promoted"
    assert point.x == [0.0]  # the one with the best curve
