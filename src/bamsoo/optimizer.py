"""Ask and tell: one search, driven by its caller.

Between here and the algorithms the sign flips (they maximise) and the unit cube begins.
"""

from collections.abc import Mapping
from contextlib import nullcontext
from math import inf, isfinite, nan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ._typing import Array
from .algorithms import resolve
from .algorithms.book import Book
from .algorithms.search import Algorithm, Outcome, Search
from .blas import one_thread
from .checks import brief
from .errors import (
    ExhaustedError,
    SettingsError,
    TrialError,
    ValueTypeError,
)
from .space import Space, SpaceLike, numbers

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult  # slow to import, so only where it is made

PATIENCE = 100
"""Points a search may repeat in a row, beyond those known or out, before it counts as ended."""


class Trial:
    """A point to evaluate: its number, `x` as an array, `params` by name."""

    __slots__ = ("_key", "_space", "number", "x")

    def __init__(self, number: int, x: Array, space: Space, key: bytes) -> None:
        self.number, self.x = number, x
        self._space, self._key = space, key  # the key is x, whatever the caller does to his

    def __repr__(self) -> str:
        return f"Trial({self.number}, {self.params})"

    @property
    def params(self) -> dict[str, Any]:
        """Values by name (x0, x1, ... where the space has no names)."""
        return self._space.params(np.frombuffer(self._key))


class Evaluation(NamedTuple):
    """A finished trial, or a point told unasked (number None), in the caller's own sense."""

    number: int | None
    x: Array
    value: float  # nan: failed


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
        direction: str = "minimize",
        algorithm: str | Algorithm = "auto",
        seed: int = 0,
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
        self.evaluations: list[Evaluation] = []
        self._sign = 1.0 if direction == "maximize" else -1.0
        self._book = Book()
        self._search: Search = self.algorithm.start(
            self.space.domain,
            np.random.default_rng(int(seed)),
            self._book,
            self._sign,
        )
        self._started = False
        self._ended: str | None = None
        self._arrived: list[Outcome] = []
        self._values: dict[bytes, float] = {}
        self._out: dict[int, Trial] = {}
        self._waiting: dict[bytes, list[tuple[int | None, Array]]] = {}
        self._elsewhere: set[bytes] = set()  # expected, and not told
        self._unseen: list[tuple[bytes, Array]] = []  # of those, what the search has not seen
        self._asked = 0
        self._best: Evaluation | None = None  # of the values as they were told
        self._at: dict[bytes, Evaluation] = {}  # by the point of the cube
        self.told = 0

    def ask(self) -> Trial:
        """The next point to evaluate; several may be out at once.

        Raises
        ------
        ExhaustedError
            When the search has nothing left to evaluate.
        """
        repeats = 0
        while True:
            unit = self._advance()
            ticket = self._book.asked - 1
            x = self.space.decode(unit)
            key = x.tobytes()
            if key in self._values:
                self._arrived.append(Outcome(ticket, unit, self._sign * self._values[key]))
            elif key in self._waiting:
                self._waiting[key].append((ticket, unit))
            else:
                break
            repeats += 1
            if repeats > PATIENCE + len(self._values) + len(self._waiting):
                self._ended = "the search comes back to the same points only"
        self._waiting[key] = [(ticket, unit)]
        trial = Trial(self._asked, x, self.space, key)
        self._out[self._asked] = trial
        self._asked += 1
        return trial

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
        x = self.space.point(point)
        key = x.tobytes()
        if key not in self._values and key not in self._waiting:
            self._waiting[key] = []
            self._elsewhere.add(key)
            self._unseen.append((key, self.space.encode(x)))

    def _show_expected(self) -> None:
        """Enter expected points into the book, once there is a search to keep one."""
        book = self._book
        for key, unit in self._unseen:
            if key in self._elsewhere:
                ticket, book.asked = book.asked, book.asked + 1
                book.out[ticket] = (unit, None)
                self._waiting[key].append((ticket, unit))
                if book.gp is not None:
                    book.gp.expect(ticket, unit)
        self._unseen = []

    def tell(self, trial: Trial | Array | Mapping[str, Any], value: Any) -> None:
        """Report a value, in any order; None, nan and inf mean that the evaluation failed.

        Parameters
        ----------
        trial : Trial or point
            What `ask` returned; or a point of the space, an array or a dict, that was
            evaluated elsewhere.
        value : float or None
        """
        number = as_value(value)
        if isinstance(trial, Trial):
            if self._out.get(trial.number) is not trial:
                raise TrialError(self._why_not(trial))
            del self._out[trial.number]
            self.told += 1
            key = trial._key
            evaluation = Evaluation(trial.number, np.frombuffer(key), number)
            outcomes = self._waiting.pop(key)
        else:
            x = self.space.point(trial)
            key = x.tobytes()
            evaluation = Evaluation(None, x, number)
            outcomes = self._waiting.pop(key) if key in self._elsewhere else []
            self._elsewhere.discard(key)
            outcomes = outcomes or [(None, self.space.encode(x))]
        for ticket, unit in outcomes:
            self._arrived.append(Outcome(ticket, unit, self._sign * number))
            self._at[unit.tobytes()] = evaluation
        self._values[key] = number
        self.evaluations.append(evaluation)
        if isfinite(number) and (
            self._best is None or self._sign * number > self._sign * self._best.value
        ):
            self._best = evaluation

    def _why_not(self, trial: Trial) -> str:
        if trial._space is self.space:
            return f"trial {trial.number} was told already; a value is told once"
        return f"trial {trial.number} was asked of another optimiser; tell it there"

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
            return self._best
        self._catch_up()
        book, sign = self._book, self._sign
        if book.t < 2:
            return self._best
        means = book.believed()
        for i in np.argsort(-means, kind="stable").tolist():
            evaluation = self._at.get(book.records[i][1].tobytes())
            if evaluation is not None:  # always, but for a repeat of another's point
                return evaluation._replace(value=sign * float(means[i]))
        return self._best

    def _catch_up(self) -> None:
        """Enter what was told since the search last went on."""
        if self._started:
            arrived, self._arrived = self._arrived, []
            with one_thread() if self._book.noisy else nullcontext():
                self._book.receive(arrived)

    def reaches(self, target: float) -> bool:
        """Whether the best value so far is at least as good as `target`."""
        return self.best is not None and self._sign * self.best.value >= self._sign * target

    @property
    def result(self) -> "OptimizeResult":
        """What is known so far, as a scipy OptimizeResult; see `bamsoo.minimize`."""
        from scipy.optimize import OptimizeResult

        self._catch_up()  # so that the tree shows the last value too
        best = self.best
        X: Array | list[dict[str, Any]]
        if self.space.named:
            X = [self.space.params(e.x) for e in self.evaluations]
        else:
            X = np.array([e.x for e in self.evaluations]).reshape(-1, self.space.dim)
        return OptimizeResult(
            x=None if best is None else best.x.copy(),
            fun=nan if best is None else best.value,
            params=None if best is None else self.space.params(best.x),
            nfev=self.told,
            success=best is not None,
            status=0,
            message="in progress" if self._ended is None else self._ended,
            X=X,
            F=np.array([e.value for e in self.evaluations]),
            nfailed=sum(not isfinite(e.value) for e in self.evaluations),
            nrejected=self._book.rejected,
            nexpanded=self._book.n - 1,
            tree=self._book.tree,
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
