"""The evaluation loop: callbacks, targets, timeouts, and what it logs."""

import logging
import re
from types import SimpleNamespace

import pytest
from searches import same

import bamsoo
from bamsoo import problems
from bamsoo.errors import StudyError
from bamsoo.run.loop import Ending

branin = problems.branin
BOX = branin.bounds


def test_what_a_callback_returns_is_ignored_unless_it_is_true():
    assert bamsoo.minimize(branin, branin.bounds, 5, callback=lambda r: "no").nfev == 5
    assert bamsoo.minimize(branin, branin.bounds, 5, callback=lambda r: True).nfev == 1


def test_a_run_is_logged_and_silent_by_default(caplog, capfd):
    def fragile(x):
        if x[0] > 0.6:
            raise RuntimeError("diverged")
        return x[0]

    bamsoo.minimize(fragile, [(0, 1)], 5, on_error="fail")
    assert capfd.readouterr() == ("", "")
    with caplog.at_level(logging.DEBUG, logger="bamsoo"):
        r = bamsoo.minimize(fragile, [(0, 1)], 5, on_error="fail")
    levels = [record.levelname for record in caplog.records if record.name == "bamsoo"][-6:]
    assert levels.count("WARNING") == r.nfailed > 0
    assert levels.count("DEBUG") == 5 - r.nfailed
    assert caplog.records[-1].getMessage().startswith("5 evaluations: the budget of 5 evaluations")
    assert "RuntimeError: diverged" in caplog.text


def test_another_exception_from_the_callback_propagates_with_the_result():
    def callback(intermediate_result):
        raise RuntimeError("disk full")

    with pytest.raises(RuntimeError, match="disk full") as caught:
        bamsoo.minimize(branin, BOX, 5, callback=callback)
    assert caught.value.result.nfev == 1


def test_the_callback_sees_the_evaluation_that_reaches_the_target():
    seen = []
    r = bamsoo.minimize(branin, BOX, 50, target=1.0, callback=lambda i: seen.append(i.nfev))
    assert r.status == Ending.TARGET
    assert seen[-1] == r.nfev


def test_a_target_out_of_reach_changes_nothing():
    same(bamsoo.minimize(branin, BOX, 12, target=-1.0), bamsoo.minimize(branin, BOX, 12))


def test_no_evaluation_starts_after_the_timeout(monkeypatch):
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr("bamsoo.run.loop.time", SimpleNamespace(monotonic=lambda: clock.now))

    def slow(x):
        clock.now += 1.0
        return branin(x)

    r = bamsoo.minimize(slow, BOX, 100, timeout=3.5)
    assert r.nfev == 4  # started at 0, 1, 2 and 3 seconds
    assert r.status == Ending.TIMEOUT
    assert r.success
    assert "3.5" in r.message


def test_a_timeout_that_does_not_come_changes_nothing():
    same(bamsoo.minimize(branin, BOX, 12, timeout=1e9), bamsoo.minimize(branin, BOX, 12))


def test_a_run_with_nothing_left_ends_with_its_reason():
    r = bamsoo.minimize(lambda x: x[0], [(1.0, 1.0 + 2**-50)], 100, algorithm="soo")
    assert r.status == Ending.EXHAUSTED
    assert r.success
    assert 1 <= r.nfev < 100
    assert "nothing is left" in r.message


def test_a_function_without_return_ends_the_run_after_the_third_call():
    r = bamsoo.minimize(lambda x: None, [(0, 1)], 20)
    assert (r.nfev, r.status, r.success) == (3, Ending.FAILING, False)
    assert "returned None 3 times in a row; does it lack a return statement?" in r.message
    assert bamsoo.minimize(lambda x: None, [(0, 1)], 20, on_error="fail").nfev == 20
    calls = []
    assert bamsoo.minimize(lambda x: calls.append(x), [(0, 1)], 20).nfev == 3
    assert bamsoo.minimize(lambda x: None if x[0] < 0.9 else x[0], [(0, 1)], 9).nfev == 9
    once = iter([1.0])
    assert bamsoo.minimize(lambda x: next(once, None), [(0, 1)], 20).nfev == 20


def test_a_function_that_always_fails_ends_the_run_after_thirty_calls():
    r = bamsoo.minimize(lambda x: float("nan"), [(0, 1)], 40, algorithm="random")
    assert (r.nfev, r.status) == (30, Ending.FAILING)
    assert r.message == (
        "all of the first 30 evaluations failed, the last one with: the value is nan; if this is "
        'expected, give on_error="fail"'
    )
    rows = [([0.1], 1.0)]
    r = bamsoo.minimize(lambda x: float("nan"), [(0, 1)], 40, algorithm="random", known=rows)
    assert r.nfev == 40


@pytest.mark.parametrize("workers", [None, 2])
def test_a_value_that_could_not_be_stored_is_said(workers, tmp_path, monkeypatch, caplog):
    tell = bamsoo.Study.tell_checked

    def full(study, trial, event):
        if trial.number == 2:
            raise StudyError("the disk is full")
        tell(study, trial, event)

    monkeypatch.setattr(bamsoo.Study, "tell_checked", full)
    with pytest.raises(StudyError, match="the disk is full"):
        bamsoo.minimize(branin, BOX, 6, study=tmp_path / "run.db", workers=workers)
    assert re.search(r"trial 2 at {'x0': .* gave \d+\.\d+, which could not be stored", caplog.text)
