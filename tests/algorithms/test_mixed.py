"""Searches of whole numbers and options stay on them, and nothing is evaluated twice."""

import numpy as np
import pytest
import searches

import bamsoo
from bamsoo import Choice, Int, Real

NAMES = ("auto", "bamsoo", "soo", "doo", "gp-ucb", "random", "bamsoo-3", "soo-2")
SEARCHES = searches.with_settings(*NAMES)
each_algorithm = searches.each_of(SEARCHES)


def test_a_point_met_again_in_the_tree_takes_no_second_row():
    opt = bamsoo.Optimizer(
        {"n": Int(0, 40)}, algorithm=bamsoo.algorithms.BaMSOO(bamsoo.kernels.Matern52(0.1))
    )
    for _ in range(41):
        trial = opt.ask()
        opt.tell(trial, float(trial.x[0] % 7))
    with pytest.raises(bamsoo.errors.ExhaustedError):
        opt.ask()
    assert opt.book.gp.t == len(np.unique(opt.book.gp.X, axis=0)) == 41


def score(n, mode, kind):
    return (n - 4) ** 2 + {"fast": 0.5, "exact": 0.0, "wild": 3.0}[mode] + 0.1 * kind


FINITE = {"n": Int(1, 6), "mode": Choice(["fast", "exact", "wild"]), "kind": Choice([7, 1])}


@each_algorithm
def test_a_finite_space_is_explored_to_its_end_and_no_point_twice(algorithm):
    calls = []

    def f(**params):
        calls.append(tuple(params.values()))
        return score(**params)

    r = bamsoo.minimize(f, FINITE, 100, algorithm=algorithm)
    assert len(set(calls)) == len(calls) == r.nfev
    assert r.params == {"n": 4, "mode": "exact", "kind": 1}
    if algorithm not in (SEARCHES["gp-ucb"], SEARCHES["random"]):
        assert r.nfev == 36
        assert r.status == 4
        assert "every point of the space has been evaluated" in r.message
    assert {type(value) for value in r.params.values()} == {int, str}


MIXED = {
    "rate": Real(1e-5, 1e-1, log=True),
    "depth": Int(1, 64, log=True),
    "mode": Choice(["a", "b", "c"]),
    "x": (0, 1),
}


def loss(rate, depth, mode, x):
    off = {"a": 0.3, "b": 0.0, "c": 1.0}[mode]
    return (np.log10(rate) + 3) ** 2 + np.log2(depth / 8) ** 2 + off + (x - 0.37) ** 2


@each_algorithm
def test_a_mixed_space_is_searched_within_its_values(algorithm):
    seen = set()

    def f(**params):
        assert type(params["depth"]) is int
        assert 1 <= params["depth"] <= 64
        assert params["mode"] in ("a", "b", "c")
        key = tuple(params.values())
        assert key not in seen
        seen.add(key)
        return loss(**params)

    r = bamsoo.minimize(f, MIXED, 60, algorithm=algorithm)
    assert r.nfev == 60
    assert isinstance(r.X, list)
    assert set(r.X[0]) == set(MIXED)


def test_the_default_solves_a_mixed_problem():
    r = bamsoo.minimize(loss, MIXED, 80)
    assert r.params["mode"] == "b"
    assert r.params["depth"] == 8
    assert r.fun < 1e-3
