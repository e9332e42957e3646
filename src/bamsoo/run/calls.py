"""Calls that do not fit `minimize`, and what was probably meant."""

from collections.abc import Callable
from difflib import get_close_matches
from dis import get_instructions
from functools import partial
from inspect import Signature, unwrap
from typing import Any

from ..errors import CallError

MEANT = {
    **dict.fromkeys(
        ("n_trials", "n_calls", "n_iter", "max_evals", "max_iter", "maxiter", "maxfev", "maxfun"),
        "budget, the largest number of evaluations",
    ),
    **dict.fromkeys(("n_jobs", "num_workers", "max_workers", "parallel"), "workers"),
    **dict.fromkeys(("random_state", "random_seed"), "seed"),
    **dict.fromkeys(("bounds", "dimensions", "search_space", "params", "parameters"), "space"),
    **dict.fromkeys(("func", "f", "objective"), "fun"),
    "direction": "bamsoo.minimize or bamsoo.maximize, which have no direction",
    "maximize": "bamsoo.maximize",
    "callbacks": "callback",
    "max_time": "timeout",
    "storage": "study",
    "initial_guess": "x0",
}
"""Arguments of other libraries, with what they are called here."""

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
    ends = {each.offset for each in steps if each.opname == "RETURN_VALUE"}
    none = values = False
    for now, after in zip(steps, [*steps[1:], None], strict=True):
        if now.opname == "RETURN_CONST":
            none, values = none or now.argval is None, values or now.argval is not None
        elif after is not None and (
            after.opname == "RETURN_VALUE"
            or (after.opname.startswith("JUMP_FORWARD") and after.argval in ends)
        ):
            returns_none = now.opname == "LOAD_CONST" and now.argval is None
            none, values = none or returns_none, values or not returns_none
    return none and values
