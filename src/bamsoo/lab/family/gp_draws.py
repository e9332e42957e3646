"""How fast IMGPO, BaMSOO and the default converge on draws from a Gaussian process."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from ..._typing import Array
from ...algorithms import IMGPO, Algorithm, Auto, BaMSOO
from ...model.kernels import Matern52
from ...run.optimize import maximize
from ..jobs.source import Source
from ..jobs.task import Finished, Settings, Task
from ..paper.draws import FourierDraw
from ..paper.experiment import Experiment, Request
from ..paper.output import BLUE, GREEN, ORANGE, Claim, Output, claims, image, table
from .states import state

DIMS = (1, 2, 3, 4)
KERNEL = Matern52(0.3)
ALGORITHMS: dict[str, Algorithm] = {
    "imgpo": IMGPO(KERNEL),
    "bamsoo": BaMSOO(KERNEL),
    "auto": Auto(),
}
NAMES = {"imgpo": "IMGPO", "bamsoo": "BaMSOO", "auto": "the default"}
COLOUR = {"imgpo": ORANGE, "bamsoo": BLUE, "auto": GREEN}
FLOOR = 1e-12
"""Regrets below this are rounding of f and of its maximum."""

DECADES = tuple(k / 2 for k in range(2, 24))
"""The precisions 10^-k whose cost is counted."""

SHOWN = (1, 2, 4, 6, 8, 10)

GEOMETRIC = 0.8
"""With log(1/r) growing as n^p: from this p on the convergence counts as exponential. A straight
line has p = 1, and n / log n about 0.8 for such n."""

Rate: TypeAlias = tuple[float, float]


def tasks(request: Request) -> list[Task]:
    """One task for each draw and algorithm."""
    scale = request.scale
    return [
        Task(
            "family.gp_draws:run",
            {
                "algorithm": name,
                "dim": dim,
                "draw": draw,
                "budget": scale.draw_evaluations,
                "state": state(name),
            },
            1.0,
            source=Source.NONE,
        )
        for name in ALGORITHMS
        for dim in DIMS
        for draw in range(scale.family_draws)
    ]


def run(settings: Settings, context: Settings) -> dict[str, Any]:
    """The best regret after each evaluation."""
    dim, budget = settings["dim"], settings["budget"]
    f = FourierDraw(KERNEL, dim, np.random.default_rng([11, dim, settings["draw"]]))
    algorithm = ALGORITHMS[settings["algorithm"]]
    values = maximize(f, [(0.0, 1.0)] * dim, budget, algorithm=algorithm).F
    best = np.maximum.accumulate(values)
    f_star = max(f.maximum()[1], float(best[-1]))
    return {"regrets": [float(f"{f_star - value:.4g}") for value in best]}


def costs(regrets: Sequence[Sequence[float]]) -> dict[float, float]:
    """Evaluations until the regret is at most 10^-k, by k: the median over the draws, or inf."""
    runs = np.array(regrets)
    found = {}
    for k in DECADES:
        met = runs <= 10.0**-k
        first = np.where(met.any(axis=1), met.argmax(axis=1) + 1.0, np.inf)
        found[k] = float(np.sort(first)[len(first) // 2])
    return found


def rate(cost: dict[float, float]) -> Rate | None:
    """Decades for each 100 evaluations, and p such that log(1/r) grows as n^p.

    From the precisions that most draws meet; None where they are met within a few evaluations.
    """
    met = [(k, n) for k, n in cost.items() if n < np.inf]
    if len({n for _, n in met}) < 4:
        return None
    k, n = np.array(met).T
    p = np.polyfit(np.log(n), np.log(k), 1)[0]
    return 100.0 * float(np.polyfit(n, k, 1)[0]), float(p)


def write(runs: Sequence[Finished], output: Output) -> str:
    """Median regrets and rates."""
    regrets: dict[tuple[int, str], list[list[float]]] = {}
    for each in runs:
        key = each.settings["dim"], each.settings["algorithm"]
        regrets.setdefault(key, []).append(each.result["regrets"])
    found = {key: np.median(some, axis=0) for key, some in regrets.items()}
    cost = {key: costs(some) for key, some in regrets.items()}
    rates = {key: rate(some) for key, some in cost.items()}
    budget = len(next(iter(found.values())))
    output.csv(
        "family_draws",
        ["dim", "algorithm", "evaluation", "median_regret"],
        (
            (dim, NAMES[name], i + 1, f"{x:.4g}")
            for (dim, name), r in found.items()
            for i, x in enumerate(r)
        ),
    )
    rows = [
        [dim, NAMES[name], f"{np.log10(max(found[dim, name][-1], FLOOR)):.1f}"]
        + [_number(cost[dim, name][k]) for k in SHOWN]
        + _shown(rates[dim, name])
        for dim in DIMS
        for name in ALGORITHMS
    ]
    powers = {
        name: [None if (some := rates[dim, name]) is None else some[1] for dim in DIMS]
        for name in ALGORITHMS
    }
    ahead = [dim for dim in DIMS if found[dim, "imgpo"][-1] <= max(found[dim, "bamsoo"][-1], FLOOR)]
    _draw(found, output)
    return output.section(
        22,
        "family-draws",
        "\n\n".join(
            [
                "## IMGPO, BaMSOO and the default on draws from a Gaussian process",
                f"Matérn 5/2 with length-scale 0.3, {len(runs) // len(found)} draws for each D. "
                "IMGPO and BaMSOO know the kernel; the default learns one. First log10 of the "
                f"median regret after {budget} evaluations (at least {np.log10(FLOOR):.0f}). Then "
                "the evaluations until the regret is at most 10^-k, medians over the draws; a dash "
                "where most draws do not get there. From these, for k from "
                f"{DECADES[0]:g} on, the decades gained in 100 evaluations, and the p with which "
                "log(1/r) grows as n^p: 1 where the regret falls as λ^n.",
                table(
                    [
                        *("D", "", f"n = {budget}", *(f"10^-{k}" for k in SHOWN)),
                        *("decades per 100", "p"),
                    ],
                    rows,
                ),
                image("family-draws", "Median regret on draws from a Gaussian process"),
                claims(
                    [
                        Claim.of(
                            "IMGPO converges exponentially: r_n = O(λ^n)",
                            "p for D = 1 to 4: " + _list(powers["imgpo"]),
                            [p is not None and p >= GEOMETRIC for p in powers["imgpo"]],
                        ),
                        Claim.of(
                            "a practical algorithm with geometric convergence is an open problem "
                            "(the paper on BaMSOO); here, the default",
                            "p for D = 1 to 4: " + _list(powers["auto"]),
                            [p is not None and p >= GEOMETRIC for p in powers["auto"]],
                        ),
                        Claim.of(
                            "IMGPO converges faster than BaMSOO",
                            f"its median regret in the end is no larger for D = "
                            f"{', '.join(map(str, ahead)) or 'none'}",
                            [dim in ahead for dim in DIMS],
                        ),
                    ]
                ),
            ]
        ),
    )


def _number(n: float) -> str:
    return f"{n:.0f}" if n < np.inf else "–"


def _shown(rate: Rate | None) -> list[str]:
    return ["–", "–"] if rate is None else [f"{rate[0]:.1f}", f"{rate[1]:.2f}"]


def _list(powers: Sequence[float | None]) -> str:
    return ", ".join("–" if p is None else f"{p:.2f}" for p in powers)


def _draw(found: dict[tuple[int, str], Array], output: Output) -> None:
    with output.picture("family-draws", 12.0, 4.2, ncols=len(DIMS), sharey=True) as axes:
        for ax, dim in zip(axes, DIMS, strict=True):
            for name, label in NAMES.items():
                r = np.maximum(found[dim, name], FLOOR)
                ax.semilogy(np.arange(1, len(r) + 1), r, color=COLOUR[name], label=label)
            ax.set(title=f"D = {dim}", xlabel="evaluations")
        axes[0].set_ylabel("median regret")
        axes[-1].legend()


EXPERIMENT = Experiment("family-draws", tasks, write)
