"""Fronts and hypervolumes against slow definitions."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bamsoo.base.pareto import (
    boxes,
    compromise,
    growth,
    hypervolume,
    more_volume,
    non_dominated,
    reference_of,
    scaled,
)


@st.composite
def vectors(draw, most=7):
    """Vectors with many ties, of two to four objectives."""
    m, n = draw(st.integers(2, 4)), draw(st.integers(1, most))
    whole = st.integers(-3, 6).map(float)
    return draw(arrays(float, (n, m), elements=whole))


def by_inclusion_and_exclusion(Y, reference):
    sides = [np.maximum(Y[list(some)].min(0) - reference, 0.0) for some in subsets(len(Y))]
    signs = [(-1.0) ** (len(some) + 1) for some in subsets(len(Y))]
    return sum(sign * np.prod(side) for sign, side in zip(signs, sides, strict=True))


def subsets(n):
    return [some for size in range(1, n + 1) for some in combinations(range(n), size)]


@settings(max_examples=80, deadline=None)
@given(vectors())
def test_the_hypervolume_equals_inclusion_and_exclusion(Y):
    reference = np.full(Y.shape[1], -1.0)
    assert hypervolume(Y, reference) == pytest.approx(by_inclusion_and_exclusion(Y, reference))


@settings(max_examples=80, deadline=None)
@given(vectors(12))
def test_the_front_is_what_no_row_dominates(Y):
    slow = [not any((other >= y).all() and (other > y).any() for other in Y) for y in Y]
    assert non_dominated(Y).tolist() == slow


@settings(max_examples=60, deadline=None)
@given(vectors(), st.integers(0, 10**6))
def test_the_boxes_fill_what_the_front_does_not_dominate(Y, seed):
    reference = np.full(Y.shape[1], -1.0)
    low, high = boxes(Y, reference)
    cap = np.minimum(high, 7.0)  # beyond all values
    whole = 8.0 ** Y.shape[1]
    assert np.prod(cap - low, axis=1).sum() == pytest.approx(whole - hypervolume(Y, reference))
    Z = np.random.default_rng(seed).uniform(-1.0, 7.0, (50, Y.shape[1]))
    inside = ((Z[:, None] > low) & (Z[:, None] < high)).all(2).sum(1)
    dominated = np.array([(z <= Y).all(1).any() for z in Z])
    assert inside.tolist() == (~dominated).astype(int).tolist()  # disjoint, and nothing missing


@settings(max_examples=60, deadline=None)
@given(vectors(), vectors(3))
def test_improvements_and_growth_are_differences_of_hypervolumes(Y, Z):
    Z = np.resize(Z, (len(Z), Y.shape[1]))
    reference = np.full(Y.shape[1], -1.0)
    reached = hypervolume(Y, reference)
    more = [hypervolume(np.vstack([Y, z]), reference) - reached for z in Z]
    assert more_volume(Z, *boxes(Y, reference)) == pytest.approx(more)
    volumes = [hypervolume(Y[: i + 1], reference) for i in range(len(Y))]
    assert growth(Y, reference) == pytest.approx(volumes)


def test_rows_without_values_add_nothing():
    Y = np.array([[np.nan, np.nan], [1.0, 2.0], [np.nan, np.nan], [2.0, 1.0]])
    assert growth(Y, np.zeros(2)).tolist() == [0.0, 2.0, 2.0, 3.0]


def test_the_reference_is_a_tenth_of_the_range_beyond_the_worst_values():
    Y = np.array([[0.0, 10.0], [1.0, 20.0]])
    assert reference_of(Y) == pytest.approx([-0.1, 9.0])
    assert reference_of(np.array([[0.0, -4.0]])) == pytest.approx([-0.1, -4.4])
    assert np.isfinite(reference_of(np.array([[-1e308, 0.0], [1e308, 0.0]]))).all()
    assert np.isfinite(reference_of(np.array([[-1.7e308, 0.0], [0.0, -1.7e308]]))).all()


def test_the_compromise_is_the_knee():
    assert compromise(np.array([[0.0, 1.0], [0.9, 0.9], [1.0, 0.0]])) == 1
    assert compromise(np.array([[3.0, 4.0]])) == 0
    bent_inwards = np.array([[0.0, 1.0], [0.1, 0.1], [1.0, 0.0]])
    assert compromise(bent_inwards) == 1


@settings(max_examples=60, deadline=None)
@given(vectors(), st.integers(0, 10**6))
def test_equal_rows_do_not_change_the_compromise(Y, seed):
    Y = np.unique(Y[non_dominated(Y)], axis=0)
    more = np.vstack([Y, Y[np.random.default_rng(seed).integers(len(Y), size=4)]])
    assert (more[compromise(more)] == Y[compromise(Y)]).all()


def test_rows_that_are_nearly_equal_do_not_make_an_end_the_compromise():
    near = [[0.5 + i * 1e-9, 0.5 - i * 1e-9] for i in range(5)]
    Y = np.array([[0.0, 1.0], *near, [1.0, 0.0]])
    assert compromise(Y) in range(1, 6)
    assert compromise(Y + np.random.default_rng(0).normal(0.0, 1e-6, Y.shape)) in range(1, 6)


def test_a_vector_that_is_not_known_in_full_adds_nothing():
    rows = np.array([[1.0, 1.0], [np.nan, 5.0], [5.0, np.nan], [2.0, 1.0]])
    assert growth(rows, np.zeros(2)).tolist() == [1.0, 1.0, 1.0, 2.0]


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300, 1.7e308])
def test_fronts_of_values_of_any_size(scale):
    Y = scale * np.array([[-1.0, 1.0], [0.2, 0.9], [1.0, -1.0], [0.9, 0.2], [-1.0, -1.0]])
    assert non_dominated(Y).tolist() == [True, True, True, True, False]
    both = scale * np.array([[1.0, 1.0], [1.0, 0.9], [0.5, 1.0]])
    assert non_dominated(both).tolist() == [True, False, False]
    assert compromise(Y) in (1, 3)
    inside = scaled(Y, Y.min(0), Y.max(0))
    assert inside.min() == 0.0 and inside.max() == 1.0
    beyond = scaled(np.full((1, 2), 1.7e308), np.zeros(2), np.zeros(2))
    assert np.isfinite(beyond.prod())


@pytest.mark.filterwarnings("error")
@settings(max_examples=60, deadline=None)
@given(vectors(), st.integers(-60, 1018))
def test_the_hypervolume_of_huge_values_is_exact_or_inf(Y, power):
    """Values in units of 2**power have a volume in units of 2**(power * columns)."""
    reference = np.full(Y.shape[1], -1.0)
    plain = hypervolume(Y, reference)
    with np.errstate(over="ignore"):
        expected = float(np.ldexp(plain, power * Y.shape[1]))
        found = hypervolume(np.ldexp(Y, power), np.ldexp(reference, power))
    assert found == pytest.approx(expected)


@pytest.mark.filterwarnings("error")
def test_a_side_that_overflows_and_one_of_no_width_have_no_undefined_volume():
    most = np.finfo(float).max
    Y = np.array([[most, 0.0, 1e-300], [most, 1.0, 1e-300]])
    assert hypervolume(Y, np.array([-most, 0.0, 0.0])) == pytest.approx(3.5953862697e8)
    assert hypervolume(Y[:, :2], np.array([-most, 1.0])) == 0.0
