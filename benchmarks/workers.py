"""Real processes: what several workers gain, and the driver's own share of the time.

`python benchmarks/workers.py [EVALUATIONS]`: a 0.2 s objective (it sleeps), Hartmann6, the default
algorithm, 1 and 2 workers. The clock starts when every worker has told its first value, so that
starting them is left out. The driver's share is the time in which it asks and tells over the
whole, by the clock and by the processor: on a busy machine it waits for the processor too.
"""

import sys
import time
from typing import Any

from bamsoo import Optimizer
from bamsoo.problems import hartmann6
from bamsoo.run.loop import Rules, drive

SECONDS = 0.2


def slow(x: Any) -> float:
    time.sleep(SECONDS)
    return hartmann6(x)


class TimedOptimizer(Optimizer):
    """An optimiser that adds up the time it takes."""

    def __init__(self, workers: int) -> None:
        super().__init__(hartmann6.bounds)
        self._workers = workers
        self.began = self.ended = self.own = self.own_cpu = 0.0

    def ask(self) -> Any:  # type: ignore[override]  # one at a time is all that `drive` asks for
        wall, cpu = time.perf_counter(), time.thread_time()
        trial = super().ask()
        self._add(wall, cpu)
        return trial

    def tell(
        self,
        trial: Any,
        value: Any,
        error: str | None = None,
        constraints: Any = None,
        *,
        variance: Any = None,
    ) -> None:
        wall, cpu = time.perf_counter(), time.thread_time()
        super().tell(trial, value, error, constraints, variance=variance)
        self._add(wall, cpu)
        self.ended = time.perf_counter()
        if self.told == self._workers:
            self.began, self.own, self.own_cpu = self.ended, 0.0, 0.0

    def _add(self, wall: float, cpu: float) -> None:
        self.own += time.perf_counter() - wall
        self.own_cpu += time.thread_time() - cpu


def measure(workers: int, evaluations: int) -> tuple[float, float, float]:
    """Seconds an evaluation, and the driver's share by the clock and by the processor."""
    search = TimedOptimizer(workers)
    drive(search, slow, Rules(evaluations), workers)
    took = search.ended - search.began
    return took / (evaluations - workers), search.own / took, search.own_cpu / took


def main(evaluations: int) -> None:
    each = {}
    for workers in (1, 2):
        each[workers], share, cpu = measure(workers, evaluations)
        print(
            f"{workers} worker(s), {evaluations} evaluations of {SECONDS} s: "
            f"{each[workers]:.4f} s an evaluation, the driver's own share {share:.2%} "
            f"({cpu:.2%} of a processor)"
        )
    print(f"2 workers against 1: {each[1] / each[2]:.3f} times as fast")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
