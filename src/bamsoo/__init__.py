"""Global optimisation of functions that are slow to evaluate: BaMSOO and related algorithms.

>>> import bamsoo
>>> r = bamsoo.minimize(lambda x: (x[0] - 0.3) ** 2, [(0, 1)], 20)
>>> bool(abs(r.x[0] - 0.3) < 1e-3)
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from . import algorithms, errors, kernels, plotting, problems
    from .errors import BamsooError, TryAgain
    from .record.trials import Trial
    from .result.result import Result
    from .run.command import Command
    from .run.optimize import least_squares, maximize, minimize
    from .search.optimizer import Optimizer
    from .space import Choice, Fidelity, Formula, Int, Real
    from .stop import Gap, Stalled
    from .study import Study

__all__ = [
    "BamsooError",
    "Choice",
    "Command",
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
    "TryAgain",
    "__version__",
    "algorithms",
    "errors",
    "kernels",
    "least_squares",
    "maximize",
    "minimize",
    "plotting",
    "problems",
]

_PLACES = {
    "BamsooError": "errors", "TryAgain": "errors", "Command": "run.command",
    "Trial": "record.trials", "Optimizer": "search.optimizer",
    "Result": "result.result", "least_squares": "run.optimize", "maximize": "run.optimize",
    "minimize": "run.optimize",
    "Gap": "stop", "Stalled": "stop", "Choice": "space", "Fidelity": "space", "Formula": "space",
    "Int": "space", "Real": "space", "Study": "study",
}  # fmt: skip
"""The modules of the public names. Each is loaded when it is first used, so that a worker process,
which needs few of them, starts in less than half the time."""


def __getattr__(name: str) -> Any:
    """Load a public name, or say where a name is that is not here."""
    if name in _PLACES:
        return getattr(import_module(f".{_PLACES[name]}", __name__), name)
    if name in __all__ or name == "report":  # which few programs need
        return import_module(f".{name}", __name__)
    said = f"module {__name__!r} has no attribute {name!r}"
    from .base.words import PACKAGE

    if name in PACKAGE:
        said += f"; did you mean {PACKAGE[name]}?"
    for place in map(__getattr__, ("algorithms", "kernels", "errors")):
        if name in place.__all__:
            said += f"; it is {place.__name__}.{name}"
    raise AttributeError(said)


def __dir__() -> list[str]:
    return __all__
