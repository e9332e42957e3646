"""Whose turn it is: proposers that improve go on, and steps share evaluations with the tree."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from searches import rng

from bamsoo.algorithms.auto.demand import Demand
from bamsoo.algorithms.auto.loop import CONSTANTS
from bamsoo.algorithms.auto.schedule import Proposal, Schedule, Turns
from bamsoo.algorithms.book import Book
from bamsoo.algorithms.search import Outcome
from bamsoo.space.axes import cube


class Scripted:
    """A proposer whose steps go to fixed points of a line, one after another."""

    origin = "scripted"

    def __init__(self, start):
        self.start, self.asked, self.judged = start, 0, []

    def propose(self, focus):
        self.asked += 1
        return Proposal(np.array([(self.start + self.asked) / 1000.0]))

    def judge(self, step, better, row):
        self.judged.append(better)


class Silent(Scripted):
    """A proposer that has no steps until it is told to have some."""

    speaks = False

    def propose(self, focus):
        return super().propose(focus)._replace(top=False) if self.speaks else None


class Unfitted(Silent):
    """Stands for the steps of fits, of which there are none."""

    busy = False


def no_promise(branches):
    raise AssertionError("there are no options")


def demand_of(book):
    return Demand(cube(1), book, rng(), CONSTANTS.demand)


def scheduled(dim=1, doubts=False, leader=None, tol=None):
    """A schedule of two climbs and of candidates, all scripted, on a book with one value."""
    book = Book(tol=tol)
    book.begin()
    book.receive([Outcome(None, np.full(1, 0.999), (0.0,))])
    proposers = [Scripted(100 * i) for i in range(3)]
    constants = replace(CONSTANTS.schedule, doubts=doubts)
    *climbs, candidates = proposers
    parts = leader or Silent(0), climbs, candidates
    return (
        Schedule(cube(dim), book, *parts, no_promise, Unfitted(0), demand_of(book), constants),
        book,
        proposers,
    )


def take(schedule, book, value):
    """Take a step and tell its value; returns the index of its proposer."""
    search = schedule.step()
    x = next(search)
    with pytest.raises(StopIteration):
        search.send([Outcome(book.latest, x, (value,))])
    schedule.judge()
    return int(x[0] * 1000) // 100


def test_a_climb_goes_on_while_it_improves_and_then_it_is_the_next_ones_turn():
    schedule, book, _ = scheduled()
    values = [1.0, 2.0, 0.0, 3.0, 0.0, 0.0, 0.0]
    assert [take(schedule, book, value) for value in values] == [0, 0, 0, 1, 1, 0, 1]


def test_candidates_take_every_turn_on_a_plateau():
    schedule, book, _ = scheduled(dim=2)
    for x in (0.99, 0.98, 0.5):
        book.receive([Outcome(None, np.full(1, x), (0.0 if x > 0.5 else -1.0,))])
    assert [take(schedule, book, value) for value in (-1.0, -1.0, 1.0)] == [2, 2, 2]
    assert take(schedule, book, 0.0) == 0  # the best value now stands alone


def test_the_leader_is_asked_first_and_does_not_change_the_turns_of_the_others():
    leader = Silent(500)
    schedule, book, _ = scheduled(leader=leader)
    assert [take(schedule, book, value) for value in (1.0, 0.0)] == [0, 0]
    leader.speaks = True
    assert [take(schedule, book, value) for value in (0.0, 2.0, 0.0)] == [5, 5, 5]
    assert leader.judged == [False, True, False]
    leader.speaks = False
    assert [take(schedule, book, value) for value in (0.0, 0.0)] == [1, 0]


def taken_by(turns, count, improving=()):
    """The proposers of the next steps, of which some improve."""
    found = []
    for _ in range(count):
        found.append(turns.order(False, Counter())[0])
        turns.count(found[-1], found[-1] in improving)
    return found


def test_candidates_wait_until_all_climbs_have_failed_since_the_last_success():
    turns = Turns(2, 3.0)
    assert taken_by(turns, 7) == [0, 1, 0, 1, 0, 1, 2]
    assert taken_by(turns, 3) == [0, 1, 2]
    assert taken_by(turns, 1, improving=[0]) == [0]
    assert taken_by(turns, 7) == [0, 1, 0, 1, 0, 1, 2]
    assert taken_by(turns, 4, improving=[2]) == [0, 1, 2, 0]  # a candidate does not go on


def test_costly_candidates_pay_for_their_failures_in_a_row():
    turns = Turns(2, 1.0, costly=True)
    assert taken_by(turns, 15) == [0, 1, 2, 0, 1, 2, 0, 1, 0, 1, 2, 0, 1, 0, 1]
    assert taken_by(turns, 4, improving=[2]) == [0, 1, 2, 0]
    assert taken_by(turns, 4) == [1, 2, 0, 1]  # one that improved counts as one step


def test_candidates_come_early_with_many_real_axes():
    def share(dim):
        schedule, book, _ = scheduled(dim)
        return [take(schedule, book, -1.0 - i) for i in range(12)].count(2)

    assert share(8) == 0
    assert share(9) == 3


def test_a_pending_step_counts_as_one_that_failed():
    turns, out = Turns(2, 3.0), Counter()
    taken = []
    for _ in range(8):
        taken.append(turns.order(False, out)[0])
        out[taken[-1]] += 1
    assert taken == [0, 1, 0, 1, 0, 1, 2, 0]
    turns.count(0, better=True)  # it goes on when nothing is pending any more
    assert turns.order(False, Counter())[0] == 0
    assert turns.order(False, Counter({0: 1})) == [
        1,
        0,
    ]  # in place of a climb without a step
    assert turns.order(True, Counter()) == [0, 2]


def test_a_climb_without_a_step_is_asked_again_only_a_few_times_before_the_next_value():
    schedule, book, proposers = scheduled()
    assert take(schedule, book, -1.0) == 0
    search = schedule.step()
    assert next(search)[0] * 1000 // 100 == 1  # and stays pending
    proposers[0].propose = lambda focus: attempts.append(focus)
    attempts = []
    for _ in range(10):
        next(schedule.step())
    assert len(attempts) == CONSTANTS.schedule.attempts
    book.receive([Outcome(None, np.full(1, 0.5), (-2.0,))])
    next(schedule.step())
    assert len(attempts) == CONSTANTS.schedule.attempts + 1


def pending(schedule, book):
    """Take a step that stays pending; returns its ticket and its point."""
    x = next(schedule.step())
    return book.latest, x


def arrive(schedule, book, step, *value):
    """Tell the value of a pending step, or that it failed."""
    book.receive([Outcome(*step, value)])
    schedule.judge()


@pytest.mark.parametrize(("uninformed", "earlier"), [(True, 0), (False, 1)])
def test_failures_that_knew_nothing_of_an_improvement_do_not_make_steps_rarer(uninformed, earlier):
    def failures_until_steps_are_rarer(schedule, book):
        often, failures = schedule.every, 0
        while schedule.every == often:
            take(schedule, book, -9.0)
            failures += 1
        return failures

    plain, book, _ = scheduled()
    take(plain, book, 5.0)
    usual = failures_until_steps_are_rarer(plain, book)
    schedule, book, _ = scheduled()
    first = pending(schedule, book)
    second = pending(schedule, book) if uninformed else None
    arrive(schedule, book, first, 5.0)
    arrive(schedule, book, second or pending(schedule, book), -9.0)
    assert failures_until_steps_are_rarer(schedule, book) == usual - earlier


@pytest.mark.parametrize(("dim", "otherwise"), [(4, 1.0), (5, 1 / 3)])
def test_steps_become_rarer_after_some_failures_and_much_rarer_after_many(dim, otherwise):
    schedule, book, _ = scheduled(dim)
    assert schedule.every == 1 / 3
    take(schedule, book, 1.0)
    for tried in range(4 * (dim + 1)):
        assert schedule.every == (1 / 3 if tried <= 2 * (dim + 1) else otherwise)
        take(schedule, book, -1.0)
    assert schedule.every == otherwise
    for _ in range(10):
        take(schedule, book, -1.0)
    assert schedule.every == pytest.approx(32 * otherwise)


def test_a_step_is_judged_once_when_its_own_value_arrives():
    schedule, book, (one, other, _) = scheduled()
    first, second = pending(schedule, book), pending(schedule, book)
    arrive(schedule, book, first, 5.0)
    assert (one.judged, other.judged) == ([True], [])
    arrive(schedule, book, second)
    assert (one.judged, other.judged) == ([True], [False])
    schedule.judge()
    assert (one.judged, other.judged) == ([True], [False])


def test_options_share_the_steps_by_what_they_are_expected_to_gain():
    book = Book()
    book.begin()
    options = np.repeat([0.25, 0.75, 0.5], [8, 4, 2])  # as many as their ranks would give them
    for i, option in enumerate(options.tolist()):
        book.receive([Outcome(None, np.array([option]), (float(-i),))])

    def lacking(**gains):
        def promise(branches):
            assert [branch.rows.tolist() for branch in branches] == rows
            assert [branch.path for branch in branches] == [((0, o),) for o in (0.25, 0.75, 0.5)]
            return np.array(list(gains.values()))

        parts = Silent(0), [], Silent(0)
        schedule = Schedule(
            cube(1), book, *parts, promise, Unfitted(0), demand_of(book), CONSTANTS.schedule
        )
        return schedule._lacking(np.arange(14), (), 0)

    rows = [list(range(8)), list(range(8, 12)), [12, 13]]
    assert lacking(first=3.0, second=2.0, third=1.0) == 0.25  # all have their shares: the first
    assert lacking(first=1.0, second=3.0, third=2.0) == 0.75
    assert lacking(first=2.0, second=1.0, third=3.0) == 0.5
    assert lacking(first=0.0, second=0.0, third=0.0) == 0.25  # by their best values


def test_the_best_point_is_evaluated_again_ever_more_rarely_while_the_search_stands_still():
    schedule, book, proposers = scheduled(doubts=True)
    book.receive([Outcome(None, np.full(1, 0.5), (-1.0,))])

    def next_point(value):
        search = schedule.step()
        x = next(search)
        with pytest.raises(StopIteration):
            search.send([Outcome(book.latest, x, (value,))])
        schedule.judge()
        return float(x[0])

    for more in (8, 7, 14):  # more than seven in vain, and then twice as many each time
        assert 0.999 not in [next_point(-2.0) for _ in range(more)]
        rows = book.t
        assert next_point(0.0) == 0.999
        assert (book.t, book.noisy, book.out) == (rows, False, {})  # the same value: nothing is new
    assert sum(each.asked for each in proposers) == 29


def test_values_that_are_nearly_equal_raise_no_doubts():
    schedule, book, _ = scheduled(doubts=True)
    book.receive([Outcome(None, np.full(1, 0.0), (-1.0,))])
    steps = [take(schedule, book, -1e-5) for _ in range(12)]  # a plateau next to the best point
    assert len(steps) == 12 and not book.checks


def test_a_gain_below_the_tolerance_is_no_success(monkeypatch):
    schedule, book, proposers = scheduled(tol=0.5)
    monkeypatch.setattr(Demand, "can_gain", lambda demand, x: True)
    for value in (0.4, 1.0):
        take(schedule, book, value)
    assert [each for proposer in proposers for each in proposer.judged] == [False, True]


def test_no_step_is_taken_that_can_hardly_gain_what_matters(monkeypatch):
    schedule, book, proposers = scheduled(tol=0.5)
    monkeypatch.setattr(Demand, "can_gain", lambda demand, x: bool(x[0] > 0.1))  # not the first's
    assert list(schedule.step()) == []
    assert proposers[0].judged == [False]
    assert take(schedule, book, 1.0) == 1
    assert book.t == 2
