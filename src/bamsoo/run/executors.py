"""Evaluations by any `concurrent.futures.Executor`: threads, processes, loky, MPI, Dask.

An evaluation that takes steps reports them from a thread of this process, and can be stopped there.
Nothing reaches a task that runs elsewhere, so there it takes all its steps, and its curve comes
with its reply.

The executor belongs to the caller: it gets calls to carry out and is never shut down here.
"""

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any
from uuid import uuid4

from ..base.blas import at_most
from ..base.checks import brief
from ..errors import SettingsError, WorkerError
from .evaluation import (
    Arguments,
    Call,
    Reply,
    StepValue,
    WorkerFunction,
    in_words,
)
from .threads import environment, fair_share

LOOK = 5.0
"""Seconds after which a cluster is asked again how many workers it has."""

LOST = 60.0
"""Seconds for which a cluster may be out of reach. Dask gives up its scheduler after about 30, and
then cancels the calls it knows of; those that it was given in the meantime would never end."""


class Executed:
    """A pool that hands each trial to an executor.

    Parameters
    ----------
    executor : Executor
    fun : callable
    size : int, optional
        The number of trials at once; by default, the number of workers; see `room`.
    steps : int, optional
        The number of steps of a full evaluation, if the function yields its steps.
    """

    def __init__(
        self,
        executor: Executor,
        fun: Callable[..., Any],
        size: int | None,
        steps: int | None = None,
    ) -> None:
        self._executor, self._given = executor, size
        self._broken: WorkerError | None = None
        self._looked, self._room = -LOOK, 1
        self._reached = time.monotonic()  # when the cluster, if it is one, was last in reach
        threads = fair_share(self.size)
        self._function = WorkerFunction(fun, threads, steps)
        self._futures: dict[int, Future[tuple[str, Reply]]] = {}
        self._done: SimpleQueue[tuple[int, Future[tuple[str, Reply]] | StepValue]] = SimpleQueue()
        self._answers: dict[int, SimpleQueue[bool]] = {}
        self._reports = isinstance(executor, ThreadPoolExecutor) and steps is not None
        self._run = uuid4().hex
        shared = isinstance(executor, ThreadPoolExecutor)  # threads share this process's limit
        limited = shared and bool(environment(threads))
        self._limit: AbstractContextManager[Any] = at_most(threads) if limited else nullcontext()
        self._limit.__enter__()

    @property
    def size(self) -> int:
        """The number of workers, which may change on a cluster; 0 if the executor is broken."""
        if self._broken is not None:
            return 0
        if self._given is not None:
            return self._given
        if time.monotonic() - self._looked >= LOOK:
            self._room = room(self._executor) or self._room
            self._looked = time.monotonic()
        return self._room

    def submit(self, number: int, point: Arguments) -> None:
        """Hand it over; where that fails, `wait` says so, after what is still to come."""
        try:
            report = partial(self._report, number) if self._reports else None
            call = Call(self._function, point, self._key(number), report, number)
            self._answers[number] = SimpleQueue()
            future = self._executor.submit(call)
            self._futures[number] = future
            future.add_done_callback(lambda future: self._done.put((number, future)))
        except SettingsError:  # the function cannot travel
            raise
        except Exception as error:
            self._futures.pop(number, None)
            self._broken = broken(error, self._function)

    def _report(self, number: int, step: StepValue) -> bool:
        """Called in a thread of the executor: hand a step over, and wait for the answer."""
        answers = self._answers[number]
        self._done.put((number, step))
        return answers.get()

    def answer(self, number: int, go_on: bool) -> None:
        """Answer the step of a trial; the thread of one that is to stop closes it."""
        self._answers[number].put(go_on)
        if not go_on:
            self._futures.pop(number, None)

    def _key(self, number: int) -> str:
        """Identifies a trial of this run, among those that the executor has of others."""
        return f"{self._run}-{number}"

    def wait(self) -> list[tuple[int, Reply | StepValue]]:
        """Return the replies that have arrived; if the executor broke, raise once all have."""
        if self._broken is not None and not self._futures:
            raise self._broken
        replies: list[tuple[int, Reply | StepValue]] = []
        for number, future in self._finished():
            if isinstance(future, StepValue):
                replies.append((number, future))
                continue
            if self._futures.pop(number, None) is None:  # it was stopped, or has said so before
                continue
            try:
                replies.append((number, reply_of(future, self._key(number))))
            except (Exception, CancelledError) as error:
                self._broken = self._broken or broken(error, self._function)
        return replies

    def _finished(self) -> Iterator[tuple[int, "Future[tuple[str, Reply]] | StepValue"]]:
        """Finished calls and steps; wait only a second, to notice Ctrl-C and new workers."""
        try:
            yield self._done.get(timeout=1.0)
        except Empty:
            self._check_reach()
        with suppress(Empty):
            while True:
                yield self._done.get_nowait()

    def _check_reach(self) -> None:
        """Give up what is pending if the cluster has been out of reach for too long."""
        status = getattr(getattr(self._executor, "_client", None), "status", "running")
        now = time.monotonic()
        if status == "running":
            self._reached = now
        elif now - self._reached > LOST:
            self._broken = self._broken or broken(CancelledError(), self._function)
            self._futures.clear()

    def close(self) -> None:
        """Cancel what has not begun; what is running runs to its end, and its reply is ignored."""
        for answers in self._answers.values():
            answers.put(False)  # a thread that waits for an answer closes its evaluation
        for future in self._futures.values():
            future.cancel()
        self._futures.clear()
        self._limit.__exit__(None, None, None)


def reply_of(future: "Future[tuple[str, Reply]]", key: str) -> Reply:
    """The outcome of a call; raises an exception if the executor could not carry it out."""
    try:
        answer: Any = future.result()
    except Exception as error:
        if type(error).__name__ != "KilledWorker":
            raise
        # raised by Dask after it has given the trial to several workers that all died
        return Reply(None, f"the worker died ({' '.join(str(error).split())})")
    if isinstance(answer, tuple) and len(answer) == 2 and answer[0] == key:
        reply: Reply = answer[1]
        return reply
    raise WorkerError(
        f"the executor returned {brief(answer)}, which is not the outcome of the trial that it was "
        "given; it must call what it gets, and return what that returns"
    )


def broken(error: BaseException, function: WorkerFunction) -> WorkerError:
    """The error for an executor that has failed with this exception."""
    if isinstance(error, WorkerError):
        return error
    how = in_words(error)
    if isinstance(error, CancelledError):
        said = (
            "the executor has cancelled its trials, because it was shut down or its cluster is gone"
        )
    elif isinstance(error, BrokenExecutor):
        said = f"the executor is broken ({how}); with workers=N, a run survives a worker's death"
    elif isinstance(error, RuntimeError):
        said = f"the executor does not accept any more trials ({how})"
    else:
        said = (
            f"the executor could not carry out a trial ({how}); bamsoo and the modules of the "
            "function must be installed where its workers run"
        )
        try:
            function.packed()
        except SettingsError as reason:  # clearer than what the executor says about it
            said = str(reason)
    failure = WorkerError(said)
    failure.__cause__ = error
    return failure


def room(executor: Any) -> int | None:
    """The number of trials that an executor can run at once; None if that is not known now.

    This is its `_max_workers` (threads, processes, loky) or `num_workers` (MPI), or the number of
    threads of all workers that a Dask cluster has at this moment; otherwise the number of cores of
    this machine.
    """
    client: Any = getattr(executor, "_client", None)
    if hasattr(client, "nthreads"):
        if client.status != "running":  # its trials are about to be cancelled, with a reason
            return None
        with suppress(Exception):
            return sum(client.nthreads().values()) or None
        return None
    for name in ("_max_workers", "num_workers"):
        count = getattr(executor, name, None)
        if isinstance(count, int) and count >= 1:
            return count
    return os.cpu_count() or 1
