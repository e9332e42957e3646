"""The grades by which the tree compares nodes."""

from math import asinh, inf

import numpy as np
import pytest

from bamsoo.algorithms.book import Book
from bamsoo.algorithms.known import Known
from bamsoo.algorithms.limits import Limits
from bamsoo.algorithms.search import Outcome
from bamsoo.algorithms.tree import Status, Tree
from bamsoo.space.axes import Discrete, Domain, cube


def evaluated(book, node, value, measured=()):
    asked = book.evaluate(node)
    x = next(asked)
    with pytest.raises(StopIteration):
        asked.send([Outcome(book.latest, x, (value,), measured)])


def test_a_grade_is_minus_the_violation_until_a_point_is_feasible_and_then_below_the_best_value():
    tree, book = Tree(cube(1), 3), Book(limits=Limits(cube(1), Known(1)))
    book.begin(tree)
    left, middle, right = tree.split(0)
    evaluated(book, left, 5.0, (2.0,))
    assert tree.g[left] == pytest.approx(-asinh(1.0))
    evaluated(book, middle, 1.0, (-1.0,))
    assert tree.g[middle] == 1.0
    evaluated(book, right, 9.0, (1.5,))
    assert tree.g[left] < tree.g[right] < book.f_plus == 1.0


def test_nodes_with_one_centre_share_its_value_also_if_it_failed():
    domain = Domain((Discrete(2),))
    tree, book = Tree(domain, 2), Book()
    book.begin(tree)
    evaluated(book, 0, 4.0)
    for child in tree.split(0):
        if tree.is_new(child) and (tree.centre(child) == tree.centre(0)).all():
            assert list(book.evaluate(child)) == []  # asks for nothing
            assert tree.g[child] == 4.0
    book.grades.enter(np.array([0.75]), None)
    assert book.grades.reuses(2, np.array([0.75]))
    assert (tree.g[2], tree.status_of(2)) == (-inf, Status.FAILED)
