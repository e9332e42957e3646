"""Finished runs on disk, one file each, so that a reproduction goes on where it stopped."""

import json
import os
from pathlib import Path
from typing import Any

from .task import Task


class Store:
    """A folder of finished runs.

    A file appears whole or not at all, so a process may be killed at any moment.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def _path(self, task: Task) -> Path:
        return self._folder / task.function.split(":")[0] / f"{task.key}.json"

    def get(self, task: Task) -> dict[str, Any] | None:
        """The result of a task, or None if it has not been run."""
        try:
            result: dict[str, Any] = json.loads(self._path(task).read_text("utf-8"))["result"]
        except (FileNotFoundError, json.JSONDecodeError):
            return None
        return result

    def put(self, task: Task, result: dict[str, Any]) -> dict[str, Any]:
        """Keep a result; returns it as `get` will."""
        path = self._path(task)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"settings": task.settings, "result": result})
        partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
        partial.write_text(text, "utf-8")
        partial.replace(path)
        kept: dict[str, Any] = json.loads(text)["result"]
        return kept
