"""The runs that are simulated, and their measurements."""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import cache
from typing import Any

import numpy as np

from ...jobs.task import Settings, Task
from .. import suites
from ..case import Box, Case
from ..methods import ALL
from ..runs import case_of, ready, source_of, versions
from ..suites.parallel import PEER_CASES, WORKERS, cases
from .clock import (
    DURATIONS,
    ParallelSearch,
    TimedEvaluation,
    simulate,
    stream,
    utilisation,
    with_thinking,
)
from .searches import SEARCHES

TARGETS = (1e-2, 1e-4, 1e-6)
"""Regrets to be reached, as fractions of the median regret of uniform random points."""

PEER_TARGETS = TARGETS[:2]
"""Those of the peers' stored runs, which end at the second."""

SAMPLE = 1000
"""Number of uniform random points for that median."""

SECONDS = (1.0, 10.0, 60.0)
"""Mean durations, in seconds, for which the time of the search itself is taken into account."""

PEER_WORKERS, PEER_DURATIONS = (1, 8), ("exponential",)


def task(method: str, case: Case, workers: int, durations: str) -> Task:
    """The task of a run; its box or instance is the seed of the search and of the durations."""
    more = {"workers": workers, "durations": durations}
    return Task(
        "bench.parallel.runs:run",
        {"method": method, "seed": case.instance, **asdict(case), **more},
        ALL[method].rate * case.budget,
        source=source_of(method),
        group=f"{case.suite}-{method}",
    )


def ours() -> list[Task]:
    """Every number of workers with every kind of duration; one worker with constant ones only."""
    return [
        task("bamsoo", case, w, d)
        for w in WORKERS
        for d in (DURATIONS if w > 1 else ["constant"])
        for case in cases(w)
    ]


def peer_part(method: str) -> list[Task]:
    """The runs of one method on the part of the cases that peers run."""
    return [
        task(method, case, w, d)
        for case in PEER_CASES
        for w in PEER_WORKERS
        for d in PEER_DURATIONS
    ]


def peers() -> list[Task]:
    """Every run of every peer."""
    return [one for name in SEARCHES if not ALL[name].ours for one in peer_part(name)]


def run(settings: Settings, context: Settings) -> dict[str, Any]:
    """Simulate one run of a method and return what was measured."""
    method = ready(settings["method"])
    found = measured(settings, SEARCHES[method.name])
    return found | {"versions": versions(method.name, settings["suite"])}


def measured(settings: Settings, search: Callable[[Box, int], ParallelSearch]) -> dict[str, Any]:
    """Simulate one run of a search and return what was measured."""
    case = case_of(settings)
    on, seed, scale = suites.target(case), settings["seed"], typical(case)
    fun, optimum = on.exact()
    simulation = simulate(
        search(on.bounds, seed),
        fun,
        stream(settings["durations"], seed),
        settings["workers"],
        case.budget,
        optimum + TARGETS[-1] * scale,
    )
    thinking = simulation.thinking
    return {
        "reached": [reached(simulation.told, optimum, share * scale) for share in TARGETS],
        "regret": min(e.value for e in simulation.told) - optimum,
        "told": len(simulation.told),
        "utilisation": simulation.utilisation,
        "thinking": float(np.mean(thinking)),
        "slowest": max(thinking),
        "utilisation_at": [real_utilisation(settings, thinking, seconds) for seconds in SECONDS],
    }


def reached(told: Sequence[TimedEvaluation], optimum: float, regret: float) -> list[float] | None:
    """Number of values told and the time when the regret was first this small; None if never."""
    for count, evaluation in enumerate(told, 1):
        if evaluation.value - optimum <= regret:
            return [count, evaluation.end]
    return None


def real_utilisation(settings: Settings, thinking: Sequence[float], seconds: float) -> float:
    """Utilisation if evaluations take `seconds` on average and every ask takes its own time."""
    clock = stream(settings["durations"], settings["seed"])
    durations = [seconds * next(clock) for _ in thinking]
    return utilisation(with_thinking(durations, thinking, settings["workers"]), settings["workers"])


@cache
def typical(case: Case) -> float:
    """Median regret of uniform random points of the box: the scale of its targets."""
    on = suites.target(case)
    fun, optimum = on.exact()
    low, high = np.array(on.bounds).T
    rng = np.random.default_rng([case.instance, zlib.crc32(case.problem.encode())])
    values = [fun(x) for x in rng.uniform(low, high, (SAMPLE, len(low)))]
    return float(np.median(values)) - optimum
