"""Distances along axes of options and along axes that exist only at some points."""

from math import pi, sin

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bamsoo.model.arcs import RADIUS, along_arc, distances_of, slope_along_arc, squared

ABSENT_FROM = 12.0  # a difference that only an axis which exists at one of two points has

units = st.floats(0.0, 1.0)


def on_the_arc(u):
    """The point of the plane that a coordinate becomes."""
    return np.array([np.cos(u / RADIUS), np.sin(u / RADIUS)]) * RADIUS


@given(units, units)
def test_the_distance_is_that_of_two_points_on_half_a_circle(u, v):
    distance = abs(float(along_arc(np.array(u - v))))
    assert distance == pytest.approx(np.linalg.norm(on_the_arc(u) - on_the_arc(v)), abs=1e-12)


def test_the_ends_of_an_axis_are_a_diameter_apart():
    assert along_arc(np.array(1.0)) == pytest.approx(2.0 / pi)


def test_a_point_without_the_axis_is_at_the_centre_of_the_circle():
    assert along_arc(np.array([ABSENT_FROM, -ABSENT_FROM])).tolist() == [RADIUS, RADIUS]
    assert slope_along_arc(np.array([ABSENT_FROM, -ABSENT_FROM])).tolist() == [0.0, 0.0]


@given(st.floats(-1.0, 1.0))
def test_the_slope_is_the_derivative_of_half_the_squared_distance(difference):
    h = 1e-6
    ends = [float(along_arc(np.array(difference + step))) ** 2 / 2.0 for step in (-h, h)]
    assert slope_along_arc(np.array(difference)) == pytest.approx(
        (ends[1] - ends[0]) / (2 * h), abs=1e-8
    )


def test_different_options_have_the_distance_1_however_far_their_places():
    assert distances_of(np.array([0.0, 0.25, -1.0]), options=True).tolist() == [0.0, 1.0, 1.0]


def test_each_axis_has_the_distance_of_its_kind():
    X = np.array([[0.1, 0.25, 0.2], [0.4, 0.75, 0.2]])
    Y = np.array([[0.3, 0.25, 0.2 + ABSENT_FROM]])
    found = squared(X, Y, options=[1], arcs=[2])
    assert found.shape == (3, 2)
    np.testing.assert_allclose(found[0], [0.2**2, 0.1**2])
    np.testing.assert_allclose(found[1], [0.0, 1.0])
    np.testing.assert_allclose(found[2], [RADIUS**2, RADIUS**2])


def test_a_straight_axis_is_not_bent():
    X, Y = np.array([[0.0]]), np.array([[1.0]])
    assert squared(X, Y, [], []).item() == 1.0
    assert squared(X, Y, [], [0]).item() == pytest.approx((2.0 * RADIUS * sin(pi / 2)) ** 2)
