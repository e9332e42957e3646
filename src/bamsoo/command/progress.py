"""How far a run is: a live line in a terminal, plain lines elsewhere."""

import time
from math import inf
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text
from scipy.optimize import OptimizeResult

FAILURES_SHOWN = 3


class Progress:
    """Shows each intermediate result on standard error; in a terminal it ticks meanwhile."""

    def __init__(self, budget: int, done: int, quiet: bool) -> None:
        self._budget, self._before, self._quiet = budget, done, quiet
        self._console = Console(stderr=True)
        self._began, self._shown = time.monotonic(), -inf
        self._last: OptimizeResult | None = None
        self._failures = 0
        self._live = Live(
            get_renderable=lambda: Text(self._line()),
            console=self._console,
            refresh_per_second=4,
            transient=True,
        )
        self._on_terminal = self._console.is_terminal and not quiet

    def __enter__(self) -> "Progress":
        if self._on_terminal:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._on_terminal:
            self._live.stop()

    def show(self, result: OptimizeResult) -> None:
        """Take a new state; a plain line at most once a second, and at the end."""
        self._last = result
        now = time.monotonic()
        due = now - self._shown >= 1.0 or result.nfev >= self._budget
        if due and not (self._on_terminal or self._quiet):
            self._shown = now
            self.say(self._line())

    def failure(self, reason: str) -> None:
        """Show the first failures as they come, for whoever could mend their cause."""
        self._failures += 1
        if self._quiet or self._failures > FAILURES_SHOWN:
            return
        self.say(f"failed: {' '.join(reason.split())[:500]}")
        if self._failures == FAILURES_SHOWN:
            self.say("further failures are counted and not shown; a study keeps them all")

    def say(self, text: str) -> None:
        """A line above the live one."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _line(self) -> str:
        last: Any = self._last
        took = time.monotonic() - self._began
        if last is None:
            return f"{self._before}/{self._budget} evaluations, {took:.0f} s"
        each = took / max(last.nfev - self._before, 1)
        left = each * max(self._budget - last.nfev, 0)
        best = f"best {last.fun:.6g}" if last.success else "no value yet"
        failed = f", {last.nfailed} failed" if last.nfailed else ""
        return (
            f"{last.nfev}/{self._budget} evaluations{failed}, {best}, "
            f"{last.nrejected} rejected, {each:.3g} s each, {_duration(left)} left"
        )


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
