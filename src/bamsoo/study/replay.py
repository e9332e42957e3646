"""Replay: repeating the events of a study in a fresh search, which is how a study is resumed."""

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
    """The outcome of a replay.

    Another processor rounds differently. If the search asks for a point that equals the stored one
    up to rounding, the stored one is used.
    """

    trials: int
    """The number of trials that the search was asked for again."""
    adopted: tuple[int, ...] = ()
    """The numbers of the trials whose points the search computes slightly differently here."""
    furthest: float = 0.0
    """The largest of those differences, as a share of a parameter's range."""

    def __str__(self) -> str:
        said = f"{self.trials} trials were replayed"
        if self.adopted:
            said += (
                f"; for {len(self.adopted)} of them this machine computes a slightly different "
                f"point because of rounding (by at most {self.furthest:.1g} of a range), and the "
                "stored point was used"
            )
        return said


class ReplayError(StudyError):
    """The replayed search asks for a point other than the one in the study."""


def nobody(search: Optimizer, trial: Trial) -> None:
    """An observer that does nothing."""


def last_restart(events: Sequence[Event]) -> int:
    """The number of events before the present search began, including its restart."""
    starts = [i for i, event in enumerate(events) if event.kind == "restart"]
    return starts[-1] + 1 if starts else 0


class Walk:
    """A replay in progress: a search and the events of a study that it has repeated.

    Parameters
    ----------
    search : Optimizer
        A search that knows nothing yet.
    begin : int
        The index of the first event to repeat. Of the events before it, from an earlier search,
        only the values are taken.
    path : Path
        The study, for messages.
    versions : dict
        The versions of the software that the study was created with.
    """

    def __init__(self, search: Optimizer, begin: int, path: Path, versions: dict[str, Any]) -> None:
        self.search = search
        self._begin, self._path, self._versions = begin, path, versions
        self._done, self._trials, self._furthest = 0, 0, 0.0
        self._adopted: list[int] = []
        self.last: Event | None = None  # the latest event taken, to recognise the study later
        self.asked_in_vain = False  # whether an ask after that event found nothing left

    @property
    def done(self) -> int:
        """The number of events that have been taken."""
        return self._done

    @property
    def begin(self) -> int:
        """The index of the first event to repeat; of earlier ones only the values are taken."""
        return self._begin

    @property
    def replayed(self) -> Replayed:
        """The outcome so far."""
        return Replayed(self._trials, tuple(self._adopted), self._furthest)

    def take(self, event: Event, observer: Observer = nobody) -> None:
        """Take the next event; raises an error if it cannot follow those before it."""
        search = self.search
        if event.kind == "ask":
            trial = self._ask(event)
            if self._done >= self._begin:
                observer(search, trial)
        elif event.kind == "enqueue":
            self._enqueue(event)
        elif event.kind == "tell" and event.trial is not None:
            if event.trial not in search.ledger.out:
                raise damaged(self._path, f"trial {event.trial} is told, but is not pending")
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
        self.search.ledger.take(x.tobytes())  # so that the next asks go to the search itself

    def _point(self, event: Event) -> Array:
        try:
            return self.search.space.point(np.array(event.point, dtype=float))
        except (SpaceError, TypeError, ValueError) as error:
            raise damaged(
                self._path, f"the point {brief(event.point)} is invalid: {error}"
            ) from error

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
        asked = "no more points" if now is None else str(space.params(now))
        changed = [
            f"{name} {self._versions.get(name)} then, {version} now"
            for name, version in here.items()
            if self._versions.get(name) != version
        ]
        return ReplayError(
            f"{self._path}: trial {number} differs: the study holds {space.params(x)}, but the "
            f"search now asks for {asked}{' (' + '; '.join(changed) + ')' if changed else ''}; to "
            "continue from the study's values with a fresh search, open it with replay=False "
            "(--no-replay)"
        )


def versions() -> dict[str, str]:
    """The versions and the machine on which the last digits of a search's points depend."""
    from .._version import __version__

    return {
        "bamsoo": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "machine": platform.machine(),
        "BLAS": kernels_in_use(),
    }
