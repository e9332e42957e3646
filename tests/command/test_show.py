"""The command show."""

import json
import re

from command_line import bamsoo_, shell, trials


def test_show_lists_the_best_and_the_failures():
    shell("case $0 in 5*) echo [bold] >&2; exit 9;; esac; echo $0", budget=6)
    out = bamsoo_("show", "run.db", "--rows", 2)
    assert "minimize, SOO, seed 0; 6 of 6 evaluations, 1 failed, 0 pending" in out
    assert re.search(r"best [\d.]+ at x=", out)
    assert "trial 0 failed: exit code 9; standard error: [bold]" in out
    assert out.count("done") == 2
    best = json.loads(bamsoo_("show", "run.db", "--json"))
    assert best["value"] == min(t.value for t in trials() if t.value is not None)
