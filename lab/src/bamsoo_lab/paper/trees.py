"""Figure of Sec. 3: the trees of SOO and BaMSOO on f(x) = sin(15x) sin(27x) / 2."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bamsoo import maximize
from bamsoo.algorithms import SOO, Algorithm, BaMSOO
from bamsoo.algorithms.tree import Status
from bamsoo.problems import sines

from ..jobs.task import Finished, Settings, Task
from .experiment import Experiment, Request
from .output import (
    BLUE,
    GREY,
    ORANGE,
    Assertion,
    Output,
    claims,
    image,
    table,
)
from .priors import kernel, stored

EVALUATIONS = 20


def tasks(request: Request) -> list[Task]:
    """20 evaluations each; both start at the centre, as the trees of the figure do."""
    shared = {"evaluations": EVALUATIONS, "prior": stored()["sines"][0]}
    return [
        Task("paper.trees:run", {**shared, "algorithm": name}, 0.1) for name in ("SOO", "BaMSOO")
    ]


def run(settings: Settings, context: Settings) -> dict[str, Any]:
    """Every node: depth, centre, ends of its cell, and whether it was evaluated or rejected."""
    prior = settings["prior"]
    algorithm: Algorithm = SOO(k=2)
    if settings["algorithm"] == "BaMSOO":
        algorithm = BaMSOO(kernel(prior), mean=prior["mean"])
    r = maximize(sines, sines.bounds, settings["evaluations"], algorithm=algorithm)
    leaves = set(r.tree.leaves())
    nodes = [
        {
            "depth": r.tree.depth[i],
            "x": float(r.tree.x[i, 0]),
            "low": float(r.tree.low[i, 0]),
            "high": float(r.tree.high[i, 0]),
            "evaluated": r.tree.status_of(i) is Status.EVALUATED,
            "leaf": i in leaves,
        }
        for i in range(len(r.tree))
        if r.tree.status_of(i) in (Status.EVALUATED, Status.REJECTED)
    ]
    return {"nodes": nodes, "best": r.fun}


def write(runs: Sequence[Finished], output: Output) -> str:
    """The nodes, the picture, and the claim in its caption."""
    trees = {run.settings["algorithm"]: run.result for run in runs}
    output.csv(
        "trees",
        ["algorithm", "depth", "x", "low", "high", "evaluated", "leaf"],
        ((name, *node.values()) for name, tree in trees.items() for node in tree["nodes"]),
    )
    deepest = max(node["depth"] for tree in trees.values() for node in tree["nodes"])
    with output.picture("trees", 8.0, 8.5, nrows=2, sharex=True, sharey=True) as axes:
        for ax, (name, tree) in zip(axes, trees.items(), strict=True):
            _panel(ax, name, tree["nodes"], deepest)
        axes[-1].set_xlabel("x")
    counts = {name: _counts(tree) for name, tree in trees.items()}
    text = "\n\n".join(
        [
            "## The trees of SOO and BaMSOO (Sec. 3 and 4)",
            table(
                ["algorithm", *next(iter(counts.values()))],
                [[name, *row.values()] for name, row in counts.items()],
            ),
            image("trees", "Nodes by depth after 20 evaluations each"),
            claims(_judge(counts)),
        ]
    )
    return output.section(2, "trees", text)


def _counts(tree: dict[str, Any]) -> dict[str, Any]:
    nodes = tree["nodes"]
    leaves = [node for node in nodes if node["leaf"]]
    return {
        "nodes": len(nodes),
        "evaluated": sum(node["evaluated"] for node in nodes),
        "rejected": sum(not node["evaluated"] for node in nodes),
        "leaf cells": len(leaves),
        "widest leaf": max(leaf["high"] - leaf["low"] for leaf in leaves),
        "depth": max(node["depth"] for node in nodes),
        "best value": f"{tree['best']:.6f}",
    }


def _judge(counts: dict[str, dict[str, Any]]) -> list[Assertion]:
    soo, bamsoo = counts["SOO"], counts["BaMSOO"]
    more = bamsoo["nodes"] > soo["nodes"] and bamsoo["widest leaf"] <= soo["widest leaf"]
    return [
        Assertion(
            "BaMSOO achieves a better coverage of the search space with the same number of "
            "function evaluations as SOO",
            f"{bamsoo['nodes']} nodes instead of {soo['nodes']}; the widest cell is "
            f"{bamsoo['widest leaf']:g} of the interval instead of {soo['widest leaf']:g}",
            more,
        )
    ]


def _panel(ax: Any, name: str, nodes: list[dict[str, Any]], deepest: int) -> None:
    grid = np.linspace(0.0, 1.0, 400)
    ax.plot(grid, [2.5 + 2.0 * sines(np.array([x])) for x in grid], "k-", linewidth=1.2)
    ax.text(0.2, 3.3, "f(x), not to scale", fontsize=10)
    by_cell = {(node["depth"], node["low"]): node for node in nodes}
    for node in nodes:
        for low in (node["low"], node["x"]):
            child = by_cell.get((node["depth"] + 1, low))
            if child is not None:
                ends = [node["x"], child["x"]], [-node["depth"], -child["depth"]]
                ax.plot(*ends, color=GREY, linewidth=0.8, zorder=1)
    for evaluated, style in ((True, ("o", BLUE, 45)), (False, ("x", ORANGE, 28))):
        chosen = [node for node in nodes if node["evaluated"] == evaluated]
        if chosen:
            mark, colour, size = style
            ax.scatter(
                [node["x"] for node in chosen],
                [-node["depth"] for node in chosen],
                marker=mark,
                color=colour,
                s=size,
                zorder=2,
                label=f"{len(chosen)} {'evaluated' if evaluated else 'rejected'}",
            )
    ticks = range(0, deepest + 1, 1 if deepest < 9 else 2)
    ax.set(title=f"{name}: {len(nodes)} nodes", ylabel="depth h", ylim=(-deepest - 2.0, 4.0))
    ax.set_yticks([-h for h in ticks], [str(h) for h in ticks])
    ax.legend(loc="lower left", fontsize=10)


EXPERIMENT = Experiment("trees", tasks, write)
