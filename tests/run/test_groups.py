"""A process is ended together with everything it has started, even if it resists."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bamsoo.run.groups import end_groups, new_mark

from waiting import alive, ends, wait_for

STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
time.sleep(600)
"""


def test_groups_end_with_all_they_have_started():
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", STUBBORN], stdout=subprocess.PIPE, start_new_session=True
        )
        for _ in range(2)
    ]
    children = [int(process.stdout.readline()) for process in processes]
    assert all(map(alive, children))
    end_groups(processes, grace=0.1)
    for process in processes:
        process.stdout.close()
        assert process.returncode < 0
    for child in children:
        ends(child)
    end_groups(processes)  # processes that have already ended cause no error


FREE = "import os, time; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); "


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs Linux's /proc")
def test_what_has_left_its_group_is_found_by_its_mark(tmp_path):
    pid, mark = tmp_path / "pid", new_mark()
    script = f"{FREE} open({str(pid)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    process = subprocess.Popen(
        [sys.executable, "-c", script], start_new_session=True, env={**os.environ, mark: "1"}
    )
    wait_for(lambda: pid.exists() and pid.read_text())
    assert alive(int(pid.read_text()))
    end_groups([process], [mark])
    ends(int(pid.read_text()))
