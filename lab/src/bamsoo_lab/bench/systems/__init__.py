"""Systems: simulations with chance whose noise nobody declares, and architectures.

To add one, write a ``build(instance)`` with the decorator `system` in one of the modules here, and
add it to a part in `task.SPLIT`. The instance determines demands, prices and loads.
"""

from importlib import import_module

from .task import SPLIT, SYSTEMS

for _module in ("architectures", "simulations"):
    import_module(f".{_module}", __name__)  # which registers its systems

__all__ = ["SPLIT", "SYSTEMS"]
