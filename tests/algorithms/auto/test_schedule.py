"""Whose turn it is: proposers that improve go on, and steps share evaluations with the tree."""

import numpy as np
import pytest

from bamsoo.algorithms.auto.demand import Demand
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


def scheduled(dim=1, count=3):
    """A schedule of scripted proposers on a book with one value."""
    book = Book()
    book.begin()
    book.receive([Outcome(None, np.full(1, 0.999), (0.0,))])
    proposers = [Scripted(100 * i) for i in range(count)]
    demand = Demand(book, np.random.default_rng(0), CONSTANTS.demand)
    return Schedule(cube(dim), book, proposers, demand, CONSTANTS.schedule), book, proposers


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


def test_candidates_wait_until_all_climbs_have_failed_since_the_last_success():
    turns = Turns(2, 3.0)

    def taken(count, improving=()):
        """The proposers of the next steps, of which some improve."""
        found = []
        for _ in range(count):
            found.append(turns.order(False)[0])
            turns.count(found[-1], found[-1] in improving)
        return found

    assert taken(7) == [0, 1, 0, 1, 0, 1, 2]
    assert taken(3) == [0, 1, 2]
    assert taken(1, improving=[0]) == [0]
    assert taken(7) == [0, 1, 0, 1, 0, 1, 2]
    assert taken(4, improving=[2]) == [0, 1, 2, 0]  # a candidate that improves does not go on


@pytest.mark.parametrize(("dim", "otherwise"), [(4, 1.0), (5, 1 / 3)])
def test_steps_are_more_frequent_after_an_improvement_and_rarer_after_many_failures(dim, otherwise):
    schedule, book, _ = scheduled(dim)
    assert schedule.every == otherwise
    take(schedule, book, 1.0)
    assert schedule.every == 1 / 3
    for _ in range(4 * (dim + 1)):
        take(schedule, book, -1.0)
        assert schedule.every == otherwise
    for _ in range(10):
        take(schedule, book, -1.0)
    assert schedule.every == pytest.approx(32 * otherwise)


def test_a_step_is_judged_when_its_own_value_arrives():
    schedule, book, proposers = scheduled()
    steps = [Pending(Step(np.full(1, x)), 0, 0, ()) for x in (0.1, 0.2)]
    schedule._turns[()] = Turns(2, 2.0)
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


def test_an_option_whose_best_value_stands_still_gives_up_its_share():
    # rows 0 to 11 have the option at .25, the others that at .75
    rising, still = np.linspace(0.5, 1.0, 12), np.array([2.0, *[1.9] * 11])

    def lacking(first, second):
        book, values = Book(), np.append(first, second)
        book.begin()
        for i, value in enumerate(values.tolist()):
            book.receive([Outcome(None, np.array([i / 24.0]), (value,))])
        demand = Demand(book, np.random.default_rng(0), CONSTANTS.demand)
        schedule = Schedule(cube(1), book, [], demand, CONSTANTS.schedule)
        order = np.argsort(-values, kind="stable")
        return schedule._lacking(order, np.where(order < 12, 0.25, 0.75))

    assert lacking(rising + 1.0, rising) == 0.25  # both improve: the better one is short of steps
    assert lacking(still, rising) == 0.75  # the better one is finished
    assert lacking(still, still - 1.0) == 0.25  # both are
