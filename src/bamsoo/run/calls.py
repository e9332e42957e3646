"""Calls that do not fit `minimize`, and what was probably meant."""

from difflib import get_close_matches
from inspect import Signature

from ..errors import CallError

MEANT = {
    **dict.fromkeys(
        ("n_trials", "n_calls", "n_iter", "max_evals", "max_iter", "maxiter", "maxfev", "maxfun"),
        "budget, the largest number of evaluations",
    ),
    **dict.fromkeys(("n_jobs", "num_workers", "max_workers", "parallel"), "workers"),
    **dict.fromkeys(("random_state", "rng", "random_seed"), "seed"),
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
    "budget": "the largest number of evaluations, such as 50",
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
