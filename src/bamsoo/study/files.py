"""Studies in files, as one of the places where a study can be."""

import os
import time
from typing import Any

from . import lock, sqlite
from .address import FileAddress
from .journal import Backend, Metadata
from .pages import readable


def _open(address: FileAddress, write: bool, new: Metadata) -> sqlite.SqliteJournal:
    return sqlite.SqliteJournal(address.path, write, new)


def _exists(address: FileAddress) -> bool:
    return os.path.lexists(address.path)


def _is_open(address: FileAddress) -> bool:
    return lock.is_open(address.path)


def _signature(address: FileAddress) -> Any:
    found = sqlite.signature(address.path)
    latest = max((each[2] for each in found if each is not None), default=0)
    # Two writes within the resolution of the file's time stamp would look like one.
    settled = abs(time.time_ns() - latest) > 2_000_000_000
    return found if settled else (found, time.monotonic_ns())


BACKEND = Backend(_open, _exists, _is_open, _signature, readable)
