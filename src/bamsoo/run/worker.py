"""What a process of `processes.Processes` runs: it takes points and sends replies.

A thread listens, so that the end of the driver is noticed in the middle of an evaluation,
however the driver ended: the pipe closes. The function runs in the main thread, where a
function may expect to be.
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

from .evaluation import in_words, load_function
from .groups import GRACE, signal_group


def main(descriptor: int) -> None:
    """Serve until the pipe closes."""
    os.set_inheritable(descriptor, False)  # what the function starts shall not hold it open
    pipe = Connection(descriptor)
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

    Thread(target=listen, daemon=True).start()
    with suppress(BrokenPipeError):
        if (hello := messages.get()) is None:
            return
        try:
            sys.argv, packed, threads = pickle.loads(hello)
            function = load_function(packed, threads)
        except Exception as error:
            pipe.send_bytes(pickle.dumps(in_words(error)))
            return
        begun = pickle.dumps(None)  # from here on, if it dies, it is this trial's doing
        while (message := messages.get()) is not None:
            busy = True
            pipe.send_bytes(begun)
            pipe.send_bytes(pickle.dumps(function(pickle.loads(message))))
            busy = False
