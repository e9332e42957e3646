"""The axes of the unit cube: every value has an interval of its own."""

from hypothesis import given
from hypothesis import strategies as st

from bamsoo.space.axes import (
    Discrete,
    Options,
)

steps = st.one_of(
    st.builds(Discrete, st.integers(1, 10**6)),
    st.builds(Discrete, st.integers(1, 10**6), st.integers(1, 10**6)),
    st.builds(Options, st.integers(1, 50)),
)


@given(axis=steps, data=st.data())
def test_every_value_of_an_axis_has_an_interval_and_a_centre_of_its_own(axis, data):
    i = data.draw(st.integers(0, axis.count - 1))
    low, centre, high = axis.edge(i), axis.centre(i), axis.edge(i + 1)
    assert 0 <= low < centre < high <= 1
    assert axis.at(centre) == i
    assert axis.boundary(low) == i
    assert axis.boundary(high) == i + 1
    assert (axis.edge(0), axis.edge(axis.count)) == (0, 1)
