"""The default algorithm with its parts switched off, one at a time.

For the paper's functions, the median log10 regret after 50 and 100 evaluations is printed. Their
boxes are cut at random around an optimum, so that no centre of a cell falls on it; the boxes have
numbers from 100 on, because boxes 0 to 9 are used in the report. For the 24 functions of BBOB, on
instances for development, the area under the curve is printed.

    OPENBLAS_NUM_THREADS=1 python lab/benchmarks/ablation.py [--boxes 10] [--only "no warp" ...]
"""

import argparse
from dataclasses import replace
from math import inf
from time import process_time
from typing import Any

import numpy as np

import bamsoo
from bamsoo._typing import Array
from bamsoo.algorithms.auto.loop import CONSTANTS
from bamsoo_lab.bench.case import Case
from bamsoo_lab.bench.score import auc
from bamsoo_lab.bench.suites import bbob, paper, target

from common import versions

BBOB = {2: (1, 2, 3), 5: (1, 2), 10: (1,)}
"""Instances by dimension."""


def other(part: str, **changes: Any) -> bamsoo.algorithms.Auto:
    """The default with other constants of one part."""
    constants = replace(getattr(CONSTANTS, part), **changes)
    return bamsoo.algorithms.Auto(constants=replace(CONSTANTS, **{part: constants}))


VARIANTS: dict[str, bamsoo.algorithms.Auto] = {
    "default": bamsoo.algorithms.Auto(),
    "no steps": bamsoo.algorithms.Auto(local=False),
    "close climb alone": other("climb", wide=0.0),
    "wide climb alone": other("climb", close=0),
    "no trust region": other("climb", narrowest=1.0),
    "no slanted frame": other("local", skewed=0.0),
    "no quadratic trend": other("local", trends=(0.0,)),
    "no logarithms": other("local", bend=None),
    "one step per evaluation": other("schedule", after_better=1, otherwise=(1, 1)),
    "no candidates": other("schedule", patient=inf),
    "no demand": other("demand", free=10**9),
    "no probes": other("climb", probe=0.0),
    "no warp": bamsoo.algorithms.Auto(warp=False),
    "no calibration": other("prior", widest=1.0),
    "whole B_N": bamsoo.algorithms.Auto(width=1.0),
    "k = 3": bamsoo.algorithms.Auto(k=3),
    "patience 30": bamsoo.algorithms.Auto(patience=30),
}


def regrets(case: Case, algorithm: bamsoo.algorithms.Auto) -> Array:
    """The best regret so far after each evaluation of one run."""
    goal = target(case)
    fun, optimum = goal.exact()
    r = bamsoo.minimize(fun, goal.space, case.budget, algorithm=algorithm)
    best: Array = np.fmin.accumulate(r.F) - optimum
    return best


def row(algorithm: bamsoo.algorithms.Auto, boxes: int) -> list[str]:
    """The cells of one variant's row in the table."""
    cells, began = [], process_time()
    cases = paper.cases(range(100, 100 + boxes))
    for name in paper.NAMES:
        runs = [regrets(case, algorithm)[[49, 99]] for case in cases if case.problem == name]
        at_50, at_100 = np.median(np.log10(np.maximum(runs, 1e-16)), axis=0)
        cells.append(f"{at_50:.1f} / {at_100:.1f}")
    seconds = (process_time() - began) / len(cases)
    for dim, instances in BBOB.items():
        areas = [auc(regrets(case, algorithm)) for case in bbob.cases(dim, instances)]
        cells.append(f"{np.mean(areas):.3f}")
    return [*cells, f"{seconds:.2f}"]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--boxes", type=int, default=10)
    parser.add_argument("--only", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    chosen = parser.parse_args()
    print(versions())
    heads = [*paper.NAMES, *(f"BBOB {dim}-D" for dim in BBOB), "seconds"]
    print("| | " + " | ".join(heads) + " |")
    print("|---" * (len(heads) + 1) + "|")
    for name in chosen.only:
        cells = row(VARIANTS[name], chosen.boxes)
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
