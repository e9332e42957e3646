"""Run a program for its value: the last number it prints, or a field of its last JSON line.

A program may print megabytes, or hang, or start other programs that do. So only the end of its
output is kept, and a program that runs too long is ended together with everything it started.
"""

import json
import os
import re
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from math import inf, isfinite
from typing import Any

from ..checks import brief
from ..errors import EvaluationError
from ..run.groups import GRACE, end_groups, new_mark
from ..run.threads import environment

KEPT_OUT = 1 << 16
KEPT_ERR = 1 << 11

NUMBER = re.compile(
    r"(?<![\w.])[-+]?(?>(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|nan|inf(?:inity)?)(?!\w|\.\d)", re.I
)


_running: "dict[subprocess.Popen[bytes], str]" = {}
"""The programs that are running, each with its mark."""


class Tail:
    """The end of a stream of bytes, and whether there was more."""

    def __init__(self, size: int) -> None:
        self._size, self._kept, self.cut = size, bytearray(), False

    def add(self, data: bytes) -> None:
        """Append data."""
        self._kept += data
        if len(self._kept) > self._size:
            self.cut = True
            del self._kept[: -self._size]

    @property
    def text(self) -> str:
        """The end as text, without the word at its beginning that may be incomplete."""
        text = self._kept.decode(errors="replace")
        return "".join(re.split(r"\s", text, maxsplit=1)[1:]) if self.cut else text


def value_of(
    argv: Sequence[str],
    cwd: str | None,
    timeout: float | None,
    key: str | None,
    threads: int | None = None,
    measured: Sequence[str] = (),
) -> float | tuple[float, dict[str, float]]:
    """Run a program and read its value from its output.

    `threads` limits its BLAS threads. If it has `measured` constraints, these are returned with the
    value, by name.
    """
    out, err, mark = Tail(KEPT_OUT), Tail(KEPT_ERR), new_mark()
    limits_of_blas = {} if threads is None else environment(threads)
    try:
        process = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env={**os.environ, **limits_of_blas, mark: "1"},
            start_new_session=True,
        )
    except OSError as error:
        raise EvaluationError(f"{argv[0]}: cannot be started: {error.strerror}") from None
    assert process.stdout is not None
    assert process.stderr is not None
    _running[process] = mark
    try:
        with process.stdout, process.stderr:
            tails = {process.stdout.fileno(): out, process.stderr.fileno(): err}
            in_time = _listen(process, tails, inf if timeout is None else timeout)
    finally:
        del _running[process]
        if process.poll() is None:
            end_groups([process], [mark])
    if not in_time:
        raise EvaluationError(_with_stderr(f"ended after the timeout of {timeout:g} s", err))
    code = process.returncode
    if code != 0:
        how = f"exit code {code}" if code > 0 else f"killed by {_signal_name(-code)}"
        raise EvaluationError(_with_stderr(how, err))
    try:
        if key is None:
            text, limits = labelled(out.text, measured)
            number = last_number(text)
        else:
            number = last_field(out.text, key)
            limits = {name: last_field(out.text, name) for name in measured}
    except EvaluationError as error:
        raise EvaluationError(_with_stderr(str(error), err)) from None
    if not isfinite(number):
        raise EvaluationError(_with_stderr(f"the value is {number}", err))
    return (number, limits) if measured else number


def _listen(process: "subprocess.Popen[bytes]", tails: dict[int, Tail], timeout: float) -> bool:
    """Read the output until the program itself ends; False if the time is up before that."""
    deadline = time.monotonic() + timeout
    with selectors.DefaultSelector() as selector:
        for descriptor in tails:
            os.set_blocking(descriptor, False)
            selector.register(descriptor, selectors.EVENT_READ)
        while True:
            ended = process.poll() is not None
            left = deadline - time.monotonic()
            if not ended and left <= 0:
                return False
            if not selector.get_map():  # the output is closed, but the program may still run
                with suppress(subprocess.TimeoutExpired):
                    process.wait(None if left == inf else max(left, 0.0))
                return process.poll() is not None
            ready = selector.select(0.0 if ended else min(left, 0.05))
            for key, _ in ready:
                data = os.read(key.fd, 1 << 16)
                tails[key.fd].add(data)
                if not data:
                    selector.unregister(key.fd)
            if ended and not ready:
                return True
            if ended:  # do not wait long for the output of processes that it left running
                deadline = min(deadline, time.monotonic() + GRACE)
                if left <= 0:
                    return True


def end_all() -> None:
    """End the programs that other threads are waiting for."""
    running = dict(_running)
    end_groups(running, running.values())


def last_number(text: str) -> float:
    """The last number in a text; nan and inf count as numbers, so that they are not skipped."""
    found = NUMBER.findall(text)
    if not found:
        raise EvaluationError(f"the command printed no number, only {brief(text[-200:])}")
    return float(found[-1])


def labelled(text: str, names: Sequence[str]) -> tuple[str, dict[str, float]]:
    """The last number printed after each name, as in ``stress: 0.3`` or ``stress = 0.3``.

    Returned with them is the rest of the text, so that none of them is taken for the value.
    """
    found: dict[str, float] = {}
    for name in names:
        label = re.compile(rf"(?<!\w){re.escape(name)}\s*[:=]\s*({NUMBER.pattern})", re.I)
        numbers = label.findall(text)
        if not numbers:
            raise EvaluationError(
                f"the constraint {name} was not printed; expected a line such as `{name}: 0.5`, "
                f"got {brief(text[-200:])}"
            )
        found[name] = float(numbers[-1])
        text = label.sub(" ", text)
    return text, found


def last_field(text: str, key: str) -> float:
    """The field `key` of the last line that is a JSON object."""
    for line in reversed(text.splitlines()):
        if not line.strip().startswith("{"):
            continue
        with suppress(json.JSONDecodeError):
            parsed: dict[str, Any] = json.loads(line)
            if key not in parsed:
                raise EvaluationError(f"the last JSON line has no {key!r}: {brief(line)}")
            value = parsed[key]
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise EvaluationError(f"{key!r} is {brief(value)}, not a number")
            return float(value)
    raise EvaluationError(f"the command printed no JSON line, only {brief(text[-200:])}")


def _with_stderr(reason: str, err: Tail) -> str:
    text = err.text.strip()
    return f"{reason}; standard error: {text}" if text else reason


def _signal_name(number: int) -> str:
    with suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"
