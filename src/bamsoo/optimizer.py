"""Ask and tell: one search, driven by its caller.

Between here and the algorithms the sign flips (they maximise) and the unit cube begins.
"""

from collections.abc import Mapping
from contextlib import nullcontext
from math import inf, isfinite, nan
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ._typing import Array
from .algorithms import Algorithm, resolve
from .algorithms.book import Book
from .algorithms.search import Outcome, Search
from .blas import one_thread
from .checks import brief
from .defaults import ALGORITHM, DIRECTION, SEED
from .errors import ExhaustedError, SettingsError, ValueTypeError
from .ledger import Evaluation, Ledger, Trial
from .space import Space, SpaceLike, numbers

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult  # slow to import, so only where it is made

PATIENCE = 100
"""Points a search may repeat in a row, beyond those known or out, before it counts as ended."""


class AskTell(Protocol):
    """Something that is asked for trials and told their values: an `Optimizer` or a `Study`."""

    @property
    def space(self) -> Space:
        """The space that is searched."""
        ...

    @property
    def ledger(self) -> Ledger:
        """What was handed out, what is out and what is known."""
        ...

    @property
    def best(self) -> Evaluation | None:
        """The best evaluation so far; under noise, what the search believes it to be."""
        ...

    @property
    def rejected(self) -> int:
        """Nodes the GP has rejected so far."""
        ...

    @property
    def result(self) -> "OptimizeResult":
        """What is known so far."""
        ...

    @property
    def how_to_go_on(self) -> str:
        """For an error message: where the values are that have been told."""
        ...

    def ask(self) -> Trial:
        """The next trial to evaluate."""
        ...

    def tell(
        self, trial: Trial | Array | Mapping[str, Any], value: Any, error: str | None = None
    ) -> None:
        """Report the value of a trial or a point, or why there is none."""
        ...

    def give_back(self, trial: Trial) -> None:
        """Hand this trial out again: nobody evaluates it any more."""
        ...

    def reaches(self, target: float) -> bool:
        """Whether the best value so far is at least as good as `target`."""
        ...


class Optimizer:
    """A search for the best point of `space`, one trial at a time.

    Parameters
    ----------
    space : sequence of (low, high), scipy.optimize.Bounds or dict
    direction : {"minimize", "maximize"}
    algorithm : str or settings object
    seed : int
        Same settings, same seed, same asks and tells: same points.
    noise : float or "learn", optional
        As in `minimize`.

    Examples
    --------
    >>> import bamsoo
    >>> opt = bamsoo.Optimizer([(-5, 10), (0, 15)], algorithm="soo")
    >>> for _ in range(20):
    ...     trial = opt.ask()
    ...     opt.tell(trial, bamsoo.problems.branin(trial.x))
    >>> opt.result.nfev
    20
    """

    def __init__(
        self,
        space: SpaceLike,
        direction: str = DIRECTION,
        algorithm: str | Algorithm = ALGORITHM,
        seed: int = SEED,
        noise: float | str | None = None,
    ) -> None:
        if direction not in ("minimize", "maximize"):
            raise SettingsError(
                f"direction must be 'minimize' or 'maximize', got {brief(direction)}"
            )
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
            raise SettingsError(f"seed must be a whole number >= 0, got {brief(seed)}")
        self.space = Space(space)
        self.direction = direction
        self.algorithm = resolve(algorithm, noise)
        self.seed = int(seed)
        self._sign = 1.0 if direction == "maximize" else -1.0
        self.ledger = Ledger(self.space, self._sign)
        """What was handed out, what is out and what is known, in the caller's own units."""
        self._book = Book()
        self._search: Search = self.algorithm.start(
            self.space.domain, np.random.default_rng(self.seed), self._book, self._sign
        )
        self._started = False
        self._ended: str | None = None
        self._arrived: list[Outcome] = []
        self._unseen: list[bytes] = []  # expected points that the search has not been shown
        self._at: dict[bytes, Evaluation] = {}  # by the point of the cube

    def ask(self) -> Trial:
        """The next point to evaluate; several may be out at once.

        Raises
        ------
        ExhaustedError
            When the search has nothing left to evaluate.
        """
        ledger = self.ledger
        if (again := ledger.hand_out_again()) is not None:
            return again
        repeats = 0
        while True:
            unit = self._advance()
            claim = self._book.latest, unit
            key = self.space.decode(unit).tobytes()
            if (value := ledger.value(key)) is not None:
                self._arrived.append(Outcome(*claim, self._sign * value))
            elif ledger.is_out(key):
                ledger.claim(key, claim)
            else:
                return ledger.add(key, claim)
            repeats += 1
            if repeats > PATIENCE + len(ledger):
                self._ended = "the search comes back to the same points only"

    def _advance(self) -> Array:
        if self._ended is not None:
            raise ExhaustedError(f"nothing is left to evaluate: {self._ended}")
        arrived, self._arrived = self._arrived, []
        try:
            if self._started:
                self._show_expected()
                with nullcontext() if self._book.gp is None else one_thread():
                    return self._search.send(arrived)
            self._started = True
            self._book.known = arrived
            return next(self._search)
        except StopIteration as stop:
            self._ended = stop.value
            raise ExhaustedError(f"nothing is left to evaluate: {self._ended}") from None

    def expect(self, point: Array | Mapping[str, Any]) -> None:
        """Count a point as out that is being evaluated elsewhere, until `tell(point, value)`.

        It is not asked for meanwhile, and a GP takes it for pending, as if it had been asked.
        A point that is known or out already stays what it is.
        """
        key = self.space.point(point).tobytes()
        if self.ledger.expect(key):
            self._unseen.append(key)

    def _show_expected(self) -> None:
        """Enter expected points into the book, once there is a search to keep one."""
        for key in self._unseen:
            if key in self.ledger.expected:
                unit = self.space.encode(np.frombuffer(key))
                self.ledger.claim(key, (self._book.expect(unit), unit))
        self._unseen = []

    def adopt(self, point: Array | Mapping[str, Any]) -> Trial:
        """Number a point as a trial that is out, though this search has not asked for it.

        For trials of an earlier search: unlike a point that is expected, the GP does not take
        it for pending.
        """
        return self.ledger.add(self.space.point(point).tobytes())

    def tell(
        self, trial: Trial | Array | Mapping[str, Any], value: Any, error: str | None = None
    ) -> None:
        """Report a value, in any order; None, nan and inf mean that the evaluation failed.

        Parameters
        ----------
        trial : Trial or point
            What `ask` returned; or a point of the space, an array or a dict, that was
            evaluated elsewhere.
        value : float or None
        error : str, optional
            Why the evaluation failed.
        """
        number = as_value(value)
        if not isfinite(number) and error is None:
            error = f"the value is {brief(value)}"
        if isinstance(trial, Trial):
            evaluation, claims = self.ledger.settle(trial, number, error)
        else:
            key = self.space.point(trial).tobytes()
            evaluation, claims = self.ledger.settle_point(key, number, error)
        answered: list[tuple[int | None, Array]] = [*claims]
        for ticket, unit in answered or [(None, self.space.encode(evaluation.x))]:
            self._arrived.append(Outcome(ticket, unit, self._sign * number))
            self._at[unit.tobytes()] = evaluation

    def give_back(self, trial: Trial) -> None:
        """Nobody evaluates this trial any more: `ask` hands it out again, before new ones."""
        self.ledger.give_back(trial)

    @property
    def told(self) -> int:
        """Evaluations of trials that were asked for."""
        return self.ledger.told

    @property
    def evaluations(self) -> list[Evaluation]:
        """Every value in the order in which they were told."""
        return self.ledger.evaluations

    @property
    def how_to_go_on(self) -> str:
        """For an error message: where the values are that have been told."""
        return "the result so far is this error's `result`; with a study a run can go on"

    @property
    def book(self) -> Book:
        """What the search has asked for and found, in the unit cube: its tree, its GP."""
        if self._started:  # enter what was told since the search last went on
            arrived, self._arrived = self._arrived, []
            with one_thread() if self._book.noisy else nullcontext():
                self._book.receive(arrived)
        return self._book

    @property
    def rejected(self) -> int:
        """Nodes the GP has rejected so far."""
        return self._book.rejected

    @property
    def best(self) -> Evaluation | None:
        """The best evaluation so far.

        Under noise, the one with the best posterior mean, and that for its value; until the
        model knows two values, the best as told.
        """
        if not self._book.noisy:
            return self.ledger.best
        book, sign = self.book, self._sign
        if book.t < 2:
            return self.ledger.best
        means = book.believed()
        for i in np.argsort(-means, kind="stable").tolist():
            evaluation = self._at.get(book.records[i][1].tobytes())
            if evaluation is not None:  # always, but for a repeat of another's point
                return evaluation._replace(value=sign * float(means[i]))
        return self.ledger.best

    @property
    def beliefs(self) -> list[Evaluation]:
        """Each evaluation that gave a value, with what the search believes that value to be.

        Under noise that is the posterior mean, as in `best`; else the value as told.
        """
        book = self.book
        if not book.noisy or book.t < 2:
            return [evaluation for evaluation in self.evaluations if isfinite(evaluation.value)]
        points = [self._at.get(x.tobytes()) for _, x, _, _ in book.records]
        means = (self._sign * book.believed()).tolist()
        return [
            evaluation._replace(value=mean)
            for evaluation, mean in zip(points, means, strict=True)
            if evaluation is not None
        ]

    def reaches(self, target: float) -> bool:
        """Whether the best value so far is at least as good as `target`."""
        best = self.best
        return best is not None and self._sign * best.value >= self._sign * target

    @property
    def result(self) -> "OptimizeResult":
        """What is known so far, as a scipy OptimizeResult; see `bamsoo.minimize`."""
        from scipy.optimize import OptimizeResult

        book, best, ledger = self.book, self.best, self.ledger
        return OptimizeResult(
            x=None if best is None else best.x.copy(),
            fun=nan if best is None else best.value,
            params=None if best is None else self.space.params(best.x),
            nfev=ledger.told,
            success=best is not None,
            status=0,
            message="in progress" if self._ended is None else self._ended,
            X=ledger.X(),
            F=ledger.F(),
            nfailed=ledger.failed,
            nrejected=book.rejected,
            nexpanded=book.n - 1,
            tree=book.tree,
        )


def as_value(value: Any) -> float:
    """One real number, or nan where there is none (None, nan, inf)."""
    if type(value) is float:
        return value if -inf < value < inf else nan
    if value is None:
        return nan
    try:
        array = numbers(value)
    except TypeError:
        raise ValueTypeError(
            f"an objective value must be one real number, got {brief(value)}"
        ) from None
    if array.size != 1:
        raise ValueTypeError(
            f"an objective value must be one real number, got an array of shape {array.shape}"
        )
    number = float(array.reshape(()))
    return number if isfinite(number) else nan
