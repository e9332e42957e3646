"""A program as a function: its arguments and input files are filled in, and its output is read."""

import copy
import logging
import os
import platform
import re
import shutil
import stat
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import chain, count
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple
from uuid import uuid4

from ..base.checks import brief, is_finite
from ..errors import EvaluationError, SettingsError, TryAgain
from ..record.residuals import Vector, as_vector
from ..space.limit import limits_of
from .evaluation import FirstError, Reply, as_reply, separated, trial_number
from .program import (
    PASSING,
    MissingError,
    Program,
    Reading,
    StartError,
    end_all,
    steps_of,
    value_of,
)

_WORD = re.compile(r"\{\{\w+\}\}|\{(\w+)(?::[^{}]*)?\}")
"""What may be meant as a parameter in a command."""

WORKDIR = "runs"
"""Where the directories of trials are made if there are templates and no `workdir`."""

MARK = ".bamsoo"
"""A file in the directory of a trial, which says whose it is: the path of a study, a run without a
study (`_RUN`), or that such a run is over. Without it, another study with the same `workdir`, such
as a fork, would take the directory for its own and replace it."""

_OVER = "over"
"""The mark that a run without a study leaves. An empty file is one that is just being written."""

_RUN = re.compile(r"run \w+ of process (\d+) on (.*)")
"""The mark of a run without a study."""

EXTRA = "workdir"
"""The name under which the directory of a trial is recorded."""

KEEP = ("all", "failed", "best", "none")
"""What `keep` may name. By default, directories of failed trials and of the best one are kept."""

KEPT = "failed,best"
"""What is kept by default."""

ATTEMPTS = 100
"""How often a directory is made before it is an error that the one around it is gone. Once is
enough unless another run ends at that very moment; only a path that cannot be made needs all."""

_calls = count()

log = logging.getLogger("bamsoo")


class UnusedError(SettingsError):
    """A command does not use a parameter."""

    def __init__(self, name: str, where: str, hint: str) -> None:
        super().__init__(
            f"the command does not use the parameter {name}; write {{{name}}} where its value goes"
            f"{where}{hint}"
        )
        self.name = name


@lru_cache(maxsize=8)
def placeholder(names: frozenset[str], in_command: bool = False) -> re.Pattern[str]:
    """A parameter in braces, perhaps with a format; every other brace is text.

    In a command, it may also be text with two braces on each side, which is passed with one.
    """
    ways = "|".join(map(re.escape, sorted(names, key=len, reverse=True))) or "(?!)"
    found = rf"\{{({ways})(?::([^{{}}]*))?\}}"
    return re.compile(rf"\{{\{{(?:{ways}|\w+)\}}\}}|{found}" if in_command else found)


class Template(NamedTuple):
    """A text file with parameters in braces, and the name that it gets when it is filled in."""

    name: str
    text: str
    mode: int
    """Its permissions: a filled-in script can be run if the template can."""

    @classmethod
    def read(cls, given: str, directory: Path) -> "Template":
        """From FILE or FILE:NAME."""
        file, _, name = given.rpartition(":") if ":" in given else (given, "", "")
        try:
            text = (directory / file).read_bytes().decode(errors="surrogateescape")
            mode = (directory / file).stat().st_mode & 0o777
        except OSError as error:
            raise SettingsError(
                f"template {given}: {directory / file} cannot be read: {error.strerror}"
            ) from None
        name = name or Path(file).name
        if Path(name).name != name or name in ("..", MARK):
            raise SettingsError(f"template {given}: NAME must be the plain name of a file")
        return cls(name, text, mode)

    def mentions(self, names: Iterable[str]) -> set[str]:
        """Those of the names that are in braces."""
        return {found[1] for found in placeholder(frozenset(names)).finditer(self.text)}


def _check_words(argv: Sequence[str]) -> None:
    """Raise an error unless this can be a program and its arguments."""
    if isinstance(argv, (str, bytes)) or not all(isinstance(word, str) for word in argv):
        raise SettingsError(
            f"a command must be a list of words, such as ['./sim', '{{x}}'], got {brief(argv)}"
        )
    if not argv or not argv[0]:
        raise SettingsError("a command must begin with a word, the program")


def _texts(name: str, given: Any) -> tuple[str, ...]:
    """A setting that is a text or several."""
    try:
        several = (given,) if isinstance(given, (str, os.PathLike)) else tuple(given)
        texts = tuple(os.fspath(each) for each in several)
    except TypeError:
        texts = (b"",)
    if not all(isinstance(text, str) for text in texts):
        raise SettingsError(f"{name} must be a text, or a list of them, got {brief(given)}")
    return texts


class Command:
    """A program that is called like a function, for `minimize` and the command ``bamsoo``.

    Parameters
    ----------
    argv : sequence of str
        The program and its arguments. ``{name}`` stands for a parameter, ``{name:12.5e}`` for one
        in this format, and ``{{name}}`` for the text ``{name}``.
    template : str or list of str
        Files in which the same is done with known parameters; every other brace is left as it is.
        Each is written into the directory of the trial, under its own name, or another one if it is
        given as ``FILE:NAME``.
    workdir : path, optional
        A directory in which each trial gets one of its own to run in, called by its number, or
        ``3-2`` if ``3`` belongs to another study or run. By default it is ``runs`` if there are
        templates; without templates, the program runs in the current directory.
    files : list of path
        Other files and directories that the program needs there; they are linked.
    keep : str, default "failed,best"
        Which of these directories are kept: "all", "failed", "best" or "none", or two of these.
        Their paths are recorded with the trials, as ``workdir``. If it is a function of yours that
        calls the command, all of them are kept.
    output : str, optional
        The file that the program writes its results to, relative to where it runs; by default they
        are read from its standard output.
    value : str, optional
        The field of the last line that is a JSON object, or of ``output`` if that is called
        ``.json``, which is the value. By default, it is the last number that is printed.
    residuals : str, optional
        For a fit, where the numbers are that take the place of a value: the label of a line with
        all of them, the field of the last JSON object that is a list of them, or ``FILE:COLUMN``
        for a column of a table that the program writes.
    data : sequence of float, optional
        Measurements, which are subtracted from these numbers; nan is missing data.
    objectives, measured, record : str or sequence of str
        Labels of what is printed as ``NAME: NUMBER`` or ``NAME = NUMBER``: the objectives, the
        measured constraints (with or without their limits), and what else to record with the trial.
    timeout : float, optional
        The number of seconds after which the program is ended, and the trial fails.
    steps : bool, default False
        Whether it prints a value after each step, for a search with ``steps``.
    directory : path, optional
        Where relative paths begin; by default, the current directory.

    Notes
    -----
    The program finds the number of its trial in the environment variable ``BAMSOO_TRIAL``, the
    study in ``BAMSOO_STUDY`` (empty without one), and its directory in ``BAMSOO_WORKDIR``.

    Examples
    --------
    >>> import bamsoo
    >>> square = bamsoo.Command(["sh", "-c", "echo cost: $(({n} * {n}))"], objectives=["cost"])
    >>> r = bamsoo.minimize(square, {"n": bamsoo.Int(-5, 9)}, 12, objectives=["cost"])
    >>> r.params
    {'n': 0}
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        template: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
        workdir: str | os.PathLike[str] | None = None,
        files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
        keep: str = KEPT,
        output: str | None = None,
        value: str | None = None,
        residuals: str | None = None,
        data: Iterable[float] | None = None,
        objectives: str | Iterable[str] = (),
        measured: str | Iterable[str] = (),
        record: str | Iterable[str] = (),
        timeout: float | None = None,
        steps: bool = False,
        directory: str | os.PathLike[str] | None = None,
    ) -> None:
        _check_words(argv)
        if timeout is not None and not (is_finite(timeout) and timeout > 0):
            raise SettingsError(f"timeout must be a positive number, got {brief(timeout)}")
        single = {"workdir": workdir, "output": output, "value": value, "residuals": residuals}
        for name, text in single.items():
            if text is not None and _texts(name, text) == ("",):
                raise SettingsError(f"{name} must not be empty")
        objectives, record = _texts("objectives", objectives), _texts("record", record)
        limits = [each for text in _texts("measured", measured) for each in limits_of(text, ())]
        if value is not None and objectives:
            raise SettingsError(
                "value (--value) names the field of a single value, and objectives (--objective) "
                "are printed as `NAME: NUMBER`; give one of the two"
            )
        if steps and output is not None:
            raise SettingsError(
                "with steps (--steps), values are read as they are printed; leave out output "
                "(--output)"
            )
        self.argv, self.directory = list(argv), Path(directory or Path.cwd()).absolute()
        if not self.directory.is_dir():
            raise SettingsError(
                f"{self.directory}: the directory in which the command runs does not exist"
            )
        given = _texts("template", template)
        self.templates = [Template.read(each, self.directory) for each in given]
        place = WORKDIR if workdir is None and self.templates else workdir
        self.workdir = None if place is None else self.directory / place
        self.files = [self.directory / each for each in _texts("files", files)]
        self.keep = _checked_keep(keep)
        self._check_files(output, value, [*objectives, *([residuals] if residuals else [])])
        measurements = _checked_data(data, residuals)
        self.how = Program(
            timeout=timeout,
            key=value,
            residuals=residuals,
            data=measurements,
            measured=tuple(dict.fromkeys(limit.name for limit in limits)),
            record=record,
            objectives=objectives,
            output=output,
            stepwise=steps,
        )
        self.study, self.mark = "", _new_mark()
        self.say: Callable[[str], None] | None = None
        """Told once what was read from the first evaluation, and where; by default, the log."""
        self.parameters: frozenset[str] = frozenset()
        """The names of the parameters of the space, of which some may not exist at a point."""
        self._known = False  # whether an evaluation has shown that its labels are right
        self._lock = Lock()
        self._kept: set[int] = set()  # numbers of the trials kept as the best

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "say": None, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=Lock())

    def __repr__(self) -> str:
        return f"Command({self.argv!r})"

    def _check_files(self, output: str | None, value: str | None, named: list[str]) -> None:
        for file in self.files:
            if not file.exists():
                raise SettingsError(f"{file}: there is no such file to take along")
        for name, given in ("files", self.files), ("keep", self.keep != _checked_keep(KEPT)):
            if given and self.workdir is None:
                raise SettingsError(
                    f"{name} is about directories of trials; give workdir (--workdir DIR) as well"
                )
        names = [*(each.name for each in self.templates), *(file.name for file in self.files)]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise SettingsError(f"two files of a trial are called {twice}; rename one of them")
        if output is not None and output.endswith(".json") and value is None and not named:
            raise SettingsError(
                f"{output} has fields; name the one that is the value with value= (--value NAME)"
            )
        self._check_program(names)

    def _check_program(self, names: list[str]) -> None:
        """Raise an error if there is no such program; `names` are those of a trial's files."""
        program = self.argv[0]
        first, *rest = Path(program).parts
        if len(self.argv) == 1 and " " in program and not (self.directory / program).exists():
            raise SettingsError(
                f"the command is the single word {brief(program)}; write its words without quotes "
                "around all of them"
            )
        if "{" in program or ("/" in program and first in {each.name for each in self.templates}):
            return
        if "/" in program:
            taken = next((file for file in self.files if file.name == first), None)
            file = self.directory / program if taken is None else taken.joinpath(*rest)
            if shutil.which(file) is not None:
                return
            way = "check its name or its path"
            if file.is_file():
                raise SettingsError(
                    f"{program}: this file may not be executed; allow it with chmod +x, or write "
                    "the program that runs it in front, such as sh or python"
                )
        elif (found := shutil.which(program)) is not None:
            if not Path(found).is_absolute():  # PATH has a relative path
                self.argv[0] = str(Path(found).absolute())
            return
        else:
            here = program in names or (self.directory / program).is_file()
            way = f"write ./{program} for the one here" if here else "check its name or its path"
        raise SettingsError(f"{program}: there is no such program; {way}")

    def check(self, names: Sequence[str]) -> None:
        """Take over the names of all parameters; raise an error unless just these are used."""
        self.parameters = frozenset(names)
        known = placeholder(self.parameters, in_command=True)
        found = {each[1] for word in self.argv for each in known.finditer(word)}
        found = found.union(*(template.mentions(names) for template in self.templates))
        unused = [name for name in names if name not in found]
        in_words = [each[1] for word in self.argv for each in _WORD.finditer(word) if each[1]]
        others = [f"{{{name}}}" for name in dict.fromkeys(in_words) if name not in names]
        for template in self.templates:
            if not template.mentions(names):
                raise SettingsError(
                    f"the template {template.name} mentions no parameter; write "
                    f"{{{next(iter(names), 'NAME')}}} where its value goes, or take the file along "
                    "with files= (--with FILE)"
                )
        if unused:
            unknown = "is not a parameter" if len(others) == 1 else "are not parameters"
            hint = f"; {', '.join(others)} {unknown}" if others else ""
            raise UnusedError(unused[0], ", there or in a template" if self.templates else "", hint)
        for word in self.argv:
            for other in others:
                if re.search(rf"(?<![{{$]){re.escape(other)}", word):  # ${HOME} is the shell's
                    raise SettingsError(
                        f"unknown placeholder {other} in the command; the parameters are "
                        f"{', '.join(names)}; to pass {other} itself, write {{{other}}}"
                    )

    # --- one evaluation

    def __call__(self, *point: Any, **params: Any) -> Any:
        """Run the program at a point, and return what it printed."""
        if point:
            params = {f"x{i}": value for i, value in enumerate(point[0].tolist())}
        number, place = trial_number(), None
        if self.workdir is not None:
            place = self._place(number, params)
        argv = self._filled(params)
        if place is not None and "/" in argv[0] and not (place / argv[0]).exists():
            argv[0] = str(self.directory / argv[0])
        where = place or self.directory
        own = {
            "BAMSOO_TRIAL": "" if number is None else str(number),
            "BAMSOO_STUDY": self.study,
            "BAMSOO_WORKDIR": str(where),
        }
        how = self.how._replace(cwd=str(where), environment=own)
        if how.stepwise:
            return self._steps(argv, how, place)
        return self._with_place(self._value(argv, how, place), place)

    def _value(self, argv: list[str], how: Program, place: Path | None) -> Any:
        heard: list[Reading] = []
        try:
            returned = self._with_place(value_of(argv, how, heard.append), place)
        except EvaluationError as error:
            raise self._failed(error, place) from None
        self._hear(heard[0], returned)
        return returned

    def _steps(self, argv: list[str], how: Program, place: Path | None) -> Iterator[Any]:
        try:
            for value in steps_of(argv, how, self._hear):
                yield self._with_place(value, place)
        except EvaluationError as error:
            raise self._failed(error, place) from None

    def _failed(self, error: EvaluationError, place: Path | None) -> Exception:
        """The error with the directory of the trial; of the settings, if it is a first one.

        That is so if a label is missing, or if the program cannot be started.
        """
        error.beside = self._beside(place, failed=True)
        said = str(error)
        if isinstance(error, MissingError):
            said = f"{error.message if error.labels else said}{_with_labels(error.labels)}"
        elif not isinstance(error, StartError) or "{" in self.argv[0]:
            return error
        otherwise = Reply(None, error=error, beside=error.beside)
        return error if self._known else FirstError(said, otherwise)

    def _hear(self, reading: Reading, returned: Any = None) -> None:
        """Say what was read from the first evaluation, unless a label was missing."""
        with self._lock:
            if self._known:
                return
            if reading.missing:
                raise FirstError(
                    f"{reading.missing[0]}, which is to be recorded, was not printed"
                    f"{_with_labels(reading.labels)}",
                    None if returned is None else as_reply(returned),
                )
            self._known = True
            (self.say or log.info)(reading.said)

    def _with_place(self, returned: Any, place: Path | None) -> Any:
        beside = self._beside(place, failed=False)
        if not beside:
            return returned
        value, more = separated(returned)
        return value, {**(more or {}), **beside}

    def _beside(self, place: Path | None, failed: bool) -> dict[str, str]:
        """The directory of a trial, if it may be kept."""
        kept = self.keep & {"all", "failed" if failed else "best"}
        return {EXTRA: str(place)} if place is not None and kept else {}

    def _filled(self, params: Mapping[str, Any]) -> list[str]:
        """The words for these parameters, without those for parameters that do not exist here."""
        words = []
        known = placeholder(self.parameters.union(params), in_command=True)
        for word in self.argv:
            absent = {each[1] for each in known.finditer(word) if each[1]} - params.keys()
            alone = known.fullmatch(word) is not None
            if not absent:
                words.append(known.sub(lambda found: _text(found, params), word))
            elif alone and len(words) > 1 and re.fullmatch(r"--?[A-Za-z][\w-]*", words[-1]):
                words.pop()
        return words

    def _place(self, number: int | None, params: Mapping[str, Any]) -> Path:
        """A new directory for a trial, with its files."""
        assert self.workdir is not None
        name = f"call-{os.getpid()}-{next(_calls)}" if number is None else str(number)
        place = self.workdir / name
        others = (self.workdir / f"{name}-{i}" for i in count(2))
        try:
            place = next(filter(self._takes, chain([place], others)))
            for file in self.files:
                try:
                    (place / file.name).symlink_to(file)
                except OSError:  # a file system without links
                    (shutil.copytree if file.is_dir() else shutil.copy2)(file, place / file.name)
            for template in self.templates:
                text = placeholder(self.parameters.union(params)).sub(
                    lambda found: _text(found, params) if found[1] in params else "", template.text
                )
                (place / template.name).write_bytes(text.encode(errors="surrogateescape"))
                (place / template.name).chmod(template.mode | stat.S_IWUSR)
        except OSError as error:
            said = f"{place}: cannot be made: {error.strerror}"
            raise (TryAgain if error.errno in PASSING else SettingsError)(said) from error
        return place

    def _takes(self, place: Path) -> bool:
        """Make a directory for a trial, unless it belongs to somebody else."""
        if self._is_free(place / MARK):
            taken = place / f"{MARK}-{uuid4().hex}"
            with suppress(OSError):  # another run takes it
                (place / MARK).rename(taken)
                if self._is_free(taken):
                    shutil.rmtree(place, ignore_errors=True)
                else:  # another run has just replaced it
                    taken.rename(place / MARK)
        try:
            _make(place)
        except FileExistsError:
            return False
        (place / MARK).write_text(self.mark, encoding="utf-8")
        return True

    def _is_free(self, mark: Path) -> bool:
        """Whether a mark is ours, for a trial that was begun before, or of a run that is over."""
        whose = _mark(mark)
        return whose is not None and (whose == self.mark or _is_over(whose))

    def _own(self, numbers: Container[str] | None = None) -> Iterator[Path]:
        """The directories of this study, or of this run, that are called by one of the numbers."""
        assert self.workdir is not None
        places: list[Path] = []
        with suppress(OSError):  # there is none at the moment
            places = list(self.workdir.iterdir())
        for place in places:
            fits = numbers is None or place.name.partition("-")[0] in numbers
            if fits and _mark(place / MARK) == self.mark:
                yield place

    # --- what becomes of a trial

    def follow(self, search: Any) -> "Command":
        """The same command for a run of this search, or of this study."""
        if (search.objectives.squares is None) != (self.how.residuals is None):
            raise SettingsError(
                "the residuals of a program are for bamsoo.least_squares; leave out residuals="
                if self.how.residuals
                else "a fit needs to know where a program has its residuals; give residuals=NAME"
            )
        own = copy.copy(self)
        own.check(search.space.own_names)
        path = getattr(search, "path", None)
        own.study = "" if path is None else str(path)
        own.mark = own.study or _new_mark()
        own.how = own.how._replace(run=uuid4().hex)
        own._known = any(each.numbers for each in search.evaluations)
        own._kept = {each.number for each in search.front if each.number is not None}
        own.say = self.say
        return own

    def check_workers(self, size: int) -> None:
        """Raise an error if so many evaluations at once would write the same file."""
        if size > 1 and self.workdir is None and (written := self.how.written):
            raise SettingsError(
                f"with workers, all evaluations at once would write {written[0].name}; give each a "
                "directory of its own with workdir= (--workdir DIR)"
            )

    def settle(self, search: Any, number: int, failed: bool) -> None:
        """Remove the directories that are not to be kept, now that a trial has been told."""
        if self.workdir is None or "all" in self.keep:
            return
        if failed:
            self._remove(() if "failed" in self.keep else {number})
            return
        best = set()
        if "best" in self.keep:
            best = {each.number for each in search.front if each.number is not None}
        self._remove({number, *self._kept} - best)
        self._kept = best

    def _remove(self, numbers: Iterable[int]) -> None:
        """Remove the directories of these trials."""
        for place in self._own({str(number) for number in numbers}):
            shutil.rmtree(place, ignore_errors=True)

    def end(self) -> None:
        """End what still runs in threads, now that the run is over."""
        end_all(self.how.run)
        if self.workdir is None:
            return
        for place in () if self.study else self._own():
            with suppress(OSError):
                (place / MARK).write_text(_OVER, encoding="utf-8")  # the next run may replace it
        with suppress(OSError):
            self.workdir.rmdir()  # if nothing is left in it


def _new_mark() -> str:
    return f"run {uuid4().hex} of process {os.getpid()} on {platform.node()}"


def _mark(file: Path) -> str | None:
    """Whose directory this is in; None if that was not made for a trial."""
    with suppress(OSError, ValueError):
        return file.read_text(encoding="utf-8")
    return None


def _is_over(mark: str) -> bool:
    """Whether a mark is that of a run without a study which has ended."""
    if mark == _OVER:
        return True
    if os.name != "posix" or (found := _RUN.fullmatch(mark)) is None or found[2] != platform.node():
        return False
    try:
        os.kill(int(found[1]), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return False


def _make(place: Path) -> None:
    """Make a directory, although another run may remove the empty one around it meanwhile.

    `Path.mkdir(parents=True)` is not enough. If the directory around it goes at the wrong moment,
    it says of the one that is to be made that it is there already, or that it cannot be.
    """
    for _ in range(ATTEMPTS):
        with suppress(FileNotFoundError):
            place.mkdir()
            return
        with suppress(FileExistsError, FileNotFoundError):
            place.parent.mkdir(parents=True)
    place.mkdir()


def _text(found: "re.Match[str]", params: Mapping[str, Any]) -> str:
    """What a placeholder stands for."""
    if found[1] is None:
        return found[0][1:-1]
    value = params[found[1]]
    if found[2] is None:
        return str(value)
    try:
        return format(value, found[2])
    except (ValueError, TypeError) as error:
        raise SettingsError(f"{found[0]}: {brief(value)} has no such format: {error}") from None


def _with_labels(labels: Sequence[str] | None) -> str:
    if labels is None:
        return ""
    if not labels:
        return "; nothing was printed as `NAME: NUMBER`"
    return f"; the labels that were printed are {', '.join(labels)}"


def _checked_data(data: Any, residuals: str | None) -> tuple[float | None, ...] | None:
    if data is None:
        return None
    if residuals is None:
        raise SettingsError("data= is subtracted from residuals; name them with residuals=")
    numbers = Vector() if isinstance(data, (str, bytes)) else as_vector(data)
    if not any(map(is_finite, numbers)):
        raise SettingsError(f"data must be a vector of measurements, got {brief(data)}")
    return tuple(each if is_finite(each) else None for each in numbers)


def _checked_keep(keep: Any) -> set[str]:
    chosen = {word.strip() for word in keep.split(",")} if isinstance(keep, str) else set()
    if not chosen or not chosen <= {*KEEP} or ("none" in chosen and len(chosen) > 1):
        raise SettingsError(
            f"keep must be one of {', '.join(KEEP)}, or two of them such as 'failed,best', "
            f"got {brief(keep)}"
        )
    return chosen


def that_exist(extras: Mapping[str, Any]) -> dict[str, Any]:
    """The extras of a trial without the path of a directory that has been removed since."""
    return {
        name: value
        for name, value in extras.items()
        if name != EXTRA or not isinstance(value, str) or Path(value).is_dir()
    }
