"""The search space: named parameters on one side, [0,1]^D on the other.

The only place that knows bounds, logarithms, whole numbers and options. A point is an array
with one number for each parameter; an option is represented by its index among the options.
"""

from collections.abc import Mapping, Sequence, Set
from math import isfinite, log, ulp
from typing import Any, TypeAlias

import numpy as np

from .._typing import Array
from ..checks import brief
from ..errors import SpaceError
from ..guard import with_own_errors
from .axes import Axis, Continuous, Domain, Options, Steps
from .parameters import Choice, Grid, Int, Parameter, Real, as_parameter, equal, numbers

SpaceLike: TypeAlias = "Sequence[Any] | Mapping[str, Any] | Any"


class Space:
    """D parameters, and the maps between their values and the unit cube.

    Parameters
    ----------
    space : sequence of (low, high), scipy.optimize.Bounds, or dict of name -> parameter
        A dict's parameters are (low, high) pairs, `Real`, `Int` or `Choice`.
    """

    @with_own_errors
    def __init__(self, space: SpaceLike) -> None:
        self.named = isinstance(space, Mapping)
        self.parameters = dict(_parameters(space))
        if not self.parameters:
            raise SpaceError("the space is empty; expected at least one parameter")
        self.names = list(self.parameters)
        self.dim = len(self.names)
        parameters = list(self.parameters.values())
        self._grids = [_grid(p) for p in parameters]
        self._discrete = [i for i, grid in enumerate(self._grids) if grid is not None]
        reals = [
            p if isinstance(p, Real) and p.step is None else Real(0.0, 1.0) for p in parameters
        ]
        # A log range too narrow to have a width in logarithms is searched as it is.
        self._log = np.array([p.log and p.high > p.low * (1.0 + 1e-8) for p in reals])
        ends = [_ends(p, grid) for p, grid in zip(parameters, self._grids, strict=True)]
        self.low, self.high = np.array(ends).T.copy()
        scales = list(zip(reals, self._log, strict=True))
        start = np.array([log(p.low) if logged else p.low for p, logged in scales])
        end = np.array([log(p.high) if logged else p.high for p, logged in scales])
        with np.errstate(over="ignore"):
            huge = ~np.isfinite(end - start)
        # x = (start + u * width) / scale, halved inside where the width itself would overflow
        self._scale = np.where(huge, 0.5, 1.0)
        self._plain = not (self._log.any() or huge.any() or self._discrete)
        self._start = self._scale * start
        self._width = self._scale * end - self._start
        # u <= 1 and rounding is monotone: where the whole width stays below high, all does
        self._plain &= bool(np.all(self._start + self._width <= self.high))
        finest = self._finest(reals)
        self.domain = Domain(
            tuple(
                _axis(p, grid, float(step))
                for p, grid, step in zip(parameters, self._grids, finest, strict=True)
            )
        )

    def __repr__(self) -> str:
        return f"Space({self.parameters!r})"

    def _finest(self, reals: list[Real]) -> Array:
        """For each real axis, the step in the unit cube that still changes the value."""
        low, high = self._start.tolist(), (self._start + self._width).tolist()
        rounding = np.array([ulp(max(-a, b)) for a, b in zip(low, high, strict=True)])
        # exp rounds too, in proportion to its result: coarsely where that is subnormal
        exp = np.array([max(2.0**-52, ulp(p.low) / p.low) if p.low > 0 else 0.0 for p in reals])
        rounding = np.where(self._log, np.maximum(rounding, exp), rounding)
        finest: Array = np.maximum(2.0**-52, 4.0 * rounding / self._width)
        return finest

    def decode(self, u: Array) -> Array:
        """The parameters' values at a point of the unit cube, never outside their bounds."""
        x: Array = u * self._width
        x += self._start
        if not self._plain:
            x /= self._scale
            x[self._log] = np.exp(x[self._log])
            for i in self._discrete:
                axis, grid = self._steps(i)
                x[i] = grid.value(axis.at(float(u[i])))
            np.clip(x, self.low, self.high, out=x)
        return x

    @with_own_errors
    def encode(self, x: Array) -> Array:
        """The point of the unit cube for the parameters' values."""
        x = np.array(x, dtype=float)
        x[self._log] = np.log(x[self._log])
        u: Array = (self._scale * x - self._start) / self._width
        for i in self._discrete:
            axis, grid = self._steps(i)
            u[i] = axis.centre(grid.index(float(x[i])))
        return np.clip(u, 0.0, 1.0)

    def _steps(self, i: int) -> tuple[Steps, Grid]:
        axis, grid = self.domain.axes[i], self._grids[i]
        assert isinstance(axis, Steps)
        assert grid is not None
        return axis, grid

    def nearest(self, i: int, value: float) -> float:
        """The value of parameter i that is nearest to a number within its bounds."""
        grid = self._grids[i]
        return value if grid is None else grid.value(grid.index(value))

    def params(self, x: Array) -> dict[str, Any]:
        """Values by name: floats, whole numbers, options."""
        values = zip(self.parameters.items(), x.tolist(), strict=True)
        return {name: _value(parameter, number) for (name, parameter), number in values}

    @with_own_errors
    def point(self, point: Any) -> Array:
        """Check a caller's point, an array or a dict, and return it as an array of values."""
        if isinstance(point, Mapping):
            missing = [name for name in self.names if name not in point]
            unknown = [name for name in point if name not in self.parameters]
            if missing or unknown:
                raise SpaceError(
                    f"a point needs a value for each parameter and no other, such as "
                    f"{(missing or unknown)[0]!r}, got values for {brief(list(point))}"
                )
            point = [
                _number(name, parameter, point[name]) for name, parameter in self.parameters.items()
            ]
        try:
            x = numbers(point) + 0.0
        except TypeError:
            raise SpaceError(f"a point must be {self.dim} numbers, got {brief(point)}") from None
        if x.shape != (self.dim,):
            raise SpaceError(f"a point must have shape ({self.dim},), got shape {x.shape}")
        for i, (name, value) in enumerate(zip(self.names, x, strict=True)):
            low, high, grid = self.low[i], self.high[i], self._grids[i]
            if grid is not None and isinstance(self.parameters[name], Real) and isfinite(value):
                value = x[i] = _on_grid(grid, float(value))
            if not low <= value <= high:
                given = np.asarray(point, dtype=object)[i]
                raise SpaceError(f"{name}: {brief(given)} lies outside [{low}, {high}]")
            if grid is not None and value != (nearest := self.nearest(i, value)):
                parameter = self.parameters[name]
                if not isinstance(parameter, Real):
                    raise SpaceError(f"{name}: expected a whole number, got {value}")
                raise SpaceError(
                    f"{name}: expected a value in steps of {parameter.step} from {low}, such as "
                    f"{nearest}, got {value}"
                )
        return x

    def points(self, given: Any) -> list[Array]:
        """Check a point, or several in a sequence, and return each as an array of values."""
        if isinstance(given, Mapping):
            return [self.point(given)]
        if isinstance(given, str) or not hasattr(given, "__iter__"):
            raise SpaceError(
                f"expected a point, {'a dict' if self.named else f'{self.dim} numbers'}, or a "
                f"list of points, got {brief(given)}"
            )
        several = list(given)
        if several and not any(isinstance(each, Mapping) or np.ndim(each) for each in several):
            return [self.point(several)]
        return [self.point(each) for each in several]


def _grid(parameter: Parameter) -> Grid | None:
    """The numbers that stand for a parameter's values where these can be counted."""
    if isinstance(parameter, Real):
        return parameter.grid()
    if isinstance(parameter, Choice):
        return Grid(0, 1, 1, len(parameter.options))
    return Grid(parameter.low, 1, 1, parameter.high - parameter.low + 1)


def _ends(parameter: Parameter, grid: Grid | None) -> tuple[float, float]:
    if grid is not None:
        return grid.value(0), grid.value(grid.count - 1)
    assert isinstance(parameter, Real)
    return parameter.low, parameter.high


def _axis(parameter: Parameter, grid: Grid | None, finest: float) -> Axis:
    if grid is None:
        return Continuous(finest)
    if isinstance(parameter, Choice):
        return Options(grid.count)
    logged = isinstance(parameter, Int) and parameter.log
    return Steps(grid.count, grid.first if logged else None)


def _on_grid(grid: Grid, value: float) -> float:
    """The value of the grid that a caller may have computed, such as 0.1 * 3 for 0.3."""
    nearest = grid.value(grid.index(value))
    rounding = max(1e-9 * grid.by / grid.per, 4.0 * ulp(nearest))
    return nearest if abs(value - nearest) <= rounding else value


def _value(parameter: Parameter, number: float) -> Any:
    if isinstance(parameter, Real):
        return number
    return int(number) if isinstance(parameter, Int) else parameter.options[int(number)]


def _number(name: str, parameter: Parameter, value: Any) -> Any:
    if not isinstance(parameter, Choice):
        return value
    for i, option in enumerate(parameter.options):
        if type(option) is type(value) and equal(option, value):
            return float(i)
    raise SpaceError(f"{name}: expected one of {brief(parameter.options)}, got {brief(value)}")


def _parameters(space: Any) -> list[tuple[str, Parameter]]:
    if isinstance(space, Mapping):
        for name in space:
            if not isinstance(name, str):
                raise SpaceError(f"a parameter's name must be a string, got {brief(name)}")
        return [(name, as_parameter(name, parameter)) for name, parameter in space.items()]
    if hasattr(space, "lb") and hasattr(space, "ub"):  # scipy.optimize.Bounds
        try:
            low, high = np.broadcast_arrays(np.atleast_1d(space.lb), np.atleast_1d(space.ub))
        except ValueError:
            raise SpaceError(
                f"Bounds: lb and ub must match, got shapes {np.shape(space.lb)} "
                f"and {np.shape(space.ub)}"
            ) from None
        space = list(zip(low.ravel().tolist(), high.ravel().tolist(), strict=True))
    if isinstance(space, (str, bytes, Set)) or not hasattr(space, "__iter__"):
        raise SpaceError(
            "a space is a sequence of (low, high) pairs, a scipy Bounds or a dict of parameters, "
            f"got {brief(space)}"
        )
    parameters = [(f"x{i}", as_parameter(f"x{i}", pair)) for i, pair in enumerate(space)]
    for name, parameter in parameters:
        if isinstance(parameter, Choice):  # an array would hold the option's index
            raise SpaceError(
                f"{name}: a Choice needs a name, because an array cannot hold an option; give the "
                f"space as a dict, such as {{'kind': {brief(parameter)}}}"
            )
    return parameters
