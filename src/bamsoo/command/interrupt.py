"""Ctrl-C: the first one lets running evaluations finish, the second one ends them."""

import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any


class Interrupt:
    """A context in which the first Ctrl-C sets `asked`, and the second raises KeyboardInterrupt.

    SIGTERM, which is usually sent only once, raises it at once.
    """

    def __init__(self, say: Callable[[str], object]) -> None:
        self.asked, self._say = False, say
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "Interrupt":
        for number, handler in ((signal.SIGINT, self._polite), (signal.SIGTERM, self._at_once)):
            self._before[number] = signal.signal(number, handler)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
