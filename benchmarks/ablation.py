"""The default with its parts switched off, one at a time, on the paper's functions.

The boxes are cut at random around an optimum, up to 30 % off each side, so that no centre
falls on it. A cell holds the median log10 regret after 50 and 100 evaluations.

    OPENBLAS_NUM_THREADS=1 python benchmarks/ablation.py [boxes]
"""

import sys
from time import perf_counter

import numpy as np

import bamsoo
from bamsoo import problems

from common import FIVE, versions

VARIANTS = {
    "default": bamsoo.Auto(),
    "no local model": bamsoo.Auto(local=False),
    "no warp": bamsoo.Auto(warp=False),
    "whole B_N": bamsoo.Auto(width=1.0),
    "k = 2": bamsoo.Auto(k=2),
    "neither warp nor local model": bamsoo.Auto(warp=False, local=False),
}


def random_box(problem: problems.Problem, seed: int) -> list[tuple[float, float]]:
    rng = np.random.default_rng([seed, 20261115])
    optimum = problem.optimizers[rng.integers(len(problem.optimizers))]
    cut = rng.uniform(0.0, 0.3, (problem.dim, 2))
    return [
        (low + a * (x - low), high - b * (high - x))
        for (low, high), x, (a, b) in zip(problem.bounds, optimum, cut, strict=True)
    ]


def main(boxes: int = 10) -> None:
    print(versions())
    print(f"{boxes} boxes")
    print("| | " + " | ".join(p.name for p in FIVE) + " | seconds a run |")
    print("|---" * (len(FIVE) + 2) + "|")
    for name, algorithm in VARIANTS.items():
        row, took = [], []
        for problem in FIVE:
            logs = []
            for seed in range(boxes):
                began = perf_counter()
                r = bamsoo.minimize(problem, random_box(problem, seed), 100, algorithm=algorithm)
                took.append(perf_counter() - began)
                best = np.minimum.accumulate(r.F) - problem.optimum
                logs.append(np.log10(np.maximum(best[[49, 99]], 1e-16)))
            at_50, at_100 = np.median(logs, axis=0)
            row.append(f"{at_50:.1f} / {at_100:.1f}")
        print(f"| {name} | " + " | ".join(row) + f" | {np.median(took):.2f} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
