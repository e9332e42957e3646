"""The space: conversions between values and the unit cube, and checks of what a caller gives."""

import sys
from math import copysign, inf, isfinite, log, nan, nextafter, sqrt, ulp

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import Bounds

import bamsoo
from bamsoo.space import Choice, Int, Real, Space

checked = settings(deadline=None, max_examples=100, derandomize=True)
finite = st.floats(allow_nan=False, allow_infinity=False)
positive = st.floats(min_value=5e-324, allow_infinity=False)
unit = st.floats(0.0, 1.0)


@st.composite
def reals(draw):
    """Any valid real parameter: subnormal, a few ulps wide, or as wide as floats allow."""
    log_scale = draw(st.booleans())
    numbers = positive if log_scale else finite
    low = draw(numbers)
    if draw(st.booleans()):
        high = draw(numbers)
    else:
        high = low
        for _ in range(draw(st.integers(1, 9))):
            high = nextafter(high, inf)
    low, high = min(low, high), max(low, high)
    assume(low < high and isfinite(high))
    return Real(low, high, log=log_scale)


spaces = st.lists(reals(), min_size=1, max_size=4).map(Space)


@checked
@given(space=spaces, data=st.data())
def test_decoded_points_lie_inside_the_bounds(space, data):
    u = np.array(data.draw(st.lists(unit, min_size=space.dim, max_size=space.dim)))
    x = space.decode(u)
    assert np.all((space.low <= x) & (x <= space.high))


@checked
@given(space=spaces, data=st.data())
def test_encoded_points_lie_in_the_unit_cube(space, data):
    x = np.array([data.draw(st.floats(p.low, p.high)) for p in space.parameters.values()])
    u = space.encode(x)
    assert np.all((u >= 0.0) & (u <= 1.0))


@checked
@given(space=spaces, data=st.data())
def test_a_unit_point_survives_the_round_trip_up_to_the_finest_step(space, data):
    u = np.array(data.draw(st.lists(unit, min_size=space.dim, max_size=space.dim)))
    assert np.all(np.abs(space.encode(space.decode(u)) - u) <= space.domain.finest)


@checked
@given(space=spaces, data=st.data())
def test_values_survive_the_round_trip_up_to_rounding(space, data):
    parameters = list(space.parameters.values())
    x = np.array([data.draw(st.floats(p.low, p.high)) for p in parameters])
    back = space.decode(space.encode(x))
    for p, before, after in zip(parameters, x, back, strict=True):
        if p.log:
            size = max(1.0, abs(log(p.low)), abs(log(p.high)))
            assert after == pytest.approx(before, rel=4 * ulp(size), abs=1e-323)
        else:
            assert after == pytest.approx(before, rel=0, abs=4 * ulp(max(abs(p.low), abs(p.high))))


@checked
@given(space=spaces, data=st.data())
def test_the_finest_step_changes_the_value(space, data):
    finest = space.domain.finest
    assert np.all(finest > 0)
    u = np.array(data.draw(st.lists(unit, min_size=space.dim, max_size=space.dim)))
    v = u + finest
    fits = v <= 1.0
    assert np.all(space.decode(u)[fits] < space.decode(np.where(fits, v, u))[fits])


@checked
@given(low=st.floats(-1e9, 1e9), width=st.floats(1e-3, 1e9))
def test_the_finest_step_is_at_most_a_few_ulps(low, width):
    space = Space([(low, low + width)])
    size = max(abs(space.low[0]), abs(space.high[0]))
    assert space.domain.finest[0] <= 2.0**-52 + 16 * ulp(size) / width


@checked
@given(space=spaces)
def test_corners_of_the_cube_are_the_bounds_up_to_rounding(space):
    low, high = space.decode(np.zeros(space.dim)), space.decode(np.ones(space.dim))
    for p, a, b in zip(space.parameters.values(), low, high, strict=True):
        if p.log:
            np.testing.assert_allclose([a, b], [p.low, p.high], rtol=1e-12, atol=1e-323)
        else:
            assert a == p.low
            assert p.high - b <= ulp(max(abs(p.low), abs(p.high)))


@checked
@given(low=st.floats(1e-150, 1e150), ratio=st.floats(1.001, 1e150))
def test_the_middle_of_a_log_scale_is_the_geometric_mean(low, ratio):
    high = low * ratio
    middle = Space({"rate": Real(low, high, log=True)}).decode(np.array([0.5]))[0]
    assert middle == pytest.approx(sqrt(low) * sqrt(high), rel=1e-12)


def test_equal_ratios_are_equal_distances_on_a_log_scale():
    space = Space([Real(1e-4, 1.0, log=True)])
    values = [space.decode(np.array([u]))[0] for u in (0.0, 0.25, 0.5, 0.75, 1.0)]
    np.testing.assert_allclose(values, [1e-4, 1e-3, 1e-2, 1e-1, 1.0], rtol=1e-14)


def test_a_log_parameter_does_not_affect_its_linear_neighbours():
    space = Space({"a": (0, 10), "rate": Real(1, 100, log=True), "b": (-1, 1)})
    np.testing.assert_allclose(space.decode(np.full(3, 0.5)), [5.0, 10.0, 0.0], rtol=1e-14)
    np.testing.assert_allclose(space.encode([5.0, 10.0, 0.0]), 0.5, rtol=1e-14)


def test_the_widest_possible_range_has_its_middle_at_zero():
    huge = sys.float_info.max
    space = Space([(-huge, huge)])
    assert space.decode(np.array([0.5]))[0] == 0.0
    assert space.encode(np.array([0.0]))[0] == 0.5
    assert space.encode(np.array([huge]))[0] == 1.0
    assert isfinite(space.domain.finest[0])


SAME = {
    "pairs": [(-5, 10), (0.5, 15)],
    "lists": [[-5, 10], [0.5, 15]],
    "array": np.array([[-5, 10], [0.5, 15]]),
    "iterator": zip([-5, 0.5], [10, 15], strict=True),
    "Bounds": Bounds([-5, 0.5], [10, 15]),
    "dict": {"x0": (-5, 10), "x1": (0.5, 15)},
    "Reals": [Real(-5, 10), Real(0.5, 15)],
    "numpy numbers": [(np.int64(-5), np.float32(10)), (np.float64(0.5), np.int8(15))],
}


@pytest.mark.parametrize("form", SAME)
def test_every_way_to_write_a_space_gives_the_same_space(form):
    space = Space(SAME[form])
    assert space.named == (form == "dict")
    assert space.names == ["x0", "x1"]
    assert space.low.tolist() == [-5.0, 0.5]
    assert space.high.tolist() == [10.0, 15.0]
    assert all(type(p.low) is float for p in space.parameters.values())


def test_a_single_bound_for_all_parameters_is_broadcast():
    space = Space(Bounds([0, 0, 0], 1))
    assert space.low.tolist() == [0.0] * 3
    assert space.high.tolist() == [1.0] * 3


def test_the_space_is_a_copy_of_the_callers_dict():
    given_space = {"a": (0, 1)}
    space = Space(given_space)
    given_space["b"] = (0, 1)
    assert space.names == ["a"]


@checked
@given(a=st.floats(-2, 3), b=st.floats(1, 9))
def test_the_values_of_a_dict_may_be_in_any_order(a, b):
    space = Space({"a": (-2, 3), "b": (1, 9)})
    x = space.point({"b": b, "a": a})
    assert x.tolist() == [a, b]
    assert space.params(x) == {"a": a, "b": b}
    assert space.point([a, b]).tolist() == [a, b]


def test_a_checked_point_is_a_copy_of_the_callers():
    mine = np.array([0.25])
    x = Space([(0, 1)]).point(mine)
    x[0] = 0.75
    assert mine[0] == 0.25


@pytest.mark.parametrize(
    ("low", "high", "log"),
    [(0.0, 1.0, False), (-3e300, 1e308, False), (1e3, 1e3 + 1, False), (1e-9, 1e3, True)],
)
def test_a_point_outside_by_rounding_is_on_the_bound_and_one_further_out_is_refused(low, high, log):
    space = Space([Real(low, high, log=log)])
    width = high - low
    for bound, beyond in ((low, -inf), (high, inf)):
        assert space.point([bound])[0] == bound
        assert space.point([nextafter(bound, beyond)])[0] == bound
        far = bound + copysign(1e-11 * (bound if log else width), beyond)
        for outside in (far, beyond, nan):
            with pytest.raises(bamsoo.errors.SpaceError, match="outside"):
                space.point([outside])


@pytest.mark.parametrize("parameter", [(0.0, 1.0), Real(-0.1, 0.2), Real(1e-3, 1.0, log=True)])
def test_a_unit_point_outside_by_rounding_is_decoded_to_a_point_inside(parameter):
    space = Space([parameter])
    assert space.decode(np.array([-1e-16]))[0] == space.low[0]
    assert space.decode(np.array([1.0 + 4e-16]))[0] == space.high[0]


def test_encoding_does_not_change_the_callers_array():
    space = Space([Real(1, 100, log=True)])
    x = np.array([10.0])
    space.encode(x)
    assert x[0] == 10.0


def test_options_may_be_arrays_whose_comparison_has_no_truth_value():
    one, other = np.zeros(2), np.ones(2)
    space = Space({"p": Choice([one, other, None])})
    assert space.point({"p": other}).tolist() == [1.0]
    assert space.params(np.array([0.0]))["p"] is one


def test_a_value_too_large_for_a_float_is_a_failure_and_not_a_wrong_type():
    r = bamsoo.minimize(lambda x: 10**400, [(0, 1)], 2)
    assert (r.nfev, r.nfailed) == (2, 2)


def test_options_are_not_all_compared_with_each_other():
    compared = 0

    class Name(str):
        __hash__ = str.__hash__

        def __eq__(self, other):
            nonlocal compared
            compared += 1
            return str(self) == str(other)

    names = [Name(i) for i in range(1000)]
    space = bamsoo.space.Space({"name": Choice(names)})
    assert [space.point({"name": name})[0] for name in names] == list(range(1000))
    assert compared < 10_000


def test_a_space_has_a_largest_size():
    Space([(0, 1)] * 1000)
    with pytest.raises(bamsoo.errors.SpaceError, match="at most 1000 parameters"):
        Space([(0, 1)] * 1001)
    opened = Choice({i: {f"p{i}": Real(0, 1)} for i in range(1001)})
    with pytest.raises(bamsoo.errors.SpaceError, match="at most 1000 parameters"):
        Space({"kind": opened})
    with pytest.raises(
        bamsoo.errors.SpaceError, match="at most 50000 options in a space of 20 param"
    ):
        Space({"kind": Choice(range(50_001)), **{f"x{i}": (0, 1) for i in range(19)}})


MIXED = {
    "rate": Real(1e-5, 1e-1, log=True),
    "depth": Int(1, 64, log=True),
    "mode": Choice(["a", "b", "c"]),
    "x": (0, 1),
}


@given(data=st.data())
@settings(max_examples=60)
def test_points_survive_the_way_to_the_cube_and_back(data):
    space = Space(MIXED)
    u = np.array(data.draw(st.lists(st.floats(0, 1), min_size=4, max_size=4)))
    x = space.decode(u)
    params = space.params(x)
    assert_array_equal(space.point(params), x)
    again = space.decode(space.encode(x))
    assert_allclose(again, x, rtol=1e-12)
    assert again[1] == x[1]
    assert again[2] == x[2]
    assert_array_equal(space.decode(space.domain.snap(u))[1:3], x[1:3])


def test_an_option_needs_a_name():
    with pytest.raises(bamsoo.errors.SpaceError, match=r"x1: a Choice needs a name.* as a dict"):
        bamsoo.minimize(lambda x: 0.0, [(0, 1), Choice(["a", "b"])], 5)


def test_the_ends_of_a_logarithmic_range_are_exact():
    space = Space({"C": Real(1e-2, 1e3, log=True), "rate": Real(1e-5, 1e-1, log=True), "x": (0, 7)})
    assert space.decode(np.ones(3)).tolist() == [1e3, 1e-1, 7.0]
    assert space.decode(np.zeros(3)).tolist() == [1e-2, 1e-5, 0.0]
