"""The algorithms as the tests run them, and runs and objectives that several tests share."""

from dataclasses import fields, replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import bamsoo
from bamsoo.algorithms import BY_NAME, GPUCB, SOO, BaMSOO, Shrinking
from bamsoo.algorithms.auto.loop import CONSTANTS
from bamsoo.kernels import SquaredExponential

QUICK = {"gp-ucb": GPUCB(direct_evaluations=20)}
"""Settings for the algorithms that take long by default."""

PLANNING = [name for name, kind in BY_NAME.items() if "budget" in {f.name for f in fields(kind)}]
ALGORITHMS = {
    **{name: kind() for name, kind in BY_NAME.items()},
    **QUICK,
    "shrinking": Shrinking(max_lattice=1000),
    **{name: BY_NAME[name](budget=30) for name in PLANNING},
}
REPEATING = {name: each for name, each in ALGORITHMS.items() if each.repeats}
ONCE = {name: each for name, each in ALGORITHMS.items() if not each.repeats}
VARIANTS = {
    "bamsoo-3": BaMSOO(SquaredExponential(0.5), k=3, random_start=True),
    "soo-2": SOO(k=2),
    "gp-ei": replace(QUICK["gp-ucb"], acquisition="ei"),
    "gp-pi": replace(QUICK["gp-ucb"], acquisition="pi"),
}
"""Settings that lead through other code than the default ones; no point is asked for twice."""


def with_settings(*names, **settings):
    """These algorithms with other settings."""
    return {name: replace((ALGORITHMS | VARIANTS)[name], **settings) for name in names}


def each_of(algorithms):
    """Run a test with each of these algorithms."""
    return pytest.mark.parametrize("algorithm", algorithms.values(), ids=algorithms.keys())


MAIN = ("auto", "soo", "bamsoo", "gp-ucb", "stosoo")
"""The algorithms that are tested with every case. What the others share with these is tested with
one case, since a failure that only one of them has comes from its own file, which has tests."""


def main_of(algorithms):
    """Run a test with each of these algorithms that is in MAIN."""
    return each_of({name: each for name, each in algorithms.items() if name in MAIN})


def cases_of(algorithms, arguments, cases, usual):
    """Run a test with each case for the algorithms in MAIN, and with one case for the others.

    `cases` has the values of the arguments by name, and `usual` is the name of that one case.
    """
    return pytest.mark.parametrize(
        ("algorithm", *arguments.split(", ")),
        [
            pytest.param(algorithm, *values, id=f"{name}-{case}")
            for name, algorithm in algorithms.items()
            for case, values in cases.items()
            if name in MAIN or case == usual
        ],
    )


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


def auto_with(part="prior", **changes):
    """The default with other constants of one part."""
    constants = replace(getattr(CONSTANTS, part), **changes)
    return bamsoo.algorithms.Auto(constants=replace(CONSTANTS, **{part: constants}))


def stepwise(algorithm, budget, fun=None, dim=2):
    """The optimiser after a run, and its GPs and rejected nodes after each evaluation."""
    fun = fun or (lambda x: float(np.sin(9 * x[0]) + np.cos(7 * x.sum()) + x @ x))
    opt = bamsoo.Optimizer([(0, 1)] * dim, algorithm=algorithm)
    gps, rejected = [], []
    for _ in range(budget):
        trial = opt.ask()
        opt.tell(trial, fun(trial.x))
        gps.append(opt.book.gp)
        rejected.append(opt.book.rejected)
    return opt, gps, np.array(rejected)
