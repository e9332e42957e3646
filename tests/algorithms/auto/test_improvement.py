"""What results are worth: constraints first, then the value, and then whether the gain is real."""

from math import inf

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bamsoo.algorithms.auto.improvement import Improvement
from bamsoo.algorithms.book import SAME, Book
from bamsoo.algorithms.known import Known
from bamsoo.algorithms.search import Outcome


def book_of(values, measured=None, tol=None):
    """A book with these values, to be maximised, and measurements of one constraint."""
    book = Book(tol=tol, known=Known(1 if measured else 0))
    book.begin()
    for i, value in enumerate(values):
        constraints = (measured[i],) if measured else ()
        book.receive([Outcome(None, np.full(1, i / 100), (value,), constraints)])
    return book


def test_a_gain_is_counted_in_deviations_of_the_values():
    improvement = Improvement(book_of([0.0, 1.0, 3.0]))
    assert improvement.gain(2, 1) == pytest.approx(2.0 / np.std([0.0, 1.0, 3.0]))
    assert improvement.gain(0, 1) == improvement.gain(1, 1) == improvement.gain(None, 1) == 0.0


@pytest.mark.parametrize("small", [1e-300, 1e-17])
def test_any_gain_counts_however_small(small):
    improvement = Improvement(book_of([0.0, small, 1e16]))
    assert improvement.gain(1, 0) > 0.0


def test_constant_values_gain_nothing():
    improvement = Improvement(book_of([2.0, 2.0, 2.0]))
    assert improvement.gain(1, 0) == 0.0
    assert improvement.quiet(improvement.heights()) == 2


def test_a_smaller_violation_is_worth_more_than_any_value():
    improvement = Improvement(book_of([9.0, 1.0, 5.0, 0.0], measured=[2.0, 1.0, -1.0, 3.0]))
    assert improvement.gain(1, 0) == improvement.gain(2, 0) == inf
    assert improvement.gain(3, 0) == improvement.gain(0, 1) == 0.0


def test_a_gain_below_what_the_caller_wants_is_none():
    improvement = Improvement(book_of([0.0, 0.4, 0.5], tol=0.5))
    assert improvement.gain(1, 0) == 0.0
    assert improvement.gain(2, 0) > 0.0


def test_heights_are_the_worst_value_where_a_point_is_infeasible():
    improvement = Improvement(book_of([9.0, 1.0, 5.0], measured=[2.0, -1.0, -1.0]))
    assert_allclose(improvement.heights(), [1.0, 1.0, 5.0])
    assert_allclose(improvement.heights(np.array([1])), [1.0])
    assert not len(improvement.heights(np.array([0])))


def test_values_since_the_last_real_gain_are_counted():
    improvement = Improvement(book_of([0.0, 1.0]))
    assert improvement.quiet(np.array([])) == 0
    values = np.array([0.0, 1.0, 0.5, 0.2, 1.0 + 0.1 * SAME, 0.4])
    assert improvement.quiet(values) == 4  # the fifth value gains next to nothing
    assert improvement.quiet(np.array([0.0, 1.0, 0.5, 2.0])) == 0
