"""How fast IMGPO, BaMSOO and the default converge on draws from a Gaussian process."""

from collections.abc import Sequence
from typing import Any

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


def laws(r: Array) -> tuple[float, float, float, float]:
    """Decades for each 100 evaluations, and the exponent in n; the R² of both lines.

    From the fifth evaluation until the regret meets `FLOOR`.
    """
    n = np.arange(1, len(r) + 1)
    end = int(np.argmax(r <= FLOOR)) if (r <= FLOOR).any() else len(r)
    chosen = slice(4, max(end, 8))
    y = np.log10(np.maximum(r[chosen], FLOOR))
    spread = float(((y - y.mean()) ** 2).sum()) or 1.0
    lines = []
    for x in (n[chosen] / 100.0, np.log10(n[chosen])):
        slope, offset = np.polyfit(x, y, 1)
        lines.append((float(slope), 1.0 - float(((y - slope * x - offset) ** 2).sum()) / spread))
    return lines[0][0], lines[1][0], lines[0][1], lines[1][1]


def write(runs: Sequence[Finished], output: Output) -> str:
    """Median regrets and rates."""
    regrets: dict[tuple[int, str], list[list[float]]] = {}
    for each in runs:
        key = each.settings["dim"], each.settings["algorithm"]
        regrets.setdefault(key, []).append(each.result["regrets"])
    found = {key: np.median(some, axis=0) for key, some in regrets.items()}
    budget = len(next(iter(found.values())))
    marks = [budget // 6, budget // 3, 2 * budget // 3, budget]
    rates = {
        key: np.median([laws(np.array(r)) for r in some], axis=0) for key, some in regrets.items()
    }
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
        [dim, NAMES[name]]
        + [f"{np.log10(max(found[dim, name][m - 1], FLOOR)):.1f}" for m in marks]
        + [f"{-rates[dim, name][0]:.1f}", f"{rates[dim, name][2]:.2f}"]
        + [f"{rates[dim, name][1]:.1f}", f"{rates[dim, name][3]:.2f}"]
        for dim in DIMS
        for name in ALGORITHMS
    ]
    geometric = [dim for dim in DIMS if rates[dim, "imgpo"][2] > rates[dim, "imgpo"][3]]
    ahead = [dim for dim in DIMS if found[dim, "imgpo"][-1] <= max(found[dim, "bamsoo"][-1], FLOOR)]
    _draw(found, output)
    return output.section(
        22,
        "family-draws",
        "\n\n".join(
            [
                "## IMGPO, BaMSOO and the default on draws from a Gaussian process",
                f"Matérn 5/2 with length-scale 0.3, {len(runs) // len(found)} draws for each D. "
                "IMGPO and BaMSOO know the kernel; the default learns one. log10 of the median "
                f"regret after {', '.join(map(str, marks))} evaluations (at least "
                f"{np.log10(FLOOR):.0f}). Then two fits to each draw, medians over draws: decades "
                "gained in 100 evaluations with the R² of that line, and the power of n with its "
                "R².",
                table(
                    [
                        *("D", "", *(f"n = {m}" for m in marks)),
                        *("decades per 100", "R²", "power of n", "R²"),
                    ],
                    rows,
                ),
                image("family-draws", "Median regret on draws from a Gaussian process"),
                claims(
                    [
                        Claim.of(
                            "IMGPO converges exponentially: r_n = O(λ^n)",
                            f"a line in n fits log r better than one in log n for D = "
                            f"{', '.join(map(str, geometric)) or 'none'}",
                            [dim in geometric for dim in DIMS],
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
