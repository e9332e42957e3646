"""GP-UCB and its siblings: the acquisition functions and where they lead."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from searches import visited

import bamsoo
from bamsoo.algorithms.book import Book
from bamsoo.algorithms.gp_ucb import Acquisition
from bamsoo.model.gp import GP


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
