"""StoSOO: what it recommends, and how it plans."""

import numpy as np
import pytest
from searches import told, wells

import bamsoo


def test_stosoo_recommends_a_node_it_has_expanded_deepest():
    r = bamsoo.minimize(wells(np.random.default_rng(0)), [(0, 1)], 800, algorithm="stosoo")
    tree = r.tree
    inner = [i for i in range(len(tree)) if not tree.is_leaf(i)]
    deepest = max(tree.depth[i] for i in inner)
    assert r.x[0] in {float(tree.x[i][0]) for i in inner if tree.depth[i] == deepest}


def test_a_wide_spread_of_values_makes_stosoo_explore():
    f = wells(np.random.default_rng(1))
    narrow = bamsoo.minimize(f, [(0, 1)], 400, algorithm=bamsoo.algorithms.StoSOO(spread=0.01))
    wide = bamsoo.minimize(f, [(0, 1)], 400, algorithm=bamsoo.algorithms.StoSOO(spread=10.0))
    assert max(narrow.tree.depth) > max(wide.tree.depth)


def test_stosoo_goes_on_below_a_depth_that_is_exhausted():
    opt = told(
        bamsoo.algorithms.StoSOO(k=2, evaluations=1, h_max=1, budget=10_000), lambda x: x[0], 40
    )
    assert opt.result.nfev == 40
    assert max(opt.result.tree.depth) > 2


def test_stosoo_plans_for_twice_as_many_when_its_evaluations_are_spent():
    settings = bamsoo.algorithms.StoSOO(budget=400)
    k, h_max, logarithm = settings.plan(400)
    assert (k, h_max) == (2, pytest.approx(np.sqrt(200)))
    assert logarithm == pytest.approx(np.log(400 * 2 * np.sqrt(400)))
    f = lambda x: -abs(x[0] - 0.3)
    r = told(settings, f, 3000).result
    _, counts = np.unique(r.X, return_counts=True)
    assert counts.max() > settings.plan(800)[0]


def test_a_b_value_is_a_mean_plus_a_width_for_its_number_of_evaluations():
    settings = bamsoo.algorithms.StoSOO(k=2, evaluations=4, spread=0.7, budget=100)
    opt = bamsoo.Optimizer([(0, 1)], "maximize", settings)
    values, draws = {}, np.random.default_rng(0)
    for _ in range(41):
        trial = opt.ask()
        value = -abs(trial.x[0] - 0.3) + 0.2 * draws.standard_normal()
        values.setdefault(trial.x[0], []).append(value)
        opt.tell(trial, value)
    opt.ask()  # the last value is entered
    _, _, logarithm = settings.plan(100)
    tree, counts = opt.result.tree, set()
    for leaf in tree.leaves():
        known = values.get(float(tree.x[leaf, 0]), [])
        counts.add(len(known))
        if known:
            width = 0.7 * np.sqrt(logarithm / (2 * len(known)))
            assert tree.g[leaf] == pytest.approx(np.mean(known) + width)
    assert counts == {1, 2}
