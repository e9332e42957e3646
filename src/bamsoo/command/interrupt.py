"""Ctrl-C: the first lets the running evaluation come to its end, the second ends it."""

import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any


class Interrupt:
    """While entered: `asked` turns true at the first Ctrl-C; the second raises.

    SIGTERM, which is not sent twice, raises at once.
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
        self._say("stopping when the running evaluation is done; Ctrl-C again ends it now")

    def _at_once(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        raise KeyboardInterrupt
