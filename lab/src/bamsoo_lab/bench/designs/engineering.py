"""Engineering designs of the literature, with their constraints in the units that it gives.

The formulas and the best known values are those of Rao, "Engineering Optimization" (4th edition,
2009), Coello Coello, "Use of a self-adaptive penalty approach for engineering optimization
problems" (2000), Gandomi, Yang and Alavi, "Cuckoo search algorithm: a metaheuristic approach to
solve structural optimization problems" (2013), and Kumar et al., "A test-suite of non-convex
constrained optimization problems from the real-world and some baseline results" (2020). The values
given here were found again with many starts of SLSQP, for each whole number on its own.
"""

from functools import partial
from math import pi, sqrt
from typing import Any

from bamsoo.space import Choice, Int, Real

from . import formulas
from .design import DesignValue, design

engineering = partial(design, True)


@engineering(
    "welded-beam",
    1.724852,
    {"h": 0.20572964, "l": 3.47048867, "t": 9.03662391, "b": 0.20572964},
    h=Real(0.1, 2.0),
    l=Real(0.1, 10.0),
    t=Real(0.1, 10.0),
    b=Real(0.1, 2.0),
)
def welded_beam(h: float, l: float, t: float, b: float) -> DesignValue:  # noqa: E741
    """Cost of a beam that is welded to a wall and carries a load at its end."""
    P, L = 6000.0, 14.0
    beam = formulas.welded_beam(h, l, t, b, P)
    return beam.cost, {
        "shear": beam.shear - 13600.0,
        "bending": beam.bending - 30000.0,
        "sides": h - b,
        "cost": 0.10471 * h**2 + 0.04811 * t * b * (L + l) - 5.0,
        "weld": 0.125 - h,
        "deflection": beam.deflection - 0.25,
        "buckling": P - beam.buckling,
    }


@engineering(
    "tension-spring",
    0.01266523,
    {"d": 0.0516890523, "D": 0.3567175294, "coils": 11.28897815},
    d=Real(0.05, 2.0),
    D=Real(0.25, 1.3),
    coils=Real(2.0, 15.0),
)
def tension_spring(d: float, D: float, coils: float) -> DesignValue:
    """Weight of a wire spring with limits on deflection, shear stress and frequency."""
    thin = D * d**3 - d**4 or 1e-12  # a coil as wide as its wire cannot carry a load
    return formulas.tension_spring(d, D, coils, thin)


@engineering(
    "pressure-vessel",
    5850.383,
    {"shell": 12, "head": 6, "radius": 38.8601036269, "length": 221.36547136},
    shell=Int(1, 99),
    head=Int(1, 99),
    radius=Real(10.0, 200.0),
    length=Real(10.0, 240.0),
)
def pressure_vessel(shell: int, head: int, radius: float, length: float) -> DesignValue:
    """Cost of a cylinder with two round heads; steel comes in sixteenths of an inch."""
    vessel = formulas.pressure_vessel(shell, head, radius, length)
    return vessel.cost, {
        "shell": 0.0193 * radius - vessel.shell,
        "head": 0.00954 * radius - vessel.head,
        "volume": 1296000.0 - vessel.cylinder - vessel.heads,
    }


@engineering(
    "speed-reducer",
    2994.47107,
    {
        "width": 3.5,
        "module": 0.7,
        "teeth": 17,
        "length1": 7.3,
        "length2": 7.7153199116,
        "shaft1": 3.350214667,
        "shaft2": 5.286654465,
    },
    width=Real(2.6, 3.6),
    module=Real(0.7, 0.8),
    teeth=Int(17, 28),
    length1=Real(7.3, 8.3),
    length2=Real(7.3, 8.3),
    shaft1=Real(2.9, 3.9),
    shaft2=Real(5.0, 5.5),
)
def speed_reducer(**sizes: Any) -> DesignValue:
    """Weight of a gear box with two shafts."""
    return formulas.speed_reducer(**sizes)


@engineering(
    "three-bar-truss",
    263.895843,
    {"outer": 0.788675136, "middle": 0.408248289},
    outer=Real(0.01, 1.0),
    middle=Real(0.01, 1.0),
)
def three_bar_truss(outer: float, middle: float) -> DesignValue:
    """Volume of three bars that carry two loads; areas are at least 0.01."""
    load = limit = 2.0
    both = sqrt(2.0) * outer**2 + 2.0 * outer * middle
    return (2.0 * sqrt(2.0) * outer + middle) * 100.0, {
        "first": (sqrt(2.0) * outer + middle) / both * load - limit,
        "second": middle / both * load - limit,
        "third": load / (outer + sqrt(2.0) * middle) - limit,
    }


@engineering(
    "himmelblau",
    -30665.5387,
    {"x1": 78.0, "x2": 33.0, "x3": 29.9952560257, "x4": 45.0, "x5": 36.7758129058},
    x1=Real(78.0, 102.0),
    x2=Real(33.0, 45.0),
    x3=Real(27.0, 45.0),
    x4=Real(27.0, 45.0),
    x5=Real(27.0, 45.0),
)
def himmelblau(x1: float, x2: float, x3: float, x4: float, x5: float) -> DesignValue:
    """Himmelblau's model of a process: three quantities have a lower and an upper limit each."""
    a = 85.334407 + 0.0056858 * x2 * x5 + 0.0006262 * x1 * x4 - 0.0022053 * x3 * x5
    b = 80.51249 + 0.0071317 * x2 * x5 + 0.0029955 * x1 * x2 + 0.0021813 * x3**2
    c = 9.300961 + 0.0047026 * x3 * x5 + 0.0012547 * x1 * x3 + 0.0019085 * x3 * x4
    value = 5.3578547 * x3**2 + 0.8356891 * x1 * x5 + 37.293239 * x1 - 40792.141
    return value, {
        "a-low": -a,
        "a-high": a - 92.0,
        "b-low": 90.0 - b,
        "b-high": b - 110.0,
        "c-low": 20.0 - c,
        "c-high": c - 25.0,
    }


@engineering(
    "cantilever-beam",
    1.33995636,
    {"x1": 6.0160159, "x2": 5.3091739, "x3": 4.4943296, "x4": 3.5014750, "x5": 2.1526653},
    **{f"x{i}": Real(0.01, 100.0) for i in range(1, 6)},
)
def cantilever_beam(x1: float, x2: float, x3: float, x4: float, x5: float) -> DesignValue:
    """Weight of a beam of five hollow blocks, with a limit on the deflection of its end."""
    bend = 61.0 / x1**3 + 37.0 / x2**3 + 19.0 / x3**3 + 7.0 / x4**3 + 1.0 / x5**3
    return 0.0624 * (x1 + x2 + x3 + x4 + x5), {"bending": bend - 1.0}


@engineering(
    "tubular-column",
    26.499497,
    {"diameter": 5.451156234, "thickness": 0.291965478},
    diameter=Real(2.0, 14.0),
    thickness=Real(0.2, 0.8),
)
def tubular_column(diameter: float, thickness: float) -> DesignValue:
    """Cost of a hollow column under a load; it must neither yield nor buckle."""
    d, t, P, L = diameter, thickness, 2500.0, 250.0
    return 9.8 * d * t + 2.0 * d, {
        "yielding": P / (pi * d * t * 500.0) - 1.0,
        "buckling": 8.0 * P * L**2 / (pi**3 * 0.85e6 * d * t * (d**2 + t**2)) - 1.0,
    }


@engineering(
    "i-beam",
    0.01307412,
    {"height": 80.0, "width": 50.0, "web": 0.9, "flange": 2.32179226},
    height=Real(10.0, 80.0),
    width=Real(10.0, 50.0),
    web=Real(0.9, 5.0),
    flange=Real(0.9, 5.0),
)
def i_beam(height: float, width: float, web: float, flange: float) -> DesignValue:
    """Deflection of an I-shaped beam with limits on its area and stress."""
    beam = formulas.i_beam(height, width, web, flange)
    return beam.deflection, {"area": beam.area - 300.0, "stress": beam.stress - 6.0}


@engineering(
    "bulkhead",
    6.84295801,
    {"width": 57.69230769, "depth": 34.14762031, "length": 57.69230769, "thickness": 1.05},
    width=Real(1.0, 100.0),
    depth=Real(1.0, 100.0),
    length=Real(1.0, 100.0),
    thickness=Real(0.1, 5.0),
)
def bulkhead(width: float, depth: float, length: float, thickness: float) -> DesignValue:
    """Weight of a corrugated wall in a ship."""
    span = width + sqrt(abs(length**2 - depth**2))
    return 5.885 * thickness * (width + length) / span, {
        "section": 8.94 * span - thickness * depth * (0.4 * width + length / 6.0),
        "inertia": 2.2 * (8.94 * span) ** (4.0 / 3.0)
        - thickness * depth**2 * (0.2 * width + length / 12.0),
        "width": 0.0156 * width + 0.15 - thickness,
        "length": 0.0156 * length + 0.15 - thickness,
        "thickness": 1.05 - thickness,
        "shape": depth - length,
    }


@engineering(
    "concrete-beam",
    359.208,
    {"steel": 6.32, "width": 34, "depth": 8.5},
    steel=Choice([6.0, 6.16, 6.32, 6.6, 7.0, 7.11, 7.2, 7.8, 7.9, 8.0, 8.4]),
    width=Int(28, 40),
    depth=Real(5.0, 10.0),
)
def concrete_beam(steel: float, width: int, depth: float) -> DesignValue:
    """Cost of a reinforced concrete beam; there are eleven options for the area of its steel."""
    beam = formulas.concrete_beam(steel, width, depth)
    return beam.cost, {"shape": width / depth - 4.0, "strength": beam.need - beam.strength}
