"""Outages: evaluations that cannot take place for a while, and how long a run waits for them."""

import time
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

    Parameters
    ----------
    patience : float
        Seconds after which the outage has lasted too long.
    """

    def __init__(self, patience: float) -> None:
        self.patience = patience
        self._began, self._next, self._pause = inf, 0.0, FIRST

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

    def meet(self) -> bool:
        """Note that an evaluation could not take place; return whether the outage begins with it.

        Of evaluations that were running at once, only the first lengthens the pause.
        """
        now, begins = time.monotonic(), not self.lasts
        if begins:
            self._began, self._pause = now, FIRST
        elif not self.is_due:
            return False
        else:
            self._pause = min(2.0 * self._pause, LONGEST)
        self._next = min(now + self._pause, self._began + self.patience)
        return begins

    def end(self) -> None:
        """Note that an evaluation took place."""
        self._began, self._next = inf, 0.0
