r"""Residuals: the vector that a fit returns, and the sum of squares that is minimised.

The value of an evaluation is :math:`\sum_i C^2 \rho(w_i r_i^2 / C^2)`, with the loss :math:`\rho`
and the scale C as in scipy, but without its factor of 1/2. It is a sum of squares again, that of
:math:`\mathrm{sign}(r_i)\, C \sqrt{\rho}`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..base.checks import brief, is_finite
from ..base.typing import Array
from ..errors import SettingsError, ValueTypeError
from ..space import numbers

_LARGEST = 1e300  # squares beyond this would be infinite

Loss: TypeAlias = Callable[[Array], tuple[Array, Array, Array]]

LOSSES: dict[str, Loss] = {
    "linear": lambda z: (z, np.ones_like(z), np.zeros_like(z)),
    "soft_l1": lambda z: (
        2.0 * z / (1.0 + np.sqrt(1.0 + z)),  # 2 (sqrt(1 + z) - 1)
        (1.0 + z) ** -0.5,
        -0.5 * (1.0 + z) ** -1.5,
    ),
    "huber": lambda z: (
        np.where(z <= 1.0, z, 2.0 * np.sqrt(z) - 1.0),
        np.maximum(z, 1.0) ** -0.5,
        np.where(z <= 1.0, 0.0, -0.5 * np.maximum(z, 1.0) ** -1.5),
    ),
    "cauchy": lambda z: (np.log1p(z), 1.0 / (1.0 + z), -((1.0 + z) ** -2.0)),
    "arctan": lambda z: (np.arctan(z), 1.0 / (1.0 + z**2), -2.0 * z / (1.0 + z**2) ** 2),
}
"""What takes the place of a squared residual, by the names that scipy uses, and its first and
second derivatives."""


class Vector(tuple[float, ...]):
    """The residuals that a function returned, which are one answer and not several objectives."""

    __slots__ = ()


def as_vector(given: Any) -> Vector:
    """Check residuals: a vector of numbers, of which nan is missing data; empty for None."""
    if given is None:
        return Vector()
    if isinstance(given, Vector):
        return given
    try:
        array = np.atleast_1d(numbers(given))
    except TypeError:
        raise ValueTypeError(f"residuals must be a vector of numbers, got {brief(given)}") from None
    if array.ndim != 1:
        raise ValueTypeError(
            f"residuals must be a vector, got an array of shape {array.shape}; flatten it"
        )
    return Vector(array.tolist())


@dataclass(frozen=True)
class SumOfSquares:
    """How residuals become one value.

    Parameters
    ----------
    loss : {"linear", "soft_l1", "huber", "cauchy", "arctan"}, default "linear"
        What takes the place of a squared residual, so that outliers count less.
    f_scale : float, default 1.0
        The size of a residual above which it counts as an outlier; without effect for "linear".
    weights : sequence of float, optional
        The weight of each squared residual, such as one over the variance of its error.
    """

    loss: str = "linear"
    f_scale: float = 1.0
    weights: Sequence[float] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.loss, str) or self.loss not in LOSSES:
            raise SettingsError(f"loss must be one of {', '.join(LOSSES)}, got {brief(self.loss)}")
        if not is_finite(self.f_scale) or self.f_scale <= 0.0:
            raise SettingsError(f"f_scale must be a finite number > 0, got {brief(self.f_scale)}")
        given: Any = self.weights
        if given is None:
            return
        form = "weights must be finite numbers >= 0, one for each residual"
        if not isinstance(given, Iterable) or isinstance(given, str):
            raise SettingsError(f"{form}, got {brief(given)}")
        weights = list(given)
        for each in weights:
            if not is_finite(each) or each < 0.0:
                raise SettingsError(f"{form}, but one of them is {brief(each)}")
        if not any(weights):
            raise SettingsError(f"{form}, and at least one of them > 0, got {brief(given)}")
        object.__setattr__(self, "weights", tuple(map(float, weights)))

    def check_scale(self, setting: str, loss: str) -> None:
        """Raise an error if a scale was given by this setting, and nobody chose a loss."""
        if self.loss == "linear":
            raise SettingsError(
                f"{setting} has no effect on plain squares; give a loss, too, such as {loss}"
            )

    def seen(self, residuals: ArrayLike) -> Array:
        """The numbers whose squares are added; nan for missing data."""
        found = self.weighted(residuals)
        if self.loss == "linear":
            return found
        return np.asarray(np.sign(found) * self.f_scale * np.sqrt(self._curve(found)[1]))

    def weighted(self, residuals: ArrayLike) -> Array:
        """The residuals, each times the root of its weight."""
        found = np.array(residuals, dtype=float)
        if self.weights is None:
            return found
        if len(self.weights) != len(found):
            raise ValueTypeError(
                f"an evaluation returned {len(found)} residuals, but there are "
                f"{len(self.weights)} weights; give one weight for each residual"
            )
        return np.asarray(found * np.sqrt(self.weights))

    def pull(self, residuals: ArrayLike) -> tuple[Array, Array]:
        """How much each weighted residual pulls at the parameters, and the derivative of that.

        It is half the derivative of the value, so without a loss it is the residual itself.
        """
        found = self.weighted(residuals)
        z, _, first, second = self._curve(found)
        return found * first, first + 2.0 * z * second

    def _curve(self, weighted: Array) -> tuple[Array, Array, Array, Array]:
        with np.errstate(over="ignore"):
            z = np.minimum((weighted / self.f_scale) ** 2, _LARGEST)
            return z, *LOSSES[self.loss](z)

    def variance(self, residuals: Sequence[float], each: float) -> float:
        """The variance of the value if the noise in each residual has the variance `each`."""
        weights = np.ones(len(residuals)) if self.weights is None else np.array(self.weights)
        pulls, _ = self.pull(residuals)
        found = 4.0 * pulls**2 * weights * each + 2.0 * (weights * each) ** 2
        return float(np.nansum(np.where(np.isnan(pulls), 0.0, found)))

    def value(self, residuals: Vector) -> float:
        """The sum of squares without missing data; inf if there is no value."""
        if not residuals:
            return inf
        seen = self.seen(residuals)
        there = seen[~np.isnan(seen)]
        with np.errstate(over="ignore"):
            return float(there @ there) if len(there) else inf
