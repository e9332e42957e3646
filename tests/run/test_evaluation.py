"""One evaluation: what a function returns becomes a reply, which survives its travel."""

import pickle
from math import inf, nan

import numpy as np
import pytest

from bamsoo.errors import EvaluationError, SettingsError, ValueTypeError
from bamsoo.run.evaluation import (
    Call,
    Reply,
    Running,
    StepValue,
    WorkerFunction,
    as_answer,
    as_reply,
    check_function,
    separated,
)


@pytest.mark.parametrize(
    ("returned", "value", "beside"),
    [
        (1, 1.0, None),
        (np.float32(0.5), 0.5, None),
        (np.array([2.0]), 2.0, None),
        ((1.0, {"c": 2}), 1.0, {"c": 2}),
        ([1, 2.5], (1.0, 2.5), None),
        (({"a": 1, "b": 2}, {"c": "x"}), {"a": 1.0, "b": 2.0}, {"c": "x"}),
    ],
)
def test_a_value_and_what_comes_beside_it(returned, value, beside):
    assert as_reply(returned) == Reply(value, beside=beside)


@pytest.mark.parametrize("returned", [None, nan, inf, (nan, {"c": 1}), [1.0, inf]])
def test_what_is_no_finite_number_is_the_reason_why_there_is_no_value(returned):
    reply = as_reply(returned)
    assert reply.value is None
    assert reply.reason.startswith("the value is ")
    assert reply.is_none == (returned is None)


def test_a_value_of_a_wrong_type_is_an_error():
    with pytest.raises(ValueTypeError):
        as_answer("three")
    assert separated((1.0, 2.0)) == ((1.0, 2.0), None)  # two objectives, nothing beside


def test_an_evaluation_without_steps_is_one_call():
    assert Running(lambda x: x[0] + 1, np.array([1.0])).advance() == Reply(2.0)
    assert Running(lambda a, b: a - b, {"a": 3, "b": 1}).advance() == Reply(2.0)
    error = Running(lambda x: 1 / 0, 0).advance().error
    assert isinstance(error, ZeroDivisionError)


def test_an_evaluation_with_steps_yields_each_and_then_its_last_value():
    closed = []

    def train(x):
        try:
            yield from (3.0, None, x)
            yield 99.0  # beyond the last step
        finally:
            closed.append(True)

    running = Running(train, 1.0, steps=3)
    first, second, third, last = (running.advance() for _ in range(4))
    assert (first, third) == (StepValue(3.0), StepValue(1.0))
    assert second.value is None
    assert last == Reply(1.0)
    assert closed == [True]
    assert "before its first step" in Running(lambda x: iter(()), 0, 3).advance().reason


def test_a_worker_stops_when_its_report_says_so():
    seen = []

    def report(step):
        seen.append(step.value)
        return len(seen) < 2

    function = WorkerFunction(lambda x: iter(range(x)), 1, steps=5)
    assert function(5, report).value is None
    assert seen == [0.0, 1.0]
    assert function(5) == Reply(4.0, curve=(0.0, 1.0, 2.0, 3.0, 4.0))


def test_an_exit_fails_only_its_own_trial():
    def leave(x):
        raise SystemExit(3)

    assert WorkerFunction(leave, 1)(0).reason == "the function called sys.exit(3)"


def test_a_call_and_its_reply_survive_their_travel():
    call = Call(WorkerFunction(lambda x: (x + 1.0, {"c": 2}), 1), 1.0, "key")
    key, reply = pickle.loads(pickle.dumps(call))()
    assert key == "key"
    assert pickle.loads(pickle.dumps(reply)) == Reply(2.0, beside={"c": 2})
    failed = pickle.loads(pickle.dumps(Reply(None, error=ValueError("why"))))
    assert isinstance(failed.error, ValueError)
    assert failed.reason == "ValueError: why"
    assert "in the worker" in failed.error.__notes__[0]


def test_an_exception_that_cannot_travel_comes_as_its_words():
    class Local(Exception):
        def __reduce__(self):
            raise TypeError

    failed = pickle.loads(pickle.dumps(Reply(None, error=Local("why"))))
    assert isinstance(failed.error, EvaluationError)
    assert "why" in failed.reason


def test_a_function_that_yields_needs_steps():
    def yields(x):
        yield x

    check_function(yields, 3)
    for fun in (yields, None):
        with pytest.raises(SettingsError):
            check_function(fun, None)
    error = Running(lambda x: yields(x), 0).advance().error
    assert "returned a generator" in str(error)
    assert "must yield" in str(Running(lambda x: 1.0, 0, 3).advance().error)
