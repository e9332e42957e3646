"""One evaluation, wherever it is done: the call that goes out and the reply that comes back.

Both may travel to another process or another machine. They are packed when they are pickled
and not before, so that in a thread of this process the function itself is called and its
own exception comes back. Functions travel by value (cloudpickle): a lambda, a closure, one
typed into a notebook; exceptions come back as they are, with the worker's traceback as a note.
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

from ..checks import brief, storable
from ..errors import BamsooError, EvaluationError, SettingsError
from ..optimizer import as_value
from ..space.constraints import as_number
from .threads import limit_process

Point: TypeAlias = Any
"""What the function is given: an array, or a dict of its keyword arguments."""


@dataclass(frozen=True)
class Reply:
    """What came of an evaluation: a value; or else why not, or the exception that says so."""

    value: float | None
    why: str | None = None
    error: BaseException | None = None
    measured: Mapping[str, Any] | None = None
    """What was measured of constraints, by name."""

    @property
    def reason(self) -> str:
        """Why there is no value, for the record."""
        if self.error is None:
            return str(self.why)
        return in_words(self.error)

    def __reduce__(self) -> Any:
        packed = None if self.error is None else _pack(self.error)
        return _reply, (self.value, self.why, packed, self.measured)


def in_words(error: BaseException) -> str:
    """An exception as its kind and its text; ours are whole sentences already."""
    try:
        text = str(error)
    except Exception:
        text = "it has no text, because its __str__ raises"
    return storable(text if isinstance(error, BamsooError) else f"{type(error).__name__}: {text}")


def evaluate(fun: Callable[..., Any], point: Point) -> Reply:
    """Call the function; its exceptions are replies, interrupts and exits are not."""
    try:
        value, measured = apart(fun(**point) if isinstance(point, dict) else fun(point))
        number = as_value(value)
        if measured is not None:
            measured = {name: as_number(name, each) for name, each in measured.items()}
    except Exception as error:
        return Reply(None, error=error)
    if isfinite(number):
        return Reply(number, measured=measured)
    return Reply(None, f"the value is {brief(value)}", measured=measured)


def apart(returned: Any) -> tuple[Any, Mapping[str, Any] | None]:
    """What a function returned: its value, and what it measured of constraints, if anything."""
    if isinstance(returned, tuple) and len(returned) == 2 and isinstance(returned[1], Mapping):
        return returned
    return returned, None


class WorkerFunction:
    """The function as workers call it.

    Parameters
    ----------
    fun : callable
    threads : int
        BLAS threads for a process that calls it, unless its environment says how many.
    """

    def __init__(self, fun: Callable[..., Any], threads: int) -> None:
        self._fun, self._threads = fun, threads
        self._packed: tuple[bytes, int] | None = None

    def __call__(self, point: Point) -> Reply:
        """Evaluate; here, in a worker, leaving the program fails one trial and no more.

        A child that the function has forked must not come back from here: it would go on as a
        second worker, and answer in this one's name. It ends instead.
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
        """The function by value, and its threads."""
        if self._packed is None:
            try:
                self._packed = pack(self._fun), self._threads
            except Exception as error:
                raise SettingsError(
                    f"fun cannot be sent to another process ({in_words(error)}); make it from "
                    "what can be pickled, or give a ThreadPoolExecutor as workers"
                ) from error
        return self._packed


@dataclass(frozen=True)
class Call:
    """An evaluation for an executor to do."""

    function: WorkerFunction
    point: Point

    def __call__(self) -> Reply:
        """Do it."""
        return self.function(self.point)

    def __reduce__(self) -> Any:
        return _call, (*self.function.packed(), pack(self.point))


def end_child(error: BaseException | None) -> NoReturn:
    """End a forked process as Python ends a program, but without the cleanup of its parent."""
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
    """Pickle, by value where there is no module to find it in."""
    import cloudpickle

    packed: bytes = cloudpickle.dumps(thing)
    return packed


@lru_cache(maxsize=4)
def load_function(packed: bytes, threads: int) -> WorkerFunction:
    """The function in a worker; the last few are kept, so each is loaded once."""
    limit_process(threads)
    return WorkerFunction(pickle.loads(packed), threads)


def _call(packed: bytes, threads: int, point: bytes) -> Call:
    return Call(load_function(packed, threads), pickle.loads(point))


def _pack(error: BaseException) -> tuple[bytes | None, str, str]:
    trace = "its traceback cannot be shown"
    with suppress(Exception):  # the parts of an exception may be anything
        trace = storable("".join(format_exception(error)))
    try:
        packed = pack(error)
        pickle.loads(packed)  # many can be written and not read
    except Exception:
        return None, in_words(error), trace
    return packed, in_words(error), trace


def _reply(
    value: float | None,
    why: str | None,
    packed: tuple[bytes | None, str, str] | None,
    measured: Mapping[str, Any] | None = None,
) -> Reply:
    return Reply(value, why, None if packed is None else _unpack(*packed), measured)


def _unpack(packed: bytes | None, words: str, trace: str) -> BaseException:
    error: BaseException = EvaluationError(words)
    if packed is not None:
        with suppress(Exception):  # its class may be known to the worker only
            loaded = pickle.loads(packed)
            error = loaded if isinstance(loaded, BaseException) else error
    with suppress(Exception):  # an exception may refuse notes
        error.add_note(f"in the worker:\n{trace}")
    return error
