"""Global optimisation of functions that are slow to evaluate: BaMSOO and related algorithms.

>>> import bamsoo
>>> r = bamsoo.minimize(lambda x: (x[0] - 0.3) ** 2, [(0, 1)], 20)
>>> bool(abs(r.x[0] - 0.3) < 1e-3)
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import algorithms, errors, kernels, problems
from ._version import __version__
from .errors import BamsooError
from .ledger import Trial
from .optimizer import Optimizer
from .run.optimize import maximize, minimize
from .space import Choice, Fidelity, Formula, Int, Real
from .stop import Gap, Stalled

if TYPE_CHECKING:
    from . import plotting
    from .result import Result
    from .study import Study

__all__ = [
    "BamsooError",
    "Choice",
    "Fidelity",
    "Formula",
    "Gap",
    "Int",
    "Optimizer",
    "Real",
    "Result",
    "Stalled",
    "Study",
    "Trial",
    "__version__",
    "algorithms",
    "errors",
    "kernels",
    "maximize",
    "minimize",
    "plotting",
    "problems",
]

_LATER = {"Study": ".study", "Result": ".result", "plotting": ".plotting"}
"""Names that are loaded on first use, because they import sqlite3 or the slow scipy.optimize."""


def __getattr__(name: str) -> Any:
    """Load one of the names in `_LATER`, or say where a name is that is not here."""
    if name in _LATER:
        module = import_module(_LATER[name], __name__)
        return module if name == "plotting" else getattr(module, name)
    said = f"module {__name__!r} has no attribute {name!r}"
    for place in (algorithms, kernels, errors):
        if name in place.__all__:
            said += f"; it is {place.__name__}.{name}"
    raise AttributeError(said)


def __dir__() -> list[str]:
    return __all__
