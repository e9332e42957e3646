"""Tasks: engineering designs; a violated limit costs a penalty or makes the evaluation fail.

The formulas are those of the suite `designs`, and of the literature on constrained design (Coello
Coello 2000 and later collections); the instance changes the loads a little, so that the optimum is
not a known one.
"""

from typing import Any

import numpy as np

from bamsoo.space import Int, Real

from ..designs import DESIGNS, formulas
from .task import Evaluate, task

PENALTY = 10.0
"""Factor of the penalty: how much the cost grows, relative to itself, at twice the limit."""


def load(instance: int, number: int = 1) -> np.ndarray:
    """Factors around 1 by which an instance's loads differ from those of the literature."""
    return np.random.default_rng([instance, 7]).uniform(0.8, 1.25, number)


def penalised(cost: float, *limits: float) -> float:
    """The log of the cost, increased by each limit that is above zero (relative to the limit)."""
    broken = sum(min(max(limit, 0.0), 1e3) for limit in limits)
    return float(np.log(cost * (1.0 + PENALTY * broken)))


@task("welded-beam", "design", **DESIGNS["welded-beam"].space)
def welded_beam(instance: int) -> Evaluate:
    """Cost of a beam and its weld, with limits on shear, bending, buckling and deflection."""
    P = 6000.0 * load(instance)[0]

    def evaluate(seed: int, h: float, l: float, t: float, b: float) -> float:  # noqa: E741
        beam = formulas.welded_beam(h, l, t, b, P)
        return penalised(
            beam.cost,
            beam.shear / 13600.0 - 1.0,
            beam.bending / 30000.0 - 1.0,
            h / b - 1.0,
            beam.deflection / 0.25 - 1.0,
            P / beam.buckling - 1.0,
            0.125 / h - 1.0,
        )

    return evaluate


@task("pressure-vessel", "design", **DESIGNS["pressure-vessel"].space)
def pressure_vessel(instance: int) -> Evaluate:
    """Cost of a vessel whose steel comes in steps of a sixteenth of an inch."""
    volume = 1296000.0 * load(instance)[0]

    def evaluate(seed: int, shell: int, head: int, radius: float, length: float) -> float:
        vessel = formulas.pressure_vessel(shell, head, radius, length)
        return penalised(
            vessel.cost,
            0.0193 * radius / vessel.shell - 1.0,
            0.00954 * radius / vessel.head - 1.0,
            volume / (vessel.cylinder + vessel.heads) - 1.0,
        )

    return evaluate


@task(
    "tension-spring",
    "design",
    d=Real(0.05, 2.0, log=True),
    D=Real(0.25, 1.3),
    coils=Int(2, 30),
)
def tension_spring(instance: int) -> Evaluate:
    """Weight of a spring with limits on deflection, shear stress and frequency."""
    factor = load(instance)[0]

    def evaluate(seed: int, d: float, D: float, coils: int) -> float:
        thin = abs(D * d**3 - d**4) + 1e-12
        weight, limits = formulas.tension_spring(d, D, coils, thin, factor)
        return penalised(weight, *limits.values())

    return evaluate


@task("speed-reducer", "design", **DESIGNS["speed-reducer"].space)
def speed_reducer(instance: int) -> Evaluate:
    """Weight of a gear box with eleven limits on teeth and shafts."""
    factor = load(instance)[0]

    def evaluate(seed: int, **sizes: Any) -> float:
        weight, limits = formulas.speed_reducer(**sizes, load=factor)
        return penalised(weight, *limits.values())

    return evaluate


@task("gear-train", "design", **{f"z{i}": Int(12, 60) for i in range(1, 5)})
def gear_train(instance: int) -> Evaluate:
    """Teeth of four wheels that should have a given ratio; only integers: log error."""
    wanted = 0.14427932 * load(instance)[0]

    def evaluate(seed: int, z1: int, z2: int, z3: int, z4: int) -> float:
        return float(np.log10((wanted - z1 * z2 / (z3 * z4)) ** 2 + 1e-14))

    return evaluate


@task(
    "cantilever-fails",
    "design",
    "fails",
    **{f"x{i}": Real(1.0, 30.0) for i in range(5)},
)
def cantilever(instance: int) -> Evaluate:
    """Weight of a beam of five hollow blocks; a beam that bends too far is a failure."""
    factors = load(instance, 5)

    def evaluate(seed: int, **sides: float) -> float | None:
        x = np.array([*sides.values()])
        bend = float(np.sum(np.array([61.0, 37.0, 19.0, 7.0, 1.0]) * factors / x**3))
        return 0.0624 * float(x.sum()) if bend <= 1.0 else None

    return evaluate


AREAS = (1.62, 1.8, 2.38, 2.88, 3.38, 3.84, 4.49, 5.12, 7.22, 9.3, 11.5, 13.9, 16.0, 22.9, 30.0)


@task("ten-bar-truss", "design", **{f"bar{i}": Int(0, len(AREAS) - 1) for i in range(10)})
def ten_bar_truss(instance: int) -> Evaluate:
    """Weight of a truss whose ten bars come from a list of sections; only integers."""
    L, E, density = 360.0, 1e7, 0.1
    force = 1e5 * load(instance)[0]
    nodes = np.array([[2, 1], [2, 0], [1, 1], [1, 0], [0, 1], [0, 0]]) * L
    ends = [(4, 2), (2, 0), (5, 3), (3, 1), (2, 3), (0, 1), (4, 3), (5, 2), (2, 1), (3, 0)]
    way = np.array([nodes[j] - nodes[i] for i, j in ends])
    lengths = np.linalg.norm(way, axis=1)
    rows = np.zeros((10, 12))  # how much the displacement of its ends stretches each bar
    for bar, (i, j) in enumerate(ends):
        rows[bar, 2 * i : 2 * i + 2] = -way[bar] / lengths[bar]
        rows[bar, 2 * j : 2 * j + 2] = way[bar] / lengths[bar]
    rows = rows[:, :8]  # the last two nodes are fixed to the wall
    forces = np.zeros(8)
    forces[[3, 7]] = -force

    def evaluate(seed: int, **bars: int) -> float:
        areas = np.array([AREAS[i] for i in bars.values()])
        moves = np.linalg.solve(rows.T @ (rows * (E * areas / lengths)[:, None]), forces)
        stress = E * (rows @ moves) / lengths
        return penalised(
            density * float(areas @ lengths),
            float(np.abs(moves).max()) / 2.0 - 1.0,
            float(np.abs(stress).max()) / 25000.0 - 1.0,
        )

    return evaluate


@task("concrete-beam", "design", **DESIGNS["concrete-beam"].space)
def concrete_beam(instance: int) -> Evaluate:
    """Cost of a reinforced concrete beam; there are eleven options for the area of its steel."""
    factor = load(instance)[0]

    def evaluate(seed: int, steel: float, width: int, depth: float) -> float:
        beam = formulas.concrete_beam(steel, width, depth, factor)
        return penalised(beam.cost, beam.need / beam.strength - 1.0, width / (4.0 * depth) - 1.0)

    return evaluate
