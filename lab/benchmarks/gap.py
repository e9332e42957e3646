"""How often the gap holds: whether what was really left to gain is within the bounds' gap.

``python lab/benchmarks/gap.py PART COUNT [--store FILE]`` prints one table of docs/gap.md. PART is
one of:

- `draws`: functions drawn from a prior, COUNT in each dimension, searched by the paper's BaMSOO,
  which is given that prior, and by the default algorithm, which learns its own;
- `bbob`: the functions of BBOB, COUNT instances of each (this needs the package ioh), searched by
  the paper's BaMSOO with a prior fitted to a sample of the function, and by the default algorithm;
- `rough`: COUNT each of functions with plateaus, steps and cliffs, and COUNT instances of
  conditional spaces, searched by the default algorithm;
- `tuning`: COUNT instances of quick tuning tasks of the part for development, searched by the
  default algorithm. Their optima are not known: what is left is measured from the best value that
  any of the runs here has found, so the true share of runs in which the gap held may be smaller;
- `constrained`: COUNT runs of the default on each of the designs with measured constraints;
- `stop`: runs that `Gap(1e-3)` may end: on the paper's functions, in COUNT boxes cut at random, and
  on COUNT functions with plateaus and steps.

With a store, finished runs are kept there and not repeated.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import bamsoo
from bamsoo.base.typing import Array
from bamsoo.space import Space
from bamsoo_lab.bench.conditional import synthetic
from bamsoo_lab.bench.conditional import tasks as conditional_tasks
from bamsoo_lab.bench.designs import DESIGNS
from bamsoo_lab.bench.suites import bbob, paper
from bamsoo_lab.bench.tuning import tasks as tuning_tasks
from bamsoo_lab.bench.tuning.task import TuningProblem
from bamsoo_lab.paper.draws import FourierDraw
from bamsoo_lab.paper.priors import fit_priors, kernel, sample_size

from common import share_of

WIDTH, BUDGET = 1e-3, 400
SHORT = 200  # the budget on plateaus and steps, where most runs are not ended by `Gap`
FIRST_INSTANCE = 14


class Look(NamedTuple):
    """What was really left to gain after a number of evaluations, and the gap."""

    evaluations: int
    left: float
    gap: float


class Job(NamedTuple):
    """One run, with the row of the table that it belongs to and its name within that row."""

    row: str
    which: str
    run: Callable[[], list[Look]]


def follow(run: Callable[..., Any], optimum: float, looks: Sequence[int]) -> list[Look]:
    """Run a search, and note the gap after each number of evaluations in `looks`."""
    found: list[Look] = []

    def look(result: Any) -> None:
        if result.nfev in looks:
            found.append(Look(result.nfev, abs(optimum - result.fun), result.gap))

    run(budget=looks[-1], callback=look)
    return found


def draws(count: int) -> Iterator[Job]:
    for dim, length in ((1, 0.1), (2, 0.3)):
        prior = bamsoo.kernels.Matern52(length)
        for name, algorithm in (
            ("BaMSOO", bamsoo.algorithms.BaMSOO(prior)),
            ("default", bamsoo.algorithms.Auto()),
        ):
            for seed in range(count):
                run = partial(_draw, prior, dim, seed, algorithm)
                yield Job(f"{name}, {dim}-D draws", str(seed), run)


def _draw(prior: bamsoo.kernels.Matern52, dim: int, seed: int, algorithm: Any) -> list[Look]:
    f = FourierDraw(prior, dim, np.random.default_rng([seed, dim]))
    run = partial(bamsoo.maximize, f, [(0.0, 1.0)] * dim, algorithm=algorithm)
    return follow(run, f.maximum()[1], [n * dim for n in (5, 10, 20, 40)])


def functions(count: int) -> Iterator[Job]:
    for dim in (2, 5):
        for name in ("BaMSOO", "default"):
            for case in bbob.cases(dim, range(FIRST_INSTANCE, FIRST_INSTANCE + count)):
                which = f"{case.problem} {case.instance}"
                yield Job(f"{name}, BBOB {dim}-D", which, partial(_function, case, name))


def _function(case: Any, name: str) -> list[Look]:
    target = bbob.target(case)
    assert target.optimum is not None
    algorithm: Any = bamsoo.algorithms.Auto()
    if name == "BaMSOO":
        space = Space(target.space)

        def on_the_cube(u: Array) -> float:
            value = target.fun(space.decode(u))
            assert isinstance(value, float)
            return value

        prior = fit_priors(on_the_cube, case.dim, sample_size(case.dim))[0]
        algorithm = bamsoo.algorithms.BaMSOO(kernel(prior), prior["mean"])
    run = partial(bamsoo.minimize, target.fun, target.space, algorithm=algorithm)
    return follow(run, target.optimum, [n * case.dim for n in (10, 20, 50)])


class Rough(NamedTuple):
    """A function on the unit cube with its maximum."""

    fun: Callable[[Array], float]
    maximum: float


def plateaus(dim: int, seed: int) -> Rough:
    """The number of the highest of four boxes around a point, or 0 outside all of them."""
    rng = np.random.default_rng([seed, dim, 1])
    sides = rng.uniform(0.15, 0.5, (4, dim)) if dim > 1 else rng.uniform(0.05, 0.2, (4, dim))
    low = rng.random((4, dim)) * (1.0 - sides)

    def fun(x: Array) -> float:
        inside = ((low <= x) & (x <= low + sides)).all(axis=1)
        return float(max(np.flatnonzero(inside) + 1, default=0))

    return Rough(fun, 4.0)


def steps(dim: int, seed: int) -> Rough:
    """A draw from a prior, rounded down to thirds of its deviation."""
    f = FourierDraw(
        bamsoo.kernels.Matern52(LENGTHS[dim]), dim, np.random.default_rng([seed, dim, 2])
    )
    return Rough(lambda x: float(np.floor(3.0 * f(x)) / 3.0), np.floor(3.0 * f.maximum()[1]) / 3.0)


def cliffs(dim: int, seed: int) -> Rough:
    """A draw from a prior, with twice its deviation added on one side of a plane."""
    rng = np.random.default_rng([seed, dim, 3])
    f = FourierDraw(bamsoo.kernels.Matern52(LENGTHS[dim]), dim, rng)
    normal, through = rng.standard_normal(dim), rng.random(dim)

    def fun(x: Array) -> float:
        return f(x) + 2.0 * float(normal @ (x - through) > 0.0)

    grid = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, 201)] * dim), -1).reshape(-1, dim)
    return Rough(fun, max(map(fun, [*grid, f.maximum()[0]])))


LENGTHS = {1: 0.1, 2: 0.3, 4: 0.6}
ROUGH = [
    (plateaus, 1),
    (plateaus, 2),
    (plateaus, 4),
    (steps, 1),
    (steps, 2),
    (cliffs, 1),
    (cliffs, 2),
]


def rough(count: int) -> Iterator[Job]:
    for make, dim in ROUGH:
        for seed in range(count):
            yield Job(f"{make.__name__}, {dim}-D", str(seed), partial(_rough, make, dim, seed))
    for name, optimum in synthetic.OPTIMA.items():
        for instance in range(100, 100 + count):
            run = partial(_conditional, name, optimum, instance)
            yield Job("conditional spaces", f"{name} {instance}", run)


def _rough(make: Callable[[int, int], Rough], dim: int, seed: int) -> list[Look]:
    f = make(dim, seed)
    run = partial(bamsoo.maximize, f.fun, [(0.0, 1.0)] * dim)
    return follow(run, f.maximum, [n * dim for n in (10, 20, 40)])


def _conditional(name: str, optimum: float, instance: int) -> list[Look]:
    problem = TuningProblem(conditional_tasks.tasks()[name], instance)
    return follow(partial(bamsoo.minimize, problem, problem.task.space), optimum, [20, 40, 80])


QUICK = (
    "cantilever-fails", "concrete-beam", "elastic-net-sparse", "gaussian-process-friedman-fails",
    "image-filter", "kernel-ridge-diabetes", "knn-diabetes", "logistic-cost",
    "lotka-volterra-fails", "nu-svc-fails", "pid-controller", "pls-wide",
    "radius-neighbours-friedman-fails", "speed-reducer", "svr-diabetes", "thin-film", "tree-cancer",
    "tree-friedman", "tree-wine", "voting-digits", "welded-beam",
)  # fmt: skip
"""Tasks without noise whose evaluations take about 10 ms or less."""


def tuning(count: int) -> Iterator[Job]:
    for name in QUICK:
        for instance in range(count):
            yield Job("tuning tasks", f"{name} {instance}", partial(_tuning, name, instance))


def _tuning(name: str, instance: int) -> list[Look]:
    problem = TuningProblem(tuning_tasks.tasks()[name], instance)
    space = problem.task.space
    looks = follow(partial(bamsoo.minimize, problem, space), 0.0, [20, 40, 80])
    values = [look.left for look in looks]
    longer = bamsoo.minimize(problem, space, LONG, seed=1).fun
    best = min(longer, *values)
    return [look._replace(left=value - best) for look, value in zip(looks, values, strict=True)]


def constrained(count: int) -> Iterator[Job]:
    for name in DESIGNS:
        for seed in range(count):
            yield Job("designs with constraints", f"{name} {seed}", partial(_design, name, seed))


def _design(name: str, seed: int) -> list[Look]:
    design = DESIGNS[name]
    looks = follow(
        partial(
            bamsoo.minimize, design.evaluate, dict(design.space),
            constraints=list(design.constraints), seed=seed,
        ),
        design.optimum, [25, 50, 100],
    )  # fmt: skip
    return [look for look in looks if isfinite(look.left)]


LONG = 200
"""Evaluations of the run that estimates the optimum of a tuning task."""


def stops(count: int) -> Iterator[Job]:
    for name in ("branin", "hartmann3", "hartmann6"):
        problem = getattr(bamsoo.problems, name)
        for box in range(count):
            yield Job(name, str(box), partial(_stop, problem, box))
    for make, dim in ((plateaus, 1), (plateaus, 2), (steps, 1), (steps, 2)):
        for seed in range(count):
            yield Job(f"{make.__name__}, {dim}-D", str(seed), partial(_stop_rough, make, dim, seed))


def _stop(problem: bamsoo.problems.Problem, box: int) -> list[Look]:
    space = paper.cut_box(problem, box)
    r = bamsoo.minimize(problem, space, BUDGET, stop=bamsoo.Gap(WIDTH))
    return [Look(r.nfev, abs(r.fun - problem.optimum), r.gap)]


def _stop_rough(make: Callable[[int, int], Rough], dim: int, seed: int) -> list[Look]:
    f = make(dim, seed)
    r = bamsoo.maximize(f.fun, [(0.0, 1.0)] * dim, SHORT, stop=bamsoo.Gap(WIDTH))
    return [Look(r.nfev if r.nfev < SHORT else BUDGET, abs(r.fun - f.maximum), r.gap)]


def results(jobs: Iterator[Job], part: str, store: Path | None) -> dict[str, list[Look]]:
    """The looks of every row, from the store or from new runs."""
    known: dict[str, list[Look]] = {}
    if store is not None and store.exists():
        for line in store.read_text("utf-8").splitlines():
            key, looks = json.loads(line)
            known[key] = [Look(*each) for each in looks]
    found: dict[str, list[Look]] = {}
    for job in jobs:
        key = f"{part}, {job.row}, {job.which}"
        if key not in known:
            known[key] = job.run()
            if store is not None:
                with store.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([key, known[key]]) + "\n")
        found.setdefault(job.row, []).extend(known[key])
    return found


def quartiles(values: Sequence[float], digits: int = 2) -> str:
    if not values:
        return "none"
    return ", ".join(
        f"{q:.{digits}g}" for q in np.quantile(values, [0.25, 0.5, 0.75], method="lower")
    )


def show_calibration(found: dict[str, list[Look]]) -> None:
    print("| search | evaluations | runs | gap known | of these, the gap held | quartiles of it |")
    print("|---|---|---|---|---|---|")
    for row, looks in found.items():
        for n in sorted({look.evaluations for look in looks}):
            here = [look for look in looks if look.evaluations == n]
            known = [look for look in here if isfinite(look.gap)]
            hits = sum(look.left <= look.gap + 1e-9 * abs(look.left) + 1e-12 for look in known)
            gaps = quartiles([look.gap for look in known])
            print(f"| {row} | {n} | {len(here)} | {len(known)} | {share_of(hits, len(known))} "
                  f"| {gaps} |")  # fmt: skip


def show_stops(found: dict[str, list[Look]]) -> None:
    print("| function | runs | ended by `Gap` | evaluations: quartiles, maximum | "
          f"of these, at most {WIDTH:g} really left to gain | largest amount left |")  # fmt: skip
    print("|---|---|---|---|---|---|")
    for row, looks in found.items():
        ended = [look for look in looks if look.evaluations < BUDGET]
        share = share_of(len(ended), len(looks))
        if not ended:
            print(f"| {row} | {len(looks)} | {share} | | | |")
            continue
        counts = [look.evaluations for look in ended]
        held = sum(look.left <= WIDTH for look in ended)
        print(f"| {row} | {len(looks)} | {share} | {quartiles(counts, 4)}, {max(counts)} "
              f"| {share_of(held, len(ended))} "
              f"| {max(look.left for look in ended):.0e} |")  # fmt: skip


PARTS = {
    "draws": draws,
    "bbob": functions,
    "rough": rough,
    "tuning": tuning,
    "constrained": constrained,
    "stop": stops,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", choices=list(PARTS))
    parser.add_argument("count", type=int)
    parser.add_argument("--store", type=Path)
    given = parser.parse_args()
    found = results(PARTS[given.part](given.count), given.part, given.store)
    (show_stops if given.part == "stop" else show_calibration)(found)


if __name__ == "__main__":
    main()
