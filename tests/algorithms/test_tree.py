"""The tree: cells, centres, leaves by depth."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from mixed_space import DOMAIN
from numpy.testing import assert_allclose, assert_array_equal
from searches import rng

from bamsoo.algorithms.tree import Status, Tree
from bamsoo.errors import SettingsError
from bamsoo.space import Constraints, Space
from bamsoo.space.axes import (
    Continuous,
    Discrete,
    Domain,
    Options,
    cube,
)


def descend(tree, path):
    """Split along a path of child numbers; returns the node at its end, or the last cuttable."""
    node = 0
    for i in path:
        children = tree.split(node)
        if not children:
            break
        node = children[i % tree.k]
    return node


paths = st.lists(st.integers(0, 4), max_size=40)


@given(path=paths, dim=st.integers(1, 6), k=st.integers(2, 5))
def test_cells_stay_well_shaped(path, dim, k):  # Assumption 4
    tree = Tree(cube(dim), k)
    node = descend(tree, path)
    side = tree.high[node] - tree.low[node]
    assert side.max() <= k * side.min() * (1 + 1e-9) + 1e-14


@given(path=paths, dim=st.integers(1, 4), k=st.integers(2, 5))
def test_diameters_shrink_geometrically(path, dim, k):  # Assumption 3
    tree = Tree(cube(dim), k)
    node = descend(tree, path)
    side = tree.high[node] - tree.low[node]
    assert side.max() <= k ** -float(tree.depth[node] // dim) * (1 + 1e-9) + 1e-15


@given(path=paths, dim=st.integers(1, 4), k=st.integers(2, 5))
def test_children_partition_their_parent(path, dim, k):
    tree = Tree(cube(dim), k)
    node = descend(tree, path)
    children = list(tree.split(node))
    assume(children)
    side = tree.high[children] - tree.low[children]
    parent = tree.high[node] - tree.low[node]
    assert_allclose(side.prod(1).sum(), parent.prod(), rtol=1e-6, atol=1e-14)
    assert_array_equal(tree.low[children].min(0), tree.low[node])
    assert_array_equal(tree.high[children].max(0), tree.high[node])
    middle = 0.5 * (tree.low[children] + tree.high[children])
    assert_allclose(tree.x[children], middle, rtol=1e-9, atol=1e-15)


@given(path=paths, dim=st.integers(1, 3), k=st.integers(2, 5))
def test_cells_are_numbered_as_in_the_paper(path, dim, k):
    tree = Tree(cube(dim), k)
    h, j = tree.cell(descend(tree, path))
    assert h == len(path) or h > 50 / np.log2(k)  # as deep as floating point goes
    expected = 0
    for i in path[:h]:
        expected = k * expected + i % k
    assert j == expected  # exact even beyond 64 bits


def test_numbers_of_deep_cells_are_exact():
    tree = Tree(cube(3), 2)
    assert tree.cell(descend(tree, [1] * 120)) == (120, 2**120 - 1)


@given(
    values=st.lists(st.floats(-1e3, 1e3), min_size=8, max_size=8),
    changed=st.lists(st.tuples(st.integers(0, 7), st.floats(-1e3, 1e3)), max_size=10),
)
def test_the_best_leaf_has_the_largest_g_and_is_the_oldest_among_equals(values, changed):
    tree = Tree(cube(1), 8)
    tree.set(0, 0.0, Status.EVALUATED)
    children = list(tree.split(0))
    for child, g in zip(children, values, strict=True):
        tree.set(child, g, Status.EVALUATED)
    for i, g in changed:
        tree.set(children[i], g, Status.EVALUATED)
        values[i] = g
    assert tree.best_leaf(1) == children[int(np.argmax(values))]
    assert tree.best_leaf(0) is None


def test_a_middle_child_takes_its_parents_centre_value_and_status():
    tree = Tree(cube(2), 3)
    tree.set(0, 0.1, Status.REJECTED)
    middle = tree.split(0)[1]
    assert_array_equal(tree.x[middle], tree.x[0])
    assert (tree.g[middle], tree.status_of(middle)) == (0.1, Status.REJECTED)
    tree.split(middle)
    tree.set(0, 0.7, Status.EVALUATED)  # as when a pending value comes in late
    assert tree.g[tree.best_leaf(2)] == 0.7
    assert [tree.is_new(c) for c in range(1, 4)] == [True, False, True]


def test_centres_never_coincide_however_deep():
    tree = Tree(cube(2), 3)
    node, seen = 0, {tree.x[0].tobytes()}
    tree.set(0, 0.0, Status.EVALUATED)
    while children := tree.split(node):
        new = [c for c in children if tree.is_new(c)]
        assert len(new) == 2
        for child in new:
            tree.set(child, 0.0, Status.EVALUATED)
            assert tree.x[child].tobytes() not in seen
            seen.add(tree.x[child].tobytes())
        node = children[2]
    assert tree.depth[node] > 60
    assert not tree.is_leaf(node)
    assert tree.best_leaf(tree.depth[node]) != node


def test_an_axis_too_fine_to_cut_is_left_alone():
    tree = Tree(Domain((Continuous(0.3), Continuous(1e-3))), 2)
    node = 0
    while children := tree.split(node):
        node = children[0]
    assert_allclose(tree.high[node] - tree.low[node], [0.5, 2.0**-9])


def test_beside_options_an_axis_is_cut_as_long_as_its_parts_are_not_too_fine():
    tree = Tree(Domain((Options(2), Continuous(1.0 / 27.0))), 3)
    node = 0
    while children := tree.split(node):
        node = children[-1]
    assert_allclose(tree.high[node] - tree.low[node], [0.5, 1.0 / 27.0])


def test_a_sweep_reaches_the_shallowest_leaf_whatever_h_max_says():
    tree = Tree(cube(1), 2)
    tree.set(0, 0.0, Status.EVALUATED)
    assert list(tree.sweep(-1)) == [0]
    for child in tree.split(0):
        tree.set(child, 0.0, Status.EVALUATED)
    assert list(tree.sweep(0)) == [1]
    assert list(tree.sweep(np.inf)) == [1]


def test_k_below_two_is_refused():
    with pytest.raises(SettingsError, match="k"):
        Tree(cube(2), 1)


def test_every_node_but_the_root_lies_in_its_parent():
    tree = Tree(cube(2), 3)
    for leaf in (0, 2, 5):
        tree.split(leaf)
    assert tree.parent[0] == -1
    for node in range(1, len(tree)):
        parent = tree.parent[node]
        assert np.all(tree.low[parent] <= tree.low[node])
        assert np.all(tree.high[node] <= tree.high[parent])
        assert tree.depth[node] == tree.depth[parent] + 1


@given(st.integers(0, 10_000), st.lists(st.integers(0, 10**6), max_size=12))
def test_drawn_points_lie_in_their_cells_and_on_the_domain(seed, path):
    tree = Tree(DOMAIN, 2, rng(seed))
    leaf = 0
    for step in path:
        children = tree.split(leaf)
        if not children:
            break
        leaf = children[step % len(children)]
    x = tree.centre(leaf)
    assert np.all((x >= tree.low[leaf]) & (x <= tree.high[leaf]))
    assert_allclose(DOMAIN.snap(x), x, atol=0)


small_axes = st.one_of(
    st.builds(Discrete, st.integers(1, 5)),
    st.builds(Discrete, st.integers(1, 5), st.integers(1, 3)),
    st.builds(Options, st.integers(1, 4)),
)


@given(axes=st.lists(small_axes, min_size=1, max_size=3), k=st.integers(2, 4))
def test_a_tree_over_a_finite_space_comes_down_to_its_points(axes, k):
    tree = Tree(Domain(tuple(axes)), k)
    tree.set(0, 0.0, Status.EVALUATED)
    queue, ends = [0], []
    while queue:
        node = queue.pop()
        children = tree.split(node)
        if not children:
            ends.append(node)
        volumes = (tree.high - tree.low)[list(children)].prod(axis=1)
        assert not children or volumes.sum() == pytest.approx(
            (tree.high[node] - tree.low[node]).prod()
        )
        for child in children:
            if tree.is_new(child):
                tree.set(child, 0.0, Status.EVALUATED)
            assert np.all(tree.low[child] < tree.x[child])
            assert np.all(tree.x[child] < tree.high[child])
        queue += children
    every = {tuple(p) for p in product(*([a.centre(i) for i in range(a.count)] for a in axes))}
    assert sorted(tuple(tree.x[node]) for node in ends) == sorted(every)


def test_whole_numbers_are_cut_between_them():
    tree = Tree(Domain((Discrete(7),)), 2)
    tree.set(0, 0.0, Status.EVALUATED)
    assert tree.x[0, 0] == 3.5 / 7  # the number 3 of 0..6
    children = list(tree.split(0))
    assert_allclose(tree.high[children, 0], [4 / 7, 1])  # 0..3 and 4..6, or as near
    assert_allclose(tree.x[children, 0], [1.5 / 7, 5.5 / 7])


def test_options_are_cut_all_at_once_and_the_first_keeps_the_centre():
    tree = Tree(Domain((Options(4), Continuous())), 2)
    tree.set(0, 0.7, Status.EVALUATED)
    children = list(tree.split(0))
    assert_allclose(tree.x[children, 0], np.array([0.5, 1.5, 2.5, 3.5]) / 4)
    assert [tree.is_new(c) for c in children] == [False, True, True, True]
    assert tree.g[children[0]] == 0.7


def test_parts_of_a_cell_without_an_allowed_point_are_searched_with_a_quarter_of_the_effort():
    region, tries = Constraints(Space([(0.0, 1.0)]), [lambda x: bool(x[0] < 0.1)]).region(), []

    def find(low, high, start, *effort):
        tries.extend(effort)
        return type(region).find(region, low, high, start, *effort)

    region.find = find
    tree = Tree(replace(cube(1), region=region), 2)
    tries.clear()
    allowed, barred = tree.split(0)
    assert tree.status_of(barred) == Status.BARRED
    assert tree.status_of(allowed) != Status.BARRED
    assert set(tries) == {32}
    tries.clear()
    tree.split(barred)
    assert tries == [8, 8]


def test_a_tree_with_a_generator_draws_its_points():
    centred, drawn = Tree(cube(2), 2), Tree(cube(2), 2, rng(0))
    for tree in (centred, drawn):
        children = tree.split(0)
        at_centres = tree.centres(children) == 0.5 * (tree.low + tree.high)[children]
        assert at_centres.all() != tree.drawn
    assert (centred.drawn, drawn.drawn) == (False, True)


def test_a_tree_gives_up_after_a_thousand_cells_in_a_row_without_an_allowed_point():
    region = Constraints(Space([(0.0, 1.0)]), [lambda x: False]).region()
    tree, leaf = Tree(replace(cube(1), region=region), 2), 0
    while not tree.gave_up:
        tree.split(leaf)
        leaf += 1
    assert 1000 < len(tree) <= 1002
