"""Writers of one study: forks, threads, interrupts, processes, and writers without turns."""

import os
import random
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from numpy.testing import assert_array_equal

import bamsoo
from bamsoo import Study, problems
from bamsoo.errors import StudyError
from bamsoo.study import lock

from interrupts import AtLine

branin = problems.branin
BOX = branin.bounds

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def run(script, *args):
    return subprocess.run(
        [sys.executable, "-c", script, *map(str, args)], capture_output=True, text=True, timeout=120
    )


# --- turns


def test_two_objects_share_a_study_and_evaluate_different_trials(path):
    with Study.open(path, space=BOX, algorithm="soo") as one, Study.open(path) as two:
        first, second = one.ask(), two.ask()
        assert (first.number, second.number) == (0, 1)
        two.tell(second, 2.0)
        assert [t.state for t in one.trials] == ["out", "done"]
        assert one.best.value == one.result.fun == 2.0
        one.tell(first, 1.0)
        assert two.told == 1  # until it looks
        assert two.result.nfev == 2
    assert [file.name for file in path.parent.iterdir()] == ["run.db"]


def test_turns_give_the_points_that_one_writer_gets(path):
    with Study.open(path, space=BOX) as one, Study.open(path) as two:
        for i in range(24):
            study = (one, two)[i % 2]
            trial = study.ask()
            study.tell(trial, branin(trial.x))
        assert_array_equal(one.result.X, bamsoo.minimize(branin, BOX, 24).X)
        assert one._events == two._events


def test_a_slow_process_is_told_that_its_trial_is_finished(path, caplog):
    with Study.open(path, space=BOX, algorithm="soo") as slow, Study.open(path) as quick:
        trial = slow.ask()
        slow._journal.stored.hold([])  # as if its lease had ended
        again = quick.ask()
        assert again.number == trial.number
        quick.tell(again, 1.0)
        with pytest.raises(
            bamsoo.errors.LateError, match="trial 0 was finished by another process"
        ):
            slow.tell(trial, 2.0)
        with pytest.raises(bamsoo.errors.TrialError, match="has already been told"):
            quick.tell(again, 2.0)
        assert [t.value for t in slow.trials] == [1.0]

        def overtaken(x):
            if slow.told == 1:
                slow._journal.stored.hold([])
                quick.tell(quick.ask(), 9.0)
            return branin(x)

        r = bamsoo.minimize(overtaken, BOX, 4, algorithm="soo", study=slow)
        assert r.nfev == 4
        assert r.F[1] == 9.0
        assert "was finished by another process" in caplog.text


def test_a_trial_that_is_given_back_goes_to_another_process(path):
    with Study.open(path, space=BOX, algorithm="soo") as one, Study.open(path) as two:
        trial = one.ask()
        one.give_back(trial)
        assert two.ask().number == trial.number
        assert one.ask().number == 1


def test_the_budget_is_spent_once_and_known_points_are_told_once(path):
    with Study.open(path, space=BOX, algorithm="soo") as one, Study.open(path) as two:
        for study in (one, two):
            study.give([((1.0, 1.0), 3.0, None, None, None)])
        assert one.result.F.tolist() == [3.0]
        first, second = one.ask_within(3), two.ask_within(3)
        third = one.ask_within(3, {0: 0})
        assert [t.number for t in (first, second, third)] == [0, 1, 2]
        assert two.ask_within(3, {1: 0}) is one.ask_within(3, {0: 0, 2: 0}) is None
        two.tell(second, 1.0)
        assert one.ask_within(3, {0: 0, 2: 0}) is None
        one.give_back(first)
        assert two.ask_within(3).number == 0


def test_a_restart_by_another_process_is_followed(path):
    with Study.open(path, space=BOX) as one:
        one.tell(one.ask(), 1.0)
        with Study.open(path, replay=False) as two:
            two.tell(two.ask(), 2.0)
            trial = one.ask()
            one.tell(trial, 3.0)
            assert two.result.nfev == one.result.nfev == 3
            assert one._events == two._events


def test_without_locks_a_writer_that_is_overtaken_tries_again(path, monkeypatch):
    nothing = SimpleNamespace(flock=lambda *_: None, LOCK_EX=0, LOCK_NB=0, LOCK_UN=0)
    monkeypatch.setattr(lock, "fcntl", nothing)
    with Study.open(path, space=BOX, algorithm="soo") as one, Study.open(path) as two:
        journal, events = one._journal.stored, one._journal.stored.events
        for value in (5.0, 4.0):
            monkeypatch.setattr(journal, "events", lambda after=0: [] if after else events())
            two.tell(two.ask(), value)  # which the first does not see in its turn
            trial = one.ask()
            one.tell(trial, value)
        monkeypatch.undo()
    r = bamsoo.minimize(branin, BOX, 9, algorithm="soo", study=path)  # it replays
    assert r.F[:4].tolist() == [5.0, 5.0, 4.0, 4.0]


def in_threads(count, run):
    """Call a function in several threads, each of which opens a study of its own."""
    with ThreadPoolExecutor(count) as pool:
        return [future.result() for future in [pool.submit(run) for _ in range(count)]]


def test_each_run_waits_for_the_others_and_returns_the_result_of_all(path):
    called = []

    def slow(x):
        called.append(tuple(x))
        time.sleep(0.002)
        return branin(x)

    results = in_threads(3, lambda: bamsoo.minimize(slow, BOX, 25, algorithm="soo", study=path))
    assert [r.nfev for r in results] == [25] * 3
    assert len(called) == len(set(called)) == 25
    assert {r.message for r in results} == {"the budget of 25 evaluations is spent"}
    assert len({r.fun for r in results}) == 1
    assert [file.name for file in path.parent.iterdir()] == ["run.db"]


def test_runs_with_steps_share_the_budget_too(path):
    taken = []

    def train(x):
        for step in range(4):
            taken.append(tuple(x))
            yield branin(x) + 1.0 / (step + 1)

    results = in_threads(2, lambda: bamsoo.minimize(train, BOX, 6, steps=4, study=path))
    assert len(taken) == results[0].cost * 4 == results[1].cost * 4
    assert 5 * 4 < len(taken) <= 6 * 4
    with Study.open(path) as one, Study.open(path) as two:
        trial = one.ask()
        assert two.elsewhere() == {trial.number}
        one._journal.stored.hold([])
        two.tell(two.ask(), 1.0)
        with pytest.raises(bamsoo.errors.LateError):
            one.report(trial, 1, 2.0)


RUN = """
import os, sys, time, bamsoo

def slow(x):
    time.sleep(0.01)
    with open(sys.argv[2], "a") as file:
        file.write(f"{x.tolist()}\\n")
    return bamsoo.problems.branin(x)

r = bamsoo.minimize(slow, bamsoo.problems.branin.bounds, 30, algorithm="soo", study=sys.argv[1])
print(r.nfev, r.fun)
"""


@pytest.mark.slow
def test_processes_that_start_at_the_same_moment_share_the_budget(path):
    calls = path.with_name("calls")
    command = [sys.executable, "-c", RUN, str(path), str(calls)]
    several = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = {each.communicate(timeout=120)[0] for each in several}
    assert len(said) == 1  # each has the result of all
    assert said.pop().startswith("30 ")
    points = calls.read_text().splitlines()
    assert len(points) == len(set(points)) == 30
    calls.unlink()
    assert [file.name for file in path.parent.iterdir()] == ["run.db"]
    with Study.open(path) as study:
        assert study.told == study.replayed.trials == 30


# --- forks

FORKING = """
import os, sys, bamsoo

def forks(x):
    pid = os.fork()
    if pid == 0:
        children.append(True)
    else:
        os.waitpid(pid, 0)
    return bamsoo.problems.branin(x)

children = []
try:
    r = bamsoo.minimize(forks, bamsoo.problems.branin.bounds, 3, algorithm="soo", study=sys.argv[1])
    print("done", r.nfev)
except bamsoo.errors.StudyError as error:
    print("child" if children else "parent", "forked from it" in str(error))
"""


@pytest.mark.slow
@forks
def test_an_objective_that_forks_and_returns_on_both_sides_leaves_one_writer(path):
    ran = run(FORKING, path)
    assert ran.stderr == ""
    assert sorted(ran.stdout.splitlines()) == ["child True"] * 3 + ["done 3"]
    with Study.open(path) as study:
        assert_array_equal(study.result.X, bamsoo.minimize(branin, BOX, 3, algorithm="soo").X)


@forks
def test_a_forked_child_may_neither_ask_nor_tell_and_closing_harms_nobody(path):
    study = Study.open(path, space=BOX, algorithm="soo")
    trial = study.ask()
    refused = []
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            for use in (
                study.ask,
                lambda: study.tell(trial, 1.0),
                lambda: setattr(study, "note", 1),
                lambda: study.backup(path.with_name("copy.db")),
            ):
                try:
                    use()
                except StudyError as error:
                    refused.append(f"in process {os.getpid()}, which was forked" in str(error))
            study.close()
            code = 0 if refused == [True] * 4 else 1
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    study.tell(trial, 2.0)
    study.close()
    with Study.open(path) as study:
        assert study.best.value == 2.0


# --- threads


def test_threads_may_share_a_study(path):
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    errors = []
    try:
        with Study.open(path, space=BOX) as study:

            def work():
                try:
                    for _ in range(10):
                        trial = study.ask()
                        told = study.result.nfev
                        assert told <= len(study.trials)
                        study.tell(trial, branin(trial.x))
                except BaseException as error:
                    errors.append(error)

            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(before)
    assert errors == []
    with Study.open(path) as study:  # it replays
        assert study.told == 40
        assert all(t.value == branin(list(t.params.values())) for t in study.trials)


# --- interrupts


def test_an_interrupt_just_after_the_first_event_was_written_loses_nothing(path, monkeypatch):
    def interrupted(self):
        raise KeyboardInterrupt

    with Study.open(path, space=BOX, algorithm="soo") as study:
        monkeypatch.setattr("bamsoo.study.sqlite.SqliteJournal._look", interrupted)
        with pytest.raises(KeyboardInterrupt):
            study.ask()
        monkeypatch.undo()
        trial = study.ask()  # the same, which is in the file
        assert trial.number == 0
        study.tell(trial, 1.0)
    with Study.open(path) as study:
        assert study.told == study.replayed.trials == 1


@pytest.mark.parametrize("algorithm", ["auto", "soo"])
def test_an_interrupt_anywhere_in_a_call_loses_nothing_and_repeats_nothing(algorithm, path, seed=0):
    rng = random.Random(seed)
    twin = Study.open(path.with_name("twin.db"), space=BOX, algorithm=algorithm)
    study = Study.open(path, space=BOX, algorithm=algorithm)
    out = []
    for i in range(14):
        with AtLine() as lines:
            wanted = twin.ask()
        try:
            with AtLine(rng.randint(1, lines.count)):
                trial = study.ask()
        except KeyboardInterrupt:
            trial = study.ask()
        assert (trial.number, trial.point) == (wanted.number, wanted.point)
        out.append((trial, wanted))
        if i % 3 == 0:
            continue
        trial, wanted = out.pop(rng.randrange(len(out)))
        with AtLine() as lines:
            twin.tell(wanted, branin(wanted.x))
        try:
            with AtLine(rng.randint(1, lines.count)):
                study.tell(trial, branin(trial.x))
        except KeyboardInterrupt:
            try:
                study.tell(trial, branin(trial.x))
            except bamsoo.errors.TrialError:  # it is in the file
                assert trial.number not in study.ledger.out
    for each in (study, twin):
        each.close()
    with Study.open(path) as study, Study.open(path.with_name("twin.db")) as twin:
        assert [t[:5] for t in study.trials] == [t[:5] for t in twin.trials]
        assert_array_equal(study.result.X, twin.result.X)
