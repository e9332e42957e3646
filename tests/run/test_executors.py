"""Executors: how many trials they get, and results that are not those of the trial."""

import os
import threading
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from numpy.testing import assert_array_equal

import bamsoo
from bamsoo.run import executors
from bamsoo.run.executors import reply_of, room
from bamsoo.run.loop import Ending

from waiting import wait_for

LINE = {"x": (0.0, 1.0)}


def test_as_many_trials_are_pending_as_there_are_workers():
    running, most, expected, lock = 0, 0, 0, threading.Lock()

    def slow(x):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        wait_for(lambda: most >= expected)
        with lock:
            running -= 1
        return x

    for size, expected in ((None, 4), (2, 2), (9, 4)):
        most = 0
        with ThreadPoolExecutor(4) as pool:
            workers = pool if size is None else (pool, size)
            bamsoo.minimize(slow, LINE, 12, workers=workers, algorithm="random")
        assert most == expected


def test_the_room_of_an_executor():
    class Plain(Executor):
        pass

    class Mpi(Executor):
        num_workers = 5

    with ThreadPoolExecutor(3) as pool:
        assert room(pool) == 3
    assert room(Mpi()) == 5
    assert room(Plain()) == os.cpu_count()


def test_a_trial_that_kills_every_dask_worker_it_is_given_fails():
    class KilledWorker(Exception):
        pass

    future = Future()
    future.set_exception(KilledWorker("attempted on 4 workers;\n all died"))
    assert reply_of(future, "key").reason == "the worker died (attempted on 4 workers; all died)"


class Later(Executor):
    """Carries out one call each time it is told to, the newest first."""

    _max_workers = 3

    def __init__(self):
        self.waiting = []

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        self.waiting.append((future, fn, args))
        if len(self.waiting) == 3:
            threading.Thread(target=self.one).start()
        return future

    def one(self):
        future, fn, args = self.waiting.pop()
        future.set_result(fn(*args))


def test_results_are_in_the_order_they_were_told():
    seen = []

    def stop(intermediate_result):
        seen.append(intermediate_result.X[-1]["x"])
        if len(seen) == 6:
            raise StopIteration

    r = bamsoo.minimize(lambda x: x, LINE, 30, workers=Later(), algorithm="soo", callback=stop)
    assert r.status == Ending.CALLBACK
    assert [x["x"] for x in r.X] == seen
    assert_array_equal(r.F, seen)
    assert seen[0] != 0.5  # the root was asked first and has not come back


class Odd(ThreadPoolExecutor):
    """An executor with one thread that changes what comes back."""

    def __init__(self, change):
        super().__init__(1)
        self._change, self._before = change, None

    def submit(self, call):
        def carry_out():
            found, self._before = (self._before, call()), call()
            return self._change(*found)

        return super().submit(carry_out)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(lambda before, own: 0.5, "returned 0.5, which is not the outcome", id="value"),
        pytest.param(lambda before, own: None, "returned None", id="nothing"),
        pytest.param(lambda before, own: own[1], "not the outcome", id="no key"),
        pytest.param(lambda before, own: before or own, "not the outcome", id="another trial's"),
    ],
)
def test_a_result_that_is_not_that_of_the_trial_is_never_told(change, message, tmp_path):
    path = tmp_path / "run.db"
    with Odd(change) as pool, pytest.raises(bamsoo.errors.WorkerError, match=message) as caught:
        bamsoo.minimize(lambda x: x, LINE, 5, workers=pool, algorithm="soo", study=path)
    result = caught.value.__cause__ if not hasattr(caught.value, "result") else caught.value
    assert result.result.F.tolist() == [point["x"] for point in result.result.X]


def test_a_trial_that_an_executor_completes_twice_is_told_once():
    class Twice(Future):
        def add_done_callback(self, callback):
            super().add_done_callback(callback)
            super().add_done_callback(callback)

    class Stutter(Executor):
        def submit(self, call):
            future = Twice()
            future.set_result(call())
            return future

    r = bamsoo.minimize(lambda x: x, LINE, 5, workers=(Stutter(), 2), algorithm="soo")
    assert r.F.tolist() == [point["x"] for point in r.X]
    assert r.nfev == 5


def test_an_executor_whose_submit_returns_nothing_ends_the_run():
    class Mute(Executor):
        def submit(self, call):
            return None

    with pytest.raises(bamsoo.errors.WorkerError, match="the executor could not carry out a trial"):
        bamsoo.minimize(lambda x: x, LINE, 5, workers=Mute())


def test_calls_that_a_lost_cluster_never_ends_are_given_up(monkeypatch):
    class Lost(Executor):
        def submit(self, call):
            self._client = SimpleNamespace(status="connecting")
            return Future()

    monkeypatch.setattr(executors, "LOST", 0.5)
    with pytest.raises(bamsoo.errors.WorkerError, match="its cluster is gone"):
        bamsoo.minimize(lambda x: x, LINE, 3, workers=(Lost(), 1))
