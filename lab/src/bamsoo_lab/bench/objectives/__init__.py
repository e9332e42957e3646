"""The problems of the suite `objectives` that are given by formulas."""

from . import engineering, functions
from .problem import PROBLEMS, FrontProblem

__all__ = ["PROBLEMS", "FrontProblem", "engineering", "functions"]
