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
            return SimpleNamespace(shown_gap=0.25)

    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now))
    meter = progress.GapMeter()
    while now < 100.0:
        assert meter.text(Search()) == ", gap 0.25"
        now += 1.0
    assert looks == [0.0, 42.0, 84.0]


def test_progress_says_so_while_nothing_has_succeeded(capsys):
    bamsoo.minimize(lambda x: None, BOX, 3, progress=True)
    assert "no value yet" in capsys.readouterr().err


def test_a_notebook_gets_one_line_that_is_updated_instead_of_many(monkeypatch, capfd):
    # IPython is not installed here, so these stand in for the two things that are used of it.
    class ZMQInteractiveShell:
        pass

    shown = []

    class Handle:
        def update(self, data, raw):
            shown.append(data["text/plain"])

    def display(data, raw, display_id):
        shown.append(data["text/plain"])
        return Handle()

    shell = SimpleNamespace(get_ipython=ZMQInteractiveShell)
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    monkeypatch.setitem(sys.modules, "tqdm.notebook", None)
    bamsoo.minimize(branin, BOX, 5, progress=True)
    assert shown[-1].startswith("5/5 evaluations, best")
    assert capfd.readouterr() == ("", "")


def test_an_interrupt_ends_with_a_sentence_and_a_short_traceback(tmp_path):
    def interrupted(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="interrupted after 0 of 5 evaluations") as caught:
        bamsoo.minimize(interrupted, BOX, 5, study=tmp_path / "run.db")
    assert "run again with this study to continue" in str(caught.value)
    assert len(caught.traceback) <= 2
    assert caught.value.result.nfev == 0
