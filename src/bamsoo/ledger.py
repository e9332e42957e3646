"""The record of all trials, pending ones and finished ones, shared by every driver of a search.

A trial is pending from the moment it is handed out until its value is told. A point is identified
by its key, the bytes of its array in the caller's own units. The search itself works on points of
the unit cube and numbers its requests with tickets. Several tickets may wait for the value of the
same point, because different points of the unit cube may stand for the same point of the caller.
"""

from bisect import bisect_left, insort
from collections.abc import KeysView, Mapping
from math import isfinite, nan
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ._typing import Array
from .errors import TrialError
from .space import Constraints, Space

Claim: TypeAlias = tuple[int, Array]
"""A ticket of the search that waits for a value, and the point of the unit cube it stands for."""


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


class Ledger:
    """Every trial and every value of one search.

    Parameters
    ----------
    space : Space
    sign : float
        1 if larger values are better, else -1.
    owner : str
        Identifies the search that the trials belong to, so that a trial is still recognised after
        it, or the search itself, has been sent to another process and back.
    repeats : bool
        Whether the search evaluates the same point more than once. Each value then answers only
        the claim of its own trial, and a value that nobody asked for is kept for the next claim
        on its point.
    constraints : Constraints, optional
    """

    def __init__(
        self,
        space: Space,
        sign: float,
        owner: str = "",
        repeats: bool = False,
        constraints: Constraints | None = None,
    ) -> None:
        self._space, self._sign, self._owner, self.repeats = space, sign, owner, repeats
        self._constraints = Constraints(space) if constraints is None else constraints
        self.trials: list[Trial] = []
        """Every trial that has been handed out, by number."""
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
        self._given_back: list[int] = []  # numbers of pending trials, in ascending order
        self._expected: dict[bytes, None] = {}
        self._values: dict[bytes, Evaluation] = {}
        self._claims: dict[bytes, list[Claim]] = {}  # on the value of each pending point
        # only for a search that repeats points: the claim of each trial, and unclaimed values
        self._own_claims: dict[int, Claim] = {}
        self._spare: dict[bytes, list[float]] = {}
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

    def value(self, key: bytes) -> float | None:
        """The value of a point: nan if its evaluation failed, None if the point is not known."""
        known = self._values.get(key)
        return None if known is None else known.value

    def known(self, key: bytes) -> Evaluation | None:
        """The latest evaluation of a point, if there is one."""
        return self._values.get(key)

    def spare(self, key: bytes) -> float | None:
        """Remove and return a value of this point that has answered no claim, or None."""
        values = self._spare.get(key)
        return values.pop(0) if values else None

    def is_out(self, key: bytes) -> bool:
        """Whether this point is pending."""
        return key in self._claims or (self.repeats and self.trial_at(key) is not None)

    def __len__(self) -> int:
        """The number of points that are known or pending."""
        return len(self._values) + len(self._claims)

    # --- changes

    def add(self, key: bytes, claim: Claim | None = None) -> Trial:
        """Enter a new pending trial, and the search's claim on its value."""
        trial = Trial(len(self.trials), key, self._space, self._owner)
        if not self.repeats:
            self._claims.setdefault(key, []).extend([] if claim is None else [claim])
        elif claim is not None:
            self._own_claims[trial.number] = claim
        self.trials.append(trial)
        self._out[trial.number] = trial
        return trial

    def expect(self, key: bytes) -> bool:
        """Count a point that is being evaluated elsewhere as pending, and return True.

        A point that is known or pending already is left alone, and the answer is False. So it is
        if the search repeats points, since it may then ask for the same point anyway.
        """
        if self.repeats or key in self._values or key in self._claims:
            return False
        self._claims[key] = []
        self._expected[key] = None
        return True

    def claim(self, key: bytes, claim: Claim) -> None:
        """Enter another claim on the value of a pending point."""
        self._claims[key].append(claim)

    def give_back(self, trial: Trial) -> None:
        """Note that nobody is evaluating this trial any more, unless it has already been told."""
        own = self._out.get(trial.number)
        if own is not None and own.key == trial.key and trial.number not in self._given_back:
            insort(self._given_back, trial.number)

    @property
    def given_back(self) -> tuple[int, ...]:
        """The numbers of the pending trials that nobody is evaluating."""
        return tuple(self._given_back)

    @property
    def any_given_back(self) -> bool:
        """Whether there is a pending trial that nobody is evaluating."""
        return bool(self._given_back)

    def hand_out_again(self) -> Trial | None:
        """The oldest trial that was given back, if any, for somebody else to evaluate."""
        if not self._given_back:
            return None
        number = self._given_back.pop(0)
        self._out[number] = Trial(number, self._out[number].key, self._space, self._owner)
        return self._out[number]

    def trial_at(self, key: bytes) -> Trial | None:
        """The pending trial at this point, if any, whether given back or not."""
        return next((trial for trial in self._out.values() if trial.key == key), None)

    def take(self, key: bytes) -> bool:
        """Note that somebody evaluates the trial at this point; False if none is pending there."""
        trial = self.trial_at(key)
        if trial is not None:
            self._not_given_back(trial.number)
        return trial is not None

    def settle(
        self,
        trial: Trial,
        value: float,
        error: str | None,
        measured: tuple[float, ...] = (),
        variance: float | None = None,
    ) -> tuple[Evaluation, list[Claim]]:
        """Enter the value of a pending trial; return the evaluation and the claims it answers."""
        own = self._out.get(trial.number)
        if own is None or trial.key != own.key or trial.owner != self._owner:
            raise TrialError(self._why_not(trial))
        del self._out[trial.number]
        self._not_given_back(trial.number)
        self.told += 1
        claims = self._claims.pop(trial.key, [])
        if self.repeats:
            claims = self._answered(trial.key, value, self._own_claims.pop(trial.number, None))
        return self._enter(trial.number, trial.key, value, error, measured, variance), claims

    def settle_point(
        self,
        key: bytes,
        value: float,
        error: str | None,
        measured: tuple[float, ...] = (),
        variance: float | None = None,
    ) -> tuple[Evaluation, list[Claim]]:
        """Enter the value of a point that was expected, or that nobody asked for."""
        claims = self._claims.pop(key) if key in self._expected else []
        self._expected.pop(key, None)
        if self.repeats:
            claims = self._answered(key, value, None)
        return self._enter(None, key, value, error, measured, variance), claims

    def _answered(self, key: bytes, value: float, claim: Claim | None) -> list[Claim]:
        """The claim that a value answers, if the search repeats points; else keep the value."""
        if claim is not None:
            return [claim]
        if isfinite(value):
            self._spare.setdefault(key, []).append(value)
        return []

    def _enter(
        self,
        number: int | None,
        key: bytes,
        value: float,
        error: str | None,
        measured: tuple[float, ...],
        variance: float | None,
    ) -> Evaluation:
        x = np.frombuffer(key)
        feasible = isfinite(value) and all(c <= 0.0 for c in measured)
        if number is None:  # a point that was asked for is known to be allowed
            feasible = feasible and self._constraints.violated(x) is None
        evaluation = Evaluation(number, x, value, error, measured, feasible, variance)
        count = len(self.evaluations)
        if count == len(self._F):
            self._X = np.concatenate([self._X, np.empty_like(self._X)])
            self._F = np.concatenate([self._F, np.empty_like(self._F)])
        self._X[count], self._F[count] = evaluation.x, value
        self._values[key] = evaluation
        self.evaluations.append(evaluation)
        if not isfinite(value):
            self.failed += 1
        elif not feasible:
            self.infeasible += 1
        elif self.best is None or self._sign * value > self._sign * self.best.value:
            self.best = evaluation
        return evaluation

    def _not_given_back(self, number: int) -> None:
        place = bisect_left(self._given_back, number)
        if place < len(self._given_back) and self._given_back[place] == number:
            del self._given_back[place]

    def _why_not(self, trial: Trial) -> str:
        if trial.owner == self._owner:
            return f"trial {trial.number} has already been told; tell each trial only once"
        return f"trial {trial.number} belongs to another optimiser; tell its value to that one"

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
