"""One evaluation, wherever it takes place: the call that is sent and the reply that comes back.

Both may be sent to another process or another machine. They are packed only when they are pickled,
so that in a thread of this process the function itself is called and its own exception comes back.
Functions are sent by value (cloudpickle), so lambdas, closures and functions typed into a notebook
work. Exceptions come back as they are, with the worker's traceback as a note.
"""

import os
import pickle
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from traceback import format_exception, print_exception
from typing import Any, NoReturn, TypeAlias

import numpy as np

from ..checks import brief, storable
from ..errors import BamsooError, EvaluationError, SettingsError
from ..objectives import as_value
from ..space.constraints import as_simple
from .threads import limit_process

Point: TypeAlias = Any
"""The argument of the function: an array, or a dict of keyword arguments."""


Answer: TypeAlias = float | tuple[float, ...] | dict[Any, float]
"""The value of an evaluation: one number, or one for each objective, in order or by name."""

NONE = "the value is None"
"""Why there is no value if a function returned None."""


@dataclass(frozen=True)
class Reply:
    """The outcome of an evaluation: a value, or the reason or exception why there is none."""

    value: Answer | None
    why: str | None = None
    error: BaseException | None = None
    beside: Mapping[str, Any] | None = None
    """What the function returned besides the value: measured constraints and extras, by name."""

    @property
    def is_none(self) -> bool:
        """Whether the function returned None."""
        return self.error is None and self.why == NONE

    @property
    def reason(self) -> str:
        """Why there is no value, in words."""
        if self.error is None:
            return str(self.why)
        return in_words(self.error)

    def __reduce__(self) -> Any:
        packed = None if self.error is None else _pack(self.error)
        return _reply, (self.value, self.why, packed, self.beside)


def in_words(error: BaseException) -> str:
    """An exception as text, with its type unless it is a `BamsooError`, which is a sentence."""
    try:
        text = str(error)
    except Exception:
        text = "(no text, because its __str__ raises an exception)"
    return storable(text if isinstance(error, BamsooError) else f"{type(error).__name__}: {text}")


def evaluate(fun: Callable[..., Any], point: Point) -> Reply:
    """Call the function. Its exceptions become replies; interrupts and exits propagate."""
    try:
        value, beside = apart(fun(**point) if isinstance(point, dict) else fun(point))
        answer = as_answer(value)
        if beside is not None:
            beside = {name: as_simple(name, each) for name, each in beside.items()}
    except Exception as error:
        return Reply(None, error=error)
    if all(map(isfinite, answer.values() if isinstance(answer, dict) else np.ravel(answer))):
        return Reply(answer, beside=beside)
    return Reply(None, f"the value is {brief(value)}", beside=beside)


def as_answer(value: Any) -> Answer:
    """The value in plain numbers; which objectives they belong to is checked where it is told."""
    if isinstance(value, Mapping):
        return {name: as_value(each) for name, each in value.items()}
    many = isinstance(value, (list, tuple)) or bool(getattr(value, "ndim", False))
    if many and len(value) != 1:
        return tuple(as_value(each) for each in value)
    return as_value(value)


def apart(returned: Any) -> tuple[Any, Mapping[str, Any] | None]:
    """Separate what a function returned into its value and what it returned besides, if any."""
    if isinstance(returned, tuple) and len(returned) == 2 and isinstance(returned[1], Mapping):
        return returned
    return returned, None


class WorkerFunction:
    """The function in the form that workers call.

    Parameters
    ----------
    fun : callable
    threads : int
        The number of BLAS threads of a worker process, unless its environment sets it.
    """

    def __init__(self, fun: Callable[..., Any], threads: int) -> None:
        self._fun, self._threads = fun, threads
        self._packed: tuple[bytes, int] | None = None

    def __call__(self, point: Point) -> Reply:
        """Evaluate the function; in a worker, `sys.exit` fails only this trial.

        A child process that the function has forked must not return from here, because it would
        continue as a second worker and reply in place of this one. It is ended instead.
        """
        worker, exit_ = os.getpid(), None
        try:
            reply = evaluate(self._fun, point)
        except SystemExit as error:
            exit_ = error
            reply = Reply(None, f"the function called sys.exit({brief(error.code)})")
        except BaseException as error:
            reply = Reply(None, error=error)
        if os.getpid() != worker:
            end_child(exit_ or reply.error)
        return reply

    def packed(self) -> tuple[bytes, int]:
        """The pickled function and its number of threads."""
        if self._packed is None:
            try:
                self._packed = pack(self._fun), self._threads
            except Exception as error:
                raise SettingsError(
                    f"fun cannot be sent to another process ({in_words(error)}); use only objects "
                    "that can be pickled, or pass a ThreadPoolExecutor as workers"
                ) from error
        return self._packed


@dataclass(frozen=True)
class Call:
    """One evaluation, to be carried out by an executor, with a key that its reply comes with."""

    function: WorkerFunction
    point: Point
    key: str

    def __call__(self) -> tuple[str, Reply]:
        """Evaluate the function at the point."""
        return self.key, self.function(self.point)

    def __reduce__(self) -> Any:
        return _call, (*self.function.packed(), pack(self.point), self.key)


def end_child(error: BaseException | None) -> NoReturn:
    """End a forked process as Python would, but without the cleanup that belongs to its parent."""
    code = 0 if error is None else 1
    with suppress(Exception):
        if isinstance(error, SystemExit) and (error.code is None or isinstance(error.code, int)):
            code = (error.code or 0) & 0xFF
        elif isinstance(error, SystemExit):
            print(error.code, file=sys.stderr)
        elif error is not None:
            print_exception(error)
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    os._exit(code)


def pack(thing: Any) -> bytes:
    """Pickle an object, by value if it cannot be imported from a module."""
    import cloudpickle

    packed: bytes = cloudpickle.dumps(thing)
    return packed


@lru_cache(maxsize=4)
def load_function(packed: bytes, threads: int) -> WorkerFunction:
    """Load the function in a worker; the last few are cached, so that each is loaded once."""
    limit_process(threads)
    return WorkerFunction(pickle.loads(packed), threads)


def _call(packed: bytes, threads: int, point: bytes, key: str) -> Call:
    return Call(load_function(packed, threads), pickle.loads(point), key)


def _pack(error: BaseException) -> tuple[bytes | None, str, str]:
    trace = "its traceback cannot be shown"
    with suppress(Exception):  # formatting calls the exception's own methods, which may fail
        trace = storable("".join(format_exception(error)))
    try:
        packed = pack(error)
        pickle.loads(packed)  # many exceptions can be pickled but not loaded again
    except Exception:
        return None, in_words(error), trace
    return packed, in_words(error), trace


def _reply(
    value: Answer | None,
    why: str | None,
    packed: tuple[bytes | None, str, str] | None,
    beside: Mapping[str, Any] | None = None,
) -> Reply:
    return Reply(value, why, None if packed is None else _unpack(*packed), beside)


def _unpack(packed: bytes | None, words: str, trace: str) -> BaseException:
    error: BaseException = EvaluationError(words)
    if packed is not None:
        with suppress(Exception):  # its class may exist only in the worker
            loaded = pickle.loads(packed)
            error = loaded if isinstance(loaded, BaseException) else error
    with suppress(Exception):  # an exception may refuse notes
        error.add_note(f"in the worker:\n{trace}")
    return error
