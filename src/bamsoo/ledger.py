"""The record of all trials, pending and finished, in the caller's own units.

A trial is pending from the moment it is handed out until its value is told. The record is what the
events so far add up to; it knows nothing of the search.
"""

from bisect import bisect_left, insort
from collections.abc import Collection, Iterator, KeysView, Mapping, Sequence
from math import isfinite, nan
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._typing import Array
from .errors import TrialError
from .events import Asked, Enqueued, Event, Expected, Simple, Told
from .space import Constraints, Space


class Trial:
    """A point to evaluate: its number, `x` as an array, `params` by name."""

    __slots__ = ("key", "number", "owner", "space", "x")

    def __init__(self, number: int, key: bytes, space: Space, owner: str = "") -> None:
        self.number, self.key, self.space, self.owner = number, key, space, owner
        self.x: Array = np.frombuffer(key).copy()  # a copy, since the caller may write to it

    def __repr__(self) -> str:
        return f"Trial({self.number}, {self.params})"

    @property
    def params(self) -> dict[str, Any]:
        """Values by name (x0, x1, ... where the space has no names)."""
        return self.space.params(np.frombuffer(self.key))


class Evaluation(NamedTuple):
    """A finished trial, or a point that was told without being asked for (its number is None).

    The value is in the caller's own sense: a maximised function keeps its sign.
    """

    number: int | None
    x: Array
    value: float  # nan: failed
    error: str | None = None  # why it failed
    measured: tuple[float, ...] = ()
    """One number for each measured constraint, which is met if the number is <= 0."""
    feasible: bool = True
    """Whether there is a value and every constraint is met, known or measured."""
    variance: float | None = None
    """The variance of the noise in the value, if it is known."""
    told_at: float | None = None
    """When the value was told, in seconds since 1970, if that is stored."""
    extras: Mapping[str, Simple] = {}
    """What else the evaluation returned, by name."""

    @property
    def state(self) -> str:
        """Whether the trial is "done" or "failed", or its value was "given" unasked."""
        if not isfinite(self.value):
            return "failed"
        return "given" if self.number is None else "done"


class Record(NamedTuple):
    """A trial, or a point told without being asked for, as a row of a table.

    `state` is "done", "failed", "out" (pending: asked for but not told yet) or "given" (a point
    that nobody asked for; it has no number). Times are seconds since 1970, if they are stored.
    """

    number: int | None
    params: dict[str, Any]
    value: float | None
    state: str
    error: str | None
    asked_at: float | None
    told_at: float | None
    measured: dict[str, float] | None = None
    """The measured constraints by name; None if nothing was measured."""
    feasible: bool | None = None
    """Whether there is a value and every constraint is met; None without constraints."""
    variance: float | None = None
    """The variance of the noise in the value, if it was told."""
    extras: Mapping[str, Simple] = {}
    """What else the evaluation returned, by name."""


def extra_names(rows: Sequence[Evaluation | Record]) -> list[str]:
    """The names of all extras, in the order in which they first occur."""
    return list(dict.fromkeys(name for row in rows for name in row.extras))


class Ledger:
    """Every trial and every value of one search, as far as its events say.

    Parameters
    ----------
    space : Space
    constraints : Constraints
    sign : float
        1 if larger values are better, else -1.
    owner : str
        Identifies the search that the trials belong to, so that a trial is still recognised after
        it, or the search itself, has been sent to another process and back.
    """

    def __init__(self, space: Space, constraints: Constraints, sign: float, owner: str) -> None:
        self._space, self._constraints, self._sign = space, constraints, sign
        self._owner = owner
        self.trials: list[Trial] = []
        """Every trial that has been handed out or enqueued, by number."""
        self.evaluations: list[Evaluation] = []
        """Every evaluation, in the order in which the values were told."""
        self.told = 0
        """The number of trials that have been told; points that nobody asked for do not count."""
        self.failed = 0
        """The number of evaluations that gave no value."""
        self.infeasible = 0
        """The number of evaluations that gave a value but violate a constraint."""
        self.best: Evaluation | None = None
        """The feasible evaluation with the best value, as it was told."""
        self._out: dict[int, Trial] = {}
        self._idle: list[int] = []  # numbers of pending trials, in ascending order
        self.elsewhere: Collection[int] = ()
        """The trials that other processes are evaluating, as far as is known."""
        self._expected: dict[bytes, None] = {}
        self._pending: dict[bytes, int] = {}  # the number of pending trials at each point
        self._at: dict[bytes, Evaluation] = {}
        self._rows: list[Trial | Evaluation] = []  # trials, and points told without being asked for
        self._result: dict[int, Evaluation] = {}  # by number of the trial
        self._asked_at: list[float | None] = []
        self._X: Array = np.empty((16, space.dim))
        self._F: Array = np.empty(16)
        self._params: list[dict[str, Any]] = []

    # --- looking up a point

    @property
    def out(self) -> Mapping[int, Trial]:
        """The pending trials, by number."""
        return MappingProxyType(self._out)

    @property
    def expected(self) -> KeysView[bytes]:
        """Keys of the points that are being evaluated elsewhere and have not been told yet."""
        return self._expected.keys()

    def at(self, key: bytes) -> Evaluation | None:
        """The latest evaluation of a point, if there is one."""
        return self._at.get(key)

    def is_out(self, key: bytes) -> bool:
        """Whether this point is pending."""
        return key in self._pending or key in self._expected

    def is_new(self, key: bytes) -> bool:
        """Whether this point is neither known nor pending."""
        return key not in self._at and not self.is_out(key)

    def __len__(self) -> int:
        """The number of points that are known or pending."""
        return len(self._at) + len(self._pending) + len(self._expected)

    def trial_at(self, key: bytes) -> Trial | None:
        """The pending trial at this point, if any, whether somebody is evaluating it or not."""
        return next((trial for trial in self._out.values() if trial.key == key), None)

    def check_pending(self, trial: Trial) -> None:
        """Raise an error unless this trial is one of ours and has not been told."""
        if trial.owner != self._owner or not 0 <= trial.number < len(self.trials):
            raise TrialError(
                f"trial {trial.number} belongs to another optimiser or study; tell its value there"
            )
        if trial.number not in self._out:
            raise TrialError(
                f"trial {trial.number} has already been told; tell each trial only once"
            )

    # --- events

    def apply(self, event: Event) -> None:
        """Take an event into account; raises a TrialError if it cannot follow the others."""
        if isinstance(event, (Asked, Enqueued)):
            number = len(self.trials)
            if event.number != number:
                raise TrialError(f"trial {event.number} comes where {number} is expected")
            trial = Trial(number, event.key, self._space, self._owner)
            self.trials.append(trial)
            self._idle.append(number)  # first, so that an interrupt here leaves no lost trial
            self._out[number] = trial
            self._pending[event.key] = self._pending.get(event.key, 0) + 1
            self._rows.append(trial)
            self._asked_at.append(event.time)
        elif isinstance(event, Expected):
            self._expected[event.key] = None
        elif isinstance(event, Told):
            self._settle(event)

    def _settle(self, event: Told) -> None:
        number, key = event.number, event.key
        if number is not None:
            if number not in self._out:
                raise TrialError(f"trial {number} is told, but is not pending")
            key = self._out.pop(number).key
            self._not_idle(number)
            self.told += 1
            self._pending[key] -= 1
            if not self._pending[key]:
                del self._pending[key]
        else:
            assert key is not None
            self._expected.pop(key, None)
        self._enter(number, key, event)

    def _enter(self, number: int | None, key: bytes, event: Told) -> None:
        x, value = np.frombuffer(key), event.value
        feasible = isfinite(value) and all(c <= 0.0 for c in event.measured)
        if number is None:  # a point that was asked for is known to be allowed
            feasible = feasible and self._constraints.violated(x) is None
        told = (event.error, event.measured, feasible, event.variance, event.time)
        evaluation = Evaluation(number, x, value, *told, dict(event.extras))
        count = len(self.evaluations)
        if count == len(self._F):
            self._X = np.concatenate([self._X, np.empty_like(self._X)])
            self._F = np.concatenate([self._F, np.empty_like(self._F)])
        self._X[count], self._F[count] = x, value
        self._at[key] = evaluation
        self.evaluations.append(evaluation)
        if number is None:
            self._rows.append(evaluation)
        else:
            self._result[number] = evaluation
        if not isfinite(value):
            self.failed += 1
        elif not feasible:
            self.infeasible += 1
        elif self.best is None or self._sign * value > self._sign * self.best.value:
            self.best = evaluation

    # --- who evaluates a trial: not an event, because it ends with the process

    @property
    def idle(self) -> tuple[int, ...]:
        """The numbers of the pending trials that nobody is evaluating."""
        if not self.elsewhere:
            return tuple(self._idle)
        return tuple(number for number in self._idle if number not in self.elsewhere)

    @property
    def held(self) -> set[int]:
        """The numbers of the trials that this process is evaluating."""
        return self._out.keys() - set(self._idle)

    def hand_out(self) -> Trial:
        """The oldest trial that nobody is evaluating, for the caller to evaluate."""
        number = self.idle[0]
        self._not_idle(number)
        self._out[number] = Trial(number, self._out[number].key, self._space, self._owner)
        return self._out[number]

    def give_back(self, trial: Trial) -> None:
        """Note that nobody is evaluating this trial any more, unless it has already been told."""
        own = self._out.get(trial.number)
        if own is not None and own.key == trial.key and trial.number not in self._idle:
            insort(self._idle, trial.number)

    def take(self, trial: Trial) -> None:
        """Note that somebody is evaluating this pending trial."""
        self._not_idle(trial.number)

    def _not_idle(self, number: int) -> None:
        place = bisect_left(self._idle, number)
        if place < len(self._idle) and self._idle[place] == number:
            del self._idle[place]

    # --- the columns of a result: copies, so that later evaluations do not change them

    def X(self) -> Array | list[dict[str, Any]]:
        """Every point that was told: an array, or a list of dicts if the space has names."""
        if not self._space.named:
            return self._X[: len(self.evaluations)].copy()
        for evaluation in self.evaluations[len(self._params) :]:
            self._params.append(self._space.params(evaluation.x))
        return [dict(params) for params in self._params]

    def feasible(self) -> NDArray[np.bool_]:
        """Whether each point that was told is feasible."""
        return np.array([evaluation.feasible for evaluation in self.evaluations], dtype=bool)

    def C(self) -> dict[str, Array]:
        """The measurements of each constraint, by name; nan where nothing was measured."""
        names = self._constraints.measured
        rows = [each.measured or (nan,) * len(names) for each in self.evaluations]
        columns = np.array(rows).reshape(len(rows), len(names)).T
        return {name: column.copy() for name, column in zip(names, columns, strict=True)}

    def F(self) -> Array:
        """Every value that was told; nan if the evaluation failed."""
        return self._F[: len(self.evaluations)].copy()

    def records(self, constrained: bool) -> Iterator[Record]:
        """Every trial, and every point that was told without being asked for, in order.

        `constrained` says whether there are constraints to meet; their functions may be missing.
        """
        names = self._constraints.measured
        for row in self._rows:
            asked_at: float | None = None
            told: Evaluation | None
            if isinstance(row, Evaluation):
                told = row
            else:
                asked_at, told = self._asked_at[row.number], self._result.get(row.number)
                if told is None:
                    yield Record(row.number, row.params, None, "out", None, asked_at, None)
                    continue
            yield Record(
                told.number,
                self._space.params(told.x),
                told.value if isfinite(told.value) else None,
                told.state,
                told.error,
                asked_at,
                told.told_at,
                dict(zip(names, told.measured, strict=True)) if told.measured else None,
                told.feasible if constrained else None,
                told.variance,
                dict(told.extras),
            )
