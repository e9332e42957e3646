"""Where evaluations take place: in this process, in worker processes, or in an executor.

A pool takes trials and returns replies as they arrive. The loop that fills it (`loop`) knows
nothing else about it.
"""

import os
from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from ..base.checks import brief, is_finite
from ..errors import SettingsError
from .evaluation import (
    Arguments,
    Reply,
    Running,
    StepValue,
    WorkerFunction,
)
from .threads import fair_share

if TYPE_CHECKING:
    from concurrent.futures import Executor

Workers: TypeAlias = "int | Executor | tuple[Executor, int] | None"


class Pool(Protocol):
    """Takes trials, identified by number, and returns their outcomes."""

    @property
    def size(self) -> int:
        """The number of trials that it can take at once."""
        ...

    def submit(self, number: int, point: Arguments) -> None:
        """Begin an evaluation, now or when a worker is free."""
        ...

    def wait(self) -> list[tuple[int, Reply | StepValue]]:
        """Wait at most about a second; return what has arrived, in order, if anything.

        An evaluation that has sent a step waits for its answer.
        """
        ...

    def answer(self, number: int, go_on: bool) -> None:
        """Answer the step of a trial; one that does not go on has ended, and sends no reply."""
        ...

    def close(self) -> None:
        """Close the pool and abandon the evaluations that are still running."""
        ...


def open_pool(
    workers: Workers,
    fun: Callable[..., Any],
    most: float,
    trial_timeout: float | None = None,
    steps: int | None = None,
    initializer: Callable[[], object] | None = None,
) -> Pool:
    """Open the pool that `workers` describes; it will get at most `most` trials at once.

    `steps` is the number of steps of a full evaluation, if the function yields its steps. Each
    process calls `initializer` when it starts.
    """
    check_workers(workers)
    check_trial_timeout(trial_timeout, workers)
    if workers is None:
        return InProcess(fun, steps)
    if isinstance(workers, (int, Integral)):
        from .processes import Processes

        size = int(max(1, min(int(workers), most)))
        function = WorkerFunction(fun, fair_share(size), steps)
        return Processes(function, size, trial_timeout, initializer)
    from .executors import Executed

    if isinstance(workers, tuple):
        return Executed(workers[0], fun, int(workers[1]), steps)
    return Executed(workers, fun, None, steps)


def checked_workers(workers: Any) -> Workers:
    """The argument `workers`, with -1 as the number of cores; raises an error if it is no pool."""
    if not isinstance(workers, bool) and isinstance(workers, Integral) and int(workers) == -1:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    check_workers(workers)
    checked: Workers = workers
    return checked


def check_workers(workers: Any) -> None:
    """Raise an error unless `workers` describes a pool."""
    if workers is None or _is_count(workers):
        return
    from concurrent.futures import Executor

    if isinstance(workers, Executor):
        return
    if isinstance(workers, tuple) and len(workers) == 2:
        executor, size = workers
        if isinstance(executor, Executor) and _is_count(size):
            return
    hint = ""
    if type(workers).__module__.startswith("distributed"):
        hint = "; for a Dask client, pass client.get_executor(pure=False)"
    raise SettingsError(
        "workers must be None, a whole number >= 1, -1 for all cores, a "
        f"concurrent.futures.Executor, or (executor, trials at once), got {brief(workers)}{hint}"
    )


def check_trial_timeout(seconds: Any, workers: Any) -> None:
    """Raise an error if the time limit is invalid or cannot be enforced with these workers."""
    if seconds is None:
        return
    if not (is_finite(seconds) and seconds > 0):
        raise SettingsError(
            f"trial_timeout must be a positive, finite number of seconds, got {brief(seconds)}"
        )
    if not _is_count(workers):
        raise SettingsError(
            "trial_timeout needs workers=N, because only processes that bamsoo starts itself can "
            f"be ended, got workers={brief(workers)}"
        )


def checked_initializer(
    initializer: Any, initargs: Any, workers: Any
) -> Callable[[], object] | None:
    """What each process calls when it starts; raises an error if no process is started here."""
    if initializer is None and not initargs:
        return None
    if not callable(initializer):
        raise SettingsError(f"initializer must be callable, got {brief(initializer)}")
    if not isinstance(initargs, (tuple, list)):
        raise SettingsError(f"initargs must be a tuple of arguments, got {brief(initargs)}")
    if not _is_count(workers):
        raise SettingsError(
            "initializer needs workers=N, because it is called in the processes that bamsoo starts "
            f"itself, got workers={brief(workers)}; give it to the executor, or call it yourself"
        )
    return partial(initializer, *initargs)


def _is_count(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Integral) and int(value) >= 1


class InProcess:
    """A pool without workers: `wait` evaluates the trial in this process."""

    size = 1

    def __init__(self, fun: Callable[..., Any], steps: int | None = None) -> None:
        self._fun, self._steps = fun, steps
        self._running: tuple[int, Running] | None = None

    def submit(self, number: int, point: Arguments) -> None:
        """Keep the trial for `wait`."""
        self._running = number, Running(self._fun, point, self._steps, number)

    def wait(self) -> list[tuple[int, Reply | StepValue]]:
        """Evaluate the trial; Ctrl-C and sys.exit in the function end the run, as usual."""
        assert self._running is not None
        number, running = self._running
        return [(number, running.advance())]

    def answer(self, number: int, go_on: bool) -> None:
        """Close the evaluation if it is to end; otherwise `wait` goes on with it."""
        if not go_on:
            self.close()

    def close(self) -> None:
        """Close the evaluation that was begun last, if it has not ended."""
        if self._running is not None:
            self._running[1].close()
        self._running = None
