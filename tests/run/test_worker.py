"""What an objective may do to the worker it runs in: forks, exits, odd exceptions, hanging."""

import os
import pickle
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cloudpickle
import pytest

import bamsoo
from bamsoo.run.evaluation import Reply, WorkerFunction, in_words
from bamsoo.run.processes import Processes

from waiting import ends

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs processes of our own")

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers know no tests

LINE = {"x": (0.0, 1.0)}


def value(x):
    return (x - 0.3) ** 2


def all_in_their_place(result):
    return result.F.tolist() == [value(**point) for point in result.X]


def forks_and_returns(x):
    if os.fork() == 0:
        return -1000.0
    time.sleep(0.02)  # a child that answered would be the first
    return value(x)


def forks_and_exits(x):
    pid = os.fork()
    if pid == 0:
        sys.exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3
    return value(x)


def raises_in_a_child(x):
    pid = os.fork()
    if pid == 0:
        raise RuntimeError("of the child")
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1
    return value(x)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fun", "workers"),
    [
        pytest.param(forks_and_returns, 1, id="returns"),
        pytest.param(forks_and_returns, 2, id="returns, two workers"),
        pytest.param(forks_and_exits, 1, id="exits"),
        pytest.param(raises_in_a_child, 1, id="raises"),
    ],
)
def test_a_child_that_the_function_forks_does_not_answer_for_its_worker(fun, workers):
    r = bamsoo.minimize(fun, LINE, 8, workers=workers, algorithm="soo")
    assert r.nfev == 8
    assert all_in_their_place(r)


def test_a_child_forked_in_a_pool_of_threads_does_not_come_back_either(tmp_path):
    children = tmp_path / "children"

    def forks(x):
        pid = os.fork()
        if pid == 0:
            return -1000.0
        with children.open("a") as file:
            file.write(f"{os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}\n")
        return value(x)

    with ThreadPoolExecutor(1) as pool:
        r = bamsoo.minimize(forks, LINE, 4, workers=pool, algorithm="soo")
    assert all_in_their_place(r)
    assert children.read_text() == "0\n" * 4


def test_a_child_does_not_hold_the_pipe_of_a_worker_that_died():
    def leaves_a_child(x):
        if os.fork() == 0:
            os.setsid()  # leaves the process group, so that it is not ended with it
            time.sleep(60)
        os._exit(7)

    pool = Processes(WorkerFunction(leaves_a_child, 1), 1)
    try:
        pool.submit(0, {"x": 0.5})
        (worker,) = pool._busy
        while not worker.begun:
            pool.wait()
        assert worker.pipe.poll(50)  # closed at once; the child holds it for a minute
        ((number, reply),) = pool.wait()
        assert (number, reply.reason) == (0, "the worker died (exit code 7)")
    finally:
        pool.close()


def test_a_reply_for_another_trial_is_not_taken():
    pool = Processes(WorkerFunction(value, 1), 1)
    try:
        pool.submit(5, {"x": 0.5})
        (worker,) = pool._busy
        while not (heard := pool.wait()):
            pass
        assert heard == [(5, Reply(value(0.5)))]
        pool.submit(6, {"x": 0.25})
        worker.number = 7
        assert [pool.wait() for _ in range(3)] == [[], [], []]
    finally:
        pool.close()


# --- exceptions of every kind


class Abort(BaseException):
    pass


class Mute(Exception):
    def __str__(self):
        raise ValueError("no text")


class Impostor(Exception):
    def __reduce__(self):
        return str, ("not an exception",)


class Closed(Exception):
    def add_note(self, note):
        raise TypeError("no notes")


ODD = {
    "ValueError: \\udce9t\\udce9": lambda: ValueError("\udce9t\udce9"),  # not UTF-8
    "Mute: (no text, because its __str__ raises an exception)": Mute,
    "Abort: enough": lambda: Abort("enough"),
    "KeyboardInterrupt: mine": lambda: KeyboardInterrupt("mine"),
    "Impostor: odd": lambda: Impostor("odd"),
    "Closed: shut": lambda: Closed("shut"),
    "the function called sys.exit('bye')": lambda: SystemExit("bye"),
}


def test_odd_exceptions_in_a_worker_fail_their_trials_and_are_kept(tmp_path):
    def fails(n):
        raise list(ODD.values())[n]()

    path, space = tmp_path / "run.db", {"n": bamsoo.Int(0, len(ODD) - 1)}
    bamsoo.minimize(fails, space, len(ODD), workers=1, study=path, on_error="fail")
    with bamsoo.Study.open(path) as study:
        errors = {t.params["n"]: t.error for t in study.trials}
    assert [errors[n] for n in range(len(ODD))] == list(ODD)


@pytest.mark.parametrize("words", [words for words in ODD if "sys.exit" not in words])
def test_an_odd_exception_is_the_same_or_its_words_after_its_travel(words):
    error = pickle.loads(pickle.dumps(Reply(None, error=ODD[words]()))).error
    assert isinstance(error, BaseException)
    assert in_words(error) == words


def test_a_base_exception_of_a_worker_is_raised_here():
    def aborts(x):
        raise Abort("enough")

    with pytest.raises(BaseException, match="enough") as caught:
        bamsoo.minimize(aborts, LINE, 3, workers=1)
    assert type(caught.value).__name__ == "Abort"
    assert caught.value.result.nfev == 0


@pytest.mark.parametrize("words", list(ODD)[:2])
def test_odd_texts_do_no_harm_in_this_process_either(words, tmp_path):
    def fails(x):
        raise ODD[words]()

    path = tmp_path / "run.db"
    bamsoo.minimize(fails, LINE, 2, algorithm="soo", study=path, on_error="fail")
    with bamsoo.Study.open(path) as study:
        assert [t.error for t in study.trials] == [words, words]


@pytest.mark.parametrize("workers", [None, 1])
def test_of_a_text_of_twenty_megabytes_the_ends_are_kept(workers, tmp_path):
    def shouts(x):
        raise ValueError("begin" + 20_000_000 * "." + "end")

    path = tmp_path / "run.db"
    bamsoo.minimize(shouts, LINE, 1, algorithm="soo", study=path, on_error="fail", workers=workers)
    with bamsoo.Study.open(path, readonly=True) as study:
        (t,) = study.trials
    assert t.error.startswith("ValueError: begin...")
    assert t.error.endswith("...end")
    assert "characters left out]" in t.error
    assert len(t.error) <= 10_000


# --- time limits


@pytest.mark.slow
def test_a_trial_that_takes_too_long_is_ended_and_the_run_goes_on(tmp_path):
    pids = tmp_path / "pids"

    def hangs(x):
        if x < 0.6:
            if x < 0.2:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)  # then it takes a SIGKILL
            with pids.open("a") as file:
                file.write(f"{os.getpid()}\n")
            while True:
                time.sleep(10)
        return value(x)

    for seconds in (0.5, 5.0, 50.0):  # a busy machine may take longer for those that do not hang
        pids.write_text("")
        r = bamsoo.minimize(hangs, LINE, 6, workers=2, algorithm="soo", trial_timeout=seconds)
        assert r.nfev == 6
        slow = [e.params["x"] < 0.6 for e in r.evaluations]
        if [e.failed for e in r.evaluations] == slow and len(pids.read_text().split()) == sum(slow):
            break
    said = f"ended after the trial timeout of {seconds:g} s"
    assert [e.error for e in r.evaluations] == [said if each else None for each in slow]
    assert len(pids.read_text().split()) == r.nfailed >= 2
    for pid in pids.read_text().split():
        ends(int(pid))


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs Linux's /proc")
def test_children_in_a_session_of_their_own_are_ended_with_their_trial(tmp_path):
    pid = tmp_path / "pid"

    def leaves(x):
        child = subprocess.Popen(["sleep", "600"], start_new_session=True)
        pid.write_text(str(child.pid))
        time.sleep(600)

    for seconds in (0.2, 2.0, 20.0):  # a busy machine may take longer to start a program
        r = bamsoo.minimize(leaves, LINE, 1, workers=1, trial_timeout=seconds)
        assert r.nfailed == 1
        if pid.exists():
            break
    ends(int(pid.read_text()))


def test_an_answer_after_the_signal_that_ends_it_is_too_late():
    def stubborn(x):
        def answer(number, frame):
            raise StopIteration

        signal.signal(signal.SIGTERM, answer)
        try:
            time.sleep(60)
        except StopIteration:
            return 0.0

    r = bamsoo.minimize(stubborn, LINE, 1, workers=1, trial_timeout=0.1)
    assert (r.nfev, r.nfailed) == (1, 1)


@pytest.mark.parametrize(
    ("seconds", "workers", "message"),
    [
        (0, 2, "trial_timeout must be a positive, finite number of seconds, got 0"),
        (float("nan"), 2, "trial_timeout must be a positive, finite number"),
        ("5", 2, "trial_timeout must be a positive, finite number of seconds, got '5'"),
        (5, None, "trial_timeout needs workers=N, .* got workers=None"),
        (5, ThreadPoolExecutor(1), "trial_timeout needs workers=N, .* got workers=<"),
    ],
)
def test_a_time_limit_that_makes_no_sense_is_refused(seconds, workers, message):
    with pytest.raises(bamsoo.errors.SettingsError, match=message):
        bamsoo.minimize(pytest.fail, LINE, 3, workers=workers, trial_timeout=seconds)
