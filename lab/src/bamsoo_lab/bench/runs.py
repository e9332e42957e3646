"""One run: a method on a case, with its measurements and the versions that made it."""

import sys
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, fields
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bamsoo._version import __version__
from bamsoo.base.typing import Array

from ..jobs.source import Source
from ..jobs.task import Finished, Settings, Task
from . import suites
from .case import Case
from .errors import PIP, require
from .measure import FEASIBLE, MeasuredObjective, Spent
from .methods import ALL, Method, find

Measurement: TypeAlias = dict[str, Any]
"""A finished run as tables read it: the settings that identify it, the notes of
`MeasuredObjective`, and, for a method of this package, the state of the source that made it.
"""


def task(method: str, case: Case, **more: Any) -> Task:
    """The task of a run; the instance is the seed, so each run of a method has its own seed.

    Further settings may be passed, such as another seed.
    """
    if ALL[method].settings:
        more["algorithm"] = ALL[method].settings
    return Task(
        "bench.runs:run",
        {"method": method, "seed": case.instance, **asdict(case), **more},
        (ALL[method].rate + suites.ALL[case.suite].seconds) * case.budget,
        source=source_of(method),
        group=f"{case.suite}-{method}",
    )


def source_of(method: str) -> Source:
    """What the runs of a method depend on: ours on our searches, a peer's on none of our code."""
    return Source.SEARCHES if ALL[method].ours else Source.NONE


def case_of(settings: Settings) -> Case:
    """The case of a run."""
    return Case(**{field.name: settings[field.name] for field in fields(Case)})


def measurement(finished: Finished) -> Measurement:
    """A finished task as tables read it."""
    made_by = {} if finished.digest is None else {"source": finished.digest}
    return {**finished.settings, **made_by, **finished.result}


def key(run: Settings) -> tuple[Any, ...]:
    """Identifies a run among all measurements, and among tasks by their settings."""
    more = ("workers", "durations", "source", "algorithm")
    return run["method"], run["seed"], case_of(run), *(run.get(name) for name in more)


def run(settings: Settings, context: Settings) -> dict[str, Any]:
    """Make one run and return what was measured.

    If a peer fails halfway, what it has reached counts, and the result says why it ended. An error
    in the target itself is always raised, because it is not the method that failed.
    """
    method = ready(settings["method"])
    case = case_of(settings)
    if suites.ALL[case.suite].timed:
        _warm(method)
    objective = MeasuredObjective(suites.target(case), case.budget, settings["seed"])
    ended = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # peers warn about their internals at every evaluation
        objective.start()
        try:
            method.solve(objective)
        except Spent:
            pass
        except Exception as error:
            if method.ours or not objective.count:
                raise
            ended = f"{type(error).__name__}: {error}"[:200]
    if objective.broken is not None:
        raise objective.broken
    result = {**objective.notes(), "versions": versions(method.name, case.suite)}
    if (peak := peak_mb()) is not None:
        result["peak_mb"] = peak
    return result | ({"ended": ended} if ended else {})


def ready(name: str) -> Method:
    """A method whose modules are imported and limited to one thread."""
    method = find(name)
    for module in method.modules:
        require(module)
    if "torch" in method.modules:
        require("torch").set_num_threads(1)
    return method


@cache
def _warm(method: Method) -> None:
    """Let a method load and compile what it needs, once per process, before it is timed."""
    case = Case("paper", "hartmann3", 3, 0, 15)
    objective = MeasuredObjective(suites.target(case), case.budget, 0)
    objective.start()
    with warnings.catch_warnings(), suppress(Spent):
        warnings.simplefilter("ignore")
        method.solve(objective)


def peak_mb() -> int | None:
    """The peak memory of this process in MB, or None if the system does not report it."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak / (2**20 if sys.platform == "darwin" else 2**10))


def trace(run: Mapping[str, Any]) -> Array:
    """The best result after each evaluation, infinite before the first that did not fail.

    It is a regret if the optimum is known, and a value otherwise. Under noise, it is the true value
    of the point that the method recommended, or of the best point as told. That is known only after
    some evaluations, and holds until the next of these. With constraints, only feasible points
    count. If evaluations have steps, they are counted in full ones, and only finished ones count.
    """
    best = np.full(run["budget"], np.inf)
    for at, value in run.get("steps", run.get("recommended", ())):
        best[at - 1 :] = np.inf if value is None else value
    if "values" in run and "recommended" not in run:
        found = np.array(run["values"], dtype=float)
        best[: len(found)] = np.where(np.isnan(found) | ~feasible(run), np.inf, found)
        best = np.minimum.accumulate(best)
    regret: Array = best - run.get("optimum", 0.0)
    return regret


def feasible(run: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Which evaluations met all constraints; all of them if there are no constraints."""
    if "violations" not in run:
        return np.full(len(run["values"]), True)
    met: NDArray[np.bool_] = np.array(run["violations"], dtype=float) <= FEASIBLE
    return met


def cut(run: Measurement, budget: int) -> Measurement:
    """A longer run as it was after `budget` evaluations; a run that is not longer is unchanged."""
    if run["budget"] <= budget:
        return run
    parts: dict[str, Any] = {
        name: run[name][:budget] for name in ("values", "violations") if name in run
    }
    for name in ("steps", "recommended"):
        if name in run:
            parts[name] = [mark for mark in run[name] if mark[0] <= budget]
    return {**run, **parts, "budget": budget, "evaluations": min(run["evaluations"], budget)}


@cache
def _versions(method: str, suite: str) -> tuple[tuple[str, str], ...]:
    found = {"numpy": np.__version__, "scipy": version("scipy")}
    if ALL[method].ours:
        found["bamsoo"] = __version__
    for module in (*ALL[method].modules, *suites.ALL[suite].modules):
        name = module.partition(".")[0]
        name = PIP.get(name, name)
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return tuple(found.items())


def versions(method: str, suite: str) -> dict[str, str]:
    """Versions of the packages that a method's runs on a suite depend on."""
    return dict(_versions(method, suite))
