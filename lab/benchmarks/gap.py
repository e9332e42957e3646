"""How often the gap holds: whether what was really left to gain is within the bounds' gap.

``python lab/benchmarks/gap.py draws|bbob|stop COUNT [--store FILE]`` prints a table of docs/gap.md:

- `draws`: functions drawn from a prior, COUNT in each dimension, searched by the paper's BaMSOO,
  which is given that prior, and by the default algorithm, which learns its own;
- `bbob`: the functions of BBOB, COUNT instances of each (this needs the package ioh), searched by
  the paper's BaMSOO with a prior fitted to a sample of the function, and by the default algorithm;
- `stop`: runs on the paper's functions that `Gap(1e-3)` may end, in COUNT boxes cut at random.

With a store, finished runs are kept there and not repeated.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import bamsoo
from bamsoo._typing import Array
from bamsoo.space import Space
from bamsoo_lab.bench.suites import bbob, paper
from bamsoo_lab.paper.draws import FourierDraw
from bamsoo_lab.paper.priors import fit_priors, kernel, sample_size

WIDTH, BUDGET = 1e-3, 400
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
        prior = bamsoo.Matern52(length)
        for name, algorithm in (("BaMSOO", bamsoo.BaMSOO(prior)), ("default", bamsoo.Auto())):
            for seed in range(count):
                run = partial(_draw, prior, dim, seed, algorithm)
                yield Job(f"{name}, {dim}-D draws", str(seed), run)


def _draw(prior: bamsoo.Matern52, dim: int, seed: int, algorithm: Any) -> list[Look]:
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
    algorithm: Any = bamsoo.Auto()
    if name == "BaMSOO":
        space = Space(target.space)

        def on_the_cube(u: Array) -> float:
            value = target.fun(space.decode(u))
            assert isinstance(value, float)
            return value

        prior = fit_priors(on_the_cube, case.dim, sample_size(case.dim))[0]
        algorithm = bamsoo.BaMSOO(kernel(prior), prior["mean"])
    run = partial(bamsoo.minimize, target.fun, target.space, algorithm=algorithm)
    return follow(run, target.optimum, [n * case.dim for n in (10, 20, 50)])


def stops(count: int) -> Iterator[Job]:
    for name in ("branin", "hartmann3", "hartmann6"):
        problem = getattr(bamsoo.problems, name)
        for box in range(count):
            yield Job(name, str(box), partial(_stop, problem, box))


def _stop(problem: bamsoo.problems.Problem, box: int) -> list[Look]:
    space = paper.cut_box(problem, box)
    r = bamsoo.minimize(problem, space, BUDGET, stop=bamsoo.Gap(WIDTH))
    return [Look(r.nfev, abs(r.fun - problem.optimum), r.gap)]


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


def interval(hits: int, of: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's 95 % interval for a share."""
    share, spread = hits / of, z * z / of
    centre = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * sqrt(share * (1 - share) / of + spread / (4 * of))
    return max(centre - half, 0.0), min(centre + half, 1.0)


def share_of(hits: int, of: int) -> str:
    if not of:
        return "none"
    low, high = interval(hits, of)
    return f"{hits / of:.1%} ({low:.1%} to {high:.1%})"


def quartiles(values: Sequence[float], digits: int = 2) -> str:
    if not values:
        return "none"
    return ", ".join(
        f"{q:.{digits}g}" for q in np.quantile(values, [0.25, 0.5, 0.75], method="lower")
    )


def show_calibration(found: dict[str, list[Look]]) -> None:
    print("| search | evaluations | runs | runs in which the gap held | quartiles of the gap |")
    print("|---|---|---|---|---|")
    for row, looks in found.items():
        for n in sorted({look.evaluations for look in looks}):
            here = [look for look in looks if look.evaluations == n]
            hits = sum(look.left <= look.gap + 1e-9 * abs(look.left) + 1e-12 for look in here)
            gaps = quartiles([look.gap for look in here])
            print(f"| {row} | {n} | {len(here)} | {share_of(hits, len(here))} | {gaps} |")


def show_stops(found: dict[str, list[Look]]) -> None:
    print("| function | boxes | runs ended by `Gap` | evaluations: quartiles, maximum | "
          f"of these, at most {WIDTH:g} really left to gain | largest amount left |")  # fmt: skip
    print("|---|---|---|---|---|---|")
    for row, looks in found.items():
        ended = [look for look in looks if look.evaluations < BUDGET]
        held = sum(look.left <= WIDTH for look in ended)
        counts = [look.evaluations for look in ended]
        print(f"| {row} | {len(looks)} | {share_of(len(ended), len(looks))} "
              f"| {quartiles(counts, 4)}, "
              f"{max(counts, default=0)} | {share_of(held, len(ended))} "
              f"| {max((look.left for look in ended), default=np.nan):.0e} |")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", choices=["draws", "bbob", "stop"])
    parser.add_argument("count", type=int)
    parser.add_argument("--store", type=Path)
    given = parser.parse_args()
    jobs = {"draws": draws, "bbob": functions, "stop": stops}[given.part]
    found = results(jobs(given.count), given.part, given.store)
    (show_stops if given.part == "stop" else show_calibration)(found)


if __name__ == "__main__":
    main()
