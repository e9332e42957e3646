"""Sums of functions of one parameter: how they are recognised, and how fast they are solved."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import bamsoo
from bamsoo.algorithms.auto.axes import Axes, AxesConstants, decomposed
from bamsoo.algorithms.auto.loop import CONSTANTS as DEFAULT
from bamsoo.algorithms.auto.schedule import Focus
from bamsoo.algorithms.book import Book
from bamsoo.algorithms.search import Outcome
from bamsoo.algorithms.tree import Status
from bamsoo.space.axes import cube

CONSTANTS = AxesConstants()
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])


def test_the_fourth_corner_of_a_rectangle_confirms_a_sum_or_refutes_it():
    three = decomposed(CORNERS[:3], np.array([1.0, 3.0, 8.0]), 0, CONSTANTS)
    assert [line.g.tolist() for line in three.lines] == [[0.0, 2.0], [0.0, 7.0]]
    assert (three.best, three.refuted, bool(three.tested.any())) == (2, False, False)
    for value, refuted in ((10.0, False), (10.0 + 1e-12, False), (10.1, True), (9.0, True)):
        found = decomposed(CORNERS, np.array([1.0, 3.0, 8.0, value]), 0, CONSTANTS)
        assert (found.refuted, bool(found.tested[0, 1])) == (refuted, not refuted)


def test_a_rectangle_along_which_nothing_changes_says_nothing():
    found = decomposed(CORNERS, np.array([1.0, 1.0, 8.0, 8.0]), 0, CONSTANTS)
    assert (found.refuted, bool(found.tested.any())) == (False, False)
    assert found.active == 1


def test_a_value_tests_those_axes_whose_coordinates_have_not_been_met_together():
    X = np.vstack([np.column_stack([CORNERS, np.zeros(4)]), [0.0, 0.0, 1.0]])
    f = np.array([0.0, 2.0, 7.0, 9.0, 4.0])
    assert np.argwhere(decomposed(X, f, 0, CONSTANTS).tested).tolist() == [[0, 1], [1, 0]]
    found = decomposed(np.vstack([X, np.ones(3)]), np.append(f, 13.0), 0, CONSTANTS)
    assert (found.tested == ~np.eye(3, dtype=bool)).all()


def test_small_errors_in_the_values_are_told_from_interactions():
    large = np.array([100.0, 300.0, 800.0, 1000.001])
    noisy = decomposed(CORNERS, large, 0, CONSTANTS)
    assert (noisy.refuted, noisy.inexact, bool(noisy.tested.any())) == (False, False, True)
    # the same error is too large to confirm a sum of small changes, but it refutes nothing
    small = np.array([1000.0, 1000.2, 1000.7, 1000.901])
    noisy = decomposed(CORNERS, small, 0, CONSTANTS)
    assert (noisy.refuted, noisy.inexact, bool(noisy.tested.any())) == (False, True, False)


@given(st.integers(2, 4), st.integers(1, 30), st.integers(0, 1000))
def test_contributions_are_those_of_least_squares(dim, count, seed):
    rng = np.random.default_rng(seed)
    levels = rng.integers(0, 3, (count, dim))
    g = rng.normal(size=(dim, 3))
    f = g[np.arange(dim), levels].sum(1)
    found = decomposed(levels / 2.0, f, 0, CONSTANTS)
    assert not found.refuted
    first = levels[0]
    for d, line in enumerate(found.lines):
        expected = g[d, (2 * line.u).astype(int)] - g[d, first[d]]
        np.testing.assert_allclose(line.g, expected, atol=1e-9)
    # what is not found does not follow by least squares along one axis either
    alone = [levels[(levels != first).sum(1) == 1]]
    for row in np.vstack(alone):
        (d,) = np.flatnonzero(row != first)
        assert row[d] / 2.0 in found.lines[d].u


def asked(f, dim, count, constants=CONSTANTS):
    """The steps of the axes after a cross around the centre and a corner have been told."""
    book, domain = Book(), cube(dim)
    book.begin()
    axes = Axes(domain, book, DEFAULT.schedule.tries, constants)
    moves = [*np.eye(dim), np.eye(dim)[0] + np.eye(dim)[1]]
    points = [np.full(dim, 0.5), *(np.full(dim, 0.5) + 0.25 * move for move in moves)]
    for x in points:
        book.receive([Outcome(None, x, (f(x),))])
    for _ in range(count):
        rows = np.arange(book.t)
        step = axes.propose(Focus((), rows, int(book.known.values.argmax())))
        if step is None:
            return
        book.receive([Outcome(None, step.x, (f(step.x),))])
        axes.judge(step, False, None)
        yield step.x


STEEP = 10.0 ** np.linspace(0.0, 6.0, 6)
TOP = np.array([0.31, 0.62, 0.17, 0.88, 0.45, 0.74])


def ellipsoid(x):
    return -float(STEEP @ (np.asarray(x) - TOP) ** 2)


def test_the_first_step_is_a_test_and_the_others_follow_only_if_it_is_passed():
    steps = list(asked(ellipsoid, 6, 9))
    assert set(steps[0].tolist()) <= {0.5, 0.75}
    assert len(steps) == 9
    # then the tops of all axes, then one axis after another, and then all tops again
    assert all((np.array(steps[2:8]) != np.roll(steps[2:8], 1, axis=0)).any(1))
    np.testing.assert_allclose(steps[8], TOP, atol=1e-9)
    twisted = lambda x: ellipsoid(x) + 10.0 * x[4] * x[5]  # 1e-5 of the steepest axis
    assert len(list(asked(twisted, 6, 9))) == 1
    assert not list(asked(ellipsoid, 6, 9, AxesConstants(active=False)))


def test_axes_with_two_coordinates_are_moved_first_by_what_they_promise():
    def curved(x):
        z = np.asarray(x) - [0.31, 0.62, 0.17, 0.88]
        return -float([3.0, 1.0, 2.0, 0.5] @ (z**2 * (1.0 + z)))

    steps = [step.tolist() for step in asked(curved, 4, 8)]
    # Straight lines through 0.5 and 0.75 change by -0.71, -0.01, -0.77 and 0.04.
    assert steps[1] == [0.0, 0.0, 0.0, 1.0]  # all at once
    assert steps[2:5] == [[0.5, 0.5, 0.0, 0.75], [0.0, 0.5, 0.0, 0.75], [0.5, 0.5, 0.0, 1.0]]
    # The second axis needs no step, since its share of the first one is known now. All axes have
    # three coordinates, and the parabola along the first has the most to gain.
    others = np.array(steps[5]) == [0.5, 0.5, 0.0, 0.75]
    assert others.tolist() == [False, True, True, True]
    assert (np.abs(np.array(steps[6]) - [0.31, 0.62, 0.17, 0.88]) < 0.04).all()  # all tops
    assert steps[7] == [steps[5][0], 0.5, steps[6][2], 0.75]  # then the third axis


def bent(x):
    """A sum of steep and shallow functions that are not quite parabolas."""
    z = np.asarray(x) - TOP
    return float(STEEP @ (z**2 * (1.0 + 0.3 * np.sin(5.0 * np.log(np.abs(z) + 1e-12)))))


def test_a_sum_is_solved_to_many_digits_and_the_tree_keeps_its_share():
    # 66 evaluations; without these steps the value is 0.9 after 120
    r = bamsoo.minimize(bent, [(0, 1)] * 6, 120)
    assert min(r.F[:80]) < 1e-6
    tree = r.tree
    centres = np.unique(tree.x[tree.status == Status.EVALUATED], axis=0)
    assert len(centres) >= 29


def test_a_sum_of_ripples_is_solved_globally():
    def ripples(x):
        z = x - TOP[:3]
        return float((z**2 + 0.1 * np.sin(25.0 * z) ** 2).sum())

    assert bamsoo.minimize(ripples, [(0, 1)] * 3, 100).fun < 1e-6


def test_nothing_changes_if_the_function_is_not_a_sum():
    f = bamsoo.problems.hartmann3
    off = bamsoo.algorithms.Auto(constants=replace(DEFAULT, axes=AxesConstants(active=False)))
    default, plain = (bamsoo.minimize(f, f.bounds, 40, algorithm=a) for a in ("auto", off))
    np.testing.assert_array_equal(default.X, plain.X)


def test_pending_steps_are_not_proposed_again():
    opt = bamsoo.Optimizer([(0, 1)] * 6)
    out = []
    for _ in range(60):
        trial = opt.ask()
        assert all((trial.x != other.x).any() for other in out)
        out.append(trial)
        if len(out) == 3:
            done = out.pop(0)
            opt.tell(done, bent(done.x))


def test_only_points_with_at_most_one_new_coordinate_are_news():
    book = Book()
    book.begin()
    axes = Axes(cube(3), book, DEFAULT.schedule.tries, CONSTANTS)
    told = [
        ([0.5, 0.5, 0.5], False),
        ([0.5, 0.5, 0.75], True),
        ([0.1, 0.2, 0.3], False),
        ([0.1, 0.5, 0.75], True),
        ([0.1, 0.6, 0.7], False),
        ([0.4, 0.6, 0.3], True),
    ]
    for x, news in told:
        book.receive([Outcome(None, np.array(x), (0.0,))])
        assert axes._news() == news
        assert not axes._news()  # it is no news any more


def test_no_step_is_proposed_while_only_one_coordinate_of_an_axis_is_known():
    book = Book()
    book.begin()
    axes = Axes(cube(3), book, DEFAULT.schedule.tries, CONSTANTS)
    plane = np.column_stack([0.5 + 0.25 * CORNERS, np.full(4, 0.5)])
    for x in plane:
        book.receive([Outcome(None, x, (ellipsoid([*x, *TOP[3:]]),))])
    assert axes.propose(Focus((), np.arange(4), 0)) is None
    out = plane[0] + [0.0, 0.0, 0.25]
    book.receive([Outcome(None, out, (ellipsoid([*out, *TOP[3:]]),))])
    assert axes.propose(Focus((), np.arange(5), 0)) is not None


def test_a_value_says_nothing_about_axes_along_which_nothing_changes():
    X = np.vstack([np.zeros(3), np.eye(3), np.ones(3)])
    found = decomposed(X, np.array([0.0, 2.0, 7.0, 0.0, 9.0]), 0, CONSTANTS)
    assert (found.active, found.refuted) == (2, False)
    assert np.argwhere(found.tested).tolist() == [[0, 1], [1, 0]]
