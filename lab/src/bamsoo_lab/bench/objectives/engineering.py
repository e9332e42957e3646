"""Engineering designs with two or three objectives, from the formulas of the literature.

Most of them are collected in Tanabe and Ishibuchi, "An easy-to-use real-world multi-objective
optimization problem suite" (2020), and in Kumar et al., "A benchmark-suite of real-world
constrained multi-objective optimization problems and some baseline results" (2021). The first of
these makes the total violation of the constraints one more objective. Here a constraint is a
constraint: an evaluation measures it, and only feasible points count.
"""

from math import pi, sqrt
from typing import Any

from bamsoo.space import Int, Real

from ..designs import formulas
from .problem import LimitValues, Values, problem

Limited = tuple[Values, LimitValues]


# ---- for choosing settings


@problem(
    "pressure-vessel",
    "develop",
    shell=Int(1, 99),
    head=Int(1, 99),
    radius=Real(10.0, 200.0),
    length=Real(10.0, 240.0),
)
def pressure_vessel(shell: int, head: int, radius: float, length: float) -> Limited:
    """Cost of a cylinder with two round heads, and the volume that it holds."""
    vessel = formulas.pressure_vessel(shell, head, radius, length)
    return {"cost": vessel.cost, "minus_volume": -vessel.cylinder - vessel.heads}, {
        "burst": 0.0193 * radius - vessel.shell,
        "burst_head": 0.00954 * radius - vessel.head,
    }


WIRES = (
    *(0.009, 0.0095, 0.0104, 0.0118, 0.0128, 0.0132, 0.014, 0.015, 0.0162, 0.0173, 0.018, 0.02),
    *(0.023, 0.025, 0.028, 0.032, 0.035, 0.041, 0.047, 0.054, 0.063, 0.072, 0.08, 0.092, 0.105),
    *(0.12, 0.135, 0.148, 0.162, 0.177, 0.192, 0.207, 0.225, 0.244, 0.263, 0.283, 0.307, 0.331),
    *(0.362, 0.394, 0.4375, 0.5),
)
"""The diameters in which spring wire is made, in inches."""


@problem(
    "coil-spring",
    "develop",
    coils=Int(1, 32),
    wire=Int(0, len(WIRES) - 1),
    D=Real(1.0, 3.0),
)
def coil_spring(coils: int, wire: int, D: float) -> Limited:
    """Volume of a compression spring, and the shear stress in its wire."""
    N, d, P_max, P = coils, WIRES[wire], 1000.0, 300.0
    C = D / d
    K = (4.0 * C - 1.0) / (4.0 * C - 4.0) + 0.615 / C
    k = 11.5e6 * d**4 / (8.0 * N * D**3)
    stress = 8.0 * K * P_max * D / (pi * d**3)
    volume = 0.25 * pi**2 * d**2 * D * (N + 2)
    return {"volume": volume, "stress": stress}, {
        "length": 1.05 * d * (N + 2) + P_max / k - 14.0,
        "thin": 0.2 - d,
        "wide": d + D - 3.0,
        "index": 3.0 - C,
        "preload": P / k - 6.0,
        "travel": 1.25 - (P_max - P) / k,
        "strength": stress - 189000.0,
        "size": volume - 30.0,
    }


@problem(
    "i-beam",
    "develop",
    height=Real(10.0, 80.0),
    width=Real(10.0, 50.0),
    web=Real(0.9, 5.0),
    flange=Real(0.9, 5.0),
)
def i_beam(height: float, width: float, web: float, flange: float) -> Limited:
    """Area of the section of an I-shaped beam, and its deflection."""
    beam = formulas.i_beam(height, width, web, flange)
    values = {"area": beam.area, "deflection": beam.deflection}
    return values, {"stress": beam.stress - 16.0}


@problem("cantilever", "develop", diameter=Real(10.0, 50.0), length=Real(200.0, 1000.0))
def cantilever(diameter: float, length: float) -> Limited:
    """Weight of a round bar that is held at one end, and the deflection of the other end."""
    d, l, P, E = diameter, length, 1000.0, 207e3  # noqa: E741 -- mm and N
    deflection = 64.0 * P * l**3 / (3.0 * E * pi * d**4)
    stress = 32.0 * P * l / (pi * d**3)
    weight = 7.8e-6 * pi * d**2 / 4.0 * l
    return {"weight": weight, "deflection": deflection}, {
        "stress": stress - 300.0,
        "bend": deflection - 5.0,
    }


@problem(
    "clutch-brake",
    "develop",
    inner=Int(60, 80),
    outer=Int(90, 110),
    thickness=Int(2, 6),
    force=Int(60, 100),
    discs=Int(2, 9),
)
def clutch_brake(inner: int, outer: int, thickness: int, force: int, discs: int) -> Limited:
    """Mass of a brake with several discs, and its stopping time.

    Discs are made in steps of half a millimetre; the force has steps of 10 N.
    """
    t, F, Z = thickness / 2.0, 10.0 * force, discs
    squares, cubes = float(outer**2 - inner**2), float(outer**3 - inner**3)
    pressure = F / (pi * squares)
    speed = 2.0 * pi * 250.0 * cubes / (90.0 * squares) / 1000.0
    torque = 2.0 / 3.0 * 0.5 * F * Z * cubes / squares / 1000.0
    time = 55.0 * (2.0 * pi * 250.0 / 60.0) / (torque + 3.0)
    mass = pi * squares * t * (Z + 1) * 7.8e-6
    return {"mass": mass, "time": time}, {
        "ring": 20.0 - (outer - inner),
        "length": (Z + 1) * (t + 0.5) - 30.0,
        "pressure": pressure - 1.0,
        "heat": pressure * speed - 10.0,
        "speed": speed - 10.0,
        "torque": 60.0 - torque,
        "late": time - 15.0,
    }


@problem(
    "rocket-injector",
    "develop",
    angle=Real(0.0, 1.0),
    hydrogen=Real(0.0, 1.0),
    oxygen=Real(0.0, 1.0),
    tip=Real(0.0, 1.0),
)
def rocket_injector(angle: float, hydrogen: float, oxygen: float, tip: float) -> Values:
    """Temperature of the injector's face, length of the combustion, temperature of its post tip.

    They are polynomials that were fitted to simulations of the flow.
    """
    a, h, o, t = angle, hydrogen, oxygen, tip
    face = 0.692 + 0.477 * a - 0.687 * h - 0.080 * o - 0.0650 * t - 0.167 * a**2
    face += -0.0129 * h * a + 0.0796 * h**2 - 0.0634 * o * a - 0.0257 * o * h + 0.0877 * o**2
    face += -0.0521 * t * a + 0.00156 * t * h + 0.00198 * t * o + 0.0184 * t**2
    length = 0.153 - 0.322 * a + 0.396 * h + 0.424 * o + 0.0226 * t + 0.175 * a**2
    length += 0.0185 * h * a - 0.0701 * h**2 - 0.251 * o * a + 0.179 * o * h + 0.0150 * o**2
    length += 0.0134 * t * a + 0.0296 * t * h + 0.0752 * t * o + 0.0192 * t**2
    post = 0.370 - 0.205 * a + 0.0307 * h + 0.108 * o + 1.019 * t - 0.135 * a**2
    post += 0.0141 * h * a + 0.0998 * h**2 + 0.208 * o * a - 0.0301 * o * h - 0.226 * o**2
    post += 0.353 * t * a - 0.0497 * t * o - 0.423 * t**2 + 0.202 * h * a**2 - 0.281 * o * a**2
    post += -0.342 * h**2 * a - 0.245 * h**2 * o + 0.281 * o**2 * h - 0.184 * t**2 * a
    post += -0.281 * h * a * o
    return {"face": face, "length": length, "post": post}


@problem(
    "bulk-carrier",
    "develop",
    length=Real(150.0, 274.32),
    beam=Real(20.0, 32.31),
    depth=Real(13.0, 25.0),
    draft=Real(10.0, 11.71),
    speed=Real(14.0, 18.0),
    block=Real(0.63, 0.75),
)
def bulk_carrier(
    length: float, beam: float, depth: float, draft: float, speed: float, block: float
) -> Limited:
    """Transport cost of a ship, its weight, and its yearly cargo."""
    displacement = 1.025 * length * beam * draft * block
    froude = 0.5144 * speed / sqrt(9.8065 * length)
    a = 4977.06 * block**2 - 8105.61 * block + 4456.51
    b = -10847.2 * block**2 + 12817.0 * block - 6960.32
    power = displacement ** (2.0 / 3.0) * speed**3 / (a + b * froude)
    steel = 0.034 * length**1.7 * beam**0.7 * depth**0.4 * block**0.5
    outfit = length**0.8 * beam**0.6 * depth**0.3 * block**0.1
    weight = steel + outfit + 0.17 * power**0.9
    load = displacement - weight
    price = 1.3 * (2000.0 * steel**0.85 + 3500.0 * outfit + 2400.0 * power**0.8)
    days = 5000.0 / 24.0 * speed
    burnt = 0.19 * power * 24.0 / 1000.0 + 0.2
    cargo = load - burnt * (days + 5.0) - 2.0 * load**0.5
    trips = 350.0 / (days + 2.0 * (cargo / 8000.0 + 0.5))
    voyages = (1.05 * burnt * days * 100.0 + 6.3 * load**0.8) * trips
    costs = 0.2 * price + 40000.0 * load**0.3 + voyages
    stable = 0.53 * draft + (0.085 * block - 0.002) * beam**2 / (draft * block) - 1.0 - 0.52 * depth
    values = {"cost": costs / (cargo * trips), "weight": weight, "minus_cargo": -cargo * trips}
    return values, {
        "narrow": 6.0 - length / beam,
        "shallow": length / depth - 15.0,
        "long": length / draft - 19.0,
        "deep": draft - 0.45 * load**0.31,
        "freeboard": draft - 0.7 * depth - 0.7,
        "heavy": (load - 500000.0) / 1000.0,
        "light": (3000.0 - load) / 1000.0,
        "froude": froude - 0.32,
        "stability": 0.07 * beam - stable,
    }


# ---- for reporting


@problem(
    "four-bar-truss",
    "report",
    x1=Real(1.0, 3.0),
    x2=Real(sqrt(2.0), 3.0),
    x3=Real(sqrt(2.0), 3.0),
    x4=Real(1.0, 3.0),
)
def four_bar_truss(x1: float, x2: float, x3: float, x4: float) -> Values:
    """Volume of a truss of four bars, and the displacement of its joint."""
    F, E, L, root = 10.0, 2e5, 200.0, sqrt(2.0)
    return {
        "volume": L * (2.0 * x1 + root * x2 + sqrt(x3) + x4),
        "displacement": F * L / E * (2.0 / x1 + 2.0 * root / x2 - 2.0 * root / x3 + 2.0 / x4),
    }


@problem(
    "two-bar-truss",
    "report",
    x1=Real(1e-5, 0.01),
    x2=Real(1e-5, 0.01),
    y=Real(1.0, 3.0),
)
def two_bar_truss(x1: float, x2: float, y: float) -> Limited:
    """Volume of a truss of two bars, and the larger of their stresses."""
    first, second = sqrt(16.0 + y**2), sqrt(1.0 + y**2)
    volume = x1 * first + x2 * second
    stresses = 20.0 * first / (y * x1), 80.0 * second / (y * x2)
    return {"volume": volume, "stress": max(stresses)}, {
        "size": volume - 0.1,
        "strength": max(stresses) / 1e5 - 1.0,
    }


@problem(
    "welded-beam",
    "report",
    h=Real(0.125, 5.0),
    l=Real(0.1, 10.0),
    t=Real(0.1, 10.0),
    b=Real(0.125, 5.0),
)
def welded_beam(h: float, l: float, t: float, b: float) -> Limited:  # noqa: E741
    """Cost of a beam that is welded to a wall, and the deflection of its end."""
    beam = formulas.welded_beam(h, l, t, b)
    return {"cost": beam.cost, "deflection": beam.deflection}, {
        "shear": beam.shear - 13600.0,
        "bending": beam.bending - 30000.0,
        "sides": h - b,
        "buckling": 6000.0 - beam.buckling,
    }


@problem(
    "disc-brake",
    "report",
    inner=Real(55.0, 80.0),
    outer=Real(75.0, 110.0),
    force=Real(1000.0, 3000.0),
    surfaces=Real(11.0, 20.0),
)
def disc_brake(inner: float, outer: float, force: float, surfaces: float) -> Limited:
    """Mass of a disc brake, and its stopping time."""
    squares, cubes = outer**2 - inner**2, outer**3 - inner**3
    # discs that are smaller outside than inside cannot be built; they are infeasible by far
    squares, cubes = max(squares, 1.0), max(cubes, 1.0)
    values = {
        "mass": 4.9e-5 * squares * (surfaces - 1.0),
        "time": 9.82e6 * squares / (force * surfaces * cubes),
    }
    return values, {
        "ring": 20.0 - (outer - inner),
        "pressure": force / (3.14 * squares) - 0.4,
        "heat": 2.22e-3 * force * cubes / squares**2 - 1.0,
        "torque": 900.0 - 2.66e-2 * force * surfaces * cubes / squares,
    }


@problem(
    "speed-reducer",
    "report",
    width=Real(2.6, 3.6),
    module=Real(0.7, 0.8),
    teeth=Int(17, 28),
    length1=Real(7.3, 8.3),
    length2=Real(7.3, 8.3),
    shaft1=Real(2.9, 3.9),
    shaft2=Real(5.0, 5.5),
)
def speed_reducer(**sizes: Any) -> Limited:
    """Weight of a gear box with two shafts, and the stress in the first shaft.

    The stresses may be larger than in the design with one objective: 1300 and 1100.
    """
    weight, limits = formulas.speed_reducer(**sizes)
    stress1, stress2 = 1100.0 * (limits["stress1"] + 1.0), 850.0 * (limits["stress2"] + 1.0)
    limits |= {"stress1": stress1 / 1300.0 - 1.0, "stress2": stress2 / 1100.0 - 1.0}
    return {"weight": weight, "stress": stress1}, limits


@problem("gear-train", "report", **{f"teeth{i}": Int(12, 60) for i in range(1, 5)})
def gear_train(teeth1: int, teeth2: int, teeth3: int, teeth4: int) -> Limited:
    """Error of the ratio of four gears, and the number of teeth of the largest one."""
    error = abs(6.931 - teeth3 / teeth1 * teeth4 / teeth2)
    largest = float(max(teeth1, teeth2, teeth3, teeth4))
    return {"error": error, "teeth": largest}, {"ratio": error / 6.931 - 0.5}


@problem("crashworthiness", "report", **{f"x{i}": Real(1.0, 3.0) for i in range(1, 6)})
def crashworthiness(x1: float, x2: float, x3: float, x4: float, x5: float) -> Values:
    """Mass of the front of a car, its acceleration in a crash, and the intrusion of its toe board.

    They are polynomials that were fitted to simulations of a frontal and an oblique crash.
    """
    mass = 1640.2823 + 2.3573285 * x1 + 2.3220035 * x2 + 4.5688768 * x3 + 7.7213633 * x4
    mass += 4.4559504 * x5
    acceleration = 6.5856 + 1.15 * x1 - 1.0427 * x2 + 0.9738 * x3 + 0.8364 * x4
    acceleration += -0.3695 * x1 * x4 + 0.0861 * x1 * x5 + 0.3628 * x2 * x4 - 0.1106 * x1**2
    acceleration += -0.3437 * x3**2 + 0.1764 * x4**2
    intrusion = -0.0551 + 0.0181 * x1 + 0.1024 * x2 + 0.0421 * x3 - 0.0073 * x1 * x2
    intrusion += 0.024 * x2 * x3 - 0.0118 * x2 * x4 - 0.0204 * x3 * x4 - 0.008 * x3 * x5
    intrusion += -0.0241 * x2**2 + 0.0109 * x4**2
    return {"mass": mass, "acceleration": acceleration, "intrusion": intrusion}


@problem(
    "car-side-impact",
    "report",
    x1=Real(0.5, 1.5),
    x2=Real(0.45, 1.35),
    x3=Real(0.5, 1.5),
    x4=Real(0.5, 1.5),
    x5=Real(0.875, 2.625),
    x6=Real(0.4, 1.2),
    x7=Real(0.4, 1.2),
)
def car_side_impact(
    x1: float, x2: float, x3: float, x4: float, x5: float, x6: float, x7: float
) -> Limited:
    """Weight of a car, the force on a passenger in a side impact, and the speed of the door."""
    weight = 1.98 + 4.9 * x1 + 6.67 * x2 + 6.98 * x3 + 4.01 * x4 + 1.78 * x5 + 1e-5 * x6
    weight += 2.73 * x7
    force = 4.72 - 0.5 * x4 - 0.19 * x2 * x3
    pillar = 10.58 - 0.674 * x1 * x2 - 0.67275 * x2
    door = 16.45 - 0.489 * x3 * x7 - 0.843 * x5 * x6
    viscous1 = 0.261 - 0.0159 * x1 * x2 - 0.06486 * x1 - 0.019 * x2 * x7 + 0.0144 * x3 * x5
    viscous2 = 0.214 + 0.00817 * x5 - 0.0587118 * x1 + 0.03099 * x2 * x6 - 0.018 * x2 * x7
    viscous2 += 0.030408 * x3 - 0.00364 * x5 * x6 - 0.018 * x2**2
    viscous3 = 0.74 - 0.61 * x2 - 0.031296 * x3 - 0.031872 * x7 + 0.227 * x2**2
    rib1 = 28.98 + 3.818 * x3 - 4.2 * x1 * x2 + 1.27296 * x6 - 2.68065 * x7
    rib2 = 33.86 + 2.95 * x3 - 5.057 * x1 * x2 - 3.795 * x2 - 3.4431 * x7 + 1.45728
    rib3 = 46.36 - 9.9 * x2 - 4.4505 * x1
    return {"weight": weight, "force": force, "speed": (pillar + door) / 2.0}, {
        "abdomen": 0.16 - 0.3717 * x2 * x4 - 0.0092928 * x3,
        "viscous1": viscous1 + 0.0154464 * x6 - 0.32,
        "viscous2": viscous2 - 0.32,
        "viscous3": viscous3 - 0.32,
        "rib1": rib1 - 32.0,
        "rib2": rib2 - 32.0,
        "rib3": rib3 - 32.0,
        "pelvis": force - 4.0,
        "pillar": pillar - 9.9,
        "door": door - 15.7,
    }
