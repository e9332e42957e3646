"""How far a run is: what a run shows of itself, and the line that `progress=True` means."""

import sys
import time
from math import inf, isfinite

from ..optimizer import AskTell


class Display:
    """What a run shows of itself: nothing, unless a subclass does."""

    def show(self, search: AskTell) -> None:
        """An evaluation has been told."""

    def failure(self, reason: str) -> None:
        """An evaluation gave no value."""

    def close(self, search: AskTell) -> None:
        """The run is over."""


GAP_SHARE = 0.05
"""Looking at the gap takes no more than about this share of a run's time: with a larger one the
line is fresher and the run slower."""


class GapMeter:
    """The gap of a search, as it was when there was last time to look at it."""

    def __init__(self) -> None:
        self._gap, self._next = inf, -inf

    def text(self, search: AskTell) -> str:
        """A part of a progress line: how much may still be gained; empty where nobody knows."""
        began = time.monotonic()
        if began >= self._next:
            self._gap = search.result.gap
            now = time.monotonic()
            self._next = now + (now - began) / GAP_SHARE
        return f"gap {self._gap:.2g}, " if isfinite(self._gap) else ""


class ProgressLine(Display):
    """A line on standard error that says how far the run is; rewritten in a terminal."""

    def __init__(self, budget: int) -> None:
        self._budget, self._began = budget, time.monotonic()
        self._shown, self._done = -inf, 0
        self._gap = GapMeter()
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
            f"{self._gap.text(search)}{search.rejected} ruled out, {now - self._began:.1f} s"
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
