"""Results of `rates`: slopes compared with the corollary's, and B_N with its bound in the proof."""

from collections.abc import Sequence
from math import log, pi, sqrt
from typing import Any

import numpy as np

from bamsoo.algorithms.search import B
from bamsoo.base.typing import Array

from ..jobs.task import Finished
from .experiment import Experiment
from .output import (
    COLOURS,
    ORANGE,
    Assertion,
    Output,
    claims,
    image,
    table,
)
from .rates import (
    ALPHAS,
    DIMS,
    FLOOR,
    corollary,
    regret_at,
    slope,
    tasks,
)

ETA = 0.05
NAMES = ("BaMSOO", "SOO")
TheoryCase = tuple[int, int]
"""Dimension, and alpha, which says where the maximum of a draw is."""


def write(runs: Sequence[Finished], output: Output) -> str:
    """The parts (c) and (d)."""
    cases: dict[TheoryCase, list[Finished]] = {(dim, alpha): [] for alpha in ALPHAS for dim in DIMS}
    for run in runs:
        cases[run.settings["dim"], run.settings["alpha"]].append(run)
    text = "\n\n".join([_rates(cases, output), _widths(runs, output)])
    return output.section(8, "rates", text)


def _rates(cases: dict[TheoryCase, list[Finished]], output: Output) -> str:
    rows, found = [], []
    for (dim, alpha), runs in cases.items():
        end = runs[0].settings["expansions"]
        row: list[Any] = [dim, alpha, len(runs), corollary(dim, alpha)]
        for name in NAMES:
            slopes = np.array([slope(run.result["regrets"][name], end) for run in runs])
            row += [np.nanmean(slopes), np.nanstd(slopes)]
            if name == "BaMSOO":
                found.append(float(np.nanmean(slopes)) <= corollary(dim, alpha))
        row += [np.mean([run.result["evaluations"][name] for run in runs]) for name in NAMES]
        rows.append(row)
    header = "dim alpha draws corollary bamsoo_slope bamsoo_std soo_slope soo_std"
    output.csv("rates_summary", f"{header} bamsoo_evaluations soo_evaluations".split(), rows)
    output.csv(
        "rates",
        ["dim", "alpha", "draw", "algorithm", "expansions", "regret"],
        (
            (dim, alpha, run.settings["draw"], name, n, regret)
            for (dim, alpha), runs in cases.items()
            for run in runs
            for name in NAMES
            for n, regret in run.result["regrets"][name]
        ),
    )
    _draw_rates(cases, output)
    shown = [
        [
            dim,
            "inside, 2" if alpha == 2 else "boundary, 1",
            draws,
            f"{bound:.2f}",
            f"{a:.2f} ± {a_std:.2f}",
            f"{b:.2f} ± {b_std:.2f}",
            f"{t:.0f}",
            f"{t_soo:.0f}",
        ]
        for dim, alpha, draws, bound, a, a_std, b, b_std, t, t_soo in rows
    ]
    heads = ["D", "maximum, α", "draws", "corollary", "BaMSOO", "SOO"]
    return "\n\n".join(
        [
            "## Theory (c): simple regret against expansions (the corollary)",
            "Slope of log r_n against log n on draws from a Matérn 5/2 GP (mean ± standard "
            f"deviation over draws), with n up to {end} and h_max = √n. A more negative slope "
            "means faster convergence.",
            table([*heads, "evaluations: BaMSOO", "evaluations: SOO"], shown),
            image(
                "rates",
                "Median simple regret against expansions; dashed: the slope of the corollary",
            ),
            claims(
                [
                    Assertion(
                        "the loss is O(n^(-2/D) log) for α = 2 and O(n^(-2/(3D)) log^(1/3)) for "
                        "α = 1, in expansions n",
                        f"steeper than the corollary in {sum(found)} of {len(found)} cases",
                        all(found),
                    )
                ]
            ),
        ]
    )


def _draw_rates(cases: dict[TheoryCase, list[Finished]], output: Output) -> None:
    size = {"nrows": len(ALPHAS), "ncols": len(DIMS), "sharex": True, "sharey": True}
    with output.picture("rates", 11.0, 6.5, **size) as axes:
        for ax, ((dim, alpha), runs) in zip(axes.flat, cases.items(), strict=True):
            n: Array = np.unique(np.geomspace(1, runs[0].settings["expansions"], 60).astype(int))
            for name in NAMES:
                regrets = [regret_at(run.result["regrets"][name], n) for run in runs]
                middle = np.maximum(np.median(regrets, axis=0), FLOOR)
                style: dict[str, Any] = {"color": COLOURS[name], "label": name}
                if name == "SOO":  # the two nearly coincide
                    style |= {"linewidth": 7, "alpha": 0.45, "zorder": 1}
                ax.loglog(n, middle, **style)
            if alpha == ALPHAS[-1]:
                ax.set_xlabel("expansions n")
            ax.loglog(n, n ** corollary(dim, alpha), "--", color="black", label="corollary")
            where = "inside" if alpha == 2 else "at the edge"
            ax.set(title=f"D = {dim}, maximum {where}")
        for ax in axes[:, 0]:
            ax.set_ylabel("regret r$_n$")
        axes[0, 0].legend()


def _widths(runs: Sequence[Finished], output: Output) -> str:
    """The latest N, over all runs, at which a node of each depth was examined."""
    latest: dict[int, int] = {}
    for run in runs:
        for h, N in enumerate(run.result["last_N"]):
            latest[h] = max(latest.get(h, 0), N)
    complete = min(run.result["complete"] for run in runs)
    depths = sorted(latest)
    widths = [B(latest[h], ETA) for h in depths]
    bounds = [_proof_bound(h) for h in depths]
    output.csv("widths", ["depth", "largest_N", "B_N", "bound"], _zip(depths, latest, widths))
    worst = max(w / sqrt(h) for h, w in zip(depths, widths, strict=True) if h)
    within = all(w <= b for w, b in zip(widths, bounds, strict=True))
    with output.picture("widths", 6.5, 4.5) as ax:
        ax.plot(depths, widths, "o", color=COLOURS["BaMSOO"], label="largest B$_N$ measured")
        ax.plot(depths, bounds, "--", color=ORANGE, label="bound in the proof, O(√h)")
        ax.set(xlabel="depth h", ylabel="B$_N$", ylim=(0, None))
        ax.legend()
    return "\n\n".join(
        [
            "## Theory (d): B_N against depth (Lemma 6)",
            image("widths", "Largest B_N of a node at depth h, over all runs of (c)"),
            claims(
                [
                    Assertion(
                        "B_N = O(√h) for a node at depth h, when h_max = n^ε",
                        f"largest B_N / √h: {worst:.2f}; B_N is "
                        + ("" if within else "not ")
                        + f"below the bound of the proof at every depth up to {depths[-1]} (all "
                        f"nodes down to depth {complete} were examined)",
                        within,
                    )
                ]
            ),
        ]
    )


def _zip(depths: list[int], latest: dict[int, int], widths: list[float]) -> list[tuple[Any, ...]]:
    return [(h, latest[h], w, _proof_bound(h)) for h, w in zip(depths, widths, strict=True)]


def _proof_bound(h: int) -> float:
    """The bound printed in the proof of the lemma, with epsilon = 1/2."""
    return sqrt(2.0 * (log(pi**2 / (6.0 * ETA)) + (4 * h + 2) * log(2.0)))


EXPERIMENT = Experiment("rates", tasks, write)
