"""SOO on examples worked out by hand."""

import numpy as np
from numpy.testing import assert_allclose
from searches import identity, visited

import bamsoo


def test_soo_visits_the_points_worked_out_by_hand():
    # f(x) = x, k = 2; Algorithm 2 followed on paper
    expected = [0.5, 0.25, 0.75, 0.625, 0.875, 0.125, 0.375, 0.8125, 0.9375]
    assert visited(bamsoo.algorithms.SOO(k=2), identity, 9) == expected


def test_soo_with_three_children_reuses_the_middle():
    # f(x) = x, k = 3: root 1/2; children 1/6, (1/2), 5/6; then 5/6 is cut: 13/18, (5/6), 17/18;
    # n = 3: h_max = 1, the best leaf of depth 1 is 1/2: 7/18, (1/2), 11/18;
    # n = 4: h_max = 2: 1/6 at depth 1, then 17/18 at depth 2.
    expected = np.array([9, 3, 15, 13, 17, 7, 11, 1, 5]) / 18
    assert_allclose(visited(bamsoo.algorithms.SOO(k=3), identity, 9), expected)
