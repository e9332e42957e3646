"""Walking a fresh search through the events of a study: resume is replay."""

import platform
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy

from .._typing import Array
from ..blas import kernels_in_use
from ..checks import brief
from ..errors import ExhaustedError, SpaceError, StudyError
from ..ledger import Trial
from ..optimizer import Optimizer
from .journal import damaged
from .rows import Event

Observer = Callable[[Optimizer, Trial], object]


class Replayed(NamedTuple):
    """What came of a replay.

    Another processor rounds differently. Where the search asks for a point that agrees with the
    stored one to rounding, the stored one is adopted.
    """

    trials: int
    """How many trials the search was asked for once more."""
    adopted: tuple[int, ...] = ()
    """Those, by number, whose points the search itself computes a little differently."""
    furthest: float = 0.0
    """The largest of those differences, as a share of a parameter's range."""

    def __str__(self) -> str:
        said = f"{self.trials} trials were replayed"
        if self.adopted:
            said += (
                f"; {len(self.adopted)} of their points differ from what this machine computes, by "
                f"rounding (at most {self.furthest:.1g} of a range), and were taken as stored"
            )
        return said


class ReplayError(StudyError):
    """A search that asks for another point than the study holds."""


def nobody(search: Optimizer, trial: Trial) -> None:
    """An observer that sees nothing."""


def last_restart(events: Sequence[Event]) -> int:
    """How many events come before the search that is going on, which began knowing them."""
    starts = [i for i, event in enumerate(events) if event.kind == "restart"]
    return starts[-1] + 1 if starts else 0


class Walk:
    """A search on its way through the events of a study.

    Parameters
    ----------
    search : Optimizer
        One that knows nothing.
    begin : int
        Of the events before this one the search knows the values alone.
    path : Path
        The study, for messages.
    versions : dict
        What the study was begun with.
    """

    def __init__(self, search: Optimizer, begin: int, path: Path, versions: dict[str, Any]) -> None:
        self.search = search
        self._begin, self._path, self._versions = begin, path, versions
        self._done, self._trials, self._furthest = 0, 0, 0.0
        self._adopted: list[int] = []
        self.last: Event | None = None  # the latest event taken, for those who go on later
        self.asked_in_vain = False  # after that event, because the space was exhausted

    @property
    def done(self) -> int:
        """How many events have been taken."""
        return self._done

    @property
    def begin(self) -> int:
        """Of the events before this one the search knows the values alone."""
        return self._begin

    @property
    def replayed(self) -> Replayed:
        """What came of it so far."""
        return Replayed(self._trials, tuple(self._adopted), self._furthest)

    def take(self, event: Event, observer: Observer = nobody) -> None:
        """Go on by one event; one that cannot follow those before it is refused."""
        search = self.search
        if event.kind == "ask":
            trial = self._ask(event)
            if self._done >= self._begin:
                observer(search, trial)
        elif event.kind == "enqueue":
            self._enqueue(event)
        elif event.kind == "tell" and event.trial is not None:
            if event.trial not in search.ledger.out:
                raise damaged(self._path, f"trial {event.trial} is told, and is not out")
            told = search.ledger.out[event.trial]
            self._tell(told, event)
        elif event.kind == "tell":
            self._tell(self._point(event), event)
        self._done += 1

    def _ask(self, event: Event) -> Trial:
        number = len(self.search.ledger.trials)
        if event.trial != number:
            raise damaged(self._path, f"trial {event.trial} is asked out of order")
        x = self._point(event)
        if self._done < self._begin:
            return self.search.adopt(x)
        try:
            trial, apart = self.search.ask_again(x)
        except ExhaustedError:
            raise self._differs(number, x, None) from None
        if trial.key != x.tobytes():
            raise self._differs(number, x, trial.x)
        self._trials += 1
        if apart > 0.0:
            self._adopted.append(number)
            self._furthest = max(self._furthest, apart)
        return trial

    def _enqueue(self, event: Event) -> None:
        number = len(self.search.ledger.trials)
        if event.trial != number:
            raise damaged(self._path, f"trial {event.trial} is enqueued out of order")
        x = self._point(event)
        if self._done < self._begin:
            self.search.adopt(x)
            return
        self.search.enqueue(x)
        self.search.ledger.take(x.tobytes())  # the asks to come are those of the search itself

    def _point(self, event: Event) -> Array:
        try:
            return self.search.space.point(np.array(event.point, dtype=float))
        except (SpaceError, TypeError, ValueError) as error:
            raise damaged(self._path, f"the point {brief(event.point)}: {error}") from error

    def _tell(self, told: Trial | Array, event: Event) -> None:
        measured = self._measured(event)
        self.search.tell(told, event.value, event.error, measured, variance=event.variance)

    def _measured(self, event: Event) -> dict[str, float] | None:
        names = self.search.constraints.measured
        if event.measured is None:
            if event.value is not None and names:
                raise damaged(self._path, f"a value is told without {brief(list(names))}")
            return None
        if len(event.measured) != len(names):
            raise damaged(self._path, f"{brief(event.measured)} is told for {brief(list(names))}")
        return dict(zip(names, event.measured, strict=True))

    def _differs(self, number: int, x: Array, now: Array | None) -> ReplayError:
        space, here = self.search.space, versions()
        asked = "no point any more" if now is None else str(space.params(now))
        changed = [
            f"{name} {self._versions.get(name)} then, {version} now"
            for name, version in here.items()
            if self._versions.get(name) != version
        ]
        return ReplayError(
            f"{self._path}: trial {number} differs: the study holds {space.params(x)}, the search "
            f"asks for {asked}{' (' + '; '.join(changed) + ')' if changed else ''}; open it with "
            "replay=False (--no-replay) to go on from its values with a fresh search"
        )


def versions() -> dict[str, str]:
    """What a search depends on, to the last digit of its points."""
    from .._version import __version__

    return {
        "bamsoo": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "machine": platform.machine(),
        "BLAS": kernels_in_use(),
    }
