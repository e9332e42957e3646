"""How long the default thinks about each evaluation if there are constraints.

The first problems have 20 parameters and 5 measured constraints, with real numbers alone and with
six whole numbers. The same problem of real numbers is solved by scipy's COBYQA in the same run,
because a time says little without one to compare it with. The last problem is the layout of eight
circles that must not overlap: 16 parameters and 28 constraints that are known in advance, given as
formulas and as one Python function. Processor time between evaluations is printed, in milliseconds
per evaluation.

    OPENBLAS_NUM_THREADS=1 python lab/benchmarks/thinking.py [--budget 200] [--seeds 1]
"""

import argparse
from collections.abc import Callable
from itertools import combinations
from time import process_time
from typing import Any

import numpy as np
from scipy.optimize import minimize

import bamsoo
from bamsoo import Formula, Int, Real
from bamsoo.base.typing import Array

from common import versions

DIM, COUNT, WHOLE, STEPS = 20, 5, 6, 20
NAMES = [f"c{j}" for j in range(COUNT)]
CIRCLES = 8

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


def layout(formulas: bool, budget: int, seed: int) -> tuple[Array, float]:
    """The same times for circles in a square: short wires, a small box, and no overlaps."""
    rng = np.random.default_rng(seed)
    radii, pairs = rng.uniform(0.08, 0.16, CIRCLES), list(combinations(range(CIRCLES), 2))
    wires = rng.random(len(pairs)) * (rng.random(len(pairs)) < 0.5)
    first, second = np.array(pairs).T

    def distances(x: Array) -> Array:
        places = x.reshape(CIRCLES, 2)
        return np.asarray(np.hypot(*(places[first] - places[second]).T))

    def overlaps(x: Array) -> Array:
        return np.asarray(radii[first] + radii[second] - distances(x))

    space: Any = [(0.0, 1.0)] * (2 * CIRCLES)
    constraints: list[Any] = [overlaps]
    if formulas:
        constraints = [
            Formula(
                f"sqrt((x{2 * i} - x{2 * j})**2 + (x{2 * i + 1} - x{2 * j + 1})**2)"
                f" >= {radii[i] + radii[j]}"
            )
            for i, j in pairs
        ]
    search, spent = bamsoo.Optimizer(space, constraints=constraints, seed=seed), np.empty(budget)
    for i in range(budget):
        began = process_time()
        trial = search.ask()
        spent[i] = process_time() - began
        box = np.ptp(trial.x[::2]) * np.ptp(trial.x[1::2])
        search.tell(trial, float(wires @ distances(trial.x) + 0.3 * box))
    return spent, float(search.result.fun)


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
            "bamsoo, layout, formulas": layout(True, chosen.budget, seed),
            "bamsoo, layout, function": layout(False, chosen.budget, seed),
        }
        for name, (spent, best) in rows.items():
            ms = 1e3 * np.array([spent.mean(), spent[-50:].mean(), spent.max()])
            print(f"{name:28}{seed:5}{ms[0]:8.1f}{ms[1]:9.1f}{ms[2]:9.1f}{best:12.4f}", flush=True)


if __name__ == "__main__":
    main()
