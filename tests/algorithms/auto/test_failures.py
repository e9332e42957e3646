"""Failing evaluations: where they are expected, and runs that keep away from them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import bamsoo
from bamsoo import Choice
from bamsoo.algorithms.auto.failures import Failures
from bamsoo.algorithms.auto.loop import CONSTANTS
from bamsoo.algorithms.book import Book
from bamsoo.algorithms.search import Outcome
from bamsoo.space import Space


def test_it_avoids_a_failing_region_and_finds_the_optimum_on_its_edge():
    def f(x):
        return None if x[0] + 0.3 * x[1] < 2.1 else float(x @ x)

    r = bamsoo.minimize(f, [(-5, 5)] * 2, 60)
    assert r.nfailed < 30  # of steps that bisect the edge, about every second fails
    assert r.fun - 2.1**2 / 1.09 < 1e-3


def test_random_crashes_do_not_keep_the_search_away():
    random = np.random.default_rng(5)

    def f(x):
        return None if random.random() < 0.3 else float(((x - 0.3) ** 2).sum())

    r = bamsoo.minimize(f, [(0, 1)] * 2, 60)
    assert r.fun < 1e-3


def test_while_every_evaluation_fails_the_search_looks_everywhere():
    opt = bamsoo.Optimizer([(0, 1)])
    seen = []
    for _ in range(15):
        trial = opt.ask()
        seen.append(float(trial.x[0]))
        opt.tell(trial, None)
    assert np.diff(np.sort([0.0, *seen, 1.0])).max() <= 0.13


def test_a_failing_option_is_soon_abandoned():
    space = {"x": (0.0, 1.0), "kind": Choice(["works", "fails"])}
    r = bamsoo.minimize(lambda x, kind: x**2 if kind == "works" else None, space, 30)
    assert r.nfailed <= 8
    assert r.fun < 1e-3


def failing(good, bad):
    book = Book()
    domain = Space([(0, 1)] * 2).domain
    book.begin()
    for x in good:
        book.receive([Outcome(None, np.array(x), (0.0,))])
    for i, x in enumerate(bad):
        book.out[i] = (np.array(x), None)
        book.receive([Outcome(i, np.array(x), ())])
    return Failures(domain, book, CONSTANTS.failures, CONSTANTS.learning)


def test_success_is_probable_near_successes_and_improbable_near_failures():
    model = failing([[0.8, y] for y in (0.1, 0.5, 0.9)], [[0.2, y] for y in (0.1, 0.5, 0.9)])
    there, here = model.success(np.array([[0.15, 0.4], [0.85, 0.4]]))
    assert there < 0.01 < 0.5 < here
    assert model.expected_at(np.array([0.2, 0.3]))
    assert not model.expected_at(np.array([0.8, 0.3]))


def test_no_failure_is_expected_if_nothing_has_failed():
    model = failing([[0.5, 0.5]], [])
    assert not model.happened
    assert not model.expected_at(np.array([0.1, 0.1]))
    assert_allclose(model.success(np.zeros((3, 2))), 1.0)


@pytest.mark.parametrize("edge", [0.3, 0.4, 0.48])
def test_steps_along_a_bound_next_to_failures_stay_inside(edge):
    opt = bamsoo.Optimizer({"x": (0, 1), "y": (-2, 2)})
    for _ in range(40):
        trial = opt.ask()
        x, y = trial.x
        assert 0.0 <= x <= 1.0
        assert -2.0 <= y <= 2.0
        opt.tell(trial, x + abs(y) if x <= edge else None)


def test_amid_failures_success_has_a_hundredth_of_the_smallest_probability():
    bad = [[x, y] for x in (0.1, 0.2, 0.3) for y in (0.1, 0.2, 0.3)]
    model = failing([[0.8, 0.8], [0.7, 0.9], [0.9, 0.7]], bad)
    assert_allclose(model.success(np.array(bad)), 0.01 * 0.01)


def test_of_cells_that_are_expected_to_fail_one_in_501_is_evaluated_all_the_same():
    model = failing([[0.8, y] for y in (0.1, 0.5, 0.9)], [[0.2, y] for y in (0.1, 0.5, 0.9)])
    bad, good = np.array([0.2, 0.3]), np.array([0.8, 0.3])
    assert [model.avoids(bad) for _ in range(502)] == [True] * 500 + [False, True]
    assert not model.avoids(good)  # the count begins again
    assert all(model.avoids(bad) for _ in range(500))
