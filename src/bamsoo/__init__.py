"""Global optimisation of expensive black boxes, without optimising an acquisition function.

>>> import bamsoo
>>> r = bamsoo.minimize(lambda x: (x[0] - 0.3) ** 2, [(0, 1)], 20)
>>> bool(abs(r.x[0] - 0.3) < 1e-3)
True
"""

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
from .space import Choice, Int, Real

if TYPE_CHECKING:
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
    "Int",
    "Kernel",
    "Matern32",
    "Matern52",
    "Matern72",
    "Optimizer",
    "Random",
    "Real",
    "SequOOL",
    "SettingsError",
    "Shrinking",
    "SpaceError",
    "SquaredExponential",
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
    "problems",
]


def __getattr__(name: str) -> Any:
    """`Study`, whose module loads sqlite3, when it is first used."""
    if name == "Study":
        from .study import Study

        return Study
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
