"""Searches that outlive their process: every ask and tell is written to a journal first."""

from ..record.trials import Record
from .backends import exists
from .study import OtherSettingsError, Study, withdrawn_if_wrong

__all__ = ["OtherSettingsError", "Record", "Study", "exists", "withdrawn_if_wrong"]
