"""What is simulated, and what a run is remembered by."""

import zlib
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache

import numpy as np

from ..jobs.task import Settings, Task
from . import suites
from .errors import require
from .methods import ALL, OURS
from .parallel import (
    DURATIONS,
    Evaluation,
    simulate,
    stream,
    utilisation,
    with_thinking,
)
from .parallel_methods import SEARCHES
from .runs import (
    Record,
    case_of,
    source,
    versions,
)
from .suites import Case, Target, target

WORKERS = (1, 2, 4, 8, 16, 64)
BOXES, INSTANCES = tuple(range(100, 106)), (1, 2, 3)
"""None of those that `bamsoo bench` reports on."""

FUNCTIONS, DIM = (1, 6, 8, 15, 20, 21), 3
"""The BBOB sample: a sphere, a kink, a valley, and three with many optima."""

BUDGET, ROUNDS = 200, 8
"""Evaluations, and for many workers at least so many for each."""

TARGETS = (1e-2, 1e-4)
"""Regret to be reached, as a share of the median regret of uniform points."""

SAMPLE = 1000
"""Uniform points of that median."""

SECONDS = (1.0, 10.0, 60.0)
"""Mean durations for which the search's own time is counted."""

PEER_BUDGET, PEER_WORKERS, PEER_DURATIONS = 60, (1, 8), ("exponential",)
PEER_CASES = (
    *(Case("paper", "branin", 2, box, PEER_BUDGET) for box in (100, 101)),
    *(Case("paper", "hartmann3", 3, box, PEER_BUDGET) for box in (100, 101)),
    *(Case("paper", "hartmann6", 6, box, PEER_BUDGET) for box in (100, 101)),
)
"""The part that slow peers run, and ours beside them."""


def budget(workers: int) -> int:
    """Evaluations of a run."""
    return max(BUDGET, ROUNDS * workers)


def cases(workers: int) -> list[Case]:
    """The paper's functions in boxes, and the BBOB sample."""
    n = budget(workers)
    return [*suites.paper(BOXES, n), *suites.bbob(DIM, INSTANCES, FUNCTIONS, n)]


class Job(Task):
    """A run to be made, as the pool of `bamsoo.experiments` takes it."""

    def run(self) -> Record:
        """Run it here and now."""
        return run(self.settings)


def job(method: str, case: Case, workers: int, durations: str) -> Job:
    """A job; box or instance are the seed of the search and of the durations."""
    settings = {"method": method, **asdict(case), "workers": workers, "durations": durations}
    if method in OURS:
        settings["source"] = source()
    return Job("parallel:run", settings, ALL[method].rate * case.budget)


def ours() -> list[Job]:
    """Every number of workers with every kind of duration."""
    return [job("bamsoo", case, w, d) for w in WORKERS for d in DURATIONS for case in cases(w)]


def beside(method: str) -> list[Job]:
    """The runs of the part that peers have, by one method."""
    return [
        job(method, case, w, d) for case in PEER_CASES for w in PEER_WORKERS for d in PEER_DURATIONS
    ]


def run(settings: Settings) -> Record:
    """Simulate one run and return its record."""
    method, case = ALL[settings["method"]], case_of(settings)
    for module in method.modules:
        require(module)
    if "torch" in method.modules:
        require("torch").set_num_threads(1)
    on, seed = target(case), case.instance
    scale = typical(case)
    simulation = simulate(
        SEARCHES[method.name](on.bounds, seed),
        on.fun,
        stream(settings["durations"], seed),
        settings["workers"],
        case.budget,
        on.optimum + TARGETS[-1] * scale,
    )
    thinking = simulation.thinking
    return {
        **settings,
        "reached": [reached(simulation.told, on, share * scale) for share in TARGETS],
        "regret": min(e.value for e in simulation.told) - on.optimum,
        "told": len(simulation.told),
        "utilisation": simulation.utilisation,
        "thinking": float(np.mean(thinking)),
        "slowest": max(thinking),
        "utilisation_at": [real_utilisation(settings, thinking, seconds) for seconds in SECONDS],
        "versions": versions(method.name),
    }


def reached(told: Sequence[Evaluation], on: Target, regret: float) -> list[float] | None:
    """Evaluations told, and the clock, when the regret was first this small; None if never."""
    for count, evaluation in enumerate(told, 1):
        if evaluation.value - on.optimum <= regret:
            return [count, evaluation.end]
    return None


def real_utilisation(settings: Settings, thinking: Sequence[float], seconds: float) -> float:
    """Utilisation if evaluations last `seconds` in the mean and every ask its own time."""
    clock = stream(settings["durations"], settings["instance"])
    durations = [seconds * next(clock) for _ in thinking]
    return utilisation(with_thinking(durations, thinking, settings["workers"]), settings["workers"])


@cache
def typical(case: Case) -> float:
    """Median regret of uniform points of the box: the scale of its targets."""
    on = target(case)
    low, high = np.array(on.bounds).T
    rng = np.random.default_rng([case.instance, zlib.crc32(case.problem.encode())])
    values = [on.fun(x) for x in rng.uniform(low, high, (SAMPLE, len(low)))]
    return float(np.median(values)) - on.optimum
