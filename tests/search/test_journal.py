"""A search always has a journal; without a study it is one in memory."""

import bamsoo
from bamsoo.record.events import Told
from bamsoo.search.journal import MemoryJournal
from bamsoo.search.optimizer import Prepared
from bamsoo.search.setup import setup_of


class Written(MemoryJournal):
    """A journal that another process has written to."""

    def __init__(self, events):
        self.file = list(events)

    def events(self):
        return self.file.copy()

    def news(self, known):
        return self.file[known:]

    def append(self, *events):
        self.file += events
        return [*events]


def with_journal(journal):
    return bamsoo.Optimizer(Prepared(setup_of([(0, 1)], algorithm="soo"), journal))


def run(opt, n):
    for _ in range(n):
        trial = opt.ask()
        opt.tell(trial, (trial.x[0] - 0.3) ** 2)


def test_events_are_written_before_they_count_and_replayed():
    opt = with_journal(journal := Written([]))
    run(opt, 8)
    assert journal.file == opt._events
    again = with_journal(Written(journal.file))
    assert again.result.fun == opt.result.fun
    assert again.ask().x == opt.ask().x


def test_what_others_write_is_taken_in_before_the_next_step():
    opt = with_journal(journal := Written([]))
    run(opt, 2)
    other = with_journal(journal)
    run(other, 3)
    opt.ask()
    assert opt.told == 5
    assert [type(event) for event in opt._events].count(Told) == 5
