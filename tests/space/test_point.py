"""What makes two points the same, and what a point knows of itself."""

import pickle

import numpy as np
import pytest

from bamsoo import Choice, Fidelity, Int
from bamsoo.errors import SpaceError
from bamsoo.space import Point, Space, key_of, numbers_of

SPACE = Space({"x": (0.0, 2.0), "kind": Choice(["a", "b"]), "rows": Fidelity(1, 64)})


def test_points_are_the_same_if_their_numbers_are():
    first, second = Point.of(SPACE, np.array([1.0, 0.0, 64.0])), Point.given(SPACE, [1.0, 0, 64])
    assert first == second == Point.given(Space(SPACE.given), {"x": 1.0, "kind": "a"})
    assert len({first, second, first.at(1.0)}) == 2
    assert Point.given(Space([(-1, 1)]), [-0.0]) == Point.given(Space([(-1, 1)]), [0.0])
    assert key_of(numbers_of(first.key)) == first.key


def test_several_points_of_the_cube_may_stand_for_one_point():
    space = Space([Int(0, 3)])
    points = [Point.decoded(space, np.array([u])) for u in (0.3, 0.45)]
    assert points[0] == points[1]
    assert points[0].unit == [0.375]


def test_the_level_of_a_point_is_apart_from_its_place_in_the_cube():
    point = Point.given(SPACE, {"x": 0.5, "kind": "b", "rows": 4})
    assert point.level == 4.0
    assert point.at_top.level == 64.0
    assert point.at_top.at_top == point.at_top != point
    assert point.at(4.0) == point
    assert point.unit.tolist() == point.at_top.unit.tolist() == [0.25, 0.75]
    plain = Point.given(Space([(0, 1)]), [0.5])
    assert plain.at_top is plain


def test_a_point_is_frozen_pickles_and_says_what_it_is():
    point = Point.given(SPACE, {"x": 0.5, "kind": "b"})
    for numbers in (point.x, point.unit):
        with pytest.raises(ValueError, match="read-only"):
            numbers[0] = 1.0
    again = pickle.loads(pickle.dumps(point))
    assert again == point
    assert again.unit.tolist() == point.unit.tolist()
    assert repr(point) == "Point({'x': 0.5, 'kind': 'b', 'rows': 64})"
    with pytest.raises(SpaceError, match="shape"):
        Point.given(SPACE, [0.5])
