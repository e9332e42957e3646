"""The target of a run: a built-in problem, module:function, or a program with {name} arguments."""

import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from .. import problems
from ..base.checks import brief
from ..errors import EvaluationError, SettingsError
from ..run.command import KEPT, Command
from ..run.program import Program

GivenTarget = dict[str, Any]
"""In the form that is stored: {"problem": name}, {"function": "module:name"} or
{"command": [...]}."""


def parse_target(text: str | None, command: list[str]) -> GivenTarget:
    """The target of a command line: a word, or the command after `--`."""
    if command and text is not None:
        raise SettingsError(
            f"expected one target, got {text!r} and also a command after --; leave one out"
        )
    if command:
        return {"command": list(command)}
    if text is None:
        raise SettingsError(
            "the target is missing; give module:function, a built-in problem, or -- and a command"
        )
    if text in problems.ALL:
        return {"problem": text}
    module, colon, name = text.partition(":")
    if colon and module and name:
        return {"function": text}
    raise SettingsError(
        f"{text!r} is not a target; expected module:function, one of {', '.join(problems.ALL)}, "
        "a TOML file, or -- and a command"
    )


def default_space(target: GivenTarget, directory: str) -> Any:
    """The space of a target that has one, or None."""
    if "problem" in target:
        return problems.ALL[target["problem"]].bounds
    if "function" in target:
        found = _function(target["function"], directory)
        return found.bounds if isinstance(found, problems.Problem) else None
    return None


class Places(NamedTuple):
    """The files of a program: its templates, where it runs, and what it writes there."""

    template: Sequence[str] = ()
    workdir: str | None = None
    files: Sequence[str] = ()
    keep: str | None = None
    output: str | None = None


def callable_of(
    target: GivenTarget,
    names: Iterable[str],
    directory: str,
    how: Program,
    places: Places = Places(),  # noqa: B008 (it cannot be changed)
) -> Callable[..., Any]:
    """The target as a function; `how` says how a program is run and what is read."""
    if how.key is not None and how.objectives:
        raise SettingsError(
            "--value names the field of a single value; with --objective, the command prints "
            "`NAME: NUMBER` for each objective"
        )
    if "command" in target:
        if how.stepwise and how.key is None and (how.measured or how.record):
            raise SettingsError(
                "with --steps, what a command prints besides its value must be in the same line; "
                "print a JSON object after each step, and name its field with --value"
            )
        if not Path(directory).is_dir():
            raise SettingsError(
                f"{directory}: the directory in which the command ran does not exist"
            )
        command = Command(
            target["command"],
            template=places.template,
            workdir=places.workdir,
            files=places.files,
            keep=places.keep or KEPT,
            output=places.output,
            value=how.key,
            residuals=how.residuals,
            objectives=how.objectives,
            measured=how.measured,
            record=how.record,
            timeout=how.timeout,
            steps=how.stepwise,
            directory=directory,
        )
        command.how = command.how._replace(threads=how.threads, data=how.data)
        command.check(list(names))
        return command
    given = next((name for name, value in zip(Places._fields, places, strict=True) if value), None)
    if given is not None:
        flag = {"files": "with"}.get(given, given)
        raise SettingsError(f"--{flag} needs a command after --, and cannot be used for a function")
    if how.key is not None:
        raise SettingsError("--value needs a command after --, and cannot be used for a function")
    if how.record:
        raise SettingsError(
            "--record needs a command after --; a function returns (value, {name: ...}) instead"
        )
    if "problem" in target:
        return problems.ALL[target["problem"]]
    return _no_exit(_function(target["function"], directory))


def _function(text: str, directory: str) -> Callable[..., Any]:
    module, _, name = text.partition(":")
    if directory not in sys.path:
        sys.path.insert(0, directory)
    try:
        found: Any = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, SyntaxError) as error:
        reason = " ".join(str(error).split())
        raise SettingsError(f"{text}: cannot be imported: {reason}") from error
    if not callable(found):
        raise SettingsError(f"{text}: expected a function, got {brief(found)}")
    function: Callable[..., Any] = found
    return function


def _no_exit(function: Callable[..., Any]) -> Callable[..., Any]:
    def called(*args: Any, **params: Any) -> Any:
        try:
            return function(*args, **params)
        except SystemExit as error:
            raise EvaluationError(f"the function called sys.exit({error.code!r})") from error

    return called
