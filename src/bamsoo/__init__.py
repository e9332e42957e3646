"""Global optimisation of expensive black boxes, without optimising an acquisition function.

>>> import bamsoo
>>> r = bamsoo.minimize(lambda x: (x[0] - 0.3) ** 2, [(0, 1)], 20)
>>> bool(abs(r.x[0] - 0.3) < 1e-3)
True
"""

from . import problems
from .algorithms import DOO, GPUCB, SOO, Auto, BaMSOO, Random, Shrinking
from .errors import (
    BamsooError,
    ExhaustedError,
    SettingsError,
    SpaceError,
    TrialError,
    ValueTypeError,
)
from .execution import maximize, minimize
from .kernels import Kernel, Matern32, Matern52, Matern72, SquaredExponential
from .optimizer import Optimizer, Trial
from .space import Real

__version__ = "0.1.0"

__all__ = [
    "DOO",
    "GPUCB",
    "SOO",
    "Auto",
    "BaMSOO",
    "BamsooError",
    "ExhaustedError",
    "Kernel",
    "Matern32",
    "Matern52",
    "Matern72",
    "Optimizer",
    "Random",
    "Real",
    "SettingsError",
    "Shrinking",
    "SpaceError",
    "SquaredExponential",
    "Trial",
    "TrialError",
    "ValueTypeError",
    "maximize",
    "minimize",
    "problems",
]
