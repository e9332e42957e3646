"""The searches on examples worked out by hand, and their settings."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime

import bamsoo
from bamsoo.algorithms.book import Book
from bamsoo.algorithms.gp_ucb import Acquisition
from bamsoo.algorithms.search import B
from bamsoo.algorithms.shrinking import refine
from bamsoo.model.gp import GP


def visited(algorithm, f, budget, dim=1, seed=0):
    r = bamsoo.maximize(f, [(0, 1)] * dim, budget, algorithm=algorithm, seed=seed)
    return r.X[:, 0].tolist() if dim == 1 else r.X


def identity(x):
    return x[0]


def test_soo_visits_the_points_worked_out_by_hand():
    # f(x) = x, k = 2; Algorithm 2 followed on paper
    expected = [0.5, 0.25, 0.75, 0.625, 0.875, 0.125, 0.375, 0.8125, 0.9375]
    assert visited(bamsoo.algorithms.SOO(k=2), identity, 9) == expected


def test_soo_with_three_children_reuses_the_middle():
    # f(x) = x, k = 3: root 1/2; children 1/6, (1/2), 5/6; then 5/6 is cut: 13/18, (5/6), 17/18;
    # n = 3: h_max = 1, the best leaf of depth 1 is 1/2: 7/18, (1/2), 11/18;
    # n = 4: h_max = 2: 1/6 at depth 1, then 17/18 at depth 2.
    expected = np.array([9, 3, 15, 13, 17, 7, 11, 1, 5]) / 18
    assert_allclose(visited(bamsoo.algorithms.SOO(k=3), identity, 9), expected)


def test_doo_visits_the_points_worked_out_by_hand():
    # f(x) = x, k = 2, l = |x - y|: a leaf's bound is its right end, so all that touch 1 are
    # 1 and the rest are less: the tree grows at the right edge alone.
    expected = [0.5, 0.25, 0.75, 0.625, 0.875, 0.8125, 0.9375, 0.90625, 0.96875]
    assert visited(bamsoo.algorithms.DOO(c=1, alpha=1, k=2), identity, 9) == expected


def test_doo_expands_the_largest_upper_bound():
    # f = -|x - 0.3|, l = 0.5 |x - y|^2 is too small to be true near 0.3 and so it is greedy
    r = bamsoo.maximize(
        lambda x: -abs(x[0] - 0.3),
        [(0, 1)],
        60,
        algorithm=bamsoo.algorithms.DOO(c=0.5, alpha=2, k=3),
    )
    assert r.fun > -1e-8


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


def test_the_width_of_the_bounds_by_hand():
    assert B(1, 0.05) == pytest.approx(np.sqrt(2 * np.log(np.pi**2 / 0.3)))
    assert B(10, 0.05) ** 2 - B(1, 0.05) ** 2 == pytest.approx(4 * np.log(10))


@pytest.mark.parametrize("acquisition", ["ucb", "ei", "pi"])
def test_acquisitions_have_the_gradients_they_claim(acquisition):
    rng = np.random.default_rng(0)
    gp, book = GP(bamsoo.kernels.Matern52(0.4), 2), Book()
    for i, x in enumerate(rng.random((6, 2))):
        gp.expect(i, x)
        gp.observe(i, float(np.sin(5 * x).sum()))
    book.f_plus = 0.5
    a = Acquisition(bamsoo.algorithms.GPUCB(acquisition=acquisition), gp, book)
    for x in rng.random((5, 2)):
        value, gradient = a.value_and_gradient(x)
        assert value == pytest.approx(a.value(x))
        assert_allclose(gradient, approx_fprime(x, a.value), atol=1e-5)


def test_expected_improvement_is_the_integral_it_stands_for():
    rng = np.random.default_rng(1)
    gp, book = GP(bamsoo.kernels.Matern52(0.4), 1), Book()
    gp.expect(0, np.array([0.2]))
    gp.observe(0, 0.3)
    book.f_plus = 0.3
    mu, sigma = gp.posterior_at(np.array([0.7]))
    draws = np.maximum(rng.normal(mu, sigma, 400_000) - 0.3, 0)
    ei = Acquisition(bamsoo.algorithms.GPUCB(acquisition="ei"), gp, book).value(np.array([0.7]))
    assert ei == pytest.approx(draws.mean(), rel=0.01)


@pytest.mark.parametrize("acquisition", ["ucb", "ei", "pi"])
def test_gp_ucb_and_its_siblings_find_the_top_of_a_smooth_function(acquisition):
    algorithm = bamsoo.algorithms.GPUCB(
        kernel=bamsoo.kernels.SquaredExponential(0.4),
        acquisition=acquisition,
        direct_evaluations=200,
    )
    f = lambda x: float(np.cos(4 * (x[0] - 0.4)) * np.cos(3 * (x[1] - 0.7)))
    r = bamsoo.maximize(f, [(0, 1)] * 2, 25, algorithm=algorithm)
    assert r.fun > 0.99


def test_gp_ucb_starts_at_the_centre_or_at_random():
    f = lambda x: x[0]
    centre = bamsoo.algorithms.GPUCB(random_start=False, direct_evaluations=20)
    assert visited(centre, f, 1) == [0.5]
    random = bamsoo.algorithms.GPUCB(direct_evaluations=20)
    assert visited(random, f, 1, seed=1) != visited(random, f, 1, seed=2)


def test_shrinking_samples_a_lattice_and_then_only_what_is_still_feasible():
    kernel = bamsoo.kernels.SquaredExponential(0.3)
    f = lambda x: float(np.sin(6 * x[0]))
    X = visited(bamsoo.algorithms.Shrinking(kernel=kernel), f, 20)
    assert X[:5] == [0.0, 0.5, 1.0, 0.25, 0.75]
    later = np.array(X[8:])
    assert np.all(np.abs(later - np.pi / 12) < 0.25)
    assert max(map(f, [[x] for x in X])) > 1 - 1e-4
    assert len(set(X)) == len(X)


def test_a_finer_lattice_lies_within_a_step_of_the_region():
    inside = np.array([[1, 1]])
    assert refine(inside, 4).tolist() == [[i, j] for i in (1, 2, 3) for j in (1, 2, 3)]
    assert refine(np.array([[0, 2]]), 4).tolist() == [[0, 3], [0, 4], [1, 3], [1, 4]]


def test_shrinking_refuses_dimensions_its_lattice_cannot_cover():
    with pytest.raises(bamsoo.errors.SettingsError, match="8 dimensions"):
        bamsoo.minimize(lambda x: 0.0, [(0, 1)] * 8, 10, algorithm="shrinking")


def test_shrinking_says_when_nothing_is_left():
    r = bamsoo.maximize(
        lambda x: float(x[0]),
        [(0, 1)],
        500,
        algorithm=bamsoo.algorithms.Shrinking(
            bamsoo.kernels.SquaredExponential(0.05), max_lattice=60
        ),
    )
    assert r.nfev < 500
    assert r.status == 4
    assert r.fun == 1.0


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


def test_the_default_learns_what_a_fixed_prior_must_be_told():
    f = bamsoo.problems.branin
    r = bamsoo.minimize(f, f.bounds, 60)
    assert r.fun - f.optimum < 1e-3
    for scale, shift in ((1e-9, 0.0), (1e9, 1e12)):
        other = bamsoo.minimize(lambda x, a=scale, b=shift: a * f(x) + b, f.bounds, 60)
        assert f(other.x) - f.optimum < 1e-2  # whatever the units


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
