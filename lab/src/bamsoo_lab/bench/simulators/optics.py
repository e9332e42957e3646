"""Stacks of thin films, computed by the package tmm."""

from typing import Any

import numpy as np

from bamsoo.space import Real

from ..errors import require
from .simulator import Simulate, simulator

LAYERS = 8


@simulator(
    "thin-film",
    "many optima",
    "tmm",
    space={f"layer{i}": Real(10.0, 250.0) for i in range(LAYERS)},
)
def thin_film(instance: int) -> Simulate:
    """A filter of eight layers on glass: it should reflect one band of colours and pass the rest.

    The instance determines the two materials and the edge of the band.
    """
    tmm: Any = require("tmm")
    rng = np.random.default_rng(instance)
    low, high = 1.38 + 0.1 * rng.random(), 2.1 + 0.3 * rng.random()
    edge = rng.uniform(560.0, 640.0)
    waves = np.linspace(420.0, 780.0, 19)
    wanted = (waves > edge).astype(float)
    index = [1.0, *([high, low] * (LAYERS // 2)), 1.52]

    def evaluate(seed: int, **p: float) -> float:
        thick = [np.inf, *p.values(), np.inf]
        found = [tmm.coh_tmm("s", index, thick, 0.3, wave)["R"] for wave in waves]
        return float(np.mean((np.array(found) - wanted) ** 2))

    return evaluate
