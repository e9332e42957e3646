"""Real problems of engineers and scientists: deterministic, with 6 to 60 real parameters.

To add one, write a function with the decorator `sizes` in one of the modules here, or in a new one
that is imported below. The two parts have other sizes, data and robots.
"""

from importlib import import_module

from .problem import REAL, RealProblem, by_part

for _module in ("networks", "optics", "plans", "policies", "racing", "structures"):
    import_module(f".{_module}", __name__)  # which registers its problems

__all__ = ["REAL", "RealProblem", "by_part"]
