"""Events: what they are equal to, and where the present search begins."""

from math import nan

import pytest

from bamsoo.record.events import Asked, Ended, Restarted, Retried, Told, present


def test_events_whose_numbers_are_missing_are_equal():
    assert Told(1, None, (), measured=(nan, 2.0)) == Told(1, None, (), measured=(nan, 2.0))
    assert hash(Told(1, None, (), measured=(nan,))) == hash(Told(1, None, (), measured=(nan,)))


@pytest.mark.parametrize(
    "other",
    [
        Told(2, None, (3.0,), "why", (1.0,), 0.5, {"a": 1}, 9.0),
        Told(1, b"x", (3.0,), "why", (1.0,), 0.5, {"a": 1}, 9.0),
        Told(1, None, (4.0,), "why", (1.0,), 0.5, {"a": 1}, 9.0),
        Told(1, None, (3.0,), None, (1.0,), 0.5, {"a": 1}, 9.0),
        Told(1, None, (3.0,), "why", (2.0,), 0.5, {"a": 1}, 9.0),
        Told(1, None, (3.0,), "why", (1.0,), None, {"a": 1}, 9.0),
        Told(1, None, (3.0,), "why", (1.0,), 0.5, {"a": True}, 9.0),
        Told(1, None, (3.0,), "why", (1.0,), 0.5, {"a": 1}, None),
        Asked(1, b""),
    ],
)
def test_events_that_differ_in_any_field_are_not_equal(other):
    assert other != Told(1, None, (3.0,), "why", (1.0,), 0.5, {"a": 1}, 9.0)


def test_the_present_search_begins_behind_the_last_restart():
    asked, restart = Asked(0, b""), Restarted()
    assert present([]) == 0
    assert present([asked, Ended()]) == 0
    assert present([restart, asked, restart, asked, asked]) == 3
    assert present([asked, restart]) == 2
    assert present([restart, asked, Retried((0,)), asked]) == 3
