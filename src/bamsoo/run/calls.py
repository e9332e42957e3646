"""Calls that do not fit `minimize`, and what was probably meant."""

from collections.abc import Callable, Iterator
from difflib import get_close_matches
from dis import Instruction, get_instructions
from functools import partial
from inspect import Parameter, Signature, signature, unwrap
from typing import Any

from ..base.checks import short
from ..base.words import FIT, MEANT, NEEDLESS
from ..errors import CallError
from ..space import Space

NEEDED = {
    "fun": "the function to evaluate",
    "space": "the parameters and their ranges, such as [(0, 1)] or {'rate': (0.1, 1)}",
    "budget": "the largest number of evaluations, such as 50, or None with timeout= or stop=",
}


def check_call(name: str, signature: Signature, args: tuple[object, ...], given: object) -> None:
    """Raise an error if a call has unknown, too many or too few arguments."""
    assert isinstance(given, dict)
    known = signature.parameters
    for each in given:
        if each not in known:
            needless = {**NEEDLESS, **FIT} if name == "least_squares" else NEEDLESS
            if each in needless:
                raise CallError(
                    f"{name} has no argument {each!r}, and needs none: {needless[each]}"
                )
            meant = MEANT.get(each)
            close = [] if meant else get_close_matches(each, known, 1)
            hint = meant or (close[0] if close else None)
            said = f"; did you mean {hint}?" if hint else f"; it takes {', '.join(known)}"
            raise CallError(f"{name} has no argument {each!r}{said}")
    for each, what in NEEDED.items():
        if list(known).index(each) >= len(args) and each not in given:
            raise CallError(f"{name} needs {each}: {what}")
    try:
        signature.bind(*args, **given)
    except TypeError as error:
        raise CallError(
            f"{name} takes fun, space and budget, and everything else by name: {error}"
        ) from None


def _way_to_call(name: str, alone: bool) -> str:
    """How a function with an argument that is no parameter can be called, if that is known."""
    if name == "trial":
        return (
            "; an objective of Optuna runs as it is in optuna, with "
            "bamsoo.integrations.optuna.BaMSOOSampler"
        )
    return f"; for a function of one dict, give lambda **{name}: fun({name})" if alone else ""


def check_arguments(fun: Callable[..., Any], space: Space) -> None:
    """Raise an error if each call of `fun` would have arguments that it does not take."""
    try:
        takes = signature(fun, follow_wrapped=False)
    except (TypeError, ValueError):  # written in another language
        return
    if not space.named:
        _check_one_array(takes)
        return
    names = space.own_names
    own = [each for each in takes.parameters.values() if each.kind not in _REST]
    taken = [each.name for each in own if each.kind is not Parameter.POSITIONAL_ONLY]
    call = short(f"fun({', '.join(f'{name}=...' for name in names)})")
    call = f"by name it takes {short(', '.join(taken)) or 'nothing'}, and it is called as {call}"
    for each in own:
        if each.name not in names and each.default is Parameter.empty:
            raise CallError(
                f"fun needs the argument {each.name!r}, which is no parameter of the space: {call}"
                + _way_to_call(each.name, len(own) == 1)
            )
    if any(each.kind is Parameter.VAR_KEYWORD for each in takes.parameters.values()):
        return
    for name in names:
        if name not in taken:
            raise CallError(f"fun takes no argument {name!r}, a parameter of the space: {call}")


_REST = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


def _check_one_array(takes: Signature) -> None:
    try:
        takes.bind(None)
    except TypeError:
        names = ", ".join(takes.parameters)
        raise CallError(
            f"fun takes {names or 'no arguments'}, but a space without names gives it one array; "
            "name the parameters, as in {'x': (0, 1), 'y': (0, 1)}, for a function of several"
        ) from None


def may_return_none(fun: Callable[..., Any]) -> bool:
    """Whether a function is seen to return None at some points and a value at others.

    Such a function marks points that cannot be evaluated. One that lacks a return statement returns
    None only, and one that calls such a function returns what that one returns.
    """
    while isinstance(fun, partial):
        fun = fun.func
    fun = unwrap(fun)
    if not hasattr(fun, "__code__") and not hasattr(fun, "__func__"):
        fun = type(fun).__call__  # an object with a method of that name
    try:
        steps = list(get_instructions(fun))
    except TypeError:  # written in another language
        return False
    return {True, False} <= set(_returns_none(steps))


def _returns_none(steps: list[Instruction]) -> Iterator[bool]:
    """For each return of a function, whether it is seen to return None."""
    ends = {each.offset for each in steps if each.opname == "RETURN_VALUE"}
    for now, after in zip(steps, [*steps[1:], None], strict=True):
        if now.opname == "RETURN_CONST":
            yield now.argval is None
        elif after is not None and (
            after.opname == "RETURN_VALUE"
            or (after.opname.startswith("JUMP_FORWARD") and after.argval in ends)
        ):
            yield now.opname == "LOAD_CONST" and now.argval is None
