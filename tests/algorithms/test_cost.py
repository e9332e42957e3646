"""What a suggestion may cost, in memory and in work; no clocks."""

import tracemalloc
from functools import partial

import numpy as np
import pytest

import bamsoo
from bamsoo.algorithms import gp_ucb
from bamsoo.model.gp import GP
from bamsoo.model.prior import learn_prior
from bamsoo.space.axes import Domain, Options


def peak_of(work):
    """The largest number of bytes in use at once."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_an_option_costs_no_memory_for_each_pair_of_points():
    domain = Domain((Options(200),) * 5)
    rng = np.random.default_rng(0)
    X = np.array([domain.snap(u) for u in rng.random((100, 5))])
    values = rng.normal(size=100)
    gp = GP(bamsoo.kernels.Matern52(0.5), 5, domain=domain)
    for i, (x, value) in enumerate(zip(X, values, strict=True)):
        gp.expect(i, x)
        gp.observe(i, value)
    pair = 5 * 8  # bytes for the differences of two points along five axes
    assert peak_of(lambda: gp.posterior(X)) < 5 * pair * 100**2
    assert peak_of(lambda: gp.at(X)) < 5 * pair * 100**2
    learn = partial(learn_prior, domain, X, values, [(np.full(5, 0.5), None)])
    learn()  # which loads scipy.optimize
    assert peak_of(learn) < 5 * pair * 100**2


SMALL = {"n": bamsoo.Int(0, 2), "kind": bamsoo.Choice(["a", "b"])}


@pytest.mark.parametrize("algorithm", ["shrinking", "gp-ucb", "random"])
@pytest.mark.parametrize("told", [0, 2], ids=["", "some told before"])
def test_a_small_space_that_is_exhausted_is_noticed_at_once(algorithm, told, monkeypatch):
    searched = []
    maximize = gp_ucb.maximize_acquisition
    monkeypatch.setattr(
        gp_ucb, "maximize_acquisition", lambda *args: searched.append(args) or maximize(*args)
    )
    opt = bamsoo.Optimizer(SMALL, algorithm=algorithm)
    for n in range(told):
        opt.tell({"n": n, "kind": "a"}, None if n else 1.0)
    points = []
    for i in range(6 - told):
        trial = opt.ask()
        points.append(tuple(trial.params.values()))
        opt.tell(trial, None if i == 3 else float(i))
    assert len(set(points)) == 6 - told
    before = len(searched)
    with pytest.raises(
        bamsoo.errors.ExhaustedError, match="every point of the space has been evaluated"
    ):
        opt.ask()
    assert len(searched) == before
