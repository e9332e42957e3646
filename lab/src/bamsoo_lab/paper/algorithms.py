"""Algorithms from settings that JSON can hold."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from bamsoo.algorithms import (
    GPUCB,
    SOO,
    Algorithm,
    BaMSOO,
)
from bamsoo.algorithms.bamsoo import bamsoo
from bamsoo.algorithms.book import Book
from bamsoo.algorithms.search import Search, sqrt_h_max
from bamsoo.algorithms.tree import Tree
from bamsoo.model.gp import GP, JITTER
from bamsoo.space import Domain

from ..jobs.task import Settings
from .priors import kernel

H_MAX: Mapping[str, Callable[[int], float]] = {
    "sqrt(n)": sqrt_h_max,
    "2 sqrt(n)": lambda n: 2.0 * sqrt(n),
    "n^(1/3)": lambda n: n ** (1.0 / 3.0),
    "none": lambda n: inf,
}
"""Bounds on the depth, by name."""


@dataclass(frozen=True)
class JitteredBaMSOO(BaMSOO):
    """BaMSOO with another jitter in its GP, which users cannot set."""

    jitter: float = JITTER

    def start(self, domain: Domain, rng: np.random.Generator, book: Book) -> Search:
        """Begin a search."""
        gp = GP(self.kernel, domain.dim, self.mean, self.noise, domain, jitter=self.jitter)
        return bamsoo(self, Tree(domain, self.k), gp, book, rng)


def build(settings: Settings) -> Algorithm:
    """The algorithm that the keys `algorithm`, `prior` (not for SOO) and `options` describe.

    As in the paper: binary trees, h_max = sqrt(n), a random first point for GP-UCB and BaMSOO.
    """
    options = dict(settings.get("options", {}))
    if "h_max" in options:
        options["h_max"] = H_MAX[options["h_max"]]
    if settings["algorithm"] == "SOO":
        return SOO(**{"k": 2, **options})
    prior = settings["prior"]
    options = {"kernel": kernel(prior), "mean": prior["mean"], "random_start": True, **options}
    return JitteredBaMSOO(**options) if settings["algorithm"] == "BaMSOO" else GPUCB(**options)
