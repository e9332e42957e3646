"""Ending processes together with all that they have started: their process groups."""

import os
import signal
import subprocess
import time
from collections.abc import Collection
from contextlib import suppress

GRACE = 2.0
"""Seconds between asking a process to end and ending it."""


def end_groups(processes: "Collection[subprocess.Popen[bytes]]", grace: float = GRACE) -> None:
    """Ask processes that lead a group of their own to end; after `grace` seconds, end them.

    What they have started and left behind ends with them.
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
    """Send a signal to every process of a group that is still there; 0 is our own."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
