"""BaMSOO compared with SOO, and its prior mean."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import bamsoo
from bamsoo.algorithms import BaMLOGO, BaMSOO
from bamsoo.algorithms.tree import Status


def test_bamsoo_with_a_confident_prior_skips_what_soo_evaluates():
    kernel = bamsoo.kernels.SquaredExponential(0.5)
    r = bamsoo.maximize(
        lambda x: float(np.sin(3 * x[0])),
        [(0, 1)],
        12,
        algorithm=bamsoo.algorithms.BaMSOO(kernel=kernel),
    )
    assert r.nrejected > 0
    soo = bamsoo.maximize(
        lambda x: float(np.sin(3 * x[0])), [(0, 1)], 12, algorithm=bamsoo.algorithms.SOO(k=2)
    )
    assert 1 - r.fun < 0.01 * (1 - soo.fun)


def test_bamsoo_with_a_boundless_prior_is_soo():
    f = bamsoo.problems.hartmann3
    kernel = bamsoo.kernels.Matern52(0.01, variance=1e12)  # every upper bound is far above f+
    for k in (2, 3):
        one = bamsoo.minimize(
            f, f.bounds, 100, algorithm=bamsoo.algorithms.BaMSOO(kernel=kernel, k=k)
        )
        other = bamsoo.minimize(f, f.bounds, 100, algorithm=bamsoo.algorithms.SOO(k=k))
        assert_allclose(one.X, other.X)


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_a_given_mean_is_in_the_callers_sense(direction):
    # far from data the GP falls back to its mean: at 100 for a maximum of 1, every node is
    # worth a look; at -100, none is
    run = getattr(bamsoo, direction)
    good, bad = (100.0, -100.0) if direction == "maximize" else (-100.0, 100.0)
    f = bamsoo.problems.sines
    hopeful = run(
        f,
        f.bounds,
        30,
        algorithm=bamsoo.algorithms.BaMSOO(bamsoo.kernels.Matern52(0.02), mean=good),
    )
    gloomy = run(
        f, f.bounds, 30, algorithm=bamsoo.algorithms.BaMSOO(bamsoo.kernels.Matern52(0.02), mean=bad)
    )
    assert hopeful.nrejected == 0
    assert gloomy.nrejected > 30


@pytest.mark.parametrize("algorithm", [BaMSOO, BaMLOGO])
def test_after_so_many_nodes_in_a_row_were_rejected_one_is_evaluated(algorithm):
    # the model is sure that nothing is as good as the centre
    confident = algorithm(bamsoo.kernels.Matern52(0.01, variance=1e-6), k=2, patience=5)
    r = bamsoo.maximize(lambda x: float(x[0] == 0.5), [(0, 1)], 4, algorithm=confident)
    row = [Status.REJECTED] * 5 + [Status.EVALUATED]
    assert r.tree.status[: 1 + 3 * 6].tolist() == [Status.EVALUATED, *row, *row, *row]
