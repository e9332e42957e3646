"""The search space: named parameters on one side, [0,1]^D on the other.

The only place that knows bounds and logarithms.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, log
from typing import Any, TypeAlias

import numpy as np

from ._typing import Array
from .errors import SpaceError


@dataclass(frozen=True)
class Real:
    """A real parameter between `low` and `high`, both included.

    Parameters
    ----------
    low, high : float
    log : bool
        Search its logarithm; needs low > 0.
    """

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        _check_interval("Real", self.low, self.high, self.log)
        object.__setattr__(self, "low", float(self.low))
        object.__setattr__(self, "high", float(self.high))


def _check_interval(name: str, low: Any, high: Any, log_scale: bool) -> None:
    try:
        low, high = float(low), float(high)
    except (TypeError, ValueError):
        raise SpaceError(
            f"{name}: bounds must be numbers, got low={low!r}, high={high!r}"
        ) from None
    if not (isfinite(low) and isfinite(high)):
        raise SpaceError(f"{name}: bounds must be finite, got low={low}, high={high}")
    if not low < high:
        raise SpaceError(f"{name}: low must be below high, got low={low}, high={high}")
    if log_scale and low <= 0:
        raise SpaceError(f"{name}: a log scale needs low > 0, got low={low}")


SpaceLike: TypeAlias = "Sequence[Any] | Mapping[str, Any] | Any"


class Space:
    """D parameters, and the maps between their values and the unit cube.

    Parameters
    ----------
    space : sequence of (low, high), scipy.optimize.Bounds, or dict of name -> parameter
        A dict's parameters are (low, high) pairs or `Real`.
    """

    def __init__(self, space: SpaceLike) -> None:
        self.named = isinstance(space, Mapping)
        self.parameters = dict(_parameters(space))
        if not self.parameters:
            raise SpaceError("the space is empty; expected at least one parameter")
        self.names = list(self.parameters)
        self.dim = len(self.names)
        reals = list(self.parameters.values())
        self._log = np.array([p.log for p in reals])
        self._any_log = bool(self._log.any())
        self.low = np.array([p.low for p in reals])
        self.high = np.array([p.high for p in reals])
        self._from = np.array([log(p.low) if p.log else p.low for p in reals])
        self._to = np.array([log(p.high) if p.log else p.high for p in reals])

    def __repr__(self) -> str:
        return f"Space({self.parameters!r})"

    @property
    def finest(self) -> Array:
        """For each axis, the step in the unit cube that still changes the parameter's value."""
        size = np.where(self._log, 1.0, np.maximum(np.abs(self.low), np.abs(self.high)))
        with np.errstate(over="ignore"):
            width = self._to - self._from
        finest: Array = np.maximum(2.0**-52, 4.0 * np.spacing(size) / width)
        return finest

    def decode(self, u: Array) -> Array:
        """The parameters' values at a point of the unit cube, never outside their bounds."""
        # Weighted, not low + u * (high - low): the difference may overflow.
        x: Array = self._from * (1.0 - u) + self._to * u
        if self._any_log:
            x[self._log] = np.exp(x[self._log])
        np.maximum(x, self.low, out=x)
        np.minimum(x, self.high, out=x)
        return x

    def encode(self, x: Array) -> Array:
        """The point of the unit cube for the parameters' values."""
        x = np.asarray(x, dtype=float).copy()
        if self._any_log:
            x[self._log] = np.log(x[self._log])
        with np.errstate(over="ignore"):
            width = self._to - self._from
        s = np.where(np.isfinite(width), 1.0, 0.5)  # halved where the difference overflows
        u: Array = (s * x - s * self._from) / (s * self._to - s * self._from)
        return np.clip(u, 0.0, 1.0)

    def params(self, x: Array) -> dict[str, float]:
        """Values by name."""
        return dict(zip(self.names, x.tolist(), strict=True))

    def point(self, point: Any) -> Array:
        """Check a caller's point, an array or a dict, and return it as an array of values."""
        if isinstance(point, Mapping):
            missing = [name for name in self.names if name not in point]
            unknown = [name for name in point if name not in self.parameters]
            if missing or unknown:
                raise SpaceError(
                    f"a point needs a value for each of {', '.join(self.names)}, "
                    f"got values for {', '.join(map(str, point)) or 'none'}"
                )
            point = [point[name] for name in self.names]
        try:
            x = np.array(point, dtype=float)
        except (TypeError, ValueError):
            raise SpaceError(f"a point must be {self.dim} numbers, got {point!r}") from None
        if x.shape != (self.dim,):
            raise SpaceError(f"a point must have shape ({self.dim},), got shape {x.shape}")
        for name, value, low, high in zip(self.names, x, self.low, self.high, strict=True):
            if not low <= value <= high:
                raise SpaceError(f"{name}: {value} lies outside [{low}, {high}]")
        return x


def _parameters(space: Any) -> list[tuple[str, Real]]:
    if isinstance(space, Mapping):
        for name in space:
            if not isinstance(name, str):
                raise SpaceError(f"a parameter's name must be a string, got {name!r}")
        return [(name, _real(name, parameter)) for name, parameter in space.items()]
    if hasattr(space, "lb") and hasattr(space, "ub"):  # scipy.optimize.Bounds
        try:
            low, high = np.broadcast_arrays(np.atleast_1d(space.lb), np.atleast_1d(space.ub))
        except ValueError:
            raise SpaceError(
                f"Bounds: lb and ub must match, got shapes {np.shape(space.lb)} "
                f"and {np.shape(space.ub)}"
            ) from None
        space = list(zip(low.ravel().tolist(), high.ravel().tolist(), strict=True))
    if isinstance(space, str) or not hasattr(space, "__iter__"):
        raise SpaceError(
            "a space is a sequence of (low, high) pairs, a scipy Bounds or a dict of parameters, "
            f"got {space!r}"
        )
    return [(f"x{i}", _real(f"x{i}", pair)) for i, pair in enumerate(space)]


def _real(name: str, parameter: Any) -> Real:
    if isinstance(parameter, Real):
        return parameter
    try:
        low, high = parameter
    except (TypeError, ValueError):
        raise SpaceError(
            f"{name}: expected (low, high) or Real(low, high), got {parameter!r}"
        ) from None
    _check_interval(name, low, high, False)
    return Real(low, high)
