"""Parameters and the axes they become: everything about bounds, logarithms, steps and options."""

from .axes import Domain
from .constraints import Constraints
from .formula import Formula
from .parameters import Choice, Int, Parameter, Real, numbers
from .space import Space, SpaceLike

__all__ = [
    "Choice",
    "Constraints",
    "Domain",
    "Formula",
    "Int",
    "Parameter",
    "Real",
    "Space",
    "SpaceLike",
    "numbers",
]
