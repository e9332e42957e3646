"""Architectures: what a system is made of decides which parameters it has.

Small models of launchers, vehicles, guidance and plants, in the manner of the package sb-arch-opt.
"""

from collections.abc import Iterator
from itertools import pairwise
from math import exp, log, log10, prod
from typing import Any

import numpy as np

from bamsoo.space import Choice, Int, Parameter, Real

from ..tuning.task import Evaluate
from .task import system

ENGINES = {"small": (0.1, 90.0), "medium": (0.45, 700.0), "large": (1.8, 3000.0)}
"""The mass in tonnes and the thrust in kilonewtons."""

FUELS = {"solid": (275.0, 0.10), "kerosene": (335.0, 0.07), "hydrogen": (440.0, 0.14)}
"""The specific impulse in seconds, and the mass of the tank as a share of the fuel."""


def _stage(i: int, **more: Parameter) -> dict[str, Parameter]:
    """The engines and the fuel of a stage of a launcher."""
    return {
        f"engine{i}": Choice(list(ENGINES)),
        f"fuel{i}": Choice(list(FUELS)),
        f"engines{i}": Int(1, 9),
        f"mass{i}": Real(2.0, 600.0, log=True),
        **more,
    }


@system(
    "launcher",
    "architecture",
    "fails",
    **_stage(0),
    payload=Real(0.2, 20.0, log=True),
    second=Choice(
        {"no": {}, "yes": _stage(1, third=Choice({"none": {}, "kick": _stage(2)}))},
    ),
)
def launcher(instance: int) -> Evaluate:
    """The cost per tonne of a launcher with one to three stages, and the speed that it lacks.

    A launcher that is too heavy for its engines fails.
    """
    rng = np.random.default_rng(instance)
    needed, prices = rng.uniform(9000.0, 9600.0), rng.uniform(0.6, 1.5, 3)

    def evaluate(seed: int, payload: float, second: str, third: str = "none", **p: Any) -> float:
        count = 1 if second == "no" else 2 if third == "none" else 3
        above, speed, cost = payload, 0.0, 20.0 + 6.0 * count
        for i in reversed(range(count)):
            mass, thrust = ENGINES[p[f"engine{i}"]]
            impulse, tank = FUELS[p[f"fuel{i}"]]
            fuel, number = p[f"mass{i}"], p[f"engines{i}"]
            dry = above + number * mass + tank * fuel
            lift = number * thrust / (9.81 * (dry + fuel))
            if lift < (1.2 if i == 0 else 0.5):
                raise ArithmeticError("too heavy for its engines")
            speed += 9.81 * impulse * log((dry + fuel) / dry) - (300.0 / lift if i == 0 else 0.0)
            cost += float(prices[[*FUELS].index(p[f"fuel{i}"])]) * (
                0.02 * fuel + number * thrust**0.6 / 9.0
            )
            above = dry + fuel
        return float(log10(cost / payload)) + max(needed - speed, 0.0) / 2000.0

    return evaluate


@system(
    "drive-train",
    "architecture",
    kind=Choice(
        {
            "combustion": {"litres": Real(0.8, 4.0), "gears": Int(4, 9)},
            "electric": {"cells": Real(20.0, 120.0), "motors": Int(1, 3)},
            "hybrid": {
                "engine": Real(0.6, 2.5),
                "pack": Real(1.0, 30.0, log=True),
                "share": Real(0.0, 1.0),
                "coupling": Choice({"series": {"generator": Real(20.0, 120.0)}, "parallel": {}}),
            },
        }
    ),
    ratio=Real(2.0, 12.0),
    tyres=Choice(["eco", "sport"]),
    brakes=Choice([False, True]),
)
def drive_train(instance: int) -> Evaluate:
    """What a vehicle costs in ten years, with a penalty for a slow or a short one."""
    rng = np.random.default_rng(instance)
    yearly, fuel, power = rng.uniform(8.0, 25.0), rng.uniform(1.4, 2.2), rng.uniform(0.2, 0.4)

    def evaluate(seed: int, kind: str, ratio: float, tyres: str, brakes: bool, **p: Any) -> float:
        drag = 1.0 if tyres == "eco" else 1.12
        saved = 0.08 if kind != "combustion" else 0.0
        used = 16.0 * drag * (1.0 - saved * (2.0 if brakes else 1.0))  # kWh per 100 km at the wheel
        price, reach = 9.0 + 0.6 * brakes, 700.0
        if kind == "combustion":
            pull = 75.0 * p["litres"] * (1.0 - 0.05 * abs(ratio - 4.0) / (p["gears"] - 3))
            weight, run = (
                1.2 + 0.08 * p["litres"],
                used / (0.3 - 0.03 * abs(p["litres"] - 1.4)) / 8.9,
            )
            price, cost = price + 2.2 * p["litres"] + 0.2 * p["gears"], run * fuel
        elif kind == "electric":
            pull = min(90.0 * p["motors"], 3.2 * p["cells"]) * (1.0 - 0.03 * abs(ratio - 9.0))
            weight, price = 1.3 + 0.006 * p["cells"], price + 0.17 * p["cells"] + 1.1 * p["motors"]
            reach, cost = 100.0 * p["cells"] / used, used / 0.9 * power
        else:
            best = 0.36 if p["coupling"] == "series" else 0.33
            weight = 1.4 + 0.07 * p["engine"] + 0.008 * p["pack"]
            electric = p["share"] * min(p["pack"] / 12.0, 1.0)
            source = min(p.get("generator", 90.0), 70.0 * p["engine"])
            pull = source + 6.0 * min(p["pack"], 12.0) * (1.0 - 0.03 * abs(ratio - 6.0))
            price += 2.2 * p["engine"] + 0.25 * p["pack"] + 0.01 * p.get("generator", 60.0)
            burnt = used * (1.0 - electric) / (best - 0.02 * abs(p["engine"] - 1.2)) / 8.9
            cost = burnt * fuel + used * electric / 0.9 * power
        seconds = 160.0 * weight / max(pull, 10.0) * (0.93 if tyres == "sport" else 1.0) * 6.0
        late, short = max(seconds - 9.0, 0.0), max(450.0 - reach, 0.0) / 100.0
        return float(price + 10.0 * yearly * cost * weight / 130.0 + 0.8 * late + 2.0 * short**2)

    return evaluate


KINDS = {"A": (1.5, 0.9985), "B": (3.0, 0.9995), "C": (6.0, 0.9999)}
"""The mass and the reliability of a device."""


def _device(name: str) -> dict[str, Parameter]:
    """One to three devices of a kind, and what kind each of them is."""
    kinds = list(KINDS)
    return {
        f"{name}1": Choice(kinds),
        f"{name}": Choice(
            {
                "one": {},
                "two": {f"{name}2": Choice(kinds)},
                "three": {f"{name}3": Choice(kinds), f"{name}4": Choice(kinds)},
            }
        ),
    }


@system(
    "guidance",
    "architecture",
    **_device("sensor"),
    **_device("computer"),
    **_device("actuator"),
    wiring=Choice(["each", "all"]),
    shield=Real(0.0, 1.0),
)
def guidance(instance: int) -> Evaluate:
    """The mass of a guidance system and how often it fails, in powers of ten.

    Devices of the three kinds are connected each to one, or all to all.
    """
    rng = np.random.default_rng(instance)
    weight, harsh = rng.uniform(1.5, 3.0), rng.uniform(5.0, 20.0)

    def evaluate(seed: int, wiring: str, shield: float, **p: str) -> float:
        groups = [list(_kinds(p, name)) for name in ("sensor", "computer", "actuator")]
        worse = 1.0 + harsh * exp(-3.0 * shield)
        fails = [[worse * (1.0 - KINDS[kind][1]) for kind in group] for group in groups]
        mass = sum(KINDS[kind][0] for group in groups for kind in group) * (1.0 + 0.6 * shield)
        if wiring == "all":
            mass += 0.15 * sum(len(a) * len(b) for a, b in pairwise(groups))
            chance = 1.0 - prod(1.0 - prod(group) for group in fails)
        else:
            chains = min(map(len, groups))
            mass += 0.15 * 2.0 * chains
            chance = prod(1.0 - prod(1.0 - group[i] for group in fails) for i in range(chains))
        return float(0.1 * weight * mass + log10(max(chance, 1e-15)))

    return evaluate


def _kinds(p: dict[str, str], name: str) -> Iterator[str]:
    return (p[f"{name}{i}"] for i in range(1, 5) if f"{name}{i}" in p)


@system(
    "water-treatment",
    "architecture",
    screen=Choice({"no": {}, "coarse": {}, "fine": {"mesh": Real(0.1, 5.0, log=True)}}),
    settle=Choice({"no": {}, "tank": {"hours": Real(0.5, 8.0)}, "lamella": {"plates": Int(5, 60)}}),
    treat=Choice(
        {
            "sludge": {"air": Real(0.1, 5.0, log=True), "age": Real(1.0, 30.0, log=True)},
            "filter": {"bed": Real(0.5, 4.0), "rate": Real(0.5, 20.0, log=True)},
            "membrane": {"pressure": Real(0.2, 4.0), "flux": Real(5.0, 60.0)},
        }
    ),
    last=Choice({"chlorine": {"dose": Real(0.1, 20.0, log=True)}, "light": {"lamps": Int(1, 40)}}),
)
def water_treatment(instance: int) -> Evaluate:
    """The cost of a plant with four steps, and a penalty for what is left in the water."""
    rng = np.random.default_rng(instance)
    flow, dirt, limit = rng.uniform(0.7, 1.4), rng.uniform(250.0, 450.0), rng.uniform(10.0, 25.0)

    def evaluate(seed: int, screen: str, settle: str, treat: str, last: str, **p: Any) -> float:
        cost, solid, germs = 0.0, dirt, 1e5
        if screen != "no":
            mesh = p.get("mesh", 6.0)
            solid, cost = solid * (0.75 + 0.04 * mesh), cost + 3.0 + 2.0 / mesh
        if settle == "tank":
            solid, cost = (
                solid * (0.4 + 0.6 * exp(-0.6 * p["hours"])),
                cost + 3.5 * p["hours"] * flow,
            )
        elif settle == "lamella":
            solid, cost = (
                solid * (0.35 + 0.65 * exp(-p["plates"] / 15.0)),
                cost + 4.0 + 0.35 * p["plates"],
            )
        clogged = solid / 100.0
        if treat == "sludge":
            done = 1.0 - exp(-1.6 * p["air"] ** 0.6 * p["age"] ** 0.4 / clogged**0.5)
            cost += 6.0 * p["air"] * flow + 0.4 * p["age"] + 8.0
        elif treat == "filter":
            done = 1.0 - exp(-3.0 * p["bed"] / p["rate"] ** 0.5)
            cost += (
                6.0 * p["bed"] / p["rate"] ** 0.3 * flow + 2.0 * clogged * p["rate"] ** 0.2 + 3.0
            )
        else:
            through = min(p["flux"], 25.0 * p["pressure"] / (0.5 + 0.4 * clogged))
            done, germs = 0.98, germs * 1e-3
            cost += 14.0 + 300.0 * flow / through + 4.0 * p["pressure"] ** 1.5 * flow
        solid *= 1.0 - 0.97 * done
        murky = 1.0 + solid / 30.0
        if last == "chlorine":
            germs, cost = germs * exp(-2.5 * p["dose"] / murky), cost + 0.9 * p["dose"] * flow + 2.0
        else:
            germs, cost = germs * exp(-0.9 * p["lamps"] / murky**2), cost + 0.5 * p["lamps"] + 4.0
        over = max(solid / limit - 1.0, 0.0) + max(log10(max(germs, 1e-6)) - 1.0, 0.0)
        return float(cost + 25.0 * over)

    return evaluate
