"""What a process of `processes.Processes` runs: it takes points and sends replies.

A thread listens, so that the end of the driver is noticed in the middle of an evaluation,
however the driver ended: the pipe closes. The function runs in the main thread, where a
function may expect to be.

Only this process answers. A child that the function forks loses the pipe as it is born, and
ends when it comes back from the function (see `WorkerFunction`). Every reply carries the number of
its trial, so that a value can never be filed under another point.
"""

import os
import pickle
import signal
import sys
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Thread

from .evaluation import Reply, WorkerFunction, in_words, load_function
from .groups import GRACE, signal_group


def main(descriptor: int) -> None:
    """Serve until the pipe closes."""
    os.set_inheritable(descriptor, False)  # what the function starts shall not hold it open
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
            time.sleep(GRACE)  # an idle worker leaves by itself
        signal_group(0, signal.SIGKILL)  # this process and what the function has started

    def send(number: int | None, what: Reply | str | None) -> None:
        pipe.send_bytes(pickle.dumps((number, what)))

    Thread(target=listen, daemon=True).start()
    with suppress(BrokenPipeError):
        if (hello := messages.get()) is None:
            return
        try:
            sys.argv, packed, threads = pickle.loads(hello)
            function = load_function(packed, threads)
        except Exception as error:
            send(None, in_words(error))
            return
        while (message := messages.get()) is not None:
            number, point = pickle.loads(message)
            busy = True
            send(number, None)  # from here on, if it dies, it is this trial's doing
            send(number, _answer(function, point))
            busy = False


def _answer(function: WorkerFunction, point: bytes) -> Reply:
    try:
        loaded = pickle.loads(point)
    except Exception as error:  # an option of a class that is not known here
        return Reply(None, error=error)
    return function(loaded)
