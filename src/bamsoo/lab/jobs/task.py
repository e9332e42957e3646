"""A run as data: which function of this package, with which settings."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, TypeAlias

from ... import __version__

Settings: TypeAlias = Mapping[str, Any]
"""What a run depends on, and what it returns: anything JSON can hold."""


@dataclass(frozen=True)
class Task:
    """One run.

    Parameters
    ----------
    function : str
        ``module:name`` inside this package; takes (settings, context), returns a dict.
    settings : mapping
        Everything the result depends on, as JSON can hold it.
    cost : float
        Rough seconds, for the estimate of the time left.
    context : mapping
        What the run needs and its result does not depend on, such as where a file lies.
    """

    function: str
    settings: Settings
    cost: float = 1.0
    context: Settings = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Names the run on disk: equal for equal function, settings and version of bamsoo."""
        text = json.dumps([__version__, self.function, self.settings], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    def run(self) -> dict[str, Any]:
        """Run it here and now."""
        module, name = self.function.split(":")
        function = getattr(import_module(f"bamsoo.lab.{module}"), name)
        result: dict[str, Any] = function(self.settings, self.context)
        return result


@dataclass(frozen=True)
class Run:
    """A finished task: its settings and its result."""

    settings: Settings
    result: dict[str, Any]
