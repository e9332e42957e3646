"""Many workers on a virtual clock: a search is asked whenever a worker is free.

The durations of evaluations come from a seeded stream, in the order of the asks. So simulating 64
workers takes no longer than simulating one, and a run can be repeated exactly.
"""

import heapq
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any, NamedTuple, Protocol

import numpy as np

from bamsoo.base.typing import Array
from bamsoo.errors import ExhaustedError

PARETO = 1.5
"""Shape of the heavy tail: the mean is finite, the variance infinite."""

DURATIONS: dict[str, Callable[[np.random.Generator], float]] = {
    "constant": lambda rng: 1.0,
    "exponential": lambda rng: float(rng.exponential()),
    "heavy-tailed": lambda rng: float((1.0 + rng.pareto(PARETO)) * (PARETO - 1.0) / PARETO),
}
"""The duration of an evaluation, by name; the mean is 1, the unit of the clock."""


def stream(name: str, seed: int) -> Iterator[float]:
    """An endless stream of durations, the same for the same name and seed."""
    rng, draw = np.random.default_rng([seed, zlib.crc32(name.encode())]), DURATIONS[name]
    while True:
        yield draw(rng)


class Handed(NamedTuple):
    """A point to evaluate, and the token by which `tell` recognises it."""

    token: Any
    x: Array


class ParallelSearch(Protocol):
    """What the simulator drives: several points may be pending, and values come in any order."""

    def ask(self) -> Handed: ...

    def tell(self, token: Any, value: float) -> None: ...


class TimedEvaluation(NamedTuple):
    """One evaluation on the clock; `thinking` is the processor time that the search took to ask."""

    begin: float
    end: float
    value: float
    thinking: float


@dataclass(frozen=True)
class Simulation:
    """A run.

    Parameters
    ----------
    workers : int
    told : sequence of TimedEvaluation
        In the order of their ends.
    out : sequence of TimedEvaluation
        Evaluations that were still pending when the goal was reached.
    """

    workers: int
    told: Sequence[TimedEvaluation]
    out: Sequence[TimedEvaluation]

    @property
    def utilisation(self) -> float:
        """Share of the workers' time until the last ask in which they were busy."""
        return utilisation([(e.begin, e.end) for e in (*self.told, *self.out)], self.workers)

    @property
    def thinking(self) -> list[float]:
        """Processor seconds of every ask, with the tells before it, in the order of asks."""
        return [e.thinking for e in sorted((*self.told, *self.out), key=lambda e: e.begin)]


def simulate(
    search: ParallelSearch,
    fun: Callable[[Array], float],
    durations: Iterator[float],
    workers: int,
    budget: int,
    goal: float = -np.inf,
) -> Simulation:
    """Run until `budget` evaluations have ended or a value is at most `goal`.

    The search itself takes no time on this clock. Values that arrive at the same moment are all
    told before it is asked again, so with constant durations it works in rounds.
    """
    clock, asked, thinking, exhausted = 0.0, 0, 0.0, False
    out: list[tuple[float, int, Any, TimedEvaluation]] = []
    told: list[TimedEvaluation] = []
    while True:
        while len(out) < workers and asked < budget and not exhausted:
            began = process_time()
            try:
                token, x = search.ask()
            except ExhaustedError:
                exhausted = True
                break
            thinking += process_time() - began
            end = clock + next(durations)
            heapq.heappush(
                out, (end, asked, token, TimedEvaluation(clock, end, float(fun(x)), thinking))
            )
            asked, thinking = asked + 1, 0.0
        if not out or (told and min(e.value for e in told) <= goal):
            return Simulation(workers, told, [entry[-1] for entry in sorted(out)])
        clock = out[0][0]
        while out and out[0][0] == clock:
            _, _, token, evaluation = heapq.heappop(out)
            began = process_time()
            search.tell(token, evaluation.value)
            thinking += process_time() - began
            told.append(evaluation)


def utilisation(spans: Sequence[tuple[float, float]], workers: int) -> float:
    """Busy time until the last start, divided by `workers` times the time until then."""
    last = max(begin for begin, _ in spans)
    busy = sum(min(end, last) - begin for begin, end in spans)
    return busy / (workers * last) if last > 0.0 else 1.0


def with_thinking(
    durations: Sequence[float], thinking: Sequence[float], workers: int
) -> list[tuple[float, float]]:
    """Starts and ends if the driver makes one ask at a time and needs time for each."""
    free = [0.0] * workers
    driver, spans = 0.0, []
    for duration, seconds in zip(durations, thinking, strict=True):
        driver = max(driver, heapq.heappop(free)) + seconds
        spans.append((driver, driver + duration))
        heapq.heappush(free, driver + duration)
    return spans
