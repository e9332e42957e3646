"""What an experiment is: tasks to run, and a function that writes their results."""

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
        The sizes of the experiments.
    corpus : Path, optional
        The corpus for term extraction; by default the synthetic one.
    normalizer : int, optional
        The recall normaliser N for term extraction; by default that of `bamsoo_lab.terms`.
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
        The runs that a request needs.
    write : callable
        Writes tables, pictures and a section of the page; returns the section.
    alone : bool
        Whether the runs are timed, so that no other run of ours may take place at the same time.
    """

    name: str
    tasks: Callable[[Request], list[Task]]
    write: Callable[[Sequence[Finished], Output], str]
    alone: bool = False
