"""How long long runs take: processor time of the default, without that of the function.

    python lab/benchmarks/long.py [--share 1.0]

1. 10,000 evaluations in 5-D, and 2,000 in 20-D, of Rosenbrock's function.
2. Opening a study of 5,000 trials in 5-D again, which replays its search.

With a smaller `--share`, the runs are shorter by this factor.
"""

import argparse
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time

import bamsoo

from common import Array, versions


def rosenbrock(x: Array) -> float:
    return float((100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2).sum())


def took(what: str, act: Callable[[], object]) -> None:
    began = process_time()
    act()
    print(f"{what}: {process_time() - began:.1f} s of processor time", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--share", type=float, default=1.0)
    share = parser.parse_args().share
    print(versions())
    for dim, most in ((5, 10_000), (20, 2_000)):
        budget = int(share * most)
        run = partial(bamsoo.minimize, rosenbrock, [(-2.0, 3.0)] * dim, budget)
        took(f"{budget:,} evaluations in {dim}-D", run)
    with tempfile.TemporaryDirectory() as place:
        study, budget = Path(place, "run.db"), int(share * 5_000)
        bamsoo.minimize(rosenbrock, [(-2.0, 3.0)] * 5, budget, study=study)
        again = partial(bamsoo.Study.open, study)
        took(f"opening a study of {budget:,} trials again", lambda: again().close())


if __name__ == "__main__":
    main()
