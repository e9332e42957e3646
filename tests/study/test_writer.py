"""Whether a process is writing a study."""

import subprocess
import sys

import pytest
from report_runs import SPACE

from bamsoo import Study
from bamsoo.study import writer
from bamsoo.study.writer import is_written

HOLD_OPEN = """
import sys
from bamsoo import Optimizer, Study
from bamsoo.errors import StudyError
with Study.open(sys.argv[1]):
    print("open", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(not writer.LOCKS.exists(), reason="this system lists no locks")
def test_whether_a_process_is_writing_the_study(tmp_path):
    path = tmp_path / "a.db"
    with Study.open(path, space=SPACE):
        pass
    assert is_written(path) is False
    command = [sys.executable, "-c", HOLD_OPEN, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"open\n"
        assert is_written(path) is True
        process.kill()
    assert is_written(path) is False


def test_without_a_list_of_locks_it_is_not_known_whether_a_run_is_active(tmp_path, monkeypatch):
    monkeypatch.setattr(writer, "LOCKS", tmp_path / "none")
    assert is_written(tmp_path / "a.db") is None
