"""Which options a choice accepts."""

import numpy as np
import pytest

import bamsoo
from bamsoo.space import Choice


@pytest.mark.parametrize(
    ("options", "repeated"),
    [
        ([1, "1", 1.5, None, float("nan")], None),
        ([1, "1", 1.0], "1.0"),
        ([float("nan"), 1, float("nan")], "nan"),
        ([[1], [2], "a"], None),
        ([[1], "a", [1]], r"\[1\]"),
        ([np.array([1, 2]), np.array([1, 2])], None),  # whether these are equal has no clear answer
        ([1, np.array(1)], "array"),
        ([np.array(1), 1], "1"),
    ],
    ids=str,
)
def test_an_option_that_equals_another_is_found(options, repeated):
    if repeated is None:
        assert Choice(options).options == tuple(options)
    else:
        with pytest.raises(
            bamsoo.errors.SpaceError, match=f"the option {repeated}.* is listed twice"
        ):
            Choice(options)
