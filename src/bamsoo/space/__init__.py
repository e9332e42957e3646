"""The search space: parameters, the axes of the unit cube that they become, and constraints.

`parameters` has the kinds of parameters, `space` converts between their values and the unit cube,
`point` says when two points are the same, `axes` describes the cube to the searches, and
`constraints`, `formula` and `region` deal with constraints that are known before anything is
evaluated.
"""

from .axes import Domain
from .constraints import Constraints
from .formula import Formula
from .parameters import Choice, Fidelity, Fixed, Int, Parameter, Real, numbers, single
from .point import Point, key_of, numbers_of
from .space import BEYOND, Space, SpaceLike

__all__ = [
    "BEYOND",
    "Choice",
    "Constraints",
    "Domain",
    "Fidelity",
    "Fixed",
    "Formula",
    "Int",
    "Parameter",
    "Point",
    "Real",
    "Space",
    "SpaceLike",
    "key_of",
    "numbers",
    "numbers_of",
    "single",
]
