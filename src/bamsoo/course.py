"""The course of a search: the record of its trials, and the conversation with its generator.

Both are what the events so far add up to, and applying an event is the only way to change them,
whether it happens now, is read from a file, or is repeated after an interrupt or in a copy.

The algorithms maximise over the unit cube. Here points are mapped between the caller's units and
the cube, values get the sign that the algorithms expect, and each value finds the request that it
answers. A search numbers its requests with tickets. Several tickets may wait for the value of the
same point, because different points of the cube may stand for the same point of the caller.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from math import inf, isfinite, sqrt
from typing import NamedTuple

import numpy as np

from ._typing import Array
from .algorithms import Algorithm
from .algorithms.book import Book
from .algorithms.known import Known
from .algorithms.limits import Limits
from .algorithms.search import PROMOTED, Outcome, Search
from .blas import one_thread
from .checks import brief
from .errors import ExhaustedError, ReplayError, SettingsError
from .events import Asked, Ended, Enqueued, Event, Expected, Reported, Told, present
from .guard import with_own_errors
from .ledger import GIVEN, Curve, Evaluation, Ledger
from .objectives import Objectives
from .space import BEYOND, Constraints, Domain, Space
from .stopping import REVIVED, Belief, Levels, Stopping, Verdict

PATIENCE = 100
"""A search counts as ended when it asks for points it has asked for before this many times in a
row, plus once for each point that is known or pending."""

ROUNDING = 1e-4
"""Two points count as equal up to rounding if they differ by at most this share of each range.

Climbing a nearly singular model amplifies the last digit of a processor's arithmetic. Between
types of processors, half of the points found by such a climb differ by less than 1e-12, nine in
ten by less than 1e-8, and the largest difference is 7e-5 (docs/reliability.md). A search that has
taken a different course differs by more than this."""


class Claim(NamedTuple):
    """A request of the search: its ticket, and the point of the cube whose value it waits for."""

    ticket: int | None
    """None if the search has not asked, or has ended."""
    unit: Array
    origin: str = ""
    """Which part of the search asked for it."""


class Setup(NamedTuple):
    """What decides the course of a search, besides the events."""

    space: Space
    constraints: Constraints
    objectives: Objectives
    algorithm: Algorithm
    seed: int
    identity: str
    """Tells trials of this search from those of others, also after they were pickled."""
    steps: int | None = None
    """The number of steps of a full evaluation, if trials report their steps."""

    @property
    def sign(self) -> float:
        """1 if larger values of the first objective are better, else -1."""
        return self.objectives.signs[0]


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
        space, constraints, objectives, algorithm, seed, identity, steps = setup
        self._space, self._constraints, self._sign = space, constraints, setup.sign
        begin = present(events) if begin is None else begin
        self._objectives = objectives
        self.ledger = Ledger(space, constraints, objectives, identity, steps)
        """The record of all trials, pending and finished, in the caller's own units."""
        for event in events[:begin]:
            self.ledger.apply(event)
        self._algorithm, self._repeats = algorithm, algorithm.repeats
        self._seed = seed
        self._domain = replace(space.domain, region=constraints.region())
        count = len(constraints.measured)
        known = Known(count, len(objectives))
        limits = Limits(self._domain, known) if count else None
        self.book = Book(known=known, limits=limits, fidelity=space.fidelity)
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
        self._unseen: list[bytes] = []  # pending points that the search does not know about yet
        self._claims: dict[bytes, list[Claim]] = {}  # on the values of pending points
        self._at: dict[bytes, Evaluation] = {}  # by point of the cube
        self._stored: dict[bytes, bytes] = {}  # from this search's point to the one in the events
        # only for a search that repeats points: the claim of each trial, and unclaimed values
        self._own_claims: dict[int, Claim] = {}
        self._spare: dict[bytes, list[float]] = {}
        self._stopping = None if steps is None else Stopping(steps, space.domain)
        # Stopped evaluations are compared by what their values may become. Those with the best
        # values may violate a constraint that only finished evaluations have measured.
        self._compares = algorithm.cheap and not constraints.measured
        self._judged: tuple[tuple[int, int, float], Verdict] | None = None
        # The curve of each trial in the model, those of stopped ones by their points, and whether
        # one was entered since what is believed was last brought up to date.
        self._places: dict[int, int] = {}
        self._cut: dict[bytes, int] = {}
        self._ends_anew = False
        cheap = space.fidelity is not None and algorithm.cheap
        self._levels = Levels(space.fidelity, space.domain) if cheap and space.fidelity else None
        # Of points without their fidelity: the order in which they were begun, the highest
        # evaluations below the top from before the search began, and what is believed about those
        # that were stopped, or dropped below the top, with their latest evaluations. Then the
        # points that go on, each with its next level, and the claims that wait for it.
        self._begun: dict[bytes, int] = {}
        self._below: dict[bytes, Evaluation] = {}
        self._dropped: dict[bytes, tuple[Belief, Evaluation]] = {}
        self._rising: dict[bytes, list[Claim]] = {}
        for trial in self.ledger.trials:
            self._begin(trial.key)
        for evaluation in self.ledger.evaluations:
            self._end_curve(evaluation)
        for evaluation in self.ledger.evaluations:
            if evaluation.stopped and evaluation.number is not None:
                self._drop(evaluation, self._belief_of(evaluation.number))
            self._arrive(evaluation, False)
        for event in events[begin:]:
            self.apply(event)

    def apply(self, event: Event, claim: Claim | None = None) -> None:
        """Take one event into account.

        `claim` is the search's claim on the value of a point that it has just asked for. Without
        it, the search is asked again and has to name the same point.
        """
        if isinstance(event, (Asked, Enqueued, Expected)):
            if isinstance(event, Asked):
                claim = self._again(event) if claim is None else claim
                event = event if event.origin else replace(event, origin=claim.origin)
            self.ledger.apply(event)
            self._begin(event.key)
            if event.key in self._rising:
                self._claims.setdefault(event.key, []).extend(self._rising.pop(event.key))
            elif isinstance(event, Asked) and claim is not None:
                if self._repeats:
                    self._own_claims[event.number] = claim
                else:
                    self._claims.setdefault(event.key, []).append(claim)
            elif not self._repeats:  # one that repeats points asks for the value when it is due
                self._unseen.append(event.key)
        elif isinstance(event, Told):
            answers = event.number is not None or event.key in self.ledger.expected
            self.ledger.apply(event)
            self._end_curve(self.ledger.evaluations[-1])
            self._arrive(self.ledger.evaluations[-1], answers)
        elif isinstance(event, Reported):
            self._report(event)
        elif isinstance(event, Ended) and self.ended is None:
            try:
                self.next()
            except ExhaustedError:
                return
            raise ReplayError("the search had nothing left to ask for, but now has more points")

    # --- steps

    @with_own_errors
    def can_win(self, number: int, step: int, value: float) -> bool:
        """Whether a pending trial that has reached this step, with this value, is worth more."""
        return not self._judge(number, step, value).stop

    def _judge(self, number: int, step: int, value: float) -> Verdict:
        """The verdict on a step that is about to be reported."""
        key = number, step, value
        if self._judged is None or self._judged[0] != key:
            curve = self.ledger.curves.get(number)
            if curve is None or step <= curve.first:
                curve = Curve(step)
            steps = [*curve.steps, curve.counted(step)]
            x = self.ledger.trials[number].key
            values = [self._sign * each for each in (*curve.values, value)]
            unit = self._space.encode(np.frombuffer(x))
            assert self._stopping is not None
            verdict = self._stopping.verdict(number, unit, steps, values, self._bar())
            if steps[-1] >= self._stopping.look and self._is_look(number):
                known = self._stopping.belief(unit, steps, values)
                verdict = Verdict(-inf, known) if isfinite(known.mean) else verdict
            self._judged = key, verdict
        return self._judged[1]

    def _belief_of(self, number: int) -> Belief:
        """What is believed about a trial that has a curve and was not finished."""
        assert self._stopping is not None
        if number in self._places:
            return self._stopping.beliefs([self._places[number]])[0]
        curve = self.ledger.curves[number]
        unit = self._space.encode(np.frombuffer(self.ledger.trials[number].key))
        values = [self._sign * value for value in curve.values]
        return self._stopping.belief(unit, curve.steps, values)

    def _is_look(self, number: int) -> bool:
        """Whether a trial is one of the first, which are compared with each other.

        Points that the caller chose are evaluated whatever the others are like, and once there is a
        final value it is what others have to beat.
        """
        if self._stopping is None or not self._compares or self._finished():
            return False
        return number < self._stopping.looks and self.ledger.origin(number) != GIVEN

    def _finished(self) -> bool:
        """Whether any evaluation has given a final value."""
        return any(evaluation.numbers for evaluation in self.ledger.evaluations)

    def _revise(self) -> None:
        """Bring what is believed about stopped evaluations up to date, after a curve has ended."""
        if self._stopping is None or not self._algorithm.cheap:
            return
        if not self._ends_anew or not self.started:
            return
        self.look()  # now, since a value that is revised before it is entered would count otherwise
        self._ends_anew = False
        cut = [evaluation for _, evaluation in self._dropped.values()]
        places = [self._places.get(-1 if each.number is None else each.number) for each in cut]
        known = [
            (each, place) for each, place in zip(cut, places, strict=True) if place is not None
        ]
        if not known:
            return
        beliefs = self._stopping.beliefs([place for _, place in known])
        for (evaluation, _), belief in zip(known, beliefs, strict=True):
            self._drop(evaluation, belief)
        units = (self._space.encode(evaluation.x).tobytes() for evaluation, _ in known)
        self.book.revise(dict(zip(units, beliefs, strict=True)))

    def _bar(self) -> float:
        """The value that an evaluation has to beat, to be maximised.

        Under noise it is the best posterior mean and not the best value, which may be luck.
        """
        book = self.look()
        if book.noisy and book.t >= 2:
            return float(book.transform.inverse(np.array([book.f_plus]))[0])
        best = self.best() if self._repeats else self.ledger.best
        return -inf if best is None else self._sign * best.value

    @with_own_errors
    def expected_ends(self) -> dict[int, tuple[float, float]]:
        """For each pending trial with a curve, the mean and deviation of its final value."""
        found: dict[int, tuple[float, float]] = {}
        for number in self.ledger.out if self._stopping is not None else ():
            if number in self.ledger.curves:
                mean, variance = self._belief_of(number)
                found[number] = self._sign * mean, sqrt(variance)
        return found

    def _report(self, event: Reported) -> None:
        """Take a step into account; if the trial ends with it, the search is told its belief."""
        verdict = None
        if event.stopped is not None and self._stopping is not None:
            verdict = self._judge(event.number, event.step, event.value)
            if verdict.stop != event.stopped and abs(verdict.margin) > ROUNDING:
                was = "was stopped" if event.stopped else "went on"
                raise ReplayError(
                    f"trial {event.number} differs: it {was} after step {event.step}, but now "
                    "the opposite is decided"
                )
        self._judged = None
        self.ledger.apply(event)
        if verdict is not None and verdict.spared and self._stopping is not None:
            self._stopping.spare(event.number, self.ledger.curves[event.number].taken)
        if event.stopped:
            assert verdict is not None
            evaluation = self.ledger.evaluations[-1]
            self._drop(evaluation, verdict.belief)
            self._end_curve(evaluation)
            self._tell(evaluation, True)

    def _end_curve(self, evaluation: Evaluation) -> None:
        """Enter the curve of a trial that has ended into the model of curves."""
        if self._stopping is None or evaluation.number is None:
            return
        curve = self.ledger.curves.get(evaluation.number)
        if curve is not None and not evaluation.failed:
            steps, values = curve.steps, [self._sign * each for each in curve.values]
            if not evaluation.stopped:  # its last value, if it ended early or told another one
                steps = [*(step for step in steps if step < self._stopping.steps)]
                values = [*values[: len(steps)], self._sign * evaluation.value]
                steps.append(self._stopping.steps)
            key, number = evaluation.x.tobytes(), evaluation.number
            place = self._stopping.add(
                self._space.encode(evaluation.x),
                curve.taken,
                steps,
                values,
                self._cut.pop(key, None),
            )
            if place is not None:
                self._places[number] = place
                self._ends_anew = True
                if evaluation.stopped:
                    self._cut[key] = place

    # --- fidelities

    def _point(self, key: bytes) -> bytes:
        """A point without its fidelity."""
        return key if self._space.fidelity is None else key[:-8]

    def _begin(self, key: bytes) -> None:
        """Note that a point is evaluated, whatever its fidelity."""
        if self._levels is not None:
            self._begun.setdefault(self._point(key), len(self._begun))

    def _at_level(self, key: bytes, after: float | None) -> bytes:
        """The point at the level of the fidelity after this one, or at its first."""
        if self._levels is None:
            return key
        point, unit = self._point(key), self._space.encode(np.frombuffer(key))
        index = self._begun.get(point, len(self._begun))
        return point + np.float64(self._levels.above(after, point, unit, index)).tobytes()

    def _at_top(self, key: bytes) -> bytes:
        """The point at the top of the fidelity, if there is one."""
        fidelity = self._space.fidelity
        return key if fidelity is None else key[:-8] + np.float64(fidelity.high).tobytes()

    def _known(self, key: bytes) -> Evaluation | None:
        """The evaluation of a point at the top; if it was dropped below it, the latest one."""
        known, point = self.ledger.at(key), self._point(key)
        return self._dropped[point][1] if known is None and point in self._dropped else known

    def _waiting(self, key: bytes) -> list[Claim] | None:
        """The claims on a point that is pending, at any fidelity; None if it is not."""
        if self._levels is None:
            return self._claims.setdefault(key, []) if self.ledger.is_out(key) else None
        out = (*(trial.key for trial in self.ledger.out.values()), *self.ledger.expected)
        for each in out:
            if self._point(each) == self._point(key):
                return self._claims.setdefault(each, [])
        return None

    def _arrive(self, evaluation: Evaluation, answers: bool) -> None:
        """Take a value into account: the search sees it, unless its point goes on first."""
        levels, key = self._levels, evaluation.x.tobytes()
        if levels is None or not evaluation.numbers:
            self._tell(evaluation, answers)
            return
        point, unit = self._point(key), self._space.encode(evaluation.x)
        levels.enter(point, float(evaluation.x[-1]), self._sign * evaluation.value)
        top = self._at_top(key)
        if not evaluation.cheap:
            self._dropped.pop(point, None)
            self._below.pop(point, None)
            levels.end(point, unit)
            if (best := self._revived()) is not None:  # only a value at the top can change that
                self._rise(best, [Claim(None, self._space.encode(best.x))])
        elif not self.ledger.is_new(top):  # the search needs no other value of this point
            claims, known = self._claims.pop(key, []) if answers else [], self.ledger.at(top)
            if known is None:
                self._claims.setdefault(top, []).extend(claims)
            else:
                self._arrived += [self._outcome(c.ticket, c.unit, known) for c in claims]
            return
        elif not (answers or self.started):
            if point not in self._below or evaluation.x[-1] >= self._below[point].x[-1]:
                self._below[point] = evaluation
            return
        elif answers and levels.wins(point, unit, self._begun.get(point, -1), self._bar()):
            self._rise(evaluation, self._claims.pop(key, []) or [Claim(None, unit)])
            return
        else:
            self._drop(evaluation, levels.belief(point, unit))
            levels.end(point, unit)
        self._tell(evaluation, answers)

    def _judge_below(self) -> None:
        """Let the search see the points that were known only below the top before it began.

        What is believed about them depends on all that is known then, so it has to wait for that.
        """
        if (levels := self._levels) is None:
            return
        for point, evaluation in self._below.items():
            levels.end(point, self._space.encode(evaluation.x))
        for point, evaluation in self._below.items():
            self._drop(evaluation, levels.belief(point, self._space.encode(evaluation.x)))
            self._tell(evaluation, False)
        self._below = {}

    def _rise(self, evaluation: Evaluation, claims: list[Claim]) -> None:
        """Have a point evaluated at a higher level."""
        higher = self._at_level(evaluation.x.tobytes(), float(evaluation.x[-1]))
        self._rising.setdefault(higher, []).extend(claims)

    def _drop(self, evaluation: Evaluation, belief: Belief) -> None:
        """Note that a point stays as it is, and what its final value is believed to be."""
        self._dropped[self._point(evaluation.x.tobytes())] = belief, evaluation

    def _unfinished(self) -> list[tuple[float, Evaluation]]:
        """The points that were stopped or dropped and may go on, by what is believed about them."""
        out = (*(trial.key for trial in self.ledger.out.values()), *self.ledger.expected)
        waiting = {self._point(key) for key in (*out, *self._rising)}
        found = [
            (belief.mean, evaluation)
            for point, (belief, evaluation) in self._dropped.items()
            if point not in waiting and self.ledger.at(evaluation.x.tobytes()) is evaluation
        ]
        return sorted(found, key=lambda each: -each[0])

    def _revived(self) -> Evaluation | None:
        """The most promising of these points, if by now it seems that it can win.

        A point that was dropped below the top of a fidelity can win if its upper bound says so. An
        evaluation that was stopped begins again, which costs more, so it has to seem better than
        the best one. The first evaluations are all stopped, and the best of them is what is
        finished first.
        """
        if not self._dropped:
            return None
        bar = self._bar()
        if self._levels is not None:
            judged = [
                (self._levels.margin(self._point(e.x.tobytes()), self._space.encode(e.x), bar), e)
                for _, e in self._unfinished()[:REVIVED]
            ]
        else:
            looks = 0 if self._stopping is None else self._stopping.looks
            first = not self._finished() and len(self.ledger.trials) >= looks
            if not self._compares or not (first or isfinite(bar)):
                return None
            judged = [(mean - bar, e) for mean, e in self._unfinished()[:1]]
        margin, best = max(judged, key=lambda each: each[0], default=(0.0, None))
        return best if margin > 0.0 else None

    # --- the next point

    @with_own_errors
    def next(self, full: bool = False) -> tuple[bytes, Claim]:
        """The next point that somebody has to evaluate, and the claim on its value.

        With `full`, it is at the top of the fidelity, whatever level the search would choose.

        Raises
        ------
        ExhaustedError
            When the search has nothing left to ask for.
        """
        ledger, seen_before = self.ledger, 0
        for key, waiting in self._rising.items():
            if full and (top := self._at_top(key)) != key:
                self._rising = {top: self._rising.pop(key), **self._rising}
                key = top
            return key, waiting[0]._replace(origin=PROMOTED)
        self._revise()
        if self._levels is None and (best := self._revived()) is not None:
            return best.x.tobytes(), Claim(None, self._space.encode(best.x), PROMOTED)
        while True:
            try:
                unit = self._advance()
            except ExhaustedError:
                if self._levels is None or not (left := self._unfinished()):
                    raise
                _, best = left[0]
                return self._at_top(best.x.tobytes()), Claim(
                    None, self._space.encode(best.x), PROMOTED
                )
            if not (np.abs(unit - 0.5) <= 0.5 + BEYOND).all():  # nan is not inside either
                raise SettingsError(
                    f"{brief(self._algorithm)} asks for {brief(unit)}, which is outside the unit "
                    "cube; correct the algorithm"
                )
            ticket = self.book.latest
            claim = Claim(ticket, unit, self.book.origin)
            key = self._space.decode(unit).tobytes()
            key = self._stored.get(key, key)
            if self.book.level is not None:
                key = self._point(key) + np.float64(self.book.level).tobytes()
            again = self._repeats or self.book.asks_again(ticket)
            known = None if again else self._known(key)
            spare = self._spare.get(key)
            if known is not None:
                self._arrived.append(self._outcome(claim.ticket, unit, known))
            elif spare:
                self._arrived.append(Outcome(claim.ticket, unit, (self._sign * spare.pop(0),)))
            elif not self._repeats and (claims := self._waiting(key)) is not None:
                claims.append(claim)
            elif not self._domain.allowed(unit):  # never handed out, whatever the algorithm
                self._arrived.append(Outcome(claim.ticket, unit, ()))
            else:
                if not again and self._levels is not None:
                    key = self._at_level(key, None)  # always, since the model learns when asked
                    key = self._at_top(key) if full else key
                return key, claim
            seen_before += not self._repeats  # spare values run out, so no limit is needed there
            if seen_before > PATIENCE + len(ledger):
                self.ended = "the search returns to known points only"

    def _again(self, event: Asked) -> Claim:
        """The search's claim on a point that it asked for before.

        Another processor rounds differently, so a point that equals the earlier one up to rounding
        is replaced by it.
        """
        params = self._space.params(np.frombuffer(event.key))
        said = f"trial {event.number} differs: it was at {params}, but the search now asks for"
        try:
            key, claim = self.next(event.key == self._at_top(event.key))
        except ExhaustedError:
            raise ReplayError(f"{said} no more points") from None
        if key == event.key:
            return claim
        apart = self._apart(key, event.key)
        if apart > ROUNDING:
            raise ReplayError(f"{said} {self._space.params(np.frombuffer(key))}")
        self.apart[event.number] = apart
        if claim.ticket is None:
            return claim
        self._stored[self._at_top(key)] = self._at_top(event.key)
        there = self._space.encode(np.frombuffer(event.key))
        return claim._replace(unit=self.book.adopt(claim.ticket, there))

    def _start(self, domain: Domain) -> Search:
        rng = np.random.default_rng(self._seed)
        return self._algorithm.start(domain, rng, self.book, self._sign)

    def _advance(self) -> Array:
        if self.ended is not None:
            raise ExhaustedError(f"nothing is left to evaluate: {self.ended}")
        if not self.started:
            self._judge_below()
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
        for key in self._unseen:
            if self.ledger.is_out(key):
                unit = self._space.encode(np.frombuffer(key))
                self._claims.setdefault(key, []).append(Claim(self.book.expect(unit), unit))
        self._unseen = []

    def _apart(self, key: bytes, other: bytes) -> float:
        """The largest difference of two points along an axis, as a share of its range.

        If whole numbers or options differ, the distance is infinite.
        """
        here, there = np.frombuffer(key), np.frombuffer(other)
        apart = np.abs(self._space.encode(here) - self._space.encode(there))
        if self._space.fidelity is not None:
            if here[-1] != there[-1]:
                return inf
            here, there = here[:-1], there[:-1]
        apart[here == there] = 0.0
        discrete = np.ones(len(apart), dtype=bool)
        discrete[self._space.domain.continuous] = False
        unlike = ~np.isclose(here, there, rtol=0.0, atol=0.0, equal_nan=True)
        return inf if (discrete & unlike).any() else float(apart.max())

    def _tell(self, evaluation: Evaluation, answers: bool) -> None:
        """Keep a value until the search is resumed.

        `answers` says whether the point was pending, so that claims on it are answered.
        """
        key, number = evaluation.x.tobytes(), evaluation.number
        claims = self._claims.pop(key, []) if answers else []
        if self._repeats:
            own = None if number is None else self._own_claims.pop(number, None)
            claims = [] if own is None else [own]
            if own is None and evaluation.numbers:
                self._spare.setdefault(key, []).append(evaluation.value)
        answered: list[tuple[int | None, Array]] = [(each.ticket, each.unit) for each in claims]
        if not answered and not self._repeats:
            answered = [(None, self._space.encode(evaluation.x))]
        for ticket, unit in answered:
            self._arrived.append(self._outcome(ticket, unit, evaluation))
            if not evaluation.cheap:
                self._at[unit.tobytes()] = evaluation

    def _outcome(self, ticket: int | None, unit: Array, known: Evaluation) -> Outcome:
        """Convert an evaluation to what the search sees of it."""
        # a point that was asked for is known to be allowed
        allowed = known.number is not None or self._constraints.violated(known.x) is None
        if known.stopped and known.number is not None:
            mean, variance = self._dropped[self._point(known.x.tobytes())][0]
            return Outcome(ticket, unit, (mean,), (), allowed, variance, False)
        values = self._objectives.to_maximise(known.numbers)
        if known.cheap and self._levels is not None:  # a search that chooses the level sees values
            point = self._point(known.x.tobytes())
            mean, variance = self._dropped[point][0] if point in self._dropped else (*values, 0.0)
            return Outcome(ticket, unit, (mean,), (), allowed, variance, False)
        return Outcome(ticket, unit, values, known.measured, allowed, known.variance)

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
        book = self.look()
        if self._repeats:
            return self._recommended(book) or self.ledger.best
        with one_thread():
            repeats = book.repeats()
            if repeats is None:
                return self.ledger.best
            at = {i: self._at.get(x.tobytes()) for i, x in enumerate(repeats.X)}
            # None if the record repeats the point of another one
            found = {i: each for i, each in at.items() if each is not None and each.feasible}
            if not found:
                return self.ledger.best
            best, g = repeats.best(np.array([*found]))
        value = float(book.transform.inverse(np.array([g]))[0])
        return found[best]._replace(numbers=(self._sign * value,))

    def _recommended(self, book: Book) -> Evaluation | None:
        estimate = book.recommended()
        if estimate is None:
            return None
        last = self._at.get(estimate.x.tobytes())
        if last is None:  # all its values were told without being asked for
            last = self.ledger.evaluation(None, self._space.decode(estimate.x))
        return last._replace(numbers=(self._sign * estimate.mean + 0.0,))  # no -0.0

    def believed(self) -> list[Evaluation]:
        """Each evaluation that gave a value, with the search's own estimate as its value.

        Under noise, the estimate is the posterior mean. For an algorithm that evaluates points
        repeatedly, it is the mean of the values at the point. Otherwise it is the value as told.
        """
        known = [each for each in self.ledger.evaluations if each.numbers and not each.cheap]
        if self._repeats:
            values: dict[bytes, list[float]] = {}
            for evaluation in known:
                values.setdefault(evaluation.x.tobytes(), []).append(evaluation.value)
            means = {key: sum(some) / len(some) for key, some in values.items()}
            return [each._replace(numbers=(means[each.x.tobytes()],)) for each in known]
        book = self.look()
        if not book.noisy or book.t < 2:
            return known
        points = [self._at.get(x.tobytes()) for x in book.known.X]
        believed = book.believed_columns().tolist()
        return [
            evaluation._replace(numbers=self._objectives.to_maximise(means))
            for evaluation, means in zip(points, believed, strict=True)
            if evaluation is not None and not evaluation.stopped
        ]
