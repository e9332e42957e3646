"""Searches that outlive their process: every ask and tell is in a file before it counts."""

from .study import Record, Study

__all__ = ["Record", "Study"]
