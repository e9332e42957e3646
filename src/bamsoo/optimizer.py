"""Ask and tell: one search, driven by its caller.

This is the boundary to the algorithms, which maximise and work in the unit cube: here the sign is
flipped if values are minimised, and points are mapped between the caller's units and the cube.
"""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from math import inf, isfinite, nan
from typing import TYPE_CHECKING, Any, Protocol, overload

import numpy as np

from ._typing import Array
from .algorithms import Algorithm, Auto, Name, repeats, resolve
from .algorithms.book import Book
from .algorithms.limits import Limits
from .algorithms.search import Outcome, Search
from .blas import one_thread
from .checks import brief, check_whole
from .defaults import ALGORITHM, DIRECTION, SEED
from .errors import ExhaustedError, ModelError, SettingsError, ValueTypeError
from .guard import Guarded, step, with_own_errors
from .ledger import Evaluation, Ledger, Trial
from .model.noise import MOST, looks_noisy
from .model.warp import Identity
from .predictor import Predictor
from .space import BEYOND, Constraints, Space, SpaceLike, numbers

if TYPE_CHECKING:
    from .result import Result  # imported where it is used, since scipy.optimize is slow to load

PATIENCE = 100
"""A search counts as ended when it asks for points it has asked for before this many times in a
row, plus once for each point that is known or pending."""

ETA = 0.05
"""For an algorithm without an `eta` of its own: its bounds hold together with probability
1 - ETA."""


ROUNDING = 1e-4
"""Two points count as equal up to rounding if they differ by at most this share of each range.

Climbing a nearly singular model amplifies the last digit of a processor's arithmetic. Between
types of processors, half of the points found by such a climb differ by less than 1e-12, nine in
ten by less than 1e-8, and the largest difference is 7e-5 (docs/reliability.md). A search that has
taken a different course differs by more than this."""


class AskTell(Protocol):
    """Something that is asked for trials and told their values: an `Optimizer` or a `Study`."""

    @property
    def space(self) -> Space:
        """The space that is searched."""
        ...

    @property
    def constraints(self) -> Constraints:
        """The constraints that points have to meet."""
        ...

    @property
    def ledger(self) -> Ledger:
        """The record of all trials, pending and finished."""
        ...

    @property
    def best(self) -> Evaluation | None:
        """The best evaluation so far; under noise, the one that the search believes is best."""
        ...

    @property
    def rejected(self) -> int:
        """The number of nodes that the GP has ruled out so far."""
        ...

    @property
    def result(self) -> "Result":
        """The result so far."""
        ...

    @property
    def suspects_noise(self) -> bool:
        """Whether the values look noisy although the search takes them to be exact."""
        ...

    @property
    def how_to_go_on(self) -> str:
        """For an error message: where to find the values that have been told."""
        ...

    def ask(self) -> Trial:
        """The next trial to evaluate."""
        ...

    def enqueue(self, point: Array | Mapping[str, Any]) -> None:
        """Have this point evaluated before any point that the search chooses."""
        ...

    def tell(
        self,
        trial: Trial | Array | Mapping[str, Any],
        value: Any,
        error: str | None = None,
        constraints: Mapping[str, Any] | None = None,
    ) -> None:
        """Report the value of a trial or a point, or why there is none."""
        ...

    def give_back(self, trial: Trial) -> None:
        """Note that nobody is evaluating this trial any more, so that it is handed out again."""
        ...

    def reaches(self, target: float) -> bool:
        """Whether the best value so far is at least as good as `target`."""
        ...


class Optimizer(Guarded):
    """A search for the best point of `space`, one trial at a time.

    Several threads may share it, and it can be pickled and copied. A call that is interrupted, by
    Ctrl-C for example, has no effect: the search is then rebuilt from what it was asked and told
    before.

    Parameters
    ----------
    space : sequence of (low, high), scipy.optimize.Bounds or dict
        As in `minimize`.
    direction : {"minimize", "maximize"}, default "minimize"
    algorithm : str or settings object, default "auto"
        As in `minimize`.
    seed : int or None, default 0
        With the same settings, the same seed and the same calls of `ask` and `tell`, the search
        asks for the same points. If None, a seed is drawn at random, and the attribute `seed`
        holds it.
    noise : float or "learn", optional
        As in `minimize`.
    constraints : list, optional
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

    @with_own_errors
    def __init__(
        self,
        space: SpaceLike,
        direction: str = DIRECTION,
        algorithm: Name | Algorithm = ALGORITHM,
        seed: int | None = SEED,
        noise: float | str | None = None,
        constraints: Sequence[Any] | None = None,
    ) -> None:
        super().__init__()
        if direction not in ("minimize", "maximize"):
            raise SettingsError(
                f"direction must be 'minimize' or 'maximize', got {brief(direction)}"
            )
        if seed is None:
            seed = drawn_seed()
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
            raise SettingsError(f"seed must be a whole number >= 0, got {brief(seed)}")
        self.space = Space(space)
        self.constraints = Constraints(self.space, constraints)
        self.direction = direction
        self.algorithm = resolve(algorithm, noise)
        self.seed = int(seed)
        self._sign = 1.0 if direction == "maximize" else -1.0
        self._identity = f"{_entropy():x}"  # kept in a pickle, so that it accepts its old trials
        self._history: list[tuple[Any, ...]] = []
        """All that has happened to the search, in order; each entry is the arguments of `_redo`."""
        self._begin()

    def _begin(self) -> None:
        """Start with a search that knows nothing."""
        self._repeats = repeats(self.algorithm)
        if self._repeats and self.constraints.measured:
            raise SettingsError(
                f"{type(self.algorithm).__name__} evaluates points repeatedly and cannot handle "
                "measured constraints; use another algorithm, such as auto"
            )
        self.ledger = self._empty_ledger()
        """The record of all trials, pending and finished, in the caller's own units."""
        domain = replace(self.space.domain, region=self.constraints.region())
        self._allowed = domain.allowed
        count = len(self.constraints.measured)
        self._book = Book(limits=Limits(domain, count) if count else None)
        self._search: Search = self.algorithm.start(
            domain, np.random.default_rng(self.seed), self._book, self._sign
        )
        self._started = False
        self._ended: str | None = None
        self._arrived: list[Outcome] = []
        self._unseen: list[bytes] = []  # pending points that the search does not know about yet
        self._at: dict[bytes, Evaluation] = {}  # by point of the unit cube
        self._adopted: dict[bytes, bytes] = {}  # from this search's point to an earlier search's

    def _empty_ledger(self) -> Ledger:
        return Ledger(self.space, self._sign, self._identity, self._repeats, self.constraints)

    @overload
    def ask(self) -> Trial: ...

    @overload
    def ask(self, n: int) -> list[Trial]: ...

    def ask(self, n: int | None = None) -> Trial | list[Trial]:
        """The next trial to evaluate, or a list of `n` trials; several may be pending at once.

        The list is shorter if fewer than `n` points are left to evaluate.

        Parameters
        ----------
        n : int, optional
            The number of trials. By default a single trial is returned, not a list.

        Raises
        ------
        ExhaustedError
            When the search has nothing left to evaluate.
        """
        if n is not None:
            return ask_several(self, n)
        handed: list[Trial] = []
        try:
            return self._hand_out(handed)
        except BaseException:
            for trial in handed:  # the caller never received it
                self.ledger.give_back(trial)
            raise

    @step
    def _hand_out(self, handed: list[Trial]) -> Trial:
        """The next trial, put into `handed` at once, so that an interrupt does not lose it."""
        ledger = self.ledger
        handed += [ledger.out[number] for number in ledger.given_back[:1]]
        trial = ledger.hand_out_again()
        if trial is None:
            trial, _ = self._ask()
            handed.append(trial)
            self._history.append(("ask", trial.key))
        return trial

    @step
    def ask_again(self, point: Array | Mapping[str, Any]) -> tuple[Trial, float]:
        """Ask for the next trial, which in an earlier search was at `point`.

        Another processor rounds differently, so a point that equals `point` up to rounding is
        replaced by `point`. If the search asks for a different point, the trial is at that one.
        Returned with the trial is the distance between the two points, as a share of a parameter's
        range.
        """
        trial, apart = self._ask(self.space.point(point).tobytes())
        self._history.append(("ask", trial.key))
        return trial, apart

    @with_own_errors
    def _ask(self, wanted: bytes | None = None) -> tuple[Trial, float]:
        """A new trial; at `wanted` if the search asks for that point, up to rounding.

        Returned with it is the distance between the search's point and `wanted`.
        """
        ledger, seen_before = self.ledger, 0
        while True:
            unit = self._advance()
            if not (np.abs(unit - 0.5) <= 0.5 + BEYOND).all():  # nan is not inside either
                raise SettingsError(
                    f"{brief(self.algorithm)} asks for {brief(unit)}, which is outside the unit "
                    "cube; correct the algorithm"
                )
            claim = self._book.latest, unit
            key = self.space.decode(unit).tobytes()
            key = self._adopted.get(key, key)
            again = self._repeats or self._book.asks_again(claim[0])
            known = None if again else ledger.known(key)
            spare = ledger.spare(key) if self._repeats else None
            if known is not None:
                self._arrived.append(self._outcome(*claim, known))
            elif spare is not None:
                self._arrived.append(Outcome(*claim, self._sign * spare))
            elif ledger.is_out(key) and not self._repeats:
                ledger.claim(key, claim)
            elif not self._allowed(unit):  # never handed out, whatever the algorithm
                self._arrived.append(Outcome(*claim, nan))
            else:
                apart = 0.0 if wanted is None else self._apart(key, wanted)
                if wanted is not None and key != wanted and apart <= ROUNDING:
                    self._adopted[key] = wanted
                    key = wanted
                    there = self.space.encode(np.frombuffer(wanted))
                    claim = claim[0], self._book.adopt(claim[0], there)
                return ledger.add(key, claim), apart
            seen_before += not self._repeats  # spare values run out, so no limit is needed there
            if seen_before > PATIENCE + len(ledger):
                self._ended = "the search returns to known points only"

    def _outcome(self, ticket: int | None, unit: Array, known: Evaluation) -> Outcome:
        """Convert an evaluation to what the search sees of it."""
        allowed = self.constraints.violated(known.x) is None
        value = self._sign * known.value
        return Outcome(ticket, unit, value, known.measured, allowed, known.variance)

    def _apart(self, key: bytes, other: bytes) -> float:
        """The largest difference of two points along an axis, as a share of its range.

        If whole numbers or options differ, the distance is infinite.
        """
        if key == other:
            return 0.0
        here, there = np.frombuffer(key), np.frombuffer(other)
        apart = np.abs(self.space.encode(here) - self.space.encode(there))
        apart[here == there] = 0.0
        discrete = np.ones(len(apart), dtype=bool)
        discrete[self.space.domain.continuous] = False
        unlike = ~np.isclose(here, there, rtol=0.0, atol=0.0, equal_nan=True)
        return inf if (discrete & unlike).any() else float(apart.max())

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
            self._book.given = arrived
            return next(self._search)
        except StopIteration as stop:
            self._ended = stop.value
            raise ExhaustedError(f"nothing is left to evaluate: {self._ended}") from None

    @step
    def expect(self, point: Array | Mapping[str, Any]) -> None:
        """Count a point that is being evaluated elsewhere as pending, until `tell(point, value)`.

        Until then the search does not ask for it, and a GP treats it like a pending trial of its
        own. Nothing changes for a point that is already known or pending.
        """
        self._expect(self.space.point(point).tobytes())

    def _expect(self, key: bytes) -> None:
        if self.ledger.expect(key):
            self._unseen.append(key)
            self._history.append(("expect", key))

    def _show_expected(self) -> None:
        """Enter expected and enqueued points into the book, once the search has started."""
        for key in self._unseen:
            if self.ledger.is_out(key):
                unit = self.space.encode(np.frombuffer(key))
                self.ledger.claim(key, (self._book.expect(unit), unit))
        self._unseen = []

    @step
    def enqueue(self, point: Array | Mapping[str, Any]) -> None:
        """Have `ask` hand out this point before any point that the search chooses.

        It becomes a trial like any other. Nothing changes for a point that is already known or
        pending. A point that violates a constraint known in advance is refused.
        """
        x = self.space.point(point)
        self.constraints.check_point(x)
        self._enqueue(x.tobytes())

    def _enqueue(self, key: bytes) -> None:
        if self.ledger.value(key) is None and not self.ledger.is_out(key):
            self.ledger.give_back(self.ledger.add(key))
            if not self._repeats:  # a search that repeats points asks for the value when it is due
                self._unseen.append(key)
            self._history.append(("enqueue", key))

    @step
    def adopt(self, point: Array | Mapping[str, Any]) -> Trial:
        """Make a point a pending trial with the next number, though this search did not ask for it.

        This is for the trials of an earlier search. Unlike an expected point, the GP does not
        treat it as pending.
        """
        return self._adopt(self.space.point(point).tobytes())

    def _adopt(self, key: bytes) -> Trial:
        trial = self.ledger.add(key)
        self._history.append(("adopt", key))
        return trial

    @step
    def tell(
        self,
        trial: Trial | Array | Mapping[str, Any],
        value: Any,
        error: str | None = None,
        constraints: Mapping[str, Any] | None = None,
        *,
        variance: float | None = None,
    ) -> None:
        """Report a value. Trials may be told in any order.

        Parameters
        ----------
        trial : Trial or point
            A trial that `ask` returned, or a point of the space (an array or a dict) that was
            evaluated elsewhere.
        value : float or None
            None, nan and inf mean that the evaluation failed.
        error : str, optional
            Why the evaluation failed.
        constraints : dict, optional
            The numbers that the evaluation measured, by name; a constraint is met if its number is
            <= 0.
        variance : float, optional
            Variance of the noise in this value, in squared units of the objective; 0 if the value
            is exact. By default it is what the setting `noise` says. After the first variance
            above 0, the best point is chosen by the model's mean instead of the measured value, as
            with `noise`. Algorithms without a model record it but do not use it.
        """
        number, variance = as_value(value), as_variance(variance)
        measured: tuple[float, ...] = ()
        if isfinite(number) or constraints:
            measured = self.constraints.numbers(constraints)
        if not isfinite(number) and error is None:
            error = f"the value is {brief(value)}"
        told = trial if isinstance(trial, Trial) else self.space.point(trial).tobytes()
        self._tell(told, number, error, measured, variance)

    def _tell(
        self,
        told: Trial | bytes,
        number: float,
        error: str | None,
        measured: tuple[float, ...] = (),
        variance: float | None = None,
    ) -> None:
        if isinstance(told, Trial):
            evaluation, claims = self.ledger.settle(told, number, error, measured, variance)
        else:
            evaluation, claims = self.ledger.settle_point(told, number, error, measured, variance)
        answered: list[tuple[int | None, Array]] = [*claims]
        if not answered and not self._repeats:
            answered = [(None, self.space.encode(evaluation.x))]
        for ticket, unit in answered:
            self._arrived.append(self._outcome(ticket, unit, evaluation))
            self._at[unit.tobytes()] = evaluation
        self._history.append(("tell", told, number, error, measured, variance))

    @step
    def give_back(self, trial: Trial) -> None:
        """Note that nobody evaluates this trial any more, so that `ask` hands it out again.

        Trials that were given back are handed out before new ones.
        """
        self.ledger.give_back(trial)

    @property
    def told(self) -> int:
        """The number of trials that have been told."""
        return self.ledger.told

    @property
    def evaluations(self) -> list[Evaluation]:
        """Every evaluation, in the order in which the values were told."""
        return self.ledger.evaluations

    @property
    @with_own_errors
    def suspects_noise(self) -> bool:
        """Whether the values look noisy although the default algorithm takes them to be exact."""
        if not isinstance(self.algorithm, Auto) or self._book.noisy:
            return False
        known = [e for e in self.ledger.evaluations[-MOST:] if isfinite(e.value)]
        X = np.array([self.space.encode(e.x) for e in known]).reshape(-1, self.space.dim)
        return looks_noisy(self.space.domain, X, np.array([e.value for e in known]))

    @property
    def how_to_go_on(self) -> str:
        """For an error message: where to find the values that have been told."""
        return "the result so far is in this error's `result`; a run with a study can be resumed"

    @property
    @step
    def book(self) -> Book:
        """What the search has asked for and found, in the unit cube, with its tree and its GP."""
        return self._look()

    @with_own_errors
    def _look(self) -> Book:
        if self._started and self._arrived:  # values that the search has not received yet
            arrived, self._arrived = self._arrived, []
            with one_thread() if self._book.noisy else nullcontext():
                self._book.receive(arrived)
            self._history.append(("look",))
        return self._book

    @property
    def rejected(self) -> int:
        """The number of nodes that the GP has ruled out so far."""
        return self._book.rejected

    @property
    def best(self) -> Evaluation | None:
        """The best feasible evaluation so far.

        Under noise, this is the one with the best posterior mean, and its value is that mean;
        before the model knows two values, it is the best value as told. For an algorithm that
        evaluates points repeatedly, it is the point that the algorithm recommends, and its value is
        the mean of the values measured there.
        """
        with self._lock:
            if self._broken or not (self._repeats or self._book.noisy):
                return self.ledger.best
            return self._believed_best()

    @step
    @with_own_errors
    def _believed_best(self) -> Evaluation | None:
        book, sign = self._look(), self._sign
        if self._repeats:
            return self._recommended(book) or self.ledger.best
        if book.t < 2:
            return self.ledger.best
        means = book.believed()
        for i in np.argsort(-means, kind="stable").tolist():
            evaluation = self._at.get(book.known.X[i].tobytes())
            # None if the record repeats the point of another one
            if evaluation is not None and evaluation.feasible:
                return evaluation._replace(value=sign * float(means[i]))
        return self.ledger.best

    def _recommended(self, book: Book) -> Evaluation | None:
        estimate = book.recommended()
        if estimate is None:
            return None
        last = self._at.get(estimate.x.tobytes())
        if last is None:  # all its values were told without being asked for
            last = Evaluation(None, self.space.decode(estimate.x), nan)
        return last._replace(value=self._sign * estimate.mean + 0.0)  # no -0.0

    @property
    @step
    @with_own_errors
    def beliefs(self) -> list[Evaluation]:
        """Each evaluation that gave a value, with the search's own estimate as its value.

        Under noise, the estimate is the posterior mean, as in `best`. For an algorithm that
        evaluates points repeatedly, it is the mean of the values at the point. Otherwise it is the
        value as told.
        """
        if self._repeats:
            known = [evaluation for evaluation in self.evaluations if isfinite(evaluation.value)]
            values: dict[bytes, list[float]] = {}
            for evaluation in known:
                values.setdefault(evaluation.x.tobytes(), []).append(evaluation.value)
            means = {key: sum(some) / len(some) for key, some in values.items()}
            return [each._replace(value=means[each.x.tobytes()]) for each in known]
        book = self._look()
        if not book.noisy or book.t < 2:
            return [evaluation for evaluation in self.evaluations if isfinite(evaluation.value)]
        points = [self._at.get(x.tobytes()) for x in book.known.X]
        believed = (self._sign * book.believed()).tolist()
        return [
            evaluation._replace(value=mean)
            for evaluation, mean in zip(points, believed, strict=True)
            if evaluation is not None
        ]

    def reaches(self, target: float) -> bool:
        """Whether the best value so far is at least as good as `target`."""
        best = self.best
        return best is not None and self._sign * best.value >= self._sign * target

    @property
    def result(self) -> "Result":
        """The result so far; see `bamsoo.minimize` for its fields.

        After an interrupted call it has no tree and no model until the search continues, because
        rebuilding them takes time, and someone who presses Ctrl-C does not want to wait.
        """
        with self._lock:
            book = None if self._broken else self.book
            return self._as_result(self.best, book)

    def _as_result(self, best: Evaluation | None, book: Book | None) -> "Result":
        from .gap import Bounds
        from .result import Details, Result

        ledger = self.ledger
        predictor, why = self._predictor(book)
        bounds = None
        if predictor is not None and book is not None:
            eta = getattr(self.algorithm, "eta", ETA)
            learned = getattr(self.algorithm, "kernel", None) is None  # none was given
            bounds = Bounds(predictor, book.tree, eta, learned, exact=not book.noisy)
        no_model = self._started and self._book.gp is None
        told, constrained = ledger.evaluations.copy(), bool(self.constraints)
        details = Details(self.space, told, predictor, why, bounds, no_model, constrained)
        return Result(
            details,
            x=None if best is None else best.x.copy(),
            fun=nan if best is None else best.value,
            params=None if best is None else self.space.params(best.x),
            direction=self.direction,
            nfev=ledger.told,
            success=best is not None,
            status=0,
            message="in progress" if self._ended is None else self._ended,
            X=ledger.X(),
            F=ledger.F(),
            C=ledger.C(),
            feasible=ledger.feasible(),
            nfailed=ledger.failed,
            ninfeasible=ledger.infeasible,
            nrejected=self._book.rejected,
            nexpanded=self._book.n - 1,
            tree=None if book is None else book.tree,
        )

    def predict(self, points: Any) -> tuple[Array, Array]:
        """The mean and deviation of the search's own model at each point.

        This is `Result.predict` for the values known now.
        """
        with self._lock:
            predictor, why = self._predictor(self.book)
        if predictor is None:
            raise ModelError(why)
        return predictor.predict(points)

    def _predictor(self, book: Book | None) -> tuple[Predictor | None, str]:
        """The model that the search uses, or the reason why there is none."""
        name = type(self.algorithm).__name__
        if book is None:
            return None, "a call was interrupted; the model is available again after the next ask"
        gp = book.gp
        if not self._started:
            return None, "the search has no model yet; call ask first"
        if gp is None:
            return None, (
                f"{name} has no model to predict with; use auto, bamsoo, gp-ucb, bamlogo or imgpo"
            )
        if gp.known == 0:
            return None, f"the model of {name} has no value yet; tell it one first"
        if isinstance(self.algorithm, Auto) and isinstance(book.transform, Identity):
            return None, f"{name} has not learned its model yet; tell it a few more values"
        return Predictor(self.space, self._sign, gp, book.transform), ""

    # --- pickles and copies

    def __getstate__(self) -> dict[str, Any]:
        """Settings and events: the search itself is a generator, which cannot be pickled."""
        with self._lock:
            return {
                "space": self.space,
                "direction": self.direction,
                "algorithm": self.algorithm,
                "seed": self.seed,
                "constraints": self.constraints.given,
                "identity": self._identity,
                "history": self._history.copy(),
                "given_back": self.ledger.given_back,
            }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Replay the events in a fresh search, which takes as long as the search itself took."""
        super().__init__()
        self.space, self.direction = state["space"], state["direction"]
        self.algorithm, self.seed = state["algorithm"], state["seed"]
        self.constraints = Constraints(self.space, state.get("constraints"))
        self._sign = 1.0 if self.direction == "maximize" else -1.0
        self._identity, self._history = state["identity"], []
        self._begin()
        for happened in state["history"]:
            self._redo(*happened)
        for number in state["given_back"]:
            self.ledger.give_back(self.ledger.out[number])

    # --- after an interrupt

    def _cut_short(self) -> None:
        """Rebuild the ledger without the unfinished step; the search is rebuilt later."""
        ledger = self._empty_ledger()
        for kind, *what in self._history:
            if kind in ("ask", "adopt", "enqueue"):
                ledger.add(*what)
            elif kind == "expect":
                ledger.expect(*what)
            elif kind == "tell":
                (ledger.settle if isinstance(what[0], Trial) else ledger.settle_point)(*what)
        self._keep_given_back(ledger)
        self.ledger = ledger

    def _keep_given_back(self, ledger: Ledger) -> None:
        for number in self.ledger.given_back:
            if number in ledger.out:
                ledger.give_back(ledger.out[number])

    def _repair(self) -> None:
        """Replay the whole history in a fresh search; an interrupt here changes nothing."""
        fresh = object.__new__(type(self))
        fresh.__dict__.update(self.__dict__)
        fresh._history = []
        fresh._begin()
        for happened in self._history:
            fresh._redo(*happened)
        self._keep_given_back(fresh.ledger)
        self.__dict__.update(fresh.__dict__)

    def _redo(self, kind: str, *what: Any) -> None:
        if kind == "ask":
            if self._ask(*what)[0].key != what[0]:
                raise SettingsError(
                    "the search cannot be rebuilt from its history, because it now asks for other "
                    f"points; make {brief(self.algorithm)} deterministic"
                )
            self._history.append((kind, *what))
        elif kind == "tell":
            self._tell(*what)
        elif kind == "expect":
            self._expect(*what)
        elif kind == "adopt":
            self._adopt(*what)
        elif kind == "enqueue":
            self._enqueue(*what)
            self.ledger.take(*what)  # what still has to be handed out is restored separately
        else:
            self._look()


def drawn_seed() -> int:
    """A seed drawn at random."""
    return _entropy() % 2**32


def _entropy() -> int:
    """128 bits from the operating system."""
    entropy = np.random.SeedSequence().entropy
    assert isinstance(entropy, int)
    return entropy


def ask_several(search: AskTell, n: int) -> list[Trial]:
    """A list of `n` trials, or of fewer if nothing is left; after an error none stay pending."""
    check_whole("ask", "n", n)
    trials: list[Trial] = []
    try:
        while len(trials) < n:
            trials.append(search.ask())
    except ExhaustedError:
        if not trials:
            raise
    except BaseException:
        for trial in trials:
            search.give_back(trial)
        raise
    return trials


def as_value(value: Any) -> float:
    """The value as one real number; nan if it is None, nan or infinite."""
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


def as_variance(variance: Any) -> float | None:
    """The variance of the noise in a value; None if it is not known."""
    if variance is None:
        return None
    try:
        array = numbers(variance)
    except TypeError:
        array = np.array(nan)
    if array.size != 1 or not 0.0 <= float(array.reshape(())) < inf:
        raise ValueTypeError(
            f"variance must be a finite number >= 0, or None if it is not known, "
            f"got {brief(variance)}"
        )
    return float(array.reshape(())) + 0.0  # turns -0.0 into 0.0, as sqlite does
