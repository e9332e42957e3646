"""Ending processes together with everything they have started.

A process that is to be ended leads a process group, and its environment contains a mark. What it
starts is normally in its group. On Linux, what has left the group, for example because it was
started in a session of its own, is found by the mark, which programs inherit. A program that is
started with an empty environment, or as another user, and has left the group is not found.
"""

import os
import signal
import subprocess
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

GRACE = 2.0
"""Seconds between asking a process to end (SIGTERM) and killing it (SIGKILL)."""


ROUNDS = 10
"""How often to look again for marked processes, which may start others while they are killed."""


def new_mark() -> str:
    """The name of an environment variable that nothing else has."""
    return f"BAMSOO_{uuid4().hex}"


def end_groups(
    processes: "Collection[subprocess.Popen[bytes]]",
    marks: Collection[str] = (),
    grace: float = GRACE,
) -> None:
    """Ask processes that lead a group of their own to end, and kill them after `grace` seconds.

    Processes that they have started and left running are killed too, also those that have one of
    the marks in their environment.
    """
    for process in processes:
        signal_group(process.pid, signal.SIGTERM)
    deadline = time.monotonic() + grace
    for process in processes:
        with suppress(subprocess.TimeoutExpired):
            process.wait(max(deadline - time.monotonic(), 0.0))
    for process in processes:
        signal_group(process.pid, signal.SIGKILL)
        process.wait()
    kill_marked(*marks)


def kill_marked(*marks: str) -> None:
    """Kill all processes except this one that have one of the marks in their environment."""
    for _ in range(ROUNDS):
        found = False
        for each in Path("/proc").glob("[0-9]*") if marks else ():
            with suppress(OSError):  # it has ended, or belongs to somebody else
                environment = each.joinpath("environ").read_bytes()
                if int(each.name) != os.getpid() and any(m.encode() in environment for m in marks):
                    os.kill(int(each.name), signal.SIGKILL)
                    found = True
        if not found:
            return


def signal_group(group: int, number: int) -> None:
    """Send a signal to every process of a group, if it still exists; 0 is our own group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
