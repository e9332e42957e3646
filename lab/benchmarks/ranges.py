"""Whether ranges hold: their ends are evaluated with the true function.

    python lab/benchmarks/ranges.py 5

runs the default on every problem of the suite `designs` with the given number of seeds. After some
numbers of evaluations it asks for the ranges in which the value stays within 1 % of the best one,
and evaluates both ends of each of them, and each option. An end holds if the value there is at most
as much worse than the best one, and every constraint is met. Ends at the best point itself do not
count.
"""

import argparse
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import bamsoo
from bamsoo_lab.bench.designs import DESIGNS, Design

from common import share_of

LOOKS = (25, 50, 100)
"""The numbers of evaluations after which ranges are asked for."""

WITHIN = 0.01
"""How much worse the value may be, as a share of the best one."""


class End(NamedTuple):
    """What the true function says at an end of a range."""

    close: bool
    met: bool
    sure: float


def ends(design: Design, r: bamsoo.Result) -> Iterator[End]:
    """Every end of every range of a result that is not the best point."""
    within = WITHIN * abs(r.fun)
    for name, found in r.ranges(within).items():
        for value in found.options or {found.low, found.high}:
            if value != r.params[name]:
                f, c = design.evaluate(**{**r.params, name: value})
                yield End(f <= r.fun + within, max(c.values()) <= 0.0, found.sure)


def looked(design: Design, seed: int) -> Iterator[tuple[int, list[End]]]:
    """The ends after each number of evaluations; none without a feasible point."""
    found: list[tuple[int, list[End]]] = []

    def look(r: bamsoo.Result) -> None:
        if r.nfev in LOOKS and r.success:
            found.append((r.nfev, list(ends(design, r))))

    bamsoo.minimize(
        design.evaluate, dict(design.space), LOOKS[-1],
        constraints=list(design.constraints), seed=seed, callback=look,
    )  # fmt: skip
    yield from found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("seeds", type=int)
    seeds = parser.parse_args().seeds
    every: dict[int, list[list[End]]] = {look: [] for look in LOOKS}
    lines = []
    for name, design in DESIGNS.items():
        here: list[End] = []
        for seed in range(seeds):
            for look, found in looked(design, seed):
                every[look].append(found)
                here += found
        lines.append(row(f"{name}, {len(LOOKS)} looks at {seeds} runs", here))
    print("| | ends | value close | constraints met | both | smallest probability, mean |")
    print("|---|--:|---|---|---|--:|")
    for look, runs in every.items():
        print(
            row(f"after {look} evaluations, {len(runs)} runs", [end for run in runs for end in run])
        )
    print("\n".join(lines))


def row(name: str, found: list[End]) -> str:
    """A row of the table."""
    n = len(found)
    shares = [
        share_of(sum(held), n)
        for held in (
            [e.close for e in found],
            [e.met for e in found],
            [e.close and e.met for e in found],
        )
    ]
    sure: Any = f"{np.mean([e.sure for e in found]):.3f}" if found else ""
    return f"| {name} | {n} | {' | '.join(shares)} | {sure} |"


if __name__ == "__main__":
    main()
