"""What a search knows: its columns, and how far points are from being feasible."""

from math import asinh, inf, nan

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bamsoo.algorithms.known import FORBIDDEN, UNDEFINED, Known
from bamsoo.algorithms.search import Outcome


def known_of(rows, count=1, allowed=True):
    known = Known(count)
    for key, (value, *measured) in enumerate(rows):
        outcome = Outcome(key, np.array([key / 100.0]), (value,), tuple(measured), allowed)
        known.add(key, (value,), None, outcome)
    return known


def test_columns_keep_their_rows_as_they_grow():
    known = known_of([(float(i), i - 50.0) for i in range(200)])
    assert known.t == 200
    assert known.values.tolist() == [float(i) for i in range(200)]
    assert known.X[:, 0].tolist() == [i / 100.0 for i in range(200)]
    assert known.C[:, 0].tolist() == [i - 50.0 for i in range(200)]
    assert known.feasible.tolist() == [i <= 50 for i in range(200)]
    assert known.keys == list(range(200)) and known.rows[7] == 7


def test_a_search_without_constraints_is_feasible_everywhere_and_ordered_by_value():
    known = known_of([(1.0,), (3.0,), (2.0,)], count=0)
    assert known.met and known.feasible.all() and not known.missed.any()
    assert known.order(known.values).tolist() == [1, 2, 0]
    assert known.order(known.values, np.array([0, 2])).tolist() == [2, 0]


def test_violations_are_measured_on_the_scale_of_each_constraint():
    known = known_of([(0.0, 1.0, -2e6), (0.0, 3.0, 4e6), (0.0, -5.0, 6e6)], count=2)
    assert known.scales.tolist() == [3.0, 4e6]
    np.testing.assert_allclose(
        known.missed, [asinh(1 / 3), asinh(1.0) + asinh(1.0), asinh(1.5)], rtol=1e-12
    )
    assert not known.met


def test_measurements_that_are_not_numbers_count_as_large_violations():
    known = known_of([(0.0, 1.0), (0.0, nan), (0.0, inf), (0.0, -inf), (0.0,)])
    assert known.missed.tolist() == [asinh(1.0), UNDEFINED, UNDEFINED, 0.0, UNDEFINED]
    worse = known_of([(0.0, 1.0), (0.0, 1.0), (0.0, 1e9), (0.0, nan)])
    assert worse.missed[3] == worse.missed[2] > UNDEFINED


def test_a_point_that_a_known_constraint_rejects_comes_last():
    known = known_of([(5.0, -1.0)], allowed=False)
    assert not known.feasible[0] and known.missed[0] == FORBIDDEN


@given(st.lists(st.tuples(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300)), min_size=1))
def test_feasible_points_come_first_and_no_violation_is_nothing_or_infinite(rows):
    known = known_of(rows)
    order = known.order(known.values)
    feasible = known.feasible[order]
    assert feasible[: feasible.sum()].all()
    assert sorted(order.tolist()) == list(range(len(rows)))
    violated = known.missed[~known.feasible]
    assert (violated > 0.0).all() and np.isfinite(violated).all()
