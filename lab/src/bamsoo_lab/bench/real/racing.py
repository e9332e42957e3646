"""Team pursuit on a track, simulated by the package nevergrad."""

from collections.abc import Callable
from math import isfinite
from typing import Any

from bamsoo.base.typing import Array

from ..case import Box
from ..errors import require
from .problem import Value, sizes


@sizes(
    "race",
    ("nevergrad",),
    cycling_women=("develop", 200, [23]),
    cycling_men=("report", 240, [31]),
)
def cycling(size: int) -> tuple[Box, Callable[[], Value]]:
    """The power of the leading rider in each half lap, so that the team is fast.

    The value is the time in minutes, or, for a team that gives up, how much of the way is left. A
    rider who starts too fast does not finish, so most of the box is such teams.
    """

    def build() -> Value:
        module: Any = require("nevergrad.functions.cycling.cycling")
        changes = [True, False] * ((size - 1) // 2)

        def value(x: Array) -> float:
            team = module.womensteampursuit() if size == 23 else module.mensteampursuit()
            found = team.simulate(changes, x.tolist())
            minutes = found.get_finish_time() / 60.0
            return float(minutes if isfinite(minutes) else 20.0 - 10.0 * found.proportion_completed)

        return value

    return [(200.0, 1200.0)] * size, build
