"""Whether a file is on a network file system, where processes of several machines may meet.

The locks of SQLite and of this package are safe among the processes of one machine. Between
machines they are not, whatever the file system promises: SQLite's log needs shared memory.
"""

import re
import warnings
from pathlib import Path

MOUNTS = Path("/proc/self/mounts")

NETWORK = re.compile(
    r"nfs\d?|cifs|smb\w*|afs|beegfs\w*|ceph|gpfs|lustre|glusterfs|ocfs2|gfs2|pvfs2|panfs"
    r"|fuse\.(?:sshfs|glusterfs|ceph|s3fs|gcsfuse|rclone|juicefs|moosefs|lizardfs)\S*"
)


def kind_of_network(path: Path) -> str | None:
    """The name of the network file system that `path` is on; None if there is none, as is known.

    Only Linux says.
    """
    try:
        lines = MOUNTS.read_text("utf-8", "replace").splitlines()
    except OSError:
        return None
    found, longest = "", -1
    for line in lines:
        _, place, kind, *_ = [*line.split(" "), "", "", ""]
        place = re.sub(r"\\(\d{3})", lambda octal: chr(int(octal[1], 8)), place)
        if path.is_relative_to(place) and len(place) >= longest:  # of two on a place, the last
            found, longest = kind, len(place)
    return found if NETWORK.fullmatch(found) else None


def warn_if_shared(path: Path) -> None:
    """Warn if other machines could open the study file, too."""
    kind = kind_of_network(path)
    if kind is not None:
        warnings.warn(
            f"{path} is on a network file system ({kind}), where locks are not safe between "
            "machines: use this study on one machine only, or a PostgreSQL server "
            '(study="postgresql://user@host/db#name") for several',
            stacklevel=2,
        )
