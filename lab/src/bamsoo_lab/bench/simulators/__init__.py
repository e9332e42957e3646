"""Simulators: problems in which an evaluation runs a model of something that moves or flows.

Most of them use packages of other people. To add one, write a ``build(instance)`` with the
decorator `simulator` in one of the modules here, or in a new one that is imported below. The
instance chooses the parameters of the simulator itself, such as masses or loads, so the two parts
of the suite have different simulators.
"""

from importlib import import_module

from .simulator import SIMULATORS, Simulator

for _module in ("control", "controllers", "cycles", "images", "layout", "optics", "queues"):
    import_module(f".{_module}", __name__)  # which registers its simulators

__all__ = ["SIMULATORS", "Simulator"]
