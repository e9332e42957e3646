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


def gone(pid):
    """Whether a process has ended, or ends within a few seconds."""
    for _ in range(100):
        if not alive(pid):
            return True
        time.sleep(0.05)
    return False
