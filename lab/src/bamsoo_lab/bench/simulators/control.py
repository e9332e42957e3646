"""Controllers: one that swings up a pendulum (gymnasium), one that must be robust (control)."""

from typing import Any

import numpy as np

from bamsoo.space import Real

from ..errors import require
from .simulator import Simulate, simulator

STEPS, STARTS = 150, 2
"""Steps of an episode of the pendulum, and the number of episodes of an evaluation."""


@simulator(
    "acrobot",
    "jumps",
    "gymnasium",
    space={
        **{f"weight{i}": Real(-1.0, 1.0) for i in range(6)},
        "bias": Real(-0.5, 0.5),
        "dead": Real(0.0, 1.0),
    },
)
def acrobot(instance: int) -> Simulate:
    """Swing up two links with a motor between them that can only push left, push right or rest.

    The value is the number of steps that it takes, plus what is missing in height if the end is
    not reached. A small change of a weight changes one push, and after that everything. The
    instance determines the masses and lengths of the links.
    """
    gymnasium: Any = require("gymnasium")
    env = gymnasium.make("Acrobot-v1").unwrapped
    rng = np.random.default_rng(instance)
    env.LINK_MASS_1, env.LINK_MASS_2 = rng.uniform(0.8, 1.2, 2).tolist()
    env.LINK_LENGTH_1 = rng.uniform(0.8, 1.2)
    env.LINK_COM_POS_1 = env.LINK_LENGTH_1 / 2.0

    def episode(start: int, weights: np.ndarray[Any, Any], bias: float, dead: float) -> float:
        seen, _ = env.reset(seed=start)
        top = -2.0
        for step in range(STEPS):
            push = float(weights @ seen) + bias
            action = 1 if abs(push) <= dead else 2 if push > 0 else 0
            seen, _, done, _, _ = env.step(action)
            top = max(top, float(-seen[0] - (seen[0] * seen[2] - seen[1] * seen[3])))
            if done:
                return float(step)
        return STEPS + 50.0 * max(1.0 - top, 0.0)

    def evaluate(seed: int, bias: float, dead: float, **p: float) -> float:
        weights = np.array([*p.values()])
        starts = range(STARTS * instance, STARTS * (instance + 1))
        return float(np.mean([episode(start, weights, bias, dead) for start in starts]))

    return evaluate


LIMITS = ("stability", "sensitivity", "noise", "damping")


@simulator(
    "drive",
    "measured constraints",
    "control",
    space={
        "proportional": Real(1e-2, 10.0, log=True),
        "integral": Real(1e-2, 1e2, log=True),
        "derivative": Real(1e-4, 1.0, log=True),
        "filter": Real(1e-3, 1.0, log=True),
        "notch": Real(2.0, 50.0, log=True),
        "depth": Real(0.01, 1.0, log=True),
        "width": Real(0.1, 2.0, log=True),
    },
    constraints=LIMITS,
)
def drive(instance: int) -> Simulate:
    """A drive with an elastic shaft: as much integral gain as four requirements allow.

    The integral gain is what rejects loads. Closed-loop poles must be stable, the sensitivity and
    the amplification of noise limited, and the resonance damped (Åström and Hägglund, "Advanced PID
    control", 2006). The instance determines the resonance, its damping and the delay.
    """
    control: Any = require("control")
    rng = np.random.default_rng(instance)
    resonance, damping = rng.uniform(8.0, 20.0), rng.uniform(0.01, 0.05)
    delay = rng.uniform(0.01, 0.03)
    s = control.tf([1.0, 0.0], [1.0])
    shaft = resonance**2 / (s**2 + 2.0 * damping * resonance * s + resonance**2)
    plant = 2.0 / (s + 0.5) * shaft * control.tf(*control.pade(delay, 2))
    omega = np.logspace(-2.0, 3.0, 300)
    near = np.abs(np.log(omega / resonance)) < 0.5
    resonating = np.abs(plant(1j * omega[near])).max()

    def evaluate(seed: int, **p: float) -> tuple[float, dict[str, float]]:
        k, ki, kd, tf = (p[n] for n in ("proportional", "integral", "derivative", "filter"))
        pid = (k + ki / s + kd * s) / (0.5 * tf**2 * s**2 + tf * s + 1.0)
        wn, width = p["notch"], p["width"]
        notch = (s**2 + 2.0 * p["depth"] * width * wn * s + wn**2) / (
            s**2 + 2.0 * width * wn * s + wn**2
        )
        controller = pid * notch
        loop = controller * plant
        poles = np.roots(np.polyadd(loop.num[0][0], loop.den[0][0]))
        gain = loop(1j * omega)
        sensitivity = 1.0 / (1.0 + gain)
        to_noise = controller(1j * omega) * sensitivity
        load = plant(1j * omega) * sensitivity
        return float(-np.log10(ki)), {
            "stability": float(poles.real.max() + 0.01),
            "sensitivity": float(np.log(np.abs(sensitivity).max() / 2.0)),
            "noise": float(np.log(np.abs(to_noise).max() / 20.0)),
            "damping": float(np.log(np.abs(load[near]).max() / resonating)),
        }

    return evaluate
