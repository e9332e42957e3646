"""How long the default thinks about each evaluation if constraints are measured.

The problems have 20 parameters and 5 measured constraints, with real numbers alone and with six
whole numbers. Processor time between evaluations is printed, in milliseconds per evaluation. The
same problem of real numbers is solved by scipy's COBYQA in the same run, because a time says little
without one to compare it with.

    OPENBLAS_NUM_THREADS=1 python lab/benchmarks/thinking.py [--budget 200] [--seeds 1]
"""

import argparse
from collections.abc import Callable
from time import process_time

import numpy as np
from scipy.optimize import minimize

import bamsoo
from bamsoo import Int, Real
from bamsoo.base.typing import Array

from common import versions

DIM, COUNT, WHOLE, STEPS = 20, 5, 6, 20
NAMES = [f"c{j}" for j in range(COUNT)]

Function = Callable[[Array], tuple[float, Array]]


def problem(seed: int) -> Function:
    """A rough bowl on the unit cube with constraints that cut off a part of it."""
    rng = np.random.default_rng(seed)
    centre, A = rng.random(DIM), rng.standard_normal((COUNT, DIM))
    weights = np.linspace(1.0, 5.0, DIM)

    def function(x: Array) -> tuple[float, Array]:
        value = float((x - centre) ** 2 @ weights + 0.3 * np.sin(5.0 * x).sum())
        return value, A @ (x - centre) + 0.1 * np.sin(3.0 * x).sum() - 0.3

    return function


def ours(function: Function, whole: int, budget: int, seed: int) -> tuple[Array, float]:
    """The processor time before each evaluation, and the best feasible value."""
    scales = np.ones(DIM)
    scales[DIM - whole :] = STEPS
    space = {f"x{i}": Int(0, STEPS) if scales[i] > 1.0 else Real(0.0, 1.0) for i in range(DIM)}
    search, spent = bamsoo.Optimizer(space, constraints=NAMES, seed=seed), np.empty(budget)
    for i in range(budget):
        began = process_time()
        trial = search.ask()
        spent[i] = process_time() - began
        value, measured = function(trial.x / scales)
        search.tell(trial, value, constraints=dict(zip(NAMES, measured.tolist(), strict=True)))
    result = search.result
    return spent, float(result.fun) if result.success else np.inf


def cobyqa(function: Function, budget: int) -> tuple[Array, float]:
    """The same for COBYQA, which starts again until the budget is spent."""
    rng = np.random.default_rng(0)
    spent: list[float] = []
    best = [np.inf]
    known: dict[bytes, tuple[float, Array]] = {}
    last = process_time()

    def evaluate(x: Array) -> tuple[float, Array]:
        nonlocal last
        key = x.tobytes()
        if key not in known:
            if len(spent) == budget:
                raise StopIteration
            spent.append(process_time() - last)
            known[key] = value, measured = function(x)
            if (measured <= 0.0).all():
                best.append(value)
            last = process_time()
        return known[key]

    start = np.full(DIM, 0.5)
    try:
        while True:
            minimize(
                lambda x: evaluate(x)[0],
                start,
                bounds=[(0.0, 1.0)] * DIM,
                constraints={"type": "ineq", "fun": lambda x: -evaluate(x)[1]},
                method="COBYQA",
            )
            start = rng.random(DIM)
    except StopIteration:
        return np.array(spent), min(best)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--budget", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=1)
    chosen = parser.parse_args()
    print(versions())
    print(f"{DIM} parameters, {COUNT} measured constraints, {chosen.budget} evaluations")
    print(f"{'':28}{'seed':>5}{'ms':>8}{'last 50':>9}{'largest':>9}{'best value':>12}")
    for seed in range(1, 1 + chosen.seeds):
        function = problem(seed)
        rows = {
            "bamsoo, real numbers": ours(function, 0, chosen.budget, seed),
            f"bamsoo, {WHOLE} whole numbers": ours(function, WHOLE, chosen.budget, seed),
            "COBYQA, real numbers": cobyqa(function, chosen.budget),
        }
        for name, (spent, best) in rows.items():
            ms = 1e3 * np.array([spent.mean(), spent[-50:].mean(), spent.max()])
            print(f"{name:28}{seed:5}{ms[0]:8.1f}{ms[1]:9.1f}{ms[2]:9.1f}{best:12.4f}", flush=True)


if __name__ == "__main__":
    main()
