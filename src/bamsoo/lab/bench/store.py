"""Finished runs on disk: a file a suite and method, a line a run, only ever appended to."""

import gzip
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..jobs.store import Store
from ..jobs.task import Task
from .errors import BenchError
from .runs import Record, key


class Ledger(Store):
    """A folder of such files.

    A process may be killed at any moment: a last line without an end is not read, is cut off
    before the next is written, and its run is made again.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known = {key(record): record for record in read(folder)}

    def get(self, task: Task) -> Record | None:
        """The record of a run, or None if there is none."""
        return self._known.get(key(task.settings))

    def put(self, task: Task, result: dict[str, Any]) -> Record:
        """Keep a record; returns it as `get` will."""
        path = self._folder / f"{result['suite']}-{result['method']}.jsonl"
        text = json.dumps(result)
        append(path, text)
        record: Record = json.loads(text)
        self._known[key(record)] = record
        return record

    def records(self) -> list[Record]:
        """Every record."""
        return list(self._known.values())


def append(path: Path, line: str) -> None:
    """Add a line, after cutting off a torn one, and wait until it is on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        file.seek(0)
        whole = file.read().rfind(b"\n") + 1
        file.truncate(whole)
        file.write(line.encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def read(folder: Path) -> Iterator[Record]:
    """Every whole line of every file of a folder, packed ones too."""
    for path in sorted(folder.glob("*.jsonl*")):
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for number, line in enumerate(data.split(b"\n")[:-1], 1):
            try:
                yield json.loads(line)
            except json.JSONDecodeError:
                raise BenchError(
                    f"{path}: line {number} is no run; delete the line, its run is made again"
                ) from None


def pack(records: Iterable[Record], folder: Path) -> None:
    """Write records as packed files, a suite and method each; the same records, the same bytes."""
    files: dict[str, list[Record]] = {}
    for record in records:
        files.setdefault(f"{record['suite']}-{record['method']}", []).append(record)
    folder.mkdir(parents=True, exist_ok=True)
    for name, some in files.items():
        lines = "".join(json.dumps(r) + "\n" for r in sorted(some, key=lambda r: str(key(r))))
        (folder / f"{name}.jsonl.gz").write_bytes(gzip.compress(lines.encode(), mtime=0))
