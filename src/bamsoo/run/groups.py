"""Ending processes together with everything they have started, by their process groups."""

import os
import signal
import subprocess
import time
from collections.abc import Collection
from contextlib import suppress

GRACE = 2.0
"""Seconds between asking a process to end (SIGTERM) and killing it (SIGKILL)."""


def end_groups(processes: "Collection[subprocess.Popen[bytes]]", grace: float = GRACE) -> None:
    """Ask processes that lead a group of their own to end, and kill them after `grace` seconds.

    Processes that they have started and left running are killed too.
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


def signal_group(group: int, number: int) -> None:
    """Send a signal to every process of a group, if it still exists; 0 is our own group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
