"""Outages: evaluations that cannot take place for a while, and how long a run waits for them."""

import time
from collections.abc import Iterable
from math import inf

FIRST = 1.0
"""Seconds of the first pause; each further one is twice as long. A licence that is in use is often
free after a moment, and a longer pause would waste that."""

LONGEST = 60.0
"""Seconds of the longest pause. A longer one would delay a run after the end of an outage, and a
shorter one would ask a server that is down more often than once a minute."""

PATIENCE = 86_400.0
"""Seconds that a run waits by default: a day, so that an outage overnight ends no run."""


class Outage:
    """Whether there is an outage, and when an evaluation is to be tried again.

    One is tried after each pause, also while an earlier one still runs: a simulation that takes
    hours would otherwise keep all other workers waiting until it has ended.

    Parameters
    ----------
    patience : float
        Seconds after which the outage has lasted too long.
    """

    def __init__(self, patience: float) -> None:
        self.patience = patience
        self._began, self._next, self._pause = inf, 0.0, FIRST
        self.tried: dict[int, float] = {}
        """The trials that have been tried in this outage, and when."""
        self.why = ""
        """Why the last one could not be evaluated."""
        self.said = False
        """Whether somebody has been told that the run waits."""

    @property
    def lasts(self) -> bool:
        """Whether there is an outage."""
        return self._began < inf

    @property
    def seconds(self) -> float:
        """How long it has lasted."""
        return time.monotonic() - self._began if self.lasts else 0.0

    @property
    def is_due(self) -> bool:
        """Whether the pause is over."""
        return time.monotonic() >= self._next

    @property
    def is_too_long(self) -> bool:
        """Whether it has lasted longer than the patience."""
        return self.seconds >= self.patience

    def meet(self, number: int, why: str) -> None:
        """Note that the evaluation of a trial could not take place, and why.

        Those that were running when the outage began do not lengthen the pause.
        """
        self.why = why
        if not self.lasts:
            self._began, self._pause = time.monotonic(), FIRST
        elif number in self.tried:
            self._pause = min(2.0 * self._pause, LONGEST)
        else:
            return
        self._wait()

    def give(self, number: int) -> None:
        """Note that a trial is tried."""
        self.tried[number] = time.monotonic()
        self._wait()

    def spares(self, numbers: Iterable[int], took: float) -> bool:
        """Whether one of these evaluations, which run at the moment, takes place.

        It does if it was begun before the outage, or runs for a minute longer than the last one
        took until it was refused.
        """
        now = time.monotonic()
        return any(now - self.tried.get(n, -inf) > took + LONGEST for n in numbers)

    def _wait(self) -> None:
        """Begin a pause; one of them ends when the patience does."""
        now, last = time.monotonic(), self._began + self.patience
        self._next = min(now + self._pause, last if last > now else inf)

    def end(self) -> None:
        """Note that an evaluation took place."""
        self._began, self._next, self.said = inf, 0.0, False
        self.tried.clear()
