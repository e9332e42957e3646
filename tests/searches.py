"""Runs and objectives that the tests of several algorithms share."""

import numpy as np
from numpy.testing import assert_array_equal

import bamsoo


def visited(algorithm, f, budget, dim=1, seed=0):
    r = bamsoo.maximize(f, [(0, 1)] * dim, budget, algorithm=algorithm, seed=seed)
    return r.X[:, 0].tolist() if dim == 1 else r.X


def identity(x):
    return x[0]


def slanted(x, condition=1e4):
    """A narrow valley across the axes, lowest at 0.41 in each."""
    dim = len(x)
    axes = np.linalg.qr(np.random.default_rng(dim).normal(size=(dim, dim)))[0]
    z = axes @ (np.asarray(x) - 0.41)
    return float(z @ (np.logspace(0, np.log10(condition), dim) * z))


def rng(seed=0):
    return np.random.default_rng(seed)


def wells(rng):
    """Two wells, the deeper at 0.77; values are within [0, 1] except for the noise."""

    def f(x):
        left, right = 0.35 * (x[0] - 0.2) ** 2, (x[0] - 0.77) ** 2
        return min(0.25 + left, right) + rng.uniform(-0.25, 0.25)

    return f


def told(algorithm, f, budget, dim=1):
    opt = bamsoo.Optimizer([(0, 1)] * dim, "maximize", algorithm)
    for _ in range(budget):
        trial = opt.ask()
        opt.tell(trial, f(trial.x))
    return opt


def same(a, b):
    """Check that two results agree in everything, bit for bit."""
    assert_array_equal(a.X, b.X)
    assert_array_equal(a.F, b.F)
    assert_array_equal(a.x, b.x)
    for key in ("fun", "nfev", "nfailed", "nrejected", "nexpanded", "params", "status", "message"):
        assert a[key] == b[key]
