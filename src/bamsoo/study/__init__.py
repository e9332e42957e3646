"""Searches that outlive their process: every ask and tell is written to a file first."""

from ..ledger import Record
from .study import Study

__all__ = ["Record", "Study"]
