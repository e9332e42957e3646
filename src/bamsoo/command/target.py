"""The target of a run: a built-in problem, module:function, or a program with {name} arguments."""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from .. import problems
from ..base.checks import brief
from ..errors import EvaluationError, SettingsError
from ..run.calls import check_arguments
from ..space import Space

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


def callable_of(target: GivenTarget, directory: str, space: Space) -> Callable[..., Any]:
    """A problem, or a function that takes the parameters of the space, as what the workers call."""
    known = target.get("problem")
    function = problems.ALL[known] if known else _function(target["function"], directory)
    if isinstance(function, problems.Problem):
        _check_own(function, space)
        return function
    check_arguments(function, space)
    return _no_exit(function)


def _check_own(problem: problems.Problem, space: Space) -> None:
    """Raise an error if a built-in problem would be called with parameters by name."""
    own = Space(problem.bounds)
    if space.named:
        raise SettingsError(
            f"{problem.name} takes the parameters {', '.join(own.names)} in ranges of its own, "
            f"got {', '.join(space.own_names)}; leave out --param and --fix"
        )


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
