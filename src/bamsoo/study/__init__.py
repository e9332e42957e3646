"""Searches that outlive their process: every ask and tell is written to a file first."""

from .study import Record, Study

__all__ = ["Record", "Study"]
