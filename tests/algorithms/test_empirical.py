"""The prior that IMGPO and BaMLOGO learn from the values as they are."""

import numpy as np
import pytest

from bamsoo.algorithms.book import Book
from bamsoo.algorithms.empirical import START, EmpiricalPrior
from bamsoo.algorithms.search import Outcome
from bamsoo.algorithms.tree import Tree
from bamsoo.model.gp import GP
from bamsoo.space import Space

DOMAIN = Space([(0, 1)]).domain


def prior_of(values, times=1.0, plus=0.0):
    """A prior whose book has these values, at points spread over the axis."""
    book, tree = Book(), Tree(DOMAIN, 3)
    book.begin(tree, GP(START, 1, domain=DOMAIN))
    prior = EmpiricalPrior(tree, book)
    for i, value in enumerate(values):
        x = np.array([(0.5 + i * 0.618) % 1.0])
        book.receive([Outcome(book.expect(x), x, (times * value + plus,))])
    return prior, book


def wave(count):
    return [np.sin(7.0 * ((0.5 + i * 0.618) % 1.0)) for i in range(count)]


def test_the_first_prior_rejects_nothing():
    _, book = prior_of([])
    _, sigma = book.gp.posterior(np.array([[0.3]]))
    assert sigma[0] == 1e50


def test_one_value_or_equal_values_say_nothing():
    assert prior_of([3.0])[0].update() is None
    assert prior_of([3.0] * 6)[0].update() is None


def test_the_prior_is_fitted_again_when_the_values_have_grown_by_a_fifth():
    prior, book = prior_of(wave(10))
    assert prior.update() is book.gp
    for more in range(11, 14):
        x = np.array([more / 20.0])
        book.receive([Outcome(book.expect(x), x, (np.sin(7.0 * x[0]),))])
        assert (prior.update() is None) == (more < 12 or more == 13)


def test_the_prior_is_in_the_units_of_the_values():
    plain, scaled = prior_of(wave(12)), prior_of(wave(12), times=1000.0, plus=5e4)
    small, large = plain[0].update(), scaled[0].update()
    np.testing.assert_allclose(small.kernel.lengths(1), large.kernel.lengths(1), rtol=1e-3)
    assert large.kernel.variance == pytest.approx(1e6 * small.kernel.variance, rel=1e-2)
    at = np.array([[0.37]])
    mean, sigma = (float(each[0]) for each in small.posterior(at))
    assert float(large.posterior(at)[0][0]) == pytest.approx(1000.0 * mean + 5e4, rel=1e-6)
    assert float(large.posterior(at)[1][0]) == pytest.approx(1000.0 * sigma, rel=2e-2)
    assert scaled[1].f_plus == 1000.0 * max(wave(12)) + 5e4  # values stay as they are


def test_values_too_large_for_a_kernel_in_their_units_leave_the_prior_alone():
    prior, book = prior_of(wave(6), times=1e200)
    before = book.gp
    assert prior.update() is None
    assert book.gp is before
