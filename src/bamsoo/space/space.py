"""The search space: named parameters on one side, [0,1]^D on the other.

The only place that knows bounds, logarithms, whole numbers, options and conditions. A point is an
array with one number for each parameter; an option is represented by its index among the options,
and a parameter that does not exist with the options of the point by nan.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from math import isfinite, log, nan, ulp
from typing import Any, TypeAlias

import numpy as np

from .._typing import Array
from ..checks import brief
from ..errors import SpaceError
from ..guard import with_own_errors
from .axes import Axis, Continuous, Domain, Options, Steps
from .layout import Slot, flatten
from .parameters import (
    Choice,
    Grid,
    Int,
    Parameter,
    Real,
    as_parameter,
    check_name,
    equal,
    numbers,
)

SpaceLike: TypeAlias = "Sequence[Any] | Mapping[str, Any] | Any"


class Space:
    """D parameters, and the maps between their values and the unit cube.

    Parameters
    ----------
    space : sequence of (low, high), scipy.optimize.Bounds, or dict of name -> parameter
        A dict's parameters are (low, high) pairs, `Real`, `Int` or `Choice`.

    Attributes
    ----------
    parameters : dict
        Every parameter, also those that exist only with some options, by its label: its name, or
        where several that never exist together have that name, the name and when, such as
        ``"C (model='svm')"``.
    names : list of str
        The labels.
    slots : list of Slot
        The same, each with its name and its condition.
    """

    @with_own_errors
    def __init__(self, space: SpaceLike) -> None:
        self.named = isinstance(space, Mapping)
        self.given = dict(_parameters(space))
        """The parameters as they were given, each with those that it brings along inside it."""
        if not self.given:
            raise SpaceError("the space is empty; expected at least one parameter")
        self.slots = flatten(self.given)
        self.parameters = {slot.label: slot.parameter for slot in self.slots}
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
        conditions = tuple(slot.condition for slot in self.slots)
        self.domain = Domain(
            tuple(
                _axis(p, grid, float(step))
                for p, grid, step in zip(parameters, self._grids, finest, strict=True)
            ),
            conditions=conditions if any(conditions) else (),
        )

    def __repr__(self) -> str:
        return f"Space({self.given!r})"

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
        """The parameters' values at a point of the unit cube, never outside their bounds.

        A parameter that does not exist there is nan.
        """
        x = self.decode_all(u)
        if self.domain.conditional:
            x[~self.domain.exists(u)] = nan
        return x

    def decode_all(self, u: Array) -> Array:
        """As `decode`, with a value for every parameter, also those that do not exist there."""
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
        absent = np.isnan(x) if self.domain.conditional else None
        if absent is not None:
            x[absent] = self.low[absent]
        x[self._log] = np.log(x[self._log])
        u: Array = (self._scale * x - self._start) / self._width
        for i in self._discrete:
            axis, grid = self._steps(i)
            u[i] = axis.centre(grid.index(float(x[i])))
        u = np.clip(u, 0.0, 1.0)
        if absent is not None:
            u[absent] = self.domain.middle[absent]
        return u

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
        """Values by name: floats, whole numbers, options; only of the parameters that exist."""
        return {
            slot.name: _value(slot.parameter, number)
            for slot, number in zip(self.slots, x.tolist(), strict=True)
            if number == number
        }

    def existing(self, params: Mapping[str, Any]) -> Iterator[Slot]:
        """The parameters that exist, one after another.

        `params` may be filled on the way: what it holds for a choice when the next one is asked for
        decides whether those that the choice brings along exist.
        """
        there: list[Any] = []
        for slot in self.slots:
            if not _exists(slot, there):
                there.append(nan)
                continue
            yield slot
            number: Any = nan
            if isinstance(slot.parameter, Choice) and slot.name in params:
                with suppress(SpaceError):
                    number = _number(slot.name, slot.parameter, params[slot.name])
            there.append(number)

    def completed(self, x: Array) -> Array:
        """The point with these values, as far as they exist; others that do are in the middle."""
        x = np.where(np.isnan(x), self.decode_all(self.domain.middle), x)
        for i, slot in enumerate(self.slots):
            if not _exists(slot, x):
                x[i] = nan
        return x

    def columns(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The values of a point's `params` by label, instead of by name."""
        if not self.domain.conditional:
            return dict(params)
        x = self.point(params)
        return {
            slot.label: params[slot.name]
            for slot, number in zip(self.slots, x.tolist(), strict=True)
            if number == number
        }

    @with_own_errors
    def point(self, point: Any) -> Array:
        """Check a caller's point, an array or a dict, and return it as an array of values."""
        if isinstance(point, Mapping):
            point = self._from_dict(point)
        try:
            x = numbers(point) + 0.0
        except TypeError:
            raise SpaceError(f"a point must be {self.dim} numbers, got {brief(point)}") from None
        if x.shape != (self.dim,):
            raise SpaceError(f"a point must have shape ({self.dim},), got shape {x.shape}")
        for i, (name, value) in enumerate(zip(self.names, x, strict=True)):
            slot = self.slots[i]
            if not _exists(slot, x):
                if value == value:
                    raise SpaceError(
                        f"{name} exists only with {slot.when}, so that its place in a point's "
                        f"array is nan, got {value}"
                    )
                x[i] = nan  # the same bits, whatever nan it was
                continue
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

    def _from_dict(self, point: Mapping[str, Any]) -> list[Any]:
        """The numbers of a point that is given by name; nan for parameters that do not exist."""
        x: list[Any] = []
        used = set()
        for slot in self.slots:
            if not _exists(slot, x):
                x.append(nan)
                continue
            if slot.name not in point:
                only = f" with {slot.when}" if slot.when else ""
                raise SpaceError(
                    f"a point needs a value for each parameter and no other, such as "
                    f"{slot.name!r}{only}, got values for {brief(list(point))}"
                )
            x.append(_number(slot.name, slot.parameter, point[slot.name]))
            used.add(slot.name)
        for name in point:
            if name not in used:
                raise SpaceError(self._why_not(name, x, point))
        return x

    def _why_not(self, name: str, x: Sequence[Any], point: Mapping[str, Any]) -> str:
        """Why a point with these numbers cannot have a value for `name`."""
        for slot in self.slots:
            if slot.name == name:
                return f"{name!r} exists only with {slot.when}, and {self._instead(slot, x)}"
        return (
            f"a point needs a value for each parameter and no other, and {name!r} is none of "
            f"them, got values for {brief(list(point))}"
        )

    def _instead(self, slot: Slot, x: Sequence[Any]) -> str:
        """What a point has instead of the option that `slot` needs."""
        assert slot.condition is not None
        choice = self.slots[slot.condition.axis]
        number = x[slot.condition.axis]
        if number != number:
            return f"the point has no {choice.name!r}; leave it out"
        assert isinstance(choice.parameter, Choice)
        option = choice.parameter.options[int(number)]
        return f"the point has {choice.name}={brief(option)}; leave it out"

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


def _exists(slot: Slot, x: Sequence[Any] | Array) -> bool:
    """Whether a parameter exists at the point whose first numbers these are."""
    condition = slot.condition
    return condition is None or x[condition.axis] in condition.options


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
        return [
            (check_name(name), as_parameter(name, parameter)) for name, parameter in space.items()
        ]
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
