"""The searches of this package."""

from ast import literal_eval
from contextlib import suppress
from dataclasses import replace
from typing import Any

import bamsoo
from bamsoo.algorithms import Auto
from bamsoo.errors import ExhaustedError

from ..errors import BenchError
from ..measure import CallArguments, MeasuredObjective


def auto(f: MeasuredObjective) -> None:
    """The default of this package."""
    solve(f, "auto")


def changed(changes: str) -> Auto:
    """The default with some changes, such as ``warp=False climb.wide=0.0``.

    A name with a dot is a constant of a part of the default. A value has no spaces; it may be
    ``inf``.
    """
    found = Auto()
    for change in changes.split():
        name, _, text = change.partition("=")
        part, _, field = name.rpartition(".")
        try:
            value = literal_eval(text.replace("inf", "1e999"))
            if part:
                constants = replace(getattr(found.constants, part), **{field: value})
                field, value = "constants", replace(found.constants, **{part: constants})
            found = replace(found, **{field: value})
        except (AttributeError, SyntaxError, TypeError, ValueError):
            raise BenchError(
                f"{change!r} does not change the default; expected a setting of Auto or a constant "
                "of one of its parts, such as warp=False or climb.wide=0.0"
            ) from None
    return found


def auto_noise(f: MeasuredObjective) -> None:
    """The default of this package, told to estimate how much noise there is."""
    solve(f, "auto", "learn")


def of_sum(f: MeasuredObjective) -> None:
    """The default of this package, which sees only the sum of squares of a fit."""
    solve(f, "auto", residuals=False)


def whole(f: MeasuredObjective) -> None:
    """The default of this package, without stopping evaluations, and at the top of a fidelity."""
    solve(f, "auto", stopping=False)


def soo(f: MeasuredObjective) -> None:
    """SOO, k = 3."""
    solve(f, "soo")


def mosoo(f: MeasuredObjective) -> None:
    """MO-SOO."""
    solve(f, "mosoo")


def paper_bamsoo(f: MeasuredObjective) -> None:
    """BaMSOO as in the paper, with its usual kernel."""
    solve(f, "bamsoo")


def solve(
    f: MeasuredObjective,
    algorithm: Any,
    noise: str | None = None,
    stopping: bool = True,
    package: Any = bamsoo,
    residuals: bool = True,
) -> None:
    """One of this package's searches, or of what stands in for the package.

    On a noisy target it is driven by ask and tell, so that its recommendation can be read at any
    time.
    """
    if not f.target.noisy:
        more: dict[str, Any] = {"algorithm": algorithm, "noise": noise, "seed": f.seed}
        if f.target.limited:
            known = [] if f.target.known is None else [f.target.known]
            more["constraints"] = [*f.target.constraints, *known]
        if f.target.objectives:
            more["objectives"] = list(f.target.objectives)

        if f.target.steps and stopping:
            package.minimize(f.train, f.space, f.budget, steps=f.target.steps, **more)
            return

        if f.target.fit and residuals and hasattr(package, "least_squares"):
            package.least_squares(f.residuals, f.space, f.budget, **more)
            return

        def fun(*point: Any, **params: Any) -> Any:
            values, measured = f.observe(*point, **params)
            answer = values if f.target.objectives else values[0]
            return (answer, measured) if f.target.constraints else answer

        space = f.space
        if f.target.fidelity and not stopping:
            space = f.target.by_name()
        package.minimize(fun, space, f.budget, **more)
        return
    search = package.Optimizer(f.space, algorithm=algorithm, noise=noise, seed=f.seed)

    def recommend() -> CallArguments | None:
        found = search.result
        if found.x is None:
            return None
        return ((), found.params) if f.target.named else ((found.x,), {})

    f.recommend = recommend
    with suppress(ExhaustedError):
        while f.left:
            trial = search.ask()
            search.tell(trial, f(**trial.params) if f.target.named else f(trial.x))
