"""How fast IMGPO, BaMSOO and the default converge on draws from a Gaussian process."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from bamsoo.algorithms import IMGPO, Algorithm, Auto, BaMSOO
from bamsoo.base.typing import Array
from bamsoo.kernels import Matern52
from bamsoo.run.optimize import maximize

from ..jobs.source import Source
from ..jobs.task import Finished, Settings, Task
from ..paper.draws import FourierDraw
from ..paper.experiment import Experiment, Request
from ..paper.output import BLUE, GREEN, ORANGE, Assertion, Output, claims, image, table
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
"""Regrets below this are rounding errors of f and of its maximum."""

MARKS = (1, 2, 4, 6, 8, 10)
"""The k of the regrets 10^-k for which evaluations are counted. Rates are measured from 10^-2 on,
when the search has found where the maximum is.
"""

SLOWER = 2.0
"""Convergence counts as exponential if the last decade takes at most this many times as many
evaluations as the first.
"""


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
                "budget": scale.draw_evaluations * dim,
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


def costs(regrets: Sequence[Sequence[float]]) -> list[float]:
    """Evaluations until the regret is at most 10^-k, for `MARKS`: the median over draws, or inf."""
    runs = np.array(regrets)
    found = []
    for k in MARKS:
        met = runs <= 10.0**-k
        first = np.where(met.any(axis=1), met.argmax(axis=1) + 1.0, np.inf)
        found.append(float(np.sort(first)[len(first) // 2]))
    return found


def decades(cost: Sequence[float]) -> list[float]:
    """Evaluations per decade between successive marks, as far as these are reached."""
    marks = list(zip(MARKS, cost, strict=True))[1:]
    return [(m - n) / (j - k) for (k, n), (j, m) in pairwise(marks) if m < np.inf]


def factor(cost: Sequence[float]) -> float | None:
    """λ: the mean factor on the regret per evaluation, from 10^-2 to the last mark reached."""
    met = [(k, n) for k, n in zip(MARKS, cost, strict=True) if k >= 2 and n < np.inf]
    if len(met) < 2 or met[-1][1] == met[0][1]:
        return None
    return float(10.0 ** ((met[0][0] - met[-1][0]) / (met[-1][1] - met[0][1])))


def exponential(cost: Sequence[float]) -> bool | None:
    """Whether the last decade takes about as long as the first; None without two decades."""
    each = decades(cost)
    return each[-1] <= SLOWER * max(each[0], 1.0) if len(each) > 1 else None


def write(runs: Sequence[Finished], output: Output) -> str:
    """The median regrets and the rates."""
    regrets: dict[tuple[int, str], list[list[float]]] = {}
    for each in runs:
        key = each.settings["dim"], each.settings["algorithm"]
        regrets.setdefault(key, []).append(each.result["regrets"])
    found = {key: np.median(some, axis=0) for key, some in regrets.items()}
    cost = {key: costs(some) for key, some in regrets.items()}
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
        [dim, NAMES[name], len(found[dim, name])]
        + [f"{np.log10(max(found[dim, name][-1], FLOOR)):.1f}"]
        + [f"{n:.0f}" if n < np.inf else "–" for n in cost[dim, name]]
        + [", ".join(f"{n:.1f}" for n in decades(cost[dim, name])) or "–"]
        + ["–" if (x := factor(cost[dim, name])) is None else f"{x:.2f}"]
        for dim in DIMS
        for name in ALGORITHMS
    ]
    ahead = [dim for dim in DIMS if found[dim, "imgpo"][-1] <= max(found[dim, "bamsoo"][-1], FLOOR)]
    _draw(found, output)
    return output.section(
        22,
        "family-draws",
        "\n\n".join(
            [
                "## IMGPO, BaMSOO and the default on draws from a Gaussian process",
                "Functions are drawn from a Gaussian process with a Matérn 5/2 kernel of length "
                f"scale 0.3, {len(runs) // len(found)} for each D. IMGPO and BaMSOO know the "
                "kernel; the default learns one. Each row is an algorithm in one dimension:",
                f"- “log10 r” is log10 of the median regret after n evaluations (at least "
                f"{np.log10(FLOOR):.0f}).\n"
                "- The columns “10^-k” give the number of evaluations until the regret is at most "
                "10^-k, as the median over the draws. A dash means that half of the draws do not "
                "get there.\n"
                "- “evaluations per decade” is the number of evaluations that reduce the regret "
                "by a factor of 10: first from 10^-2 to 10^-4, then from 10^-4 to 10^-6, and so "
                "on. These numbers are equal if the regret falls as λ^n.\n"
                "- λ is the mean factor per evaluation from 10^-2 on; smaller is better.",
                table(
                    [
                        *("D", "algorithm", "n", "log10 r", *(f"10^-{k}" for k in MARKS)),
                        *("evaluations per decade", "λ"),
                    ],
                    rows,
                ),
                image(
                    "family-draws",
                    "Median regret against evaluations, on draws from a Gaussian process",
                ),
                claims(
                    [
                        _steady("IMGPO converges exponentially: r_n = O(λ^n)", cost, "imgpo"),
                        _steady(
                            "a practical algorithm with geometric convergence is an open problem "
                            "(discussion of the paper on BaMSOO); here, the default",
                            cost,
                            "auto",
                        ),
                        Assertion.of(
                            "IMGPO converges faster than BaMSOO",
                            f"its final median regret is no larger for D = "
                            f"{', '.join(map(str, ahead)) or 'none'}",
                            [dim in ahead for dim in DIMS],
                        ),
                    ]
                ),
            ]
        ),
    )


def _steady(words: str, cost: dict[tuple[int, str], list[float]], name: str) -> Assertion:
    told = {dim: exponential(cost[dim, name]) for dim in DIMS}
    words_for = {
        True: "the last decade takes about as many evaluations as the first",
        False: "the last decade takes many more evaluations than the first",
        None: "half of the draws do not reach 10^-6",
    }
    found = {
        said: [str(dim) for dim in DIMS if told[dim] is verdict]
        for verdict, said in words_for.items()
    }
    return Assertion.of(
        words,
        "; ".join(f"D = {', '.join(dims)}: {said}" for said, dims in found.items() if dims),
        [each is True for each in told.values()],
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
