"""The program of a worker process of `processes.Processes`: it receives points and sends replies.

A thread listens to the pipe, which closes when the driver ends, however it ends. So the end of the
driver is noticed even in the middle of an evaluation. The function runs in the main thread, as many
functions expect.

Only this process replies. A child that the function forks closes its copy of the pipe at once, and
ends when it returns from the function (see `WorkerFunction`). Every reply carries the number of its
trial, so that a value can never be recorded for another point.
"""

import os
import pickle
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Thread

from .evaluation import STOPPED, Reply, StepValue, WorkerFunction, in_words, load_function
from .groups import GRACE, kill_marked, signal_group
from .threads import limit_process


def main(descriptor: int, mark: str) -> None:
    """Evaluate points until the pipe closes. What the function starts has `mark`."""
    os.set_inheritable(descriptor, False)  # programs started by the function must not hold it open
    pipe = Connection(descriptor)
    os.register_at_fork(after_in_child=pipe.close)
    messages: SimpleQueue[bytes | None] = SimpleQueue()
    busy = False

    def listen() -> None:
        with suppress(EOFError, OSError):
            while True:
                messages.put(pipe.recv_bytes())
        messages.put(None)
        if not busy:
            time.sleep(GRACE)  # an idle worker ends by itself meanwhile
        kill_marked(mark)
        signal_group(0, signal.SIGKILL)  # this process and everything the function has started

    def send(number: int | None, what: Reply | StepValue | str | None) -> None:
        pipe.send_bytes(pickle.dumps((number, what)))

    def goes_on(number: int, step: StepValue) -> bool:
        nonlocal busy
        send(number, step)
        answer = messages.get()
        busy = answer is not None and pickle.loads(answer) == (number, True)
        return busy  # an evaluation that is stopped has a moment to close

    Thread(target=listen, daemon=True).start()
    with suppress(BrokenPipeError):
        if (hello := messages.get()) is None:
            return
        sys.argv, initializer, packed, threads, steps = pickle.loads(hello)
        limit_process(threads)
        try:
            if initializer is not None:
                pickle.loads(initializer)()
        except Exception as error:
            send(None, f"initializer failed in a worker process ({in_words(error)})")
            return
        try:
            function = load_function(packed, threads, steps)
        except Exception as error:
            send(
                None,
                f"the function cannot be loaded in a worker process ({in_words(error)}); make "
                "sure that its modules can be imported there",
            )
            return
        while (message := messages.get()) is not None:
            number, point = pickle.loads(message)
            busy = True
            send(number, None)  # tells the driver that a death from now on is due to this trial
            reply = _answer(function, point, partial(goes_on, number), number)
            if reply.why != STOPPED:  # else the driver has ended the trial
                send(number, reply)
            busy = False


def _answer(
    function: WorkerFunction, point: bytes, report: Callable[[StepValue], bool], number: int
) -> Reply:
    try:
        loaded = pickle.loads(point)
    except Exception as error:  # for example, an option whose class cannot be imported here
        return Reply(None, error=error)
    return function(loaded, report, number)
