"""What a point is worth: each factor is there, once."""

from math import erf, exp, pi, sqrt

import numpy as np
from numpy.testing import assert_allclose

from bamsoo.algorithms.auto.failures import Failures
from bamsoo.algorithms.auto.loop import CONSTANTS
from bamsoo.algorithms.auto.worth import Above, Worth
from bamsoo.algorithms.book import Book
from bamsoo.algorithms.search import Outcome
from bamsoo.kernels import Matern52
from bamsoo.model.gp import GP
from bamsoo.space.axes import cube


def test_expected_improvement_is_the_closed_form():
    mu, sigma, best = np.array([0.3, -1.0, 2.0]), np.array([0.5, 1.0, 1e-3]), 0.4
    expected = []
    for m, s in zip(mu, sigma, strict=True):
        u = (m - best) / s
        density, share = exp(-u * u / 2) / sqrt(2 * pi), (1 + erf(u / sqrt(2))) / 2
        expected.append((m - best) * share + s * density)
    assert_allclose(Above(best).expected(mu[:, None], sigma[:, None]), expected, rtol=1e-9)


def test_hopeless_candidates_still_have_an_order():
    gain = Above(0.0).expected(np.array([[-1.0], [-2.0]]), np.full((2, 1), 1e-9))
    assert gain[0] > gain[1]


def worth_of(noise=0.0, failed=()):
    """On a line with three values, of which the last is the best."""
    domain, book = cube(1), Book()
    book.begin(gp=GP(Matern52(0.3), 1, noise=noise, domain=domain))
    rows = [*((0.1, (0.0,)), (0.5, (0.2,)), (0.9, (0.5,))), *((x, ()) for x in failed)]
    for x, values in rows:
        book.receive([Outcome(book.expect(np.full(1, x)), np.full(1, x), values)])
    return Worth(book, Failures(domain, book, CONSTANTS.failures, CONSTANTS.learning)), book


X = np.array([[0.3], [0.7], [0.95]])


def test_without_noise_failures_and_constraints_it_is_the_expected_improvement():
    worth, book = worth_of()
    mu, sigma = book.gp.posterior(X)
    expected = Above(0.5).expected(mu[:, None], sigma[:, None])
    assert_allclose(worth.of(X, Above(0.5)), expected)
    assert worth.meets(X).tolist() == [1.0] * 3 and worth.noises == [0.0]


def test_with_noise_it_is_less_where_only_the_noise_is_unknown():
    worth, book = worth_of(noise=0.04)
    _, sigma = book.gp.posterior(X)
    shares = worth.of(X, Above(0.5)) / worth.of(X, Above(0.5), again=False)
    assert_allclose(shares, 1.0 - np.sqrt(0.04 / (0.04 + sigma**2)))


def test_before_any_point_is_feasible_every_success_is_an_improvement():
    worth, book = worth_of(failed=[0.31])
    mu, sigma = (each[:, None] for each in book.gp.posterior(X))
    success = worth.of(X, None)
    assert success[0] < 0.5 < success[2] <= 1.0
    assert_allclose(worth.of(X, Above(0.5)), success * Above(0.5).expected(mu, sigma))
