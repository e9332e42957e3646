"""Evaluations needed to come close to the optimum: a table and a picture for the benchmarks.

The paper's five test functions, in boxes that are cut at random around an optimum. bamsoo is run
here, which takes a few seconds; the runs of the peers are those that come with the laboratory, of
the methods that have runs in all of the boxes. Close means within 0.01 of the optimum. A bar is the
median over all runs, and a point is one run.

    python lab/benchmarks/needed.py
    python lab/benchmarks/needed.py --docs docs/benchmarks/test-functions.md
"""

import argparse
import tempfile
from math import inf
from pathlib import Path
from statistics import median

import bamsoo
from bamsoo_lab.bench import archive, docs
from bamsoo_lab.bench.suites.paper import cases, cut_box
from bamsoo_lab.bench.tables import Table
from bamsoo_lab.paper import output

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


def ranked(found: dict[str, Needed]) -> list[str]:
    """The methods, the one that needs the fewest evaluations first."""

    def rank(name: str) -> tuple[float, int]:
        values = found[name].values()
        return min(median(values), BUDGET + 1), sum(value > BUDGET for value in values)

    return sorted(found, key=rank)


def table(found: dict[str, Needed], boxes: int) -> Table:
    """The medians, and how many runs came close."""
    rows = [
        [name, middle(each)[1], f"{sum(n <= BUDGET for n in each.values())} of {len(each)}"]
        for name in ranked(found)
        for each in [found[name]]
    ]
    return Table(
        "needed",
        f"Evaluations until within {CLOSE} of the optimum: the paper's five functions, in "
        f"{boxes} boxes each",
        ["method", "median", "runs that reached it"],
        rows,
        f"Runs have {BUDGET} evaluations; one that does not come close counts as more.",
    )


def draw(found: dict[str, Needed], out: Path) -> None:
    order = ranked(found)[::-1]
    pyplot = output.pyplot()
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


def main(boxes: int, page: Path | None) -> None:
    found = needed(boxes)
    shown = table(found, boxes)
    print(shown.markdown())
    if page is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder, "needed.png")
        draw(found, picture)
        caption = f"{shown.title}; a bar is a median, and a point is one run"
        made = docs.written("python lab/benchmarks/needed.py")
        body = [made, shown.markdown(), output.image("needed", caption)]
        docs.rewrite(page, shown.name, "\n\n".join(body), [picture])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boxes", type=int, default=3)
    parser.add_argument("--docs", type=Path)
    given = parser.parse_args()
    main(given.boxes, given.docs)
