"""What the default was built to reach, beside what was measured."""

from collections.abc import Iterable

import numpy as np

from .methods import ALL
from .score import Methods, Runs, duel, log_regret
from .tables import Table, ordered

REGRET = {
    "branin": (-9.0, -10.0),
    "rosenbrock": (-4.0, -6.0),
    "hartmann3": (-9.0, -10.0),
    "hartmann6": (-6.0, -9.0),
    "shekel": (-3.0, -9.0),
}
"""Median log10 regret after 50 and after 100 evaluations."""

RATIO, WINS, SLOWEST = 1.5, 17, 1.0
"""Area against the best peer; functions won of 24; seconds of the slowest early suggestion."""

GP_PEERS = ("botorch", "optuna-gp")

Row = tuple[str, str, bool]


def table(rows: Iterable[Row]) -> Table:
    """Goals as a table."""
    cells = [[goal, measured, "met" if met else "**not met**"] for goal, measured, met in rows]
    return Table("goals", "Goals", ["goal", "measured", ""], cells)


def paper(ours: Runs) -> list[Row]:
    """The paper's functions."""
    rows: list[Row] = []
    for problem, goal in REGRET.items():
        at = np.median(log_regret(ours, problem)[:, [49, 99]], axis=0)
        rows.append(
            (
                f"{problem.capitalize()}: log10 regret at most {goal[0]:g} / {goal[1]:g} after "
                "50 / 100 evaluations",
                f"{at[0]:.1f} / {at[1]:.1f}",
                bool(np.all(at <= goal)),
            )
        )
    return rows


def bbob(methods: Methods, peers: Iterable[str]) -> list[Row]:
    """Area, wins and the slowest suggestion."""
    ours, rows = methods["bamsoo"], list[Row]()
    for dim in sorted({case.dim for case in ours}):
        duels = {name: duel(ours, methods[name], dim) for name in ordered(peers)}
        met = {name: d for name, d in duels.items() if d is not None}
        if not met:
            continue
        best = min(met, key=lambda name: met[name].ratio)
        ratio = met[best].ratio
        rows.append(
            (
                f"D = {dim}: {RATIO:g} times the area of the best peer",
                f"{ratio:.2f} times {ALL[best].label}",
                ratio >= RATIO,
            )
        )
        behind = [name for name, d in met.items() if d.outcome[0] <= d.outcome[1]]
        rows.append(
            (
                f"D = {dim}: more wins than losses against each peer",
                "behind " + ", ".join(ALL[n].label for n in behind) if behind else "against all",
                not behind,
            )
        )
        for name in GP_PEERS:
            if dim <= 5 and name in met:
                won, lost, tied = met[name].outcome
                rows.append(
                    (
                        f"D = {dim}: at least {WINS} of 24 functions against {ALL[name].label}",
                        f"{won} won, {lost} lost, {tied} tied",
                        won >= WINS,
                    )
                )
    slowest = max(run["slowest_early"] for run in ours.values())
    rows.append(
        (
            f"no suggestion above {SLOWEST:g} s at t <= 300, wall clock",
            f"slowest {slowest:.2f} s",
            slowest <= SLOWEST,
        )
    )
    return rows
