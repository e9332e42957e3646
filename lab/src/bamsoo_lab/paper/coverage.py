"""Theory (a): L <= f <= U for all bounds evaluated, with probability at least 1 - eta."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import binomtest

from bamsoo.algorithms import BaMSOO
from bamsoo.algorithms.bamsoo import bamsoo
from bamsoo.algorithms.book import Book
from bamsoo.algorithms.tree import Tree
from bamsoo.space.axes import cube

from ..jobs.task import Finished, Settings, Task
from .draws import LazyDraw
from .experiment import Experiment, Request
from .output import (
    Assertion,
    Output,
    claims,
    table,
)
from .priors import FAMILIES
from .watch import WatchedGP, drive

ETAS = (0.05, 0.2, 0.5)
CASES = (("Matern52", 1), ("Matern52", 2), ("SquaredExponential", 2))
LENGTH, EVALUATIONS, BOUNDS, BATCH = 0.25, 40, 300, 20
"""The length scale; the evaluations or bounds at which a draw ends; the draws per task."""

SLACK = 1e-5
"""Bounds that are wrong by less than this count as holding: ten times the resolution of the GP."""


def tasks(request: Request) -> list[Task]:
    """Draws in batches, for each kernel, dimension and eta."""
    return [
        Task(
            "paper.coverage:run",
            {"family": family, "dim": dim, "eta": eta, "first": first}
            | {"draws": min(BATCH, request.scale.draws - first)},
        )
        for family, dim in CASES
        for eta in ETAS
        for first in range(0, request.scale.draws, BATCH)
    ]


def run(settings: Settings, context: Settings) -> dict[str, Any]:
    """For each draw, how many bounds BaMSOO evaluated and how many did not hold."""
    first, count = settings["first"], settings["draws"]
    pairs = [one_draw(settings, seed) for seed in range(first, first + count)]
    return {"bounds": [pair[0] for pair in pairs], "broken": [pair[1] for pair in pairs]}


def one_draw(settings: Settings, seed: int) -> tuple[int, int]:
    """BaMSOO on one exact draw from its prior; the values of nodes rejected are hidden."""
    dim, eta = settings["dim"], settings["eta"]
    kernel = FAMILIES[settings["family"]](LENGTH)
    rng = np.random.default_rng([seed, dim, round(100 * eta), len(settings["family"])])
    f = LazyDraw(kernel, dim, rng)
    gp, book, tree = WatchedGP(kernel, dim), Book(), Tree(cube(dim), 2)
    search = bamsoo(BaMSOO(kernel, eta=eta), tree, gp, book, rng)
    for t, _ in enumerate(drive(search, book, f), 1):
        if t == EVALUATIONS or len(gp.bounds) >= BOUNDS:
            break
    checked = gp.bounds[:BOUNDS]
    broken = sum(not bound.lower - SLACK <= f(bound.x) <= bound.upper + SLACK for bound in checked)
    return len(checked), broken


def write(runs: Sequence[Finished], output: Output) -> str:
    """Shares of draws whose bounds all held, with 95 % binomial intervals."""
    rows, found = [], []
    for family, dim in CASES:
        for eta in ETAS:
            wanted = {"family": family, "dim": dim, "eta": eta}
            here = [r.result for r in runs if wanted.items() <= r.settings.items()]
            broken = np.array([b for result in here for b in result["broken"]])
            bounds = np.array([b for result in here for b in result["bounds"]])
            held = int((broken == 0).sum())
            interval = binomtest(held, len(broken)).proportion_ci()
            rows.append(
                (family, dim, eta, len(broken), held, interval.low, interval.high, bounds.mean())
            )
            found.append(interval.high >= 1.0 - eta)
    header = ["kernel", "dim", "eta", "draws", "held", "low95", "high95", "bounds_per_draw"]
    output.csv("coverage", header, rows)
    shown = [
        [
            family,
            dim,
            f"{1 - eta:g}",
            draws,
            held,
            f"{held / draws:.3f}",
            f"{low:.3f} to {high:.3f}",
            f"{bounds:.0f}",
        ]
        for family, dim, eta, draws, held, low, high, bounds in rows
    ]
    heads = ["kernel", "D", "promised 1 − η", "draws", "all bounds held", "share", "95 % interval"]
    text = "\n\n".join(
        [
            "## Theory (a): the confidence bounds (Lemma 4)",
            f"Exact draws from the prior, with up to {EVALUATIONS} evaluations and {BOUNDS} bounds "
            "each. The bounds of every node, also of those rejected, are checked as they were "
            "when they were computed.",
            table([*heads, "bounds per draw"], shown),
            claims(
                [
                    Assertion(
                        "L ≤ f ≤ U for all evaluated bounds, with probability at least 1 − η",
                        f"in a share of at least {min(r[4] / r[3] for r in rows):.3f} of the draws "
                        "in every row",
                        all(found),
                    )
                ]
            ),
        ]
    )
    return output.section(6, "coverage", text)


EXPERIMENT = Experiment("coverage", tasks, write)
