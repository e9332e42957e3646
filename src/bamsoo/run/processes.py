"""A pool of worker processes in which, if a worker dies, only its own trial fails.

Each worker is a plain Python process with its own pipe and at most one trial, so a closed pipe
shows which trial was lost; a pool with a shared queue cannot tell. A worker is not forked and does
not import the caller's script: it receives the function through the pipe, so a script without
``if __name__ == "__main__"`` is not run again.
"""

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from math import inf
from multiprocessing.connection import Connection, Pipe, wait

from ..errors import SettingsError, WorkerError
from .evaluation import (
    Arguments,
    Reply,
    StepValue,
    WorkerFunction,
    in_words,
    pack,
)
from .groups import GRACE, end_groups, kill_marked, new_mark, signal_group
from .threads import environment

LOOK = 0.5
"""Seconds after which to check that a worker is alive even though its pipe is open, because a child
of a dead worker may hold the pipe open."""

STILLBORN = 3
"""The run ends after this many workers in a row have died before they could begin a trial."""

BOOT = (
    "import sys; sys.path[:] = {path!r}; from bamsoo.run.worker import main; main({pipe}, {mark!r})"
)


class Processes:
    """A fixed number of processes that evaluate a function; a process that dies is replaced.

    Parameters
    ----------
    function : WorkerFunction
    size : int
        The number of processes.
    trial_timeout : float, optional
        The number of seconds that an evaluation may take. One that takes longer is ended with its
        process and everything it has started, and the trial fails.
    initializer : callable, optional
        Each process calls it before it loads the function.
    """

    def __init__(
        self,
        function: WorkerFunction,
        size: int,
        trial_timeout: float | None = None,
        initializer: Callable[[], object] | None = None,
    ) -> None:
        if os.name != "posix":
            raise SettingsError(
                f"workers={size} needs a POSIX system; on this one, pass an executor such as "
                "loky.get_reusable_executor()"
            )
        packed, threads, steps = function.packed()
        self.size, self._limit = size, trial_timeout
        self._environment = {**os.environ, **environment(threads)}
        self._hello = pickle.dumps((sys.argv, _packed(initializer), packed, threads, steps))
        self._idle: list[Worker] = []
        self._busy: list[Worker] = []
        self._stillborn = 0
        self._broken: WorkerError | None = None

    def submit(self, number: int, point: Arguments) -> None:
        """Give the point to an idle worker, or to a new one."""
        self._give(number, pack(point))

    def _give(self, number: int, point: bytes) -> None:
        while self._idle:
            worker = self._idle.pop()
            if worker.process.poll() is None and worker.give(number, point):
                self._busy.append(worker)
                return
            worker.end()  # it died while it was idle
        worker = Worker(self._hello, self._environment)
        self._busy.append(worker)
        worker.give(number, point)  # if it has died already, `wait` notices

    def answer(self, number: int, go_on: bool) -> None:
        """Answer the step of a trial; a worker that is to stop is free at once.

        It closes its evaluation before it looks at the next trial.
        """
        worker = next(worker for worker in self._busy if worker.number == number)
        worker.send(pickle.dumps((number, go_on)))  # if it has died, `wait` notices
        if not go_on:
            self._free(worker)

    def wait(self) -> list[tuple[int, Reply | StepValue]]:
        """Wait for replies; if a worker died before it began its trial, give that to another."""
        if self._broken is not None:
            raise self._broken
        ready = wait([worker.pipe for worker in self._busy], self._patience())
        replies: list[tuple[int, Reply | StepValue]] = []
        try:
            for worker in list(self._busy):
                if worker.pipe in ready or worker.process.poll() is not None:
                    replies += self._hear(worker)
        except WorkerError as error:  # raised by the next call, after these replies are told
            self.size, self._broken = 0, error
        self._end_those_overdue()
        return replies

    def _patience(self) -> float:
        """Seconds to wait for a message: until the next trial is overdue, and at most `LOOK`."""
        due = min((worker.due for worker in self._busy), default=inf)
        return min(max(due - time.monotonic(), 0.0), LOOK)

    def _end_those_overdue(self) -> None:
        """Ask an overdue worker to end, and kill it the next time; `_hear` notices its death."""
        now = time.monotonic()
        for worker in self._busy:
            if worker.due <= now:
                signal_group(
                    worker.process.pid, signal.SIGKILL if worker.overdue else signal.SIGTERM
                )
                worker.overdue, worker.due = True, now + GRACE

    def _hear(self, worker: "Worker") -> Iterator[tuple[int, Reply | StepValue]]:
        try:
            number, message = worker.receive()
        except (EOFError, OSError):
            yield from self._bury(worker)
            return
        if isinstance(message, str):
            raise WorkerError(message)
        if number != worker.number:  # a late message about an earlier trial
            return
        if message is None:
            worker.begun, self._stillborn = True, 0
            worker.due = inf if self._limit is None else time.monotonic() + self._limit
        elif worker.overdue:  # it ignored SIGTERM and replies too late
            signal_group(worker.process.pid, signal.SIGKILL)
        elif isinstance(message, StepValue):
            yield number, message
        else:
            self._free(worker)
            yield number, message

    def _free(self, worker: "Worker") -> None:
        self._busy.remove(worker)
        self._idle.append(worker)
        worker.due = inf

    def _bury(self, worker: "Worker") -> Iterator[tuple[int, Reply]]:
        self._busy.remove(worker)
        how = worker.end()
        if worker.overdue:
            yield (
                worker.number,
                Reply(None, f"ended after the trial timeout of {self._limit:g} s"),
            )
            return
        if worker.begun:
            yield worker.number, Reply(None, f"the worker died ({how})")
            return
        self._stillborn += 1
        if self._stillborn >= STILLBORN:
            raise WorkerError(
                f"{STILLBORN} workers in a row died while they were starting, the last with {how}"
            )
        self._give(worker.number, worker.point)

    def close(self) -> None:
        """End all processes: idle ones end by themselves, running evaluations are killed."""
        deadline = time.monotonic() + GRACE
        for worker in self._idle:
            worker.pipe.close()
        end_groups(
            [worker.process for worker in self._busy], [worker.mark for worker in self._busy]
        )
        for worker in self._busy:
            worker.pipe.close()
        for worker in self._idle:
            worker.end(max(deadline - time.monotonic(), 0.0))
        self._idle, self._busy = [], []


def _packed(initializer: Callable[[], object] | None) -> bytes | None:
    try:
        return None if initializer is None else pack(initializer)
    except Exception as error:
        raise SettingsError(
            f"initializer cannot be sent to another process ({in_words(error)}); use only objects "
            "that can be pickled"
        ) from error


class Worker:
    """One worker process, its pipe, and the trial that it is working on."""

    def __init__(self, hello: bytes, environment: dict[str, str]) -> None:
        self.pipe: Connection
        self.pipe, theirs = Pipe()
        self.number, self.point, self.begun = -1, b"", False
        self.due, self.overdue = inf, False
        path = [entry for entry in sys.path if isinstance(entry, str)]
        self.mark = new_mark()
        boot = BOOT.format(path=path, pipe=theirs.fileno(), mark=self.mark)
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-c", boot],
                stdin=subprocess.DEVNULL,
                env={**environment, self.mark: "1"},
                pass_fds=[theirs.fileno()],
                # a group of its own, so that Ctrl-C reaches only the driver and so that everything
                # the worker starts can be ended with it
                start_new_session=True,
            )
        except OSError as error:
            self.pipe.close()
            raise WorkerError(f"a worker process cannot be started: {error}") from error
        finally:
            theirs.close()
        self.send(hello)

    def give(self, number: int, point: bytes) -> bool:
        """Send a trial to the worker; False if the worker is gone."""
        self.number, self.point, self.begun = number, point, False
        return self.send(pickle.dumps((number, point)))

    def send(self, message: bytes) -> bool:
        """Send a message to the worker; False if the worker is gone."""
        try:
            self.pipe.send_bytes(message)
        except OSError:
            return False
        return True

    def receive(self) -> tuple[int, "Reply | StepValue | str | None"]:
        """A message from the worker: the number of a trial, and one of four things.

        None means that the trial has begun, a `StepValue` waits for its answer, a `Reply` is its
        outcome, and a string says why the worker cannot evaluate anything. Raises EOFError if the
        worker died without a message.
        """
        if not self.pipe.poll():
            raise EOFError
        message: tuple[int, Reply | StepValue | str | None] = pickle.loads(self.pipe.recv_bytes())
        return message

    def end(self, patience: float = LOOK) -> str:
        """Wait a while for the process to end, then kill it; return how it ended.

        If it did not end normally, everything it has started is killed too, as in `end_groups`.
        """
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(patience)
        if self.process.returncode != 0 or self.overdue:
            signal_group(self.process.pid, signal.SIGKILL)
            kill_marked(self.mark)
        code = self.process.wait()
        self.pipe.close()
        return f"exit code {code}" if code >= 0 else f"signal {-code}"
