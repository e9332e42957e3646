"""The registry of the systems, and which of them are for development and which for reporting."""

from functools import partial

from ..named import Named
from ..tuning.task import TuningTask, register
from ..tuning.tasks import Part

SYSTEMS: Named[TuningTask] = Named("system")

BUDGET = 100

system = partial(register, SYSTEMS, BUDGET)
"""Register the decorated ``build(instance)`` as a system."""

SPLIT: dict[Part, tuple[str, ...]] = {
    "develop": (
        *("ambulances", "call-centre", "mine", "stock-two-products"),
        *("drive-train", "launcher"),
    ),
    "report": (
        *("bus-line", "machines-wear", "perishables", "rooms"),
        *("guidance", "water-treatment"),
    ),
}
"""Simulations with chance first, then architectures; chosen before the first run."""
