"""What an experiment is: tasks to run, and a way to write up their results."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..jobs.task import Finished, Task
from .output import Output
from .scale import Scale


@dataclass(frozen=True)
class Request:
    """What the user asked for.

    Parameters
    ----------
    scale : Scale
        How much.
    corpus : Path, optional
        Where terms are extracted from; by default the synthetic corpus.
    normalizer : int, optional
        The recall normaliser N there; by default `bamsoo.terms`' own.
    """

    scale: Scale
    corpus: Path | None = None
    normalizer: int | None = None


@dataclass(frozen=True)
class Experiment:
    """One figure or table.

    Parameters
    ----------
    name : str
    tasks : callable
        The runs a request takes.
    write : callable
        Writes tables, pictures and a section of the page; returns the section.
    alone : bool
        Timed runs: nothing else of ours may run beside them.
    """

    name: str
    tasks: Callable[[Request], list[Task]]
    write: Callable[[Sequence[Finished], Output], str]
    alone: bool = False
