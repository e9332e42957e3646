"""Noise: whether the default notices it, and whether its estimates are right.

``python lab/benchmarks/noise.py PART [--instance N]`` prints one table of docs/usage.md:

- `exact` and `noisy`: in how many searches without `noise=` the message of the result says that
  values are noisy. Exact problems are the functions of BBOB, functions with plateaus, steps and
  cliffs, and controllers whose values jump. Noisy ones are functions of BBOB with normal noise, of
  which the deviation is a share of the interquartile range of random values; the functions of
  COCO's bbob-noisy with severe normal and uniform noise (this needs the package coco-experiment);
  and controllers with random episodes.
- `alarms` and `missed`: the same for problems with several objectives, with constraints and with
  steps, and with 1, 2 and 4 workers, which are threads. In `missed`, each value has normal noise,
  whose deviation is 5 % of the interquartile range of random values; there are no steps, because a
  whole training is never repeated to look for noise.
- `estimates`: with `noise="learn"`, the error of the value that the result states, in units of
  its stated deviation, on functions of BBOB with normal noise.
"""

import argparse
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from gap import ROUGH

import bamsoo
from bamsoo.base.typing import Array
from bamsoo_lab.bench.case import Case, Target
from bamsoo_lab.bench.designs import DESIGNS
from bamsoo_lab.bench.objectives import PROBLEMS
from bamsoo_lab.bench.simulators.controllers import CONTROLLERS
from bamsoo_lab.bench.suites import bbob, coco, designs, objectives, target
from bamsoo_lab.bench.trainings import TRAININGS

from common import share_of, versions

EVALUATIONS = {2: 100, 5: 150}
"""Evaluations by dimension."""

SHARES = (0.03, 0.15)
"""Deviations of the noise, as shares of the interquartile range of random values."""

WORKERS = (1, 2, 4)

NOISE = 0.05
"""The deviation of the noise in `missed`, as a share of the interquartile range."""

SHORT = 60
"""Evaluations in `alarms` and `missed`."""


class Problem(NamedTuple):
    """A problem of which is counted how often its values are said to be noisy."""

    row: str
    """Of the table."""
    fun: Callable[..., Any]
    space: Any
    budget: int
    more: dict[str, Any] = {}  # noqa: RUF012 (never changed)
    """Further arguments of `minimize`."""
    workers: int = 1


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
            yield Problem(f"BBOB {dim}-D", goal.exact()[0], goal.space, budget)
    for make, dim in ROUGH:
        for seed in range(7 * instance, 7 * instance + 7):
            rough = make(dim, seed)
            space = [(0.0, 1.0)] * dim
            fun = lambda x, f=rough.fun: -f(x)  # noqa: E731
            yield Problem("plateaus, steps, cliffs", fun, space, 100)
    for controller in CONTROLLERS.values():
        yield Problem("controllers", controller.exact(instance), controller.space, 200)


def noisy(instance: int) -> Iterator[Problem]:
    """Problems with noise."""
    for dim, budget in EVALUATIONS.items():
        for i, case in enumerate(bbob.cases(dim, [instance])):
            share = SHARES[i % len(SHARES)]
            fun, _ = noisy_bbob(case, share)
            row = f"BBOB {dim}-D with normal noise of {share:.0%}"
            yield Problem(row, fun, target(case).space, budget)
    for number in coco.FUNCTIONS["noisy"]:
        kind = (number - 101) % 3
        if number > 106 and kind < 2:
            goal = coco.noisy(Case("noisy", f"f{number}", 5, instance, 150))
            row = f"bbob-noisy 5-D with severe {('normal', 'uniform')[kind]} noise"
            yield Problem(row, goal.fun, goal.space, 150)
    for controller in CONTROLLERS.values():
        fun = controller.noisy(instance)[0]
        yield Problem("noisy controllers", fun, controller.space, 200)


def goals(instance: int) -> Iterator[tuple[str, Target]]:
    """Problems of several kinds, each with the row of the table that it belongs to."""
    for dim in EVALUATIONS:
        for case in bbob.cases(dim, [instance])[::3]:
            yield "one objective", target(case)
    for name in PROBLEMS:
        goal = objectives.target(Case("objectives", name, len(PROBLEMS[name].space), instance, 0))
        more = " and constraints" if goal.constraints else ""
        yield f"{len(goal.objectives)} objectives{more}", goal
    for name in DESIGNS:
        yield "constraints", designs.target(Case("designs", name, 0, instance, 0))


def with_noise(goal: Target, seed: int) -> Callable[..., Any]:
    """The function of a problem with normal noise in each value."""
    rng, lock, space = np.random.default_rng(seed), Lock(), bamsoo.space.Space(goal.space)

    def evaluate(given: Any) -> Any:
        return goal.fun(given) if isinstance(goal.space, list) else goal.fun(**given)

    def value(found: Any) -> Array:
        return np.array(found[0] if isinstance(found, tuple) else found, dtype=float)

    units = rng.random((100, space.dim))
    points = [space.decode(space.domain.snap(unit)) for unit in units]
    named = isinstance(goal.space, dict)
    seen = [value(evaluate(space.params(x) if named else x)) for x in points]
    low, high = np.nanquantile(seen, [0.25, 0.75], axis=0)

    def noisy(*x: Any, **params: Any) -> Any:
        found = goal.fun(*x, **params)
        with lock:
            noise = NOISE * (high - low) * rng.standard_normal(low.shape)
        both = (value(found) + noise).tolist()
        return (both, *found[1:]) if isinstance(found, tuple) else both

    return noisy


def alarms(instance: int, noisy: bool) -> Iterator[Problem]:
    """The problems of the parts `alarms` and `missed`."""
    for workers in WORKERS:
        for i, (row, goal) in enumerate(goals(instance)):
            fun = with_noise(goal, i) if noisy else goal.fun
            more: dict[str, Any] = {
                "constraints": goal.constraints,
                "objectives": goal.objectives or None,
            }
            name = f"{row}, {workers} worker{'s' * (workers > 1)}"
            yield Problem(name, fun, goal.space, SHORT, more, workers)
        for training in () if noisy else TRAININGS.values():
            fun, steps = training.build(instance), {"steps": training.steps}
            yield Problem("steps", fun, dict(training.space), 8, steps, workers)


def noticed(problems: Iterator[Problem]) -> None:
    """Print how often noise is noticed."""
    print("| problems | runs | said to be noisy |")
    print("|---|---|---|")
    rows: dict[str, list[bool]] = {}
    for row, fun, space, budget, more, workers in problems:
        with ThreadPoolExecutor(workers) as threads:
            pool = None if workers == 1 else threads
            message = bamsoo.minimize(fun, space, budget, workers=pool, **more).message
        rows.setdefault(row, []).append("noisy" in message)
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
    "alarms": lambda instance: noticed(alarms(instance, noisy=False)),
    "missed": lambda instance: noticed(alarms(instance, noisy=True)),
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
