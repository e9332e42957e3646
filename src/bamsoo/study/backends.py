"""Where a study is kept: in a file, or on a PostgreSQL server."""

import os
import time
from os import PathLike
from pathlib import Path
from typing import Any

from . import lock, sqlite
from .journal import Journal, Metadata

SERVER = ("postgresql://", "postgres://")


def on_server(study: str | PathLike[str]) -> bool:
    """Whether this is the address of a study on a server, and not a path."""
    return isinstance(study, str) and study.startswith(SERVER)


def _server() -> Any:
    from . import postgresql  # takes long to load

    return postgresql


def open_journal(study: str | PathLike[str], write: bool, new: Metadata) -> Journal:
    """Open a study; to write, create it if need be, with the metadata of `new()`."""
    if on_server(study):
        journal: Journal = _server().PostgresqlJournal(str(study), write, new)
        return journal
    return sqlite.SqliteJournal(Path(study), write, new)


def shown(study: str | PathLike[str]) -> str:
    """The path or address for people to read: without a password."""
    return str(_server().ServerStudy(study).shown) if on_server(study) else os.fspath(study)


def local_name(study: str | PathLike[str]) -> Path:
    """The path of a study, or for one on a server that of a file with its name in this directory.

    Names of what is made from a study derive from it.
    """
    return Path(_server().ServerStudy(study).file if on_server(study) else study)


def exists(study: str | PathLike[str]) -> bool:
    """Whether there is something under this path, or a study at this address."""
    return bool(_server().exists(study)) if on_server(study) else os.path.lexists(study)


def is_written(study: str | PathLike[str]) -> bool:
    """Whether a process has the study open for writing."""
    return bool(_server().is_open(study)) if on_server(study) else lock.is_open(Path(study))


def signature(study: str | PathLike[str]) -> Any:
    """A value that changes whenever the study has been written to."""
    if on_server(study):
        return _server().signature(study)
    found = sqlite.signature(Path(study))
    latest = max((each[2] for each in found if each is not None), default=0)
    # Two writes within the resolution of the file's time stamp would look like one.
    settled = abs(time.time_ns() - latest) > 2_000_000_000
    return found if settled else (found, time.monotonic_ns())
