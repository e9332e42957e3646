"""DOO on examples worked out by hand."""

from searches import identity, visited

import bamsoo


def test_doo_visits_the_points_worked_out_by_hand():
    # f(x) = x, k = 2, l = |x - y|: a leaf's bound is its right end, so all that touch 1 are
    # 1 and the rest are less: the tree grows at the right edge alone.
    expected = [0.5, 0.25, 0.75, 0.625, 0.875, 0.8125, 0.9375, 0.90625, 0.96875]
    assert visited(bamsoo.algorithms.DOO(c=1, alpha=1, k=2), identity, 9) == expected


def test_doo_expands_the_largest_upper_bound():
    # f = -|x - 0.3|, l = 0.5 |x - y|^2 is too small to be true near 0.3 and so it is greedy
    r = bamsoo.maximize(
        lambda x: -abs(x[0] - 0.3),
        [(0, 1)],
        60,
        algorithm=bamsoo.algorithms.DOO(c=0.5, alpha=2, k=3),
    )
    assert r.fun > -1e-8
