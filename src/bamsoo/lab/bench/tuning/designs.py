"""Tasks: engineering designs; a violated limit costs a penalty or makes the evaluation fail.

The formulas are those of the literature on constrained design (Coello Coello 2000 and later
collections); the instance changes the loads a little, so that the optimum is not a known one.
"""

import numpy as np

from ....space import Choice, Int, Real
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


@task(
    "welded-beam",
    "design",
    h=Real(0.1, 2.0),
    l=Real(0.1, 10.0),
    t=Real(0.1, 10.0),
    b=Real(0.1, 2.0),
)
def welded_beam(instance: int) -> Evaluate:
    """Cost of a beam and its weld, with limits on shear, bending, buckling and deflection."""
    P = 6000.0 * load(instance)[0]
    L, E, G = 14.0, 30e6, 12e6

    def evaluate(seed: int, h: float, l: float, t: float, b: float) -> float:  # noqa: E741
        primary = P / (np.sqrt(2.0) * h * l)
        R = np.sqrt(l**2 / 4.0 + ((h + t) / 2.0) ** 2)
        J = 2.0 * np.sqrt(2.0) * h * l * (l**2 / 12.0 + ((h + t) / 2.0) ** 2)
        secondary = P * (L + l / 2.0) * R / J
        shear = np.sqrt(primary**2 + primary * secondary * l / R + secondary**2)
        bending = 6.0 * P * L / (b * t**2)
        deflection = 4.0 * P * L**3 / (E * t**3 * b)
        slender = 1.0 - t / (2.0 * L) * np.sqrt(E / (4.0 * G))
        buckling = 4.013 * E * t * b**3 / (6.0 * L**2) * slender
        return penalised(
            1.10471 * h**2 * l + 0.04811 * t * b * (14.0 + l),
            shear / 13600.0 - 1.0,
            bending / 30000.0 - 1.0,
            h / b - 1.0,
            deflection / 0.25 - 1.0,
            P / buckling - 1.0,
            0.125 / h - 1.0,
        )

    return evaluate


@task(
    "pressure-vessel",
    "design",
    shell=Int(1, 99),
    head=Int(1, 99),
    radius=Real(10.0, 200.0),
    length=Real(10.0, 240.0),
)
def pressure_vessel(instance: int) -> Evaluate:
    """Cost of a vessel whose steel comes in steps of a sixteenth of an inch."""
    volume = 1296000.0 * load(instance)[0]

    def evaluate(seed: int, shell: int, head: int, radius: float, length: float) -> float:
        a, b = 0.0625 * shell, 0.0625 * head
        cost = 0.6224 * a * radius * length + 1.7781 * b * radius**2
        cost += 3.1661 * a**2 * length + 19.84 * a**2 * radius
        held = np.pi * radius**2 * length + 4.0 / 3.0 * np.pi * radius**3
        return penalised(
            cost, 0.0193 * radius / a - 1.0, 0.00954 * radius / b - 1.0, volume / held - 1.0
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
        shear = (4.0 * D**2 - d * D) / (12566.0 * thin) + 1.0 / (5108.0 * d**2)
        return penalised(
            (coils + 2.0) * D * d**2,
            1.0 - D**3 * coils / (71785.0 * d**4) / factor,
            shear * factor - 1.0,
            1.0 - 140.45 * d / (D**2 * coils),
            (D + d) / 1.5 - 1.0,
        )

    return evaluate


@task(
    "speed-reducer",
    "design",
    width=Real(2.6, 3.6),
    module=Real(0.7, 0.8),
    teeth=Int(17, 28),
    length1=Real(7.3, 8.3),
    length2=Real(7.3, 8.3),
    shaft1=Real(2.9, 3.9),
    shaft2=Real(5.0, 5.5),
)
def speed_reducer(instance: int) -> Evaluate:
    """Weight of a gear box with eleven limits on teeth and shafts."""
    factor = load(instance)[0]

    def evaluate(
        seed: int,
        width: float,
        module: float,
        teeth: int,
        length1: float,
        length2: float,
        shaft1: float,
        shaft2: float,
    ) -> float:
        b, m, z, l1, l2, d1, d2 = width, module, teeth, length1, length2, shaft1, shaft2
        cost = 0.7854 * b * m**2 * (3.3333 * z**2 + 14.9334 * z - 43.0934)
        cost += -1.508 * b * (d1**2 + d2**2) + 7.4777 * (d1**3 + d2**3)
        cost += 0.7854 * (l1 * d1**2 + l2 * d2**2)
        stress1 = np.sqrt((745.0 * l1 / (m * z)) ** 2 + 16.9e6) / (110.0 * d1**3)
        stress2 = np.sqrt((745.0 * l2 / (m * z)) ** 2 + 157.5e6) / (85.0 * d2**3)
        return penalised(
            cost,
            factor * 27.0 / (b * m**2 * z) - 1.0,
            factor * 397.5 / (b * m**2 * z**2) - 1.0,
            1.93 * l1**3 / (m * z * d1**4) - 1.0,
            1.93 * l2**3 / (m * z * d2**4) - 1.0,
            stress1 - 1.0,
            stress2 - 1.0,
            m * z / 40.0 - 1.0,
            5.0 * m / b - 1.0,
            b / (12.0 * m) - 1.0,
            (1.5 * d1 + 1.9) / l1 - 1.0,
            (1.1 * d2 + 1.9) / l2 - 1.0,
        )

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


@task(
    "concrete-beam",
    "design",
    steel=Choice([6.0, 6.16, 6.32, 6.6, 7.0, 7.11, 7.2, 7.8, 7.9, 8.0, 8.4]),
    width=Int(28, 40),
    depth=Real(5.0, 10.0),
)
def concrete_beam(instance: int) -> Evaluate:
    """Cost of a reinforced concrete beam; there are eleven options for the area of its steel."""
    factor = load(instance)[0]

    def evaluate(seed: int, steel: float, width: int, depth: float) -> float:
        need = (180.0 * factor + 7.375 * steel**2 / depth) / (steel * width) - 1.0
        return penalised(29.4 * steel + 0.6 * width * depth, need, width / (4.0 * depth) - 1.0)

    return evaluate
