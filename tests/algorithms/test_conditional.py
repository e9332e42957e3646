"""Searches of conditional spaces, whose options open further parameters."""

import numpy as np
import pytest
from conditional_spaces import ANY, FINITE, MODELS, belongs, every_point, loss
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from searches import ONCE

import bamsoo
from bamsoo import Choice, Int, Real
from bamsoo.algorithms.auto.design import design
from bamsoo.algorithms.tree import Tree
from bamsoo.space import Space

TREES = ["auto", "bamsoo", "soo", "doo", "logo", "bamlogo", "imgpo"]
ALL = [*(ONCE | {"shrinking": bamsoo.algorithms.Shrinking()}).values()]
OPTIONAL = {
    "scale": Choice({"none": None, "quantiles": {"bins": Int(2, 9)}}),
    "reduce": Choice({"none": None, "pca": {"share": Real(0.1, 1.0)}}),
    "size": Int(1, 3),
}


def key(params):
    return tuple(sorted((name, repr(value)) for name, value in params.items()))


def rugged(params):
    return sum(len(name) * len(repr(value)) * 0.37 % 1.0 for name, value in params.items())


@pytest.mark.slow
@settings(deadline=None, max_examples=12)
@given(ANY, st.integers(0, 3), st.sampled_from(ALL))
@example(MODELS, 0, "auto")
@example(OPTIONAL, 0, "auto")
def test_no_parameter_too_many_no_point_twice_and_no_evaluation_over(parameters, seed, algorithm):
    assume(algorithm != bamsoo.algorithms.Shrinking() or Space(parameters).dim <= 7)
    met = []

    def fun(**params):
        assert belongs(parameters, params)
        met.append(key(params))
        return rugged(params)

    r = bamsoo.minimize(fun, parameters, 20, algorithm=algorithm, seed=seed)
    # one evaluation of the default may show whether values are exact
    checks = [each.origin for each in r.evaluations].count("repeat")
    assert len(met) == len(set(met)) + checks == r.nfev <= 20 and checks <= 1
    if algorithm in TREES:
        assert r.nfev == min(20, Space(parameters).domain.size)
    assert [key(params) for params in r.X] == met


@pytest.mark.slow
@settings(deadline=None, max_examples=12)
@given(FINITE, st.sampled_from(TREES))
def test_a_finite_space_is_explored_to_its_end(parameters, algorithm):
    points = every_point(parameters)
    assume(len(points) <= 60)
    r = bamsoo.minimize(
        lambda **params: rugged(params), parameters, len(points) + 5, algorithm=algorithm
    )
    assert {key(params) for params in r.X} == {key(dict(point)) for point in points}
    assert r.nfev == len(points)
    assert "every point of the space has been evaluated" in r.message


def options_of(parameters):
    """Every option that opens further parameters, in choices at any depth."""
    for name, parameter in parameters.items():
        if isinstance(parameter, Choice) and parameter.opens:
            for option, opened in zip(parameter.options, parameter.opens, strict=True):
                yield name, str(option)
                yield from options_of(opened)


@pytest.mark.slow
@settings(deadline=None, max_examples=8)
@given(ANY, st.sampled_from(["auto", "soo"]))
@example(MODELS, "auto")
@example(OPTIONAL, "auto")
@pytest.mark.long
def test_every_branch_is_reached(parameters, algorithm):
    options = set(options_of(parameters))
    r = bamsoo.minimize(lambda **params: rugged(params), parameters, 80, algorithm=algorithm)
    met = {(name, str(value)) for params in r.X for name, value in params.items()}
    assert options <= met


@pytest.mark.parametrize("algorithm", [*TREES, "random"])
def test_workers_get_only_the_parameters_that_exist(algorithm):
    opt = bamsoo.Optimizer(MODELS, algorithm=algorithm)
    out = opt.ask(5)
    seen = set()
    for _ in range(30):
        trial = out.pop(len(seen) % len(out))
        seen.add(key(trial.params))
        opt.tell(trial, loss(**trial.params))
        out.append(opt.ask())
    assert len(seen) == 30


@pytest.mark.parametrize("algorithm", ["stosoo", "stroquool"])
def test_searches_that_repeat_points_get_only_parameters_that_exist(algorithm):
    r = bamsoo.minimize(loss, MODELS, 40, algorithm=algorithm)  # it refuses what does not exist
    assert r.nfev == 40
    assert {params["model"] for params in r.X} >= {"svm", "forest"}


def test_failures_do_not_hide_a_branch():
    def fun(model, **rest):
        if model != "net":
            raise ValueError("no such thing here")
        return rest["C"]

    r = bamsoo.minimize(fun, MODELS, 30, on_error="fail")
    assert r.params["model"] == "net"
    assert r.fun == 1


def test_known_points_and_first_points_have_only_the_parameters_that_exist():
    r = bamsoo.minimize(
        loss,
        MODELS,
        4,
        x0=[{"rate": 0.1, "model": "forest", "depth": 3}],
        known=[({"rate": 0.01, "model": "net", "C": 2}, 5.0)],
    )
    assert r.X[0] == {"rate": 0.01, "model": "net", "C": 2}
    assert r.X[1] == {"rate": 0.1, "model": "forest", "depth": 3}
    assert r.nfev == 4


def test_a_tree_cuts_options_first_and_then_only_what_exists():
    space = Space(MODELS)
    tree = Tree(space.domain, k=2)
    children = tree.split(0)
    assert [space.params(space.decode(tree.centre(child)))["model"] for child in children] == [
        "svm", "forest", "logistic", "net",
    ]  # fmt: skip
    forest = children[1]
    for _ in range(200):
        leaf = next(node for node in tree.leaves() if tree.is_leaf(node))
        tree.split(leaf)
    for node in range(len(tree)):
        exists = space.domain.exists(tree.x[node])
        uncut = (tree.low[node] == 0.0) & (tree.high[node] == 1.0)
        assert (exists | uncut).all()
    in_forest = [n for n in range(len(tree)) if tree.low[n, 1] == tree.low[forest, 1]]
    assert all((tree.high[in_forest] - tree.low[in_forest])[:, [2, 3, 4, 6]].ravel() == 1.0)


@given(ANY, st.integers(2, 3), st.booleans(), st.lists(st.integers(0, 10**6), max_size=30))
def test_cells_are_cut_only_along_axes_that_exist_everywhere_in_them(parameters, k, drawn, path):
    domain = Space(parameters).domain
    tree = Tree(domain, k, np.random.default_rng(0) if drawn else None)
    for choice in path:
        leaves = tree.leaves()
        if not leaves:
            break
        leaf = leaves[choice % len(leaves)]
        there = domain.exists_throughout(tree.low[leaf], tree.high[leaf])
        children = tree.split(leaf)
        for child in children:
            cut = (tree.low[child] != tree.low[leaf]) | (tree.high[child] != tree.high[leaf])
            assert cut.sum() == 1
            assert there[int(cut.argmax())]
            x = tree.centre(child)
            np.testing.assert_array_equal(domain.canonical(x), x)
            assert (x >= tree.low[child] - 1e-9)[domain.exists(x)].all()
            assert (x <= tree.high[child] + 1e-9)[domain.exists(x)].all()


def test_the_first_design_tries_every_option_and_spreads_each_branch():
    space = Space(MODELS)
    X = design(space.domain, np.random.default_rng(0))
    assert len(X) == space.domain.most_axes == 5
    tried = [space.params(space.decode(x))["model"] for x in X]
    assert set(tried) == {"svm", "forest", "logistic", "net"}
    np.testing.assert_array_equal(space.domain.canonical(X), X)


def test_the_default_finds_the_optimum_of_an_unlikely_branch():
    def fun(kind, x, **rest):
        if kind == "rare":
            return (x - 0.3) ** 2 + 4.0 * (rest["a"] - 0.8) ** 2 + abs(rest["b"] - 17) / 10 - 0.5
        return (x - 0.3) ** 2 + rest["c"] / 100

    space = {
        "x": (0.0, 1.0),
        "kind": Choice({"usual": {"c": (0.0, 1.0)}, "rare": {"a": (0.0, 1.0), "b": Int(1, 30)}}),
    }
    r = bamsoo.minimize(fun, space, 60)
    assert r.params["kind"] == "rare"
    assert r.fun < -0.49


@pytest.mark.slow
def test_options_share_the_steps_with_constraints_too():
    seen = []

    def fun(kind, x, **rest):
        seen.append(kind)
        return (x - 0.3) ** 2 + (rest["c"] - 0.5) ** 2 + (kind == "poor")

    space = {
        "x": (0.0, 1.0),
        "kind": Choice({"good": {"c": (0.0, 1.0)}, "poor": {"c": (0.0, 1.0)}}),
    }
    bamsoo.minimize(fun, space, 60, constraints=[lambda x, **rest: x - 0.9])
    assert 15 <= seen.count("poor") <= 30  # a third, as without constraints


def test_better_options_have_more_evaluations_and_none_is_left():
    space = {"kind": Choice({kind: {f"{kind}1": (0.0, 1.0)} for kind in "abcd"})}

    def fun(kind, **rest):
        return "cabd".index(kind) + sum((value - 0.3) ** 2 for value in rest.values())

    r = bamsoo.minimize(fun, space, 60)
    counts = [sum(params["kind"] == kind for params in r.X) for kind in "cabd"]
    assert counts[0] == max(counts) <= 32  # 8 of 15 parts: each has half as many as the one before
    assert min(counts) >= 60 / 15  # what the last rank alone would give it


@pytest.mark.parametrize("seed", range(2))
def test_an_option_without_any_evaluation_is_tried_whatever_the_model_says(seed):
    # more options than the first design tries; the model rules out those that look worse
    space = {"x": (0.0, 1.0), "kind": Choice({i: {f"p{i}": (0.0, 1.0)} for i in range(20)})}
    r = bamsoo.minimize(lambda x, kind, **_: (x - 0.3) ** 2 + kind / 100, space, 30, seed=seed)
    assert len({params["kind"] for params in r.X}) == 20


def test_options_that_no_known_value_has_are_tried_first():
    opt = bamsoo.Optimizer(
        {"x": (0.0, 1.0), "kind": Choice({kind: {kind: (0.0, 1.0)} for kind in "abc"})}
    )
    for x in np.linspace(0.0, 1.0, 10).tolist():
        opt.tell({"x": x, "kind": "a", "a": 1.0 - x}, (x - 0.3) ** 2)
    tried = []
    for _ in range(4):
        trial = opt.ask()
        tried.append(trial.params["kind"])
        opt.tell(trial, trial.params["x"] ** 2)
    assert set(tried) == set("abc")
