"""Run a program for its value, and read that from what it prints or writes to a file.

A program may print megabytes, or hang, or start other programs that do. So only the end of its
output is kept, and a program that runs too long is ended together with everything it started.
"""

import errno
import json
import os
import re
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from math import inf, isfinite, nan
from pathlib import Path
from typing import Any, NamedTuple

from ..base.checks import brief
from ..errors import BamsooError, EvaluationError, SettingsError, TryAgain
from ..record.residuals import Vector, as_vector
from .groups import GRACE, end_groups, new_mark
from .residuals import as_measurement, column_of, without
from .threads import environment

TRY_AGAIN = 75
"""The exit status of a program that could not do its work now, such as for want of a licence:
EX_TEMPFAIL of sysexits.h."""

PASSING = {
    *(errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM),  # too much at once
    *(errno.EDQUOT, errno.ENOSPC, errno.ESTALE, errno.ETXTBSY),  # a full disk, a server, a compiler
}
"""Errors of the system that may pass: an evaluation that meets one has not taken place."""

KEPT_OUT = 1 << 20
KEPT_LINE = 1 << 23  # a line may have all residuals or fields: some hundred thousand numbers
KEPT_ERR = 1 << 11

_MINUS = "\N{MINUS SIGN}"
_BETWEEN = r"\s()\[\]{}\"'`=;|<>"  # never part of a number
_INSIDE = rf"[^{_BETWEEN},:]"
_WORD = rf"[^{_BETWEEN},:\d]*[^\W\d]{_INSIDE}*|{_INSIDE}(?:{_INSIDE}|(?<=\d)[,:](?=\d))*"
"""Text with a letter before its first digit, or anything else, in which a comma or colon between
digits is not the end: 1,234.5 and 12:30 are one word each."""

_LIKE_A_NUMBER = re.compile(r"\W*\d|[-+]?(?:nan|inf(?:inity)?)\W*$", re.I)
_NUMBER = re.compile(
    r"[-+]?(?:nan|inf(?:inity)?|(?:\d+\.?\d*|\.\d+)(?:[edq][-+]?\d+)?)", re.I | re.A
)
_NO_LETTER = re.compile(r"([-+]?(?:\d+\.\d*|\.\d+))([-+]\d{3})", re.A)


_LABEL = re.compile(
    r"(?<![\w./-])((?:[^\W\d][\w./-]*+[ \t]{1,9}){0,4}[^\W\d][\w./-]*+(?:[ \t]?\[[^\]\n]{0,20}\])?)"
    r"[ \t]{0,20}[:=][ \t]{0,20}[-+.]?\d"
)
"""Up to five words, and perhaps a unit, before a number. A line of a million letters is read once,
not once from each of them."""

_CUT = "\x00"
"""Marks the place in a line behind which the text belongs to a label."""

_running: "dict[subprocess.Popen[bytes], tuple[str, str]]" = {}
"""The programs that are running, each with its mark and its run."""

_ended: set[str] = set()
"""Runs that are over, so that a thread which is late starts no program for one of them."""


class Tail:
    """The end of a stream of bytes, and the earlier lines with one of some names in them.

    Parameters
    ----------
    size : int
        The number of bytes of the end that are kept, and of the earlier lines as well.
    names : sequence of str
    """

    def __init__(self, size: int, names: Iterable[str] = ()) -> None:
        self._size, self._names = size, [name.encode() for name in names]
        self._kept, self._earlier = bytearray(), bytearray()
        self.cut = False
        """Whether the end may begin within a word."""

    def add(self, data: bytes) -> None:
        """Append data."""
        self._kept += data
        over = len(self._kept) - self._size
        if self._names and over > 0 and (at := self._kept.rfind(b"\n", 0, over) + 1):
            self._note(bytes(self._kept[:at]))
            del self._kept[:at]
            self.cut = False
        if len(self._kept) > (2 if self._names else 1) * self._size:
            self.cut = True
            del self._kept[: -self._size]

    def _note(self, lines: bytes) -> None:
        """Keep those of the lines that have one of the names."""
        if not any(name in lines for name in self._names):
            return
        for line in lines.splitlines(keepends=True):
            if len(line) <= self._size and any(name in line for name in self._names):
                self._earlier += line
        over = len(self._earlier) - self._size
        if over > 0:
            del self._earlier[: self._earlier.find(b"\n", over - 1) + 1]

    @property
    def text(self) -> str:
        """What is kept as text, without a word at the beginning of the end that is incomplete."""
        text = self._earlier.decode(errors="replace") + self._end
        return text.replace("\x00", " ")  # of a text that a program has printed with its buffer

    @property
    def _end(self) -> str:
        text = self._kept.decode(errors="replace")
        return "".join(re.split(r"\s", text, maxsplit=1)[1:]) if self.cut else text


class Program(NamedTuple):
    """How a program is run, and what is read from its output."""

    cwd: str | None = None
    timeout: float | None = None
    key: str | None = None
    """The field of its last JSON line that is the value; None: the last number it prints."""
    threads: int | None = None
    """Limits its BLAS threads, for several programs that run at once."""
    measured: Sequence[str] = ()
    """The constraints that it prints in addition to its value."""
    record: Sequence[str] = ()
    """Other labels that are kept, as far as they are printed."""
    objectives: Sequence[str] = ()
    """The numbers that it prints if its value has a name."""
    stepwise: bool = False
    """Whether it prints a value after each step."""
    output: str | None = None
    """The file that it writes its results to; None: its standard output."""
    environment: Mapping[str, str] = {}
    """Variables of its environment in addition to those of this process."""
    residuals: str | None = None
    """In a fit, the label or the field of the numbers that take the place of a value, or the column
    that has them, as ``FILE:COLUMN``."""
    data: Sequence[float | None] | None = None
    """The measurements that are subtracted from them; None in it is missing data."""
    run: str = ""
    """Identifies the run that it belongs to; see `end_all`."""

    @property
    def kept(self) -> int:
        """The number of bytes of its output that are kept."""
        return KEPT_OUT if self.residuals is None and self.key is None else KEPT_LINE

    @property
    def sought(self) -> list[str]:
        """The labels that are searched in all of its output, if its value has one."""
        return [*self.objectives, *self.measured, *self.record] if self.objectives else []

    @property
    def written(self) -> list[Path]:
        """The files that it writes its results to."""
        table = (self.residuals or "").rpartition(":")[0]
        return [Path(self.cwd or ".") / file for file in (self.output, table) if file]


class Reading(NamedTuple):
    """What was read from the output of a program."""

    value: Any
    """A number, or with named objectives a dict of them."""
    beside: dict[str, Any]
    """The measured constraints and what is to be recorded, by name."""
    said: str
    """What the value is and where it was found, in words."""
    missing: list[str]
    """What was to be recorded and was not there."""
    labels: list[str]
    """The labels, or the fields, that were there, if something is missing."""


class StartError(EvaluationError):
    """A program cannot be started."""


class MissingError(EvaluationError):
    """The output of a program has no such label."""

    def __init__(self, message: str, labels: Sequence[str] | None, got: str = "") -> None:
        super().__init__(f"{message}{got}")
        self.message, self.labels, self.got = message, labels, got


def _check_written(before: Mapping[Path, Any], how: Program) -> None:
    """Raise an error if a file that the program writes is as it was before."""
    for file, state in before.items():
        if state is not None and _state(file) == state:
            name = file.relative_to(how.cwd or ".")
            raise EvaluationError(f"the program did not write {name}, which was there")


def value_of(
    argv: Sequence[str], how: Program, hear: Callable[[Reading], None] | None = None
) -> Any:
    """Run a program and read its value from its output.

    If there are measured constraints or recorded labels, they are returned with the value, by name.
    With named objectives, the value is a dict of the numbers that were printed after their names.
    """
    out, err = Tail(how.kept, how.sought), Tail(KEPT_ERR)
    before = {file: _state(file) for file in how.written}
    with _started(argv, how, err) as process:
        for is_value, data in _output(process, how.timeout):
            (out if is_value else err).add(data)
    try:
        _check_written(before, how)
        found = reading(out.text if how.output is None else _written(how), how)
    except MissingError as error:
        raise MissingError(error.message, error.labels, _with_stderr(error.got, err)) from None
    except EvaluationError as error:
        raise EvaluationError(_with_stderr(str(error), err)) from None
    numbers = found.value.values() if how.objectives else [] if how.residuals else [found.value]
    for number in numbers:
        if not isfinite(number):
            raise EvaluationError(_with_stderr(f"the value is {number}", err))
    if hear is not None:
        hear(found)
    return (found.value, found.beside) if how.measured or how.record else found.value


def _state(file: Path) -> tuple[int, int, int] | None:
    """Identifies the contents of a file, as long as nobody writes it."""
    with suppress(OSError):
        state = file.stat()
        return state.st_ino, state.st_mtime_ns, state.st_size
    return None


def _written(how: Program) -> str:
    """The file of results, or of a long one as much as of a long output."""
    assert how.output is not None
    file = Path(how.cwd or ".") / how.output
    try:
        with file.open("rb") as opened:
            if how.output.endswith(".json"):
                return opened.read().decode(errors="replace")
            tail = Tail(how.kept, how.sought)
            if not how.sought:
                opened.seek(max(file.stat().st_size - 2 * how.kept, 0))
            while data := opened.read(KEPT_OUT):
                tail.add(data)
    except OSError as error:
        raise EvaluationError(f"the program did not write {how.output}: {error.strerror}") from None
    return tail.text


def reading(text: str, how: Program) -> Reading:
    """What a program printed, or wrote to its file of results."""
    fields = _fields(text, how)
    where = "" if how.output is None else f" of {how.output}"
    if fields is not None:
        names = [*how.objectives, *how.measured]
        if how.key is None:
            value: Any = {name: field_of(fields, name) for name in how.objectives}
            said = f"{_in_words(value)} read from the fields{where}"
        else:
            value = field_of(fields, how.key)
            said = f"value {value:.8g} read from the field {how.key!r} of the last JSON line{where}"
        limits = {name: field_of(fields, name) for name in names if name not in how.objectives}
        extras = {name: _flat(fields[name]) for name in how.record if name in fields}
        labels: list[str] | None = list(fields)
    else:
        rest, limits = labelled(text, how.objectives, how.measured)
        rest, extras = recorded(rest, how.record)
        value = {name: limits.pop(name) for name in how.objectives}
        said = "; ".join(
            f'{name} {number:.8g} read from the line "{_line_of(name, text)}"{where}'
            for name, number in value.items()
        )
        labels = None
        if how.residuals is None and not value:
            word, line = last_word(rest)
            value = number_in(word, line)
            said = f'value {value:.8g} read from the last line{where} "{_short(line)}"'
    if how.residuals is not None:
        value = _residuals(text, fields, how)
        said = f"{len(value)} residuals read as {how.residuals}{where}"
        said += "" if how.data is None else ", minus the measurements"
    if limits:
        said += f"; {_in_words(limits)}"
    missing = [name for name in how.record if name not in extras]
    if labels is None:
        labels = labels_in(text) if missing else []
    return Reading(value, {**extras, **limits}, said, missing, labels)


def _fields(text: str, how: Program) -> dict[str, Any] | None:
    """The fields in which a program has its numbers; None if it prints them behind labels."""
    if how.key is not None or (how.output or "").endswith(".json"):
        return last_object(text, how.output)
    if how.residuals is not None:
        with suppress(EvaluationError):
            fields = last_object(text)
            if fields.keys() & {how.residuals, *how.measured, *how.record}:
                return fields
    return None


def _residuals(text: str, fields: Mapping[str, Any] | None, how: Program) -> Vector:
    """The residuals that a program printed or wrote, without the measurements."""
    name = how.residuals or ""
    file, colon, column = name.rpartition(":")
    if fields is not None and isinstance(fields.get(name), list):
        found = as_vector([nan if each is None else each for each in fields[name]])
    elif colon:
        found = Vector(_column(Path(how.cwd or ".") / file, column))
    else:
        found = Vector(_behind(text, name))
    return found if how.data is None else without(found, how.data)


def _column(path: Path, column: str) -> list[float]:
    """The numbers in a column of a table, which a program wrote."""
    if not path.exists():
        raise EvaluationError(f"the program did not write {path.name}: No such file or directory")
    try:
        return column_of(path, column)
    except SettingsError as error:
        raise MissingError(str(error), None) from None


def _behind(text: str, name: str) -> list[float]:
    """All numbers in the last line that begins with a label."""
    for line in reversed(text.replace(_MINUS, "-").splitlines()):
        found = re.match(rf"\s*{re.escape(name)}\s*[:=]\s*(.*)$", line)
        if found:
            words, shown = re.split(r"[\s,;]+", found[1].strip("[]() \t")), _short(line)
            return [as_measurement(word, shown) for word in words if word]
    raise MissingError(
        f"the residuals {name} were not printed; expected a line such as `{name}: 0.1 -0.2`",
        labels_in(text),
        f", got {brief(text[-200:])}",
    )


def _in_words(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.8g}" for name, value in values.items())


def _line_of(name: str, text: str) -> str:
    """The last line of a text in which a label has a number."""
    lines = text.replace(_MINUS, "-").splitlines()
    found = (line for line in reversed(lines) if name in line and _printed([line], name)[1])
    return _short(next(found))


def _short(line: str) -> str:
    line = " ".join(line.split())
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…"


LONGEST_LINE = 100
"""Characters shown of a line of output."""

MOST_LABELS = 20
"""How many labels a message lists at most."""


def labels_in(text: str) -> list[str]:
    """What looks like a label of a number in a text, each once."""
    found = _LABEL.findall(text.replace(_MINUS, "-"))
    return list(dict.fromkeys(found))[:MOST_LABELS]


def steps_of(
    argv: Sequence[str], how: Program, hear: Callable[[Reading], None] | None = None
) -> Iterator[Any]:
    """Run a program, and yield its value after each line of output that has one.

    A line has a value if it has a number, of which the last one counts, or if it is a JSON object
    with the field `key`, which may also have those that are measured or recorded. The value of an
    objective with a name is printed after that name; with several, a step ends with the line after
    which each has been printed since the step before. A program that is not to go on is ended,
    first by SIGTERM and then by SIGKILL.
    """
    out, err = Tail(KEPT_OUT), Tail(KEPT_ERR)  # `out` until the first value
    begun: dict[str, float] = {}
    waiting = True
    with _started(argv, how, err) as process:
        for line in _lines(process, how, err):
            if waiting:
                out.add(line + b"\n")
            for value in _in_lines([line], how, begun):
                if waiting and hear is not None:
                    hear(_first_step(value, out.text, how))
                waiting = False
                yield value
    if waiting:
        reading(out.text, how)  # raises the error that says what is missing


def _first_step(value: Any, text: str, how: Program) -> Reading:
    """What was read as the first step from a text that ends with it."""
    found = reading(text, how)
    if not how.objectives and how.key is None:
        _, line = last_word(text)
        found = found._replace(said=f'value {value:.8g} read from the line "{_short(line)}"')
    return found


def _lines(process: "subprocess.Popen[bytes]", how: Program, err: Tail) -> Iterator[bytes]:
    """The lines that a program prints, as they come."""
    rest = b""
    for is_value, data in _output(process, how.timeout):
        if not is_value:
            err.add(data)
            continue
        *lines, rest = (rest + data).split(b"\n")
        yield from lines
        rest = rest[-KEPT_OUT:]
    if rest:
        yield rest


@contextmanager
def _started(argv: Sequence[str], how: Program, err: Tail) -> "Iterator[subprocess.Popen[bytes]]":
    """A program in a group of its own, which is ended with the block if it has not ended before.

    Raises an error if the program took too long, or did not end normally.
    """
    mark, limits_of_blas = new_mark(), {} if how.threads is None else environment(how.threads)
    try:
        process = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=how.cwd,
            env={**os.environ, **limits_of_blas, **how.environment, mark: "1"},
            start_new_session=True,
        )
    except OSError as error:
        raise _not_started(argv[0], error, how) from None
    _running[process] = mark, how.run
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        with process.stdout, process.stderr:
            if how.run in _ended:
                raise EvaluationError("the run is over")
            yield process
    finally:
        del _running[process]
        in_time = process.poll() is not None
        if not in_time:
            end_groups([process], [mark])
    if not in_time:
        raise EvaluationError(_with_stderr(f"ended after the timeout of {how.timeout:g} s", err))
    code = process.returncode
    if code == TRY_AGAIN:
        raise TryAgain(_with_stderr(f"exit code {code}", err))
    if code != 0:
        how_it_ended = f"exit code {code}" if code > 0 else f"killed by {_signal_name(-code)}"
        raise EvaluationError(_with_stderr(how_it_ended, err))


def _not_started(program: str, error: OSError, how: Program) -> BamsooError:
    if error.filename == how.cwd:
        return StartError(f"{how.cwd}: cannot run anything there: {error.strerror}")
    said = f"{program}: cannot be started: {error.strerror}"
    if error.errno in PASSING:
        return TryAgain(said)
    if error.errno == errno.ENOEXEC:
        said += "; a script needs a first line such as #!/bin/sh"
    if error.errno == errno.ENOENT and Path(how.cwd or ".", program).exists():
        said += "; its first line names a program that does not exist"
    return StartError(said)


def _output(
    process: "subprocess.Popen[bytes]", timeout: float | None
) -> Iterator[tuple[bool, bytes]]:
    """What a program writes until it ends or the time is up, and whether to its standard output."""
    assert process.stdout is not None
    assert process.stderr is not None
    deadline = inf if timeout is None else time.monotonic() + timeout
    out = process.stdout.fileno()
    with selectors.DefaultSelector() as selector:
        for descriptor in (out, process.stderr.fileno()):
            os.set_blocking(descriptor, False)
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map():
            ended, left = process.poll() is not None, deadline - time.monotonic()
            if left <= 0:
                return
            ready = selector.select(0.0 if ended else min(left, 0.05))
            for key, _ in ready:
                data = os.read(key.fd, 1 << 16)
                if not data:
                    selector.unregister(key.fd)
                yield key.fd == out, data
            if ended:  # do not wait long for the output of processes that it left running
                deadline = min(deadline, time.monotonic() + GRACE) if ready else -inf
    left = deadline - time.monotonic()  # the output is closed, but the program may still run
    with suppress(subprocess.TimeoutExpired):
        process.wait(None if left == inf else max(left, 0.0))


def _in_lines(lines: Iterable[bytes], how: Program, begun: dict[str, float]) -> Iterator[Any]:
    """The value in each line of output that has one, with what comes beside it.

    `begun` has the objectives of the present step that were printed in earlier lines.
    """
    key, beside = how.key, (*how.measured, *how.record)
    for line in (each.decode(errors="replace") for each in lines):
        if how.objectives:
            for name in how.objectives:
                _, printed = _printed([line.replace(_MINUS, "-")], name)
                if printed:
                    begun[name] = number_in(*printed[-1])
            if len(begun) == len(how.objectives):
                yield dict(begun) if len(begun) > 1 else begun[how.objectives[0]]
                begun.clear()
            continue
        if key is None:
            words = re.findall(_WORD, line.replace(_MINUS, "-"))
            if any(map(_LIKE_A_NUMBER.match, words)):
                yield last_number(line)
            continue
        with suppress(ValueError, RecursionError):
            fields = json.loads(line)
            if isinstance(fields, dict) and key in fields:
                found = {name: _flat(fields[name]) for name in beside if name in fields}
                yield (last_field(line, key), found) if beside else last_field(line, key)


def end_all(run: str | None = None) -> None:
    """End the programs that other threads are waiting for, perhaps those of one run only."""
    if run is not None:
        _ended.add(run)
    running = {
        process: mark for process, (mark, its) in _running.copy().items() if run in (None, its)
    }
    end_groups(running, running.values())


def last_number(text: str) -> float:
    """The last number in a text; nan and inf count as numbers, so that they are not skipped."""
    return number_in(*last_word(text))


def last_word(text: str) -> tuple[str, str]:
    """The last word of a text that begins like a number, and its line."""
    for line in reversed(text.replace(_MINUS, "-").splitlines()):
        words = [word for word in re.findall(_WORD, line) if _LIKE_A_NUMBER.match(word)]
        if words:
            return words[-1], line
    if not text.strip():
        raise EvaluationError("the command printed nothing")
    raise EvaluationError(f"the command printed no number, only {brief(text[-200:])}")


def number_in(word: str, line: str) -> float:
    """A word of a line as a number.

    Fortran writes the exponent after a D or Q, or without a letter if it has three digits. Whatever
    else begins like a number is an error, because any guess could be another number.
    """
    plain = word.rstrip(".!?")
    plain = _NO_LETTER.sub(r"\1e\2", plain) if _NO_LETTER.fullmatch(plain) else plain
    if not _NUMBER.fullmatch(plain):
        raise EvaluationError(
            f"{brief(word)} in the line {brief(line.strip())} is not a number; print a plain one, "
            "such as -1.5e-3, after everything else that has digits"
        )
    return float(re.sub("[dq]", "e", plain.lower()))


def labelled(
    text: str, objectives: Sequence[str], measured: Sequence[str]
) -> tuple[str, dict[str, float]]:
    """The last number printed after each name, as in ``stress: 0.3`` or ``stress = 0.3``.

    The names are those of objectives and of measured constraints. Returned with them is the rest of
    the text, so that none of them is taken for the value. A name that is only the end of another
    label, as in ``max-stress: 5`` or ``max stress: 5``, does not count.
    """
    found: dict[str, float] = {}
    lines = text.replace(_MINUS, "-").splitlines(keepends=True)
    names = [*objectives, *measured]
    for name in sorted(names, key=len, reverse=True):  # one name may be the end of another
        lines, printed = _printed(lines, name)
        if not printed:
            what = "objective" if name in objectives else "constraint"
            if word := _word_after(lines, name):
                raise EvaluationError(
                    f"the {what} {name} was not printed as a number, only as {brief(word)}"
                )
            raise MissingError(
                f"the {what} {name} was not printed; expected a line such as `{name}: 0.5`",
                labels_in(text),
                f", got {brief(text[-200:])}",
            )
        found[name] = number_in(*printed[-1])
    return "".join(lines), found


def _printed(lines: Sequence[str], name: str) -> tuple[list[str], list[tuple[str, str]]]:
    """The lines without what is printed after a name, and each such number with its line."""
    printed: list[tuple[str, str]] = []

    def take(match: re.Match[str]) -> str:
        before, word = match.groups()
        if before or not _LIKE_A_NUMBER.match(word):
            return match[0]
        printed.append((word, match.string))
        return ";"

    label = _label(name, _WORD)
    return [label.sub(take, line) if name in line else line for line in lines], printed


def _word_after(lines: Sequence[str], name: str) -> str:
    """What was printed last after a name, such as the stars of Fortran, or nothing."""
    label = _label(name, r"\S+")
    matches = (match for line in lines if name in line for match in label.finditer(line))
    found = [word for before, word in (match.groups() for match in matches) if not before]
    return found[-1] if found else ""


def recorded(text: str, names: Sequence[str]) -> tuple[str, dict[str, float | str]]:
    """What was printed last after each name, as far as it was: a number, or the rest of the line.

    Returned with them is the rest of the text, so that none of them is taken for the value.
    """
    found: dict[str, float | str] = {}
    lines = text.replace(_MINUS, "-").splitlines(keepends=True)
    for name in sorted(names, key=len, reverse=True):  # one name may be the end of another
        label = _label(name, rf"{_WORD}|$")

        def take(match: re.Match[str], name: str = name) -> str:
            before, word = match.groups()
            if before:
                return match[0]
            rest = match.string[match.start(2) :]
            if _LIKE_A_NUMBER.match(word) and _NUMBER.fullmatch(word):
                found[name] = float(re.sub("[dq]", "e", word.lower()))
                return ";"
            found[name] = rest.strip()
            return _CUT

        for i, line in enumerate(lines):
            if name in line:
                lines[i] = label.sub(take, line).partition(_CUT)[0]
    return "".join(lines), found


def _flat(field: Any) -> Any:
    """A field of a JSON object, with a list or an object as text."""
    return json.dumps(field) if isinstance(field, (list, dict)) else field


def _label(name: str, value: str) -> "re.Pattern[str]":
    """A name, which is not the end of another one, followed by : or = and a value."""
    return re.compile(
        rf"(?:(?<!\S)([^\W\d][\w./-]*\s+)|(?<![^\s,;|(\[{{<>])){re.escape(name)}"
        rf"\s*[:=]\s*({value})"
    )


def last_field(text: str, key: str) -> float:
    """The number in the field `key` of the last line that is a JSON object."""
    return field_of(last_object(text), key)


def field_of(parsed: Mapping[str, Any], key: str) -> float:
    """The number in the field `key` of a JSON object."""
    if key not in parsed:
        raise MissingError(
            f"the last JSON line has no {key!r}: {brief(json.dumps(parsed))}", list(parsed)
        )
    value = parsed[key]
    if not isinstance(value, float):
        raise EvaluationError(f"{key!r} is {brief(value)}, not a number")
    return value


def last_object(text: str, file: str | None = None) -> dict[str, Any]:
    """The last line that is a JSON object, in what a program printed or wrote to a file."""
    for line in [*text.splitlines(), text][::-1]:  # all of it, in a file, or a single line
        if line.strip().startswith("{"):
            with suppress(json.JSONDecodeError):
                parsed: Any = json.loads(line, parse_int=float)  # of any length
                if isinstance(parsed, dict):
                    return parsed
    where = "the command printed no JSON line" if file is None else f"{file} has no JSON object"
    raise EvaluationError(f"{where}{_only(text)}")


def _only(text: str) -> str:
    return f", only {brief(text[-200:])}" if text.strip() else "; it is empty"


def _with_stderr(reason: str, err: Tail) -> str:
    text = err.text.strip()
    return f"{reason}; standard error: {text}" if text else reason


def _signal_name(number: int) -> str:
    with suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"
