"""The shrinking lattice."""

import numpy as np
import pytest
from searches import visited

import bamsoo
from bamsoo.algorithms.shrinking import refine


def test_shrinking_samples_a_lattice_and_then_only_what_is_still_feasible():
    kernel = bamsoo.kernels.SquaredExponential(0.3)
    f = lambda x: float(np.sin(6 * x[0]))
    X = visited(bamsoo.algorithms.Shrinking(kernel=kernel), f, 20)
    assert X[:5] == [0.0, 0.5, 1.0, 0.25, 0.75]
    later = np.array(X[8:])
    assert np.all(np.abs(later - np.pi / 12) < 0.25)
    assert max(map(f, [[x] for x in X])) > 1 - 1e-4
    assert len(set(X)) == len(X)


def test_a_finer_lattice_lies_within_a_step_of_the_region():
    inside = np.array([[1, 1]])
    assert refine(inside, 4).tolist() == [[i, j] for i in (1, 2, 3) for j in (1, 2, 3)]
    assert refine(np.array([[0, 2]]), 4).tolist() == [[0, 3], [0, 4], [1, 3], [1, 4]]


def test_shrinking_refuses_dimensions_its_lattice_cannot_cover():
    with pytest.raises(bamsoo.errors.SettingsError, match="8 dimensions"):
        bamsoo.minimize(lambda x: 0.0, [(0, 1)] * 8, 10, algorithm="shrinking")


def test_shrinking_says_when_nothing_is_left():
    r = bamsoo.maximize(
        lambda x: float(x[0]),
        [(0, 1)],
        500,
        algorithm=bamsoo.algorithms.Shrinking(
            bamsoo.kernels.SquaredExponential(0.05), max_lattice=60
        ),
    )
    assert r.nfev < 500
    assert r.status == 4
    assert r.fun == 1.0


def test_a_lattice_is_refined_only_where_points_are_allowed():
    r = bamsoo.minimize(
        lambda x: float(x[0] * 7 % 1 + x[1] * 5 % 1),
        [(0, 1)] * 2,
        400,
        algorithm=bamsoo.algorithms.Shrinking(max_lattice=120),
        constraints=[lambda x: x[0] - 0.3],
    )
    # with the rest of the square, it would be too large at 17 points per side
    assert "a lattice of 129 points per side is too large" in r.message


def test_a_lattice_is_not_finer_than_the_numbers_of_the_space():
    low, high = 1e6, 1e6 + 2.0**-26  # 128 floats
    r = bamsoo.maximize(lambda x: x[0] - low, [(low, high)], 300, algorithm="shrinking")
    assert "a lattice of 65 points per side is too large" in r.message
    assert len(np.unique(r.X)) == r.nfev == 33
