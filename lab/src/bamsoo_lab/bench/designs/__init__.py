"""The problems of the suite `designs`: constrained problems whose optima are known."""

from . import engineering, formulas, published
from .design import DESIGNS, Design

__all__ = ["DESIGNS", "Design", "engineering", "formulas", "published"]
