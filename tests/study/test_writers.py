"""One writer per study: locks, forks, threads, interrupts, and two writers despite the lock."""

import os
import random
import shutil
import subprocess
import sys
import threading

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
        [sys.executable, "-c", script, *map(str, args)], capture_output=True, text=True, timeout=60
    )


# --- the lock

SECOND = """
import sys, bamsoo
try:
    bamsoo.Study.open(sys.argv[1]).close()
except bamsoo.errors.StudyError as error:
    print(error)
"""


@pytest.mark.skipif(os.name != "posix", reason="locks belong to processes on POSIX alone")
def test_a_callback_that_copies_the_files_does_not_drop_the_lock(path):
    with Study.open(path, space=BOX, algorithm="soo") as study:
        study.tell(study.ask(), 1.0)
        for file in path.parent.glob("run.db*"):
            shutil.copy(file, path.parent / f"copy-of-{file.name}")
        assert "another process is writing this study" in run(SECOND, path).stdout
        study.tell(study.ask(), 1.0)


def test_a_second_writer_that_gets_past_the_lock_fails_at_its_first_write(path, monkeypatch):
    first = Study.open(path, space=BOX, algorithm="soo")
    first.tell(first.ask(), 5.0)
    monkeypatch.setattr(lock, "_lock", lambda path: None)
    second = Study.open(path)
    first.tell(first.ask(), 4.0)  # it is the quicker
    trials = first.trials
    for late in (second.ask, lambda: second.tell((1.0, 1.0), 3.0)):
        with pytest.raises(StudyError, match=r"somebody else has written|earlier write failed"):
            late()
    first.tell(first.ask(), 3.0)
    with Study.open(path, readonly=True) as reader:
        assert reader.trials[: len(trials)] == trials
        assert reader.result.nfev == 3
    second.close()
    second = Study.open(path)
    second.ask()
    with pytest.raises(StudyError, match=r"stops at event 6; the file contains everything"):
        first.ask()
    for study in (first, second):
        study.close()
    monkeypatch.undo()
    r = bamsoo.minimize(branin, BOX, 9, algorithm="soo", study=path)  # it replays
    assert r.nfev == 9


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
    with pytest.raises(StudyError, match="this process already has the study open"):
        Study.open(path)
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
        assert (trial.number, trial.key) == (wanted.number, wanted.key)
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
