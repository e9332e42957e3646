"""Finished runs on disk: one file per group of tasks, one line per run."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bamsoo.errors import BamsooError

from .source import Source, digest
from .task import Finished, Task, key


class StoreError(BamsooError, ValueError):
    """A stored run that cannot be read."""


class Store:
    """A folder of finished runs, to which lines are only ever appended.

    A process may be killed at any moment. An unfinished last line is ignored, removed before the
    next line is written, and its run is made again. Runs that were made by another state of the
    source stay in their files; `stale` counts them, and they are not used.

    Parameters
    ----------
    folder : Path
        Created when the first run is stored.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[str, Finished] = {}
        self.stale = 0
        for path in sorted(folder.glob("*.jsonl")):
            for line in lines(path):
                self._take(line)

    def _take(self, line: dict[str, Any]) -> None:
        """Take a stored line into account, unless another state of the source made it."""
        function: str = line.get("function", ":")
        source = Source(line.get("source", Source.NONE))
        made_by = line.get("digest")
        if "result" not in line or made_by != digest(source, function.partition(":")[0]):
            self.stale += 1
            return
        finished = Finished(line["settings"], line["result"], made_by)
        self._known[key(function, finished.settings, made_by)] = finished

    def get(self, task: Task) -> Finished | None:
        """A finished task, or None if it has not been run with the present source."""
        return self._known.get(task.key)

    def put(self, task: Task, result: dict[str, Any]) -> Finished:
        """Store a result; returns what `get` will return."""
        line = {
            "function": task.function,
            "source": task.source.value,
            "digest": task.digest,
            "settings": task.settings,
            "result": result,
        }
        text = json.dumps(line)
        _append(self.folder / f"{task.group or task.module}.jsonl", text)
        self._take(json.loads(text))
        return self._known[task.key]

    def finished(self) -> list[Finished]:
        """All runs that the present source would make again unchanged."""
        return list(self._known.values())


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """The complete lines of a file."""
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1], 1):
        yield parsed(line, path, number)


def parsed(line: bytes, path: Path, number: int) -> dict[str, Any]:
    """One line of a file as a dict; the error for a damaged line names it."""
    try:
        found = json.loads(line)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise StoreError(
            f"{path}: line {number} is not a stored run; delete the line to make the run again"
        )
    return found


def _append(path: Path, line: str) -> None:
    """Append a line, after removing an unfinished one, and wait until it is on disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        end = file.seek(0, os.SEEK_END)
        if end:
            file.seek(end - 1)
            if file.read(1) != b"\n":
                file.seek(0)
                file.truncate(file.read().rfind(b"\n") + 1)
        file.write(line.encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
