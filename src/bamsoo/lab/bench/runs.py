"""One run: a method on a case, with what was measured and the versions that did it."""

import hashlib
import sys
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from ... import __version__
from ..._typing import Array
from ..jobs.task import Settings, Task
from .errors import PIP, require
from .measure import Objective, Spent
from .methods import ALL, OURS, Method
from .suites import Case, target

Record = dict[str, Any]
"""A finished run: the settings that name it, and the notes of `Objective`."""


class Job(Task):
    """A run to be made, as the pool of `bamsoo.experiments` takes it."""

    def run(self) -> Record:
        """Run it here and now."""
        return run(self.settings)


def job(method: str, case: Case) -> Job:
    """A job; the instance is the seed, so that each run of a method has its own."""
    settings = {"method": method, "seed": case.instance, **asdict(case)}
    if method in OURS:
        settings["source"] = source()
    return Job("bench:run", settings, ALL[method].rate * case.budget)


def case_of(settings: Settings) -> Case:
    """The case a run is about."""
    return Case(*(settings[name] for name in ("suite", "problem", "dim", "instance", "budget")))


def key(settings: Settings) -> tuple[Any, ...]:
    """Names a run; one of ours also by the source that made it."""
    return settings["method"], settings["seed"], case_of(settings), settings.get("source")


def current(record: Settings) -> bool:
    """Whether a run may be shown: one of ours belongs to the source as it is now."""
    return record["method"] not in OURS or record.get("source") == source()


def run(settings: Settings) -> Record:
    """Make one run and return its record.

    A method that fails half way keeps what it reached, and the record says why it ended.
    """
    method = ALL[settings["method"]]
    for module in method.modules:
        require(module)
    if "torch" in method.modules:
        require("torch").set_num_threads(1)
    case = case_of(settings)
    if case.suite == "overhead":
        _warm(method)
    objective = Objective(target(case), case.budget, settings["seed"])
    ended = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # peers warn about their own innards at every evaluation
        objective.start()
        try:
            method.solve(objective)
        except Spent:
            pass
        except Exception as error:
            if method.name in OURS or not objective.count:
                raise
            ended = f"{type(error).__name__}: {error}"[:200]
    record = {**settings, **objective.notes(), "versions": versions(method.name)}
    if (peak := peak_mb()) is not None:
        record["peak_mb"] = peak
    return record | ({"ended": ended} if ended else {})


@cache
def _warm(method: Method) -> None:
    """Let a method load and compile what it will, once a process, before it is timed."""
    case = Case("paper", "hartmann3", 3, 0, 15)
    objective = Objective(target(case), case.budget, 0)
    objective.start()
    with warnings.catch_warnings(), suppress(Spent):
        warnings.simplefilter("ignore")
        method.solve(objective)


def peak_mb() -> int | None:
    """The most memory this process has held so far, where the system tells."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak / (2**20 if sys.platform == "darwin" else 2**10))


def trace(record: Mapping[str, Any]) -> Array:
    """Best regret after each evaluation, from the evaluations that improved it."""
    best = np.empty(record["budget"])
    for at, regret in record["steps"]:
        best[at - 1 :] = regret
    return best


@cache
def _versions(method: str) -> tuple[tuple[str, str], ...]:
    found = {"numpy": np.__version__, "scipy": version("scipy")}
    if method in OURS:
        found["bamsoo"] = __version__
    for module in (*ALL[method].modules, "ioh"):
        name = module.partition(".")[0]
        name = PIP.get(name, name)
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return tuple(found.items())


def versions(method: str) -> dict[str, str]:
    """Versions of the packages a method's runs depend on."""
    return dict(_versions(method))


@cache
def source() -> str:
    """Names the state of the searches: a release number does not change with every edit."""
    root = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for file in sorted([*root.glob("*.py"), *(root / "algorithms").glob("*.py")]):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
