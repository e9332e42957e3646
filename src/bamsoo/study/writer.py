"""Whether a process has a study open for writing, without touching its lock.

Trying to take the lock, even for a moment, could turn away a run that starts just then. Linux lists
the locks that are held; elsewhere the answer is that we do not know.
"""

import os
from pathlib import Path

LOCKS = Path("/proc/locks")


def is_written(path: Path) -> bool | None:
    """Whether some process holds the lock on the study at `path`; None where nobody can tell.

    Only processes that this one can see count: one in another container, or on another machine
    that shares the directory, does not.
    """
    try:
        held = LOCKS.read_text("ascii", "replace")
    except OSError:
        return None
    try:
        inode = Path(f"{os.path.realpath(path)}-lock").stat().st_ino
    except OSError:
        return False
    # A line: `1: FLOCK ADVISORY WRITE process device:device:inode from to`. The inode alone is
    # compared, because some file systems report another device here than to stat.
    return any(
        "WRITE" in fields and any(field.endswith(f":{inode}") for field in fields)
        for fields in map(str.split, held.splitlines())
    )
