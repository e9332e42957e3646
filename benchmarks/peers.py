"""The default beside other optimisers on the paper's functions, usual boxes.

Peers' runs are read from benchmarks/data; ours are made now. A cell holds the median over
seeds of log10 of the regret after 50 and after 100 evaluations.

    OPENBLAS_NUM_THREADS=1 python benchmarks/peers.py
"""

import gzip
import json
from collections import defaultdict
from pathlib import Path
from time import perf_counter

import numpy as np

import bamsoo

from common import FIVE, Array, versions

DATA = Path(__file__).parent / "data" / "paper-functions.jsonl.gz"
SHORT = {"branin": "branin", "rosenbrock": "rosen", "hartmann3": "h3", "hartmann6": "h6"}


def log_regret(best: Array) -> tuple[float, float]:
    log = np.log10(np.maximum(best, 1e-16))
    return float(np.median(log[:, 49])), float(np.median(log[:, 99]))


def cells(row: list[tuple[float, float]]) -> str:
    return "".join(f"{f'{a:.1f} / {b:.1f}':>15}" for a, b in row)


def main() -> None:
    print(versions())
    print(f"{'':12}" + "".join(f"{p.name:>15}" for p in FIVE) + f"{'seconds a run':>16}")
    runs = defaultdict(list)
    seconds = defaultdict(list)
    with gzip.open(DATA, "rt") as lines:
        for line in lines:
            run = json.loads(line)
            runs[run["peer"], run["fn"]].append(run["trace"][:100])
            seconds[run["peer"]].append(run["seconds"] * 100 / run["n"])
    for peer in ("botorch", "optuna", "smac", "skopt", "tpe", "cma", "direct", "random"):
        row = []
        for problem in FIVE:
            trace = np.array(runs[peer, SHORT.get(problem.name, problem.name)])
            row.append(log_regret(-problem.optimum - trace))
        print(f"{peer:12}{cells(row)}{np.median(seconds[peer]):16.2f}")
    for name in ("auto", "soo"):
        row, took = [], []
        for problem in FIVE:
            began = perf_counter()
            r = bamsoo.minimize(problem, problem.bounds, 100, algorithm=name)
            took.append(perf_counter() - began)
            row.append(log_regret(np.minimum.accumulate(r.F)[None] - problem.optimum))
        print(f"{'bamsoo ' + name:12}{cells(row)}{np.median(took):16.2f}")


if __name__ == "__main__":
    main()
