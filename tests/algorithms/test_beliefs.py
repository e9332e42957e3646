"""What a search goes by: values, or under noise posterior means."""

import numpy as np
import pytest

from bamsoo.algorithms.book import Book
from bamsoo.algorithms.search import Outcome
from bamsoo.kernels import Matern52
from bamsoo.model.gp import GP


def outcome(x, value, variance=None):
    return Outcome(None, np.array([x]), (value,), variances=() if variance is None else (variance,))


@pytest.fixture
def book():
    found = Book()
    found.begin(gp=GP(Matern52(0.3), 1))
    found.receive([outcome(0.2, 1.0), outcome(0.8, 3.0)])
    return found


def test_without_noise_values_are_believed_as_they_are(book):
    assert book.beliefs.values().tolist() == book.beliefs.g().tolist() == [1.0, 3.0]
    assert book.beliefs.columns().tolist() == [[1.0], [3.0]]
    assert book.beliefs.learned is None and book.f_plus == 3.0


def test_from_the_first_variance_on_posterior_means_are_believed(book):
    book.receive([outcome(0.5, 8.0, 4.0)])
    mean, _ = book.gp.posterior(book.known.X)
    assert book.noisy
    assert book.beliefs.g() == pytest.approx(mean)
    assert book.f_plus == pytest.approx(mean.max()) and mean.max() < 8.0
    assert book.beliefs.seen()[1].tolist() == [0.0, 0.0, 4.0]
    assert book.beliefs.learned is False  # the caller said what the noise is


def test_rows_that_the_gp_lacks_are_believed_by_its_mean_there(book):
    book.receive([outcome(0.5, 8.0, 4.0)])
    gp = GP(Matern52(0.3), 1)
    book.move(book.transforms, [gp], [0, 2])
    assert gp.known == 2
    assert book.beliefs.g() == pytest.approx(gp.posterior(book.known.X)[0])


def test_only_values_that_are_not_final_are_revised(book):
    book.receive([outcome(0.5, 2.0)._replace(final=False)])
    keys = [x.tobytes() for x in book.known.X]
    book.beliefs.revise(dict.fromkeys(keys, ((7.0,), (0.5,))))
    assert book.known.values.tolist() == [1.0, 3.0, 7.0]
