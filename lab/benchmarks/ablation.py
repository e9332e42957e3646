"""The default algorithm with its parts switched off, one at a time.

For the paper's functions, the median log10 regret after 50 and 100 evaluations is printed. Their
boxes are cut at random around an optimum, so that no centre of a cell falls on it; the boxes have
numbers from 100 on, because boxes 0 to 9 are used in the report. For the 24 functions of BBOB, on
instances for development, the area under the curve is printed.

With `--mixed`, options with parameters of their own and constraints take their place, on problems
for development alone (`bamsoo_lab.bench.develop`). For each problem with options, the number of
runs that come within 1e-3 of the optimum is printed, after 40 and 60 evaluations; for each design,
the gap to the optimum after 100 evaluations in percent, as the median over seeds.

    OPENBLAS_NUM_THREADS=1 python lab/benchmarks/ablation.py [--boxes 10] [--only "no warp" ...]
    OPENBLAS_NUM_THREADS=1 python lab/benchmarks/ablation.py --mixed [--runs 5] [--only ...]
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
from bamsoo_lab.bench.case import Case, Target
from bamsoo_lab.bench.develop import BRANCHES, DESIGNS
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
    "no steps along axes": other("axes", active=False),
    "close climb alone": other("climb", wide=0.0),
    "wide climb alone": other("climb", close=0),
    "no trust region": other("climb", narrowest=1.0),
    "no slanted frame": other("local", skewed=0.0),
    "no quadratic trend": other("local", trends=(0.0,)),
    "no plane or round bowl": other("local", bowl=0.0),
    "no logarithms": other("local", bend=None),
    "one step per evaluation": other("schedule", usual=1),
    "no candidates": other("schedule", candidates=False),
    "no demand": other("demand", free=10**9),
    "no probes": other("climb", probe=0.0),
    "no repeated point": other("schedule", doubts=False),
    "no warp": bamsoo.algorithms.Auto(warp=False),
    "no calibration": other("prior", widest=1.0),
    "whole B_N": bamsoo.algorithms.Auto(width=1.0),
    "k = 3": bamsoo.algorithms.Auto(k=3),
    "patience 30": bamsoo.algorithms.Auto(patience=30),
}


MIXED: dict[str, bamsoo.algorithms.Auto] = {
    "default": bamsoo.algorithms.Auto(),
    "no climbs": other("climb", close=0, wide=0.0),
    "no candidates": other("schedule", candidates=False),
    "no demand": other("demand", free=10**9),
    "options share equally": other("schedule", falling=1.0),
    "the most promising option alone": other("schedule", falling=0.0),
    "no margins": other("climb", margins=(1e-9, 1e-9)),
    "no larger design": other("loop", design=-(10**9)),
    "whole bounds": other("loop", mixed_width=1.0),
    "neighbours along 4 axes": other("candidates", axes=4.0),
}
"""The same for options and constraints."""


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


def feasible_gaps(goal: Target, algorithm: bamsoo.algorithms.Auto, budget: int, seed: int) -> Array:
    """How far the best feasible value so far is above the optimum, after each evaluation."""
    assert goal.optimum is not None
    r = bamsoo.minimize(
        goal.fun, goal.space, budget, algorithm=algorithm, constraints=goal.constraints, seed=seed
    )
    values = r.F if not goal.constraints else np.where(r.feasible, r.F, inf)
    gaps: Array = np.fmin.accumulate(values) - goal.optimum
    return gaps


def mixed_row(algorithm: bamsoo.algorithms.Auto, runs: int) -> list[str]:
    """The cells of one variant's row in the table of options and constraints."""
    cells, began = [], process_time()
    for branch in BRANCHES.values():
        gaps = [feasible_gaps(branch(i), algorithm, 60, i) for i in range(1, 1 + runs)]
        close = (np.array(gaps)[:, [39, 59]] < 1e-3).sum(0)
        cells.append(f"{close[0]} / {close[1]}")
    for goal in DESIGNS.values():
        ends = [feasible_gaps(goal, algorithm, 100, i)[-1] for i in range(1, 1 + runs)]
        assert goal.optimum is not None
        cells.append(f"{100.0 * float(np.median(ends)) / abs(goal.optimum):.2g}")
    return [*cells, f"{process_time() - began:.0f}"]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--boxes", type=int, default=10)
    parser.add_argument("--mixed", action="store_true")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", nargs="+")
    chosen = parser.parse_args()
    variants = MIXED if chosen.mixed else VARIANTS
    if unknown := [name for name in chosen.only or () if name not in variants]:
        parser.error(f"{unknown[0]!r} is not in this table; expected some of {list(variants)}")
    print(versions())
    if chosen.mixed:
        heads = [*BRANCHES, *DESIGNS, "seconds in all"]
    else:
        heads = [*paper.NAMES, *(f"BBOB {dim}-D" for dim in BBOB), "seconds"]
    print("| | " + " | ".join(heads) + " |")
    print("|---" * (len(heads) + 1) + "|")
    for name in chosen.only or variants:
        auto = variants[name]
        cells = mixed_row(auto, chosen.runs) if chosen.mixed else row(auto, chosen.boxes)
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
