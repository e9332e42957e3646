"""The default with its parts switched off, one at a time.

On the paper's functions, in boxes cut at random around an optimum so that no centre falls on
it (boxes 100 and up; those of the report are 0 to 9): the median log10 regret after 50 and 100
evaluations. On BBOB's 24 functions, instances for development: the area under the curve.

    OPENBLAS_NUM_THREADS=1 python benchmarks/ablation.py [--boxes 10] [--only "no warp" ...]
"""

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import process_time
from typing import Any

import numpy as np

import bamsoo
from bamsoo._typing import Array
from bamsoo.algorithms.auto import local
from bamsoo.algorithms.auto import loop as auto
from bamsoo.lab.bench.score import auc
from bamsoo.lab.bench.suites import (
    PAPER,
    Case,
    bbob,
    paper,
    target,
)

from common import versions

BBOB = {2: (1, 2, 3), 5: (1, 2), 10: (1,)}
"""Dimension -> instances."""

Count = Callable[[local.Local, bool, local.View], None]


def staying_with(view: int) -> Count:
    """`Local.count`, but with one view for ever."""

    def count(model: local.Local, better: bool, of: local.View) -> None:
        model._in_vain = 0 if better else model._in_vain + 1
        of.judge(better)
        model.view = model._views[view]

    return count


def plainly(model: local.Local, view: local.View, offsets: Array, f: Array) -> Array:
    """`Local._unbent`, but never by logarithms."""
    return local.standardised(f)[0]


VARIANTS: dict[str, tuple[bamsoo.Auto, dict[str, Any]]] = {
    "default": (bamsoo.Auto(), {}),
    "no local model": (bamsoo.Auto(local=False), {}),
    "close view alone": (bamsoo.Auto(), {"local.Local.count": staying_with(0)}),
    "wide view alone": (bamsoo.Auto(), {"local.Local.count": staying_with(1)}),
    "no trust region": (bamsoo.Auto(), {"local._NARROWEST": 1.0}),
    "no slanted frame": (bamsoo.Auto(), {"local._SKEWED": 0.0}),
    "no quadratic trend": (bamsoo.Auto(), {"local._TRENDS": (0.0,)}),
    "no logarithms": (bamsoo.Auto(), {"local.Local._unbent": plainly}),
    "one step an evaluation": (bamsoo.Auto(), {"local._AFTER_BETTER": 1, "local._ELSE": (1, 1)}),
    "no probes": (bamsoo.Auto(), {"auto.probe": lambda *_: None}),
    "no warp": (bamsoo.Auto(warp=False), {}),
    "no calibration": (bamsoo.Auto(), {"auto.leave_one_out_ratio": lambda *_: 1.0}),
    "whole B_N": (bamsoo.Auto(width=1.0), {}),
    "k = 3": (bamsoo.Auto(k=3), {}),
    "patience 30": (bamsoo.Auto(patience=30), {}),
}
"""Name -> settings, and constants to change while it runs."""


@contextmanager
def changed(constants: dict[str, Any]) -> Iterator[None]:
    """Set constants of the default's modules for a while."""
    modules = {"auto": auto, "local": local, "local.Local": local.Local}
    keys = [key.rpartition(".") for key in constants]
    places = [(modules[module], name) for module, _, name in keys]
    before = [getattr(module, name) for module, name in places]
    try:
        for (module, name), value in zip(places, constants.values(), strict=True):
            setattr(module, name, value)
        yield
    finally:
        for (module, name), value in zip(places, before, strict=True):
            setattr(module, name, value)


def regrets(case: Case, algorithm: bamsoo.Auto) -> Array:
    """Best regret so far in one run."""
    goal = target(case)
    r = bamsoo.minimize(goal.fun, goal.bounds, case.budget, algorithm=algorithm)
    best: Array = np.fmin.accumulate(r.F) - goal.optimum
    return best


def row(algorithm: bamsoo.Auto, boxes: int) -> list[str]:
    """The cells of one variant."""
    cells, began = [], process_time()
    cases = paper(range(100, 100 + boxes))
    for name in PAPER:
        runs = [regrets(case, algorithm)[[49, 99]] for case in cases if case.problem == name]
        at_50, at_100 = np.median(np.log10(np.maximum(runs, 1e-16)), axis=0)
        cells.append(f"{at_50:.1f} / {at_100:.1f}")
    seconds = (process_time() - began) / len(cases)
    for dim, instances in BBOB.items():
        areas = [auc(regrets(case, algorithm)) for case in bbob(dim, instances)]
        cells.append(f"{np.mean(areas):.3f}")
    return [*cells, f"{seconds:.2f}"]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--boxes", type=int, default=10)
    parser.add_argument("--only", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    chosen = parser.parse_args()
    print(versions())
    heads = [*PAPER, *(f"BBOB {dim}-D" for dim in BBOB), "seconds"]
    print("| | " + " | ".join(heads) + " |")
    print("|---" * (len(heads) + 1) + "|")
    for name in chosen.only:
        algorithm, constants = VARIANTS[name]
        with changed(constants):
            print(f"| {name} | " + " | ".join(row(algorithm, chosen.boxes)) + " |", flush=True)


if __name__ == "__main__":
    main()
