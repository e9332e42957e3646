"""What both kinds of journals share: reading events, formats, and forked processes."""

import logging
import os

import pytest

from bamsoo.errors import StudyError
from bamsoo.record.events import Asked, Told
from bamsoo.study.address import SafeAddress
from bamsoo.study.journal import FORMAT, Journal, check_format, damaged, log
from bamsoo.study.rows import BadRowError, as_row

EVENTS = [Asked(0, b"\0" * 8, 1.0, "tree"), Told(0, None, (2.0,), time=2.0)]
ROWS = [as_row(number, event) for number, event in enumerate(EVENTS, 1)]


class Kept(Journal):
    """A journal whose events are handed in."""

    place = SafeAddress("postgresql://host/db#name")


def test_events_are_read_in_order_and_the_last_one_is_remembered():
    journal = Kept()
    assert journal._read(0, ROWS[:1], "") == EVENTS[:1]
    assert (journal._count, journal._last) == (1, ROWS[0][-1])
    assert journal._read(1, ROWS[1:], ROWS[0][-1]) == EVENTS[1:]
    assert (journal._count, journal._last) == (2, ROWS[1][-1])
    assert journal._read(2, [], ROWS[1][-1]) == []


def test_an_event_that_was_there_may_not_be_missing():
    journal = Kept()
    journal._read(0, ROWS, "")
    with pytest.raises(BadRowError, match="event 2 is missing"):
        journal._read(0, ROWS[:1], "")
    with pytest.raises(BadRowError, match="event 1 is missing"):
        Kept()._read(0, ROWS[1:], "")


def test_another_format_is_refused_in_a_sentence():
    check_format(Kept.place, FORMAT)
    with pytest.raises(StudyError, match=r"by a newer bamsoo .* update bamsoo to open it"):
        check_format(Kept.place, FORMAT + 1)
    with pytest.raises(StudyError, match=r"by an older bamsoo .* use that one to open it"):
        check_format(Kept.place, FORMAT - 1)


def test_a_forked_process_may_not_write(monkeypatch):
    journal = Kept()
    journal.check_process()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert journal.forked
    with pytest.raises(StudyError, match=r"#name: the study was opened by process .* forked from"):
        journal.check_process()


def test_what_can_be_done_about_damage_is_said():
    assert Kept.place.name == "name"
    assert "is damaged (why); it was not changed" in str(damaged(Kept.place, "why"))


def test_what_somebody_has_to_know_is_shown_unless_logging_is_configured(capsys, monkeypatch):
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    log.warning("%s: wait\x1b[2J", "run.db")
    log.info("nobody has to know")
    assert capsys.readouterr().err == "bamsoo: run.db: wait [2J\n"
    monkeypatch.setattr(logging.getLogger(), "handlers", [logging.NullHandler()])
    log.warning("elsewhere")
    assert capsys.readouterr().err == ""
