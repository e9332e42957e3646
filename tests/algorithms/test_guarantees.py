"""No search neglects a part of the space for ever."""

import pytest
from searches import told

import bamsoo


def test_every_cell_is_expanded_in_finite_time():
    f = bamsoo.problems.shekel
    for algorithm in ("auto", "bamsoo", "soo"):
        opt = bamsoo.Optimizer(f.bounds, algorithm=algorithm)
        shallowest = []
        for i in range(150):
            trial = opt.ask()
            opt.tell(trial, f(trial.x))
            if i in (20, 149):
                tree = opt.result.tree
                shallowest.append(min(tree.depth[leaf] for leaf in tree.leaves()))
        assert shallowest[1] > shallowest[0]


@pytest.mark.parametrize("kind", [bamsoo.algorithms.BaMLOGO, bamsoo.algorithms.IMGPO])
def test_an_overconfident_prior_cannot_rule_out_nodes_for_ever(kind):
    # values of 144 under a prior of mean 0 and deviation 1: every bound is far below
    f = lambda x: 145.0 if x[0] > 0.9 else 144.0
    r = told(kind(bamsoo.kernels.SquaredExponential(0.5), patience=30), f, 40, dim=2).result
    assert r.nfev == 40
    assert r.nrejected >= 30
