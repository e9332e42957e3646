"""Searches that outlive their process: every ask and tell is written to a journal first."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..record.trials import Record
    from .backends import exists
    from .study import OtherSettingsError, Study, withdrawn_if_wrong

__all__ = ["OtherSettingsError", "Record", "Study", "exists", "withdrawn_if_wrong"]

_PLACES = {"Record": "..record.trials", "exists": ".backends"}
"""The modules of the names that are not in `study.study`. Each is loaded when it is first used,
because the command reads addresses, and takes the passwords out of them, before it loads the rest.
"""


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module(_PLACES.get(name, ".study"), __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
