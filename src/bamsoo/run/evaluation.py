"""One evaluation, wherever it takes place: the call that is sent and the reply that comes back.

Both may be sent to another process or another machine. They are packed only when they are pickled,
so that in a thread of this process the function itself is called and its own exception comes back.
Functions are sent by value (cloudpickle), so lambdas, closures and functions typed into a notebook
work. Exceptions come back as they are, with the worker's traceback as a note.
"""

import os
import pickle
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import lru_cache
from inspect import (
    isasyncgen,
    isasyncgenfunction,
    iscoroutine,
    iscoroutinefunction,
    isgenerator,
    isgeneratorfunction,
)
from math import isfinite, isinf
from traceback import format_exception, print_exception
from typing import Any, NoReturn, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np

from ..base.checks import brief, storable
from ..errors import BamsooError, EvaluationError, SettingsError, ValueTypeError
from ..record.objectives import as_value
from ..record.residuals import Vector, as_vector
from ..space.constraints import as_simple
from .threads import limit_process

Arguments: TypeAlias = Any
"""The argument of the function: an array, or a dict of keyword arguments."""

G = TypeVar("G")

STOPPED = "the evaluation was stopped"
"""The reason why an evaluation that was stopped has no value. Its reply is not sent."""


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
    curve: tuple[Answer | None, ...] = ()
    """The values of the steps, where they could not be reported one by one; None for a step that
    gave none."""
    took: float | None = field(default=None, compare=False)
    """How long the evaluation took, in seconds."""

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
        return _reply, (self.value, self.why, packed, self.beside, self.curve, self.took)


class FirstError(SettingsError):
    """A first evaluation shows that a setting is wrong.

    In a worker process, it is the first one of this process. If another one has had a value, it
    counts as `otherwise`.
    """

    def __init__(self, message: str, otherwise: Reply | None = None) -> None:
        super().__init__(message)
        self.otherwise = otherwise


@dataclass(frozen=True)
class StepValue:
    """The value after a step of an evaluation, which goes on or is stopped: see `Pool.answer`."""

    value: Answer | None
    """It is None if the step gave no value."""


def in_words(error: BaseException) -> str:
    """An exception as text, with its type unless it is a `BamsooError`, which is a sentence."""
    try:
        text = str(error)
    except Exception:
        text = "(no text, because its __str__ raises an exception)"
    return storable(text if isinstance(error, BamsooError) else f"{type(error).__name__}: {text}")


_trial: ContextVar[int | None] = ContextVar("_trial", default=None)


def trial_number() -> int | None:
    """The number of the trial for which a function is being called here; None outside of a run."""
    return _trial.get()


@runtime_checkable
class Companion(Protocol):
    """A function that wants to know what becomes of its evaluations."""

    def __call__(self, *point: Any, **params: Any) -> Any:
        """The value at a point."""
        ...

    def follow(self, search: Any) -> "Companion":
        """The function for a run of this search."""
        ...

    def check_workers(self, size: int) -> None:
        """Raise an error if so many evaluations at once would get in each other's way."""
        ...

    def settle(self, search: Any, number: int, failed: bool) -> None:
        """Called after the value, or the failure, of a trial was told, or after it was stopped."""
        ...

    def end(self) -> None:
        """Called when the run is over."""
        ...


class Running:
    """One evaluation of a function, in progress.

    Parameters
    ----------
    fun : callable
    point : array or dict
    steps : int, optional
        The number of steps of a full evaluation, if the function yields a value after each.
    number : int, optional
        The number of the trial.
    """

    def __init__(
        self,
        fun: Callable[..., Any],
        point: Arguments,
        steps: int | None = None,
        number: int | None = None,
    ) -> None:
        self._fun, self._point, self._steps, self._number = fun, point, steps, number
        self._iterator: Iterator[Any] | None = None
        self._last: Reply | None = None
        self._taken = 0
        self._took = 0.0

    def advance(self) -> StepValue | Reply:
        """Go on until the function yields the value of a step, or the evaluation ends.

        Exceptions of the function become replies; interrupts and exits propagate.
        """
        began = time.monotonic()
        got = self._advance()
        self._took += time.monotonic() - began
        return replace(got, took=self._took) if isinstance(got, Reply) else got

    def _advance(self) -> StepValue | Reply:
        before = _trial.set(self._number)
        try:
            if self._steps is None:
                return as_reply(_only(self._call()))
            if self._iterator is None:
                self._iterator = _steps_of(self._call())
            end = object()
            yielded = next(self._iterator, end) if self._taken < self._steps else end
            if yielded is not end:
                self._last = as_reply(yielded)
                self._taken += 1
                return StepValue(self._last.value)
            self.close()
        except Exception as error:
            beside = error.beside if isinstance(error, EvaluationError) else None
            return Reply(None, error=error, beside=beside)
        finally:
            _trial.reset(before)
        return self._last or Reply(None, "the function ended before its first step")

    def close(self) -> None:
        """Close a generator, so that its `finally` blocks run."""
        close = getattr(self._iterator, "close", None)
        if close is not None:
            close()

    def _call(self) -> Any:
        return self._fun(**self._point) if isinstance(self._point, dict) else self._fun(self._point)


def as_reply(returned: Any) -> Reply:
    """What a function returned, or yielded after a step, as a reply; raises an error if invalid."""
    value, beside = separated(returned)
    answer = as_answer(value)
    if beside is not None:
        beside = {name: as_simple(name, each) for name, each in beside.items()}
    if type(answer) is float:
        good = isfinite(answer)
    elif isinstance(answer, Vector):
        good = any(map(isfinite, answer)) and not any(map(isinf, answer))
    else:
        good = all(map(isfinite, answer.values() if isinstance(answer, dict) else np.ravel(answer)))
    if good:
        return Reply(answer, beside=beside)
    return Reply(None, f"the value is {brief(value)}", beside=beside)


_STEPS = (
    "set steps= to the number of values that a full evaluation yields, or return the last value "
    "instead of yielding each"
)


_AWAITED = (
    "write an ordinary one that calls asyncio.run(...), with workers= for several evaluations at "
    "once, or ask and tell with bamsoo.Optimizer in your own event loop"
)


def check_function(fun: Any, steps: int | None) -> None:
    """Raise an error if `fun` is no function, async, or yields although there are no steps."""
    if not callable(fun):
        raise SettingsError(f"fun must be callable, got {brief(fun)}")
    for each in (fun, type(fun).__call__):
        if iscoroutinefunction(each) or isasyncgenfunction(each):
            raise SettingsError(f"fun is an async function; {_AWAITED}")
    yields = isgeneratorfunction(fun) or isgeneratorfunction(type(fun).__call__)
    if yields and steps is None:
        raise SettingsError(f"fun is a generator function, which yields values; {_STEPS}")


def _only(returned: Any) -> Any:
    if iscoroutine(returned) or isasyncgen(returned):
        if iscoroutine(returned):
            returned.close()
        raise SettingsError(f"fun returned {brief(returned)}, as an async function; {_AWAITED}")
    if isgenerator(returned):
        returned.close()
        raise SettingsError(f"fun returned a generator, which yields values; {_STEPS}")
    return returned


def _steps_of(returned: Any) -> Iterator[Any]:
    if iscoroutine(returned) or isasyncgen(returned):
        _only(returned)
    if not isinstance(returned, Iterator):
        raise SettingsError(
            f"fun returned {brief(returned)}, but with steps= it must yield a value after each "
            "step; write yield instead of return, or leave out steps="
        )
    return returned


def as_answer(value: Any) -> Answer:
    """The value in plain numbers; which objectives they belong to is checked where it is told."""
    if type(value) is float:
        return as_value(value)
    if isinstance(value, Vector):
        return value
    if isinstance(value, Mapping):
        return {name: _named(name, each) for name, each in value.items()}
    many = isinstance(value, (list, tuple)) or bool(getattr(value, "ndim", False))
    if many and len(value) != 1:
        return tuple(as_value(each) for each in value)
    return as_value(value)


def _named(name: Any, value: Any) -> float:
    try:
        return as_value(value)
    except ValueTypeError:
        raise ValueTypeError(
            f"an objective value must be one real number, got {brief(value)} for {name!r}; return "
            "the value, or (value, {name: ...}) to keep more with it"
        ) from None


def separated(returned: Any) -> tuple[Any, Mapping[str, Any] | None]:
    """Separate what a function returned into its value and what it returned besides, if any."""
    if isinstance(returned, tuple) and len(returned) == 2 and isinstance(returned[1], Mapping):
        return returned
    return returned, None


class ResidualFunction:
    """A function that returns residuals, which this marks as such.

    Parameters
    ----------
    fun : callable
    """

    def __init__(self, fun: Callable[..., Any]) -> None:
        self.__wrapped__ = fun

    def __call__(self, *point: Any, **params: Any) -> Any:
        """The residuals, perhaps with more that the function returned."""
        value, beside = separated(_only(self.__wrapped__(*point, **params)))
        vector = None if value is None else as_vector(value)
        return vector if beside is None else (vector, beside)


class WorkerFunction:
    """The function in the form that workers call.

    Parameters
    ----------
    fun : callable
    threads : int
        The number of BLAS threads of a worker process, unless its environment sets it.
    steps : int, optional
        As in `Running`.
    """

    def __init__(self, fun: Callable[..., Any], threads: int, steps: int | None = None) -> None:
        self._fun, self._threads, self._steps = fun, threads, steps
        self._packed: tuple[bytes, int, int | None] | None = None

    def __call__(
        self,
        point: Arguments,
        report: Callable[[StepValue], bool] | None = None,
        number: int | None = None,
    ) -> Reply:
        """Evaluate the function; in a worker, `sys.exit` fails only this trial.

        `report` is called with each step, and the evaluation is stopped if it returns False.
        Without it, the evaluation takes all its steps, and their values come with the reply.
        """
        running = Running(self._fun, point, self._steps, number)
        curve: list[Answer | None] = []
        while isinstance(got := self._guarded(running.advance), StepValue):
            if report is None:
                curve.append(got.value)
            elif not report(got):
                return self._guarded(lambda: _closed(running))
        return got if report is not None or not curve else replace(got, curve=tuple(curve))

    def _guarded(self, act: Callable[[], G]) -> G | Reply:
        """Do something that runs the function, and make a reply of whatever it raises.

        A child process that the function has forked must not return from here, because it would
        continue as a second worker and reply in place of this one. It is ended instead.
        """
        worker, exit_ = os.getpid(), None
        reply: G | Reply
        try:
            reply = act()
        except SystemExit as error:
            exit_ = error
            reply = Reply(None, f"the function called sys.exit({brief(error.code)})")
        except BaseException as error:
            reply = Reply(None, error=error)
        if os.getpid() != worker:
            end_child(exit_ or getattr(reply, "error", None))
        return reply

    def packed(self) -> tuple[bytes, int, int | None]:
        """The pickled function, its number of threads, and the number of steps."""
        if self._packed is None:
            try:
                self._packed = pack(self._fun), self._threads, self._steps
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
    point: Arguments
    key: str
    report: Callable[[StepValue], bool] | None = None
    """Takes the steps, and says whether to go on; only in threads of this process."""
    number: int | None = None
    """The number of the trial."""

    def __call__(self) -> tuple[str, Reply]:
        """Evaluate the function at the point."""
        return self.key, self.function(self.point, self.report, self.number)

    def __reduce__(self) -> Any:
        return _call, (*self.function.packed(), pack(self.point), self.key, self.number)


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
def load_function(packed: bytes, threads: int, steps: int | None) -> WorkerFunction:
    """Load the function in a worker; the last few are cached, so that each is loaded once."""
    limit_process(threads)
    return WorkerFunction(pickle.loads(packed), threads, steps)


def _call(
    packed: bytes, threads: int, steps: int | None, point: bytes, key: str, number: int | None
) -> Call:
    function = load_function(packed, threads, steps)
    return Call(function, pickle.loads(point), key, number=number)


def _closed(running: Running) -> Reply:
    running.close()
    return Reply(None, STOPPED)


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
    curve: tuple[Answer | None, ...] = (),
    took: float | None = None,
) -> Reply:
    return Reply(value, why, None if packed is None else _unpack(*packed), beside, curve, took)


def _unpack(packed: bytes | None, words: str, trace: str) -> BaseException:
    error: BaseException = EvaluationError(words)
    if packed is not None:
        with suppress(Exception):  # its class may exist only in the worker
            loaded = pickle.loads(packed)
            error = loaded if isinstance(loaded, BaseException) else error
    with suppress(Exception):  # an exception may refuse notes
        error.add_note(f"in the worker:\n{trace}")
    return error
