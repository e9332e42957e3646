"""Where to put turbines, with rules about their positions that are known in advance."""

import numpy as np

from bamsoo.space import Real

from .simulator import KnownRule, Simulate, simulator

TURBINES = 6
DIAMETER = 120.0
SITE = 1500.0
"""The number of turbines, their diameter and the side of the site, in metres."""

SPACING = 4.0
"""The smallest distance of two turbines, in diameters."""

SPACE = {f"{axis}{i}": Real(0.0, SITE) for i in range(TURBINES) for axis in "xy"}


def _rule(instance: int) -> KnownRule:
    """Distances of the turbines, and a corner of the site that belongs to somebody else."""
    corner = np.random.default_rng(instance).uniform(0.7, 1.1)

    def rule(**p: float) -> list[float]:
        at = np.array([*p.values()]).reshape(-1, 2)
        first, second = np.triu_indices(TURBINES, 1)
        apart = np.linalg.norm(at[first] - at[second], axis=1) / DIAMETER
        outside = at.sum(axis=1) / SITE - 2.0 + 0.5 * corner
        return [*(SPACING - apart).tolist(), *outside.tolist()]

    return rule


@simulator("wind-farm", "known constraints", "numpy", space=SPACE, known=_rule)
def wind_farm(instance: int) -> Simulate:
    """The yearly energy of a wind farm whose turbines stand in each other's wakes.

    Gaussian wakes (Bastankhah and Porté-Agel, "A new analytical model for wind-turbine wakes",
    2014) in 24 directions of wind. The instance determines how often the wind blows from where,
    and how turbulent it is.
    """
    rng = np.random.default_rng(instance)
    angles = np.arange(24) * np.pi / 12.0
    often = np.exp(2.0 * np.cos(angles - rng.uniform(0.0, 2.0 * np.pi))) + 0.3
    often /= often.sum()
    growth, thrust = rng.uniform(0.02, 0.04), 0.8
    start = 0.2 * np.sqrt((1.0 + np.sqrt(1.0 - thrust)) / (2.0 * np.sqrt(1.0 - thrust)))

    def evaluate(seed: int, **p: float) -> float:
        at = np.array([*p.values()]).reshape(-1, 2) / DIAMETER
        gap = at[:, None, :] - at[None, :, :]  # from the second turbine to the first
        along, across = np.cos(angles), np.sin(angles)
        behind = gap[..., 0, None] * along + gap[..., 1, None] * across
        beside = gap[..., 1, None] * along - gap[..., 0, None] * across
        width = growth * np.maximum(behind, 0.0) + start
        lost = 1.0 - np.sqrt(np.maximum(1.0 - thrust / (8.0 * width**2), 0.0))
        lost *= np.exp(-(beside**2) / (2.0 * width**2)) * (behind > 1e-9)
        speed = 1.0 - np.sqrt((lost**2).sum(axis=1))
        power = (np.maximum(speed, 0.0) ** 3).mean(axis=0)
        return float(-100.0 * power @ often)

    return evaluate
