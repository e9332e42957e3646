"""What the page can show: a study of bamsoo, or a study of another program that looks like one."""

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Protocol

from ..errors import StudyError
from ..record.ledger import Ledger
from ..record.objectives import Objectives
from ..record.trials import Evaluation, Record
from ..space import Constraints, Space
from ..study import Study
from ..study.address import SafeAddress, parse
from ..study.backends import is_written, signature
from ..study.optuna_study import OptunaSource, is_optuna


class Shown(Protocol):
    """A study at one moment, as the page needs it; `bamsoo.Study` is one."""

    @property
    def path(self) -> str | PathLike[str]:
        """Where it is kept; the last part of it is the title of the page."""

    @property
    def space(self) -> Space: ...
    @property
    def objectives(self) -> Objectives: ...
    @property
    def constraints(self) -> Constraints: ...
    @property
    def tol(self) -> float | None: ...
    @property
    def ledger(self) -> Ledger: ...
    @property
    def trials(self) -> list[Record]: ...
    @property
    def curves(self) -> Mapping[int, Sequence[Any]]:
        """The values after each step of the trials that reported their steps, by number.

        With several objectives, those of a step are a tuple.
        """

    @property
    def believed_ends(self) -> Mapping[int, Sequence[tuple[float, float]]]:
        """The mean and deviation of each final value that stopped trials would have had."""

    @property
    def best(self) -> Evaluation | None: ...
    @property
    def front(self) -> list[Evaluation]: ...
    @property
    def noise(self) -> float | str: ...
    @property
    def settings(self) -> dict[str, Any]: ...
    @property
    def note(self) -> Any: ...
    @property
    def created(self) -> float | None: ...
    @property
    def versions(self) -> Mapping[str, str]: ...
    @property
    def length(self) -> int:
        """A number that grows with each change."""


class TrialSource(Protocol):
    """A place from which a study is read again and again."""

    def read(self) -> Shown:
        """The study as it is now."""

    def signature(self) -> object:
        """A value that changes whenever the study has been written to."""

    def running(self) -> bool | None:
        """Whether a process is writing to it; None if that is not known."""


class Own:
    """A study of bamsoo."""

    def __init__(self, study: str | PathLike[str]) -> None:
        self.study, self.shown = study, parse(study).shown

    def read(self) -> Study:
        """The study as it is now."""
        with Study.open(self.study, readonly=True) as study:
            return study

    def signature(self) -> object:
        """A value that changes whenever the study has been written to."""
        return signature(self.study)

    def running(self) -> bool | None:
        """Whether a process has the study open for writing; None if that cannot be found out."""
        try:
            return is_written(self.study)
        except StudyError:  # the server is down
            return None


def source_of(study: "str | PathLike[str] | TrialSource", name: str | None = None) -> TrialSource:
    """The source of a study that is given by its path or address, which may be one of Optuna.

    `name` is that of one of several studies of Optuna.
    """
    if not isinstance(study, (str, PathLike)):
        return study
    address = fspath(study)
    return OptunaSource(address, name) if is_optuna(address, name) else Own(study)


def title_of(study: Shown) -> str:
    """The last part of the path, or the name of a study on a server."""
    path = study.path
    return path.name if isinstance(path, (Path, SafeAddress)) else str(path)


def known_values(records: Sequence[Record], name: str) -> list[float | None]:
    """The values of an objective, in the order of the records; those below a top do not count."""
    return [None if r.values is None or r.state == "cheap" else r.values.get(name) for r in records]
