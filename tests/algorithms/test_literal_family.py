"""The other optimistic trees ask for exactly the points of their papers, transcribed literally."""

from functools import partial

import literal_family as literal
import numpy as np
import pytest
from cube import KERNEL, on_the_cube, points
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import bamsoo
from bamsoo import problems
from bamsoo.algorithms import sequool as sequool_module
from bamsoo.algorithms.sequool import largest_h_max

each_problem = pytest.mark.parametrize("problem", problems.PAPER, ids=lambda p: p.name)


def noisy(problem, seed):
    """The problem scaled to about [0, 1], with uniform noise: the same noise at each call."""
    f, rng = on_the_cube(problem), np.random.default_rng(seed)
    scale = 1.0 + abs(f(np.full(problem.dim, 0.5)))
    return lambda u: f(u) / scale + rng.uniform(-0.3, 0.3)


def run(f, dim, algorithm, budget):
    opt = bamsoo.Optimizer([(0, 1)] * dim, "maximize", algorithm)
    for _ in range(budget):
        trial = opt.ask()
        opt.tell(trial, f(trial.x))
    return opt.result


@pytest.mark.parametrize("k", [2, 3, 4])
@each_problem
def test_sequool_is_its_paper(problem, k):
    h_max = 30
    expected = literal.sequool(on_the_cube(problem), problem.dim, k, h_max, 10_000)
    actual = points(problem, len(expected), bamsoo.algorithms.SequOOL(k=k, h_max=h_max))
    assert_allclose(actual, expected, atol=1e-12)
    assert len(expected) == sequool_module.plan_cost(h_max, k)


@pytest.mark.parametrize("k", [2, 3])
@each_problem
def test_stroquool_is_its_paper(problem, k):
    h_max = 10
    expected, x, mean = literal.stroquool(noisy(problem, 1), problem.dim, k, h_max, 10_000)
    r = run(
        noisy(problem, 1), problem.dim, bamsoo.algorithms.StroquOOL(k=k, h_max=h_max), len(expected)
    )
    assert_allclose(r.X, expected, atol=1e-12)
    assert_allclose(r.x, x, atol=1e-12)
    assert r.fun == pytest.approx(mean, rel=1e-12)
    assert len(expected) <= sequool_module.noisy_plan_cost(h_max, k)


@pytest.mark.parametrize("k", [2, 3])
@each_problem
def test_stosoo_is_its_paper(problem, k):
    n = 120  # the last value completes a node, which is not expanded any more
    expected, x, mean = literal.stosoo(noisy(problem, 2), problem.dim, k, n)
    r = run(noisy(problem, 2), problem.dim, bamsoo.algorithms.StoSOO(k=k, budget=n), n)
    assert_allclose(r.X, expected, atol=1e-12)
    assert_allclose(r.x, x, atol=1e-12)
    assert r.fun == pytest.approx(mean, rel=1e-12)


def test_stosoo_with_settings_of_its_own_is_its_paper():
    problem, own = problems.hartmann3, {"h_max": 6, "delta": 0.2, "spread": 0.5}
    expected, x, _ = literal.stosoo(noisy(problem, 3), 3, 3, 150, k=5, **own)
    r = run(noisy(problem, 3), 3, bamsoo.algorithms.StoSOO(evaluations=5, budget=150, **own), 150)
    assert_allclose(r.X, expected, atol=1e-12)
    assert_allclose(r.x, x, atol=1e-12)


@pytest.mark.parametrize("w", [1, 4, (3, 4, 5, 6, 8, 30)], ids=str)
@each_problem
def test_logo_is_its_paper(problem, w):
    W = [w] if isinstance(w, int) else w
    expected = literal.logo(on_the_cube(problem), problem.dim, 3, 100, W)
    assert_allclose(points(problem, 100, bamsoo.algorithms.LOGO(w=w)), expected, atol=1e-12)


@pytest.mark.parametrize("w", [3, (3, 4, 5)], ids=str)
@each_problem
def test_bamlogo_is_logo_with_bounds(problem, w):
    # LOGO goes deep soon: a rough kernel with a short length keeps the matrix well conditioned
    kernel, margins = bamsoo.kernels.Matern32(0.03, KERNEL[problem.name].variance), []
    f, W = on_the_cube(problem), [w] if isinstance(w, int) else w
    expected = literal.logo(f, problem.dim, 3, 60, W, kernel, margins=margins)
    assert min(margins) > 1e-9 * np.sqrt(kernel.variance)
    algorithm = bamsoo.algorithms.BaMLOGO(kernel=kernel, w=w)
    assert_allclose(points(problem, 60, algorithm), expected, atol=1e-12)


@each_problem
def test_imgpo_is_its_paper(problem):
    kernel, margins = KERNEL[problem.name], []
    expected = literal.imgpo(on_the_cube(problem), problem.dim, 60, kernel, margins=margins)
    assert min(margins) > 1e-9 * np.sqrt(kernel.variance)
    assert_allclose(
        points(problem, 60, bamsoo.algorithms.IMGPO(kernel=kernel)), expected, atol=1e-12
    )


@pytest.mark.parametrize("k", [2, 3])
@each_problem
def test_mfdoo_is_its_paper(problem, k):
    f, size = on_the_cube(problem), 1.0 + abs(on_the_cube(problem)(np.full(problem.dim, 0.5)))
    fidelity, nu, rho, bias = bamsoo.Fidelity(1.0, 64.0, log=True), 0.7 * size, 0.8, 0.6 * size
    zeta = [bias * (1 - fidelity.place(z)) for z in fidelity.levels]
    costs = [z / 64.0 for z in fidelity.levels]

    def at(x, i):  # the bias depends on the point
        return f(x) + zeta[i] * np.sin(20.0 * x.sum())

    expected = literal.mfdoo(at, problem.dim, k, nu, rho, zeta, costs, 12)
    settings = bamsoo.algorithms.MFDOO(nu=nu, rho=rho, bias=bias, k=k, budget=12)
    space = {f"x{i}": (0.0, 1.0) for i in range(problem.dim)} | {"z": fidelity}
    opt, actual = bamsoo.Optimizer(space, "maximize", settings), []
    for _ in expected:
        trial = opt.ask()
        actual.append((trial.x[:-1], fidelity.levels.index(trial.params["z"])))
        opt.tell(trial, at(*actual[-1]))
    assert [i for _, i in actual] == [i for _, i in expected]
    assert_allclose([x for x, _ in actual], [x for x, _ in expected], atol=1e-12)
    assert {0, 1, 3} <= {i for _, i in actual} and 11.0 < opt.result.cost <= 12.0


@given(n=st.integers(1, 3000), k=st.integers(2, 5))
def test_no_plan_is_shallower_than_the_papers_or_dearer_than_the_budget(n, k):
    # the papers count n openings, k evaluations each
    for plan_cost, h_max in (
        (sequool_module.plan_cost, int(n / literal.harmonic(n))),
        (sequool_module.noisy_plan_cost, int(n / (2 * (literal.harmonic(n) + 1) ** 2))),
    ):
        ours = largest_h_max(partial(plan_cost, k=k), k * (n + 1))
        assert ours >= h_max
        assert ours == 1 or plan_cost(ours, k) <= k * (n + 1)
        assert plan_cost(ours + 1, k) > k * (n + 1)
