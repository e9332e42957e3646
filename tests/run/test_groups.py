"""A process is ended together with everything it has started, even if it resists."""

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from bamsoo.run.groups import end_groups

STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
time.sleep(600)
"""


def alive(pid):
    with suppress(ProcessLookupError, FileNotFoundError):
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state != "Z"  # one that has ended and waits to be fetched
    return False


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
    for _ in range(100):
        if not any(map(alive, children)):
            break
        time.sleep(0.05)
    assert not any(map(alive, children))
    end_groups(processes)  # processes that have already ended cause no error
