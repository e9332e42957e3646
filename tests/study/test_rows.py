"""Rows of a journal: each event comes back as it was, and nothing else is taken for an event."""

from json import dumps
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bamsoo.record.events import (
    Asked,
    Ended,
    Enqueued,
    Expected,
    Reported,
    Restarted,
    Retried,
    Told,
)
from bamsoo.study.rows import BadRowError, as_event, as_row, checksum, is_time

floats = st.floats(allow_nan=False, allow_infinity=False)
times = st.floats(0, 1e10)
points = st.lists(floats | st.just(nan), min_size=1, max_size=4).map(
    lambda x: np.array(x).tobytes()
)
numbers = st.integers(0, 10**9)
names = st.text(st.characters(categories=["L"]), min_size=1, max_size=8)
simple = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | floats | st.text(max_size=9)
EVENTS = st.one_of(
    st.builds(Asked, numbers, points, times, st.none() | st.sampled_from(["tree", "local"])),
    st.builds(Enqueued, numbers, points, times),
    st.builds(Expected, points, times),
    st.builds(
        Reported,
        numbers,
        numbers,
        st.lists(floats, max_size=4).map(tuple),
        st.none() | st.booleans(),
        times,
    ),
    st.builds(
        Told,
        numbers,
        st.none(),
        st.lists(floats, max_size=4).map(tuple),
        st.none() | st.text(max_size=9),
        st.lists(st.floats(), max_size=2).map(tuple),
        st.none() | st.floats(0, 1e300),
        st.dictionaries(names, simple, max_size=2),
        times,
    ),
    st.builds(Told, st.none(), points, st.tuples(floats), time=times),
    st.builds(
        Told,
        st.none(),
        points,
        time=times,
        values=st.tuples(floats),
        curve=st.lists(st.tuples(floats, floats | st.just(nan))).map(tuple),
    ),
    st.builds(Ended, times),
    st.builds(Restarted, times),
    st.builds(Retried, st.lists(st.integers(0, 99)).map(tuple), st.none() | points, times),
)


@given(EVENTS, st.integers(1, 10**6))
def test_an_event_comes_back_as_it_was(event, number):
    row = as_row(number, event)
    assert as_event(number, row) == event
    assert as_row(number, as_event(number, row)) == row


def changed(**fields):
    """A row with other fields, whose checksum is right."""
    names = ("number", "kind", "trial", "body", "time")
    row = dict(zip(names, as_row(1, Told(0, None, (2.0,), time=5.0)), strict=False))
    body = fields.pop("body", None)
    row |= fields
    if body is not None:
        row["body"] = body if isinstance(body, (str, bytes)) else dumps(body)
    parts = tuple(row[name] for name in names)
    return (*parts, checksum(parts))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"number": 2}, "event 1 is missing"),
        ({"kind": "guess"}, "unknown kind 'guess'"),
        ({"kind": 3}, "unknown kind 3"),
        ({"time": None}, "invalid time None"),
        ({"time": 1e12}, "invalid time 1000000000000.0"),
        ({"body": "{"}, "invalid body '{'"),
        ({"body": [1]}, "invalid body"),
        ({"body": "[" * 100_000}, "invalid body"),
        ({"trial": -1}, "invalid trial -1"),
        ({"trial": "0"}, "invalid trial '0'"),
        ({"trial": None}, "invalid point None"),
        ({"trial": None, "body": {"values": [1.0], "point": ["a"]}}, "invalid point"),
        ({"body": {"values": []}}, "invalid values"),
        ({"body": {"values": [True]}}, "invalid values"),
        ({"body": {"values": 2.0}}, "invalid values"),
        ({"body": {"values": [1.0], "error": 3}}, "invalid error 3"),
        ({"body": {"values": [1.0], "measured": ["a"]}}, "invalid measurements"),
        ({"body": {"values": [1.0], "measured": [10**400]}}, "invalid measurements"),
        ({"body": {"values": [1.0], "variance": -1.0}}, "invalid variance -1.0"),
        ({"body": {"values": [1.0], "curve": [[1]]}}, "invalid curve"),
        ({"body": {"values": [1.0], "curve": [[1, "a"]]}}, "invalid curve"),
        ({"body": {"values": [1.0], "extras": {"a": {"b": 1}}}}, "invalid extras"),
        ({"kind": "report", "body": {"step": -1}}, "invalid step -1"),
        ({"kind": "report", "body": {"step": 1.0}}, "invalid step 1.0"),
        ({"kind": "report", "body": {"step": 1, "value": "a"}}, "invalid value 'a'"),
        ({"kind": "report", "body": {"step": 1, "values": [1.0, "a"]}}, "invalid values"),
        ({"kind": "report", "body": {"step": 1, "stopped": 1}}, "invalid decision 1"),
        ({"kind": "ask", "body": {"point": [0.5], "origin": "a b"}}, "invalid origin 'a b'"),
    ],
)
def test_a_row_that_is_no_event_is_refused_in_a_sentence(fields, said):
    with pytest.raises(BadRowError) as caught:
        as_event(1, changed(**fields))
    assert said in str(caught.value)


@pytest.mark.parametrize("place", range(5))
def test_a_row_that_was_changed_is_noticed(place):
    row = list(as_row(1, Told(0, None, (2.0,), time=5.0)))
    row[place] = {0: 1, 1: "ask", 2: 1, 3: '{"values": [2.5]}', 4: np.nextafter(5.0, 6.0)}[place]
    if place == 0:
        row[5] = row[5][::-1]
    with pytest.raises(BadRowError, match="its checksum differs"):
        as_event(1, tuple(row))


def test_times_are_seconds_in_years_of_four_digits():
    assert is_time(0) and is_time(1.7e9) and is_time(-5.0)
    assert not any(map(is_time, (None, "1", True, nan, inf, 1e11, -1e11)))
