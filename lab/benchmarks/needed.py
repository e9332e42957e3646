"""The picture of the README: evaluations needed to come close to the optimum.

The paper's five test functions, each in one box that is cut at random around an optimum.
bamsoo is run here, which takes a few seconds; the runs of the peers are those that come with the
laboratory. Close means within 0.01 of the optimum. The picture shows the median over the functions,
and the points each function.

    python lab/benchmarks/needed.py --out docs/images/needed.png
"""

import argparse
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
    "optuna-tpe": "Optuna TPE",
    "cma": "CMA-ES",
    "random": "random",
}
BLUE, GREY = "#0072B2", "#9a9a9a"


def own(problem: str) -> float:
    """The number of evaluations that bamsoo needs."""
    function = bamsoo.problems.ALL[problem]
    r = bamsoo.minimize(function, cut_box(function, 0), BUDGET)
    regrets = (r.F - function.optimum).tolist()
    return next((i + 1 for i, regret in enumerate(regrets) if regret <= CLOSE), BUDGET)


def needed() -> dict[str, dict[str, float]]:
    """The number of evaluations of each method on each function, at most the budget."""
    names = sorted({case.problem for case in cases([0])})
    found = {"bamsoo": {name: own(name) for name in names}}
    runs: dict[tuple[str, str], list[float]] = {}
    for run in archive.read(archive.DATA):
        if run["suite"] == "paper" and run["instance"] == 0 and run["method"] in PEERS:
            reached = [step for step, regret in run["steps"] if regret <= CLOSE]
            key = run["method"], run["problem"]
            runs.setdefault(key, []).append(min(reached, default=BUDGET))
    for method, label in PEERS.items():
        found[label] = {name: median(runs[method, name]) for name in names}
    return found


def draw(found: dict[str, dict[str, float]], out: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    names = [*found][::-1]
    order = sorted(names, key=lambda name: -median(found[name].values()))
    figure, ax = pyplot.subplots(figsize=(8, 3.6), layout="constrained")
    for place, name in enumerate(order):
        middle = median(found[name].values())
        ax.barh(place, middle, color=BLUE if name == "bamsoo" else GREY, height=0.62)
        ax.plot(list(found[name].values()), [place] * len(found[name]), "o", ms=4, color="black",
                alpha=0.6, clip_on=False)  # fmt: skip
        text = f"{middle:.0f}" if middle < BUDGET else f"more than {BUDGET}"
        ax.text(103, place, text, va="center")
    ax.set_yticks(range(len(order)), order)
    ax.set_xlim(0, 100)
    ax.set_xlabel(
        "evaluations until within 0.01 of the optimum; bar: median, points: five functions"
    )
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    figure.savefig(out, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("needed.png"))
    given = parser.parse_args()
    table = needed()
    for name, each in table.items():
        print(f"{name:16}", f"{median(each.values()):6.1f}", each)
    draw(table, given.out)
