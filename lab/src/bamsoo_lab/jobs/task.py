"""A run as data: the function of the laboratory, its settings, and the source that makes it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from importlib import import_module
from typing import Any, TypeAlias

from .source import Source, digest

Settings: TypeAlias = Mapping[str, Any]
"""What a run depends on, and what it returns: anything that JSON can store."""


@dataclass(frozen=True)
class Task:
    """One run.

    Parameters
    ----------
    function : str
        ``module:name`` inside `bamsoo_lab`; takes (settings, context) and returns a dict.
    settings : mapping
        Everything that the result depends on besides the source, in a form that JSON can store.
    cost : float
        Rough number of seconds, for the estimate of the remaining time.
    context : mapping
        What the run needs although its result does not depend on it, such as the path of a file.
    source : Source
        Which part of this package's source the result depends on. A stored result is used only
        while that part is unchanged.
    group : str
        Name of the file that stores the result; by default, the function's module.
    """

    function: str
    settings: Settings
    cost: float = 1.0
    context: Settings = field(default_factory=dict)
    source: Source = Source.MODULE
    group: str = ""

    @property
    def digest(self) -> str | None:
        """Identifies the state of the source that the result belongs to; None for `Source.NONE`."""
        return digest(self.source, self.module)

    @property
    def key(self) -> str:
        """Identifies the run: equal for the same function, settings and state of the source."""
        return key(self.function, self.settings, self.digest)

    @property
    def module(self) -> str:
        """The function's module inside `bamsoo_lab`."""
        return self.function.partition(":")[0]

    def run(self) -> dict[str, Any]:
        """Run the task in this process."""
        name = self.function.partition(":")[2]
        function = getattr(import_module(f"bamsoo_lab.{self.module}"), name)
        result: dict[str, Any] = function(self.settings, self.context)
        return result


def key(function: str, settings: Settings, state: str | None) -> str:
    """Identifies a run; see `Task.key`."""
    text = json.dumps([function, settings, state], sort_keys=True)
    return sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Finished:
    """A finished task: its settings, its result, and the state of the source that made it."""

    settings: Settings
    result: dict[str, Any]
    digest: str | None = None
