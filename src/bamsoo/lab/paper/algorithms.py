"""Algorithms from settings that JSON can hold."""

from collections.abc import Callable, Mapping
from math import inf, sqrt

from ...algorithms import (
    GPUCB,
    SOO,
    Algorithm,
    BaMSOO,
)
from ...algorithms.search import sqrt_h_max
from ..jobs.task import Settings
from .priors import kernel

H_MAX: Mapping[str, Callable[[int], float]] = {
    "sqrt(n)": sqrt_h_max,
    "2 sqrt(n)": lambda n: 2.0 * sqrt(n),
    "n^(1/3)": lambda n: n ** (1.0 / 3.0),
    "none": lambda n: inf,
}
"""Bounds on the depth, by name."""


def build(settings: Settings) -> Algorithm:
    """The algorithm: keys `algorithm`, `prior` (not for SOO) and any `options` of its own.

    As in the paper: binary trees, h_max = sqrt(n), a random first point for GP-UCB and BaMSOO.
    """
    options = dict(settings.get("options", {}))
    if "h_max" in options:
        options["h_max"] = H_MAX[options["h_max"]]
    if settings["algorithm"] == "SOO":
        return SOO(**{"k": 2, **options})
    prior = settings["prior"]
    options = {"kernel": kernel(prior), "mean": prior["mean"], "random_start": True, **options}
    return BaMSOO(**options) if settings["algorithm"] == "BaMSOO" else GPUCB(**options)
