"""The line of progress."""

import io
import sys
from contextlib import suppress
from types import SimpleNamespace

import pytest

import bamsoo
from bamsoo import problems
from bamsoo.run import progress

branin = problems.branin
BOX = branin.bounds


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_rewrites_one_line_in_a_terminal(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    bamsoo.minimize(branin, BOX, 8, progress=True)
    shown = terminal.getvalue()
    assert shown.count("\n") == 1
    assert shown.endswith("\n")
    assert "8/8" in shown.rpartition("\r")[2]


def stop_at_3(intermediate_result):
    if intermediate_result.nfev == 3:
        raise StopIteration


def fail_at_3(intermediate_result):
    if intermediate_result.nfev == 3:
        raise KeyboardInterrupt


@pytest.mark.parametrize("callback", [stop_at_3, fail_at_3])
@pytest.mark.parametrize("terminal", [Terminal, io.StringIO])
def test_progress_ends_its_line_however_the_run_ends(monkeypatch, callback, terminal):
    stream = terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with suppress(KeyboardInterrupt):
        bamsoo.minimize(branin, BOX, 8, progress=True, callback=callback)
    assert stream.getvalue().endswith("\n")
    assert "3/8" in stream.getvalue()


def test_looking_at_the_gap_takes_a_small_share_of_the_time(monkeypatch):
    now, looks = 0.0, []

    class Search:
        @property
        def result(self):
            nonlocal now
            looks.append(now)
            now += 2.0  # so long it takes
            return SimpleNamespace(gap=0.25, has_no_model=False)

    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now))
    meter = progress.GapMeter()
    while now < 100.0:
        assert meter.text(Search()) == "gap 0.25, "
        now += 1.0
    assert looks == [0.0, 42.0, 84.0]


def test_progress_says_so_while_nothing_has_succeeded(capsys):
    bamsoo.minimize(lambda x: None, BOX, 3, progress=True)
    assert "no value yet" in capsys.readouterr().err
