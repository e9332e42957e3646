"""Whole numbers: how far they reach."""

import pytest

import bamsoo
from bamsoo.space import Int


def test_whole_numbers_reach_to_where_floats_are_exact():
    widest = Int(-(2**52), 2**52)
    assert (widest.low, widest.high) == (-(2**52), 2**52)
    with pytest.raises(bamsoo.errors.SpaceError, match="Int: high must be between"):
        Int(0, 2**52 + 1)
