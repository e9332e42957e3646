"""The regrets of SequOOL and SOO without noise, where the near-optimality dimension is known."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bamsoo.base.typing import Array
from bamsoo.run.optimize import maximize

from ..jobs.source import Source
from ..jobs.task import Finished, Settings, Task
from ..paper.experiment import Experiment, Request
from ..paper.output import BLUE, GREEN, Assertion, Output, claims, image, table
from .peaks import Peak
from .states import state

PEAKS = (Peak(1, 2, 2), Peak(2, 2, 2), Peak(3, 2, 2), Peak(1, 1, 2), Peak(2, 1, 2))
NAMES = {"sequool": "SequOOL", "soo": "SOO"}
COLOUR = {"sequool": BLUE, "soo": GREEN}
BUDGETS = (15, 25, 40, 60, 100, 160, 250, 400, 630, 1000, 1600, 2500, 4000)
SHOWN = (25, 100, 400, 1000, 4000)
FIRST = 60
"""Number of evaluations at which fits start: a tree of a few levels does not follow a law yet."""


def tasks(request: Request) -> list[Task]:
    """One task for each algorithm, function and position of its maximiser."""
    return [
        Task(
            "family.deterministic:run",
            {
                "algorithm": name,
                "dim": peak.dim,
                "a": peak.a,
                "b": peak.b,
                "run": run,
                "state": state(name),
            },
            0.5,
            source=Source.NONE,
        )
        for name in NAMES
        for peak in PEAKS
        for run in range(request.scale.family_runs)
    ]


def run(settings: Settings, context: Settings) -> dict[str, Any]:
    """The regret after each budget; SequOOL plans for its budget, so it is run once for each."""
    peak = Peak(settings["dim"], settings["a"], settings["b"])
    f, box, name = peak.at(settings["run"]), [(0.0, 1.0)] * peak.dim, settings["algorithm"]
    if name == "soo":
        best = np.maximum.accumulate(maximize(f, box, BUDGETS[-1], algorithm=name).F)
        return {"regrets": [float(-best[n - 1]) for n in BUDGETS]}
    return {"regrets": [float(-maximize(f, box, n, algorithm=name).fun) for n in BUDGETS]}


def floor(peak: Peak) -> float:
    """log10 of the regret at the resolution of the smallest cells."""
    return -13.0 * peak.a


def logs(runs: Sequence[Finished], peak: Peak, name: str) -> Array:
    """The mean of log10 of the regret after each budget, over the positions of the maximum."""
    wanted = {"algorithm": name, "dim": peak.dim, "a": peak.a, "b": peak.b}
    regrets = [
        run.result["regrets"] for run in runs if wanted.items() <= dict(run.settings).items()
    ]
    mean: Array = np.log10(np.maximum(regrets, 10.0 ** floor(peak))).mean(axis=0)
    return mean


def growth(peak: Peak, y: Array) -> float:
    """The p for which log(1 / r) grows as n^p if d = 0, and r falls as n^p otherwise.

    It is fitted from `FIRST` evaluations on, until the regret is close to the floor.
    """
    n = np.array(BUDGETS)
    chosen = (n >= FIRST) & (y > floor(peak) + 1.0)
    if chosen.sum() < 2:
        return float("nan")
    logs = np.log10(-y[chosen]) if peak.d == 0 else y[chosen]
    return float(np.polyfit(np.log10(n[chosen]), logs, 1)[0])


def write(runs: Sequence[Finished], output: Output) -> str:
    """The regrets, and how fast they fall."""
    found = {(peak, name): logs(runs, peak, name) for peak in PEAKS for name in NAMES}
    output.csv(
        "family_deterministic",
        ["function", "d", "algorithm", *(f"log10_r_{b}" for b in BUDGETS)],
        ([p.label, p.d, NAMES[name], *(f"{x:.2f}" for x in y)] for (p, name), y in found.items()),
    )
    rates = {key: growth(key[0], y) for key, y in found.items()}
    rows = [
        [peak.label, f"{peak.d:g}", NAMES[name]]
        + [f"{y[BUDGETS.index(b)]:.1f}" for b in SHOWN]
        + [f"log(1/r) ~ n^{rates[peak, name]:.2f}" if peak.d == 0 else ""]
        + [f"r ~ n^{rates[peak, name]:.2f}" if peak.d > 0 else ""]
        for (peak, name), y in found.items()
    ]
    exponential = [p for p in PEAKS if p.d == 0]
    ours, theirs = ([rates[p, name] for p in exponential] for name in ("sequool", "soo"))
    at = BUDGETS.index(400)
    ratios = [float(found[p, "sequool"][at] / found[p, "soo"][at]) for p in exponential]
    rough = [p for p in PEAKS if p.d > 0]
    _draw(found, output)
    return output.section(
        20,
        "family-deterministic",
        "\n\n".join(
            [
                "## SequOOL against SOO, without noise",
                "Each row is an algorithm on a function. The functions depend on u, the largest "
                "distance to the maximiser along any axis; “u to u²” swings between -u and -u². d "
                "is the near-optimality dimension. The numbered columns give the mean of log10 of "
                f"the regret r after that many evaluations, over {len(runs) // len(found)} "
                "positions of the maximum; lower is better. The resolution of the smallest cells "
                f"limits it to {floor(PEAKS[0]):.0f} for u² and {floor(PEAKS[-1]):.0f} for “u to "
                f"u²”. The last two columns fit how the regret falls from {FIRST} evaluations on: "
                "log(1/r) as a power of n if d = 0, and r as a power of n otherwise.",
                "Cells that differ only along an axis other than that of u are equally good. The "
                "more axes there are, the more such cells there are, and the later the law for "
                "d = 0 becomes visible.",
                table(
                    [
                        *("function", "d", "algorithm", *map(str, SHOWN)),
                        *("exponential law", "power law"),
                    ],
                    rows,
                ),
                image("family-deterministic", "Regret against evaluations, without noise"),
                claims(
                    [
                        Assertion.of(
                            "with d = 0, log(1/r) grows as n / log n for SequOOL, which is about "
                            "n^0.8 for these n",
                            "powers for D = 1, 2, 3: " + ", ".join(f"{p:.2f}" for p in ours),
                            [p > 0.65 for p in ours],
                        ),
                        Assertion.of(
                            "with d = 0, log(1/r) grows as √n for SOO with h_max = √n",
                            "powers for D = 1, 2, 3: " + ", ".join(f"{p:.2f}" for p in theirs),
                            [0.35 < p < 0.65 for p in theirs],
                        ),
                        Assertion.of(
                            "with d = 0, SequOOL's regret is exponentially smaller than SOO's",
                            "log10 of the regret after 400 evaluations, as a multiple of SOO's: "
                            + ", ".join(f"{ratio:.1f}" for ratio in ratios),
                            [ratio > 1.3 for ratio in ratios],
                        ),
                        Assertion.of(
                            "with d > 0, SequOOL's regret falls about as fast as n^(−1/d), or "
                            "faster",
                            ", ".join(
                                f"n^{rates[p, 'sequool']:.1f} for d = {p.d:g} (SOO: "
                                f"n^{rates[p, 'soo']:.1f})"
                                for p in rough
                            ),
                            [rates[p, "sequool"] <= -0.75 / p.d for p in rough],
                        ),
                    ]
                ),
            ]
        ),
    )


def _draw(found: dict[tuple[Peak, str], Array], output: Output) -> None:
    with output.picture("family-deterministic", 12.0, 6.5, nrows=2, ncols=3) as axes:
        for ax, peak in zip(axes.flat, PEAKS, strict=False):
            for name, label in NAMES.items():
                style: dict[str, Any] = {"color": COLOUR[name], "label": label, "markersize": 4}
                ax.semilogx(BUDGETS, found[peak, name], "o-", **style)
            ax.set(title=f"{peak.label}; d = {peak.d:g}", xlabel="evaluations n")
        for ax in axes[:, 0]:
            ax.set_ylabel("mean of log10 r")
        axes[0, 0].legend()
        axes[1, 2].axis("off")


EXPERIMENT = Experiment("family-deterministic", tasks, write)
