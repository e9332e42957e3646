"""One run of a method on a case: made, named, stored, and found again."""

import fcntl
import hashlib
import inspect
import json
import os
import warnings
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ...jobs.store import Store
from ...jobs.task import Settings, Task
from ..errors import require
from ..measure import Spent
from .methods import find, is_ours
from .objective import Objective
from .suites import Case, build

Record = dict[str, Any]
"""A finished run: the settings that name it and the notes of `Objective`."""

SEEDS = 1000
"""Seeds per instance: the search's seed is this many times the instance, and its own number."""


class Job(Task):
    """A run to be made."""

    def run(self) -> Record:
        """Run it here and now."""
        return run(self.settings)


def job(method: str, case: Case, budget: int) -> Job:
    """A run of a method; one of ours is also named by the source that makes it."""
    settings: dict[str, Any] = {"method": method, **asdict(case), "budget": budget}
    if is_ours(method):
        settings["source"] = source(method)
    return Job("bench.tuning:run", settings, (find(method).rate + 0.05) * budget)


def case_of(settings: Settings) -> Case:
    """The case a run is about."""
    return Case(*(settings[name] for name in ("suite", "problem", "instance", "seed")))


def key(settings: Settings) -> tuple[Any, ...]:
    """Names a run."""
    return settings["method"], case_of(settings), settings["budget"], settings.get("source")


def run(settings: Settings) -> Record:
    """Make one run and return its record.

    A peer that fails half way keeps what it reached, and the record says why it ended.
    """
    method = find(settings["method"])
    for module in method.modules:
        require(module)
    if "torch" in method.modules:
        require("torch").set_num_threads(1)
    case = case_of(settings)
    objective = Objective(build(case), settings["budget"], SEEDS * case.instance + case.seed)
    ended = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # peers warn about their own innards at every evaluation
        try:
            method.solve(objective)
        except Spent:
            pass
        except Exception as error:
            if is_ours(method.name) or not objective.count:
                raise
            ended = f"{type(error).__name__}: {error}"[:200]
    record = {**settings, **objective.notes(), "versions": versions(method.modules)}
    return record | ({"ended": ended} if ended else {})


PACKAGES = {"sklearn": "scikit-learn", "cocoex": "coco-experiment"}


def versions(modules: tuple[str, ...]) -> dict[str, str]:
    """Versions of the packages that a run depends on, as far as they are installed."""
    found = {}
    for module in ("numpy", "scipy", "sklearn", "cocoex", *modules):
        name = PACKAGES.get(module, module)
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


@cache
def source(method: str) -> str:
    """Names the state of the searches, and of the module that a method's settings come from."""
    root = Path(__file__).parents[3]
    files = [*root.glob("*.py")]
    for folder in ("space", "model", "algorithms"):
        files += (root / folder).rglob("*.py")
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.read_bytes())
    module, colon, _ = method.partition(":")
    if colon:
        digest.update(inspect.getsource(import_module(module)).encode())
    return digest.hexdigest()[:10]


class Ledger(Store):
    """Runs in a folder: one file per suite and method, one line per run, only appended to.

    A process may be killed at any moment: a last line without an end is ignored, is cut off
    before the next line is written, and its run is made again. Several processes may append.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = self.folder = folder
        self.stale = 0
        self._known = {key(record): record for record in read(folder)}

    def get(self, task: Task) -> Record | None:
        """The record of a run, or None if there is none."""
        return self._known.get(key(task.settings))

    def put(self, task: Task, result: dict[str, Any]) -> Record:
        """Keep a record."""
        name = f"{result['suite']}-{result['method'].replace(':', '+')}.jsonl"
        append(self._folder / name, json.dumps(result))
        self._known[key(result)] = result
        return result

    def records(self) -> list[Record]:
        """Every record."""
        return list(self._known.values())


def append(path: Path, line: str) -> None:
    """Add a line after cutting off a torn one, while nobody else does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        file.truncate(file.read().rfind(b"\n") + 1)
        file.write(line.encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def read(folder: Path) -> Iterator[Record]:
    """Every whole line of every file of a folder."""
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_bytes().split(b"\n")[:-1]:
            yield json.loads(line)
