"""Whether a process has a study open for writing, without touching its lock.

Taking the lock, even for a moment, could prevent a run from starting at that moment. Linux lists
the locks that are held; on other systems the answer is not known.
"""

import os
from pathlib import Path

LOCKS = Path("/proc/locks")


def is_written(path: Path) -> bool | None:
    """Whether a process holds the lock on the study at `path`; None if that cannot be known.

    Only processes that are visible here count, not those in another container, or on another
    machine that shares the directory.
    """
    try:
        held = LOCKS.read_text("ascii", "replace")
    except OSError:
        return None
    try:
        inode = Path(f"{os.path.realpath(path)}-lock").stat().st_ino
    except OSError:
        return False
    # A line is `1: FLOCK ADVISORY WRITE process device:device:inode from to`. Only the inode is
    # compared, because some file systems report a different device here than in stat.
    return any(
        "WRITE" in fields and any(field.endswith(f":{inode}") for field in fields)
        for fields in map(str.split, held.splitlines())
    )
