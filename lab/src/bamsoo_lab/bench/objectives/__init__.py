"""The problems of the suite `objectives` that are given by formulas."""

from . import engineering, functions
from .problem import PROBLEMS, Problem, find

__all__ = ["PROBLEMS", "Problem", "engineering", "find", "functions"]
