"""The search space: converts between the parameters' values and the unit cube [0,1]^D.

The algorithms see the unit cube only, and the caller sees the parameters only; bounds, log scales,
whole numbers and options are converted here. In the parameters' own units, a point is an array with
one number per parameter. An option is represented by its index among the options, and a parameter
that does not exist with the point's options is represented by nan.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from math import isfinite, log, nan, ulp
from typing import Any, TypeAlias

import numpy as np

from ..base.checks import LARGEST, brief
from ..base.guard import with_own_errors
from ..base.typing import Array
from ..errors import SpaceError
from .axes import Discrete, Domain
from .layout import Slot, flatten
from .parameters import Fidelity, Fixed, Grid, Parameter, as_parameter, as_parameters, numbers

SpaceLike: TypeAlias = "Sequence[Any] | Mapping[str, Any] | Any"

BEYOND = 1e-12
"""A real number that is outside its bounds by at most this share of the range is moved to the
bound. A few operations on coordinates of the unit cube round by less than 1e-15, and a bound that
is missed by more than 1e-12 was not missed by rounding."""


class Space:
    """D parameters, and the conversions between their values and the unit cube.

    Parameters
    ----------
    space : sequence of (low, high), scipy.optimize.Bounds, or dict of name -> parameter
        Each parameter is a (low, high) pair, a `Real`, an `Int` or, in a dict only, a `Choice`.

    Attributes
    ----------
    parameters : dict
        All parameters by label, including those that exist only with some options. The label is
        the parameter's name, unless several parameters that never exist together share that name;
        it then includes the condition, such as ``"C (model='svm')"``.
    names : list of str
        The labels, in the order of a point's array.
    slots : list of Slot
        The same parameters, each with its label, its name and its condition.
    dim : int
        D, the number of parameters.
    low, high : array
        The smallest and the largest value of each parameter; for a `Choice`, indices of options.
    named : bool
        Whether the space was given as a dict.
    domain : Domain
        The axes of the unit cube.
    """

    @with_own_errors
    def __init__(self, space: SpaceLike) -> None:
        self.named = isinstance(space, Mapping)
        self.given = dict(_parameters(space))
        """The parameters as they were given; conditional ones are inside their `Choice`."""
        if not self.given:
            raise SpaceError("the space is empty; expected at least one parameter")
        self.slots = flatten(self.given)
        self.parameters = {slot.label: slot.parameter for slot in self.slots}
        self.names = list(self.parameters)
        self.dim = len(self.names)
        parameters = list(self.parameters.values())
        self.fidelity: Fidelity | None = parameters[-1].fidelity
        """How exact an evaluation is, the last number of a point; no axis of the cube is it."""
        if self.fidelity is not None:
            del parameters[-1]
        self.fixed: dict[int, Fixed] = {
            i: fixed for i, p in enumerate(parameters) if (fixed := p.fixed) is not None
        }
        """The parameters with one value, by their index in a point's array."""
        self._check_that_one_varies(len(parameters))
        searched = [known for p in parameters if (known := p.searched) is not None]
        """What a search of its own would see of them: a fixed parameter as what it was before."""
        self._pinned = [i for i in self.fixed if i < len(searched)]
        self._behind = np.array([p.ends[0] for p in parameters[len(searched) :]])
        self._grids = [p.grid() for p in searched]
        self._discrete = [i for i, grid in enumerate(self._grids) if grid is not None]
        self.low, self.high = np.array([p.ends for p in self.parameters.values()], float).T.copy()
        self._set_scales(searched)
        finest = self._finest()
        self._axes = [p.axis(step) for p, step in zip(searched, finest, strict=True)]
        conditions = tuple(slot.condition for slot in self.slots[: len(searched)])
        self.domain = Domain(
            tuple(p.axis(step) for p, step in zip(parameters, finest, strict=False)),
            conditions=conditions if any(conditions) else (),
        )
        self._check_numbers_of_options()

    def _check_that_one_varies(self, count: int) -> None:
        """Raise an error if each of the first `count` parameters is fixed, or there are none."""
        if not count:
            raise SpaceError(
                f"{self.names[-1]}: a Fidelity says how exact an evaluation is; the space needs "
                "another parameter to search"
            )
        if len(self.fixed) == count:
            raise SpaceError(
                f"{', '.join(map(brief, self.names[:count]))}: a plain value is a fixed "
                "parameter; the space needs another one to search, such as (low, high)"
            )

    def _check_numbers_of_options(self) -> None:
        """Raise an error if an axis has more options than a split can make cells."""
        most = LARGEST // self.dim
        for i, axis in self.domain.discrete:
            if not axis.ordered and axis.count > most:
                raise SpaceError(
                    f"{self.names[i]}: a choice may have at most {most} options in a space of "
                    f"{self.dim} parameters, because a split makes one cell for each, got "
                    f"{axis.count}"
                )

    def _set_scales(self, searched: Sequence[Parameter]) -> None:
        """How the values of continuous parameters become coordinates.

        It is x = (start + u * width) / scale, where a scale of 0.5 keeps the width from
        overflowing, and then exp(x) if the parameter has a logarithmic scale.
        """
        continuous = [grid is None for grid in self._grids]
        ends = [p.ends if c else (0.0, 1.0) for p, c in zip(searched, continuous, strict=True)]
        # If a log range is so narrow that its logarithms hardly differ, it is searched linearly.
        self._log = np.array(
            [
                c and p.log and high > low * (1.0 + 1e-8)
                for p, c, (low, high) in zip(searched, continuous, ends, strict=True)
            ]
        )
        scales = list(zip(ends, self._log, strict=True))
        start = np.array([log(low) if logged else low for (low, _), logged in scales])
        end = np.array([log(high) if logged else high for (_, high), logged in scales])
        with np.errstate(over="ignore"):
            huge = ~np.isfinite(end - start)
        self._scale = np.where(huge, 0.5, 1.0)
        self._plain = not (self._log.any() or huge.any() or self._discrete)
        self._start = self._scale * start
        self._width = self._scale * end - self._start

    def __repr__(self) -> str:
        return f"Space({self.given!r})"

    def _finest(self) -> list[float]:
        """For each real axis, the smallest step in the unit cube that changes the value."""
        low, high = self._start.tolist(), (self._start + self._width).tolist()
        rounding = np.array([ulp(max(-a, b)) for a, b in zip(low, high, strict=True)])
        # exp rounds in proportion to its result, which is coarse if the result is subnormal
        lows = [0.0 if i in self._discrete else low for i, low in enumerate(self.low.tolist())]
        exp = np.array([max(2.0**-52, ulp(e) / e) if e > 0 else 0.0 for e in lows[: len(low)]])
        rounding = np.where(self._log, np.maximum(rounding, exp), rounding)
        return np.maximum(2.0**-52, 4.0 * rounding / self._width).tolist()  # type: ignore[no-any-return]

    def decode(self, u: Array) -> Array:
        """Convert a point of the unit cube, or rows of them, into the parameters' values.

        The values are always within their bounds; a parameter that does not exist is nan, and a
        fidelity is at its top.
        """
        x = self.decode_all(u)
        if self.domain.conditional:
            x[..., : self.domain.dim][~self.domain.exists(u)] = nan
            for i in self.fixed if len(self._behind) else ():
                for row in x.reshape(-1, self.dim):
                    if not _exists(self.slots[i], row):
                        row[i] = nan
        return x

    def decode_all(self, u: Array) -> Array:
        """Like `decode`, but with a value even for parameters that do not exist at the point."""
        x: Array = u * self._width
        x += self._start
        if not self._plain:
            x /= self._scale
            x[..., self._log] = np.exp(x[..., self._log])
            ends = self._log & (np.abs(u - 0.5) >= 0.5)
            if ends.any():  # not 999.9999999999989
                low, high = self.low[: u.shape[-1]], self.high[: u.shape[-1]]
                x = np.where(ends, np.where(u < 0.5, low, high), x)
            for i in self._discrete:
                axis, grid = self._discrete_axis(i)
                places = np.ravel(u[..., i]).tolist()
                values = {place: grid.value(axis.at(place)) for place in set(places)}  # often one
                x[..., i] = np.reshape([values[place] for place in places], u.shape[:-1])
        for i in self._pinned:
            x[..., i] = self.fixed[i].number
        behind = self._behind if self.fidelity is None else [*self._behind, self.fidelity.high]
        if len(behind):
            behind = np.broadcast_to(behind, (*u.shape[:-1], len(behind)))
            x = np.concatenate([x, behind], axis=-1)
        np.maximum(x, self.low, out=x)  # np.clip would take three times as long
        np.minimum(x, self.high, out=x)
        return x

    @with_own_errors
    def encode(self, x: Array) -> Array:
        """Convert the parameters' values into a point of the unit cube."""
        x = np.array(x, dtype=float)[: self.domain.dim]
        absent = np.isnan(x) if self.domain.conditional else None
        if absent is not None:
            x[absent] = self.low[: len(x)][absent]
        x[self._log] = np.log(x[self._log])
        u: Array = (self._scale * x - self._start) / self._width
        for i in self._discrete:
            axis, grid = self._discrete_axis(i)
            u[i] = axis.centre(grid.index(float(x[i])))
        u = np.clip(u, 0.0, 1.0)
        if absent is not None:
            u[absent] = self.domain.middle[absent]
        return u

    def place(self, i: int, value: float) -> float:
        """The position of a value on continuous axis i; outside [0, 1] beyond its range."""
        inner = np.log(value) if self._log[i] else self._scale[i] * value
        return float((inner - self._start[i]) / self._width[i])

    def value_at(self, i: int, place: float) -> float:
        """The value at a position on continuous axis i, which may lie beyond its range."""
        inner = place * self._width[i] + self._start[i]
        return float(np.exp(inner) if self._log[i] else inner / self._scale[i])

    def last_within(self, i: int, bound: float, upper: bool) -> float | None:
        """The position of the last value of discrete axis i within a bound; None without any."""
        axis, grid = self._discrete_axis(i)
        j = grid.index(min(max(bound, float(self.low[i])), float(self.high[i])))
        if upper and grid.value(j) > bound:
            j -= 1
        elif not upper and grid.value(j) < bound:
            j += 1
        return axis.centre(j) if 0 <= j < axis.count else None

    def moved_by(self, i: int, places: Array, by: Array) -> Array:
        """The positions on continuous axis i of the values at some positions plus others."""
        width, scale = self._width[i], self._scale[i]
        if not self._log[i]:
            return np.asarray(places + by * scale / width)
        values = np.exp(places * width + self._start[i]) + by
        return np.asarray((np.log(values) - self._start[i]) / width)

    def per_unit(self, i: int, value: float) -> float:
        """How far a value moves along continuous axis i per unit, at a value."""
        return float((1.0 / value if self._log[i] else self._scale[i]) / self._width[i])

    def _discrete_axis(self, i: int) -> tuple[Discrete, Grid]:
        axis, grid = self._axes[i], self._grids[i]
        assert isinstance(axis, Discrete)
        assert grid is not None
        return axis, grid

    def moved(self, x: Array) -> str | None:
        """The first fixed parameter that has another value at a point, in words; None without."""
        for i in self._pinned:
            if x[i] == x[i] and x[i] != self.fixed[i].number:
                return f"{self.names[i]} == {self.fixed[i].value!r}"
        return None

    @property
    def own_names(self) -> list[str]:
        """The names of all parameters, each once; parameters that differ in label may share one."""
        return list(dict.fromkeys(slot.name for slot in self.slots))

    @property
    def pinned(self) -> bool:
        """Whether evaluations may be known at other values of a fixed parameter."""
        return bool(self._pinned)

    def nearest(self, i: int, value: float) -> float:
        """The possible value of parameter i that is nearest to a number within its bounds."""
        grid = self._grids[i] if i < len(self._grids) else None
        return value if grid is None else grid.value(grid.index(value))

    def between_whole_numbers(self, x: Array) -> list[tuple[str, tuple[float, float]]]:
        """The continuous parameters, by name, whose ends are whole, but not their value here.

        Perhaps the caller expects whole numbers from the range (1, 10).
        """
        here = zip(self.slots, self._grids, x.tolist(), strict=False)
        return [
            (slot.name, slot.parameter.ends)
            for i, (slot, grid, number) in enumerate(here)
            if grid is None
            and i not in self.fixed
            and all(end.is_integer() for end in slot.parameter.ends)
            and not (number != number or number.is_integer())
        ]

    def params(self, x: Array) -> dict[str, Any]:
        """The values by name, as the objective receives them: floats, whole numbers and options.

        Parameters that do not exist at the point are left out.
        """
        return {
            slot.name: slot.parameter.value_of(number)
            for slot, number in zip(self.slots, x.tolist(), strict=True)
            if number == number
        }

    def existing(self, params: Mapping[str, Any]) -> Iterator[Slot]:
        """Iterate over the parameters that exist, given the values of choices in `params`.

        The caller may add values to `params` between one parameter and the next. Whether a
        conditional parameter exists is decided by the value that its choice has by then.
        """
        there: list[Any] = []
        for slot in self.slots:
            if not _exists(slot, there):
                there.append(nan)
                continue
            yield slot
            number: Any = nan
            if slot.parameter.opens and slot.name in params:
                with suppress(SpaceError):
                    number = slot.parameter.number_of(slot.name, params[slot.name])
            there.append(number)

    def completed(self, x: Array) -> Array:
        """Complete a point whose options have been changed.

        Values of parameters that no longer exist become nan, and parameters that exist but have
        no value get the middle one.
        """
        x = np.where(np.isnan(x), self.decode_all(self.domain.middle), x)
        for i, slot in enumerate(self.slots):
            if not _exists(slot, x):
                x[i] = nan
        return x

    def columns(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The values of a point's `params` by label instead of by name."""
        if not self.domain.conditional:
            return dict(params)
        return {s.label: params[s.name] for s in self.existing(params) if s.name in params}

    @with_own_errors
    def point(self, point: Any) -> Array:
        """Check a point given by the caller, an array or a dict, and return it as an array."""
        if isinstance(point, Mapping):
            point = self._from_dict(point)
        try:
            x = numbers(point) + 0.0
        except TypeError:
            raise SpaceError(
                f"a point must be an array of {self.dim} numbers, got {brief(point)}"
            ) from None
        if x.shape != (self.dim,):
            raise SpaceError(f"a point must have shape ({self.dim},), got shape {x.shape}")
        for i, value in enumerate(x.tolist()):
            if not _exists(self.slots[i], x):
                if value == value:
                    raise SpaceError(
                        f"{self.names[i]} exists only with {self.slots[i].when}, so it must be nan "
                        f"in the array of a point with another option, got {value}"
                    )
                x[i] = nan  # there are several nans; this makes the bits always the same
                continue
            if i < self.domain.dim:
                value = x[i] = self._rounded(i, value)
                if self._is_possible(i, value):
                    continue
            given = np.asanyarray(point, dtype=object)[i]
            self.slots[i].parameter.check(self.names[i], value, given)
        return x

    def _is_possible(self, i: int, value: float) -> bool:
        """Whether searched parameter i can have this value; a quick form of its own `check`."""
        grid = self._grids[i]
        inside = bool(self.low[i] <= value <= self.high[i])
        return inside and (grid is None or value == grid.value(grid.index(value)))

    def _rounded(self, i: int, value: float) -> float:
        """The number of parameter i, moved to a possible one that is missed by rounding only."""
        if (grid := self._grids[i]) is not None:
            parameter = self.slots[i].parameter
            exact = parameter.whole or parameter.options is not None or not isfinite(value)
            return value if exact else _on_grid(grid, value)
        bound = min(max(value, float(self.low[i])), float(self.high[i]))
        unit = bound if self._log[i] else float(self._width[i])
        missed = abs(value - bound) * float(self._scale[i])
        return bound if missed <= BEYOND * unit else value

    def _from_dict(self, point: Mapping[str, Any]) -> list[Any]:
        """The numbers of a point given as a dict; nan for parameters that do not exist."""
        x: list[Any] = []
        used = set()
        for slot in self.slots:
            if not _exists(slot, x):
                x.append(nan)
                continue
            if slot.name not in point and slot.parameter.default is not None:
                x.append(slot.parameter.default)
                continue
            if slot.name not in point:
                only = f", which exists with {slot.when}," if slot.when else ""
                raise SpaceError(
                    "a point needs a value for every parameter, but "
                    f"{slot.name!r}{only} has none, got values for {brief(list(point))}"
                )
            x.append(slot.parameter.number_of(slot.name, point[slot.name]))
            used.add(slot.name)
        for name in point:
            if name not in used:
                raise SpaceError(self._why_not(name, x, point))
        return x

    def _why_not(self, name: str, x: Sequence[Any], point: Mapping[str, Any]) -> str:
        """An error message: why a point with these numbers cannot have a value for `name`."""
        for slot in self.slots:
            if slot.name == name:
                return f"{name!r} exists only with {slot.when}, but {self._instead(slot, x)}"
        return (
            f"{name!r} is not a parameter of the space, got values for {brief(list(point))}; leave "
            "it out"
        )

    def _instead(self, slot: Slot, x: Sequence[Any]) -> str:
        """The part of an error message that says what the point has instead of that option."""
        assert slot.condition is not None
        choice = self.slots[slot.condition.axis]
        number = x[slot.condition.axis]
        if number != number:
            return f"the point has no {choice.name!r}; leave {slot.name!r} out"
        option = choice.parameter.value_of(number)
        return f"the point has {choice.name}={brief(option)}; leave {slot.name!r} out"

    def points(self, given: Any) -> list[Array]:
        """Check one point or a sequence of points, and return each as an array of values."""
        if isinstance(given, Mapping):
            return [self.point(given)]
        if hasattr(given, "columns") or hasattr(given, "column_names"):
            methods = ("to_dicts", "to_pylist")  # polars, pyarrow
            method = next((each for each in methods if hasattr(given, each)), None)
            call = f"{method}()" if method else "to_dict('records')"
            raise SpaceError(
                "expected a point or a list of points, got a data frame; give its rows as dicts: "
                f"frame.{call}"
            )
        if isinstance(given, str) or not hasattr(given, "__iter__"):
            raise SpaceError(
                f"expected a point ({'a dict' if self.named else f'{self.dim} numbers'}) or a list "
                f"of points, got {brief(given)}"
            )
        several = list(given)
        if several and not any(isinstance(each, Mapping) or np.ndim(each) for each in several):
            return [self.point(several)]
        return [self.point(each) for each in several]


def _exists(slot: Slot, x: Sequence[Any] | Array) -> bool:
    """Whether a parameter exists at a point, of which x has at least the numbers before it."""
    condition = slot.condition
    return condition is None or x[condition.axis] in condition.options


def _on_grid(grid: Grid, value: float) -> float:
    """The value of the grid that differs from `value` by rounding only; else `value` itself.

    A caller may have computed 0.1 * 3, which is not equal to 0.3.
    """
    nearest = grid.value(grid.index(value))
    rounding = max(1e-9 * grid.by / grid.per, 4.0 * ulp(nearest))
    return nearest if abs(value - nearest) <= rounding else value


def _parameters(space: Any) -> list[tuple[str, Parameter]]:
    if isinstance(space, Mapping):
        return list(as_parameters(space).items())
    if hasattr(space, "lb") and hasattr(space, "ub"):  # scipy.optimize.Bounds
        try:
            low, high = np.broadcast_arrays(np.atleast_1d(space.lb), np.atleast_1d(space.ub))
        except ValueError:
            raise SpaceError(
                f"Bounds: lb and ub must have the same length, got shapes {np.shape(space.lb)} "
                f"and {np.shape(space.ub)}"
            ) from None
        space = list(zip(low.ravel().tolist(), high.ravel().tolist(), strict=True))
    if isinstance(space, (str, bytes, Set)) or not hasattr(space, "__iter__"):
        raise SpaceError(
            "a space must be a sequence of (low, high) pairs, a Bounds of scipy or a dict of "
            f"parameters, got {brief(space)}"
        )
    parameters = [(f"x{i}", as_parameter(f"x{i}", pair)) for i, pair in enumerate(space)]
    for name, parameter in parameters:
        if parameter.name_needed:
            raise SpaceError(f"{name}: {parameter.name_needed}")
    return parameters
