"""The course of a search: the record of its trials, and the conversation with its generator.

Both are what the events so far add up to, and applying an event is the only way to change them,
whether it happens now, is read from a file, or is repeated after an interrupt or in a copy.

The algorithms maximise over the unit cube. Here points are mapped between the caller's units and
the cube, values are turned so that larger ones are better, and each value finds the request that it
answers. A search numbers its requests with tickets. Several tickets may wait for the value of the
same point, because different points of the cube may stand for the same point of the caller.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from math import inf, isfinite, isnan
from typing import NamedTuple

import numpy as np

from ..algorithms.book import Book
from ..algorithms.known import Known
from ..algorithms.limits import Limits
from ..algorithms.search import PROMOTED, Outcome, Search
from ..base.blas import one_thread
from ..base.checks import brief
from ..base.guard import with_own_errors
from ..base.typing import Array
from ..errors import ExhaustedError, ReplayError, SettingsError
from ..record.events import (
    Asked,
    Ended,
    Enqueued,
    Event,
    Expected,
    Imported,
    Reported,
    Told,
    present,
)
from ..record.ledger import Ledger, front_of
from ..record.residuals import SumOfSquares
from ..record.trials import Evaluation
from ..space import BEYOND, Domain, Point, key_of
from .setup import Setup
from .stopping import Levels
from .unfinished import ROUNDING, AtLevels, Fate, InSteps, Unfinished

PATIENCE = 100
"""A search counts as ended when it asks for points it has asked for before this many times in a
row, plus once for each point that is known or pending."""


class Claim(NamedTuple):
    """A request of the search: its ticket, and the point of the cube whose value it waits for."""

    ticket: int | None
    """None if the search has not asked, or has ended."""
    unit: Array
    origin: str = ""
    """Which part of the search asked for it."""
    again: bool = False
    """Whether a known value is no answer, because the point is to be evaluated once more."""


class Course:
    """A search in progress.

    Parameters
    ----------
    setup : Setup
    events : sequence of Event, default ()
        What has happened so far.
    begin : int, optional
        Of the events before this index, only the values count; the search is not asked again. By
        default these are the events before the last restart.

    Raises
    ------
    ReplayError
        If the search now asks for other points than those in the events.
    """

    def __init__(
        self, setup: Setup, events: Sequence[Event] = (), begin: int | None = None
    ) -> None:
        space, constraints, objectives, algorithm, seed, identity, steps, tol, trainings = setup
        self._space, self._constraints, self._turn = space, constraints, objectives.sense.turn
        begin = present(events) if begin is None else begin
        self._objectives = objectives
        self.ledger = Ledger(space, constraints, objectives, identity, steps)
        """The record of all trials, pending and finished, in the caller's own units."""
        for event in events[:begin]:
            self.ledger.apply(event)
        self._algorithm, self._repeats = algorithm, algorithm.repeats
        self._seed = seed
        self._domain = replace(space.domain, region=constraints.region())
        count = len(constraints.limits)
        known = Known(count, len(objectives))
        limits = Limits(self._domain, known) if count else None
        short = steps is None and space.fidelity is None and not trainings
        self.book = Book(
            known=known,
            limits=limits,
            fidelity=space.fidelity,
            may_check=short,
            tol=tol,
            squares=replace(objectives.squares or SumOfSquares(), weights=None),
        )
        # Settings that do not fit the space raise an error here. The first `next` starts the search
        # again with the constraints, because looking for an allowed point may take long, and a
        # study that is only read never asks.
        self._search = self._start(space.domain)
        self.started = False
        self.ended: str | None = None
        """Why the search has nothing left to ask for; None if it has."""
        self.apart: dict[int, float] = {}
        """By trial: how far this search's point was from the trial's, as a share of a range. Only
        trials whose point was computed elsewhere, with other rounding errors, are listed."""
        self._arrived: list[Outcome] = []
        self._unseen: list[Point] = []  # pending points that the search does not know about yet
        # on the values of pending trials, and those that wait for any value of a pending point
        self._own_claims: dict[int, Claim] = {}
        self._claims: dict[Point, list[Claim]] = {}
        self._at: dict[bytes, Evaluation] = {}  # by point of the cube
        self._stored: dict[Point, Point] = {}  # from this search's point to the one in the events
        # only for a search that repeats points: the values that nobody has claimed
        self._spare: dict[Point, list[float]] = {}
        # the points that go on, each at its next level, and the claims that wait for it
        self._rising: dict[Point, list[Claim]] = {}
        self._unfinished = self._unfinished_of(setup)
        self._unfinished.restore()
        for evaluation in self.ledger.evaluations:
            self._unfinished.recall(evaluation)
            self._arrive(evaluation, False)
        for event in events[begin:]:
            self.apply(event)

    def _unfinished_of(self, setup: Setup) -> Unfinished:
        """What is known about evaluations that are not finished, if the search has any."""
        space, cheap = setup.space, setup.algorithm.cheap
        given = space, self.ledger, setup.objectives, self._bar
        if setup.steps is not None:
            # Stopped evaluations are compared by what their values may become. Those with the best
            # values may violate a constraint that only finished evaluations have measured.
            compares = cheap and not setup.constraints.measured
            return InSteps(*given, setup.steps, cheap, compares)
        if space.fidelity is not None and cheap:
            return AtLevels(*given, Levels(space.fidelity, space.domain))
        return Unfinished(*given)

    def apply(self, event: Event, claim: Claim | None = None) -> None:
        """Take one event into account.

        `claim` is the search's claim on the value of a point that it has just asked for. Without
        it, the search is asked again and has to name the same point.
        """
        if isinstance(event, (Asked, Enqueued, Expected)):
            self._begin(event, claim)
        elif isinstance(event, Told):
            expected = len(self.ledger.expected)
            self.ledger.apply(event)
            answers = event.number is not None or len(self.ledger.expected) < expected
            evaluation = self.ledger.evaluations[-1]
            self._unfinished.end(evaluation)
            self._arrive(evaluation, answers)
        elif isinstance(event, Imported):
            self.ledger.apply(event)
        elif isinstance(event, Reported):
            self._unfinished.report(event)
            if event.stopped:
                self._tell(self.ledger.evaluations[-1], True)
        elif isinstance(event, Ended) and self.ended is None:
            self._check_end()

    def _begin(self, event: Asked | Enqueued | Expected, claim: Claim | None) -> None:
        """Note that a point is going to be evaluated, and who waits for its value."""
        if isinstance(event, Asked):
            claim = self._again(event) if claim is None else claim
            event = event if event.origin else replace(event, origin=claim.origin)
        self.ledger.apply(event)
        point = self.ledger.point_of(event.key)
        self._unfinished.begin(point)
        if point in self._rising:
            self._claims.setdefault(point, []).extend(self._rising.pop(point))
        elif isinstance(event, Asked) and claim is not None:
            if claim.ticket is None and self.ended is not None:
                self._unfinished.must_end(event.number)
            self._own_claims[event.number] = claim
        elif not self._repeats:  # one that repeats points asks for the value when it is due
            self._unseen.append(point)

    def _check_end(self) -> None:
        """Raise an error if the search, which had nothing left to ask for, now has."""
        try:
            self.next()
        except ExhaustedError:
            return
        if self.ended is None:  # else what is left are unfinished evaluations only
            raise ReplayError("the search had nothing left to ask for, but now has more points")

    # --- evaluations that are not finished

    @with_own_errors
    def can_win(self, number: int, step: int, values: tuple[float, ...]) -> bool:
        """Whether a pending trial that has reached this step, with these values, is worth more."""
        return not self._unfinished.judge(number, step, values).stop

    @with_own_errors
    def expected_ends(self) -> dict[int, list[tuple[float, float]]]:
        """For each pending trial with a curve, the mean and deviation of each final value."""
        return self._unfinished.expected_ends()

    def _revise(self) -> None:
        """Bring what is believed about stopped evaluations up to date, after a curve has ended."""
        if self.started and self._unfinished.is_stale:
            self.look()  # now, since a value that is revised before it is entered would count
            beliefs = self._unfinished.revise()
            # by the points of the cube that the search asked for, which differ from those of the
            # evaluations by rounding
            at = self._at.items()
            revised = {key: beliefs[each.point] for key, each in at if each.point in beliefs}
            self.book.beliefs.revise(revised)

    def _bar(self) -> Array:
        """The value that an evaluation has to beat, to be maximised; empty if there is none yet.

        With several objectives it is the front, one row per point. Under noise these are posterior
        means and not the best values, which may be luck.
        """
        book, many = self.look(), len(self._objectives)
        if self._objectives.several:
            believes = book.noisy and book.t >= 2
            front = self.ledger.front
            if believes:
                front = front_of([each for each in self.believed() if each.feasible])
            rows = [self._objectives.to_maximise(each.numbers) for each in front]
            return np.reshape(np.array(rows), (-1, many))
        if book.noisy and book.t >= 2:
            best = float(book.transform.inverse(np.array([book.f_plus]))[0])
        else:
            known = self.best() if self._repeats else self.ledger.best
            best = -inf if known is None else self._turn(known.value)
        return np.full((int(isfinite(best)), 1), best)

    def _arrive(self, evaluation: Evaluation, answers: bool) -> None:
        """Take a value into account: the search sees it, unless its point goes on first."""
        point = evaluation.point
        fate = self._unfinished.arrive(evaluation, answers, self.started)
        if fate is Fate.SEEN:
            if (best := self._unfinished.revived_by(evaluation, self._rising)) is not None:
                self._rise(best, [self._unasked(best)])
            self._tell(evaluation, answers)
        elif fate is Fate.RISES:
            self._rise(evaluation, self._claims_on(evaluation) or [self._unasked(evaluation)])
        elif fate is Fate.MERGED:
            claims, top = self._claims_on(evaluation, answers), point.at_top
            if (known := self.ledger.at(top)) is None:
                self._claims.setdefault(top, []).extend(claims)
            else:
                self._arrived += [self._outcome(c.ticket, c.unit, known) for c in claims]

    def _claims_on(self, evaluation: Evaluation, answers: bool = True) -> list[Claim]:
        """The claims that a value answers, no more: that of its trial first, then those that wait.

        `answers` says whether the point was pending, so that claims on it are answered.
        """
        number = evaluation.number
        own = None if number is None else self._own_claims.pop(number, None)
        waiting = self._claims.pop(evaluation.point, []) if answers else []
        return waiting if own is None else [own, *waiting]

    def _unasked(self, evaluation: Evaluation, origin: str = "") -> Claim:
        """A claim on a point that goes on although the search has not asked for it now."""
        return Claim(None, evaluation.point.unit, origin)

    def _rise(self, evaluation: Evaluation, claims: list[Claim]) -> None:
        """Have a point evaluated at a higher level."""
        self._rising.setdefault(self._unfinished.higher(evaluation), []).extend(claims)

    def _waiting(self, point: Point) -> list[Claim] | None:
        """The claims on a point that is pending, at any level; None if it is not."""
        pending = self._unfinished.pending(point)
        return None if pending is None else self._claims.setdefault(pending, [])

    # --- the next point

    @with_own_errors
    def next(self, full: bool = False) -> tuple[Point, Claim]:
        """The next point that somebody has to evaluate, and the claim on its value.

        With `full`, it is at the top of the fidelity, whatever level the search would choose.

        Raises
        ------
        ExhaustedError
            When the search has nothing left to ask for.
        """
        if (going_on := self._goes_on(full)) is not None:
            return going_on
        seen_before = 0
        while True:
            try:
                point, claim = self._requested()
            except ExhaustedError:
                if not (left := self._unfinished.left(self._rising)):
                    raise
                _, best = left[0]
                return best.point.at_top, self._unasked(best, PROMOTED)
            if not self._is_answered(point, claim):
                return point if claim.again else self._unfinished.first(point, full), claim
            seen_before += not self._repeats  # spare values run out, so no limit is needed there
            if seen_before > PATIENCE + len(self.ledger):
                self.ended = "the search returns to known points only"

    def _goes_on(self, full: bool) -> tuple[Point, Claim] | None:
        """The unfinished evaluation that goes on before the search is asked; None if none does."""
        for point, waiting in self._rising.items():
            if full and (top := point.at_top) != point:
                self._rising = {top: self._rising.pop(point), **self._rising}
                point = top
            return point, waiting[0]._replace(origin=PROMOTED)
        self._revise()
        best = self._unfinished.revived(self._rising)
        return None if best is None else (best.point, self._unasked(best, PROMOTED))

    def _requested(self) -> tuple[Point, Claim]:
        """The point that the search asks for next, and its claim."""
        unit = self._advance()
        if not (np.abs(unit - 0.5) <= 0.5 + BEYOND).all():  # nan is not inside either
            raise SettingsError(
                f"{brief(self._algorithm)} asks for {brief(unit)}, which is outside the unit "
                "cube; correct the algorithm"
            )
        point = Point.decoded(self._space, unit)
        point = self._stored.get(point, point)
        if self.book.level is not None:
            point = point.at(self.book.level)
        again = self._repeats or self.book.asks_again(self.book.latest)
        return point, Claim(self.book.latest, unit, self.book.origin, again)

    def _is_answered(self, point: Point, claim: Claim) -> bool:
        """Whether a claim has been answered, or waits for a point that is pending already."""
        ticket, unit = claim.ticket, claim.unit
        known = None if claim.again else self._unfinished.evaluation(point)
        # under noise, each request of a point is another measurement
        waits = not (self._repeats or (claim.again and self.book.noisy))
        if known is not None:
            self._arrived.append(self._outcome(ticket, unit, known)._replace(shared=True))
        elif spare := self._spare.get(point):
            self._arrived.append(Outcome(ticket, unit, (self._turn(spare.pop(0)),)))
        elif waits and (claims := self._waiting(point)) is not None:
            claims.append(claim)
        elif not self._domain.allowed(unit):  # never handed out, whatever the algorithm
            self._arrived.append(Outcome(ticket, unit, ()))
        else:
            return False
        return True

    def _again(self, event: Asked) -> Claim:
        """The search's claim on a point that it asked for before.

        Another processor rounds differently, so a point that equals the earlier one up to rounding
        is replaced by it.
        """
        then = self.ledger.point_of(event.key)
        said = f"trial {event.number} differs: it was at {then.params}, but the search now asks for"
        try:
            point, claim = self.next(then == then.at_top)
        except ExhaustedError:
            raise ReplayError(f"{said} no more points") from None
        if point == then:
            return claim
        apart = self._distance(point, then)
        if apart > ROUNDING:
            raise ReplayError(f"{said} {point.params}")
        self.apart[event.number] = apart
        if claim.ticket is None:
            return claim
        self._stored[point.at_top] = then.at_top
        return claim._replace(unit=self.book.adopt(claim.ticket, then.unit))

    def _start(self, domain: Domain) -> Search:
        rng = np.random.default_rng(self._seed)
        algorithm = self._algorithm.to_maximise(self._objectives.sense)
        return algorithm.start(domain, rng, self.book)

    def _advance(self) -> Array:
        if self.ended is not None:
            raise ExhaustedError(f"nothing is left to evaluate: {self.ended}")
        if not self.started:
            for evaluation in self._unfinished.before_start():
                self._tell(evaluation, False)
        arrived, self._arrived = self._arrived, []
        try:
            if self.started:
                self._show_unseen()
                with nullcontext() if self.book.gp is None else one_thread():
                    return self._search.send(arrived)
            if self._domain.region is not None:
                self._search = self._start(self._domain)
            self.started = True
            self.book.given = arrived
            if self._space.fidelity is not None:
                self.book.spent = self.ledger.begun
            return next(self._search)
        except StopIteration as stop:
            self.ended = stop.value
            raise ExhaustedError(f"nothing is left to evaluate: {self.ended}") from None

    def _show_unseen(self) -> None:
        """Enter expected and enqueued points into the book, once the search has started."""
        for point in self._unseen:
            if self.ledger.is_out(point):
                claim = Claim(self.book.expect(point.unit), point.unit)
                self._claims.setdefault(point, []).append(claim)
        self._unseen = []

    def _distance(self, point: Point, other: Point) -> float:
        """The largest difference of two points along an axis, as a share of its range.

        If whole numbers or options differ, the distance is infinite.
        """
        here, there = point.x, other.x
        apart = np.abs(point.unit - other.unit)
        if self._space.fidelity is not None and point.level != other.level:
            return inf
        here, there = here[: len(apart)], there[: len(apart)]
        apart[here == there] = 0.0
        discrete = np.ones(len(apart), dtype=bool)
        discrete[self._space.domain.continuous] = False
        unlike = ~np.isclose(here, there, rtol=0.0, atol=0.0, equal_nan=True)
        return inf if (discrete & unlike).any() else float(apart.max())

    def _tell(self, evaluation: Evaluation, answers: bool) -> None:
        """Keep a value until the search is resumed.

        `answers` says whether the point was pending, so that claims on it are answered.
        """
        point, claims = evaluation.point, self._claims_on(evaluation, answers)
        if self._repeats and not claims and evaluation.numbers:
            self._spare.setdefault(point, []).append(evaluation.value)
        answered: list[tuple[int | None, Array]] = [(each.ticket, each.unit) for each in claims]
        if not answered and not self._repeats:
            answered = [(None, point.unit)]
        for i, (ticket, unit) in enumerate(answered):
            self._arrived.append(self._outcome(ticket, unit, evaluation)._replace(shared=i > 0))
            before = self._at.get(key_of(unit))
            measured = before is not None and bool(before.numbers)  # then it stays known
            if not evaluation.cheap and (evaluation.numbers or not measured):
                self._at[key_of(unit)] = evaluation

    def _outcome(self, ticket: int | None, unit: Array, known: Evaluation) -> Outcome:
        """Convert an evaluation to what the search sees of it."""
        # a point that was asked for is known to be allowed
        allowed = known.number is not None or self._constraints.violated(known.x) is None
        missed = self._constraints.excess(known.measured)
        if (belief := self._unfinished.instead(known)) is not None:
            missed = () if known.cheap else missed
            own = () if any(map(isnan, belief.variances)) else belief.variances
            return Outcome(ticket, unit, belief.means, missed, allowed, own, False)
        values = self._objectives.to_maximise(known.numbers)
        weighted, variance = None, known.variance
        if known.residuals:
            squares, noise = self._objectives.squares or SumOfSquares(), self._algorithm.noise
            weighted = squares.weighted(known.residuals)
            if variance is None and not isinstance(noise, str) and noise > 0.0:
                variance = noise
            if variance is not None:  # it is that of each residual
                variance = squares.variance(known.residuals, variance)
        own = () if variance is None else (variance,)
        return Outcome(ticket, unit, values, missed, allowed, own, True, weighted)

    # --- what the search knows and believes

    def look(self) -> Book:
        """The search's book, with all values entered that have arrived so far."""
        if self.started and self._arrived:
            arrived, self._arrived = self._arrived, []
            with one_thread() if self.book.noisy else nullcontext():
                self.book.receive(arrived)
        return self.book

    @property
    def estimates(self) -> bool:
        """Whether the search relies on estimates of its own instead of the values as told."""
        return self._repeats or self.book.noisy

    def best(self) -> Evaluation | None:
        """The evaluation that the search takes for the best, with its estimate as the value."""
        return self.best_so_far()()

    def best_so_far(self) -> Callable[[], Evaluation | None]:
        """A function that returns the evaluation that the search takes for the best now.

        Its value is the estimate. Estimates take long under noise, so they are made when the
        function is called, from the rows of the GP as they are now.
        """
        book, told = self.look(), self.ledger.best
        if self._repeats:
            recommended = self._recommended(book) or told
            return lambda: recommended
        gp, learned, transform = book.gp, book.beliefs.learned, book.transform
        if gp is None or learned is None:
            return lambda: told
        known, evaluations = gp.known, self._at.copy()

        @cache
        @with_own_errors
        def estimated() -> Evaluation | None:
            with one_thread():
                repeats = book.beliefs.repeats(gp, known, learned)
                at = {i: evaluations.get(key_of(x)) for i, x in enumerate(repeats.X)}
                # None if the record repeats the point of another one
                found = {i: each for i, each in at.items() if each is not None and each.feasible}
                if not found:
                    return told
                best, g = repeats.best(np.array([*found]))
            value = float(transform.inverse(np.array([g]))[0])
            return found[best]._replace(numbers=(self._turn(value),))

        return estimated

    def _recommended(self, book: Book) -> Evaluation | None:
        estimate = book.estimates.recommended()
        if estimate is None:
            return None
        last = self._at.get(key_of(estimate.x))
        if last is None:  # all its values were told without being asked for
            last = Evaluation(None, Point.decoded(self._space, estimate.x), (), self._objectives)
        return last._replace(numbers=(self._turn(estimate.mean) + 0.0,))  # no -0.0

    def believed(self) -> list[Evaluation]:
        """The evaluations that gave a value, with the search's own estimate as the value.

        Under noise, the estimate is the posterior mean, and a point that was evaluated repeatedly
        is listed once. For an algorithm that evaluates points
        repeatedly, it is the mean of the values at the point. Otherwise it is the value as told.
        """
        known = [each for each in self.ledger.evaluations if each.numbers and not each.cheap]
        if self._repeats:
            values: dict[Point, list[float]] = {}
            for evaluation in known:
                values.setdefault(evaluation.point, []).append(evaluation.value)
            means = {point: sum(some) / len(some) for point, some in values.items()}
            return [each._replace(numbers=(means[each.point],)) for each in known]
        book = self.look()
        if not book.noisy or book.t < 2:
            return known
        believed = book.beliefs.columns().tolist()
        rows = {key_of(x): i for i, x in enumerate(book.known.X)}  # one for each point
        return [
            each._replace(numbers=self._objectives.to_maximise(believed[i]))
            for key, i in rows.items()
            if (each := self._at.get(key)) is not None and not each.stopped
        ]
