"""MO-SOO against a literal transcription, and what it shares with SOO."""

from math import sqrt

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import bamsoo
from bamsoo.algorithms import MOSOO

from literal import Objective, Spent, root, sweep


def two(x):
    """Two bowls with unequal weights, so that no two points have equal values up to rounding."""
    weights = 1.0 + 0.37 * np.arange(len(x))
    return float(weights @ (x - 0.31) ** 2), float(weights**2 @ (x - 0.83) ** 2 * (1 + x[0]))


def three(x):
    return (*two(x), float(np.sin(3 * x[0]) + x[-1] ** 2))


def dominates(a, b):
    """In values to be minimised."""
    return all(p <= q for p, q in zip(a, b, strict=True)) and a != b


def literal_mosoo(f, dim, k, budget, h_max=sqrt):
    """Each sweep expands, depth by depth, all leaves that no leaf seen in it dominates."""
    f = Objective(f, budget)
    try:
        top = root(dim)
        top.g = f(top.x)
        leaves, n = [top], 1
        while True:
            V = []
            for h in sweep(leaves, h_max(n)):
                level = [leaf for leaf in leaves if leaf.h == h]
                others = [leaf.g for leaf in level] + V
                chosen = [x for x in level if not any(dominates(g, x.g) for g in others)]
                for leaf in chosen:
                    for i, child in enumerate(leaf.cut(k)):
                        child.g = leaf.g if 2 * i + 1 == k else f(child.x)
                    leaves.remove(leaf)
                    leaves += leaf.children
                    n = n + 1
                V += [leaf.g for leaf in chosen]
    except Spent:
        return np.array(f.X)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize(("fun", "dim"), [(two, 2), (two, 3), (three, 2)])
def test_mosoo_equals_a_literal_transcription(fun, dim, k):
    names = ["a", "b", "c"][: len(fun(np.zeros(dim)))]
    r = bamsoo.minimize(fun, [(0, 1)] * dim, 120, objectives=names, algorithm=MOSOO(k=k))
    assert_allclose(r.X, literal_mosoo(fun, dim, k, 120), atol=1e-12)


def test_with_one_objective_it_is_soo():
    def fun(x):  # no two points have the same value
        return float(np.sin(7 * x[0]) + (x[1] - 0.37) ** 2)

    both = [bamsoo.minimize(fun, [(0, 1)] * 2, 60, algorithm=name) for name in ("mosoo", "soo")]
    assert_array_equal(both[0].X, both[1].X)


def test_it_copes_with_failures_and_measured_constraints():
    def fun(x):
        return (None if x[0] > 0.8 else two(x)), {"c": 0.4 - x[1]}

    r = bamsoo.minimize(
        fun, [(0, 1)] * 2, 60, objectives=["a", "b"], constraints=["c"], algorithm="mosoo"
    )
    assert r.nfev == 60 and 0 < r.nfailed < 60
    assert all(point.x[1] >= 0.4 for point in r.front)
