"""What a run shows in a terminal, and what Ctrl-C does to it."""

import os
import signal
import time
from collections.abc import Callable
from math import inf
from types import FrameType
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from ..run.progress import Display, GapMeter, State
from ..search.optimizer import Optimizer
from .options import visible

FAILURES_SHOWN = 3
REFRESHED = 4
"""How many times per second the live line is drawn."""


class Progress(Display):
    """Shows the progress on standard error; in a terminal, also between evaluations."""

    def __init__(self, budget: float, done: float, quiet: bool) -> None:
        self._budget, self._before, self._quiet = budget, done, quiet
        self._console = Console(stderr=True)
        self._began, self._shown = time.monotonic(), -inf
        self._state: State | None = None
        self._gap = GapMeter()
        self._failures = 0
        self._live = Live(
            get_renderable=lambda: Text(self._line()),
            console=self._console,
            refresh_per_second=REFRESHED,
            transient=True,
        )
        self._on_terminal = self._console.is_terminal and not quiet

    def __enter__(self) -> "Progress":
        if self._on_terminal:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._on_terminal:
            self._live.stop()

    def show(self, search: Optimizer) -> None:
        """Note the state of the search; without a terminal, print it at most once per second.

        The live line is drawn by a separate thread, which must not access the search itself.
        """
        now, done = time.monotonic(), search.ledger.costs.cost >= self._budget
        pause = 1.0 / REFRESHED if self._on_terminal else 1.0
        if self._quiet or not (done or now - self._shown >= pause):
            return
        self._shown, self._state = now, State.of(search, self._gap)
        if not self._on_terminal:
            self.say(self._line())

    def failure(self, reason: str) -> None:
        """Show the first failures as they happen, so that their cause can be fixed early."""
        self._failures += 1
        if self._quiet or self._failures > FAILURES_SHOWN:
            return
        self.say(f"failed: {visible(' '.join(reason.split())[:500])}")
        if self._failures == FAILURES_SHOWN:
            self.say("further failures are counted but not shown; a study stores all of them")

    def say(self, text: str) -> None:
        """Print a line above the live one."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _line(self) -> str:
        state, took = self._state, time.monotonic() - self._began
        if state is None:
            of = f"/{self._budget}" if self._budget < inf else ""
            return f"{self._before:.6g}{of} evaluations, {took:.0f} s"
        each = took / max(state.cost - self._before, 1.0)  # with steps, of a full evaluation
        if self._budget == inf:
            return f"{state.text(self._budget)}, {each:.3g} s each"
        left = each * max(self._budget - state.cost, 0.0)
        return f"{state.text(self._budget)}, {each:.3g} s each, {_duration(left)} left"


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


class Interrupt:
    """A context in which the first Ctrl-C sets `asked`, and the second raises KeyboardInterrupt.

    SIGTERM, which is usually sent only once, raises it at once, and so does SIGHUP, with which a
    terminal goes, unless it is ignored (`nohup`). Otherwise the programs of the run would go on.
    """

    def __init__(self, say: Callable[[str], object]) -> None:
        self.asked, self._say = False, say
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "Interrupt":
        handlers = {signal.SIGINT: self._polite, signal.SIGTERM: self._at_once}
        if os.name == "posix" and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            handlers[signal.SIGHUP] = self._at_once
        for number, handler in handlers.items():
            self._before[number] = signal.signal(number, handler)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _polite(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        self._say("stopping when the running evaluations are done; press Ctrl-C again to end now")

    def _at_once(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        raise KeyboardInterrupt
