"""The target of a run: a built-in problem, module:function, or a program with {name} arguments."""

import re
import shutil
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from .. import problems
from ..checks import brief
from ..errors import EvaluationError, SettingsError
from .process import Program, steps_of, value_of

PLACEHOLDER = re.compile(r"\{\{\w+\}\}|\{(\w+)\}")
"""A parameter in a command; with two braces on each side, the text with one brace itself."""

Target = dict[str, Any]
"""In the form that is stored: {"problem": name}, {"function": "module:name"} or
{"command": [...]}."""


def parse(text: str | None, command: list[str]) -> Target:
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


def default_space(target: Target, directory: str) -> Any:
    """The space of a target that has one, or None."""
    if "problem" in target:
        return problems.ALL[target["problem"]].bounds
    if "function" in target:
        found = _function(target["function"], directory)
        return found.bounds if isinstance(found, problems.Problem) else None
    return None


def callable_of(
    target: Target, names: Iterable[str], directory: str, how: Program
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
        return _program(target["command"], list(names), directory, how)
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


def _program(
    words: list[str], names: list[str], directory: str, how: Program
) -> Callable[..., Any]:
    found = [name for word in words for name in PLACEHOLDER.findall(word) if name]
    unused = [name for name in names if name not in found]
    others = [f"{{{name}}}" for name in dict.fromkeys(found) if name not in names]
    if unused:
        unknown = "is not a parameter" if len(others) == 1 else "are not parameters"
        hint = f"; {', '.join(others)} {unknown}" if others else ""
        raise SettingsError(
            f"the command does not use the parameter {unused[0]}; write {{{unused[0]}}} where its "
            f"value goes{hint}"
        )
    for word in words:
        for other in others:
            if re.search(rf"(?<![{{$]){re.escape(other)}", word):  # ${HOME} is the shell's
                raise SettingsError(
                    f"unknown placeholder {other} in the command; the parameters are "
                    f"{', '.join(names)}; to pass {other} itself, write {{{other}}}"
                )
    if not Path(directory).is_dir():
        raise SettingsError(f"{directory}: the directory in which the command ran does not exist")
    program = words[0]
    here = Path(directory) / program if "/" in program else program
    if "{" not in program and shutil.which(here) is None:
        raise SettingsError(f"{program}: there is no such program; check its name or give its path")

    def filled(found: re.Match[str], params: dict[str, Any]) -> str:
        if found[1] is None:
            return found[0][1:-1]
        return str(params[found[1]]) if found[1] in params else found[0]

    def run(**params: Any) -> Any:
        absent = [f"{{{name}}}" for name in names if name not in params]
        argv = [
            PLACEHOLDER.sub(lambda found: filled(found, params), word)
            for word in _without(words, absent)
        ]
        return (steps_of if how.stepwise else value_of)(argv, how._replace(cwd=directory))

    return run


def _without(words: list[str], absent: list[str]) -> list[str]:
    """The words of a command without those that contain a parameter that does not exist.

    If such a word consists of the parameter alone and follows an option such as --depth, the option
    is removed too.
    """
    kept: list[str] = []
    for word in words:
        if not any(each in word for each in absent):
            kept.append(word)
        elif word in absent and len(kept) > 1 and re.fullmatch(r"--?[A-Za-z][\w-]*", kept[-1]):
            kept.pop()
    return kept
