"""What a type checker makes of the public interface: `make types` reads this, and nothing runs it.

A line that is marked with `type: ignore` has to be an error, since mypy reports marks that are not
needed.
"""

from typing import assert_type

import bamsoo


def value(x: object) -> float:
    """Stand for an objective."""
    return 0.0


BOX = [(0.0, 1.0)]

bamsoo.minimize(value, BOX, 9, algorithm="bamsooo")  # type: ignore[arg-type]
bamsoo.maximize(value, BOX, 9, algorithm="bamsooo")  # type: ignore[arg-type]
bamsoo.Optimizer(BOX, algorithm="bamsooo")  # type: ignore[arg-type]
bamsoo.Study.open("run.db", space=BOX, algorithm="bamsooo")  # type: ignore[arg-type]

bamsoo.minimize(value, BOX, 9, algorithm="bamsoo")
bamsoo.Optimizer(BOX, algorithm=bamsoo.algorithms.BaMSOO(k=3))
bamsoo.Optimizer(BOX, algorithm="soo")

result = bamsoo.minimize(value, BOX, 9)
assert_type(result.nfev, int)
best: float = result.fun
why: list[tuple[int | None, str]] = result.failures
assert_type(bamsoo.Optimizer(BOX).result, bamsoo.Result)
