"""How often the gap holds: what was really left to gain, against what the bounds said was left.

``python benchmarks/gap.py draws|bbob|stop [COUNT]`` prints one table of docs/gap.md. `draws` are
functions drawn from the prior itself, searched by the paper's BaMSOO, which is given that prior,
and by the default, which learns it. `bbob` are the functions of BBOB (needs the package ioh),
searched by the default. `stop` lets `Gap(1e-3)` end runs on the paper's functions, in boxes cut at
random.
"""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from math import sqrt
from typing import Any

import numpy as np

import bamsoo
from bamsoo.lab.bench.suites import bbob, paper
from bamsoo.lab.paper.draws import FourierDraw

Row = tuple[str, int, float, float]
"""A setting, evaluations, what was really left to gain, and the gap."""


def interval(hits: int, of: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's 95 % interval for a share."""
    share, spread = hits / of, z * z / of
    centre = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * sqrt(share * (1 - share) / of + spread / (4 * of))
    return max(centre - half, 0.0), min(centre + half, 1.0)


def follow(name: str, run: Callable[..., Any], optimum: float, looks: Sequence[int]) -> list[Row]:
    """Run a search up to the last look, and note the gap after so many evaluations."""
    rows = []

    def look(result: Any) -> None:
        if result.nfev in looks:
            rows.append((name, result.nfev, abs(optimum - result.fun), result.gap))

    run(budget=looks[-1], callback=look)
    return rows


def draws(count: int) -> list[Row]:
    rows: list[Row] = []
    for dim, length in ((1, 0.1), (2, 0.3)):
        looks = [n * dim for n in (5, 10, 20, 40)]
        kernel, box = bamsoo.Matern52(length), [(0.0, 1.0)] * dim
        for seed in range(count):
            f = FourierDraw(kernel, dim, np.random.default_rng([seed, dim]))
            top = f.maximum()[1]
            for name, algorithm in (("BaMSOO", bamsoo.BaMSOO(kernel)), ("default", bamsoo.Auto())):
                run = partial(bamsoo.maximize, f, box, algorithm=algorithm)
                rows += follow(f"{name}, {dim}-D draws", run, top, looks)
    return rows


def functions(count: int) -> list[Row]:
    rows: list[Row] = []
    for dim in (2, 5):
        for case in bbob.cases(dim, range(14, 14 + count)):
            target = bbob.target(case)
            assert target.optimum is not None
            run = partial(bamsoo.minimize, target.fun, target.space)
            looks = [n * dim for n in (10, 20, 50)]
            rows += follow(f"default, BBOB {dim}-D", run, target.optimum, looks)
    return rows


def table(rows: list[Row]) -> None:
    print("| search | evaluations | runs | left to gain within the gap | gap: quartiles |")
    print("|---|---|---|---|---|")
    for key in dict.fromkeys((name, n) for name, n, _, _ in rows):
        here = [(left, gap) for name, n, left, gap in rows if (name, n) == key]
        hits = sum(left <= gap + 1e-9 * abs(left) + 1e-12 for left, gap in here)
        low, high = interval(hits, len(here))
        quartiles = np.quantile([gap for _, gap in here], [0.25, 0.5, 0.75], method="lower")
        print(
            f"| {key[0]} | {key[1]} | {len(here)} | {hits / len(here):.1%} "
            f"({low:.1%} to {high:.1%}) | {', '.join(f'{q:.2g}' for q in quartiles)} |"
        )


def stop(count: int, width: float = 1e-3, budget: int = 400) -> None:
    print("| function | boxes | stopped by itself | evaluations: quartiles | "
          f"really left at most {width:g}, of those stopped |")  # fmt: skip
    print("|---|---|---|---|---|")
    for problem in (bamsoo.problems.branin, bamsoo.problems.hartmann3, bamsoo.problems.hartmann6):
        stopped, held = [], 0
        for box in range(count):
            bounds = paper.cut_box(problem, box)
            r = bamsoo.minimize(problem, bounds, budget, stop=bamsoo.Gap(width))
            if r.nfev < budget:
                stopped.append(r.nfev)
                held += r.fun - problem.optimum <= width
        counts = np.quantile(stopped, [0.25, 0.5, 0.75]) if stopped else [np.nan] * 3
        low, high = interval(held, len(stopped)) if stopped else (0.0, 1.0)
        print(
            f"| {problem.name} | {count} | {len(stopped)} | {', '.join(f'{q:.0f}' for q in counts)}"
            f" | {held} of {len(stopped)} ({low:.0%} to {high:.0%}) |",
            flush=True,
        )


def main(part: str, count: int) -> None:
    if part == "stop":
        stop(count)
    else:
        table(draws(count) if part == "draws" else functions(count))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 40)
