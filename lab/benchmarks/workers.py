"""The speed-up by several worker processes, and the driver's own share of the time.

`python lab/benchmarks/workers.py [EVALUATIONS]` minimises Hartmann6 with the default algorithm and
1 and 2 workers; each evaluation sleeps for 0.2 s. The clock starts when every worker has returned
its first value, so that the time to start them does not count. The driver's share is the time that
it spends in ask and tell, divided by the total time. It is given in wall-clock time and in
processor time, because on a busy machine the driver also waits for a processor.
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
    """An optimiser that measures the time it spends in ask and tell."""

    def __init__(self, workers: int) -> None:
        super().__init__(hartmann6.bounds)
        self._workers = workers
        self.began = self.ended = self.own = self.own_cpu = 0.0

    def ask(self) -> Any:  # type: ignore[override]  # `drive` asks for one trial at a time
        wall, cpu = time.perf_counter(), time.thread_time()
        trial = super().ask()
        self._add(wall, cpu)
        return trial

    def tell(self, trial: Any, value: Any = None, *rest: Any, **more: Any) -> None:
        wall, cpu = time.perf_counter(), time.thread_time()
        super().tell(trial, value, *rest, **more)
        self._add(wall, cpu)
        self.ended = time.perf_counter()
        if self.told == self._workers:
            self.began, self.own, self.own_cpu = self.ended, 0.0, 0.0

    def _add(self, wall: float, cpu: float) -> None:
        self.own += time.perf_counter() - wall
        self.own_cpu += time.thread_time() - cpu


def measure(workers: int, evaluations: int) -> tuple[float, float, float]:
    """Seconds per evaluation, and the driver's share of wall-clock time and of processor time."""
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
            f"{each[workers]:.4f} s per evaluation, the driver's own share {share:.2%} "
            f"({cpu:.2%} of a processor)"
        )
    print(f"2 workers compared with 1: {each[1] / each[2]:.3f} times as fast")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
