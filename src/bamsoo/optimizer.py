"""Ask and tell: one search, driven by its caller.

Between here and the algorithms the sign flips (they maximise) and the unit cube begins.
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
from .space import Constraints, Space, SpaceLike, numbers

if TYPE_CHECKING:
    from .result import Result  # scipy.optimize is slow to import, so only where one is made

PATIENCE = 100
"""Points a search may repeat in a row, beyond those known or out, before it counts as ended."""

ETA = 0.05
"""The bounds of a search without an eta of its own hold together with probability 1 - ETA."""


ROUNDING = 1e-4
"""Points agree to rounding where they differ by no more than this share of each range.

The last digit of a processor's arithmetic is amplified where a nearly singular model is climbed.
Between kinds of processors, half of the points of such a climb differ by less than 1e-12, nine in
ten by less than 1e-8 and the furthest by 7e-5 (docs/reliability.md). A search that has gone
another way is farther off than this."""


class AskTell(Protocol):
    """Something that is asked for trials and told their values: an `Optimizer` or a `Study`."""

    @property
    def space(self) -> Space:
        """The space that is searched."""
        ...

    @property
    def constraints(self) -> Constraints:
        """What the points have to meet."""
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
    def result(self) -> "Result":
        """What is known so far."""
        ...

    @property
    @with_own_errors
    def suspects_noise(self) -> bool:
        """Whether values seem to be noisy that the search takes for exact."""
        ...

    @property
    def how_to_go_on(self) -> str:
        """For an error message: where the values are that have been told."""
        ...

    def ask(self) -> Trial:
        """The next trial to evaluate."""
        ...

    def enqueue(self, point: Array | Mapping[str, Any]) -> None:
        """Have this point evaluated before any that the search chooses."""
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
        """Hand this trial out again: nobody evaluates it any more."""
        ...

    def reaches(self, target: float) -> bool:
        """Whether the best value so far is at least as good as `target`."""
        ...


class Optimizer(Guarded):
    """A search for the best point of `space`, one trial at a time.

    Several threads may use it, and it can be pickled and copied. A call that is interrupted, by
    Ctrl-C for example, has not happened: the search is then built anew from what it was asked and
    told before.

    Parameters
    ----------
    space : sequence of (low, high), scipy.optimize.Bounds or dict
    direction : {"minimize", "maximize"}
    algorithm : str or settings object
    seed : int or None
        Same settings, same seed, same asks and tells: same points. None: a seed is drawn, and is
        the attribute `seed`.
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
        self._identity = f"{_entropy():x}"  # which a pickle keeps, so that its trials come home
        self._history: list[tuple[Any, ...]] = []
        """All that has happened to the search, in order: what `_redo` takes."""
        self._begin()

    def _begin(self) -> None:
        """A search that knows nothing."""
        self._repeats = repeats(self.algorithm)
        if self._repeats and self.constraints.measured:
            raise SettingsError(
                f"{type(self.algorithm).__name__} evaluates points again and takes no measured "
                "constraints; use another algorithm, such as auto"
            )
        self.ledger = self._empty_ledger()
        """What was handed out, what is out and what is known, in the caller's own units."""
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
        self._unseen: list[bytes] = []  # points out that the search has not been shown
        self._at: dict[bytes, Evaluation] = {}  # by the point of the cube
        self._adopted: dict[bytes, bytes] = {}  # points of an earlier search, by those of this one

    def _empty_ledger(self) -> Ledger:
        return Ledger(self.space, self._sign, self._identity, self._repeats, self.constraints)

    @overload
    def ask(self) -> Trial: ...

    @overload
    def ask(self, n: int) -> list[Trial]: ...

    def ask(self, n: int | None = None) -> Trial | list[Trial]:
        """The next point to evaluate, or a list of `n`; several may be out at once.

        At the end of a space the list may be shorter.

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
            for trial in handed:  # to nobody
                self.ledger.give_back(trial)
            raise

    @step
    def _hand_out(self, handed: list[Trial]) -> Trial:
        """A trial; `handed` holds it from where it would be lost if this went no further."""
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
        """Ask as an earlier search did that was handed `point` for its next trial.

        Another processor rounds differently: a point that agrees with `point` to rounding is taken
        to be `point`. The trial is at another point where the search asks for something else.
        Returned with it is how far apart the two were, as a share of a parameter's range.
        """
        trial, apart = self._ask(self.space.point(point).tobytes())
        self._history.append(("ask", trial.key))
        return trial, apart

    @with_own_errors
    def _ask(self, wanted: bytes | None = None) -> tuple[Trial, float]:
        """A trial that is new; at `wanted` where the search asks for that, to rounding.

        With it comes how far the search was from `wanted`.
        """
        ledger, seen_before = self.ledger, 0
        while True:
            unit = self._advance()
            claim = self._book.latest, unit
            key = self.space.decode(unit).tobytes()
            key = self._adopted.get(key, key)
            again = self._repeats or self._book.asks_again(claim[0])
            known = None if again else ledger.known(key)
            spare = ledger.spare(key) if self._repeats else None
            known = None
            if not self._repeats and not self._book.asks_again(claim[0]):
                known = ledger.known(key)
            if known is not None:
                self._arrived.append(self._outcome(*claim, known))
            elif spare is not None:
                self._arrived.append(Outcome(*claim, self._sign * spare))
            elif ledger.is_out(key) and not self._repeats:
                ledger.claim(key, claim)
            elif not self._allowed(unit):  # whatever the algorithm, it is never asked for
                self._arrived.append(Outcome(*claim, nan))
            else:
                apart = 0.0 if wanted is None else self._apart(key, wanted)
                if wanted is not None and 0.0 < apart <= ROUNDING:
                    self._adopted[key] = wanted
                    key = wanted
                    there = self.space.encode(np.frombuffer(wanted))
                    claim = claim[0], self._book.adopt(claim[0], there)
                return ledger.add(key, claim), apart
            seen_before += not self._repeats  # there every value is used up
            if seen_before > PATIENCE + len(ledger):
                self._ended = "the search comes back to the same points only"

    def _outcome(self, ticket: int | None, unit: Array, known: Evaluation) -> Outcome:
        """An evaluation as the search sees it."""
        allowed = self.constraints.violated(known.x) is None
        value = self._sign * known.value
        return Outcome(ticket, unit, value, known.measured, allowed, known.variance)

    def _apart(self, key: bytes, other: bytes) -> float:
        """How far apart two points are, in ranges; whole numbers and options must be the same."""
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
            self._book.known = arrived
            return next(self._search)
        except StopIteration as stop:
            self._ended = stop.value
            raise ExhaustedError(f"nothing is left to evaluate: {self._ended}") from None

    @step
    def expect(self, point: Array | Mapping[str, Any]) -> None:
        """Count a point as out that is being evaluated elsewhere, until `tell(point, value)`.

        It is not asked for meanwhile, and a GP takes it for pending, as if it had been asked.
        A point that is known or out already stays what it is.
        """
        self._expect(self.space.point(point).tobytes())

    def _expect(self, key: bytes) -> None:
        if self.ledger.expect(key):
            self._unseen.append(key)
            self._history.append(("expect", key))

    def _show_expected(self) -> None:
        """Enter expected and enqueued points into the book, once there is a search to keep one."""
        for key in self._unseen:
            if self.ledger.is_out(key):
                unit = self.space.encode(np.frombuffer(key))
                self.ledger.claim(key, (self._book.expect(unit), unit))
        self._unseen = []

    @step
    def enqueue(self, point: Array | Mapping[str, Any]) -> None:
        """Have `ask` hand out this point before any that the search chooses.

        It becomes a trial like any other. A point that is known or out already stays what it is.
        One that violates a constraint known in advance is refused.
        """
        x = self.space.point(point)
        self.constraints.check_point(x)
        self._enqueue(x.tobytes())

    def _enqueue(self, key: bytes) -> None:
        if self.ledger.value(key) is None and not self.ledger.is_out(key):
            self.ledger.give_back(self.ledger.add(key))
            if not self._repeats:  # there its value waits for the search to ask for the point
                self._unseen.append(key)
            self._history.append(("enqueue", key))

    @step
    def adopt(self, point: Array | Mapping[str, Any]) -> Trial:
        """Number a point as a trial that is out, though this search has not asked for it.

        For trials of an earlier search: unlike a point that is expected, the GP does not take
        it for pending.
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
        """Report a value, in any order; None, nan and inf mean that the evaluation failed.

        Parameters
        ----------
        trial : Trial or point
            What `ask` returned; or a point of the space, an array or a dict, that was
            evaluated elsewhere.
        value : float or None
        error : str, optional
            Why the evaluation failed.
        constraints : dict, optional
            What the evaluation measured, by name: a constraint is met where the number is <= 0.
        variance : float, optional
            Variance of the noise in this value, in squared units of it; 0: it is exact. By default
            it is that of the setting `noise`. From the first one above 0 on, the search believes
            its model, as with `noise`. Algorithms without a model keep it and do not use it.
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
    @with_own_errors
    def suspects_noise(self) -> bool:
        """Whether values seem to be noisy that the default takes for exact."""
        if not isinstance(self.algorithm, Auto) or self._book.noisy:
            return False
        known = [e for e in self.ledger.evaluations[-MOST:] if isfinite(e.value)]
        X = np.array([self.space.encode(e.x) for e in known]).reshape(-1, self.space.dim)
        return looks_noisy(self.space.domain, X, np.array([e.value for e in known]))

    @property
    def how_to_go_on(self) -> str:
        """For an error message: where the values are that have been told."""
        return "the result so far is this error's `result`; with a study a run can go on"

    @property
    @step
    def book(self) -> Book:
        """What the search has asked for and found, in the unit cube: its tree, its GP."""
        return self._look()

    @with_own_errors
    def _look(self) -> Book:
        if self._started and self._arrived:  # told since the search last went on
            arrived, self._arrived = self._arrived, []
            with one_thread() if self._book.noisy else nullcontext():
                self._book.receive(arrived)
            self._history.append(("look",))
        return self._book

    @property
    def rejected(self) -> int:
        """Nodes the GP has rejected so far."""
        return self._book.rejected

    @property
    def best(self) -> Evaluation | None:
        """The best feasible evaluation so far.

        Under noise, the one with the best posterior mean, and that for its value; until the
        model knows two values, the best as told. Of a search that evaluates points again, the
        point it recommends, and the mean of its values.
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
            evaluation = self._at.get(book.records[i][1].tobytes())
            # None is only a repeat of another's point
            if evaluation is not None and evaluation.feasible:
                return evaluation._replace(value=sign * float(means[i]))
        return self.ledger.best

    def _recommended(self, book: Book) -> Evaluation | None:
        estimate = book.recommended()
        if estimate is None:
            return None
        last = self._at.get(estimate.x.tobytes())
        if last is None:  # all its values were told unasked
            last = Evaluation(None, self.space.decode(estimate.x), nan)
        return last._replace(value=self._sign * estimate.mean + 0.0)  # no -0.0

    @property
    @step
    @with_own_errors
    def beliefs(self) -> list[Evaluation]:
        """Each evaluation that gave a value, with what the search believes that value to be.

        Under noise that is the posterior mean, as in `best`; where points are evaluated again,
        the mean of a point's values; else the value as told.
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
        points = [self._at.get(x.tobytes()) for _, x, _, _ in book.records]
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
        """What is known so far; see `bamsoo.minimize`.

        After a call that was interrupted it comes without the tree and the model until the search
        goes on: nobody who presses Ctrl-C wants to wait for them.
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
        """What the search's own model expects: mean and deviation at each point.

        As `Result.predict`, of what is known now.
        """
        with self._lock:
            predictor, why = self._predictor(self.book)
        if predictor is None:
            raise ModelError(why)
        return predictor.predict(points)

    def _predictor(self, book: Book | None) -> tuple[Predictor | None, str]:
        """The model that the search goes by, or why there is none."""
        name = type(self.algorithm).__name__
        if book is None:
            return None, "a call was interrupted, and the model waits until the search goes on"
        gp = book.gp
        if not self._started:
            return None, "the search has not been asked yet, and has no model before"
        if gp is None:
            return None, (
                f"{name} has no model to predict with; auto, bamsoo, gp-ucb, bamlogo and imgpo "
                "have one"
            )
        if gp.known == 0:
            return None, f"the model of {name} knows no value yet"
        if isinstance(self.algorithm, Auto) and isinstance(book.transform, Identity):
            return None, f"{name} has not learned its model yet: it needs a few more values"
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
        """Walk a fresh search through the events, which costs what the search spent thinking."""
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
        """The ledger without what was not done to its end; the search can wait."""
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
        """Walk a fresh search through all that happened; an interrupt here changes nothing."""
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
                    "the search cannot be built anew from what it was asked and told: now it asks "
                    f"for other points, so that {brief(self.algorithm)} is not deterministic"
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
            self.ledger.take(*what)  # whether it waits to be handed out is no part of the history
        else:
            self._look()


def drawn_seed() -> int:
    """A seed that nobody has chosen."""
    return _entropy() % 2**32


def _entropy() -> int:
    """128 bits from the operating system."""
    entropy = np.random.SeedSequence().entropy
    assert isinstance(entropy, int)
    return entropy


def ask_several(search: AskTell, n: int) -> list[Trial]:
    """A list of `n` trials; fewer where nothing is left. If it fails, none stay out."""
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


def as_variance(variance: Any) -> float | None:
    """The variance of the noise in a value; None where it is not known."""
    if variance is None:
        return None
    try:
        array = numbers(variance)
    except TypeError:
        array = np.array(nan)
    if array.size != 1 or not 0.0 <= float(array.reshape(())) < inf:
        raise ValueTypeError(
            f"variance must be a finite number >= 0, or None where it is not known, "
            f"got {brief(variance)}"
        )
    return float(array.reshape(())) + 0.0  # no -0.0: sqlite knows none
