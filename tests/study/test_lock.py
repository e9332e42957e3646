"""A trial is free again as soon as its process is dead."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from bamsoo import Study, problems
from bamsoo.study import lock
from bamsoo.study.backends import is_written
from bamsoo.study.lock import FileLock, Leases, is_locked, is_open

branin = problems.branin
BOX = branin.bounds


@pytest.mark.parametrize("with_fcntl", [True, False])
def test_a_lock_is_held_once(with_fcntl, tmp_path, monkeypatch):
    if not with_fcntl:
        monkeypatch.setattr(lock, "fcntl", None)
    elif lock.fcntl is None:
        pytest.skip("this system has no flock")
    one, two = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    assert one.acquire()
    assert not two.acquire(wait=False)
    assert is_locked(tmp_path / "lock")
    one.release()
    assert not is_locked(tmp_path / "lock")
    assert two.acquire(wait=False)
    if not with_fcntl:  # where this is needed, a file that is open cannot be removed
        one.close()
    two.remove()
    assert not (tmp_path / "lock").exists()
    assert one.acquire()  # a new file, and not the one that is gone
    assert is_locked(tmp_path / "lock")
    one.remove()
    assert list(tmp_path.iterdir()) == []


branin = problems.branin
BOX = branin.bounds


def test_a_network_file_system_is_recognised(tmp_path, monkeypatch):
    mounts = tmp_path / "mounts"
    mounts.write_text(
        "a / ext4 rw 0 0\nb /my\\040home nfs4 rw 0 0\nc /my\\040home/disk xfs rw 0 0\n"
    )
    monkeypatch.setattr(lock, "MOUNTS", mounts)
    kinds = [lock.kind_of_network(Path(p)) for p in ("/a", "/my home/a", "/my home/disk/a")]
    assert kinds == [None, "nfs4", None]
    monkeypatch.setattr(lock, "kind_of_network", lambda path: "nfs4")
    with pytest.warns(UserWarning, match="network file system .nfs4.* PostgreSQL"):
        Study.open(tmp_path / "run.db", space=BOX).close()


HOLD = """
import os, sys, time, bamsoo
study = bamsoo.Study.open(sys.argv[1], space=[(0, 1)], algorithm="soo")
study.tell(study.ask(), 1.0)
study.ask()
if "fork" in sys.argv:
    there, here = os.pipe()
    if os.fork() == 0:
        os.write(here, b"1")  # it runs, and has given up the lock
        time.sleep(60)
        os._exit(0)
    os.read(there, 1)
print("open", flush=True)
time.sleep(60)
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", [[], pytest.param(["fork"], id="fork")])
def test_a_trial_is_handed_out_again_when_its_process_is_dead(how, path):
    command = [sys.executable, "-c", HOLD, str(path), *how]
    first = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert first.stdout.readline() == "open\n"
        assert is_written(path)
        linked = path.with_name("link.db")
        linked.symlink_to(path)
        with Study.open(linked) as study:
            trial = study.ask()
            assert trial.number == 2
            study.give_back(trial)
        with Study.open(path, readonly=True) as reader:
            assert [t.state for t in reader.trials] == ["done", "out", "out"]
        first.kill()
        first.wait()
        assert not is_written(path)
        with Study.open(path) as study:
            assert study.ask().number == 1
        assert {file.name for file in path.parent.iterdir()} == {"run.db", "link.db"}
    finally:
        with suppress(ProcessLookupError):
            os.killpg(first.pid, signal.SIGKILL)
        first.stdout.close()
        first.wait()


def two(tmp_path):
    """The lock of a study's turns, and the leases of two processes."""
    turns = FileLock(tmp_path / "run.db-lock")
    turns.acquire()
    return turns, *(Leases(tmp_path / "run.db", turns) for _ in range(2))


def test_each_process_sees_the_trials_of_the_others_and_the_last_one_is_told_so(tmp_path):
    turns, one, other = two(tmp_path)
    assert one.arrive()
    one.hold([3, 1])
    assert not other.arrive()
    other.hold([2])
    assert (one.taken(), other.taken()) == ({2}, {1, 3})
    one.hold([])
    assert other.taken() == set()
    turns.release()
    assert is_open(tmp_path / "run.db")
    turns.acquire()
    assert not one.leave()
    assert other.leave()
    turns.remove()
    assert not is_open(tmp_path / "run.db")
    assert list(tmp_path.iterdir()) == []


def test_what_a_dead_process_held_is_free(tmp_path):
    turns, one, other = two(tmp_path)
    one.arrive()
    one.hold([1])
    other.arrive()
    one._alive.close()  # as if it had been killed: its lock ends, its file stays
    assert other.taken() == set()
    assert len(list(tmp_path.glob("*-by-*"))) == 1
    assert other.leave()
    turns.remove()


def test_a_text_that_was_cut_off_counts_as_nothing(tmp_path):
    turns, one, _ = two(tmp_path)
    one.arrive()
    for text in (b"{", b"[]", b'{"a/b": []}', b'{"a": 3}'):
        turns.write(text)
        assert one.taken() == set()
    one.leave()
    turns.remove()
