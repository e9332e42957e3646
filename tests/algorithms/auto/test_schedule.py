"""Whose turn it is: proposers that improve go on, and steps share evaluations with the tree."""

from collections import Counter
from dataclasses import replace
from math import inf

import numpy as np
import pytest

from bamsoo.algorithms.auto.loop import CONSTANTS
from bamsoo.algorithms.auto.schedule import Pending, Schedule, Step, Turns
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
        return Step(np.array([(self.start + self.asked) / 1000.0]))

    def judge(self, step, better, row):
        self.judged.append(better)


class Silent(Scripted):
    """A proposer that has no steps until it is told to have some."""

    speaks = False

    def propose(self, focus):
        return super().propose(focus)._replace(top=False) if self.speaks else None


class Slope(Silent):
    """The same for the steps along the slope."""

    busy = False


def no_promise(branches):
    raise AssertionError("there are no options")


def scheduled(dim=1, doubts=False, leader=None, slope=None):
    """A schedule of two climbs and of candidates, all scripted, on a book with one value."""
    book = Book()
    book.begin()
    book.receive([Outcome(None, np.full(1, 0.999), (0.0,))])
    proposers = [Scripted(100 * i) for i in range(3)]
    constants = replace(CONSTANTS.schedule, doubts=doubts)
    *climbs, candidates = proposers
    parts = leader or Silent(0), climbs, slope or Slope(0), candidates
    return (
        Schedule(cube(dim), book, *parts, no_promise, 0.01, constants),
        book,
        proposers,
    )


def take(schedule, book, value):
    """Take a step and tell its value; returns the index of its proposer."""
    search = schedule._step()
    x = next(search)
    with pytest.raises(StopIteration):
        search.send([Outcome(book.latest, x, (value,))])
    schedule.judge()
    return int(x[0] * 1000) // 100


def test_a_climb_goes_on_while_it_improves_and_then_it_is_the_next_ones_turn():
    schedule, book, _ = scheduled()
    values = [1.0, 2.0, 0.0, 3.0, 0.0, 0.0, 0.0]
    assert [take(schedule, book, value) for value in values] == [0, 0, 0, 1, 1, 0, 1]


def test_the_leader_is_asked_first_and_does_not_change_the_turns_of_the_others():
    leader = Silent(500)
    schedule, book, _ = scheduled(leader=leader)
    assert [take(schedule, book, value) for value in (1.0, 0.0)] == [0, 0]
    leader.speaks = True
    assert [take(schedule, book, value) for value in (0.0, 2.0, 0.0)] == [5, 5, 5]
    assert leader.judged == [False, True, False]
    leader.speaks = False
    assert [take(schedule, book, value) for value in (0.0, 0.0)] == [1, 0]


def test_candidates_wait_until_all_climbs_have_failed_since_the_last_success():
    turns = Turns(2, inf, 3.0)

    def taken(count, improving=()):
        """The proposers of the next steps, of which some improve; the slope has none."""
        found = []
        for _ in range(count):
            found.append(next(i for i in turns.order(False, Counter(), False) if i != 2))
            turns.count(found[-1], found[-1] in improving)
        return found

    assert taken(7) == [0, 1, 0, 1, 0, 1, 3]
    assert taken(3) == [0, 1, 3]
    assert taken(1, improving=[0]) == [0]
    assert taken(7) == [0, 1, 0, 1, 0, 1, 3]
    assert taken(4, improving=[3]) == [0, 1, 3, 0]  # a candidate that improves does not go on


def test_the_slope_is_followed_when_each_climb_has_failed_and_later_each_time_it_is_in_vain():
    turns = Turns(2, 1.0, inf)

    def taken(count):
        """The proposers of the next steps, all of which fail; the slope is given up at once."""
        found = []
        for _ in range(count):
            found.append(turns.order(False, Counter(), False)[0])
            if found[-1] == 2:
                turns.rest()
            turns.count(found[-1], False)
        return found

    assert taken(13) == [0, 1, 2, 0, 1, 0, 1, 2, 0, 1, 0, 1, 0]
    turns.count(0, better=True)  # then the same number of failures again
    assert taken(10) == [1, 0, 1, 0, 1, 0, 1, 0, 1, 2]


def test_the_slope_keeps_its_turn_while_it_is_busy_and_climbs_fill_in():
    turns = Turns(2, 5.0, inf)
    assert turns.order(False, Counter(), False) == [0]
    assert turns.order(False, Counter(), True) == [2, 0]
    assert turns.order(False, Counter({0: 1}), True) == [2, 1, 0]
    turns = Turns(2, 1.0, 2.0)
    for i in (0, 1):
        turns.count(i, better=False)
    assert turns.order(False, Counter(), False) == [2, 0]
    assert turns.order(False, Counter({2: 4}), False) == [
        2,
        0,
        1,
    ]  # pending differences do not count
    turns.count(2, better=True)
    assert turns.order(False, Counter(), False) == [0]
    for i in (0, 1):
        turns.count(i, better=False)
    assert turns.order(False, Counter(), False) == [2, 0]


def test_measurements_are_not_judged_by_their_values():
    class Measures(Slope):
        busy = True

        def propose(self, focus):
            return super(Silent, self).propose(focus)._replace(aside=True)

    slope = Measures(500)
    schedule, book, _ = scheduled(slope=slope)
    assert [take(schedule, book, value) for value in (9.0, -9.0)] == [5, 5]
    assert (schedule._in_vain, schedule._worse, slope.judged) == (1, 0, [False, False])
    slope.propose, slope.busy = lambda focus: None, False
    assert [take(schedule, book, value) for value in (10.0, 11.0)] == [0, 0]


def test_a_pending_step_counts_as_one_that_failed():
    turns, out = Turns(2, inf, 3.0), Counter()
    taken = []
    for _ in range(8):
        taken.append(turns.order(False, out, False)[0])
        out[taken[-1]] += 1
    assert taken == [0, 1, 0, 1, 0, 1, 3, 0]
    turns.count(0, better=True)  # it goes on when nothing is pending any more
    assert turns.order(False, Counter(), False)[0] == 0
    assert turns.order(False, Counter({0: 1}), False) == [
        1,
        0,
    ]  # in place of a climb without a step
    assert turns.order(True, Counter(), False) == [0, 3]


def test_a_climb_without_a_step_is_asked_again_only_a_few_times_before_the_next_value():
    schedule, book, proposers = scheduled()
    assert take(schedule, book, -1.0) == 0
    search = schedule._step()
    assert next(search)[0] * 1000 // 100 == 1  # and stays pending
    proposers[0].propose = lambda focus: attempts.append(focus)
    attempts = []
    for _ in range(10):
        next(schedule._step())
    assert len(attempts) == CONSTANTS.schedule.attempts
    book.receive([Outcome(None, np.full(1, 0.5), (-2.0,))])
    next(schedule._step())
    assert len(attempts) == CONSTANTS.schedule.attempts + 1


def test_failures_that_knew_nothing_of_an_improvement_do_not_make_steps_rarer():
    schedule, book, _ = scheduled()
    schedule._turns[()] = Turns(2, inf, 2.0)
    for x in (0.1, 0.2):
        step = Pending(Step(np.full(1, x)), 0, 0, (), book.t)
        schedule._pending[book.expect(step.step.x)] = step
    for ticket, x, value in ((0, 0.1, 5.0), (1, 0.2, -9.0)):
        book.receive([Outcome(ticket, np.full(1, x), (value,))])
        schedule.judge()
        assert schedule._in_vain == 0
    take(schedule, book, -9.0)
    assert schedule._in_vain == 1


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


def test_a_step_is_judged_when_its_own_value_arrives():
    schedule, book, proposers = scheduled()
    steps = [Pending(Step(np.full(1, x)), 0, 0, (), book.t) for x in (0.1, 0.2)]
    schedule._turns[()] = Turns(2, inf, 2.0)
    for pending in steps:
        schedule._pending[book.expect(pending.step.x)] = pending
    book.receive([Outcome(0, np.full(1, 0.1), (5.0,))])
    schedule.judge()
    assert proposers[0].judged == [True]
    assert list(schedule._pending) == [1]
    book.receive([Outcome(1, np.full(1, 0.2), ())])
    schedule.judge()
    assert proposers[0].judged == [True, False]
    assert not schedule._pending


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

        parts = Silent(0), [], Slope(0), Silent(0)
        schedule = Schedule(cube(1), book, *parts, promise, 0.01, CONSTANTS.schedule)
        return schedule._lacking(np.arange(14), (), 0)

    rows = [list(range(8)), list(range(8, 12)), [12, 13]]
    assert lacking(first=3.0, second=2.0, third=1.0) == 0.25  # all have their shares: the first
    assert lacking(first=1.0, second=3.0, third=2.0) == 0.75
    assert lacking(first=2.0, second=1.0, third=3.0) == 0.5
    assert lacking(first=0.0, second=0.0, third=0.0) == 0.25  # by their best values


def test_the_best_point_is_evaluated_again_once_if_the_search_stands_still():
    schedule, book, proposers = scheduled(doubts=True)
    book.receive([Outcome(None, np.full(1, 0.5), (-1.0,))])

    def next_point(value):
        search = schedule._step()
        x = next(search)
        with pytest.raises(StopIteration):
            search.send([Outcome(book.latest, x, (value,))])
        schedule.judge()
        return float(x[0])

    assert 0.999 not in [next_point(-2.0) for _ in range(5)]  # more than 2 (D + 1)
    rows = book.t
    assert next_point(0.0) == 0.999
    assert (book.t, book.noisy, book.out) == (rows, False, {})  # the same value: nothing is new
    assert 0.999 not in [next_point(-2.0) for _ in range(12)]
    assert sum(each.asked for each in proposers) == 17


def test_values_that_are_nearly_equal_raise_no_doubts():
    schedule, book, _ = scheduled(doubts=True)
    book.receive([Outcome(None, np.full(1, 0.0), (-1.0,))])
    steps = [take(schedule, book, -1e-5) for _ in range(12)]  # a plateau next to the best point
    assert len(steps) == 12 and not book.checked
