"""The speed-up by several worker processes, and the driver's own share of the time.

`python lab/benchmarks/workers.py` minimises Hartmann6 with the default algorithm and 1 and 2
workers; each evaluation sleeps for 0.2 s. `--docs PAGE` writes the table to a page. The clock
starts when every worker has returned its first value, so that the time to start them does not
count. The driver's share is the time that it spends in ask and tell, divided by the total time. It
is given in wall-clock time and in processor time, because on a busy machine the driver also waits
for a processor.
"""

import argparse
import time
from pathlib import Path
from typing import Any

from bamsoo import Optimizer
from bamsoo.problems import hartmann6
from bamsoo.run.loop import Rules, drive
from bamsoo_lab.bench import docs
from bamsoo_lab.bench.tables import Table

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

    def ask_within(self, *known: Any) -> Any:  # which `drive` calls
        wall, cpu = time.perf_counter(), time.thread_time()
        trial = super().ask_within(*known)
        self._add(wall, cpu)
        return trial

    def tell_checked(self, trial: Any, event: Any) -> None:
        wall, cpu = time.perf_counter(), time.thread_time()
        super().tell_checked(trial, event)
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


def main(evaluations: int, page: Path | None) -> None:
    rows, each = [], {}
    for workers in (1, 2):
        each[workers], share, cpu = measure(workers, evaluations)
        rows.append([f"{workers}", f"{each[workers]:.3f}", f"{share:.1%}", f"{cpu:.1%}"])
    found = Table(
        "two-workers",
        f"Hartmann6, {evaluations} evaluations of {SECONDS} s",
        [
            "workers",
            "seconds per evaluation",
            "share of the time in which the driver computed",
            "share of one processor it used",
        ],
        rows,
        f"Two workers are {each[1] / each[2]:.2f} times as fast as one.",
    )
    print(found.markdown())
    if page is not None:
        made = docs.written("python lab/benchmarks/workers.py")
        docs.rewrite(page, found.name, f"{made}\n\n{found.markdown()}", [])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--evaluations", type=int, default=60)
    parser.add_argument("--docs", type=Path)
    given = parser.parse_args()
    main(given.evaluations, given.docs)
