"""Waiting for what other processes do."""

import time


def wait_for(condition):
    """What the condition gives, as soon as that is true; a minute is enough on any machine."""
    for _ in range(1200):
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError("waited in vain")
