"""Plans over time, and the currents of an antenna."""

from collections.abc import Callable
from math import cos, exp, hypot, sin

import numpy as np

from bamsoo.base.typing import Array

from ..case import Box
from .problem import Value, sizes


@sizes(
    "fishery",
    fishery_12=("develop", 120, [12, 0.08]),
    fishery_24=("report", 240, [24, 0.04]),
)
def fishery(years: int, interest: float) -> tuple[Box, Callable[[], Value]]:
    """How much to fish in each year, when few adults have fewer young than they could.

    The value is the negative of the profit at the start of the plan. Changing the size of the fleet
    costs money, and the stock that remains has a value.
    """

    def build() -> Value:
        def value(x: Array) -> float:
            young, adult, profit, fleet = 0.5, 0.6, 0.0, 0.3
            for year, effort in enumerate(x.tolist()):
                caught = adult * (1.0 - exp(-1.2 * effort)) + 0.3 * young * (1.0 - exp(-effort))
                cost = 0.12 * effort + 0.1 * abs(effort - fleet)
                profit += (caught / (1.0 + 0.5 * caught) - cost) * (1.0 + interest) ** -year
                left = adult * exp(-1.2 * effort)
                grown = 0.6 * young * exp(-0.4 * effort)
                young = 1.6 * left**2 / (0.04 + left**2) / (1.0 + 0.9 * left)
                adult, fleet = 0.7 * left + grown, effort
            return -profit - 0.8 * adult * (1.0 + interest) ** -years

        return value

    return [(0.0, 1.5)] * years, build


@sizes(
    "flight",
    glider_12=("develop", 120, [12, 0.5]),
    glider_20=("report", 200, [20, 1.5]),
)
def glider(controls: int, start: float) -> tuple[Box, Callable[[], Value]]:
    """The angle of attack of a glider over time, so that it flies far; it crosses two thermals.

    The controls are joined by straight lines. After a landing the distance no longer changes.
    """
    seconds, step = 60.0, 0.1

    def build() -> Value:
        at = np.linspace(0.0, seconds, controls)
        times = np.arange(0.0, seconds, step)

        def lift(x: float) -> float:
            first, second = (x - 300.0) / 60.0, (x - 700.0) / 90.0
            return 3.0 * exp(-(first**2)) + start * exp(-(second**2)) - 0.4

        def value(angles: Array) -> float:
            x, y, vx, vy = 0.0, 60.0, 13.0, 0.0
            for angle in np.interp(times, at, angles).tolist():
                rise = lift(x)
                wx, wy = vx, vy - rise
                speed = hypot(wx, wy)
                # lift and drag of a wing that stalls gently
                cl = 6.0 * angle / (1.0 + (angle / 0.25) ** 4)
                cd = 0.02 + 0.05 * cl**2 + 2.0 * max(abs(angle) - 0.2, 0.0) ** 2
                push = 0.032 * speed
                vx += step * push * (-cl * wy - cd * wx)
                vy += step * (push * (cl * wx - cd * wy) - 9.81)
                vx, vy = max(min(vx, 80.0), -80.0), max(min(vy, 80.0), -80.0)
                x, y = x + step * vx, y + step * vy
                if y <= 0.0:
                    break
            return -x - 8.0 * max(y, 0.0)

        return value

    return [(-0.1, 0.35)] * controls, build


@sizes(
    "antenna",
    antenna_10=("develop", 120, [5, 0.2]),
    antenna_16=("report", 160, [8, 0.12]),
)
def antenna(pairs: int, beam: float) -> tuple[Box, Callable[[], Value]]:
    """Gaps and currents of a symmetric row of antennas, so that it radiates in one direction.

    The value is the largest side lobe in decibels. It is a maximum, so it has kinks everywhere.
    """

    def build() -> Value:
        sines = np.sin(np.linspace(0.0, np.pi / 2.0, 400))
        side = sines[sines > beam]

        def value(x: Array) -> float:
            place, current = np.cumsum(x[:pairs]) - 0.5 * x[0], x[pairs:]
            field = np.cos(2.0 * np.pi * side[:, None] * place) @ current
            return 20.0 * float(np.log10(np.abs(field).max() / current.sum() + 1e-6))

        return value

    return [(0.3, 1.0)] * pairs + [(0.1, 1.0)] * pairs, build


@sizes(
    "flight",
    probe_6=("develop", 120, [3]),
    probe_10=("report", 160, [5]),
)
def probe(burns: int) -> tuple[Box, Callable[[], Value]]:
    """When and how strongly a probe turns and burns on its way from one planet to another.

    The orbits are circles in a plane. The value is the distance to the second planet after the last
    part of the way, in units of the first orbit, and the fuel.
    """

    def build() -> Value:
        step, parts, goal = 0.02, 250, 1.52

        def value(x: Array) -> float:
            strength, turn = x[:burns].tolist(), x[burns:].tolist()
            a, b, va, vb, fuel = 1.0, 0.0, 0.0, 1.0, 0.0
            for i in range(parts):
                if i % (parts // burns) == 0 and i // (parts // burns) < burns:
                    now = i // (parts // burns)
                    speed = hypot(va, vb) or 1e-9
                    along, across = cos(turn[now]), sin(turn[now])
                    push = strength[now] / speed
                    va, vb = (
                        va + push * (along * va - across * vb),
                        vb + push * (along * vb + across * va),
                    )
                    fuel += strength[now]
                pull = -1.0 / max(hypot(a, b), 0.1) ** 3
                va, vb = va + step * pull * a, vb + step * pull * b
                a, b = a + step * va, b + step * vb
            angle = 0.8 + step * parts * goal**-1.5
            away = hypot(a - goal * cos(angle), b - goal * sin(angle))
            return away + 0.3 * fuel

        return value

    return [(0.0, 0.4)] * burns + [(-np.pi, np.pi)] * burns, build
