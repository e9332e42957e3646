"""Real workers: bamsoo's own processes, executors, and what happens when they fail."""

import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time
import types
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
import searches
from numpy.testing import assert_array_equal

import bamsoo
from bamsoo.errors import SettingsError, WorkerError
from bamsoo.problems import branin
from bamsoo.run import evaluation, loop, processes
from bamsoo.run.loop import Ending

from command_line import bamsoo_
from waiting import LONG, ends, wait_for

SEARCHES = {**searches.ONCE, **searches.with_settings("bamsoo", random_start=True)}
LINE = {"x": (0.0, 1.0)}
TIMEOUTS = [0.01, 0.3, 3, 30]
"""Timeouts to try: a busy machine may take longer than the first to begin an evaluation."""

posix = pytest.mark.skipif(os.name != "posix", reason="needs processes of our own")


def noting(path, fun):
    """A function that records each call in a file, whatever process it runs in."""

    def noted(x):
        with path.open("a") as file:
            file.write(f"{x!r} {os.getpid()}\n")
        return fun(x)

    return noted


def calls(path):
    return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def threads():
    with ThreadPoolExecutor(2) as pool:
        yield pool


# --- one worker is the sequential algorithm


@pytest.mark.parametrize("name", SEARCHES)
def test_an_executor_of_one_is_the_sequential_algorithm_point_by_point(name):
    given = (branin, branin.bounds, 25)
    alone = bamsoo.minimize(*given, algorithm=SEARCHES[name], seed=4)
    with ThreadPoolExecutor(1) as pool:
        r = bamsoo.minimize(*given, algorithm=SEARCHES[name], seed=4, workers=pool)
    assert_array_equal(r.X, alone.X)
    assert_array_equal(r.F, alone.F)
    assert (r.fun, r.nfev, r.status, r.message) == (alone.fun, alone.nfev, alone.status, r.message)


@posix
def test_one_process_is_the_sequential_algorithm_point_by_point():
    alone = bamsoo.minimize(branin, branin.bounds, 30)
    r = bamsoo.minimize(branin, branin.bounds, 30, workers=np.int64(1))
    assert_array_equal(r.X, alone.X)
    assert_array_equal(r.F, alone.F)


# --- processes of our own


@pytest.mark.slow
@posix
def test_if_a_worker_dies_only_its_own_trial_fails(tmp_path):
    log, path = tmp_path / "log", tmp_path / "run.db"

    def fragile(x):
        if x < 0.2:
            os._exit(3)
        if x < 0.4:
            os.kill(os.getpid(), signal.SIGKILL)
        if x < 0.6:
            sys.exit(5)
        if 0.8 < x < 0.9:
            signal.signal(signal.SIGSEGV, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGSEGV)
        return x

    r = bamsoo.minimize(noting(log, fragile), LINE, 9, algorithm="soo", workers=2, study=path)
    assert len(calls(log)) == r.nfev == 9
    with bamsoo.Study.open(path) as study:  # it is replayed
        trials = study.trials
    for t in trials:
        x = t.params["x"]
        died = {
            "the worker died (exit code 3)": x < 0.2,
            "the worker died (signal 9)": 0.2 <= x < 0.4,
            "the function called sys.exit(5)": 0.4 <= x < 0.6,
            f"the worker died (signal {int(signal.SIGSEGV)})": 0.8 < x < 0.9,
        }
        assert [why for why, holds in died.items() if holds] == ([t.error] if t.error else [])
        assert t.state == ("failed" if t.error else "done")
    assert {t.error for t in trials} == {None, *died}


@pytest.mark.slow
@posix
@pytest.mark.parametrize("budget", [1, 7])
def test_the_budget_is_exact_whatever_the_workers(budget, tmp_path):
    log, shift = tmp_path / "log", 0.25
    r = bamsoo.minimize(noting(log, lambda x: (x - shift) ** 2), LINE, budget, workers=3)
    assert len(calls(log)) == r.nfev == budget
    assert r.status == Ending.BUDGET
    assert len({tuple(x.values()) for x in r.X}) == budget
    assert [x["x"] for x in r.X] == [x["x"] for x, f in zip(r.X, r.F, strict=True)
                                     if f == (x["x"] - shift) ** 2]  # fmt: skip


SCRIPT = """
import os, sys
print("script", flush=True)
import bamsoo

class Odd(Exception):
    pass

scale = 2.0

def loss(x):
    os.write(2, f"call {os.getpid() != parent}\\n".encode())  # at once: there are two writers
    if x < 0.1:
        raise Odd(x)
    return scale * (x - 0.3) ** 2

parent = os.getpid()
r = bamsoo.minimize(loss, {"x": (0, 1)}, 6, workers=2, algorithm="soo", on_error="fail")
print(r.nfev, r.fun < 1)
try:
    bamsoo.minimize(loss, {"x": (0, 0.09)}, 6, workers=2)
except Odd as error:
    print("Odd", error.result.nfev, "in loss" in error.__notes__[0])
"""


@pytest.mark.slow
@posix
def test_a_script_without_a_guard_runs_once_with_what_it_defines(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    ran = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=LONG
    )
    assert ran.stdout.splitlines() == ["script", "6 True", "Odd 0 True"], ran.stderr
    seen = ran.stderr.splitlines()
    assert len(seen) >= 7
    assert set(seen) == {"call True"}


@pytest.mark.slow
@posix
def test_an_exception_comes_back_as_it_was_with_the_workers_traceback(tmp_path):
    path = tmp_path / "run.db"

    def fails(x):
        if x == 0.5:  # the first trial
            raise KeyError("no such thing")
        return x

    with pytest.raises(KeyError) as caught:
        bamsoo.minimize(fails, LINE, 20, workers=2, algorithm="soo", study=path)
    worker, ours = caught.value.__notes__
    assert "in fails" in worker
    assert "raised by trial 0" in ours
    assert caught.value.result.status == Ending.ERROR
    told = caught.value.result.nfev
    with bamsoo.Study.open(path) as study:
        assert study.told == told
        assert study.ask().number == 0  # it is still pending, and handed out again
    r = bamsoo.minimize(
        fails, LINE, told + 3, workers=2, algorithm="soo", study=path, on_error="fail"
    )
    assert r.nfev == told + 3
    with bamsoo.Study.open(path, readonly=True) as study:
        assert study.trials[0].error == "KeyError: 'no such thing'"


@posix
def test_an_exception_that_cannot_travel_is_told_in_words():
    class Sealed(Exception):
        def __init__(self, a, b):
            super().__init__(f"{a} and {b}")

    def fails(x):
        raise Sealed(1, 2)

    with pytest.raises(bamsoo.errors.EvaluationError, match="Sealed: 1 and 2") as caught:
        bamsoo.minimize(fails, LINE, 3, workers=1)
    assert "in fails" in caught.value.__notes__[0]


@pytest.mark.slow
@posix
@pytest.mark.parametrize("how", ["target", "callback", "error"])
def test_a_run_that_ends_does_not_wait_for_evaluations_still_running(how, tmp_path):
    log, path = tmp_path / "log", tmp_path / "run.db"

    def slow(x):
        if x < 0.4:  # the second trial
            subprocess.run(["sleep", "60"], check=True)
        while len(log.read_text().splitlines()) < 2:
            time.sleep(0.02)
        return x

    def stop(intermediate_result):
        if how == "callback":
            raise StopIteration
        if how == "error":
            raise ValueError("enough")

    def run():
        target = 0.5 if how == "target" else None
        return bamsoo.minimize(
            *(noting(log, slow), LINE, 9),
            workers=2,
            study=path,
            algorithm="soo",
            callback=stop,
            target=target,
        )

    if how == "error":
        with pytest.raises(ValueError, match="enough") as caught:
            run()
        r = caught.value.result
    else:
        r = run()
        assert r.status == (Ending.TARGET if how == "target" else Ending.CALLBACK)
    assert r.nfev == 1
    for line in calls(log):
        ends(int(line.split()[1]))
    with bamsoo.Study.open(path) as study:
        assert [t.state for t in study.trials] == ["done", "out"]
        assert study.ask().number == 1


@pytest.mark.slow
@posix
def test_after_the_timeout_what_runs_is_waited_for_and_nothing_is_begun(tmp_path):
    log = tmp_path / "log"

    def slow(x):
        time.sleep(0.4)
        return x

    for timeout in TIMEOUTS[1:]:
        r = bamsoo.minimize(noting(log, slow), LINE, 1000, workers=2, timeout=timeout)
        assert r.status == Ending.TIMEOUT
        assert r.nfev == len(calls(log)) <= 2 * (timeout // 0.4 + 1)
        if r.nfev:
            return
    raise AssertionError("nothing was begun")


@pytest.mark.slow
@posix
def test_workers_share_the_cores(monkeypatch):
    from bamsoo.run.threads import VARIABLES

    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 7)

    def threads(x):
        return float(os.environ["OPENBLAS_NUM_THREADS"])

    assert bamsoo.minimize(threads, LINE, 2, workers=2).fun == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "5")  # the user's own setting is respected
    assert bamsoo.minimize(lambda x: float(len(os.environ)), LINE, 1, workers=1).fun > 0
    with pytest.raises(KeyError):
        bamsoo.minimize(threads, LINE, 2, workers=2)


@posix
def test_what_cannot_be_sent_or_loaded_is_said_in_one_sentence(monkeypatch):
    lock = threading.Lock()
    with pytest.raises(bamsoo.errors.SettingsError, match="cannot be sent to another process"):
        bamsoo.minimize(lambda x: bool(lock), LINE, 3, workers=2)

    ghost = types.ModuleType("ghost")
    exec("def loss(x): return x", ghost.__dict__)
    monkeypatch.setitem(sys.modules, "ghost", ghost)
    with pytest.raises(bamsoo.errors.WorkerError, match="No module named 'ghost'") as caught:
        bamsoo.minimize(ghost.loss, LINE, 3, workers=2)
    assert caught.value.result.nfev == 0

    monkeypatch.setattr(processes, "BOOT", "raise SystemExit(7)")
    with pytest.raises(bamsoo.errors.WorkerError, match=r"died while they .* with exit code 7"):
        bamsoo.minimize(lambda x: x, LINE, 3, workers=2)


@pytest.mark.slow
@posix
def test_a_worker_killed_while_idle_costs_nothing():
    pool = processes.Processes(evaluation.WorkerFunction(lambda x: 2 * x, 1), 1)
    try:
        for number in range(3):
            pool.submit(number, {"x": 4})
            assert [(n, reply.value) for n, reply in wait_for(pool.wait)] == [(number, 8.0)]
            (worker,) = pool._idle
            os.kill(worker.process.pid, signal.SIGKILL)
            ends(worker.process.pid)
    finally:
        pool.close()


DRIVER = """
import os, signal, subprocess, sys, time
import bamsoo

signal.signal(signal.SIGINT, signal.default_int_handler)  # a background shell ignores it

def slow(x):
    child = subprocess.Popen(["sleep", "60"])
    with open("pids", "a") as file:
        file.write(f"{os.getpid()} {child.pid}\\n")
    child.wait()
    return x

bamsoo.minimize(slow, {"x": (0, 1)}, 10, workers=2, study="run.db")
"""


@pytest.mark.slow
@posix
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_driver_that_is_killed_or_interrupted_leaves_nothing_running(number, tmp_path):
    run = subprocess.Popen(
        [sys.executable, "-c", DRIVER], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    pids = tmp_path / "pids"
    wait_for(lambda: pids.exists() and len(pids.read_text().splitlines()) == 2)
    run.send_signal(number)
    _, err = run.communicate(timeout=LONG)
    assert run.returncode == -number
    assert ("KeyboardInterrupt" in err) == (number == signal.SIGINT)
    for pid in pids.read_text().split():
        ends(int(pid))
    with bamsoo.Study.open(tmp_path / "run.db") as study:
        assert [t.state for t in study.trials] == ["out", "out"]


# --- executors of others


def spawned():
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))


def loky_pool():
    loky = pytest.importorskip("loky")
    return loky.ProcessPoolExecutor(2)


EXECUTORS = {"threads": lambda: ThreadPoolExecutor(2), "processes": spawned, "loky": loky_pool}


@pytest.mark.slow
@pytest.mark.parametrize("name", EXECUTORS)
def test_any_executor_does(name, tmp_path):
    log, path, shift = tmp_path / "log", tmp_path / "run.db", 0.25

    def bowl(x):
        if x > 0.8:
            raise ZeroDivisionError("too far")
        return (x - shift) ** 2

    with EXECUTORS[name]() as pool:
        r = bamsoo.minimize(
            noting(log, bowl), LINE, 20, workers=pool, algorithm="soo", study=path, on_error="fail"
        )
        assert len(calls(log)) == r.nfev == 20
        assert r.fun < 1e-3
        assert r.nfailed >= 1
        with pytest.raises(ZeroDivisionError, match="too far") as caught:
            bamsoo.minimize(bowl, LINE, 50, workers=(pool, 3), algorithm="soo")
        if name != "threads":
            lock = threading.Lock()
            with pytest.raises(
                bamsoo.errors.WorkerError, match="cannot be sent to another process"
            ):
                bamsoo.minimize(lambda x: bool(lock), LINE, 3, workers=pool)
    assert any("raised by trial" in note for note in caught.value.__notes__)
    with bamsoo.Study.open(path) as study:
        assert [t.error for t in study.trials if t.error] == ["ZeroDivisionError: too far"] * int(
            r.nfailed
        )


def test_in_threads_the_function_itself_is_called(threads):
    seen = []
    r = bamsoo.minimize(lambda x: seen.append(x) or x, LINE, 12, workers=threads)
    assert sorted(seen) == sorted(x["x"] for x in r.X)


@pytest.mark.parametrize("stored", [True, False])
def test_an_executor_shut_down_under_us_loses_nothing_told(stored, tmp_path):
    path = tmp_path / "run.db" if stored else None
    pool, acknowledged = ThreadPoolExecutor(2), []

    def shut(intermediate_result):
        acknowledged.append(intermediate_result.X[-1])
        if len(acknowledged) == 5:
            pool.shutdown(wait=False, cancel_futures=True)

    with pytest.raises(bamsoo.errors.WorkerError, match=r"any more trials|has cancelled") as caught:
        bamsoo.minimize(
            lambda x: x, LINE, 20, workers=pool, algorithm="soo", study=path, callback=shut
        )
    assert caught.value.result.X[: len(acknowledged)] == acknowledged
    assert caught.value.result.nfev >= 5
    if not stored:
        assert "a run with a study can be resumed" in str(caught.value)
        return
    assert f"everything told so far is in {path}" in str(caught.value)
    with ThreadPoolExecutor(2) as again:
        r = bamsoo.minimize(lambda x: x, LINE, 20, workers=again, algorithm="soo", study=path)
    assert r.nfev == 20
    assert r.X[: len(acknowledged)] == acknowledged


@pytest.mark.slow
def test_a_pool_that_breaks_ends_the_run_and_loses_nothing_told(tmp_path):
    path, acknowledged = tmp_path / "run.db", []

    def fatal(x):
        if x > 0.9:
            os._exit(1)
        return x

    with (
        spawned() as pool,
        pytest.raises(
            bamsoo.errors.WorkerError, match=r"is broken .* survives a worker's death"
        ) as caught,
    ):
        bamsoo.minimize(
            *(fatal, LINE, 30),
            workers=pool,
            algorithm="soo",
            study=path,
            callback=lambda intermediate_result: acknowledged.append(intermediate_result.fun),
        )
    assert caught.value.result.nfev == len(acknowledged)
    r = bamsoo.minimize(fatal, LINE, 30, workers=2, algorithm="soo", study=path)
    assert r.nfev == 30
    assert r.nfailed >= 1
    with bamsoo.Study.open(path) as study:
        assert not [t for t in study.trials if t.state == "out"]


def test_a_pool_that_is_given_no_count_is_refused(threads):
    with pytest.raises(bamsoo.errors.SettingsError, match="workers must be"):
        bamsoo.minimize(lambda x: x, LINE, 3, workers=(threads, 0))


# --- the command


@pytest.mark.slow
@posix
def test_the_command_has_workers_for_functions_problems_and_programs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine_w.py").write_text(
        "import os\ndef loss(x):\n    if x > 9: os._exit(4)\n    return x\n"
    )
    common = ("--param", "x:0:10", "--workers", 2, "--algorithm", "soo", "--json")
    out = json.loads(bamsoo_("minimize", "mine_w:loss", *common, "--budget", 12, "--study", "f.db"))
    assert (out["evaluations"], out["failed"]) == (12, 1)
    out = json.loads(bamsoo_("minimize", "branin", "--workers", 2, "--budget", 9, "--json"))
    assert out["evaluations"] == 9
    script = ("--", "sh", "-c", "echo $$ >> pids; echo $0", "{x}")
    bamsoo_("minimize", *common, "--budget", 5, "--study", "p.db", *script)
    assert len((tmp_path / "pids").read_text().split()) == 5
    out = json.loads(bamsoo_("resume", "p.db", "--budget", 8, "--json"))  # workers as before
    assert (out["evaluations"], out["failed"]) == (8, 0)
    with bamsoo.Study.open("p.db", readonly=True) as study:
        assert study.note["workers"] == 2
        assert all(t.value == t.params["x"] for t in study.trials)


def test_a_toml_file_may_say_how_many_workers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.toml").write_text(
        'command = ["echo", "{x}"]\nbudget = 4\nworkers = 2\nstudy = "run.db"\n'
        "[params]\nx = {low = 1, high = 9}\n"
    )
    bamsoo_("minimize", "run.toml")
    with bamsoo.Study.open("run.db", readonly=True) as study:
        assert (study.told, study.note["workers"]) == (4, 2)


@pytest.mark.slow
@posix
@pytest.mark.parametrize("how", ["once", "twice"])
def test_an_interrupt_awaits_all_that_run_and_a_second_ends_them(how, tmp_path, monkeypatch):
    script = "echo $$ >> pids; while ! [ -e go ]; do sleep 0.1; done; echo $0"
    run = subprocess.Popen(
        [
            *(sys.executable, "-m", "bamsoo", "minimize", "--param", "x:0:10"),
            *("--budget", "6", "--study", "run.db", "--workers", "2"),
            *("--", "sh", "-c", script, "{x}"),
        ],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    pids = tmp_path / "pids"
    wait_for(lambda: pids.exists() and len(pids.read_text().split()) == 2)
    started = [int(pid) for pid in pids.read_text().split()]
    run.send_signal(signal.SIGINT)
    while "stopping when" not in (line := run.stderr.readline()):
        assert line
    if how == "once":
        (tmp_path / "go").touch()
    else:
        run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=LONG)
    assert run.returncode == 130
    assert "Traceback" not in err
    done = 2 if how == "once" else 0
    assert f"{done} of 6 evaluations are saved; continue with: bamsoo resume run.db" in err
    for pid in started:
        ends(pid)
    (tmp_path / "go").touch()
    monkeypatch.chdir(tmp_path)
    assert json.loads(bamsoo_("resume", "run.db", "--json"))["evaluations"] == 6


# --- evaluations that hang


@pytest.mark.parametrize("kind", ["executor", pytest.param("processes", marks=posix)])
def test_a_run_does_not_wait_for_ever_after_its_timeout(kind, monkeypatch, tmp_path):
    monkeypatch.setattr(loop, "AFTER_TIMEOUT", 0.0)
    pid = tmp_path / "pid"

    def hangs(x):
        pid.write_text(str(os.getpid()))
        time.sleep(1000)

    class Never(Executor):
        def submit(self, call):
            return Future()

    workers = 1 if kind == "processes" else Never()
    for timeout in TIMEOUTS:
        path = tmp_path / f"{timeout}.db"
        r = bamsoo.minimize(hangs, LINE, 5, workers=workers, study=path, timeout=timeout)
        assert (r.status, r.nfev) == (Ending.TIMEOUT, 0)
        if begun := "had not finished" in r.message:
            break
    assert begun
    with bamsoo.Study.open(path, readonly=True) as study:
        assert {t.state for t in study.trials} == {"out"}
    if pid.exists() and (number := pid.read_text()):
        ends(int(number))


def test_the_last_evaluation_of_a_budget_is_not_waited_for_either(monkeypatch):
    monkeypatch.setattr(loop, "AFTER_TIMEOUT", 0.0)
    with ThreadPoolExecutor(2) as pool:
        end = threading.Event()

        def hangs(x):
            return end.wait() if x == 0.5 else x

        for timeout in TIMEOUTS:
            r = bamsoo.minimize(hangs, LINE, 3, workers=pool, algorithm="soo", timeout=timeout)
            assert r.status == Ending.TIMEOUT
            # two on a busy machine
            if begun := re.search("[12] evaluations? had not finished", r.message):
                break
        end.set()
    assert begun


# --- what a worker starts with


@posix
def test_each_worker_calls_the_initializer_also_one_that_replaces_another():
    def set_up(amount):
        os.environ["SET_UP"] = str(amount)

    def told_of(x):
        if x > 0.8:
            os._exit(3)
        return x, {"set": os.environ["SET_UP"]}

    r = bamsoo.minimize(
        told_of, LINE, 7, algorithm="soo", workers=2, initializer=set_up, initargs=(3,)
    )
    assert r.nfailed and r.nfev == 7
    assert {each.extras["set"] for each in r.evaluations if not each.failed} == {"3"}
    assert "SET_UP" not in os.environ


@posix
def test_an_initializer_that_raises_ends_the_run():
    with pytest.raises(WorkerError, match=r"initializer failed in a worker process .*needs one"):
        bamsoo.minimize(lambda x: x, LINE, 7, workers=1, initializer=lambda: int("needs one"))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"initializer": print}, "initializer needs workers=N.*got workers=None"),
        ({"initializer": 3, "workers": 2}, "initializer must be callable, got 3"),
        ({"initargs": (3,), "workers": 2}, "initializer must be callable, got None"),
        ({"initializer": print, "initargs": 3, "workers": 2}, "initargs must be a tuple"),
        ({"initializer": threading.Lock().acquire, "workers": 1}, "cannot be sent to another"),
    ],
)
def test_an_initializer_that_cannot_be_called_is_refused(given, said):
    with pytest.raises(SettingsError, match=said):
        bamsoo.minimize(lambda x: x, LINE, 7, **given)
