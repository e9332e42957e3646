"""The kinds of parameters: real numbers, whole numbers, options without an order, a fidelity.

Each checks its own arguments when it is created, so that every parameter that exists is valid.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import inf, isfinite, lcm, nan, ulp
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from ..base.checks import brief
from ..base.typing import Array
from ..errors import SpaceError


@dataclass(frozen=True)
class Real:
    """A real number between `low` and `high`, both included.

    Parameters
    ----------
    low, high : float
        The bounds; low < high.
    log : bool, default False
        Whether to search on a logarithmic scale, which needs low > 0.
    step : float, optional
        If given, only the values low, low + step, low + 2 step and so on, up to high, are used. It
        cannot be combined with `log`.
    """

    low: float
    high: float
    log: bool = False
    step: float | None = None

    def __post_init__(self) -> None:
        _check_interval("Real", self.low, self.high, self.log)
        # Adding 0.0 turns -0.0 into 0.0, so that equal points have the same bits.
        object.__setattr__(self, "low", float(self.low) + 0.0)
        object.__setattr__(self, "high", float(self.high) + 0.0)
        object.__setattr__(self, "log", bool(self.log))
        if self.step is not None:
            _check_step("Real", self.low, self.high, self.log, self.step)
            object.__setattr__(self, "step", float(self.step))

    def grid(self) -> "Grid | None":
        """The values of a parameter with a step; None if it has no step."""
        return None if self.step is None else Grid.of(self.low, self.high, self.step)


@dataclass(frozen=True)
class Grid:
    """The numbers (first + i * by) / per for i = 0, ..., count - 1.

    Since `first`, `by` and `per` are whole numbers, each value is rounded only once. In steps of
    0.1, for example, the value after 0.2 is 0.3 and not 0.30000000000000004.
    """

    first: int
    by: int
    per: int
    count: int

    @classmethod
    def of(cls, low: float, high: float, step: float) -> "Grid":
        """The numbers from low to high in these steps, all three taken as decimal numbers."""
        start, end, by = (Fraction(repr(number)) for number in (low, high, step))
        per = lcm(start.denominator, by.denominator)
        return cls(int(start * per), int(by * per), per, int((end - start) // by) + 1)

    def value(self, i: int) -> float:
        """The value with index i."""
        return (self.first + i * self.by) / self.per

    def index(self, value: float) -> int:
        """The index of the value that is nearest to a number."""
        nearest = round((Fraction(value) * self.per - self.first) / self.by)
        return min(max(nearest, 0), self.count - 1)


@dataclass(frozen=True)
class Int:
    """A whole number between `low` and `high`, both included.

    Parameters
    ----------
    low, high : int
        The bounds; low < high.
    log : bool, default False
        As in `Real`.
    step : int, optional
        As in `Real`.
    """

    low: int
    high: int
    log: bool = False
    step: int | None = None

    def __post_init__(self) -> None:
        _check_interval("Int", self.low, self.high, self.log)
        for what, value in (("low", self.low), ("high", self.high)):
            if isinstance(value, bool) or int(value) != value:
                raise SpaceError(f"Int: {what} must be a whole number, got {brief(value)}")
            if abs(value) > 2**52:
                raise SpaceError(
                    f"Int: {what} must be between -2**52 and 2**52, where whole numbers are exact "
                    f"as floating-point numbers, got {brief(value)}; use Real for a wider range"
                )
            object.__setattr__(self, what, int(value))
        object.__setattr__(self, "log", bool(self.log))
        if self.step is not None:
            _check_step("Int", self.low, self.high, self.log, self.step)
            if isinstance(self.step, bool) or int(self.step) != self.step:
                raise SpaceError(f"Int: step must be a whole number, got {brief(self.step)}")
            object.__setattr__(self, "step", int(self.step))

    def grid(self) -> Grid:
        """The values of the parameter."""
        step = self.step or 1
        return Grid(self.low, step, 1, (self.high - self.low) // step + 1)


@dataclass(frozen=True, repr=False)
class Choice:
    """One of several options that have no order.

    Parameters
    ----------
    options : sequence or dict
        The values that the objective may receive: distinct strings, numbers or other objects. The
        points that a search asks for depend on the order in which the options are listed, so a set
        is refused. If this is a dict, it maps each option to the parameters that exist only with
        that option: a dict of name -> parameter, or None if there are none. These parameters may
        be choices with parameters of their own.

    Examples
    --------
    >>> from bamsoo import Choice, Int, Real
    >>> model = Choice({"svm": {"C": Real(1e-3, 1e3, log=True)}, "forest": {"depth": Int(1, 20)}})
    >>> model.options
    ('svm', 'forest')
    """

    options: tuple[Any, ...]
    opens: tuple[dict[str, "Parameter"], ...] = field(default=(), hash=False)
    """For each option, the parameters that exist only with it; empty if no option has any."""

    def __init__(self, options: Sequence[Any] | Mapping[Any, Any]) -> None:
        if isinstance(options, (str, bytes)) or not isinstance(options, Iterable):
            raise SpaceError(f"Choice: expected a list of options, got {brief(options)}")
        if isinstance(options, (set, frozenset)):
            raise SpaceError(
                "Choice: a set has no order, so equal searches could ask for different points, "
                f"got {brief(options)}; give a list, such as sorted(options)"
            )
        object.__setattr__(self, "options", tuple(options))
        if not self.options:
            raise SpaceError("Choice: expected at least one option, got none")
        for option in _repeated(self.options):
            raise SpaceError(f"Choice: the option {brief(option)} is listed twice; leave one out")
        opens: tuple[dict[str, Parameter], ...] = ()
        if isinstance(options, Mapping):
            opens = tuple(_opened(option, given) for option, given in options.items())
        object.__setattr__(self, "opens", opens if any(opens) else ())

    @cached_property
    def _places(self) -> dict[Any, int]:
        """The index of each option that has a hash, by its type and itself."""
        places = {}
        for i, option in enumerate(self.options):
            with suppress(Exception):
                places[type(option), option] = i
        return places

    def index(self, value: Any) -> int | None:
        """The index of the option of the same type that equals a value, or None."""
        with suppress(Exception):  # a value without a hash
            return self._places[type(value), value]
        same = (type(option) is type(value) and equal(option, value) for option in self.options)
        return next((i for i, found in enumerate(same) if found), None)

    def __repr__(self) -> str:
        if not self.opens:
            return f"Choice(options={self.options!r})"
        return f"Choice({dict(zip(self.options, self.opens, strict=True))!r})"


def _repeated(options: tuple[Any, ...]) -> Iterator[Any]:
    """The options that equal an earlier one."""
    seen: set[Any] = set()
    rest: list[Any] = []  # without a hash, or not equal to themselves: compared one by one
    for option in options:
        known = any(equal(option, other) for other in rest)
        try:
            if option != option:
                raise TypeError
            known = known or option in seen
            seen.add(option)
        except Exception:
            known = known or any(equal(option, other) for other in seen)
            rest.append(option)
        if known:
            yield option


def _opened(option: Any, given: Any) -> dict[str, "Parameter"]:
    """Check the parameters that exist only with an option, and return them."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise SpaceError(
            f"Choice: the option {brief(option)} must map to a dict of parameters or to None, got "
            f"{brief(given)}"
        )
    opened = as_parameters(given)
    for name, each in opened.items():
        if isinstance(each, Fidelity):
            raise SpaceError(
                f"{name}: a Fidelity applies to every evaluation, so it cannot exist only with the "
                f"option {brief(option)}; move it out of the Choice"
            )
    return opened


@dataclass(frozen=True)
class Fidelity:
    """How exact an evaluation is: rows, repeats, the fineness of a mesh. The search chooses it.

    Results are judged at `high`, the top. Lower values are cheaper versions of the same function.
    If both ends are of type int, so are all values.

    Parameters
    ----------
    low, high : float or int
        The cheapest version, and the top; low < high.
    log : bool, default False
        Whether the difference from the top shrinks with the logarithm of the value rather than with
        the value itself.
    cost : callable, optional
        What an evaluation at a value costs, in any unit; a positive number. By default the cost is
        proportional to the value. It is called at each of the `levels` when the parameter is made,
        and the attribute holds these numbers, divided by that of the top.

    Examples
    --------
    >>> bamsoo.Fidelity(500, 8000).levels
    (500, 2000, 8000)
    """

    low: float
    high: float
    log: bool = False
    cost: Any = None

    def __post_init__(self) -> None:
        _check_interval("Fidelity", self.low, self.high, self.log)
        ends = (self.low, self.high)
        whole = all(isinstance(e, (int, np.integer)) and not isinstance(e, bool) for e in ends)
        for name, end in (("low", self.low), ("high", self.high)):
            object.__setattr__(self, name, int(end) if whole else float(end) + 0.0)
        object.__setattr__(self, "log", bool(self.log))
        if self.low > 0 and self.high / self.low == inf:
            raise SpaceError(
                "Fidelity: high must be at most 1e308 times low, got "
                f"low={brief(self.low)}, high={brief(self.high)}"
            )
        if self.cost is None:
            if not self.low > 0:
                raise SpaceError(
                    "Fidelity: the cost is proportional to the value, so low must be above 0, got "
                    f"low={brief(self.low)}; give cost=, a function of the value"
                )
            return
        if not callable(self.cost) and not isinstance(self.cost, (list, tuple)):
            raise SpaceError(f"Fidelity: cost must be a function, got {brief(self.cost)}")
        costs = [self.cost(v) for v in self.levels] if callable(self.cost) else list(self.cost)
        for value, cost in zip(self.levels, costs, strict=False):
            try:
                good = 0.0 < float(numbers(cost)) < inf
            except TypeError:
                good = False
            if not good:
                raise SpaceError(
                    "Fidelity: cost must return a positive, finite number, but for "
                    f"{brief(value)} it returned {brief(cost)}"
                )
        if len(costs) != len(self.levels):
            raise SpaceError(f"Fidelity: cost must be a function, got {brief(self.cost)}")
        top = float(costs[-1])
        for value, cost in zip(self.levels, costs, strict=True):
            if float(cost) > top:  # a run would exceed its budget
                raise SpaceError(
                    "Fidelity: no level may cost more than the top, but for "
                    f"{brief(value)} cost returned {brief(cost)} and for {brief(self.high)} only "
                    f"{brief(costs[-1])}"
                )
        object.__setattr__(self, "cost", tuple(float(cost) / top for cost in costs))

    @property
    def whole(self) -> bool:
        """Whether all values are whole numbers."""
        return isinstance(self.low, int)

    @cached_property
    def levels(self) -> tuple[float, ...]:
        """The values at which a search evaluates, from the lowest to the top.

        Each is about `RUNG` times the one before, or evenly spaced if `low` is not above 0.
        """
        if self.low > 0:
            most = float(np.log(self.high / self.low) / np.log(RUNG))
            rungs = int(np.clip(round(most), 1, MOST_RUNGS))
            values = np.geomspace(float(self.low), float(self.high), rungs + 1)
        else:
            values = np.linspace(float(self.low), float(self.high), 3)
        # six digits are the same on every processor, so that a study can be continued on another
        inner = [round(v) if self.whole else float(f"{v:.6g}") for v in values[1:-1].tolist()]
        inside = (v for v in inner if self.low < v < self.high)
        return tuple(dict.fromkeys((self.low, *inside, self.high)))

    def cost_of(self, value: float) -> float:
        """What an evaluation costs, in evaluations at the top; interpolated between levels."""
        if self.cost is None:
            return float(value) / float(self.high)
        return float(np.interp(value, self.levels, self.cost))

    def place(self, value: float) -> float:
        """Where a value is between low (0) and high (1), on the scale of the parameter."""
        if self.log:
            return float(np.log(value / self.low) / np.log(self.high / self.low))
        return float((value - self.low) / (self.high - self.low))


RUNG = 4.0
"""The ratio of neighbouring levels. The levels below one that is reached then cost a third of it
together; with 2, they would cost as much as it does."""

MOST_RUNGS = 4
"""The largest number of levels below the top."""


@dataclass(frozen=True)
class Fixed:
    """A parameter with one value. In a dict of parameters, a plain value stands for it.

    Parameters
    ----------
    value : number, str or bool
        The value that every evaluation gets.
    was : Real, Int or Choice, optional
        What the parameter was in earlier evaluations, with `value` among its values. Evaluations
        with other values are then no results, but the model learns from them. By default, there are
        none.
    """

    value: Any
    was: "Real | Int | Choice | None" = None

    def __post_init__(self) -> None:
        value = self.value
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, float):
            value += 0.0  # turns -0.0 into 0.0
        object.__setattr__(self, "value", value)
        whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**52
        if whole or (isinstance(value, float) and not isfinite(value)):
            raise SpaceError(
                f"a fixed number must be finite, and as a whole number at most 2**52, got "
                f"{brief(self.value)}"
            )
        if isinstance(self.was, Choice) and self.was.opens:
            object.__setattr__(self, "was", Choice(self.was.options))
        if self.was is not None and self.is_number(self.was) and self.was.step is not None:
            object.__setattr__(self, "was", replace(self.was, step=None))
        if self.was is not None and not self._is_among(self.was):
            raise SpaceError(f"a parameter that was {self.was} cannot be {brief(value)}")

    @staticmethod
    def is_number(parameter: Any) -> TypeGuard["Real | Int"]:
        """Whether the values of a parameter are numbers in a range."""
        return isinstance(parameter, (Real, Int))

    def _is_among(self, was: "Real | Int | Choice") -> bool:
        if isinstance(was, Choice):
            return was.index(self.value) is not None
        number = single(self.value)
        whole = isinstance(was, Real) or (number is not None and number.is_integer())
        return number is not None and whole and was.low <= number <= was.high

    @property
    def number(self) -> float:
        """The number that represents the value in a point's array."""
        if isinstance(self.was, Choice):
            index = self.was.index(self.value)
            assert index is not None
            return float(index)
        number = None if isinstance(self.value, (str, bool)) else single(self.value)
        return 0.0 if number is None else number

    @property
    def low(self) -> float:
        """The smallest number that represents a value in earlier evaluations."""
        if isinstance(self.was, Choice):
            return 0.0
        return self.number if self.was is None else float(self.was.low)

    @property
    def high(self) -> float:
        """The largest number that represents a value in earlier evaluations."""
        if isinstance(self.was, Choice):
            return len(self.was.options) - 1.0
        return self.number if self.was is None else float(self.was.high)

    @property
    def log(self) -> bool:
        """Whether the parameter had a logarithmic scale."""
        return isinstance(self.was, (Real, Int)) and self.was.log

    def number_of(self, name: str, value: Any) -> Any:
        """The number for a value in a point, which may be that of an earlier evaluation."""
        if isinstance(self.was, Choice):
            if (index := self.was.index(value)) is None:
                raise SpaceError(
                    f"{name}: expected one of {brief(self.was.options)}, got {brief(value)}"
                )
            return float(index)
        if self.was is None:
            text = isinstance(self.value, (str, bool)) or isinstance(value, (str, bool))
            if not (equal(value, self.value) and (not text or type(value) is type(self.value))):
                raise SpaceError(f"{name} is fixed at {brief(self.value)}, got {brief(value)}")
            return self.number
        return value

    def value_of(self, number: float) -> Any:
        """The value that a number of a point's array represents."""
        if number == self.number or self.was is None:
            return self.value
        if isinstance(self.was, Choice):
            return self.was.options[int(number)]
        return int(number) if isinstance(self.was, Int) else number

    @property
    def place(self) -> float:
        """Where a number lies between the ends of the range that it had, on the scale of that."""
        assert isinstance(self.was, Real)
        ends = np.array([self.was.low, self.number, self.was.high])
        if self.was.log:
            ends = np.log(ends)
        low, here, high = (0.5 * ends).tolist()  # halves, since a width may overflow
        return float(min(max((here - low) / (high - low), 0.0), 1.0))


PLAIN = (int, float, str, bool, np.number, np.bool_, np.str_)
"""The types of plain values, which are fixed parameters in a dict of parameters."""


def check_name(name: Any) -> str:
    """Return a parameter's name, or raise an error if it is not a string."""
    if not isinstance(name, str):
        raise SpaceError(f"a parameter's name must be a string, got {brief(name)}")
    return name


Parameter: TypeAlias = Real | Int | Choice | Fidelity | Fixed


def equal(one: Any, other: Any) -> bool:
    """Whether two options are the same; a comparison without a clear answer counts as no."""
    if one is other:
        return True
    try:
        return bool(one == other) or bool(one != one and other != other)  # two nans are the same
    except Exception:  # comparing two arrays gives an array, which has no truth value
        return False


def numbers(value: Any) -> Array:
    """Convert `value` into an array of float64.

    A whole number beyond the largest float64 becomes infinite, and a masked entry nan. Of a tensor
    that torch differentiates, or that is on another device, the value is taken.

    Raises
    ------
    TypeError
        If the value holds anything other than real numbers.
    """
    try:
        array = np.asarray(_on_its_own(value))
        entries = array.ravel().tolist()
    except Exception as error:  # an object of another library may raise anything here
        raise TypeError from error
    # numpy would parse strings, drop imaginary parts and read None as nan
    if array.dtype.kind not in "biufO" or isinstance(value, bytearray) or None in entries:
        raise TypeError
    try:
        with np.errstate(all="ignore"):  # a long double may be too large for a float64
            floats: Array = array.astype(float)
    except OverflowError:
        floats = np.array([_nearest_float(entry) for entry in entries]).reshape(array.shape)
    except Exception as error:
        raise TypeError from error
    return np.where(value.mask, nan, floats) if isinstance(value, np.ma.MaskedArray) else floats


def _on_its_own(value: Any) -> Any:
    """The values of a tensor of torch alone, which refuses to become an array as it is."""
    for method in ("detach", "cpu"):
        if callable(take := getattr(value, method, None)):
            value = take()
    return value


def single(value: Any) -> float | None:
    """A single number, whatever holds it, as a float; None if it is not one number."""
    try:
        array = numbers(value)
    except TypeError:
        return None
    return float(array.reshape(())) if array.size == 1 else None


def _nearest_float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf


def _check_interval(name: str, low: Any, high: Any, log_scale: Any) -> None:
    given = f"got low={brief(low)}, high={brief(high)}"
    try:
        low, high = float(numbers(low)), float(numbers(high))
    except TypeError:
        raise SpaceError(f"{name}: bounds must be numbers, {given}") from None
    if not (isfinite(low) and isfinite(high)):
        raise SpaceError(f"{name}: bounds must be finite floating-point numbers, {given}")
    if not low < high:
        raise SpaceError(f"{name}: low must be below high, {given}")
    if not isinstance(log_scale, (bool, np.bool_)) and log_scale not in (0, 1):
        raise SpaceError(f"{name}: log must be True or False, got {brief(log_scale)}")
    if log_scale and low <= 0:
        raise SpaceError(f"{name}: a log scale needs low > 0, {given}")


def _check_step(name: str, low: float, high: float, log_scale: bool, step: Any) -> None:
    try:
        size = float(numbers(step))
    except TypeError:
        raise SpaceError(f"{name}: step must be a number, got {brief(step)}") from None
    if log_scale:
        raise SpaceError(f"{name}: step cannot be combined with log=True; leave one of them out")
    if not 0.0 < size < inf or Grid.of(low, high, size).count < 2:
        raise SpaceError(
            f"{name}: step must be above 0 and at most high - low = {high - low:g}, "
            f"got {brief(step)}"
        )
    if size < 2.0 * ulp(max(abs(low), abs(high))) or (high - low) / size > 2**52:
        raise SpaceError(
            f"{name}: a step of {brief(step)} is too small to tell apart the values between "
            f"{low:g} and {high:g}; give a larger step or none"
        )


def as_parameters(given: Mapping[Any, Any]) -> dict[str, Parameter]:
    """The parameters of a dict by name.

    Here a list of two numbers is refused: elsewhere it may mean two options, as in scikit-learn.
    """
    for name, each in given.items():
        if isinstance(each, list) and len(each) == 2 and _are_numbers(each):
            raise SpaceError(
                f"{name}: a list could be a range or options, got {brief(each)}; give a tuple "
                f"{brief(tuple(each))} for a range, or Choice({brief(each)}) for options"
            )
    return {
        check_name(name): _fixed(name, each)
        if isinstance(each, PLAIN)
        else as_parameter(name, each)
        for name, each in given.items()
    }


def _fixed(name: str, value: Any) -> Fixed:
    try:
        return Fixed(value)
    except SpaceError as error:
        raise SpaceError(f"{name}: {error}") from None


def _are_numbers(given: Iterable[Any]) -> bool:
    return all(isinstance(each, (int, float, np.number)) for each in given)


def _as_in_skopt(given: Any) -> str:
    """What to write for a range with its distribution, such as (1e-3, 10, "log-uniform")."""
    if not (isinstance(given, (list, tuple)) and len(given) == 3 and _are_numbers(given[:2])):
        return ""
    low, high, prior = given
    if prior not in ("log-uniform", "uniform", "log", "linear"):
        return ""
    kind = "Int" if isinstance(low, int) and isinstance(high, int) else "Real"
    log = ", log=True" if prior in ("log-uniform", "log") else ""
    return f"; write {kind}({low!r}, {high!r}{log})"


def as_parameter(name: str, parameter: Any) -> Parameter:
    """Return a parameter unchanged, or convert a (low, high) pair into a `Real`."""
    if isinstance(parameter, (Real, Int, Choice, Fidelity, Fixed)):
        return parameter
    try:
        # These could be unpacked into two items as well, but they are not a (low, high) pair.
        if isinstance(parameter, (str, bytes, Mapping, Set)):
            raise TypeError
        low, high = parameter
        if isinstance(parameter, list) and not _are_numbers(parameter):
            raise TypeError
    except (TypeError, ValueError):
        options = isinstance(parameter, (list, tuple, Set)) and len(parameter) > 0
        hint = f"; for options, give Choice({brief(parameter)})" if options else ""
        hint = _as_in_skopt(parameter) or hint
        raise SpaceError(
            f"{name}: expected (low, high), Real, Int or Choice, got {brief(parameter)}{hint}"
        ) from None
    _check_interval(name, low, high, False)
    return Real(low, high)
