"""What the evaluations of an old study are worth once one of its parameters is fixed.

A reactor with four parameters is searched with 60 evaluations. Then its diameter is fixed at three
values, and the search of the other three begins with the old evaluations, or without them. The
table has the number of evaluations until the value is within 0.1, 0.01 and 0.001 of the optimum at
that diameter, as medians over six mirrored and permuted copies of the problem.

A minute on one core: python lab/benchmarks/fixing.py
"""

from collections.abc import Callable
from functools import partial
from itertools import permutations
from statistics import median
from typing import Any

import numpy as np
from scipy.optimize import minimize as descend

import bamsoo

FREE = ("temperature", "flow", "catalyst")
WITHIN = (0.1, 0.01, 0.001)
BUDGET = 40


def reactor(d: float, **free: float) -> float:
    """The cost of a batch; every parameter is on its own scale from 0 to 1, except the diameter."""
    T, q, c = (free[name] for name in FREE)
    best_q, best_c = 0.6 - 0.4 * (10 * d - 0.8), 0.4 + 0.2 * np.sin(30 * d)
    cost = 8 * (T - 0.35 - 1.5 * d) ** 2 + 5 * (q - best_q) ** 2 + 6 * (c - best_c) ** 2
    return float(cost + 0.3 * np.sin(5 * T * q) + 2 * (10 * d - 1.1) ** 2)


def mirrored(fun: Callable[..., float], names: tuple[str, ...], **given: float) -> float:
    """The same function with its free parameters in another order, and two of them mirrored."""
    values = [given[name] for name in names]
    values[0], values[1] = 1 - values[0], 1 - values[1]
    return fun(d=given["d"], **dict(zip(FREE, values, strict=True)))


def optimum(d: float) -> float:
    """The smallest cost at a diameter."""
    rng = np.random.default_rng(0)

    def cost(z: Any) -> float:
        return reactor(d, **dict(zip(FREE, z, strict=True)))

    starts = rng.random((30, 3))
    return min(float(descend(cost, start, bounds=[(0, 1)] * 3).fun) for start in starts)


def needed(result: bamsoo.Result, target: float) -> list[float]:
    """The number of evaluations of this run until its value is within each distance."""
    values = np.array([e.value for e in result.evaluations if e.number is not None])
    gaps = np.minimum.accumulate(values) - target
    return [float(np.argmax(gaps < w) + 1) if (gaps < w).any() else BUDGET + 1 for w in WITHIN]


def main() -> None:
    """Print the table."""
    print("| diameter | old evaluations | within 0.1 | 0.01 | 0.001 |\n|--:|---|--:|--:|--:|")
    runs: dict[tuple[float, str], list[list[float]]] = {}
    for names in permutations(FREE):
        fun = partial(mirrored, reactor, names)
        free = dict.fromkeys(sorted(FREE), (0.0, 1.0))
        old = bamsoo.minimize(fun, {**free, "d": (0.05, 0.2)}, 60)
        known = list(zip(old.X, old.F, strict=True))
        for d in (0.07, 0.11, 0.16):
            for what, earlier in (("without", None), ("with", known)):
                result = bamsoo.minimize(fun, {**free, "d": d}, BUDGET, known=earlier)
                runs.setdefault((d, what), []).append(needed(result, optimum(d)))
    for (d, what), found in runs.items():
        cells = " | ".join(f"{median(column):g}" for column in zip(*found, strict=True))
        print(f"| {d} | {what} | {cells} |")


if __name__ == "__main__":
    main()
