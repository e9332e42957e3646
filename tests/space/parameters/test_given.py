"""Numbers from a caller, whatever holds them."""

from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest

from bamsoo.space.parameters.given import equal, numbers, single


@pytest.mark.parametrize("value", ["1", b"1", bytearray(b"1"), None, [1, None], 1j, [[1], [1, 2]]])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(TypeError):
        numbers(value)
    assert single(value) is None


def test_numbers_become_floats():
    assert numbers([1, True, Fraction(1, 2)]).tolist() == [1.0, 1.0, 0.5]
    assert numbers([10**400, -(10**400)]).tolist() == [inf, -inf]
    np.testing.assert_array_equal(numbers(np.ma.array([1, 2], mask=[True, False])), [nan, 2.0])
    assert single([[3]]) == 3.0
    assert single([3, 4]) is None


def test_what_is_the_same():
    assert equal(1, 1.0)
    assert equal(nan, float("nan"))
    assert not equal(np.array([1, 2]), np.array([1, 2]))  # without a clear answer
