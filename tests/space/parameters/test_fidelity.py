"""A fidelity as a parameter; tests/test_fidelity.py has whole runs."""

import pytest

from bamsoo.errors import SpaceError
from bamsoo.space import Fidelity, Space


def test_no_axis_is_for_it_and_points_without_it_are_at_the_top():
    space = Space({"rows": Fidelity(10, 1000), "x": (0, 1)})
    assert space.names == ["x", "rows"]
    assert (space.domain.dim, space.fidelity) == (1, Fidelity(10, 1000))
    assert space.params(space.point({"x": 0.5})) == {"x": 0.5, "rows": 1000}


@pytest.mark.parametrize(("rows", "words"), [(5, "outside"), (10.5, "expected a whole number")])
def test_a_level_that_is_not_possible_is_refused(rows, words):
    with pytest.raises(SpaceError, match=words):
        Space({"x": (0, 1), "rows": Fidelity(10, 1000)}).point({"x": 0.5, "rows": rows})


def test_it_needs_a_name_and_must_not_depend_on_an_option():
    with pytest.raises(SpaceError, match="x1: a Fidelity needs a name; give the space as a dict"):
        Space([(0, 1), Fidelity(1, 2)])


def test_the_command_keeps_whole_ends_whole():
    assert Fidelity.from_entry({"low": 1.0, "high": 8.0}) == Fidelity(1, 8)
    assert Fidelity.from_entry({"low": 0.5, "high": 8.0}) == Fidelity(0.5, 8.0)
