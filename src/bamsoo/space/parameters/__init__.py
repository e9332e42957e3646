"""The kinds of parameters: real numbers, whole numbers, options, a fidelity, one fixed value.

Each kind is one class in a file of its own, and checks its own arguments when it is created, so
that every parameter that exists is valid. `parameter.py` says what the package asks of a kind.
"""

from .choice import Choice
from .fidelity import Fidelity
from .fixed import Fixed
from .given import equal, numbers, single
from .interval import Grid
from .parameter import (
    KINDS,
    Parameter,
    parameter_from_json,
    parameters_from_json,
    parameters_to_json,
    texts_of,
)
from .reading import as_parameter, as_parameters
from .real import Real
from .whole import Int

__all__ = [
    "KINDS",
    "Choice",
    "Fidelity",
    "Fixed",
    "Grid",
    "Int",
    "Parameter",
    "Real",
    "as_parameter",
    "as_parameters",
    "equal",
    "numbers",
    "parameter_from_json",
    "parameters_from_json",
    "parameters_to_json",
    "single",
    "texts_of",
]
