"""A pool of processes of our own, in which a dying worker takes its own trial with it, no more.

Each worker is a plain Python process with a pipe of its own and at most one trial, so a
closed pipe says whose trial was lost; a pool that shares one queue cannot tell. It is not
forked and does not import the caller's script: the function comes through the pipe, and a
script without ``if __name__ == "__main__"`` starts nothing twice.
"""

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from math import inf
from multiprocessing.connection import Connection, Pipe, wait

from ..errors import SettingsError, WorkerError
from .evaluation import (
    Point,
    Reply,
    WorkerFunction,
    pack,
)
from .groups import GRACE, end_groups, signal_group
from .threads import environment

LOOK = 0.5
"""Seconds after which a worker's life is looked at, though its pipe is open: a child of a
dead worker may hold it."""

STILLBORN = 3
"""Workers in a row that may die before they begin with a trial, before it is hopeless."""

BOOT = "import sys; sys.path[:] = {path!r}; from bamsoo.run.worker import main; main({pipe})"


class Processes:
    """So many processes that evaluate a function, replaced when they die.

    Parameters
    ----------
    function : WorkerFunction
    size : int
    trial_timeout : float, optional
        Seconds an evaluation may take. One that takes longer is ended with its process, and
        with all that it has started: the trial has failed.
    """

    def __init__(
        self, function: WorkerFunction, size: int, trial_timeout: float | None = None
    ) -> None:
        if os.name != "posix":
            raise SettingsError(
                f"workers={size} needs a POSIX system; give an executor here, such as "
                "loky.get_reusable_executor()"
            )
        packed, threads = function.packed()
        self.size, self._limit = size, trial_timeout
        self._environment = {**os.environ, **environment(threads)}
        self._hello = pickle.dumps((sys.argv, packed, threads))
        self._idle: list[Worker] = []
        self._busy: list[Worker] = []
        self._stillborn = 0
        self._broken: WorkerError | None = None

    def submit(self, number: int, point: Point) -> None:
        """Give the point to an idle worker, or to a new one."""
        self._give(number, pack(point))

    def _give(self, number: int, point: bytes) -> None:
        while self._idle:
            worker = self._idle.pop()
            if worker.process.poll() is None and worker.give(number, point):
                self._busy.append(worker)
                return
            worker.end()  # it died with nothing to do
        worker = Worker(self._hello, self._environment)
        self._busy.append(worker)
        worker.give(number, point)  # if it is dead already, `wait` will see that

    def wait(self) -> list[tuple[int, Reply]]:
        """Replies and deaths; a trial whose worker never began is given to another."""
        if self._broken is not None:
            raise self._broken
        ready = wait([worker.pipe for worker in self._busy], self._patience())
        replies: list[tuple[int, Reply]] = []
        try:
            for worker in list(self._busy):
                if worker.pipe in ready or worker.process.poll() is not None:
                    replies += self._hear(worker)
        except WorkerError as error:  # told of when what has come in is told
            self.size, self._broken = 0, error
        self._end_those_overdue()
        return replies

    def _patience(self) -> float:
        """Seconds to wait for a message: until the next trial's time is up, at most `LOOK`."""
        due = min((worker.due for worker in self._busy), default=inf)
        return min(max(due - time.monotonic(), 0.0), LOOK)

    def _end_those_overdue(self) -> None:
        """Ask a worker whose time is up to end, and the next time end it: `_hear` sees it die."""
        now = time.monotonic()
        for worker in self._busy:
            if worker.due <= now:
                signal_group(
                    worker.process.pid, signal.SIGKILL if worker.overdue else signal.SIGTERM
                )
                worker.overdue, worker.due = True, now + GRACE

    def _hear(self, worker: "Worker") -> Iterator[tuple[int, Reply]]:
        try:
            number, message = worker.receive()
        except (EOFError, OSError):
            yield from self._bury(worker)
            return
        if isinstance(message, str):
            raise WorkerError(
                f"the function cannot be loaded in a worker process ({message}); its modules "
                "must be found there as they are here"
            )
        if number != worker.number:  # of a trial that is no longer this worker's
            return
        if message is None:
            worker.begun, self._stillborn = True, 0
            worker.due = inf if self._limit is None else time.monotonic() + self._limit
        elif worker.overdue:  # it caught the signal that was to end it, and answers late
            signal_group(worker.process.pid, signal.SIGKILL)
        else:
            self._busy.remove(worker)
            self._idle.append(worker)
            worker.due = inf
            yield number, message

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
            raise WorkerError(f"{STILLBORN} workers in a row died at their start, the last: {how}")
        self._give(worker.number, worker.point)

    def close(self) -> None:
        """End all: the idle ones leave, evaluations still running are ended."""
        deadline = time.monotonic() + GRACE
        for worker in self._idle:
            worker.pipe.close()
        end_groups([worker.process for worker in self._busy])
        for worker in self._busy:
            worker.pipe.close()
        for worker in self._idle:
            worker.end(max(deadline - time.monotonic(), 0.0))
        self._idle, self._busy = [], []


class Worker:
    """One process, its pipe, and the trial it has been given."""

    def __init__(self, hello: bytes, environment: dict[str, str]) -> None:
        self.pipe: Connection
        self.pipe, theirs = Pipe()
        self.number, self.point, self.begun = -1, b"", False
        self.due, self.overdue = inf, False
        path = [entry for entry in sys.path if isinstance(entry, str)]
        boot = BOOT.format(path=path, pipe=theirs.fileno())
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-c", boot],
                stdin=subprocess.DEVNULL,
                env=environment,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is the driver's; and what it starts ends with it
            )
        except OSError as error:
            self.pipe.close()
            raise WorkerError(f"a worker process cannot be started: {error}") from error
        finally:
            theirs.close()
        self._send(hello)

    def give(self, number: int, point: bytes) -> bool:
        """Hand over a trial; False where nobody is there to take it."""
        self.number, self.point, self.begun = number, point, False
        return self._send(pickle.dumps((number, point)))

    def _send(self, message: bytes) -> bool:
        try:
            self.pipe.send_bytes(message)
        except OSError:
            return False
        return True

    def receive(self) -> tuple[int, "Reply | str | None"]:
        """A trial's number, and None when it is begun, then its reply. Or why none can begin.

        Raises EOFError where it died and sent nothing.
        """
        if not self.pipe.poll():
            raise EOFError
        message: tuple[int, Reply | str | None] = pickle.loads(self.pipe.recv_bytes())
        return message

    def end(self, patience: float = LOOK) -> str:
        """Let it end by itself for a while, then end it; how it ended.

        What an evaluation has started ends with it, what an idle worker leaves is let be.
        """
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(patience)
        if self.process.returncode != 0:
            signal_group(self.process.pid, signal.SIGKILL)
        code = self.process.wait()
        self.pipe.close()
        return f"exit code {code}" if code >= 0 else f"signal {-code}"
