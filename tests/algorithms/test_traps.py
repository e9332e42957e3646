"""The traps of docs/departures.md, one test each, under its number there."""

from math import ceil, inf, sqrt

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import bamsoo
from bamsoo.algorithms.search import B
from bamsoo.algorithms.tree import Status


def run(algorithm, f, budget, dim=1, seed=0):
    return bamsoo.maximize(f, [(0, 1)] * dim, budget, algorithm=algorithm, seed=seed)


def test_1_a_depth_limit_cannot_stop_the_search():
    # k = 2, sqrt(n): depths 0..2 are full at n = 8 and depth 3 is not yet allowed
    r = run(bamsoo.algorithms.SOO(k=2), lambda x: x[0], 200)
    assert r.nfev == 200
    assert r.nexpanded > 8
    assert run(bamsoo.algorithms.SOO(k=2, h_max=lambda n: 0), lambda x: x[0], 50).nfev == 50
    assert (
        run(bamsoo.algorithms.SOO(k=2, h_max=lambda n: ceil(sqrt(n))), lambda x: x[0], 50).nfev
        == 50
    )
    assert run(bamsoo.algorithms.SOO(k=2, h_max=lambda n: inf), lambda x: x[0], 50).nfev == 50


def test_2_an_overconfident_gp_cannot_rule_out_nodes_for_ever():
    def f(x):
        return 145.0 if x[0] > 0.8 else 144.0

    r = run(bamsoo.algorithms.BaMSOO(kernel=bamsoo.kernels.Matern52(0.25), patience=200), f, 40)
    assert r.nfev == 40
    assert r.nrejected >= 200


def test_3_the_width_is_B_itself_and_counts_all_nodes_including_rejected_ones():
    # whether one child of the root is rejected changes exactly where mu + B_2 sigma crosses f+
    kernel = bamsoo.kernels.SquaredExponential(0.3)
    k = float(kernel(np.array([0.5]), np.array([0.25]))[0, 0])
    edge = B(2, 0.05) * sqrt(1 - k**2) / (1 - k)  # f+ = k f+ + B_2 sigma
    for f_plus, rejected in ((edge * 0.999, False), (edge * 1.001, True)):
        opt = bamsoo.Optimizer([(0, 1)], "maximize", bamsoo.algorithms.BaMSOO(kernel=kernel))
        opt.tell(opt.ask(), f_plus)
        assert (opt.ask().x[0] != 0.25) == rejected


def test_4_rejected_nodes_have_a_g_below_the_incumbent():
    f = bamsoo.problems.hartmann3
    r = bamsoo.minimize(
        f, f.bounds, 60, algorithm=bamsoo.algorithms.BaMSOO(bamsoo.kernels.Matern52(0.3))
    )
    g = np.array(r.tree.g)[r.tree.status == Status.REJECTED]
    assert len(g)
    assert np.all(g <= -r.fun)


def test_5_a_middle_child_costs_no_evaluation_and_no_row():
    f = bamsoo.problems.hartmann3
    opt = bamsoo.Optimizer(
        f.bounds, algorithm=bamsoo.algorithms.BaMSOO(bamsoo.kernels.Matern52(0.3), k=3)
    )
    for _ in range(80):
        trial = opt.ask()
        opt.tell(trial, f(trial.x))
    r = opt.result
    assert len(np.unique(r.X, axis=0)) == 80
    assert opt.book.gp.t == 80
    tree = r.tree
    for node in range(1, len(tree)):
        if tree.cell(node)[1] % 3 == 1:
            parent = tree.parent[node]
            assert_array_equal(tree.x[node], tree.x[parent])
            assert tree.status[node] == tree.status[parent]
            assert tree.g[node] == tree.g[parent]


def test_6_with_even_k_the_incumbent_need_not_be_a_leaf():
    r = run(bamsoo.algorithms.SOO(k=2), lambda x: -abs(x[0] - 0.5), 30)
    assert r.x[0] == 0.5  # the root's centre, which no leaf has
    assert not any(r.tree.x[leaf, 0] == 0.5 for leaf in r.tree.leaves())


def test_7_a_sweep_reads_depth_and_h_max_when_it_begins():
    # a depth limit that grows within a sweep would cut depth 1 in the first one
    seen = []

    def h_max(n):
        seen.append(n)
        return inf

    run(bamsoo.algorithms.SOO(k=2, h_max=h_max), lambda x: x[0], 7)
    assert seen[:3] == [1, 2, 3]  # one sweep an expansion while the tree has one open depth


def test_8_a_random_first_sample_is_in_the_gp_and_in_f_plus():
    kernel = bamsoo.kernels.SquaredExponential(0.2)
    opt = bamsoo.Optimizer(
        [(0, 1)], "maximize", bamsoo.algorithms.BaMSOO(kernel, random_start=True), seed=1
    )
    first = opt.ask()
    assert first.x[0] != 0.5
    opt.tell(first, 50.0)
    assert opt.ask().x[0] == 0.5
    assert opt.book.f_plus == 50.0
    assert_allclose(opt.book.gp.X[0], first.x)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["auto", "bamsoo", "soo", "doo"])
@pytest.mark.parametrize(
    "f",
    [
        lambda x: 0.0,
        lambda x: 1e300 * x[0],
        lambda x: -1e300 * (1 + x[0]),
        lambda x: 1e-300 * x[0],
        lambda x: 1.0 if x[0] < 0.7 else -1e300,
    ],
    ids=["constant", "1e300", "-1e300", "1e-300", "cliff"],
)
def test_9_values_of_any_scale_work(algorithm, f):
    r = run(algorithm, f, 40, dim=2)
    assert r.nfev == 40
    repeated = r.origins.get("repeat", 0)  # one point, to see whether values are exact
    assert len(np.unique(r.X, axis=0)) == 40 - repeated and repeated <= 1


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-300])
@pytest.mark.parametrize("fun", [lambda x: 1.0, lambda x: x[0]], ids=["constant", "slope"])
@pytest.mark.parametrize("noise", [None, "learn"])
def test_9_values_near_the_smallest_float_are_standardised(size, fun, noise):
    # a warning is an error here
    r = bamsoo.minimize(lambda x: size * fun(x), [(0, 1)] * 2, 12, noise=noise)
    assert (r.nfev, r.fun >= 0.0) == (12, True)
    assert np.isfinite(r.predict([0.5, 0.5])).all()


@pytest.mark.parametrize("k", [2, 3])
def test_10_soo_depends_on_values_only_through_their_order(k):
    f = bamsoo.problems.shekel
    plain = bamsoo.minimize(f, f.bounds, 120, algorithm=bamsoo.algorithms.SOO(k=k))
    warped = bamsoo.minimize(
        lambda x: np.exp(f(x)), f.bounds, 120, algorithm=bamsoo.algorithms.SOO(k=k)
    )
    assert_array_equal(plain.X, warped.X)
