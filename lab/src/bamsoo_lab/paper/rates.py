"""Theory (c): the corollary's rate on GP draws; and (d): B_N against depth, on the same runs."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bamsoo.algorithms import SOO, BaMSOO
from bamsoo.algorithms.bamsoo import bamsoo
from bamsoo.algorithms.book import Book
from bamsoo.algorithms.search import Search
from bamsoo.algorithms.soo import soo
from bamsoo.algorithms.tree import Tree
from bamsoo.base.typing import Array
from bamsoo.kernels import Matern52
from bamsoo.model.gp import GP
from bamsoo.space.axes import cube

from ..jobs.task import Settings, Task
from .draws import FourierDraw
from .experiment import Request
from .watch import drive

DIMS, ALPHAS = (1, 2, 3), (2, 1)
KERNEL = Matern52(0.3)
FLOOR = 1e-12
"""Regrets below this are rounding errors of f and of its maximum, and are left out of the fit."""


def tasks(request: Request) -> list[Task]:
    """One task per draw, which runs SOO and BaMSOO on it."""
    scale = request.scale
    return [
        Task(
            "paper.rates:run",
            {"dim": dim, "alpha": alpha, "draw": draw, "expansions": scale.expansions},
            2.0 * scale.expansions / 2000,
        )
        for dim in DIMS
        for alpha in ALPHAS
        for draw in range(scale.rate_draws)
    ]


def draw_with_maximum(dim: int, alpha: int, draw: int) -> tuple[FourierDraw, float]:
    """A draw whose maximum is inside (alpha = 2) or on the boundary (alpha = 1), and its value."""
    attempt = 0
    while True:
        f = FourierDraw(KERNEL, dim, np.random.default_rng([dim, alpha, draw, attempt]))
        x, f_star = f.maximum()
        inside = bool((np.minimum(x, 1.0 - x) > 1e-6).all())
        if inside == (alpha == 2):
            return f, f_star
        attempt += 1


def run(settings: Settings, context: Settings) -> dict[str, Any]:
    """The trace (n, f+) of both algorithms, and the last N at which BaMSOO examined each depth."""
    dim, end = settings["dim"], settings["expansions"]
    f, f_star = draw_with_maximum(dim, settings["alpha"], settings["draw"])
    traces: dict[str, Any] = {}
    evaluations: dict[str, int] = {}
    trees = {name: Tree(cube(dim), 2) for name in ("BaMSOO", "SOO")}
    for name, tree in trees.items():
        book = Book()
        search: Search
        if name == "SOO":
            search = soo(SOO(k=2), tree, book)
        else:
            rng = np.random.default_rng(0)
            search = bamsoo(BaMSOO(KERNEL), tree, GP(KERNEL, dim), book, rng)
        traces[name] = trace(search, book, f, end)
        evaluations[name] = book.t
    f_star = max(f_star, *(best for rows in traces.values() for _, best in rows))
    regrets = {
        name: [[n, f_star - best] for n, best in rows if n <= end] for name, rows in traces.items()
    }
    tree = trees["BaMSOO"]
    depth = np.array(tree.depth)
    return {
        "regrets": regrets,
        "evaluations": evaluations,
        # Node i is the (i+1)-th to be examined: N(x) is i + 1.
        "last_N": [int(np.flatnonzero(depth == h)[-1]) + 1 for h in range(depth.max() + 1)],
        "complete": min(tree.depth[leaf] for leaf in tree.leaves()),
    }


def trace(search: Search, book: Book, f: FourierDraw, end: int) -> list[tuple[int, float]]:
    """The pairs (n, f+) at which f+ rises, until `end` expansions."""
    rows: list[tuple[int, float]] = []
    for value in drive(search, book, f):
        if not rows or value > rows[-1][1]:
            rows.append((book.n, value))
        if book.n >= end:
            break
    return rows


def regret_at(rows: Sequence[Sequence[float]], n: Array) -> Array:
    """r_n at each of `n`, from the steps of a trace."""
    steps = np.array(rows)
    r: Array = steps[np.searchsorted(steps[:, 0], n, side="right") - 1, 1]
    return r


def slope(rows: Sequence[Sequence[float]], end: int) -> float:
    """Least-squares slope of log r_n against log n, for n from 8 until r_n reaches `FLOOR`."""
    n = np.unique(np.geomspace(8, end, 60).astype(int))
    r = regret_at(rows, n)
    above = r > FLOOR
    if above.sum() < 3:
        return float("nan")
    return float(np.polyfit(np.log(n[above]), np.log(r[above]), 1)[0])


def corollary(dim: int, alpha: int) -> float:
    """-(1 - epsilon) / d with epsilon = 1/2: -2/D inside, -2/(3D) on the boundary."""
    return -0.5 / (dim / alpha - dim / 4)
