"""What is said about an evaluation, and the one place where it is checked.

A value arrives from a function, by `tell`, from earlier work or from another optimiser's study.
Whoever brings it, `told` makes an event of it, or says in an error what is wrong with it.
"""

from collections.abc import Mapping
from math import inf
from typing import Any, NamedTuple

from ..base.checks import brief, is_finite, storable
from ..errors import ValueTypeError
from ..space import Constraints, single
from .events import Told
from .objectives import Objectives


class Said(NamedTuple):
    """What is said about an evaluation. The fields are those of `tell`, and may be anything."""

    value: Any
    error: str | None = None
    constraints: Any = None
    residuals: Any = None
    variance: Any = None
    extras: Any = None
    took: Any = None

    @classmethod
    def besides(cls, value: Any, beside: Any, constraints: Constraints) -> "Said":
        """A value, and what came besides it: measurements, extras and a variance, by name."""
        if not isinstance(beside, Mapping):  # `told` says what is wrong with it
            return cls(value, constraints=beside)
        measured = {name: each for name, each in beside.items() if name in constraints.measured}
        extras = {name: each for name, each in beside.items() if name not in constraints.measured}
        variance = extras.pop(VARIANCE, None)
        return cls(value, constraints=measured or None, variance=variance, extras=extras)


VARIANCE = "variance"
"""The name of an extra that is the variance of the value, unless a constraint has this name."""


def told(said: Said, objectives: Objectives, constraints: Constraints, residuals: int = 0) -> Told:
    """The event that an evaluation has ended, as yet without the trial or the point.

    `residuals` is the number of residuals of earlier evaluations in a fit.

    Raises
    ------
    ValueTypeError
        If what is said is incomplete or invalid.
    """
    values, vector = objectives.told(said.value, said.residuals)
    if vector and residuals and len(vector) != residuals:
        raise ValueTypeError(
            f"an evaluation returned {len(vector)} residuals, but earlier ones {residuals}; "
            "return as many at each point, and nan for missing data"
        )
    measured: tuple[float, ...] = ()
    variance = as_variance(said.variance, objectives)
    if values or said.constraints:
        measured = constraints.numbers(said.constraints)
    error = said.error
    if not values and error is None:
        what = "the value is" if said.residuals is None else "the residuals are"
        error = f"{what} {brief(said.value if said.residuals is None else said.residuals)}"
    if said.took is not None and not (is_finite(said.took) and said.took >= 0):
        raise ValueTypeError(f"took must be a number of seconds >= 0, got {brief(said.took)}")
    return Told(
        None,
        None,
        values,
        None if error is None else storable(error),
        measured,
        variance,
        constraints.extras(said.extras),
        residuals=tuple(vector),
        took=said.took,
    )


def as_variance(variance: Any, objectives: Objectives) -> float | None:
    """The variance of the noise in a value; None if it is not known."""
    if variance is None:
        return None
    if objectives.several:
        raise ValueTypeError(
            "variance is for a single objective; with several, give noise='learn' when the search "
            "is made"
        )
    number = single(variance)
    if number is None or not 0.0 <= number < inf:
        raise ValueTypeError(
            f"variance must be a finite number >= 0, or None if it is not known, "
            f"got {brief(variance)}"
        )
    return number + 0.0  # turns -0.0 into 0.0, as sqlite does
