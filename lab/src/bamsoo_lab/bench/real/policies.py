"""Linear policies for robots and vehicles of the package gymnasium.

Every evaluation is the same episode. The value is the negative of the total reward.
"""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from bamsoo.base.typing import Array

from ..case import Box
from ..errors import require
from .problem import Value, sizes

Policy = Callable[[Array, Array], Array]
"""The actions for an observation and the parameters."""


def _episode(name: str, policy: Policy, steps: int, seed: int) -> Value:
    gymnasium: Any = require("gymnasium")
    if find_spec("mujoco") is not None:  # its warnings would go to a file in the current folder
        require("mujoco").set_mju_user_warning(lambda message: None)
    world = gymnasium.make(name, disable_env_checker=True).unwrapped

    def value(x: Array) -> float:
        seen, _ = world.reset(seed=seed)
        total = 0.0
        for _ in range(steps):
            seen, reward, ended, _, _ = world.step(policy(np.asarray(seen, dtype=float), x))
            total += float(reward)
            if ended:
                break
        return -total

    return value


def joints(places: list[tuple[int, int]], shared: list[int]) -> tuple[int, Policy]:
    """Each actuator follows its own joint's angle and speed, and what all of them see.

    Returns the number of parameters and the policy.
    """
    own, each = np.array(places), 2 + len(shared)

    def policy(seen: Array, x: Array) -> Array:
        W = x.reshape(len(own), each)
        action: Array = np.tanh((W[:, :2] * seen[own]).sum(axis=1) + W[:, 2:] @ seen[shared])
        return action

    return len(own) * each, policy


@sizes(
    "robot",
    ("gymnasium", "mujoco"),
    half_cheetah=("develop", 250, ["HalfCheetah-v5", 2, 11, 6, [1, 10], 1.0]),
    walker=("report", 250, ["Walker2d-v5", 2, 11, 6, [1, 10], 0.6]),
)
def walking(
    name: str, angles: int, speeds: int, count: int, shared: list[int], most: float
) -> tuple[Box, Callable[[], Value]]:
    """A walking robot: each joint sees itself, and the pitch or height of the body."""
    places = [(angles + i, speeds + i) for i in range(count)]
    size, policy = joints(places, shared)
    return [(-most, most)] * size, lambda: _episode(name, policy, 200, 3)


@sizes("robot", ("gymnasium", "mujoco"), pusher=("develop", 250, [35]))
def pusher(size: int) -> tuple[Box, Callable[[], Value]]:
    """An arm of seven joints that pushes an object: each sees itself, and where the object is."""

    def policy(seen: Array, x: Array) -> Array:
        W = x.reshape(7, 5)
        away = seen[17:20] - seen[14:17]  # from the tip of the arm to the object
        action: Array = W[:, 0] * seen[:7] + W[:, 1] * seen[7:14] + W[:, 2:] @ away
        return np.clip(action, -2.0, 2.0)

    return [(-2.0, 2.0)] * size, lambda: _episode("Pusher-v5", policy, 100, 3)


@sizes(
    "vehicle",
    ("gymnasium",),
    mountain_car=("develop", 80, ["MountainCarContinuous-v0", 2, 300]),
    pendulum=("report", 80, ["Pendulum-v1", 3, 150]),
)
def small(name: str, observed: int, steps: int) -> tuple[Box, Callable[[], Value]]:
    """A policy with two hidden units; most policies achieve nothing."""
    scale = 2.0 if name.startswith("Pendulum") else 1.0

    def policy(seen: Array, x: Array) -> Array:
        W = x[:-2].reshape(2, observed + 1)
        action: Array = scale * np.tanh(x[-2:] @ np.tanh(W[:, 1:] @ seen + W[:, 0]))
        return np.atleast_1d(action)

    return [(-8.0, 8.0)] * (2 * (observed + 1) + 2), lambda: _episode(name, policy, steps, 3)
