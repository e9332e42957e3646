"""How far a run is: what a run shows of itself, and the line that `progress=True` means."""

import sys
import time
from math import inf

from ..optimizer import AskTell


class Display:
    """What a run shows of itself: nothing, unless a subclass does."""

    def show(self, search: AskTell) -> None:
        """An evaluation has been told."""

    def failure(self, reason: str) -> None:
        """An evaluation gave no value."""

    def close(self, search: AskTell) -> None:
        """The run is over."""


class ProgressLine(Display):
    """A line on standard error that says how far the run is; rewritten in a terminal."""

    def __init__(self, budget: int) -> None:
        self._budget, self._began = budget, time.monotonic()
        self._shown, self._done = -inf, 0
        self._live = sys.stderr.isatty()
        self._every = 0.1 if self._live else 10.0

    def show(self, search: AskTell) -> None:
        """Show the state now, unless the line was shown a moment ago."""
        now, done = time.monotonic(), search.ledger.told
        if now - self._shown < self._every and done < self._budget:
            return
        self._shown, self._done = now, done
        best = search.best
        text = (
            f"{done}/{self._budget} evaluations, "
            f"best {'none' if best is None else format(best.value, '.6g')}, "
            f"{search.rejected} rejected, {now - self._began:.1f} s"
        )
        print(
            f"\r\x1b[K{text}" if self._live else text,
            end="" if self._live else "\n",
            file=sys.stderr,
            flush=True,
        )

    def close(self, search: AskTell) -> None:
        """Show the last state, and end the line."""
        if self._done < search.ledger.told:
            self._shown = -inf
            self.show(search)
        if self._live:
            print(file=sys.stderr)
