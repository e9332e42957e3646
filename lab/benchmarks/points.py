"""A digest of the points that every algorithm asks for, to compare two versions of the code.

    python lab/benchmarks/points.py > before.json     # with the old code
    python lab/benchmarks/points.py before.json       # with the new code: prints the differences

The digests are of all bits of the points, so they can only be compared on the same machine.
"""

import json
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

import bamsoo
from bamsoo import (
    Choice,
    Int,
    Real,
    problems,
)
from bamsoo.algorithms import resolve

BBOB = (1, 3, 6, 7, 8, 10, 13, 15, 17, 20, 21, 23)
BUDGETS = {
    "auto": 100,
    "bamsoo": 100,
    "soo": 200,
    "doo": 200,
    "gp-ucb": 20,
    "shrinking": 60,
    "random": 50,
}
MIXED = {
    "rate": Real(1e-4, 1.0, log=True),
    "size": Int(1, 64, log=True),
    "count": Int(0, 10),
    "kind": Choice(["a", "b", "c"]),
}


def mixed(rate: float, size: int, count: int, kind: str) -> float:
    return float(
        np.log10(rate) ** 2 + abs(np.log2(size) - 3) + (count - 4) ** 2 + "bca".index(kind)
    )


def cases() -> dict[str, tuple[Callable[..., float], Any, float | str | None]]:
    """For each name, a function, its space and its noise."""
    import ioh

    found: dict[str, tuple[Callable[..., float], Any, float | str | None]] = {}
    for problem in problems.PAPER:
        found[problem.name] = problem, problem.bounds, None
    for number in BBOB:
        for dim in (2, 5):
            function = ioh.get_problem(number, 1, dim, ioh.ProblemClass.BBOB)
            found[f"f{number}-{dim}d"] = function, [(-5.0, 5.0)] * dim, None
    found["mixed"] = mixed, MIXED, None
    found["branin-noisy"] = problems.branin, problems.branin.bounds, "learn"
    return found


def asked(algorithm: str, fun: Callable[..., float], space: Any, noise: Any, out: int) -> str:
    """The digest of a run with `out` pending trials at a time, told in reverse order."""
    if noise is not None and algorithm not in ("auto", "bamsoo", "gp-ucb"):
        return "no noise"
    if noise == "learn" and algorithm != "auto":
        noise = 0.01
    try:
        search = bamsoo.Optimizer(space, algorithm=resolve(algorithm, noise))
    except bamsoo.errors.SettingsError:
        return "refused"
    digest, told = sha256(), 0
    while told < BUDGETS[algorithm]:
        trials: list[bamsoo.Trial] = []
        try:
            trials.extend(search.ask() for _ in range(out))
        except bamsoo.errors.ExhaustedError:
            if not trials:
                break
        for trial in reversed(trials):
            digest.update(np.ascontiguousarray(trial.x).tobytes())
            value = fun(**trial.params) if isinstance(space, dict) else fun(trial.x)
            search.tell(trial, float(value))
            told += 1
    return digest.hexdigest()[:16]


def main() -> None:
    found = {
        f"{algorithm} {name} {out}": asked(algorithm, fun, space, noise, out)
        for algorithm in BUDGETS
        for name, (fun, space, noise) in cases().items()
        for out in (1, 3)
    }
    if len(sys.argv) == 1:
        json.dump(found, sys.stdout, indent=1)
        return
    before = json.loads(Path(sys.argv[1]).read_text())
    differ = sorted(
        key for key in before.keys() | found.keys() if before.get(key) != found.get(key)
    )
    print(f"{len(found) - len(differ)} of {len(found)} runs ask for exactly the same points")
    for key in differ:
        print("differs:", key)
    sys.exit(bool(differ))


if __name__ == "__main__":
    main()
