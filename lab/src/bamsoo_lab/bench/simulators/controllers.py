"""Controllers whose gains are to be tuned: a lander, and a pendulum that is swung up on a cart.

Thrusters are on or off, legs touch the ground or not, and an episode ends early after a crash. So
the value jumps when a gain changes a little. An instance determines the masses, the forces and the
initial states. The value is the mean cost of a few episodes. They are the same for all evaluations,
or, for a noisy controller, each evaluation has its own, with random initial states and gusts.
"""

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import cos, exp, hypot, pi, sin

import numpy as np

from bamsoo.space import Real

from .simulator import Simulate, simulator

EPISODES = 3
"""Episodes of an evaluation."""

REPEATS = 300
"""Episodes that are averaged for the true value of a noisy controller."""

TRUTH_SEED = 1_000_000
"""Seeds from here on are for true values, so that no search has seen their noise."""

Episode = Callable[[dict[str, float], np.random.Generator, float], float]
"""The cost of one episode with these gains, with gusts of this size."""


@dataclass(frozen=True)
class Controller:
    """A controller to be tuned.

    Parameters
    ----------
    space : dict
        The ranges of its gains.
    build : callable
        ``build(instance)`` returns an `Episode`.
    """

    space: dict[str, Real]
    build: Callable[[int], Episode]

    def exact(self, instance: int) -> Callable[..., float]:
        """The mean cost of fixed episodes."""
        episode = self.build(instance)
        return lambda **gains: _mean(episode, gains, instance, range(EPISODES), 0.0)

    def seeded(self, instance: int) -> Callable[..., float]:
        """The mean cost of the episodes that belong to a seed."""
        episode = self.build(instance)

        def evaluate(seed: int, **gains: float) -> float:
            first = EPISODES * seed
            return _mean(episode, gains, instance, range(first, first + EPISODES), 1.0)

        return evaluate

    def noisy(self, instance: int) -> tuple[Callable[..., float], Callable[..., float]]:
        """The mean cost of new episodes at each call, and the expected cost."""
        episode, seeded, calls = self.build(instance), self.seeded(instance), itertools.count()

        def cost(**gains: float) -> float:
            return seeded(next(calls), **gains)

        def truth(**gains: float) -> float:
            seeds = range(TRUTH_SEED, TRUTH_SEED + REPEATS)
            return _mean(episode, gains, instance, seeds, 1.0)

        return cost, truth


def _mean(
    episode: Episode, gains: dict[str, float], instance: int, seeds: Iterable[int], gusts: float
) -> float:
    drawn = (np.random.default_rng([instance, seed]) for seed in seeds)
    return float(np.mean([episode(gains, rng, gusts) for rng in drawn]))


def _clip(value: float, most: float) -> float:
    return min(max(value, -most), most)


def lander(instance: int) -> Episode:
    """A lander with one main engine and two side thrusters, which are on or off."""
    rng = np.random.default_rng([instance, 10])
    gravity, main, side, turn = (size * rng.uniform(0.8, 1.2) for size in (1.6, 4.0, 0.5, 1.2))
    dt, steps, stiff, damp, grip = 0.04, 400, 60.0, 8.0, 6.0
    legs = ((-0.4, -0.35), (0.4, -0.35))

    def episode(w: dict[str, float], rng: np.random.Generator, gusts: float) -> float:
        x, y = rng.uniform(-1.5, 1.5), rng.uniform(3.2, 3.8)
        vx, vy = rng.uniform(-0.6, 0.6), rng.uniform(-0.8, 0.0)
        angle, spin = rng.uniform(-0.2, 0.2), rng.uniform(-0.2, 0.2)
        winds = 0.25 * gusts * rng.standard_normal(steps)
        wind, cost, calm, touching = 0.0, 0.0, 0, 0

        for step in range(steps):
            tilt = _clip(w["drift"] * x + w["speed"] * vx, w["tilt"])
            turning = (tilt - angle) * w["turn"] - spin * w["spin"]
            height = w["funnel"] * abs(x) + w["floor"]
            rising = (height - y) * w["rise"] - vy * w["brake"]
            if touching:
                turning, rising = -spin * w["settle"], -vy * w["soften"]
            fire = steer = 0.0
            if rising > abs(turning) and rising > w["least_main"]:
                fire = 1.0
            elif abs(turning) > w["least_side"]:
                steer = 1.0 if turning > 0.0 else -1.0
            wind += 0.1 * (float(winds[step]) / 0.3 - wind)
            ax = -main * fire * sin(angle) - side * steer * cos(angle) + wind
            ay = main * fire * cos(angle) - gravity
            torque = turn * steer
            touching = 0
            for lx, ly in legs:
                rx, ry = lx * cos(angle) - ly * sin(angle), lx * sin(angle) + ly * cos(angle)
                depth = -(y + ry)
                if depth > 0.0:
                    touching += 1
                    up = max(stiff * depth - damp * (vy + spin * rx), 0.0)
                    along = -_clip(grip * (vx - spin * ry), 0.8 * up)
                    ax, ay, torque = ax + along, ay + up, torque + 2.0 * (rx * up - ry * along)
            vx, vy, spin = vx + dt * ax, vy + dt * ay, spin + dt * torque
            x, y, angle = x + dt * vx, y + dt * vy, angle + dt * spin
            cost += 0.3 * fire + 0.03 * abs(steer)
            if y < 0.15 or abs(angle) > 1.2 or abs(x) > 3.0 or y > 6.0:
                return cost + 200.0 + 40.0 * hypot(x, y) + 30.0 * hypot(vx, vy)
            calm = calm + 1 if touching == 2 and hypot(vx, vy) + abs(spin) < 0.05 else 0
            if calm >= 10:
                return cost - 100.0 + 60.0 * abs(x)
        return cost + 40.0 * hypot(x, y) + 30.0 * hypot(vx, vy) + 20.0 * abs(angle)

    return episode


def swing(instance: int) -> Episode:
    """A pendulum on a cart that is pushed with one of five forces, swung up and balanced."""
    rng = np.random.default_rng([instance, 11])
    mass, length, force = (size * rng.uniform(0.8, 1.2) for size in (0.3, 0.6, 12.0))
    dt, steps, gravity, track = 0.02, 400, 9.8, 2.0

    def episode(w: dict[str, float], rng: np.random.Generator, gusts: float) -> float:
        x, v = rng.uniform(-0.3, 0.3), 0.0
        angle, spin = pi + rng.uniform(-0.2, 0.2), rng.uniform(-0.3, 0.3)  # 0 is upright
        pushes = 1.5 * gusts * rng.standard_normal(steps)
        cost, held = 0.0, False

        for step in range(steps):
            near = w["catch"] + (w["hold"] if held else 0.0)
            held = cos(angle) > cos(near) and abs(spin) < w["fastest"]
            if held:
                wanted = (
                    w["angle"] * sin(angle) + w["spin"] * spin + w["place"] * x + w["speed"] * v
                )
            else:
                energy = 0.5 * (spin * length) ** 2 + gravity * length * (cos(angle) - w["energy"])
                away = -energy * spin * cos(angle)
                wanted = _clip(w["pump"] * away, w["most"]) - w["centre"] * x - w["damp"] * v
            push = force * _clip(round(2.0 * wanted), 2.0) / 2.0 + float(pushes[step])
            s, c = sin(angle), cos(angle)
            ax = push + mass * s * (length * spin * spin - gravity * c)
            ax /= 1.0 + mass * s * s
            twist = (gravity * s - ax * c) / length - 0.1 * spin
            v, spin = v + dt * ax, spin + dt * twist
            x, angle = x + dt * v, angle + dt * spin
            if abs(x) > track:
                return cost + 1.5 * (steps - step) * dt * 20.0
            cost += dt * (10.0 * (1.0 - cos(angle)) + 2.0 * x * x + 0.2 * abs(push) / force)
            cost -= dt * 20.0 * exp(-20.0 * angle * angle) * (abs(spin) < 1.0)
        return cost

    return episode


CONTROLLERS = {
    "lander": Controller(
        {
            "drift": Real(0.0, 2.0),
            "speed": Real(0.0, 2.0),
            "tilt": Real(0.0, 1.0),
            "turn": Real(0.0, 3.0),
            "spin": Real(0.0, 3.0),
            "funnel": Real(0.0, 2.0),
            "floor": Real(-1.0, 1.0),
            "rise": Real(0.0, 3.0),
            "brake": Real(0.0, 3.0),
            "settle": Real(0.0, 2.0),
            "soften": Real(0.0, 3.0),
            "least_main": Real(0.0, 1.0),
            "least_side": Real(0.0, 1.0),
        },
        lander,
    ),
    "swing": Controller(
        {
            "pump": Real(0.0, 3.0),
            "most": Real(0.0, 2.0),
            "energy": Real(0.5, 1.5),
            "centre": Real(0.0, 2.0),
            "damp": Real(-1.0, 1.0),
            "catch": Real(0.0, 1.2),
            "hold": Real(0.0, 0.8),
            "fastest": Real(0.5, 10.0),
            "angle": Real(-10.0, 10.0),
            "spin": Real(-3.0, 3.0),
            "place": Real(-2.0, 2.0),
            "speed": Real(-2.0, 2.0),
        },
        swing,
    ),
}
"""Controllers by name."""


def _register(name: str, controller: Controller) -> None:
    @simulator(name, "jumps", "numpy", space=controller.space)
    def exact(instance: int) -> Simulate:
        cost = controller.exact(instance)
        return lambda seed, **gains: cost(**gains)

    simulator(f"{name}-noisy", "noise", "numpy", "noisy", space=controller.space)(controller.seeded)


for _name, _controller in CONTROLLERS.items():
    _register(_name, _controller)
