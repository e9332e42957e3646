"""What `callback=` costs: processor time per evaluation with and without one.

    python lab/benchmarks/callback.py [--budgets 1500,6000] [--cases soo,auto]

The callback is called after every evaluation. One looks at nothing, one at the best value and the
number of evaluations, and one at all fields. SOO and the default are shown for an exact function,
and the default also for a noisy one, with fewer evaluations.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import bamsoo


def sphere(x: Any) -> float:
    return float(((x - 0.3) ** 2).sum())


def noisy(x: Any) -> float:
    return sphere(x) + 0.1 * float(np.random.default_rng(list(x.tobytes())).normal())


def nothing(intermediate_result: Any) -> None:
    pass


def best(intermediate_result: Any) -> None:
    assert intermediate_result.fun >= -1.0
    assert intermediate_result.nfev


def everything(intermediate_result: Any) -> None:
    dict(intermediate_result)


def milliseconds(budget: int, callback: Callable[..., None] | None, case: str) -> float:
    """Processor time per evaluation of a run in 3-D."""
    fun, settings = CASES[case]
    began = time.process_time()
    bamsoo.minimize(fun, [(0, 1)] * 3, budget, callback=callback, **settings)
    return 1e3 * (time.process_time() - began) / budget


CASES: dict[str, tuple[Callable[[Any], float], dict[str, Any]]] = {
    "soo": (sphere, {"algorithm": "soo"}),
    "auto": (sphere, {}),
    "noisy": (noisy, {"noise": 0.01}),
}
CALLBACKS = (None, nothing, best, everything)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--budgets", default="1500,6000", help="evaluations; the noisy case: 400")
    parser.add_argument("--cases", default=",".join(CASES), help="separated by commas")
    given = parser.parse_args()
    budgets = [int(text) for text in given.budgets.split(",")]
    milliseconds(50, everything, "auto")  # what is loaded at the first use does not count
    print("ms per evaluation\n| case | evaluations | no callback | nothing | best | everything |")
    print("|---|--:|--:|--:|--:|--:|")
    for case in given.cases.split(","):
        for budget in budgets if "noisy" not in case else (200, 400):
            took = [milliseconds(budget, callback, case) for callback in CALLBACKS]
            print(
                f"| {case} | {budget:,} | {' | '.join(f'{each:.2f}' for each in took)} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
