"""Global optimisation of functions that are slow to evaluate: BaMSOO and related algorithms.

>>> import bamsoo
>>> r = bamsoo.minimize(lambda x: (x[0] - 0.3) ** 2, [(0, 1)], 20)
>>> bool(abs(r.x[0] - 0.3) < 1e-3)
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import problems
from ._version import __version__
from .algorithms import (
    DOO,
    GPUCB,
    IMGPO,
    LOGO,
    SOO,
    Auto,
    BaMLOGO,
    BaMSOO,
    Random,
    SequOOL,
    Shrinking,
    StoSOO,
    StroquOOL,
)
from .errors import (
    BamsooError,
    EvaluationError,
    ExhaustedError,
    ModelError,
    SettingsError,
    SpaceError,
    StudyError,
    TrialError,
    ValueTypeError,
    WorkerError,
)
from .ledger import Trial
from .model.kernels import (
    Kernel,
    Matern32,
    Matern52,
    Matern72,
    SquaredExponential,
)
from .optimizer import Optimizer
from .run.optimize import maximize, minimize
from .space import Choice, Formula, Int, Real
from .stop import Gap, Stalled

if TYPE_CHECKING:
    from . import plotting
    from .result import Result
    from .study import Study

__all__ = [
    "DOO",
    "GPUCB",
    "IMGPO",
    "LOGO",
    "SOO",
    "Auto",
    "BaMLOGO",
    "BaMSOO",
    "BamsooError",
    "Choice",
    "EvaluationError",
    "ExhaustedError",
    "Formula",
    "Gap",
    "Int",
    "Kernel",
    "Matern32",
    "Matern52",
    "Matern72",
    "ModelError",
    "Optimizer",
    "Random",
    "Real",
    "Result",
    "SequOOL",
    "SettingsError",
    "Shrinking",
    "SpaceError",
    "SquaredExponential",
    "Stalled",
    "StoSOO",
    "StroquOOL",
    "Study",
    "StudyError",
    "Trial",
    "TrialError",
    "ValueTypeError",
    "WorkerError",
    "__version__",
    "maximize",
    "minimize",
    "plotting",
    "problems",
]


_LATER = {"Study": ".study", "Result": ".result", "plotting": ".plotting"}
"""Names that are loaded on first use, because they import sqlite3 or the slow scipy.optimize."""


def __getattr__(name: str) -> Any:
    """Load one of the names in `_LATER`."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_LATER[name], __name__)
    return module if name == "plotting" else getattr(module, name)
