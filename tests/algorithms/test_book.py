"""The book of a search: tickets, and the values that come back under them."""

import numpy as np

from bamsoo.algorithms.book import Book
from bamsoo.algorithms.search import Outcome
from bamsoo.kernels import Matern52
from bamsoo.model.gp import GP


def test_a_book_says_under_which_ticket_a_point_comes_back():
    book = Book()
    book.begin(gp=GP(Matern52(0.3), 1))
    first, second = book.expect(np.array([0.2])), book.expect(np.array([0.7]))
    assert (first, second, book.latest) == (0, 1, 1)
    assert book.gp.t == 2
    book.receive([Outcome(second, np.array([0.7]), (3.0,))])
    assert list(book.out) == [first]
    assert book.f_plus == 3.0
