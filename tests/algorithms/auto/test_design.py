"""The first points of a search in spaces with whole numbers and options."""

import numpy as np
import pytest

from bamsoo import Choice, Int
from bamsoo.algorithms.auto.design import design, untried
from bamsoo.algorithms.book import Book
from bamsoo.algorithms.search import Outcome
from bamsoo.algorithms.tree import Tree
from bamsoo.space import Space
from bamsoo.space.axes import cube

CONDITIONAL = {
    "kind": Choice({"a": {"x": (0.0, 1.0)}, "b": {"y": (0.0, 1.0)}, "c": None}),
    "z": (0.0, 1.0),
}


@pytest.mark.parametrize(("dim", "least", "count"), [(1, 0, 2), (6, 0, 5), (6, 9, 9)])
def test_along_each_axis_there_is_one_point_in_each_of_n_equal_parts(dim, least, count):
    points = design(cube(dim), np.random.default_rng(0), least)
    assert points.shape == (count, dim)
    parts = np.sort((points * count).astype(int), axis=0)
    assert (parts == np.arange(count)[:, None]).all()


def test_there_are_as_many_points_as_options_up_to_a_dozen():
    for options, count in ((7, 7), (40, 12)):
        domain = Space({"n": Int(0, 9), "kind": Choice(list(range(options)))}).domain
        assert len(design(domain, np.random.default_rng(0))) == count


def test_options_with_parameters_take_turns_and_share_out_their_axes():
    space = Space(CONDITIONAL)
    points = design(space.domain, np.random.default_rng(0), 6)
    kinds = [space.params(space.decode(x))["kind"] for x in points]
    assert sorted(kinds) == ["a", "a", "b", "b", "c", "c"]
    there = space.domain.exists(points)
    for axis in (1, 2):  # x and y, each of which two points have
        assert sorted((points[there[:, axis], axis] * 2).astype(int)) == [0, 1]


def test_a_cell_is_untried_if_its_split_leaves_an_option_that_no_point_has():
    space = Space(CONDITIONAL)
    tree, book, kind = Tree(space.domain, 2), Book(), space.domain.opening[0]
    book.begin(tree)
    known = space.encode(space.point({"kind": "a", "x": 0.5, "z": 0.5}))
    book.receive([Outcome(None, known, (1.0,))])
    parent = 0
    while True:  # until the options are split
        children = tree.split(parent)
        if tree.high[children[0], kind] < tree.high[parent, kind]:
            break
        assert not any(untried(tree, parent, child, book) for child in children)
        parent = children[0]
    assert [untried(tree, parent, child, book) for child in children] == [False, True, True]
