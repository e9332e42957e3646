"""The picture of the README: evaluations needed to come close to the optimum.

The paper's five test functions, in boxes that are cut at random around an optimum. bamsoo is run
here, which takes a few seconds; the runs of the peers are those that come with the laboratory.
Close means within 0.01 of the optimum. A bar is the median over all runs, and a point is one run.

BoTorch and scikit-optimize have stored runs in one box of each function, so the picture has one
box. SMAC is left out because its stored runs lack a function, Hartmann6. With `--boxes 3` there
are only the methods that have runs in the first three boxes.

    python lab/benchmarks/needed.py --out docs/images/needed.png
    python lab/benchmarks/needed.py --boxes 3
"""

import argparse
from math import inf
from pathlib import Path
from statistics import median

import bamsoo
from bamsoo_lab.bench import archive
from bamsoo_lab.bench.suites.paper import cases, cut_box

CLOSE = 0.01
BUDGET = 100
PEERS = {
    "optuna-gp": "Optuna GP",
    "botorch": "BoTorch",
    "skopt": "scikit-optimize",
    "smac": "SMAC",
    "optuna-tpe": "Optuna TPE",
    "cma": "CMA-ES",
    "random": "random",
}
BLUE, GREY = "#0072B2", "#9a9a9a"

Needed = dict[tuple[str, int], float]
"""By function and box; inf if the optimum was not reached."""


def own(problem: str, box: int) -> float:
    """The number of evaluations that bamsoo needs."""
    function = bamsoo.problems.ALL[problem]
    r = bamsoo.minimize(function, cut_box(function, box), BUDGET)
    regrets = (r.F - function.optimum).tolist()
    return next((i + 1 for i, regret in enumerate(regrets) if regret <= CLOSE), inf)


def needed(boxes: int) -> dict[str, Needed]:
    """The number of evaluations of bamsoo, and of each peer that has runs in all of the boxes."""
    places = sorted({(case.problem, case.instance) for case in cases(range(boxes))})
    found = {"bamsoo": {place: own(*place) for place in places}}
    runs: dict[str, dict[tuple[str, int], list[float]]] = {method: {} for method in PEERS}
    for run in archive.read(archive.DATA):
        if run["suite"] == "paper" and run["method"] in PEERS:
            reached = [step for step, regret in run["steps"] if regret <= CLOSE]
            each = runs[run["method"]].setdefault((run["problem"], run["instance"]), [])
            each.append(min(reached, default=inf))
    for method, label in PEERS.items():
        if all(place in runs[method] for place in places):
            found[label] = {place: median(runs[method][place]) for place in places}
    return found


def middle(each: Needed) -> tuple[float, str]:
    """The median, and how it is written."""
    number = median(each.values())
    return number, f"{number:.0f}" if number <= BUDGET else f"over {BUDGET}"


def draw(found: dict[str, Needed], out: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    def rank(name: str) -> tuple[float, int]:
        values = found[name].values()
        return min(median(values), BUDGET + 1), sum(value > BUDGET for value in values)

    order = sorted(found, key=rank)[::-1]
    figure, ax = pyplot.subplots(figsize=(8, 3.8), layout="constrained")
    for place, name in enumerate(order):
        number, text = middle(found[name])
        color = BLUE if name == "bamsoo" else GREY
        ax.barh(place, min(number, BUDGET), color=color, height=0.62)
        reached = [value for value in found[name].values() if value <= BUDGET]
        ax.plot(reached, [place] * len(reached), "o", ms=5, color="black")
        ax.text(1.03 * BUDGET, place, text, va="center", weight="bold")
        ax.text(1.19 * BUDGET, place, f"{len(reached)} of {len(found[name])}", va="center")
    ax.text(1.03 * BUDGET, len(order) - 0.45, "median", va="bottom")
    ax.text(1.19 * BUDGET, len(order) - 0.45, "reached", va="bottom")
    ax.set_yticks(range(len(order)), order)
    ax.set_xlim(0, BUDGET)
    ax.set_title(
        "Evaluations until within 0.01 of the optimum: fewer is better", loc="left", pad=22
    )
    ax.set_xlabel("evaluations (bar: median over all runs; point: one run)")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    figure.savefig(out, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boxes", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("needed.png"))
    given = parser.parse_args()
    table = needed(given.boxes)
    for name, each in table.items():
        runs = " ".join(
            f"{function}/{box}:{number:.0f}" for (function, box), number in each.items()
        )
        print(f"{name:16} {middle(each)[1]:14} {runs}")
    draw(table, given.out)
