"""Figure of Sec. 2.1: confidence bounds in 1-D, and what the best lower bound rules out."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bamsoo.algorithms import Shrinking
from bamsoo.algorithms.book import Book
from bamsoo.algorithms.search import B
from bamsoo.algorithms.shrinking import shrinking
from bamsoo.model.gp import GP
from bamsoo.problems import sines
from bamsoo.space.axes import Continuous, Domain

from ..jobs.task import Finished, Settings, Task
from .experiment import Experiment, Request
from .output import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    Assertion,
    Output,
    claims,
    image,
)
from .priors import kernel, stored
from .watch import WatchedGP, drive

ROUNDS = 4
_GRID = np.linspace(0.0, 1.0, 513)


def tasks(request: Request) -> list[Task]:
    """One run of the shrinking algorithm."""
    return [Task("paper.feasible:run", {"prior": stored()["sines"][0], "eta": 0.05}, 0.1)]


def run(settings: Settings, context: Settings) -> dict[str, Any]:
    """Run the shrinking algorithm on `sines`; what it knew and ruled out after each lattice."""
    prior = settings["prior"]
    algorithm = Shrinking(kernel(prior), prior["mean"], settings["eta"])
    gp, book = WatchedGP(algorithm.kernel, 1, prior["mean"]), Book()
    search = shrinking(algorithm, Domain((Continuous(1e-9),)), gp, book)
    rounds: list[dict[str, Any]] = []
    best_lower = -np.inf
    for _ in drive(search, book, sines):
        if len(gp.lattices) == len(rounds):
            continue
        # A new lattice was examined before this point was asked for. Recompute the state it saw.
        width = B(sum(map(len, gp.lattices)), settings["eta"])
        known = GP(algorithm.kernel, 1, prior["mean"])
        for i, (x, value) in enumerate(zip(gp.X[: gp.known], gp.values, strict=True)):
            known.expect(i, x)
            known.observe(i, float(value))
        mu, sigma = known.posterior(gp.lattices[-1])
        best_lower = max(best_lower, float((mu - width * sigma).max()), book.f_plus)
        mu, sigma = known.posterior(_GRID[:, None])
        rounds.append(
            {
                "x": known.X[:, 0].tolist(),
                "f": known.values.tolist(),
                "lower": (mu - width * sigma).tolist(),
                "upper": (mu + width * sigma).tolist(),
                "best_lower": best_lower,
            }
        )
        if len(rounds) == ROUNDS:
            break
    return {"rounds": rounds}


def write(runs: Sequence[Finished], output: Output) -> str:
    """The bounds of each round on a grid, the picture, and the share that is not ruled out."""
    rounds = runs[0].result["rounds"]
    output.csv(
        "feasible",
        ["points", "x", "lower", "upper", "best_lower"],
        (
            (len(r["x"]), x, low, high, r["best_lower"])
            for r in rounds
            for x, low, high in zip(_GRID.tolist(), r["lower"], r["upper"], strict=True)
        ),
    )
    shown = rounds[1:]
    with output.picture("feasible", 8.0, 7.5, nrows=len(shown), sharex=True) as axes:
        for ax, state in zip(axes, shown, strict=True):
            _panel(ax, state)
        axes[-1].set(xlabel="x", xlim=(0.0, 1.0))
        entries = axes[0].get_legend_handles_labels()
        axes[0].figure.legend(*entries, loc="outside upper center", ncol=5, fontsize=10)
    left = [float((np.array(r["upper"]) > r["best_lower"]).mean()) for r in rounds]
    optimum = float(sines.optimizers[0, 0])
    i = int(np.abs(_GRID - optimum).argmin())
    inside = all(r["upper"][i] > r["best_lower"] for r in rounds)
    shares = ", ".join(
        f"{share:.0%} after {len(r['x'])} evaluations"
        for share, r in zip(left, rounds, strict=True)
    )
    text = "\n\n".join(
        [
            "## Shrinking feasible regions (Sec. 2.1)",
            image("feasible", "What the best lower bound rules out, lattice by lattice"),
            claims(
                [
                    Assertion(
                        "Regions whose upper bound is below the best lower bound can be "
                        "discarded; the region shrinks quickly and keeps the optimiser",
                        f"share of the interval left: {shares}; the optimiser is "
                        + ("always inside" if inside else "lost"),
                        inside and left[-1] < left[0],
                    )
                ]
            ),
        ]
    )
    return output.section(1, "feasible", text)


def _panel(ax: Any, state: dict[str, Any]) -> None:
    upper, best_lower = np.array(state["upper"]), state["best_lower"]
    ax.fill_between(_GRID, state["lower"], upper, color=GREEN, alpha=0.3, label="bounds L to U")
    ax.plot(_GRID, [sines(np.array([x])) for x in _GRID], "k-", linewidth=1, label="f")
    ax.axhline(best_lower, color=ORANGE, linestyle="--", label="best lower bound")
    ax.fill_between(
        _GRID,
        0.0,
        1.0,
        where=upper <= best_lower,
        transform=ax.get_xaxis_transform(),
        color=GREY,
        alpha=0.35,
        linewidth=0,
        label="ruled out",
    )
    ax.plot(state["x"], state["f"], "o", color=BLUE, markersize=6, label="evaluated")
    ax.set(ylabel="f(x)", title=f"{len(state['x'])} evaluations", ylim=(-1.6, 1.4))


EXPERIMENT = Experiment("feasible", tasks, write)
