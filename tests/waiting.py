"""Waiting for what other processes do."""

import os
import time
from contextlib import suppress
from pathlib import Path


def alive(pid):
    """Whether a process is running, and has not ended and waits to be fetched."""
    with suppress(ProcessLookupError, FileNotFoundError):
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def wait_for(condition):
    """What the condition gives, as soon as that is true; a minute is enough on any machine."""
    for _ in range(1200):
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError("waited in vain")


def ends(pid):
    """Wait until a process has ended, which takes a while after the signal, or after its parent."""
    wait_for(lambda: not alive(pid))


LONG = 120
"""Seconds for a command that takes one or two, on a machine that is busy with other things."""
