"""Whole numbers and options: the tree cuts them natively, and nothing is evaluated twice."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime

import bamsoo
from bamsoo import Choice, Int, Real
from bamsoo.algorithms.tree import Status, Tree
from bamsoo.model.gp import GP
from bamsoo.model.learning import Evidence
from bamsoo.space import Space
from bamsoo.space.axes import (
    Continuous,
    Domain,
    Options,
    Steps,
)

steps = st.one_of(
    st.builds(Steps, st.integers(1, 10**6)),
    st.builds(Steps, st.integers(1, 10**6), st.integers(1, 10**6)),
    st.builds(Options, st.integers(1, 50)),
)
small_axes = st.one_of(
    st.builds(Steps, st.integers(1, 5)),
    st.builds(Steps, st.integers(1, 5), st.integers(1, 3)),
    st.builds(Options, st.integers(1, 4)),
)
ALGORITHMS = {
    "auto": "auto",
    "bamsoo": bamsoo.algorithms.BaMSOO(kernel=bamsoo.kernels.Matern52(0.3)),
    "bamsoo-3": bamsoo.algorithms.BaMSOO(kernel=bamsoo.kernels.SquaredExponential(0.5), k=3),
    "soo": "soo",
    "soo-2": bamsoo.algorithms.SOO(k=2),
    "doo": "doo",
    "gp-ucb": bamsoo.algorithms.GPUCB(direct_evaluations=30),
    "random": "random",
}
each_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=ALGORITHMS.keys())


@given(axis=steps, data=st.data())
def test_every_value_of_an_axis_has_an_interval_and_a_centre_of_its_own(axis, data):
    i = data.draw(st.integers(0, axis.count - 1))
    low, centre, high = axis.edge(i), axis.centre(i), axis.edge(i + 1)
    assert 0 <= low < centre < high <= 1
    assert axis.at(centre) == i
    assert axis.boundary(low) == i
    assert axis.boundary(high) == i + 1
    assert (axis.edge(0), axis.edge(axis.count)) == (0, 1)


@given(axes=st.lists(small_axes, min_size=1, max_size=3), k=st.integers(2, 4))
def test_a_tree_over_a_finite_space_comes_down_to_its_points(axes, k):
    tree = Tree(Domain(tuple(axes)), k)
    tree.set(0, 0.0, Status.EVALUATED)
    queue, ends = [0], []
    while queue:
        node = queue.pop()
        children = tree.split(node)
        if not children:
            ends.append(node)
        volumes = (tree.high - tree.low)[list(children)].prod(axis=1)
        assert not children or volumes.sum() == pytest.approx(
            (tree.high[node] - tree.low[node]).prod()
        )
        for child in children:
            if tree.is_new(child):
                tree.set(child, 0.0, Status.EVALUATED)
            assert np.all(tree.low[child] < tree.x[child])
            assert np.all(tree.x[child] < tree.high[child])
        queue += children
    every = {tuple(p) for p in product(*([a.centre(i) for i in range(a.count)] for a in axes))}
    assert sorted(tuple(tree.x[node]) for node in ends) == sorted(every)


def test_whole_numbers_are_cut_between_them():
    tree = Tree(Domain((Steps(7),)), 2)
    tree.set(0, 0.0, Status.EVALUATED)
    assert tree.x[0, 0] == 3.5 / 7  # the number 3 of 0..6
    children = list(tree.split(0))
    assert_allclose(tree.high[children, 0], [4 / 7, 1])  # 0..3 and 4..6, or as near
    assert_allclose(tree.x[children, 0], [1.5 / 7, 5.5 / 7])


def test_options_are_cut_all_at_once_and_the_first_keeps_the_centre():
    tree = Tree(Domain((Options(4), Continuous())), 2)
    tree.set(0, 0.7, Status.EVALUATED)
    children = list(tree.split(0))
    assert_allclose(tree.x[children, 0], np.array([0.5, 1.5, 2.5, 3.5]) / 4)
    assert [tree.is_new(c) for c in children] == [False, True, True, True]
    assert tree.g[children[0]] == 0.7


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
    if algorithm not in (ALGORITHMS["gp-ucb"], "random"):
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


@given(data=st.data())
@settings(max_examples=60)
def test_points_survive_the_way_to_the_cube_and_back(data):
    space = Space(MIXED)
    u = np.array(data.draw(st.lists(st.floats(0, 1), min_size=4, max_size=4)))
    x = space.decode(u)
    params = space.params(x)
    assert_array_equal(space.point(params), x)
    again = space.decode(space.encode(x))
    assert_allclose(again, x, rtol=1e-12)
    assert again[1] == x[1]
    assert again[2] == x[2]
    assert_array_equal(space.decode(space.domain.snap(u))[1:3], x[1:3])


def test_different_options_are_equally_far_apart_to_the_gp():
    domain = Domain((Options(3), Continuous()))
    kernel = bamsoo.kernels.Matern52([0.5, 0.2], variance=2.0)
    gp = GP(kernel, 2, domain=domain)
    options = np.array([[(i + 0.5) / 3, 0.4] for i in range(3)])
    gp.expect(0, options[0])
    expected = np.array([1.0, *[float(kernel.of(np.array([4.0]))[0] / 2)] * 2])
    assert_allclose(gp.correlations(options)[:, 0], expected)


def test_gradients_follow_the_ordered_axes_alone():
    domain = Domain((Options(3), Continuous(), Steps(50)))
    gp = GP(bamsoo.kernels.Matern52([0.9, 0.4, 0.6]), 3, domain=domain)
    rng = np.random.default_rng(0)
    for i in range(7):
        gp.expect(i, domain.snap(rng.random(3)))
        gp.observe(i, float(rng.normal()))
    x = np.array([0.5, 0.33, 0.71])
    _, _, d_mu, d_sigma = gp.gradient(x)
    assert_allclose(d_mu, approx_fprime(x, lambda x: gp.posterior_at(x)[0]), atol=1e-5)
    assert_allclose(d_sigma, approx_fprime(x, lambda x: gp.posterior_at(x)[1]), atol=1e-5)


def test_the_slopes_of_the_evidence_are_right_where_an_axis_has_options():
    domain = Domain((Options(3), Continuous()))
    rng = np.random.default_rng(1)
    X = np.array([domain.snap(u) for u in rng.random((20, 2))])
    y, theta = rng.normal(size=20), np.log([0.7, 0.3])

    value = Evidence(bamsoo.kernels.Matern52(1.0), domain.features(X), y, domain.unordered)
    assert_allclose(value(theta)[1], approx_fprime(theta, lambda t: value(t)[0], 1e-6), rtol=1e-3)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Int(3, 3), "low must be below high"),
        (lambda: Int(0.5, 3), "whole number"),
        (lambda: Int(0, 8, log=True), "log scale"),
        (lambda: Int(0, 2**60), "whole numbers are exact"),
        (lambda: Choice([]), "at least one option"),
        (lambda: Choice("abc"), "list of options"),
        (lambda: Choice(3), "list of options"),
        (lambda: Choice(["a", "b", "a"]), "twice"),
        (lambda: Space({"n": Int(1, 5)}).point({"n": 2.5}), "whole number"),
        (lambda: Space({"n": Int(1, 5)}).point({"n": 9}), "outside"),
        (lambda: Space({"m": Choice(["a", "b"])}).point({"m": "c"}), "expected one of"),
    ],
)
def test_an_invalid_space_or_point_is_refused_in_one_sentence(make, words):
    with pytest.raises(bamsoo.errors.SpaceError, match=words) as caught:
        make()
    assert len(str(caught.value).splitlines()) == 1
