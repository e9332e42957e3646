"""The steps of a range, and how it is written."""

import pytest

import bamsoo
from bamsoo.space import Real
from bamsoo.space.parameters.interval import Grid, written


def test_steps_reach_to_where_floats_are_exact():
    assert Real(-1.0, 1.0, step=2.0**-51).grid().count == 2**52 + 1
    with pytest.raises(bamsoo.errors.SpaceError, match="too small to tell apart"):
        Real(-1.75, 1.75, step=2.0**-51)


def test_each_value_of_a_grid_is_rounded_only_once():
    grid = Grid.of(0.0, 1.0, 0.1)
    assert [grid.value(i) for i in range(grid.count)] == [i / 10 for i in range(11)]
    assert [grid.index(value) for value in (-3.0, 0.26, 9.0)] == [0, 3, 10]


def test_a_range_is_written_as_the_command_takes_it():
    assert written("a", 0.1, 2.0, {"log": True, "int": False}, None) == "a:0.1:2:log"
    assert written("a", 0, 1, {}, 0.12345678) == "a:0:1:step=0.12345678"
    assert written("a", 1, 9, {"int": True}, 2) == "a:1:9:int:step=2"
