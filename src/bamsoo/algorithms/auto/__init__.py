"""The default: the loop, the prior it learns, its local model, and their constants."""

from .loop import Auto

__all__ = ["Auto"]
