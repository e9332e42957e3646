"""The default in fifty dimensions with 400 evaluations, compared with COBYQA.

The functions are smooth, with their optimum at a random place: a sphere, an ellipsoid along the
axes and one that is slanted, both with a condition number of 100, and Rosenbrock's function. The
best regret after 50 to 400 evaluations is printed. All methods begin at the centre. Two
rows are the default without steps along the slope, and without the trend that has products of all
axes.

    OPENBLAS_NUM_THREADS=1 python lab/benchmarks/fifty.py
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.optimize import minimize

import bamsoo
from bamsoo.algorithms.auto.loop import CONSTANTS
from bamsoo.base.typing import Array

from common import versions

DIM, BUDGET = 50, 400
AFTER = (50, 100, 150, 200, 300, 400)

_rng = np.random.default_rng(7)
_BEST: Array = _rng.uniform(0.2, 0.8, DIM)
_TURN: Array = np.linalg.qr(_rng.normal(size=(DIM, DIM)))[0]
_WEIGHTS: Array = np.geomspace(1.0, 100.0, DIM)


def _rosenbrock(x: Array) -> float:
    z = 4.0 * x - 2.0
    return float((100.0 * (z[1:] - z[:-1] ** 2) ** 2 + (1.0 - z[:-1]) ** 2).sum())


FUNCTIONS: dict[str, Callable[[Array], float]] = {
    "sphere": lambda x: float(((x - _BEST) ** 2).sum()),
    "ellipsoid": lambda x: float(_WEIGHTS @ (x - _BEST) ** 2),
    "slanted ellipsoid": lambda x: float(_WEIGHTS @ (_TURN @ (x - _BEST)) ** 2),
    "Rosenbrock": _rosenbrock,
}
"""Each has the minimum 0 in the unit cube."""


VARIANTS = {
    "default": bamsoo.algorithms.Auto(),
    "no products": bamsoo.algorithms.Auto(
        constants=replace(CONSTANTS, local=replace(CONSTANTS.local, products=False))
    ),
}


class EnoughError(Exception):
    """The budget is spent."""


def regrets(method: str, fun: Callable[[Array], float]) -> Array:
    """The best value so far after each evaluation of one run."""
    values: list[float] = []

    def counted(x: Array) -> float:
        if len(values) == BUDGET:
            raise EnoughError
        values.append(fun(np.clip(x, 0.0, 1.0)))
        return values[-1]

    cube = [(0.0, 1.0)] * DIM
    try:
        if method != "COBYQA":
            bamsoo.minimize(counted, cube, BUDGET, algorithm=VARIANTS[method])
        else:
            minimize(
                counted, np.full(DIM, 0.5), method=method, bounds=cube, options={"maxfev": BUDGET}
            )
    except EnoughError:
        pass
    best = np.minimum.accumulate(values)
    return np.append(best, np.full(BUDGET - len(best), best[-1]))


def main() -> None:
    print(versions())
    print("| | | " + " | ".join(map(str, AFTER)) + " |")
    print("|---" * (len(AFTER) + 2) + "|")
    for name, fun in FUNCTIONS.items():
        for method in (*VARIANTS, "COBYQA"):
            best = regrets(method, fun)
            cells = " | ".join(f"{max(best[n - 1], 1e-16):.1e}" for n in AFTER)
            print(f"| {name} | {method} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
