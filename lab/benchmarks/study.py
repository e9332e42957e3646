"""The cost of a study: time per ask and tell on a disk, time to open and replay it, file size.

    python lab/benchmarks/study.py [DIRECTORY ON THE DISK TO MEASURE]

Only the first part uses the disk. The other parts measure reading and replay, so they write to
memory, where fsync takes no time.
"""

import sys
import tempfile
from contextlib import closing
from pathlib import Path
from time import perf_counter

import bamsoo
from bamsoo import problems
from bamsoo.algorithms import Algorithm

from common import fitted_prior, versions

MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None


def fill(path: Path, problem: problems.Problem, algorithm: Algorithm, n: int) -> tuple[float, ...]:
    """Run n trials; return the seconds spent in ask, in tell, and in a run without a study."""
    asking = telling = 0.0
    space = {f"x{i}": pair for i, pair in enumerate(problem.bounds)}
    with closing(bamsoo.Study.open(path, space=space, algorithm=algorithm)) as study:
        for _ in range(n):
            began = perf_counter()
            trial = study.ask()
            asked = perf_counter()
            value = problem(trial.x)
            valued = perf_counter()
            study.tell(trial, value)
            asking += asked - began
            telling += perf_counter() - valued
    began = perf_counter()
    bamsoo.minimize(problem, problem.bounds, n, algorithm=algorithm)
    return asking, telling, perf_counter() - began


def on_disk(place: str | None, n: int = 300) -> None:
    with tempfile.TemporaryDirectory(dir=place) as directory:
        asking, telling, _ = fill(
            Path(directory) / "run.db", problems.branin, bamsoo.algorithms.SOO(), n
        )
        print(f"\nOn the disk of {directory}, {n} trials: milliseconds per call, including fsync")
        print(f"ask {1e3 * asking / n:.2f}, tell {1e3 * telling / n:.2f}")


def opening() -> None:
    print("\nIn memory: seconds to open, microseconds per ask and per tell, file size")
    print(
        f"{'':22}{'trials':>7}{'read-only':>10}{'replay':>8}{'bare run':>9}"
        f"{'ask':>9}{'tell':>6}{'MB':>6}{'bytes/trial':>15}"
    )
    kernel, mean = fitted_prior(problems.hartmann6)
    runs: list[tuple[str, problems.Problem, Algorithm, int]] = [
        ("SOO, Branin", problems.branin, bamsoo.algorithms.SOO(), 10_000),
        ("SOO, Hartmann6", problems.hartmann6, bamsoo.algorithms.SOO(), 10_000),
        ("random, Hartmann6", problems.hartmann6, bamsoo.algorithms.Random(), 10_000),
        ("BaMSOO, Hartmann6", problems.hartmann6, bamsoo.algorithms.BaMSOO(kernel, mean), 1000),
        ("Auto, Hartmann6", problems.hartmann6, bamsoo.algorithms.Auto(), 100),
        ("Auto, Hartmann6", problems.hartmann6, bamsoo.algorithms.Auto(), 500),
    ]
    for name, problem, algorithm, n in runs:
        with tempfile.TemporaryDirectory(dir=MEMORY) as directory:
            path = Path(directory) / "run.db"
            asking, telling, bare = fill(path, problem, algorithm, n)
            size = path.stat().st_size
            began = perf_counter()
            with bamsoo.Study.open(path, readonly=True) as study:
                assert study.result.nfev == n
            reading = perf_counter() - began
            began = perf_counter()
            bamsoo.Study.open(path).close()
            replaying = perf_counter() - began
            print(
                f"{name:22}{n:7}{reading:10.2f}{replaying:8.2f}{bare:9.2f}"
                f"{1e6 * asking / n:9.0f}{1e6 * telling / n:6.0f}{size / 1e6:6.1f}{size / n:15.0f}",
                flush=True,
            )


if __name__ == "__main__":
    print(versions())
    on_disk(sys.argv[1] if len(sys.argv) > 1 else None)
    opening()
