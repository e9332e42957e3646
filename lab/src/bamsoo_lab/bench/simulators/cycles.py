"""Heat pumps, with the properties of real fluids from the package CoolProp."""

from typing import Any

import numpy as np

from bamsoo.space import Choice, Real

from ..errors import require
from .simulator import Simulate, simulator

FLUIDS = ("R134a", "R1234yf", "R290", "R600a", "R152a")


@simulator(
    "heat-pump",
    "failing regions",
    "CoolProp",
    "fails",
    space={
        "fluid": Choice(FLUIDS),
        "evaporation": Real(-30.0, 5.0),
        "condensation": Real(50.0, 110.0),
        "superheat": Real(0.0, 15.0),
        "subcooling": Real(0.0, 30.0),
        "exchange": Real(0.0, 1.0),
    },
)
def heat_pump(instance: int) -> Simulate:
    """The work that a heat pump needs per unit of heat, plus the price of its compressor.

    It fails where the fluid is not what the cycle needs: above its critical point, where water
    cannot be heated or the source cannot give heat, or where the compressor would draw in liquid
    or get too hot. The instance determines the compressor, and the temperatures of source and
    water.
    """
    properties: Any = require("CoolProp.CoolProp").PropsSI
    rng = np.random.default_rng(instance)
    source, water = rng.uniform(5.0, 20.0), rng.uniform(45.0, 65.0)
    efficiency, price = rng.uniform(0.75, 0.85), rng.uniform(2e3, 5e3)
    return_water = water - 15.0
    zero = 273.15

    def evaluate(
        seed: int,
        fluid: str,
        evaporation: float,
        condensation: float,
        superheat: float,
        subcooling: float,
        exchange: float,
    ) -> float:
        low = properties("P", "T", evaporation + zero, "Q", 1, fluid)
        high = properties("P", "T", condensation + zero, "Q", 0, fluid)
        suction = evaporation + superheat
        liquid = condensation - subcooling
        if suction > source - 2.0 or liquid < return_water + 2.0:
            raise ValueError("heat would have to flow from cold to warm")
        if superheat < 2.0:
            raise ValueError("the compressor draws in liquid")
        h1 = properties("H", "T", suction + zero, "P", low, fluid)
        h3 = properties("H", "T", liquid + zero, "P", high, fluid)
        # the exchanger warms the gas before the compressor with the liquid before the valve
        warm = properties("H", "T", liquid + zero, "P", low, fluid)
        moved = exchange * max(warm - h1, 0.0) * 0.6
        h1, h4 = h1 + moved, h3 - moved
        s1 = properties("S", "H", h1, "P", low, fluid)
        ideal = properties("H", "S", s1, "P", high, fluid)
        h2 = h1 + (ideal - h1) / max(efficiency - 0.03 * high / low, 0.6)
        hot = properties("T", "H", h2, "P", high, fluid) - zero
        if h2 <= h1 or hot > 180.0:
            raise ValueError("the compressor gets too hot")
        # where the fluid starts to condense, the water must still be colder
        vapour = properties("H", "T", condensation + zero, "Q", 1, fluid)
        share = (vapour - h3) / (h2 - h3)
        if condensation < return_water + share * (water - return_water) + 2.0:
            raise ValueError("the water would be warmer than the fluid")
        heat, work, cold = h2 - h3, h2 - h1, h1 - moved - h4
        if cold <= 0.0:
            raise ValueError("nothing evaporates")
        volume = 1.0 / properties("D", "H", h1, "P", low, fluid) / heat  # m³ per joule
        return float(work / heat + price * volume + 0.01 * exchange)

    return evaluate
