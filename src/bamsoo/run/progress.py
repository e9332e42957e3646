"""The progress of a run: the interface of a display, and the line for `progress=True`."""

import sys
import time
from contextlib import suppress
from importlib import import_module
from math import inf, isfinite
from typing import Any, NamedTuple

from ..base.checks import shown
from ..record.ledger import on_the_front
from ..search.optimizer import Optimizer


class Display:
    """What a run shows while it works; this class shows nothing, a subclass may."""

    def show(self, search: Optimizer) -> None:
        """Called after each evaluation."""

    def failure(self, reason: str) -> None:
        """Called after an evaluation that gave no value."""

    def say(self, text: str) -> None:
        """Called with what the user has to know at once, such as that the run waits."""

    def close(self, search: Optimizer) -> None:
        """Called at the end of the run."""


GAP_SHARE = 0.05
"""Computing the gap may take at most about this share of a run's time. With a larger share, the
line is more up to date and the run is slower."""


class GapMeter:
    """The gap of a search, computed only now and then, because that takes time."""

    def __init__(self) -> None:
        self._text, self._next = "", -inf

    def text(self, search: Optimizer) -> str:
        """The part of a progress line that shows the gap; empty if nothing is known about it."""
        began = time.monotonic()
        if began >= self._next:
            gap = search.result.shown_gap
            self._text = f", gap {gap:.2g}" if isfinite(gap) else ""
            now = time.monotonic()
            self._next = now + (now - began) / GAP_SHARE
        return self._text


class State(NamedTuple):
    """What a progress line shows of a search."""

    told: int
    cost: float
    """In full evaluations."""
    stepped: bool
    failed: int
    best: str | None
    gap: str
    rejected: int

    @classmethod
    def of(cls, search: Optimizer, gap: GapMeter) -> "State":
        """The state of a search now."""
        best, ledger = search.best, search.ledger
        value = None if best is None else f"best {shown(best.numbers[0], search.tol)}"
        if best is not None and search.objectives.several:
            value = on_the_front(search.front)
        stepped = ledger.costs.unit > 1
        more = value, gap.text(search), search.rejected
        return cls(ledger.told, ledger.costs.cost, stepped, ledger.failed, *more)

    def text(self, budget: float) -> str:
        """The beginning of the line; the time that it took follows."""
        failed = f", {self.failed} failed" if self.failed else ""
        nothing = "no value yet"
        if self.told > self.failed:  # stopped or cheap evaluations have no final value
            nothing = "no final value yet" if self.stepped else "no feasible value yet"
        best = nothing if self.best is None else self.best
        of = f"/{budget}" if budget < inf else ""
        done = f"{self.told}{of} evaluations"
        if self.stepped:
            done = f"{self.cost:.2f}{of} full evaluations, {self.told} started"
        rejected = f", {self.rejected} rejected" if self.rejected else ""
        return f"{done}{failed}, {best}{self.gap}{rejected}"


def progress_display(budget: float) -> Display:
    """The display for `progress=True`: a bar or a line in a notebook, and a line elsewhere."""
    shell = sys.modules.get("IPython")
    running = None if shell is None else shell.get_ipython()
    if type(running).__name__ != "ZMQInteractiveShell":  # a notebook or a similar front end
        return ProgressLine(budget)
    return NotebookProgress(budget)


class NotebookProgress(Display):
    """The progress in a notebook: tqdm's bar if it is installed with its widgets, else a line."""

    def __init__(self, budget: float) -> None:
        self._budget, self._began, self._shown = budget, time.monotonic(), -inf
        self._gap = GapMeter()
        self._bar: Any = None
        self._handle: Any = None
        with suppress(Exception):  # the widgets may be missing, or not fit the notebook
            self._bar = import_module("tqdm.notebook").tqdm(
                total=budget if budget < inf else None, unit="evaluation"
            )

    def show(self, search: Optimizer) -> None:
        """Show the current state, unless it was shown a moment ago."""
        now, done = time.monotonic(), search.ledger.costs.cost
        if now - self._shown < 0.2 and done < self._budget:
            return
        self._shown = now
        state = State.of(search, self._gap)
        if self._bar is not None:
            self._bar.set_postfix_str(state.best or "no value yet", refresh=False)
            self._bar.update(int(done) - self._bar.n)
            return
        display = import_module("IPython.display").display
        text = {"text/plain": f"{state.text(self._budget)}, {now - self._began:.1f} s"}
        if self._handle is None:
            self._handle = display(text, raw=True, display_id=True)
        else:
            self._handle.update(text, raw=True)

    def close(self, search: Optimizer) -> None:
        """Show the final state."""
        self._shown = -inf
        self.show(search)
        if self._bar is not None:
            self._bar.close()


class ProgressLine(Display):
    """A progress line on standard error, which is rewritten in place in a terminal."""

    def __init__(self, budget: float) -> None:
        self._budget, self._began = budget, time.monotonic()
        self._shown, self._done = -inf, 0
        self._gap = GapMeter()
        self._live = sys.stderr.isatty()
        self._every = 0.1 if self._live else 10.0

    def show(self, search: Optimizer) -> None:
        """Show the current state, unless the line was shown a moment ago."""
        now, ledger = time.monotonic(), search.ledger
        if now - self._shown < self._every and ledger.costs.cost < self._budget:
            return
        self._shown, self._done = now, ledger.told
        state = State.of(search, self._gap)
        text = f"{state.text(self._budget)}, {now - self._began:.1f} s"
        print(
            f"\r\x1b[K{text}" if self._live else text,
            end="" if self._live else "\n",
            file=sys.stderr,
            flush=True,
        )

    def say(self, text: str) -> None:
        """Print a line of its own."""
        print(f"\r\x1b[K{text}" if self._live else text, file=sys.stderr, flush=True)

    def close(self, search: Optimizer) -> None:
        """Show the final state, and end the line."""
        if self._done < search.ledger.told:
            self._shown = -inf
            self.show(search)
        if self._live:
            print(file=sys.stderr)
