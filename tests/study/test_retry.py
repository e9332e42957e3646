"""Failures that are taken back: trials are pending again, and the search knows nothing of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import lists, sampled_from
from numpy.testing import assert_array_equal

import bamsoo
from bamsoo import Study
from bamsoo.errors import TrialError

SPACE = {"x": (0.0, 1.0), "y": (0.0, 1.0)}


def value(params):
    return (params["x"] - 0.3) ** 2 + params["y"]


def run(study, count, fails=lambda number: False):
    for _ in range(count):
        trial = study.ask()
        failed = fails(trial.number)
        study.tell(trial, None if failed else value(trial.params), "no licence" if failed else None)


def same(one, two):
    assert one._events == two._events
    assert_array_equal(one.result.F, two.result.F)
    assert [t.number for t in one.trials] == [t.number for t in two.trials]


@pytest.mark.parametrize("algorithm", ["auto", "soo", "bamsoo"])
def test_failed_trials_are_pending_again_and_replay_agrees(path, algorithm):
    with Study.open(path, space=SPACE, algorithm=algorithm) as study:
        run(study, 9, lambda number: number in (2, 5))
        before = study.result
        assert study.retry() == [2, 5]
        assert (study.told, study.ledger.failed, study.ledger.costs.cost) == (7, 0, 7.0)
        assert len(study.result.F) == 7
        assert np.isnan(before.F).sum() == 2  # an earlier result does not change
        assert [t.state for t in study.trials].count("out") == 2
        assert study.trials[2].retried == ("no licence",)
        again = [study.ask(), study.ask()]
        assert [trial.number for trial in again] == [2, 5]
        for trial in again:
            study.tell(trial, value(trial.params))
        run(study, 6)
        assert study.retry() == []
    with Study.open(path) as resumed:
        same(study, resumed)
        assert resumed.told == 15
        assert resumed.trials[5].retried == ("no licence",)
        assert resumed.trials[5].error is None
        run(resumed, 1)
    with Study.open(path, readonly=True) as read:
        assert read.told == 16
        assert read.replay().told == 16


def test_what_was_learned_from_a_failure_is_unlearned(path):
    """The search goes on as one that was only given the values."""
    with Study.open(path, space=SPACE, algorithm="auto") as study:
        run(study, 10, lambda number: number >= 5)
        known = [(e.x, e.value) for e in study.evaluations if not e.failed]
        study.retry()
        fresh = bamsoo.Optimizer(SPACE)
        for x, f in known:
            fresh.tell(x, f)
        for _ in range(5):
            trial = study.ask()
            study.tell(trial, value(trial.params))
            fresh.tell(trial.x, value(trial.params))
        for _ in range(5):
            ours, theirs = study.ask(), fresh.ask()
            assert_array_equal(ours.x, theirs.x)
            study.tell(ours, value(ours.params))
            fresh.tell(theirs, value(theirs.params))


def test_other_writers_follow(path):
    with (
        Study.open(path, space=SPACE, algorithm="soo") as one,
        Study.open(path) as two,
    ):
        run(one, 4, lambda number: number == 1)
        run(two, 2)
        held = two.ask()
        assert one.retry([1]) == [1]
        trial = two.ask()
        assert trial.number == 1
        two.tell(trial, 1.0)
        two.tell(held, 2.0)
        one.refresh()
        same(one, two)


def test_only_failures_can_be_retried():
    search = bamsoo.Optimizer(SPACE, algorithm="soo")
    run(search, 3, lambda number: number == 1)
    pending = search.ask()
    for wrong in ([0], [1, 2], [pending.number], [17], ["a"]):
        with pytest.raises(TrialError, match=r"has not failed.*failed trials are \[1\]"):
            search.retry(wrong)
    assert search.retry([1]) == [1]
    with pytest.raises(TrialError, match="has not failed"):
        search.retry([1])


def test_a_failed_point_that_is_enqueued_is_evaluated_again(path):
    point = {"x": 0.25, "y": 0.75}
    with Study.open(path, space=SPACE, algorithm="soo") as study:
        study.enqueue(point)
        study.tell(study.ask(), None)
        run(study, 3)
        study.enqueue(point, again=False)
        assert not study.ledger.out
        study.enqueue(point)
        study.enqueue(point)  # it is pending
        trial = study.ask()
        assert (trial.number, trial.params) == (0, point)
        study.tell(trial, 1.0)
        study.enqueue(point)  # it has a value
        other = {"x": 0.5, "y": 0.25}
        study.tell(other, None)  # nobody asked for it
        study.enqueue(other)
        assert study.ask().params == other
        assert study.told == 4
        assert study.ledger.failed == 0
    with Study.open(path) as resumed:
        same(study, resumed)


def test_a_run_that_is_called_again_does_not_repeat_failures(path):
    calls = []

    def fun(x, y):
        calls.append((x, y))
        return None if (x, y) == (0.25, 0.75) else x

    for budget in (5, 7):
        given = {"x": 0.25, "y": 0.75}
        bamsoo.minimize(fun, SPACE, budget, study=path, x0=given, algorithm="soo", on_error="fail")
    assert calls.count((0.25, 0.75)) == 1
    with Study.open(path) as study:
        study.retry()
    r = bamsoo.minimize(lambda x, y: x, SPACE, 9, study=path, algorithm="soo")
    assert r.nfev == 9
    assert r.nfailed == 0


def test_steps_of_a_failure_are_not_counted():
    search = bamsoo.Optimizer(SPACE, steps=4)
    trial = search.ask()
    search.report(trial, 1, 1.0)
    search.tell(trial, None)
    assert search.result.cost == 0.25
    search.retry()
    assert search.result.cost == 0.0
    again = search.ask()
    assert search.report(again, 1, 1.0)


@settings(max_examples=25, deadline=None)
@given(steps=lists(sampled_from(["value", "failure", "retry", "enqueue", "ask"]), max_size=25))
def test_a_copy_is_where_the_search_is_whatever_happened(steps):
    search = bamsoo.Optimizer(SPACE, algorithm="soo")
    out = []
    for each in steps:
        if each == "retry":
            search.retry()
        elif each == "enqueue":
            search.enqueue({"x": 0.9, "y": 0.9})
        elif each == "ask" or not out:
            out.append(search.ask())
        else:
            trial = out.pop()
            search.tell(trial, value(trial.params) if each == "value" else None)
    twin = bamsoo.Optimizer(SPACE, algorithm="soo")
    twin._follow(search._events, None)
    assert_array_equal(twin.result.F, search.result.F)
    assert twin.told == search.told == len(search.result.F)
    assert twin.ledger.failed == search.ledger.failed == np.isnan(search.result.F).sum()
    assert twin.ledger.out.keys() == search.ledger.out.keys()
    assert twin.result.X == search.result.X


def test_numbers_of_trials_are_checked():
    opt = bamsoo.Optimizer([(0, 1)], algorithm="soo")
    for _ in range(4):
        opt.tell(opt.ask(), None)
    for wrong in ("1", "", b"1", 1.5, {1: 2}, [True], [[1, 2]], [None], ["1"]):
        with pytest.raises(TrialError, match=r"retry takes a list of the numbers|has not failed"):
            opt.retry(wrong)
    assert opt.retry(2) == [2]
    assert opt.retry(np.array([0, 3])) == [0, 3]
    assert opt.retry([np.int64(1), 1]) == [1]
    assert opt.retry([]) == opt.retry() == []
