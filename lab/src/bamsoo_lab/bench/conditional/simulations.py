"""Tasks: the type of a controller, policy or cross-section, each with its own parameters."""

from typing import Any

import numpy as np

from bamsoo.space import Choice, Int, Real

from ..tuning.designs import PENALTY
from ..tuning.task import Evaluate
from .task import task


@task(
    "controller",
    "simulation",
    kind=Choice(
        {
            "on-off": {"power": Real(0.1, 20.0, log=True), "dead": Real(0.0, 0.5)},
            "P": {"p_gain": Real(0.01, 100.0, log=True)},
            "PI": {
                "pi_gain": Real(0.01, 100.0, log=True),
                "pi_integral": Real(0.01, 100.0, log=True),
            },
            "PID": {
                "pid_gain": Real(0.01, 100.0, log=True),
                "pid_integral": Real(0.01, 100.0, log=True),
                "derivative": Real(1e-3, 10.0, log=True),
                "filter": Choice({"off": {}, "on": {"time": Real(1e-3, 1.0, log=True)}}),
            },
        }
    ),
)
def controller(instance: int) -> Evaluate:
    """A mass on a spring that should follow a step: error over time plus cost of the force."""
    rng = np.random.default_rng(instance)
    mass, damping, spring = 1.0 + rng.random(), 0.3 + 0.4 * rng.random(), 1.0 + rng.random()
    dt, steps = 0.02, 400

    def force(kind: str, p: dict[str, Any], error: float, total: float, speed: float) -> float:
        if kind == "on-off":
            return float(p["power"] * np.sign(error)) if abs(error) > p["dead"] else 0.0
        if kind == "P":
            return float(p["p_gain"] * error)
        if kind == "PI":
            return float(p["pi_gain"] * error + p["pi_integral"] * total)
        return float(p["pid_gain"] * error + p["pid_integral"] * total - p["derivative"] * speed)

    def evaluate(seed: int, kind: str, **p: Any) -> float:
        x = v = total = seen = cost = 0.0
        keep = np.exp(-dt / p["time"]) if p.get("filter") == "on" else 0.0
        for _ in range(steps):
            error = 1.0 - x
            total += error * dt
            seen = keep * seen + (1.0 - keep) * v
            u = min(max(force(kind, p, error, total, seen), -20.0), 20.0)
            v += dt * (u - damping * v - spring * x) / mass
            x += dt * v
            cost += dt * (abs(error) + 2e-3 * u**2)
        return float(np.log(cost))

    return evaluate


@task(
    "stock-policy",
    "simulation",
    policy=Choice(
        {
            "base-stock": {"level": Int(0, 300)},
            "reorder-quantity": {"point": Int(0, 200), "quantity": Int(1, 300, log=True)},
            "periodic": {"days": Int(1, 30), "up_to": Int(0, 400)},
        }
    ),
    express=Choice({"never": {}, "below": {"alarm": Int(0, 100)}}),
)
def stock_policy(instance: int) -> Evaluate:
    """When to order, and how much, for 250 days of demand: cost per day."""
    rng = np.random.default_rng(instance)
    demand = rng.poisson(rng.gamma(4.0, 2.0, 250))
    lead, rate = 5, 40.0

    def evaluate(seed: int, policy: str, express: str, **p: Any) -> float:
        stock, cost = 60, 0.0
        coming: list[tuple[int, int]] = []
        for day, wanted in enumerate(demand.tolist()):
            stock += sum(amount for due, amount in coming if due == day)
            coming = [order for order in coming if order[0] > day]
            sold = min(stock, wanted)
            cost += 8.0 * (wanted - sold) + 0.1 * (stock - sold)
            stock -= sold
            position = stock + sum(amount for _, amount in coming)
            order = 0
            if policy == "base-stock":
                order = p["level"] - position
            elif policy == "reorder-quantity":
                order = p["quantity"] if position <= p["point"] else 0
            elif day % p["days"] == 0:
                order = p["up_to"] - position
            if order > 0:
                cost += rate + 0.5 * order
                coming.append((day + lead, order))
            if express == "below" and stock < p["alarm"]:
                cost += 30.0 + 1.5 * 20
                coming.append((day + 1, 20))
        return cost / len(demand)

    return evaluate


MATERIALS = {"steel": (7850.0, 1.0, 235.0, 210e3), "aluminium": (2700.0, 3.2, 160.0, 70e3)}
"""Density in kg/m³, price per kilogram, strength and stiffness in N/mm²."""


@task(
    "beam-section",
    "design",
    material=Choice(list(MATERIALS)),
    section=Choice(
        {
            "bar": {"diameter": Real(20.0, 300.0)},
            "tube": {"outer": Real(20.0, 300.0), "wall": Real(0.02, 0.5)},
            "box": {
                "box_height": Real(20.0, 400.0),
                "box_width": Real(20.0, 300.0),
                "box_wall": Real(0.02, 0.5),
            },
            "i-shape": {
                "height": Real(20.0, 400.0),
                "width": Real(20.0, 300.0),
                "web": Real(3.0, 30.0),
                "flange": Real(3.0, 40.0),
            },
        }
    ),
)
def beam_section(instance: int) -> Evaluate:
    """Log of the cost of a beam with one of four cross-sections; violated limits are penalised."""
    rng = np.random.default_rng(instance)
    load, span = 15e3 * (1.0 + rng.random()), 3000.0 * (1.0 + 0.5 * rng.random())

    def shape(section: str, p: dict[str, Any]) -> tuple[float, float, float]:
        """Area, second moment of area, and height."""
        if section in ("bar", "tube"):
            d = p["diameter"] if section == "bar" else p["outer"]
            inner = 0.0 if section == "bar" else d * (1.0 - 2.0 * min(p["wall"], 0.499))
            return np.pi * (d**2 - inner**2) / 4.0, np.pi * (d**4 - inner**4) / 64.0, d
        if section == "box":
            h, b = p["box_height"], p["box_width"]
            t = min(p["box_wall"], 0.499) * min(h, b)
            hi, bi = h - 2.0 * t, b - 2.0 * t
            return h * b - hi * bi, (b * h**3 - bi * hi**3) / 12.0, h
        h, b = p["height"], p["width"]
        t, w = min(p["flange"], 0.499 * h), min(p["web"], b)
        hi = h - 2.0 * t
        return 2.0 * b * t + w * hi, (b * h**3 - (b - w) * hi**3) / 12.0, h

    def evaluate(seed: int, material: str, section: str, **p: Any) -> float:
        density, price, strength, stiffness = MATERIALS[material]
        area, inertia, height = shape(section, p)
        weight = density * area * span * 1e-9
        stress = load * span / 4.0 * height / (2.0 * inertia)
        bend = load * span**3 / (48.0 * stiffness * inertia)
        broken = max(stress / strength - 1.0, 0.0) + max(bend / (span / 300.0) - 1.0, 0.0)
        return float(np.log(weight * price) + np.log1p(PENALTY * broken))

    return evaluate
