"""The evaluation loop: callbacks, targets, timeouts, and what it logs."""

import logging

import bamsoo
from bamsoo import problems

branin = problems.branin


def test_what_a_callback_returns_is_ignored():
    assert bamsoo.minimize(branin, branin.bounds, 5, callback=lambda r: True).nfev == 5


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
