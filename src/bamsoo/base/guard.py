"""Protection of a search's state against its surroundings.

Several threads may call it at the same time, Ctrl-C or another exception may arrive in the middle
of a transaction, and the caller may have set numpy to raise floating-point errors.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from threading import RLock
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from ..errors import BamsooError, StudyError

ATTEMPTS = 20
"""How often a transaction is repeated that others have overtaken. Where turns work, that hardly
happens once; where a file system has no locks, this is what keeps several processes going."""

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound="Guarded")


def own_errors() -> Any:
    """Inside the block, handle floating-point errors as numpy does by default.

    The caller's own setting is restored afterwards.
    """
    return np.errstate(divide="warn", over="warn", under="ignore", invalid="warn")


def with_own_errors(function: Callable[P, R]) -> Callable[P, R]:
    """Wrap a function so that it runs inside `own_errors`."""

    @wraps(function)
    def calm(*args: P.args, **kwargs: P.kwargs) -> R:
        with own_errors():
            return function(*args, **kwargs)

    return calm


class OvertakenError(Exception):
    """Another process has changed the state although it was the turn of this one."""


class Guarded:
    """State that changes in transactions, by one thread at a time.

    If an exception interrupts a transaction, the state may be half changed: `_cut_short` is then
    called at once, and `_repair` before the next one begins. A `BamsooError` needs neither, because
    it is raised before anything changes or leaves the state consistent. A transaction must not call
    another.
    """

    def __init__(self) -> None:
        self._lock = RLock()
        self._broken = False
        """Whether a transaction has begun and has not ended."""

    def _check_writable(self) -> None:
        """Raise an error if this process may not change the state."""

    def _turn(self) -> AbstractContextManager[None]:
        """Keep other processes from changing the state until the end of the block."""
        return nullcontext()

    def _read_on(self) -> None:
        """Take up what other processes have changed, at the beginning of a turn."""

    def _cut_short(self) -> None:
        """Restore what can be restored at once, without making the caller wait."""
        raise NotImplementedError

    def _repair(self) -> None:
        """Restore the whole state."""
        raise NotImplementedError


def transaction(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Make a method of a `Guarded` class a transaction, which takes effect as a whole."""

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
                self._broken = True  # also if the interrupt came just before the line above
                self._cut_short()
                raise
            return result

    return whole  # type: ignore[return-value]  # mypy objects to the name of `self`


def writing_transaction(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Make a method a transaction that changes the state, if this process may do so.

    That is checked before the lock is taken, because in a forked child it may be held for ever.
    The transaction is the turn of this process, if several of them share the state.
    """

    @wraps(method)
    def in_turn(self: S, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._turn():
            self._read_on()
            return method(self, *args, **kwargs)

    taken = transaction(in_turn)  # type: ignore[arg-type]  # mypy objects to the name of `self`

    @wraps(method)
    def checked(self: S, *args: P.args, **kwargs: P.kwargs) -> R:
        self._check_writable()
        for _ in range(ATTEMPTS):
            try:
                return taken(self, *args, **kwargs)
            except OvertakenError:  # nothing has happened yet; the next attempt knows more
                pass
        raise StudyError(
            f"{ATTEMPTS} attempts to write to the study failed, because others wrote to it or the "
            "connection was lost in the meantime; nothing has changed, so try again"
        )

    return checked  # type: ignore[return-value]  # mypy objects to the name of `self`
