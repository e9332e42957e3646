"""What protects a search from the world around it.

The world has threads, which may call at the same time; Ctrl-C and other exceptions that may come
in the middle of a step; and a numpy whose floating-point errors may be set to raise.
"""

from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from .errors import BamsooError

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound="Guarded")


def own_errors() -> Any:
    """Inside the block, floating-point errors are what numpy's default makes of them.

    The caller's own setting, whatever it is, is back afterwards.
    """
    return np.errstate(divide="warn", over="warn", under="ignore", invalid="warn")


def with_own_errors(function: Callable[P, R]) -> Callable[P, R]:
    """The function inside `own_errors`."""

    @wraps(function)
    def calm(*args: P.args, **kwargs: P.kwargs) -> R:
        with own_errors():
            return function(*args, **kwargs)

    return calm


class Guarded:
    """State that is changed in whole steps, by one thread at a time.

    A step that an exception cuts short may leave the state half changed: `_cut_short` is called at
    once, and `_repair` before the next step begins. An error of ours is no such exception: it is
    raised before anything changes, or leaves all in order. A step must not call another.
    """

    def __init__(self) -> None:
        self._lock = RLock()
        self._broken = False
        """Whether a step has begun and not ended."""

    def _cut_short(self) -> None:
        """Put in order what can be put in order at once, without making anybody wait."""
        raise NotImplementedError

    def _repair(self) -> None:
        """Put everything in order."""
        raise NotImplementedError


def step(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """A method of a `Guarded` that is one whole step."""

    @wraps(method)
    def whole(self: S, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._lock:
            if self._broken:
                self._repair()
            try:
                self._broken = True
                result = method(self, *args, **kwargs)
                self._broken = False
            except BamsooError:
                self._broken = False
                raise
            except BaseException:
                self._broken = True  # also where the interrupt came before it was said above
                self._cut_short()
                raise
            return result

    return whole  # type: ignore[return-value]  # `self` has a name in it
