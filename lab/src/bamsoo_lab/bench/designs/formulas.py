"""Formulas of the engineering designs that are problems of `designs` and tasks of `tuning`.

The two suites limit the same quantities in units of their own, and `tuning` changes the loads a
little. Their stored runs hold values of these formulas bit for bit: a term that is moved makes
them invalid. See `engineering` for the sources.
"""

from math import pi, sqrt
from typing import NamedTuple

from .design import DesignValue


class WeldedBeam(NamedTuple):
    """A beam that is welded to a wall; `buckling` is the load under which it buckles."""

    cost: float
    shear: float
    bending: float
    deflection: float
    buckling: float


def welded_beam(
    h: float,
    l: float,  # noqa: E741
    t: float,
    b: float,
    P: float = 6000.0,
) -> WeldedBeam:
    """A beam of height t and width b under the load P; its weld is h high and l long."""
    L, E, G = 14.0, 30e6, 12e6
    direct = P / (sqrt(2.0) * h * l)
    radius = sqrt(l**2 / 4.0 + ((h + t) / 2.0) ** 2)
    inertia = 2.0 * sqrt(2.0) * h * l * (l**2 / 12.0 + ((h + t) / 2.0) ** 2)
    twist = P * (L + l / 2.0) * radius / inertia
    slender = 1.0 - t / (2.0 * L) * sqrt(E / (4.0 * G))
    return WeldedBeam(
        cost=1.10471 * h**2 * l + 0.04811 * t * b * (L + l),
        shear=sqrt(direct**2 + direct * twist * l / radius + twist**2),
        bending=6.0 * P * L / (b * t**2),
        deflection=4.0 * P * L**3 / (E * t**3 * b),
        buckling=4.013 * E * t * b**3 / (6.0 * L**2) * slender,
    )


class IBeam(NamedTuple):
    """An I-shaped beam: the area of its section, how far it bends, and its largest stress."""

    area: float
    deflection: float
    stress: float


def i_beam(height: float, width: float, web: float, flange: float) -> IBeam:
    """A beam with a vertical and a horizontal load in the middle."""
    h, b, w, t = height, width, web, flange
    inner = h - 2.0 * t
    inertia = w * inner**3 / 12.0 + b * t**3 / 6.0 + 2.0 * b * t * ((h - t) / 2.0) ** 2
    stress = 18e4 * h / (w * inner**3 + 2.0 * b * t * (4.0 * t**2 + 3.0 * h * inner))
    stress += 15e3 * b / (inner * w**3 + 2.0 * t * b**3)
    return IBeam(2.0 * b * t + w * inner, 5000.0 / inertia, stress)


class PressureVessel(NamedTuple):
    """A cylinder with two round heads: how thick its steel is, and what each part holds."""

    cost: float
    shell: float
    head: float
    cylinder: float
    heads: float


def pressure_vessel(shell: int, head: int, radius: float, length: float) -> PressureVessel:
    """A vessel whose steel comes in sixteenths of an inch."""
    a, b = 0.0625 * shell, 0.0625 * head
    cost = 0.6224 * a * radius * length + 1.7781 * b * radius**2
    cost += 3.1661 * a**2 * length + 19.84 * a**2 * radius
    return PressureVessel(
        cost, a, b, cylinder=pi * radius**2 * length, heads=4.0 / 3.0 * pi * radius**3
    )


def tension_spring(d: float, D: float, coils: float, thin: float, load: float = 1.0) -> DesignValue:
    """Weight and limits of a spring of `coils` coils, D wide, made of wire d thick.

    `thin` is D d^3 - d^4, which is zero where a coil is as wide as its wire: the suites differ in
    how they avoid that.
    """
    shear = (4.0 * D**2 - d * D) / (12566.0 * thin) + 1.0 / (5108.0 * d**2)
    return (coils + 2.0) * D * d**2, {
        "deflection": 1.0 - D**3 * coils / (71785.0 * d**4) / load,
        "shear": shear * load - 1.0,
        "frequency": 1.0 - 140.45 * d / (D**2 * coils),
        "width": (D + d) / 1.5 - 1.0,
    }


def speed_reducer(
    width: float,
    module: float,
    teeth: int,
    length1: float,
    length2: float,
    shaft1: float,
    shaft2: float,
    load: float = 1.0,
) -> DesignValue:
    """Weight and limits of a gear box with two shafts."""
    b, m, z, l1, l2, d1, d2 = width, module, teeth, length1, length2, shaft1, shaft2
    weight = 0.7854 * b * m**2 * (3.3333 * z**2 + 14.9334 * z - 43.0934)
    weight += -1.508 * b * (d1**2 + d2**2) + 7.4777 * (d1**3 + d2**3)
    weight += 0.7854 * (l1 * d1**2 + l2 * d2**2)
    stress1 = sqrt((745.0 * l1 / (m * z)) ** 2 + 16.9e6) / (110.0 * d1**3)
    stress2 = sqrt((745.0 * l2 / (m * z)) ** 2 + 157.5e6) / (85.0 * d2**3)
    return weight, {
        "bending": load * 27.0 / (b * m**2 * z) - 1.0,
        "contact": load * 397.5 / (b * m**2 * z**2) - 1.0,
        "deflection1": 1.93 * l1**3 / (m * z * d1**4) - 1.0,
        "deflection2": 1.93 * l2**3 / (m * z * d2**4) - 1.0,
        "stress1": stress1 - 1.0,
        "stress2": stress2 - 1.0,
        "space": m * z / 40.0 - 1.0,
        "narrow": 5.0 * m / b - 1.0,
        "wide": b / (12.0 * m) - 1.0,
        "bearing1": (1.5 * d1 + 1.9) / l1 - 1.0,
        "bearing2": (1.1 * d2 + 1.9) / l2 - 1.0,
    }


class ConcreteBeam(NamedTuple):
    """A reinforced beam: the strength that it needs, and the strength that it has."""

    cost: float
    need: float
    strength: float


def concrete_beam(steel: float, width: int, depth: float, load: float = 1.0) -> ConcreteBeam:
    """A concrete beam with this area of steel in it."""
    return ConcreteBeam(
        cost=29.4 * steel + 0.6 * width * depth,
        need=180.0 * load + 7.375 * steel**2 / depth,
        strength=steel * width,
    )
