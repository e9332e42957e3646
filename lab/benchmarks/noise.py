"""Noise: whether the default notices it, and whether its estimates are right.

``python lab/benchmarks/noise.py PART [--instance N]`` prints one table of docs/usage.md:

- `exact` and `noisy`: in how many searches without `noise=` the message of the result says that
  values are noisy. Exact problems are the functions of BBOB, functions with plateaus, steps and
  cliffs, and controllers whose values jump. Noisy ones are functions of BBOB with normal noise, of
  which the deviation is a share of the interquartile range of random values; the functions of
  COCO's bbob-noisy with severe normal and uniform noise (this needs the package coco-experiment);
  and controllers with random episodes.
- `estimates`: with `noise="learn"`, the error of the value that the result states, in units of
  its stated deviation, on functions of BBOB with normal noise.
"""

import argparse
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from gap import ROUGH

import bamsoo
from bamsoo._typing import Array
from bamsoo_lab.bench.case import Case
from bamsoo_lab.bench.simulators.controllers import CONTROLLERS
from bamsoo_lab.bench.suites import bbob, coco, target

from common import share_of, versions

EVALUATIONS = {2: 100, 5: 150}
"""Evaluations by dimension."""

SHARES = (0.03, 0.15)
"""Deviations of the noise, as shares of the interquartile range of random values."""

Problem = tuple[str, Callable[..., float], Any, int]
"""The row of the table, the function, its space and the number of evaluations."""


def noisy_bbob(case: Case, share: float) -> tuple[Callable[[Array], float], float]:
    """A function of BBOB with normal noise, and the deviation of the noise."""
    fun, _ = target(case).exact()
    rng = np.random.default_rng([case.instance, int(case.problem[1:])])
    values = [fun(x) for x in rng.uniform(-5.0, 5.0, (200, case.dim))]
    low, high = np.quantile(values, [0.25, 0.75])
    deviation = share * float(high - low)
    return lambda x: fun(x) + deviation * float(rng.standard_normal()), deviation


def exact(instance: int) -> Iterator[Problem]:
    """Problems without noise."""
    for dim, budget in EVALUATIONS.items():
        for case in bbob.cases(dim, [instance]):
            goal = target(case)
            yield f"BBOB {dim}-D", goal.exact()[0], goal.space, budget
    for make, dim in ROUGH:
        for seed in range(7 * instance, 7 * instance + 7):
            rough = make(dim, seed)
            space = [(0.0, 1.0)] * dim
            yield "plateaus, steps, cliffs", lambda x, f=rough.fun: -f(x), space, 100
    for controller in CONTROLLERS.values():
        yield "controllers", controller.exact(instance), controller.space, 200


def noisy(instance: int) -> Iterator[Problem]:
    """Problems with noise."""
    for dim, budget in EVALUATIONS.items():
        for i, case in enumerate(bbob.cases(dim, [instance])):
            share = SHARES[i % len(SHARES)]
            fun, _ = noisy_bbob(case, share)
            row = f"BBOB {dim}-D with normal noise of {share:.0%}"
            yield row, fun, target(case).space, budget
    for number in coco.FUNCTIONS["noisy"]:
        kind = (number - 101) % 3
        if number > 106 and kind < 2:
            goal = coco.noisy(Case("noisy", f"f{number}", 5, instance, 150))
            row = f"bbob-noisy 5-D with severe {('normal', 'uniform')[kind]} noise"
            yield row, goal.fun, goal.space, 150
    for controller in CONTROLLERS.values():
        yield "noisy controllers", controller.noisy(instance)[0], controller.space, 200


def noticed(problems: Iterator[Problem]) -> None:
    """Print how often noise is noticed."""
    print("| problems | runs | said to be noisy |")
    print("|---|---|---|")
    rows: dict[str, list[bool]] = {}
    for row, fun, space, budget in problems:
        message = bamsoo.minimize(fun, space, budget).message
        rows.setdefault(row, []).append("the values are noisy" in message)
    rows["all"] = [said for some in rows.values() for said in some]
    for row, said in rows.items():
        print(f"| {row} | {len(said)} | {share_of(sum(said), len(said))} |", flush=True)


def estimates(instance: int) -> None:
    """Print the errors of the estimates."""
    print("| problems | runs | mean error / deviation | root mean square |")
    print("|---|---|---|---|")
    rows: dict[str, list[float]] = {}
    for dim, budget in EVALUATIONS.items():
        for i, case in enumerate(bbob.cases(dim, [instance])):
            share, goal = SHARES[i % len(SHARES)], target(case)
            fun, _ = noisy_bbob(case, share)
            r = bamsoo.minimize(fun, goal.space, budget, noise="learn")
            deviation = float(r.predict([r.x])[1][0])
            error = (float(r.fun) - goal.exact()[0](r.x)) / deviation
            rows.setdefault(f"BBOB {dim}-D with normal noise of {share:.0%}", []).append(error)
    rows["all"] = [error for some in rows.values() for error in some]
    for row, errors in rows.items():
        size = float(np.sqrt(np.mean(np.square(errors))))
        print(f"| {row} | {len(errors)} | {np.mean(errors):.2f} | {size:.2f} |", flush=True)


PARTS: dict[str, Callable[[int], None]] = {
    "exact": lambda instance: noticed(exact(instance)),
    "noisy": lambda instance: noticed(noisy(instance)),
    "estimates": estimates,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--instance", type=int, default=4)
    given = parser.parse_args()
    print(versions())
    PARTS[given.part](given.instance)


if __name__ == "__main__":
    main()
